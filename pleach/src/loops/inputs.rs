//! The input files of a loop: read here, or sent by the leading process.

use super::entry::LoopCommand;
use crate::cli::flags::Files;
use crate::failure::{Failure, usage};
use crate::input::{bytes_of_large, decoded};
use pleach_core::search::work::{Pack, Reader};
use pleach_core::wire::fingerprint;
use pleach_runtime::RunError;
use std::io;

/// The maximum number of bytes of files that may be sent to another process.
const MOST: usize = 1 << 29;

impl LoopCommand<'_> {
    /// Whether this process follows another one, which has read the files.
    fn follows(&self) -> bool {
        self.given.cluster.as_ref().is_some_and(|cluster| !cluster.is_root())
    }

    /// Whether a word means a file: in a process that follows, whether the root has sent it.
    pub fn is_file(&self, word: &str, by_name: fn(&str) -> bool) -> bool {
        if self.follows() { self.given.files.borrow().contains_key(word) } else { by_name(word) }
    }

    /// A file that may be large, and compressed with gzip.
    pub fn bytes(&self, word: &str) -> io::Result<Vec<u8>> {
        if self.follows() {
            let files = self.given.files.borrow();
            return files
                .get(word)
                .cloned()
                .ok_or_else(|| io::Error::other("the root did not send it"));
        }
        let bytes = bytes_of_large(word)?;
        if self.given.cluster.is_some() {
            // Other processes will ask for it.
            self.given.files.borrow_mut().insert(word.into(), bytes.clone());
        }
        Ok(bytes)
    }

    /// The same as text.
    pub fn text(&self, word: &str) -> io::Result<String> {
        decoded(self.bytes(word)?)
    }
}

/// The files as they are sent to other processes, and their fingerprint.
///
/// # Errors
/// If they are too large to send.
pub fn packed(files: &Files) -> Result<(Vec<u8>, u64), Failure> {
    let all: usize = files.values().map(Vec::len).sum();
    if all > MOST {
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        return usage(format!(
            "{}: {all} bytes are too much to send to other processes, expected at most {MOST}",
            names.join(", ")
        ));
    }
    // As a list of pairs.
    let mut bytes = Vec::with_capacity(all + 64 * files.len() + 16);
    files.len().pack(&mut bytes);
    for (name, file) in files {
        name.as_bytes().to_vec().pack(&mut bytes);
        file.pack(&mut bytes);
    }
    let print = fingerprint("files", &bytes);
    Ok((bytes, print))
}

/// Reads what the leading process has sent.
///
/// # Errors
/// If it is damaged.
pub fn unpacked(bytes: &[u8]) -> Result<Files, Failure> {
    let mut from = Reader::new(bytes);
    let list: Vec<(Vec<u8>, Vec<u8>)> = Pack::unpack(&mut from).map_err(RunError::from)?;
    let name = |name| String::from_utf8(name).unwrap_or_default();
    Ok(list.into_iter().map(|(word, file)| (name(word), file)).collect())
}
