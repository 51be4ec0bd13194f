//! [`CodeFile`]: caches compiled code for later runs.

use pleach_core::wire::fingerprint;
use pleach_kernels::cache_folder;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The cache file of a kernel's code; `None` if there is no place for it.
pub(super) struct CodeFile(Option<PathBuf>);

impl CodeFile {
    /// The file for code compiled from this source with these choices.
    pub fn of(kernel: &str, source: &str, choices: &[String]) -> Self {
        let parts = (source.as_bytes().to_vec(), choices.concat().into_bytes());
        let name = format!("{kernel}-{:016x}", fingerprint("kernel", &parts));
        Self(cache_folder().map(|folder| folder.join(name)))
    }

    /// The code, if the file exists and is complete.
    pub fn read(&self) -> Option<Vec<u8>> {
        unsealed(fs::read(self.0.as_ref()?).ok()?)
    }

    /// Caches code that the driver has accepted.
    pub fn keep(&self, code: &[u8]) {
        let Some(path) = &self.0 else { return };
        // A failure only costs another compilation; an incomplete file would do harm.
        static WRITTEN: AtomicU32 = AtomicU32::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let aside = path.with_extension(format!("{}-{number}", std::process::id()));
        let folder = path.parent().map(fs::create_dir_all);
        let written = folder.map(|_| fs::write(&aside, sealed(code)));
        if matches!(written, Some(Ok(()))) {
            let _ = fs::rename(aside, path);
        }
    }
}

fn seal(code: &[u8]) -> [u8; 8] {
    fingerprint("code", &code.to_vec()).to_le_bytes()
}

/// Appends a checksum to code. The driver does not learn how long code is, so it would read past the end of a truncated
/// file.
fn sealed(code: &[u8]) -> Vec<u8> {
    [code, &seal(code)].concat()
}

/// The code of a complete file.
fn unsealed(mut file: Vec<u8>) -> Option<Vec<u8>> {
    let print = file.split_off(file.len().checked_sub(8)?);
    (seal(&file)[..] == print[..]).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_files_are_rejected() {
        let file = sealed(b"code");
        assert_eq!(unsealed(file.clone()), Some(b"code".to_vec()));
        for cut in 0..file.len() {
            assert_eq!(unsealed(file[..cut].to_vec()), None);
            let mut other = file.clone();
            other[cut] ^= 1;
            assert_eq!(unsealed(other), None);
        }
    }
}
