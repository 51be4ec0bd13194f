//! Files by a pattern: `*` stands for any characters of a name, `?` for one.

use std::path::Path;

/// The files whose names match the last part of a path, sorted.
///
/// # Errors
/// If no file matches, or the folder cannot be read.
pub fn matching(pattern: &str) -> Result<Vec<String>, String> {
    let (folder, name) =
        pattern.rsplit_once('/').map_or(("", pattern), |(folder, name)| (folder, name));
    if folder.contains(['*', '?']) {
        return Err("expected * and ? only in the name of the file".into());
    }
    let root = if pattern.starts_with('/') { "/" } else { "." };
    let at = if folder.is_empty() { Path::new(root) } else { Path::new(folder) };
    let entries = std::fs::read_dir(at).map_err(|why| format!("{}: {why}", at.display()))?;
    let pattern: Vec<char> = name.chars().collect();
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Ok(file) = entry.file_name().into_string() else { continue };
        // As in a shell, hidden files have to be named.
        let hidden = file.starts_with('.') && !name.starts_with('.');
        let text: Vec<char> = file.chars().collect();
        if !hidden && matches(&pattern, &text) && entry.path().is_file() {
            let inside = pattern_folder(folder, root);
            found.push(format!("{inside}{file}"));
        }
    }
    found.sort();
    if found.is_empty() { Err("no file matches".into()) } else { Ok(found) }
}

/// What stands before the names of the files in a folder.
fn pattern_folder(folder: &str, root: &str) -> String {
    match (folder, root) {
        ("", "/") => "/".into(),
        ("", _) => String::new(),
        _ => format!("{folder}/"),
    }
}

/// Whether a pattern matches a whole text.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where the last star stands, and how much of the text it covers up to.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((at, covered)) = star {
            star = Some((at, covered + 1));
            (p, t) = (at + 1, covered + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, text, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "a.txt.old", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("ta02?", "ta021", true),
            ("ta02?", "ta02", false),
            ("*", "", true),
            ("a**", "a", true),
        ] {
            let [pattern, text] = [pattern, text].map(|it| it.chars().collect::<Vec<_>>());
            assert_eq!(matches(&pattern, &text), expected);
        }
    }
}
