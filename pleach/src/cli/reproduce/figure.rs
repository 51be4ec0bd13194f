//! [`Figure`]: a figure or table of a paper, as its file describes it.

use super::claim::Claim;
use super::part::Part;
use crate::cli::keys::Keys;
use crate::cli::sim;

/// A figure or table of a paper.
#[derive(Debug)]
pub struct Figure {
    pub id: String,
    pub title: String,
    /// Where it stands in the paper, and what the paper reports.
    pub place: String,
    pub says: String,
    /// Why the verdict is what it is.
    pub argued: Option<String>,
    pub parts: Vec<Part>,
    pub claims: Vec<Claim>,
}

impl Figure {
    /// Reads a figure's file: the full or the quick version.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn read(id: &str, text: &str, quick: bool) -> Result<Self, String> {
        let file = format!("figures/{id}.toml");
        let table = sim::scenario_table(&file, text)?;
        let keys = Keys::new(&file, &table);
        let tables = keys.tables("part")?;
        let names = tables.iter().map(|part| part.word("name", None));
        let names = names.collect::<Result<Vec<String>, String>>()?;
        if names.is_empty() {
            return keys.wrong("part", "tables [[part]]");
        }
        if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            return tables[at].wrong("name", "a unique name");
        }
        let parts = tables.iter().map(|part| Part::read(part, quick));
        let parts = parts.collect::<Result<Vec<Option<Part>>, String>>()?;
        let parts: Vec<Part> = parts.into_iter().flatten().collect();
        let claims = keys.tables("claim")?;
        let claims = claims.iter().map(|claim| Claim::read(claim, &names, &parts));
        let claims = claims.collect::<Result<Vec<Option<Claim>>, String>>()?;
        let claims = claims.into_iter().flatten().collect();
        let figure = Self {
            id: id.to_string(),
            title: keys.word("title", None)?,
            place: keys.word("place", None)?,
            says: keys.word("says", None)?,
            argued: keys.word_if_any("argued")?,
            parts,
            claims,
        };
        keys.finish()?;
        Ok(figure)
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
