//! [`Fields`]: reads the keys of a JSON object one by one, with errors that name file, key and value.

use serde_json::{Map, Value};

/// The largest time or amount; nothing larger was ever measured.
pub const MOST: f64 = 1e15;

/// The most characters of a value in a message.
const SHOWN: usize = 40;

/// An object that is being read.
pub struct Fields<'v> {
    /// The file, and the number of the object in it.
    place: String,
    /// The object's path in the file, with a dot at the end.
    path: String,
    object: &'v Map<String, Value>,
}

impl<'v> Fields<'v> {
    /// All fields of an object.
    pub fn new(place: &str, value: &'v Value) -> Result<Self, String> {
        let object = value.as_object();
        let object = object.ok_or_else(|| {
            format!("{place}: {}: expected what a command prints with --json", short(value))
        })?;
        Ok(Self { place: place.into(), path: String::new(), object })
    }

    /// The value of a key, unless it is absent or null.
    fn get(&self, key: &str) -> Option<&'v Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// Whether a key has a value.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// All keys and values.
    pub fn all(&self) -> &'v Map<String, Value> {
        self.object
    }

    /// An error about a key.
    pub fn wrong<T>(&self, key: &str, expected: &str) -> Result<T, String> {
        let Self { place, path, .. } = self;
        Err(match self.get(key) {
            Some(value) => {
                format!("{place}: {path}{key} = {}: expected {expected}", short(value))
            }
            None => format!("{place}: {path}{key} is missing: expected {expected}"),
        })
    }

    /// A number from 0 to `most`.
    pub fn number(&self, key: &str, most: f64) -> Result<Option<f64>, String> {
        self.between(key, (0.0, most))
    }

    /// A number between two others.
    pub fn between(&self, key: &str, (least, most): (f64, f64)) -> Result<Option<f64>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match number_of(value).filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => self.wrong(key, &format!("a number from {least} to {most:e}")),
        }
    }

    /// A required number.
    pub fn needed(&self, key: &str, most: f64) -> Result<f64, String> {
        let number = self.number(key, most)?;
        number.map_or_else(|| self.wrong(key, &format!("a number from 0 to {most:e}")), Ok)
    }

    /// A whole number; above 2^53 a string.
    pub fn whole(&self, key: &str) -> Result<Option<u128>, String> {
        self.integer(key, "a whole number, at least 0")
    }

    /// A whole number that may be negative.
    pub fn signed(&self, key: &str) -> Result<Option<i64>, String> {
        self.integer(key, "a whole number")
    }

    fn integer<T: std::str::FromStr>(&self, key: &str, what: &str) -> Result<Option<T>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match integer_of(value) {
            Some(number) => Ok(Some(number)),
            None => self.wrong(key, what),
        }
    }

    /// A text.
    pub fn text(&self, key: &str) -> Result<Option<&'v str>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_str().map_or_else(|| self.wrong(key, "a string"), |text| Ok(Some(text)))
    }

    /// A required text.
    pub fn word(&self, key: &str, expected: &str) -> Result<&'v str, String> {
        self.text(key)?.map_or_else(|| self.wrong(key, expected), Ok)
    }

    /// A list; empty if there is none.
    fn list(&self, key: &str, of: &str) -> Result<&'v [Value], String> {
        let Some(value) = self.get(key) else { return Ok(&[]) };
        let list = value.as_array();
        list.map_or_else(|| self.wrong(key, &format!("a list of {of}")), |list| Ok(&list[..]))
    }

    /// A list of whole numbers; `None` if there is no list.
    pub fn integers(&self, key: &str) -> Result<Option<Vec<i64>>, String> {
        let list: Option<Vec<i64>> =
            self.list(key, "whole numbers")?.iter().map(integer_of).collect();
        let expected = || self.wrong(key, "a list of whole numbers");
        list.map_or_else(expected, |list| Ok(self.has(key).then_some(list)))
    }

    /// A list of numbers from 0 to `most`.
    pub fn numbers(&self, key: &str, most: f64) -> Result<Vec<f64>, String> {
        let number = |value| number_of(value).filter(|number| (0.0..=most).contains(number));
        let list: Option<Vec<f64>> = self.list(key, "numbers")?.iter().map(number).collect();
        let expected = || self.wrong(key, &format!("a list of numbers from 0 to {most:e}"));
        list.map_or_else(expected, Ok)
    }

    /// A list of objects; empty if there is none.
    pub fn objects(&self, key: &str) -> Result<Vec<Fields<'v>>, String> {
        let inside = |(i, value)| self.inside(format!("{key}[{i}]"), value);
        let objects: Option<Vec<Fields<'v>>> =
            self.list(key, "objects")?.iter().enumerate().map(inside).collect();
        objects.map_or_else(|| self.wrong(key, "a list of objects"), Ok)
    }

    /// An inner object, if present.
    pub fn object(&self, key: &str) -> Result<Option<Fields<'v>>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        self.inside(key.into(), value)
            .map_or_else(|| self.wrong(key, "an object"), |it| Ok(Some(it)))
    }

    fn inside(&self, name: String, value: &'v Value) -> Option<Fields<'v>> {
        let path = format!("{}{name}.", self.path);
        Some(Fields { place: self.place.clone(), path, object: value.as_object()? })
    }
}

/// A number, even if it is written as a string.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(_) => integer_of::<i128>(value).map(|number| number as f64),
        _ => None,
    }
}

fn integer_of<T: std::str::FromStr>(value: &Value) -> Option<T> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A value in a message, on one line.
pub fn short(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        other => {
            let text = other.to_string();
            let cut = text.chars().nth(SHOWN).is_some();
            let shown: String = text.chars().take(SHOWN).collect();
            if cut { shown + "…" } else { shown }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_of_every_kind_are_read_or_refused() {
        let value = json!({
            "large": "9007199254740993", "negative": -1, "huge": 1e300, "null": null, "part": 0.5,
            "list": [1, "9007199254740993"], "units": [{ "busy_s": -2 }],
        });
        let fields = Fields::new("a.json", &value).unwrap();
        assert_eq!(fields.whole("large"), Ok(Some(9_007_199_254_740_993)));
        assert_eq!(fields.signed("negative"), Ok(Some(-1)));
        assert_eq!(fields.number("null", MOST), Ok(None));
        assert_eq!(fields.number("part", 1.0), Ok(Some(0.5)));
        assert_eq!(fields.integers("list"), Ok(Some(vec![1, 9_007_199_254_740_993])));
        let said = [
            fields.whole("negative").unwrap_err(),
            fields.number("huge", MOST).unwrap_err(),
            fields.whole("part").unwrap_err(),
            fields.needed("absent", 1.0).unwrap_err(),
            fields.objects("units").unwrap()[0].number("busy_s", 1.0).unwrap_err(),
        ];
        assert_eq!(said[0], "a.json: negative = -1: expected a whole number, at least 0");
        assert!(
            said[1].contains("huge = 1e300") || said[1].contains("huge = 1e+300"),
            "{}",
            said[1]
        );
        assert!(said[2].contains("part = 0.5"), "{}", said[2]);
        assert!(said[3].contains("absent is missing"), "{}", said[3]);
        assert!(said[4].contains("units[0].busy_s = -2"), "{}", said[4]);
        let list = json!([1]);
        assert!(Fields::new("a.json", &list).is_err());
    }
}
