//! [`Lock`]: one run at a time on a checkpoint file.

use std::cell::RefCell;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

thread_local! {
    /// The locks that this thread holds: a run shares the lock of the search that it is part of.
    static HELD: RefCell<Vec<(PathBuf, Weak<HeldLock>)>> = const { RefCell::new(Vec::new()) };
}

/// The exclusive right to use a checkpoint file.
///
/// The lock is on a separate file `FILE.lock`, because each save replaces the checkpoint with a new file. The system
/// releases the lock however the process ends; a lock file left behind by a crash locks nothing.
pub struct Lock {
    _held: Arc<HeldLock>,
}

struct HeldLock {
    lock_path: PathBuf,
    /// `None` on file systems without locks.
    file: Option<File>,
}

impl Lock {
    /// Locks a checkpoint file. A thread that already holds the lock shares it.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if another run uses the file; another error if the lock file cannot be created.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        // A link and its target share one lock.
        let mut lock_path = real_path(path).into_os_string();
        lock_path.push(".lock");
        let lock_path = PathBuf::from(lock_path);
        let held = HELD.with_borrow_mut(|held| {
            held.retain(|(_, lock)| lock.strong_count() > 0);
            held.iter().find(|(path, _)| *path == lock_path).and_then(|(_, lock)| lock.upgrade())
        });
        if let Some(held) = held {
            return Ok(Self { _held: held });
        }
        let file = open_and_lock(&lock_path)?;
        let held = Arc::new(HeldLock { lock_path: lock_path.clone(), file });
        HELD.with_borrow_mut(|all| all.push((lock_path, Arc::downgrade(&held))));
        Ok(Self { _held: held })
    }
}

/// The maximum number of links in one path; systems stop at 40 as well.
const MOST_LINKS: u32 = 40;

/// Follows the links of a path as far as files exist.
#[must_use]
pub fn real_path(path: &Path) -> PathBuf {
    follow(path, MOST_LINKS)
}

fn follow(path: &Path, links: u32) -> PathBuf {
    if let Ok(place) = path.canonicalize() {
        return place;
    }
    // A link to a file that does not exist yet.
    if let Some(to) = std::fs::read_link(path).ok().filter(|_| links > 0) {
        return follow(&path.parent().unwrap_or(Path::new("")).join(to), links - 1);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

/// Opens and locks the lock file. Tries again if its last owner removed it in between.
fn open_and_lock(lock_path: &Path) -> io::Result<Option<File>> {
    for attempt in 0.. {
        let file = File::options().write(true).create(true).truncate(false).open(lock_path)?;
        // Our lock files are empty, so this file belongs to somebody else.
        if file.metadata()?.len() > 0 {
            let lock_path = lock_path.display();
            return Err(io::Error::other(format!(
                "{lock_path} is in the way and was not written by pleach; remove it"
            )));
        }
        match file.try_lock() {
            // Some file systems cannot tell whether two files are the same.
            Ok(()) if is_at(&file, lock_path) || attempt == MOST_ATTEMPTS => return Ok(Some(file)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why =
                    "another run is using this checkpoint; wait for it or choose another file";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    unreachable!("one of the attempts is the last")
}

/// How often the lock file may vanish between opening and locking.
const MOST_ATTEMPTS: u32 = 100;

/// Whether a file is still the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |about: std::fs::Metadata| (about.dev(), about.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(file), Ok(there)) => id(file) == id(there),
        _ => false,
    }
}

/// Always true where the system cannot compare files; the lock file then stays.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Removed while locked, so that nobody else can hold a lock on the removed file.
        if cfg!(unix) || self.file.is_none() {
            // A file that stays behind locks nothing.
            let _ = std::fs::remove_file(&self.lock_path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_is_refused_until_the_first_ends() {
        let folder = std::env::temp_dir().join(format!("pleach-lock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("run.pleach");
        let lock = Lock::acquire(&path).unwrap();
        let again = Lock::acquire(&path).unwrap();
        let elsewhere = || {
            let path = path.clone();
            let held = std::thread::spawn(move || Lock::acquire(&path).map(|_| ())).join().unwrap();
            held.map_err(|why| why.kind())
        };
        assert_eq!(elsewhere(), Err(io::ErrorKind::ResourceBusy));
        drop(lock);
        assert_eq!(elsewhere(), Err(io::ErrorKind::ResourceBusy), "the thread still has it");
        let lock_path = folder.join("run.pleach.lock");
        drop(again);
        assert!(!lock_path.exists());
        assert_eq!(elsewhere(), Ok(()));
        // A file left behind by a crash locks nothing.
        std::fs::write(&lock_path, "").unwrap();
        assert_eq!(elsewhere(), Ok(()));
        // A folder that a link leads to is the same before the file is written as afterwards.
        #[cfg(unix)]
        {
            let link = folder.join("link");
            std::os::unix::fs::symlink(&folder, &link).unwrap();
            let before = Lock::acquire(&link.join("new.pleach")).unwrap();
            std::fs::write(folder.join("new.pleach"), "").unwrap();
            assert!(Lock::acquire(&link.join("new.pleach")).is_ok());
            drop(before);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
