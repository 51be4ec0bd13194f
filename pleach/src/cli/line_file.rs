//! [`LineFile`]: a file that grows by whole lines and has one writer at a time.

use crate::failure::{Failure, usage};
use crate::input::utf8;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

/// A file that grows by whole lines. No other process can use it meanwhile.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    path: String,
}

impl LineFile {
    /// Opens a file, which is created if missing, and reads its lines. If `read` accepts the last line as a whole one, a
    /// missing line break is added. Otherwise that line is incomplete, as a killed process may leave it, and is dropped
    /// once `read` has accepted the whole lines and that rest; its errors continue from the file's name.
    ///
    /// # Errors
    /// If it cannot be opened, another process uses it, or it holds something else.
    pub fn open<T>(
        path: &Path,
        read: impl Fn(&str, &[u8]) -> Result<T, String>,
    ) -> Result<(Self, T), Failure> {
        let name = path.display().to_string();
        let cannot = |why: std::io::Error| Failure::Usage(format!("{name}: {why}"));
        let options = File::options().read(true).append(true).create(true).open(path);
        let mut file = options.map_err(cannot)?;
        if !file.metadata().map_err(cannot)?.is_file() {
            return usage(format!("{name}: expected a regular file"));
        }
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return usage(format!("{name}: another process is writing it"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        if let (true, Ok(text)) = (whole < bytes.len(), std::str::from_utf8(&bytes))
            && let Ok(content) = read(text, b"")
        {
            file.write_all(b"\n").map_err(cannot)?;
            return Ok((Self { file, path: name }, content));
        }
        let (lines, rest) = bytes.split_at(whole);
        let lines = utf8(lines.to_vec()).map_err(cannot)?;
        let content = read(&lines, rest).map_err(|why| Failure::Usage(format!("{name}{why}")))?;
        if !rest.is_empty() {
            file.set_len(whole as u64).map_err(cannot)?;
        }
        Ok((Self { file, path: name }, content))
    }

    /// Appends a line, which ends in a line break, all at once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, line: &str) -> Result<(), Failure> {
        let before = self.file.metadata().map(|about| about.len());
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let (Err(_), Ok(length)) = (&written, before) {
            // A partial line would spoil the next one.
            let _ = self.file.set_len(length);
        }
        written.map_err(|why| Failure::Machine(format!("cannot write {}: {why}", self.path)))
    }
}
