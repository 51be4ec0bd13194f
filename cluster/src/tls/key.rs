//! [`Key`]: the secret of a run, and the file that holds it.
//!
//! Anyone with the file may join, or act as the root: it is an Ed25519 private key, the same for all sites. The file
//! appears under its name complete, as a link to a finished file, so that of two processes that create it at once one
//! wins and both read the same key. It is refused if the group or others may read or write it; for credentials of
//! systemd, the bit that lets the group read does not count.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The first word of a key file.
const WORD: &str = "pleach-key-1";
/// Bytes of a key.
const LENGTH: usize = 32;

/// The secret that all sites of a run share. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; LENGTH]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read.
    #[error("cannot read the key file '{}': {why}", path.display())]
    CannotRead {
        /// Its path.
        path: PathBuf,
        /// The system error.
        why: String,
    },
    /// The file cannot be created.
    #[error("cannot create the key file '{}': {why}", path.display())]
    CannotMake {
        /// Its path.
        path: PathBuf,
        /// The system error.
        why: String,
    },
    /// Users other than the owner may read or write the file.
    #[error("the key file '{0}' is open to others: chmod 600 '{0}'", path.display())]
    Open {
        /// Its path.
        path: PathBuf,
    },
    /// The file does not contain a key.
    #[error("'{}' is not a key file", path.display())]
    NoKey {
        /// Its path.
        path: PathBuf,
    },
}

impl Key {
    /// Reads the key in this file. Creates the file with a new key if it does not exist.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, or exists and [`Key::read`] refuses it.
    pub fn make(path: &Path) -> Result<Self, KeyError> {
        match fs::symlink_metadata(path) {
            Ok(_) => return Self::read(path),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_read(path, &error)),
        }
        let fails = |why: String| KeyError::CannotMake { path: path.into(), why };
        let key = Self::random().map_err(fails)?;
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        let mut unique = [0; 8];
        fill(&mut unique).map_err(fails)?;
        name.push(format!(".{:016x}", u64::from_le_bytes(unique)));
        let draft = path.with_file_name(name);
        let written = key.write(&draft).and_then(|()| fs::hard_link(&draft, path));
        // Even if it could not be written completely.
        let _ = fs::remove_file(&draft);
        match written {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Self::read(path),
            Err(error) => Err(fails(error.to_string())),
        }
    }

    /// Reads the key in this file.
    ///
    /// # Errors
    ///
    /// If the file does not exist, is accessible to users other than its owner, or contains no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let no_key = || KeyError::NoKey { path: path.into() };
        let fails = |error: std::io::Error| cannot_read(path, &error);
        // Reading something other than a file, such as a pipe, could block forever.
        if !fs::metadata(path).map_err(fails)?.is_file() {
            return Err(no_key());
        }
        let file = File::open(path).map_err(fails)?;
        // Systemd opens credentials to one user by access lists, whose mask shows as the bits of the group.
        let credentials = std::env::var_os("CREDENTIALS_DIRECTORY");
        let credentials = credentials.filter(|folder| !folder.is_empty());
        let by_list = credentials.is_some_and(|folder| path.parent() == Some(Path::new(&folder)));
        let refused = if by_list { 0o037 } else { 0o077 };
        if file.metadata().map_err(fails)?.mode() & refused != 0 {
            return Err(KeyError::Open { path: path.into() });
        }
        let mut text = Vec::new();
        file.take(1000).read_to_end(&mut text).map_err(fails)?;
        std::str::from_utf8(&text).ok().and_then(Self::parse).ok_or_else(no_key)
    }

    /// A new key.
    ///
    /// # Errors
    ///
    /// If the system has no random bytes.
    pub fn random() -> Result<Self, String> {
        let mut bytes = [0; LENGTH];
        fill(&mut bytes).map(|()| Self(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        file.write_all(format!("{WORD} {digits}\n").as_bytes())?;
        file.sync_all()
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_end().strip_prefix(WORD)?.strip_prefix(' ')?;
        if digits.len() != 2 * LENGTH || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; LENGTH];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * i..2 * i + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

fn cannot_read(path: &Path, error: &std::io::Error) -> KeyError {
    KeyError::CannotRead { path: path.into(), why: error.to_string() }
}

/// Fills a buffer with random bytes from the system.
fn fill(bytes: &mut [u8]) -> Result<(), String> {
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(bytes).map_err(|_| "the system has no random bytes".into())
}
