//! [`Figure`]: a figure or table of a paper, as its file describes it.

use super::claim::Claim;
use super::part::{Part, quicken};
use crate::cli::sim;
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
    /// Why the verdict is what it is.
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
        let mut table = sim::scenario_table(&file, text)?;
        let parts = table.get_mut("part").and_then(Value::as_array_mut).into_iter().flatten();
        for part in parts.filter_map(Value::as_table_mut).filter(|_| quick) {
            quicken(part).map_err(|why| format!("{file}: {why}"))?;
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
