//! [`Reader`]: reads legacy files: words and numbers in lines, numbers as text or binary.

use super::numbers::Kind;

/// A place in a file.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    pub at: usize,
    /// Whether numbers are binary.
    pub binary: bool,
}

impl<'a> Reader<'a> {
    /// Reads the first lines of a file with a set of data of this kind.
    ///
    /// # Errors
    /// If it has another one.
    pub fn new(bytes: &'a [u8], set: &str) -> Result<Self, String> {
        let mut reader = Self { bytes, at: 0, binary: false };
        reader.line();
        reader.line();
        reader.binary = match reader.word()?.to_ascii_uppercase().as_str() {
            "ASCII" => false,
            "BINARY" => true,
            other => return Err(reader.wrong(other, "ASCII or BINARY")),
        };
        reader.expect("DATASET")?;
        reader.expect(set)?;
        Ok(reader)
    }

    /// The rest of this line; moves past its end.
    pub fn line(&mut self) -> &[u8] {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        &rest[..length]
    }

    /// The next word, if there is one.
    pub fn next_word(&mut self) -> Option<String> {
        let rest = &self.bytes[self.at..];
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let length =
            rest[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len() - start);
        self.at += start + length;
        Some(String::from_utf8_lossy(&rest[start..start + length]).into_owned())
    }

    /// The next word.
    pub fn word(&mut self) -> Result<String, String> {
        self.next_word().ok_or_else(|| format!("{}: the file ends, expected more", self.place()))
    }

    /// The next word in this line, if there is one.
    pub fn word_here(&mut self) -> Option<String> {
        let rest = &self.bytes[self.at..];
        let start = rest.iter().position(|&byte| byte == b'\n' || !byte.is_ascii_whitespace())?;
        if rest[start] == b'\n' { None } else { self.next_word() }
    }

    /// Where the reader is, for messages.
    pub fn place(&self) -> String {
        if self.binary {
            return format!("byte {}", self.at);
        }
        let lines = self.bytes[..self.at].iter().filter(|&&byte| byte == b'\n').count();
        format!("line {}", lines + 1)
    }

    /// An error at this place.
    pub fn wrong(&self, found: &str, expected: &str) -> String {
        let found: String = found.chars().take(40).filter(|c| !c.is_control()).collect();
        format!("{}: '{found}', expected {expected}", self.place())
    }

    /// Reads this word, in any case.
    pub fn expect(&mut self, expected: &str) -> Result<(), String> {
        let word = self.word()?;
        if word.eq_ignore_ascii_case(expected) { Ok(()) } else { Err(self.wrong(&word, expected)) }
    }

    /// A count.
    pub fn count(&mut self) -> Result<usize, String> {
        let word = self.word()?;
        word.parse().map_err(|_| self.wrong(&word, "a count"))
    }

    /// A type of numbers.
    pub fn kind(&mut self) -> Result<Kind, String> {
        let word = self.word()?;
        Kind::legacy(&word).ok_or_else(|| self.wrong(&word, "a type of numbers, such as float"))
    }

    /// This many numbers, if the rest of the file can hold them.
    pub fn numbers(&mut self, count: Option<usize>, kind: Kind) -> Result<Vec<f64>, String> {
        if self.binary {
            self.line();
        }
        let least = if self.binary { kind.size() } else { 2 };
        let left = self.bytes.len() - self.at;
        // The last number in text needs no space after it.
        let bytes =
            count.and_then(|count| count.checked_mul(least)).filter(|&bytes| bytes <= left + 1);
        let Some((count, bytes)) = count.zip(bytes) else {
            return Err(format!(
                "{}: more numbers announced than {left} bytes can hold",
                self.place()
            ));
        };
        if self.binary {
            let bytes = self.bytes.get(self.at..self.at + bytes);
            let bytes = bytes.ok_or_else(|| {
                format!("{}: the file ends, expected {count} numbers", self.place())
            })?;
            self.at += bytes.len();
            return Ok(kind.read(bytes, true));
        }
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            let word = self.word()?;
            numbers.push(word.parse().map_err(|_| self.wrong(&word, "a number"))?);
        }
        Ok(numbers)
    }
}
