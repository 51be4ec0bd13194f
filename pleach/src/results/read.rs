//! [`read`]: reads a result, with errors that name file, key and value, and say what was expected.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// The maximum number of characters of a value in a message.
const SHOWN: usize = 40;

/// Reads a result from a JSON value, in which null counts as absent.
///
/// # Errors
/// One line: file, key, value, and what was expected.
pub fn read<T: DeserializeOwned>(place: &str, mut value: Value) -> Result<T, String> {
    drop_nulls(&mut value);
    loop {
        let why = match serde_path_to_error::deserialize(&value) {
            Ok(read) => return Ok(read),
            Err(why) => why,
        };
        let (path, said) = (why.path().clone(), why.inner().to_string());
        let missing = said.strip_prefix("missing field `").and_then(|rest| rest.split_once('`'));
        if let (Some((key, _)), Some(Value::Object(object))) = (missing, at(&mut value, &path)) {
            // What was expected there is known once a value is read there.
            object.insert(key.into(), Value::Null);
            continue;
        }
        let (value, expected) = (at(&mut value, &path), expected(&said));
        let shown = value.as_deref().map_or(String::new(), in_short);
        return Err(match path.iter().next_back() {
            None => format!("{place}: {shown}: expected what a command prints with --json"),
            Some(Segment::Map { .. }) if value.is_some_and(|value| value.is_null()) => {
                format!("{place}: {path} is missing: expected {expected}")
            }
            Some(_) => format!("{place}: {path} = {shown}: expected {expected}"),
        });
    }
}

/// Removes the keys of all objects whose value is null.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}

/// The value at a path.
fn at<'v>(value: &'v mut Value, path: &Path) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Segment::Seq { index } => value.get_mut(index),
        Segment::Map { key } => value.get_mut(key),
        Segment::Enum { .. } | Segment::Unknown => None,
    })
}

/// What an error of serde says was expected, as JSON calls it.
fn expected(said: &str) -> &str {
    match said.rsplit_once(", expected ").map_or(said, |(_, expected)| expected) {
        "a sequence" => "a list",
        "a map" => "an object",
        "f64" => "a number",
        "u32" | "u64" | "usize" => "a whole number, at least 0",
        kind if kind.starts_with("struct ") => "an object",
        other => other,
    }
}

/// A value in a message, on one line.
pub fn in_short(value: &Value) -> String {
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
    use super::super::{JsonInteger, JsonNumber, Seconds};
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Whole {
        large: Option<JsonInteger<u128>>,
        negative: Option<JsonInteger<i64>>,
        part: JsonNumber<0, 1>,
        #[serde(default)]
        list: Vec<JsonInteger<i64>>,
        #[serde(default)]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Inner {
        busy_s: Seconds,
    }

    #[test]
    fn numbers_of_every_kind_are_read_or_refused() {
        let value = json!({
            "large": "9007199254740993", "negative": -1, "part": 0.5, "list": [1e3, "9007199254740993"],
            "inner": [{ "busy_s": 2 }], "unknown": [],
        });
        let whole = Whole {
            large: Some(JsonInteger(9_007_199_254_740_993)),
            negative: Some(JsonInteger(-1)),
            part: JsonNumber(0.5),
            list: vec![JsonInteger(1000), JsonInteger(9_007_199_254_740_993)],
            inner: vec![Inner { busy_s: JsonNumber(2.0) }],
        };
        assert_eq!(read("a.json", value.clone()), Ok(whole));
        let least: Whole = read("a.json", json!({ "part": 1, "large": null })).unwrap();
        assert_eq!((least.large, least.list.len()), (None, 0));
        for (key, wrong, said) in [
            ("/large", json!(-1), "large = -1: expected a whole number, at least 0"),
            ("/large", json!(0.5), "large = 0.5: expected a whole number, at least 0"),
            ("/negative", json!("x"), "negative = \"x\": expected a whole number"),
            ("/part", json!(1e300), "part = 1e+300: expected a number from 0 to 1e0"),
            ("/part", json!(null), "part is missing: expected a number from 0 to 1e0"),
            ("/list", json!("none"), "list = \"none\": expected a list"),
            ("/list/1", json!([]), "list[1] = a list: expected a whole number"),
            ("/list/1", json!(null), "list[1] = null: expected a whole number"),
            ("/inner/0", json!(3), "inner[0] = 3: expected an object"),
            (
                "/inner/0/busy_s",
                json!(-2),
                "inner[0].busy_s = -2: expected a number from 0 to 1e15",
            ),
            ("/inner/0", json!({}), "inner[0].busy_s is missing: expected a number from 0 to 1e15"),
            ("", json!([1]), "a list: expected what a command prints with --json"),
        ] {
            let mut value = value.clone();
            *value.pointer_mut(key).unwrap() = wrong;
            assert_eq!(read::<Whole>("a.json", value), Err(format!("a.json: {said}")));
        }
    }
}
