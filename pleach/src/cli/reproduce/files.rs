//! The built-in files of the figures.

/// The files of these figures.
macro_rules! files {
    ($($id:literal)*) => {
        [$(($id, include_str!(concat!("../../../figures/", $id, ".toml")))),*]
    };
}

/// Each figure's id, and the text of its file, in the order of the papers.
#[rustfmt::skip]
pub const FILES: [(&str, &str); 49] = files! {
    "A-fig2-left" "A-fig2-right" "A-fig3-left" "A-fig3-right" "A-fig4-left" "A-fig4-right" "A-fig5" "A-fig6"
    "B-fig3a" "B-fig3b" "B-fig4a" "B-fig4b" "B-tab1" "B-tab2" "B-tab3" "B-fig5a" "B-fig5b" "B-fig5c"
    "C-tab1" "C-fig1" "C-fig2" "C-tab2" "C-fig3" "C-fig4" "C-fig5" "C-why"
    "D-fig4" "D-tab2" "D-fig5" "D-fig6" "D-fig7"
    "E-tab1" "E-fig2a" "E-fig2b" "E-fig3a" "E-fig3b" "E-fig4a" "E-fig4b" "E-fig6a" "E-fig6b" "E-idle"
    "F-scaling" "F-rates" "F-trees" "G-times" "G-scaling" "H-qap" "H-trees" "H-scaling"
};

#[cfg(test)]
mod tests {
    use super::super::part::{apply_quick, complete_parts};
    use super::*;
    use crate::report::grouped;
    use std::collections::BTreeSet;
    use toml::{Table, Value};

    /// What a text may name of a part's work, with the names that are shown.
    struct Named<'a> {
        /// The part's names.
        names: Option<&'a Value>,
        all: BTreeSet<String>,
    }

    impl Named<'_> {
        /// What is named of a part; of lists of peers, their single numbers only if `peers`.
        fn of(part: &Value, peers: bool) -> BTreeSet<String> {
            let mut named = Named { names: part.get("names"), all: BTreeSet::new() };
            let work = part.get("scenario").or(part.get("runs")).expect("a part runs something");
            named.add("", work, peers);
            named.all
        }

        /// Adds values, and the ends, the order and the length of each list.
        fn add(&mut self, key: &str, value: &Value, peers: bool) {
            match value {
                Value::Table(table) => {
                    table.iter().for_each(|(key, value)| self.add(key, value, peers));
                }
                Value::Array(list) if key == "seeds" => {
                    self.all.extend(["seeds", "runs"].map(|of| format!("{} {of}", list.len())));
                }
                Value::Array(list) => {
                    if !list.iter().any(Value::is_table) {
                        self.add_list(list);
                    }
                    if peers || !["peers", "count"].contains(&key) {
                        list.iter().for_each(|value| self.add(key, value, peers));
                    }
                }
                _ if key == "repeat" => self.all.extend([format!("{value} runs")]),
                _ => self.add_value(value),
            }
        }

        fn add_list(&mut self, list: &[Value]) {
            let shown: Vec<String> = list.iter().map(|value| self.shown(value)).collect();
            let [first, .., last] = &shown[..] else { return };
            let numbers = "four five six seven eight nine ten eleven twelve thirteen";
            if let Some(number) = numbers.split(' ').nth(shown.len().wrapping_sub(4)) {
                self.all.extend([number.to_string(), capital(number)]);
            }
            let others = shown[..shown.len() - 1].join(", ");
            self.all.extend([format!("{first} to {last}"), format!("{others} and {last}")]);
        }

        /// Adds the words of a value that mean something alone: instances, names and larger numbers.
        fn add_value(&mut self, value: &Value) {
            let text = words(value) + " " + &self.shown(value);
            for word in text.split([' ', ':', '=', ',']) {
                let is_name = |c: char| c.is_uppercase() || c.is_ascii_digit();
                match word.parse::<f64>().ok().filter(|n| n.is_finite()) {
                    Some(n) if n >= 10.0 || word.contains('.') => self.add_number(word, n),
                    None if word.contains(is_name) && !word.starts_with('-') => {
                        self.all.extend([word.to_string(), capital(word)]);
                    }
                    _ => {}
                }
            }
        }

        fn add_number(&mut self, word: &str, n: f64) {
            let large = [(1e6, "million"), (1e9, "billion")].into_iter();
            let large = large.filter(|(unit, _)| n >= *unit);
            self.all.extend(large.map(|(unit, name)| format!("{} {name}", n / unit)));
            self.all.insert(word.to_string());
            self.all.extend(word.parse().ok().map(grouped));
        }

        fn shown(&self, value: &Value) -> String {
            let word = words(value);
            let name = self.names.and_then(|names| names.get(&word)?.as_str());
            name.map_or(word.clone(), String::from)
        }
    }

    fn words(value: &Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), String::from)
    }

    fn capital(word: &str) -> String {
        let mut rest = word.chars();
        let first = rest.next().map(|c| c.to_uppercase().collect::<String>());
        first.unwrap_or_default() + rest.as_str()
    }

    /// A text without punctuation, with a space on either side of each word.
    fn plain(text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let in_word = |(at, c): (usize, &char)| {
            let before_digit = chars.get(at + 1).is_some_and(char::is_ascii_digit);
            let kept = c.is_alphanumeric() || "/-_×".contains(*c);
            if kept || before_digit && ",.".contains(*c) { *c } else { ' ' }
        };
        let text: String = chars.iter().enumerate().map(in_word).collect();
        format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The texts of a part.
    fn texts(part: &Value) -> Vec<&str> {
        let instead = part.get("instead").and_then(Value::as_array);
        let all = part.get("title").into_iter().chain(instead.into_iter().flatten());
        all.filter_map(Value::as_str).collect()
    }

    /// A text of the full version names nothing that the quick version lacks, and a quick version that starts from
    /// another value says so.
    #[test]
    fn quick_versions_do_not_show_texts_that_are_true_of_the_full_one_only() {
        for (id, text) in FILES {
            let mut file: Table = text.parse().unwrap();
            complete_parts(&mut file);
            for part in file["part"].as_array().unwrap() {
                let Some(changes) = part.get("quick").and_then(Value::as_table) else { continue };
                if changes.contains_key("skip") {
                    continue;
                }
                let mut quick = part.clone();
                apply_quick(&mut quick).unwrap();
                let (full, has) = (Named::of(part, false), Named::of(&quick, true));
                let (common, shown) = (texts(part), texts(&quick));
                for line in shown.iter().filter(|line| common.contains(line)) {
                    let is_named = |word: &&String| plain(line).contains(&plain(word));
                    let untrue = full.difference(&has).find(is_named);
                    assert_eq!(untrue, None, "{id}, part {}: '{line}'", part["name"]);
                }
                for (_, best) in changes.iter().filter(|(path, _)| path.ends_with("best")) {
                    let says = shown.iter().any(|line| plain(line).contains(&plain(&words(best))));
                    assert!(says, "{id}, part {}: does not say {best}", part["name"]);
                }
            }
        }
    }
}
