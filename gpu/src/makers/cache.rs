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
        let _ = path.parent().map(fs::create_dir_all);
        let written = fs::write(&aside, sealed(code));
        if written.and_then(|()| fs::rename(&aside, path)).is_err() {
            let _ = fs::remove_file(aside);
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
    fn failed_writes_leave_no_file() {
        let folder = std::env::temp_dir().join(format!("pleach-cache-{}", std::process::id()));
        let files = || fs::read_dir(&folder).unwrap().count();
        let file = CodeFile(Some(folder.join("code")));
        fs::create_dir_all(folder.join("code")).unwrap();
        file.keep(b"code");
        assert_eq!((file.read(), files()), (None, 1), "a folder is in the way");
        fs::remove_dir(folder.join("code")).unwrap();
        file.keep(b"code");
        assert_eq!((file.read(), files()), (Some(b"code".to_vec()), 1));
        fs::remove_dir_all(&folder).unwrap();
    }

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
