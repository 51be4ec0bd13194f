//! [`Labels`]: how values and solutions are written for people.

use crate::decimal::written;
use serde_json::Value;

/// How values and solutions are written for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels {
    /// Values are multiples of 10 to the power of minus this.
    pub decimals: u32,
    /// The names of what solutions list by numbers from 1; empty if there are none.
    pub names: Vec<String>,
}

impl Labels {
    /// A value.
    pub fn value(&self, value: i64) -> String {
        written(value, self.decimals)
    }

    /// Notes the number of decimals, if there are any, in an object that has values.
    pub fn note_decimals(&self, object: &mut Value) {
        if self.decimals > 0 {
            object["decimals"] = self.decimals.into();
        }
    }

    /// A solution in one line. Commas separate names with blanks; a name that has a comma itself is in quotes then.
    pub fn line(&self, solution: &[i64]) -> String {
        let mut items = self.items(solution);
        if !self.names.iter().any(|name| name.contains(char::is_whitespace)) {
            return items.join(" ");
        }
        for name in items.iter_mut().filter(|name| name.contains(',')) {
            *name = format!("\"{}\"", name.replace('"', "\"\""));
        }
        items.join(", ")
    }

    /// A solution as a file: numbers in one line, names in a line each.
    pub fn file(&self, solution: &[i64]) -> String {
        self.items(solution).join(if self.names.is_empty() { " " } else { "\n" })
    }

    /// The names of what a solution lists, if there are any.
    pub fn names_of(&self, solution: &[i64]) -> Option<Vec<String>> {
        (!self.names.is_empty()).then(|| self.items(solution))
    }

    fn items(&self, solution: &[i64]) -> Vec<String> {
        let name = |item: &i64| {
            let at = usize::try_from(*item).ok()?.checked_sub(1)?;
            self.names.get(at).cloned()
        };
        solution.iter().map(|item| name(item).unwrap_or_else(|| item.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_decimals_are_written_where_there_are_some() {
        let plain = Labels::default();
        assert_eq!((plain.value(125), plain.line(&[2, 0, 1])), ("125".into(), "2 0 1".into()));
        assert_eq!((plain.file(&[2, 1]), plain.names_of(&[2, 1])), ("2 1".into(), None));
        let mut labels = Labels { decimals: 1, names: vec!["A".into(), "B".into()] };
        assert_eq!((labels.value(125), labels.line(&[2, 1])), ("12.5".into(), "B A".into()));
        assert_eq!(labels.names_of(&[2, 1]).unwrap(), ["B", "A"]);
        labels.names[0] = "A 1".into();
        assert_eq!(
            (labels.line(&[2, 1]), labels.file(&[2, 1])),
            ("B, A 1".into(), "B\nA 1".into())
        );
        labels.names[1] = "5\" B, x".into();
        assert_eq!(labels.line(&[2, 1]), "\"5\"\" B, x\", A 1");
        assert_eq!(labels.file(&[2, 1]), "5\" B, x\nA 1");
        labels.names = vec!["A,1".into(), "B".into()];
        assert_eq!(labels.line(&[2, 1]), "B A,1");
    }
}
