//! [`Credentials`]: the file by which a user or a joiner reaches a service.

use crate::private;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The first line of the file.
const WORD: &str = "pleach-service-1";

/// Where a service is, how it is recognised, and who calls.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// `HOST:PORT`.
    pub address: String,
    /// The SHA-256 of the service's certificate.
    pub certificate: [u8; 32],
    /// The caller.
    pub name: String,
    /// The caller's secret.
    pub token: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credentials({} at {})", self.name, self.address)
    }
}

/// Why there are no credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// The file cannot be read.
    #[error("cannot read '{}': {why}", path.display())]
    CannotRead {
        /// Its path.
        path: PathBuf,
        /// The system error.
        why: std::io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write '{}': {why}", path.display())]
    CannotWrite {
        /// Its path.
        path: PathBuf,
        /// The system error.
        why: std::io::Error,
    },
    /// The file does not hold credentials.
    #[error("'{}', line {line}: expected {expected}", path.display())]
    Malformed {
        /// Its path.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What should be there.
        expected: &'static str,
    },
}

impl Credentials {
    /// Whether a file seems to hold credentials of a service.
    #[must_use]
    pub fn is_in(path: &Path) -> bool {
        std::fs::read_to_string(path).is_ok_and(|text| text.lines().next() == Some(WORD))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, or does not hold credentials.
    pub fn read(path: &Path) -> Result<Self, CredentialsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| CredentialsError::CannotRead { path: path.into(), why })?;
        let lines: Vec<&str> = text.lines().collect();
        let malformed =
            |line, expected| CredentialsError::Malformed { path: path.into(), line, expected };
        if lines.first() != Some(&WORD) {
            return Err(malformed(1, "'pleach-service-1'"));
        }
        let value = |line: usize, name: &str, expected| {
            let value = lines.get(line - 1).and_then(|line| line.strip_prefix(name));
            let value = value.and_then(|value| value.strip_prefix(' ')).map(str::to_string);
            value.ok_or(malformed(line, expected))
        };
        let expected = "'certificate' and 64 hexadecimal digits";
        let digits = bytes_of(&value(3, "certificate", expected)?);
        let certificate = digits.and_then(|bytes| bytes.try_into().ok());
        Ok(Self {
            address: value(2, "address", "'address HOST:PORT'")?,
            certificate: certificate.ok_or(malformed(3, expected))?,
            name: value(4, "name", "'name' and a name")?,
            token: value(5, "token", "'token' and a token")?,
        })
    }

    /// Writes a new file that only its owner can read.
    ///
    /// # Errors
    /// If the file exists, or cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CredentialsError> {
        private::create(path, &self.text())
            .map_err(|why| CredentialsError::CannotWrite { path: path.into(), why })
    }

    /// Writes a file, in place of an existing one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn replace(&self, path: &Path) -> Result<(), CredentialsError> {
        private::replace(path, &self.text())
            .map_err(|why| CredentialsError::CannotWrite { path: path.into(), why })
    }

    fn text(&self) -> String {
        format!(
            "{WORD}\naddress {}\ncertificate {}\nname {}\ntoken {}\n",
            self.address,
            digits_of(&self.certificate),
            self.name,
            self.token
        )
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn digits_of(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes of hexadecimal digits.
#[must_use]
pub fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).ok()).collect()
}

/// The SHA-256 of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let mut out = [0; 32];
    out.copy_from_slice(digest.as_ref());
    out
}

/// A new secret: 32 random bytes as digits.
///
/// # Errors
/// If the system has no random bytes.
pub fn new_token() -> Result<String, String> {
    let mut bytes = [0; 32];
    let random = ring::rand::SystemRandom::new();
    ring::rand::SecureRandom::fill(&random, &mut bytes)
        .map_err(|_| "the system has no random bytes".to_string())?;
    Ok(digits_of(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_as_they_were_written() {
        let folder =
            std::env::temp_dir().join(format!("pleach-credentials-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("ann");
        let all = Credentials {
            address: "host:7400".into(),
            certificate: sha256(b"certificate"),
            name: "ann".into(),
            token: new_token().unwrap(),
        };
        all.write(&path).unwrap();
        assert!(Credentials::read(&path).unwrap() == all && Credentials::is_in(&path));
        assert!(all.write(&path).is_err(), "an existing file is kept");
        let text = std::fs::read_to_string(&path).unwrap();
        for (line, wrong) in [(1, "pleach-key-1 00"), (2, "host"), (3, "certificate 0g"), (5, "")] {
            let mut lines: Vec<&str> = text.lines().collect();
            lines[line - 1] = wrong;
            std::fs::write(&path, lines.join("\n")).unwrap();
            let why = Credentials::read(&path).unwrap_err().to_string();
            assert!(why.contains(&format!("line {line}: expected")), "{why}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
