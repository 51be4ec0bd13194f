//! Reads the tags of an XML text: as much of XML as grids need.

/// A tag: its name, and its attributes as in the text.
#[derive(Clone, Copy, Debug)]
pub struct Tag<'a> {
    /// The name, with `/` before it if the tag closes.
    pub name: &'a str,
    attributes: &'a str,
    /// Whether it closes itself.
    pub empty: bool,
    /// Where the text after it begins.
    pub end: usize,
}

impl<'a> Tag<'a> {
    /// The next tag from an offset on; skips comments and declarations.
    ///
    /// # Errors
    /// If a tag does not end.
    pub fn next(bytes: &'a [u8], mut from: usize) -> Result<Option<Self>, String> {
        loop {
            let rest = bytes.get(from..).unwrap_or_default();
            let Some(start) = rest.iter().position(|&byte| byte == b'<').map(|at| from + at) else {
                return Ok(None);
            };
            let unended = || format!("byte {start}: a tag that does not end");
            if bytes[start..].starts_with(b"<!--") {
                let length = bytes[start..].windows(3).position(|three| three == b"-->");
                from = start + length.ok_or_else(unended)? + 3;
                continue;
            }
            let mut quote = None;
            let end = bytes[start..].iter().position(|&byte| {
                match quote {
                    None if byte == b'"' || byte == b'\'' => quote = Some(byte),
                    Some(it) if it == byte => quote = None,
                    _ => {}
                }
                quote.is_none() && byte == b'>'
            });
            let end = start + end.ok_or_else(unended)?;
            if matches!(bytes[start + 1], b'?' | b'!') {
                from = end + 1;
                continue;
            }
            let text = std::str::from_utf8(&bytes[start + 1..end]);
            let text = text.map_err(|_| format!("byte {start}: a tag that is not UTF-8"))?;
            let (text, empty) = text.strip_suffix('/').map_or((text, false), |text| (text, true));
            let (name, attributes) =
                text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
            return Ok(Some(Self { name, attributes, empty, end: end + 1 }));
        }
    }

    /// An attribute's value.
    #[must_use]
    pub fn get(&self, wanted: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        loop {
            let (name, others) = rest.split_once('=')?;
            let others = others.trim_start();
            let quote = others.chars().next().filter(|&c| c == '"' || c == '\'')?;
            let (value, others) = others[1..].split_once(quote)?;
            if name.trim() == wanted {
                return Some(value);
            }
            rest = others;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_names_and_attributes() {
        let text =
            b"<?xml version='1.0'?><!-- <no> --><Piece a=\"1>2\" b = 'x'><Data c=''/></Piece>";
        let first = Tag::next(text, 0).unwrap().unwrap();
        assert_eq!(
            (first.name, first.get("a"), first.get("b"), first.get("c")),
            ("Piece", Some("1>2"), Some("x"), None)
        );
        let second = Tag::next(text, first.end).unwrap().unwrap();
        assert_eq!((second.name, second.empty, second.get("c")), ("Data", true, Some("")));
        let third = Tag::next(text, second.end).unwrap().unwrap();
        assert_eq!(third.name, "/Piece");
        assert!(Tag::next(text, third.end).unwrap().is_none());
        assert!(
            Tag::next(b"<a b='>", 0).is_err()
                && Tag::next(b"<!-- ", 0).is_err()
                && Tag::next(b"<", 0).is_err()
        );
    }
}
