//! What the files of a crate take from one another, by the paths that their code names; tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The names that lead to a module, or to what a module defines.
pub type Names = Vec<String>;

/// What each file takes from which others.
pub type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The modules of a crate.
#[derive(Default)]
pub struct Modules(BTreeMap<Names, Module>);

#[derive(Default)]
struct Module {
    file: String,
    defines: BTreeSet<String>,
    imports: Vec<Import>,
    /// The words and signs, but those of imports and inner modules.
    code: Vec<String>,
}

/// One name of a `use`.
struct Import {
    name: String,
    path: Names,
    exported: bool,
}

/// What stands before the names that a module defines; the sign is that of `macro_rules!`.
const DEFINE: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "!"];

impl Modules {
    /// Reads the crate whose sources lie in a folder.
    pub fn of(src: &Path) -> Self {
        Self::read(&|file| fs::read_to_string(src.join(file)).ok())
    }

    /// Reads a crate from its `lib.rs`; `text` is that of a file, if there is such a file.
    pub fn read(text: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut modules = Self::default();
        modules.open(Vec::new(), text);
        modules
    }

    fn open(&mut self, at: Names, text: &dyn Fn(&str) -> Option<String>) {
        let path = at.join("/");
        let names = match &at[..] {
            [] => vec!["lib.rs".to_string()],
            _ => vec![format!("{path}.rs"), format!("{path}/mod.rs")],
        };
        let file = names.iter().find(|file| text(file).is_some());
        let file = file.unwrap_or_else(|| panic!("none of {names:?} is there"));
        let words = without_tests(&words(&text(file).unwrap()));
        self.take_apart(&words, &at, file, text);
    }

    /// Adds what these words of a file define and name to a module, and opens the modules that they declare.
    fn take_apart(
        &mut self,
        words: &[String],
        at: &Names,
        file: &str,
        text: &dyn Fn(&str) -> Option<String>,
    ) {
        let mut module = self.0.remove(at).unwrap_or_default();
        module.file = file.to_string();
        let (mut next, mut depth) = (0, 0);
        while next < words.len() {
            let word = words[next].as_str();
            let name = words.get(next + 1).cloned().unwrap_or_default();
            let inner: Names = at.iter().cloned().chain([name.clone()]).collect();
            let length = match (word, words.get(next + 2).map(String::as_str)) {
                ("use", _) => {
                    let length = words[next..].iter().take_while(|word| *word != ";").count();
                    let exported = next > 0 && ["pub", ")"].contains(&words[next - 1].as_str());
                    let paths = expanded(&words[next + 1..next + length].join(" "));
                    module.imports.extend(paths.iter().map(|path| Import::of(path, exported)));
                    length
                }
                ("mod", Some(";")) => {
                    self.open(inner, text);
                    3
                }
                ("mod", Some("{")) => {
                    let length = item(&words[next..]);
                    self.take_apart(&words[next + 3..next + length - 1], &inner, file, text);
                    length
                }
                _ => {
                    depth += i32::from(word == "{") - i32::from(word == "}");
                    if depth == 0 && DEFINE.contains(&word) {
                        module.defines.insert(name);
                    }
                    module.code.push(word.to_string());
                    1
                }
            };
            next += length;
        }
        self.0.insert(at.clone(), module);
    }

    /// What each file takes from the others: what it imports, what it names by its path, and what it
    /// hands on if it also uses it.
    pub fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (at, module) in &self.0 {
            let used = module.imports.iter().filter(|it| !it.exported || module.calls(&it.name));
            let paths = used.map(|import| import.path.clone()).chain(paths(&module.code));
            let found = graph.entry(module.file.clone()).or_default();
            for path in paths {
                if let Some(file) = self.home(at, &path).filter(|file| *file != module.file) {
                    found.entry(file.to_string()).or_default().insert(path.join("::"));
                }
            }
        }
        graph
    }

    /// The first name of each path in each file: other crates are among them.
    pub fn heads(&self) -> BTreeSet<(String, String)> {
        let heads = |module: &Module| -> Vec<(String, String)> {
            let imports = module.imports.iter().map(|import| import.path.clone());
            let paths = imports.chain(paths(&module.code));
            paths.map(|path| (module.file.clone(), path[0].clone())).collect()
        };
        self.0.values().flat_map(heads).collect()
    }

    /// The file that defines what a path of a module ends at; none for a module as a whole, and for other crates.
    fn home(&self, at: &Names, path: &[String]) -> Option<&str> {
        let (mut at, mut path) = (at.clone(), path);
        let mut inside = false;
        while let [first, rest @ ..] = path {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => break,
            }
            (inside, path) = (true, rest);
        }
        while let [first, rest @ ..] = path {
            let module = &self.0[&at];
            let inner: Names = at.iter().cloned().chain([first.clone()]).collect();
            let opens = self.0.contains_key(&inner);
            let import = module
                .imports
                .iter()
                .find(|it| it.name == *first && (opens || it.path[0] != *first));
            if opens && !rest.is_empty() {
                (at, path, inside) = (inner, rest, true);
            } else if module.defines.contains(first) {
                return Some(&module.file);
            } else if let Some(import) = import {
                let path: Names = import.path.iter().chain(rest).cloned().collect();
                return self.home(&at, &path);
            } else {
                // A name that a macro defines is not a name of the module.
                return (inside && !opens).then_some(&module.file);
            }
        }
        None
    }
}

impl Module {
    /// Whether the code names what an import brought: no field, method or variant of that name.
    fn calls(&self, name: &str) -> bool {
        let word = |at: usize| self.code.get(at).map_or("", String::as_str);
        let other = |at: usize| match word(at.wrapping_sub(1)) {
            "." | "::" => true,
            "{" | "," | "]" => ["}", ",", "="].contains(&word(at + 1)),
            _ => false,
        };
        (0..self.code.len()).any(|at| word(at) == name && !other(at))
    }
}

impl Import {
    fn of(path: &str, exported: bool) -> Self {
        let (path, name) = path.split_once(" as ").unwrap_or((path, ""));
        let mut path: Names = path.split("::").map(|name| name.trim().to_string()).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = if name.is_empty() { path[path.len() - 1].clone() } else { name.to_string() };
        Self { name, path, exported }
    }
}

/// The paths of a `use`, braces resolved.
fn expanded(path: &str) -> Vec<String> {
    let Some((head, rest)) = path.split_once('{') else {
        return vec![path.trim().to_string()];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| expanded(&format!("{head}{part}"))).collect()
}

/// The paths of two names or more that code names where it stands.
fn paths(code: &[String]) -> Vec<Names> {
    let mut found = Vec::new();
    let mut path: Names = Vec::new();
    for word in code.iter().map(String::as_str).chain([";", ";"]) {
        let open = path.last().is_some_and(|last| last == "::");
        if word == "::" || (open && is_name(word)) {
            path.push(word.to_string());
        } else {
            path.retain(|word| word != "::");
            if path.len() > 1 {
                found.push(path);
            }
            path = vec![word.to_string()];
        }
    }
    found.retain(|path| path.iter().all(|word| is_name(word)));
    found
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The words without what is compiled for tests alone.
fn without_tests(words: &[String]) -> Vec<String> {
    let marks: [&[&str]; 2] =
        [&["#", "[", "cfg", "(", "test", ")"], &["#", "[", "cfg", "(", "all", "(", "test"]];
    let mut left = Vec::new();
    let mut next = 0;
    while next < words.len() {
        let marked = |mark: &&[&str]| mark.iter().zip(&words[next..]).all(|(a, b)| a == b);
        if marks.iter().any(marked) {
            next += item(&words[next..]);
        } else {
            left.push(words[next].clone());
            next += 1;
        }
    }
    left
}

/// The number of words of the item, statement or field at the start.
fn item(words: &[String]) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        match word.as_str() {
            // The end of what the item stands in.
            _ if depth < 0 => return at,
            "}" | ";" | "," if depth == 0 => return at + 1,
            _ => {}
        }
    }
    words.len()
}

/// The names and signs of a text, without comments, strings, characters and lifetimes.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => string(rest),
            'r' if rest[1..].trim_start_matches('#').starts_with('"') => raw_string(rest),
            '\'' => character(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                let length = end.unwrap_or(rest.len());
                words.push(rest[..length].to_string());
                length
            }
            _ => {
                let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
                words.extend((!first.is_whitespace()).then(|| rest[..length].to_string()));
                length
            }
        };
        rest = &rest[length..];
    }
    words
}

/// The length of the string at the start.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text[1..].find(|c: char| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The length of the string at the start that says by `#` where it ends.
fn raw_string(text: &str) -> usize {
    let marks = text[1..].chars().take_while(|&c| c == '#').count();
    let close = format!("\"{}", "#".repeat(marks));
    let open = marks + 2;
    text[open..].find(&close).map_or(text.len(), |end| open + end + close.len())
}

/// The length of the character or lifetime at the start.
fn character(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    let escaped = letters.next().is_some_and(|(_, c)| c == '\\');
    let after = letters.next();
    match after {
        Some((at, c)) if escaped => text[at + c.len_utf8()..]
            .find('\'')
            .map_or(text.len(), |end| at + c.len_utf8() + end + 1),
        Some((at, '\'')) => at + 1,
        _ => text[1..]
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(text.len(), |end| end + 1),
    }
}
