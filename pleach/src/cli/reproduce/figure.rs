//! [`Figure`]: a figure or table of a paper, as its file describes it.

use super::claim::Claim;
use super::part::{Part, apply_quick, complete_parts};
use crate::cli::keys::table_of;
use crate::results;
use serde::Deserialize;
use serde_json::json;
use toml::Value;

/// A figure or table of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    #[serde(skip)]
    pub id: String,
    pub title: String,
    /// Where it stands in the paper, and what the paper reports.
    pub place: String,
    pub says: String,
    /// Why the verdict on the full version is what it is; a quick version has none.
    pub argued: Option<String>,
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
}

impl Figure {
    /// Reads a figure's file: the full or the quick version.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn read(id: &str, text: &str, quick: bool) -> Result<Self, String> {
        let file = format!("figures/{id}.toml");
        let mut table = table_of(&file, text)?;
        complete_parts(&mut table);
        let parts = table.get_mut("part").and_then(Value::as_array_mut).into_iter().flatten();
        for part in parts.filter(|_| quick) {
            apply_quick(part).map_err(|why| format!("{file}: {why}"))?;
        }
        let figure: Self = results::read(&file, json!(table))?;
        let figure = Self { id: id.into(), ..figure };
        figure.settled(quick).map_err(|why| format!("{file}: {why}"))
    }

    /// Checks what its keys say together, and leaves out what the quick version skips.
    fn settled(mut self, quick: bool) -> Result<Self, String> {
        let names: Vec<String> = self.parts.iter().map(|part| part.name.clone()).collect();
        for (at, part) in self.parts.iter_mut().enumerate() {
            part.settle().map_err(|why| format!("part[{at}].{why}"))?;
            if names[..at].contains(&part.name) {
                return Err(format!("part[{at}].name = '{}': expected a unique name", part.name));
            }
        }
        self.parts.retain(|part| !(quick && part.is_skipped()));
        self.argued = self.argued.filter(|_| !quick);
        let mut claims = Vec::new();
        for (at, claim) in self.claims.into_iter().enumerate() {
            let settled = claim.settled(&names, &self.parts);
            claims.extend(settled.map_err(|why| format!("claim[{at}].{why}"))?);
        }
        Ok(Self { claims, ..self })
    }

    /// The approximate time it takes.
    pub fn minutes(&self) -> f64 {
        self.parts.iter().map(|part| part.minutes).sum()
    }

    /// What it runs on.
    pub fn backends(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for part in &self.parts {
            if !words.contains(&part.on.word()) {
                words.push(part.on.word());
            }
        }
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        title = "t"
        place = "p"
        says = "s"
        argued = "9 queens take longer."
        [[part]]
        name = "one"
        title = "9 queens"
        on = "threads"
        shows = "seconds"
        instead = ["9 queens for 17", "two threads"]
        [part.runs]
        command = "count queens {x}"
        x = [9]
        [part.quick]
        title = "8 queens"
        "instead.0" = "8 queens for 17"
        x = [8]
        [[part]]
        name = "two"
        title = "10 queens"
        on = "threads"
        shows = "seconds"
        instead = ["10 queens for 17"]
        [part.runs]
        command = "count queens 10"
        [[claim]]
        says = "c"
        left = {}
        is = "more"
        right = 0
    "#;

    #[test]
    fn a_quick_version_has_texts_of_its_own() {
        let texts = |quick: bool| {
            let figure = Figure::read("X-fig1", FILE, quick).unwrap();
            let part = |part: &Part| (part.title.clone(), part.instead.join(", "));
            (figure.argued, figure.parts.iter().map(part).collect::<Vec<_>>())
        };
        let pair = |title: &str, instead: &str| (title.to_string(), instead.to_string());
        let ten = pair("10 queens", "10 queens for 17");
        let full = vec![pair("9 queens", "9 queens for 17, two threads"), ten.clone()];
        assert_eq!(texts(false), (Some("9 queens take longer.".into()), full));
        let quick = vec![pair("8 queens", "8 queens for 17, two threads"), ten];
        assert_eq!(texts(true), (None, quick));
        let runs = Figure::read("X-fig1", FILE, true).unwrap().parts.remove(0).runs.unwrap();
        assert_eq!(runs.x, ["8"]);
    }

    #[test]
    fn parts_share_what_their_figure_has_in_common() {
        let shared = "[common.names]\n9 = 'nine'\n10 = 'ten'\n[common.runs]\nx = [1]\n\
            repeat = 3\n[common.scenario]\npeers = 2\n[[part]]";
        let own = "[part.names]\n9 = 'IX'\n[part.runs]";
        let file = FILE.replacen("[[part]]", shared, 1).replacen("[part.runs]", own, 1);
        let parts = Figure::read("X-fig1", &file, false).unwrap().parts;
        let shown = |part: usize| ["9", "10"].map(|value| parts[part].name_of(value));
        assert_eq!([shown(0), shown(1)], [["IX", "ten"], ["nine", "ten"]]);
        let runs = parts.iter().map(|part| part.runs.as_ref().unwrap());
        let runs: Vec<_> = runs.map(|runs| (runs.x[0].as_str(), runs.repeat)).collect();
        assert_eq!(runs, [("9", 3), ("1", 3)]);
    }

    #[test]
    fn a_part_may_run_what_another_runs() {
        let like = |name: &str| {
            let file = FILE.replace("name = \"two\"", &format!("name = \"two\"\nlike = '{name}'"));
            Figure::read("X-fig1", &file, false)
        };
        let runs = like("one").unwrap().parts.remove(1).runs.unwrap();
        assert_eq!(
            (runs.command.as_str(), &runs.x[..]),
            ("count queens 10", &["9".to_string()][..])
        );
        assert!(like("three").unwrap_err().contains("part[1]"));
    }
}
