//! [`CodeFile`]: compiled code that is kept for later runs.

use pleach_core::wire::fingerprint;
use pleach_kernels::cache_folder;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The file of a kernel's code, if there is a place for it.
pub(super) struct CodeFile(Option<PathBuf>);

impl CodeFile {
    /// The file for code that comes of this source and these choices.
    pub fn of(kernel: &str, source: &str, choices: &[String]) -> Self {
        let parts = (source.as_bytes().to_vec(), choices.concat().into_bytes());
        let name = format!("{kernel}-{:016x}", fingerprint("kernel", &parts));
        Self(cache_folder().map(|folder| folder.join(name)))
    }

    /// The code, if it is there and whole.
    pub fn read(&self) -> Option<Vec<u8>> {
        unsealed(fs::read(self.0.as_ref()?).ok()?)
    }

    /// Keeps code that the driver has accepted.
    pub fn keep(&self, code: &[u8]) {
        let Some(path) = &self.0 else { return };
        // A failure only costs compiling again; a half-written file would be worse.
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

/// Code with its print behind it. The driver is not told how long code is, so it would read beyond a file that was
/// cut off.
fn sealed(code: &[u8]) -> Vec<u8> {
    [code, &seal(code)].concat()
}

/// The code of a file that is whole.
fn unsealed(mut file: Vec<u8>) -> Option<Vec<u8>> {
    let print = file.split_off(file.len().checked_sub(8)?);
    (seal(&file)[..] == print[..]).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_are_read() {
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
