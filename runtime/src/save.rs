//! [`Saver`]: gathers the cuts of all workers into snapshots, and writes snapshots to a file.

use crate::control::Control;
use crate::error::RunError;
use crate::lock::{Lock, real_path};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use pleach_core::lease::ProgressReport;
use pleach_core::lease::gateway::Portion;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Work;
use pleach_core::wire::checkpoint::{Checkpoint, Cut, assemble};
use pleach_core::wire::{ContentKind, Unreadable};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where and how often to save.
#[derive(Clone, Debug)]
pub struct Save {
    /// The file. The old one stays while a new one is written to `.part` next to it.
    pub path: PathBuf,
    /// Time between two saves.
    pub every: Duration,
    /// Whether other work came before the run, such as a search by layers. If the file cannot be written when the run
    /// begins, it continues with a warning, rather than lose that work.
    pub begun: bool,
}

/// Requests to save a run at once, from any thread. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct SaveNow {
    asked: Arc<std::sync::atomic::AtomicU64>,
    /// The number of requests that came before this run.
    before: u64,
}

impl SaveNow {
    /// Requests a save.
    pub fn request(&self) {
        self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    /// The number of requests so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.asked.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// The same requests for a run that begins: it answers those from now on, including those that arrive before it can
    /// save.
    #[must_use]
    pub fn from_now(&self) -> Self {
        Self { before: self.count(), ..self.clone() }
    }

    /// The number of requests made before the run began.
    pub fn before(&self) -> u64 {
        self.before
    }
}

impl Save {
    /// Saves to this file, with this time between two saves. A relative path is relative to the current directory, even if
    /// the process changes to another one.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, every: Duration) -> Self {
        let path = path.into();
        // An empty path is refused when the run begins.
        let path = absolute(&path).unwrap_or(path);
        Self { path, every, begun: false }
    }

    /// Checks that the file [may be replaced](Self::may_replace), and that nothing is in the way of a new one.
    ///
    /// # Errors
    /// If one of the two files is anything but a checkpoint.
    pub fn may_begin(&self) -> io::Result<()> {
        self.may_replace()?;
        part_of(&real_path(&self.path)).map(drop)
    }

    /// Checks that the file may be replaced: it must be a checkpoint, or empty, or missing.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn may_replace(&self) -> io::Result<()> {
        if is_checkpoint_or_empty(&self.path)? {
            Ok(())
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a checkpoint; refusing to overwrite it",
            ))
        }
    }
}

/// The file that is written first, and then replaces this one.
fn part_of(path: &Path) -> io::Result<PathBuf> {
    let mut part_path = path.as_os_str().to_owned();
    part_path.push(".part");
    let part_path = PathBuf::from(part_path);
    if !is_checkpoint_or_empty(&part_path)? {
        let part_path = part_path.display();
        return Err(io::Error::other(format!(
            "{part_path} is in the way and was not written by pleach; remove it"
        )));
    }
    Ok(part_path)
}

/// Whether a file is a checkpoint, or empty, or missing.
fn is_checkpoint_or_empty(path: &Path) -> io::Result<bool> {
    let names_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    match std::fs::metadata(path) {
        // A pipe would block.
        Ok(about) if !about.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound && !names_folder => return Ok(true),
        _ => {}
    }
    let begin = beginning(path)?;
    Ok(begin.is_empty() || begin.starts_with(&ContentKind::Checkpoint.mark()))
}

/// The first bytes of a regular file.
fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    File::open(path)?.take(Checkpoint::BEGINNING).read_to_end(&mut begin)?;
    Ok(begin)
}

/// The number of the run that saved a regular file, if one did.
fn run_of(path: &Path) -> Option<u64> {
    let begin = path.is_file().then(|| beginning(path).ok())??;
    Checkpoint::run_of(&begin)
}

/// Reads a saved run to resume it.
///
/// # Errors
/// If there is no such file, or it is not an undamaged checkpoint.
pub fn load(path: &Path) -> Result<Arc<Checkpoint>, RunError> {
    let regular = |path: &Path| match std::fs::metadata(path)?.is_file() {
        true => std::fs::read(path),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    };
    let known = |content: Checkpoint| match content.fingerprint {
        // It might be of any search.
        0 => Err(Unreadable::Foreign),
        _ => Ok(content),
    };
    let read = regular(path)
        .and_then(|bytes| Checkpoint::from_bytes(&bytes).and_then(known).map_err(io::Error::other));
    read.map(Arc::new).map_err(|why| RunError::Load { path: path.to_path_buf(), why })
}

/// Replaces a file atomically: whenever the process or the machine stops, the file is either the old one or the new
/// one. It keeps its permission bits. The old one becomes `FILE.old`, unless something other than a save of these runs
/// has that name.
pub fn replace(path: &Path, bytes: &[u8], runs: &[u64]) -> io::Result<()> {
    // A link stays a link: its target is replaced.
    let path = &real_path(path);
    let part_path = part_of(path)?;
    // A killed process may have left one.
    let _ = std::fs::remove_file(&part_path);
    let written = create_replacement(&part_path, path)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| {
            keep_before(path, runs);
            std::fs::rename(&part_path, path)
        });
    if let Err(why) = written {
        // An incomplete file is useless. Failing to remove it does no harm.
        let _ = std::fs::remove_file(&part_path);
        return Err(why);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // If the folder cannot be synced, the system decides when the new name reaches the disk.
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Creates a file at a path where nothing is. If the target that it is to replace exists, the file gets the target's
/// permission bits; until then only its owner can open it. Access control lists are not copied.
///
/// # Errors
/// If it cannot be created.
pub fn create_replacement(path: &Path, target: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    let Ok(about) = std::fs::metadata(target) else { return options.open(path) };
    #[cfg(unix)]
    let (file, permissions) = {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        let same_group = file.metadata().is_ok_and(|new| new.gid() == about.gid());
        let mode = mode_in_group(about.mode(), same_group);
        (file, std::fs::Permissions::from_mode(mode))
    };
    #[cfg(not(unix))]
    let (file, permissions) = (options.open(path)?, about.permissions());
    // If the system cannot do that, the file stays closed to others.
    let _ = file.set_permissions(permissions);
    Ok(file)
}

/// The permissions of a file that replaces one of this mode. A different group gets only the permissions that everybody
/// has.
#[cfg(unix)]
fn mode_in_group(mode: u32, same_group: bool) -> u32 {
    let mode = mode & 0o777;
    if same_group { mode } else { mode & (!0o070 | ((mode & 0o007) << 3)) }
}

/// Keeps the file that is about to be replaced as `FILE.old`. If the system has no hard links, or anything but a save of
/// these runs has that name, the file is just replaced.
fn keep_before(path: &Path, runs: &[u64]) {
    let mut old = path.as_os_str().to_owned();
    old.push(".old");
    let old = PathBuf::from(old);
    let is_free = match std::fs::metadata(&old) {
        Ok(about) if about.len() == 0 => about.is_file(),
        Ok(_) => run_of(&old).is_some_and(|run| runs.contains(&run)),
        Err(why) => why.kind() == io::ErrorKind::NotFound,
    };
    let holds_something = std::fs::metadata(path).is_ok_and(|about| about.len() > 0);
    if holds_something && is_free {
        // If there is no such file, nothing is in the way.
        let _ = std::fs::remove_file(&old);
        let _ = std::fs::hard_link(path, &old);
    }
}

/// Saves snapshots of a run in a file.
pub struct Saver<'a> {
    save: &'a Save,
    /// This run, and the one that saved the file before.
    runs: Vec<u64>,
    /// The state before this run began.
    before: Checkpoint,
    start: Instant,
    /// The cuts of the snapshot under way so far, and how many complete it.
    cuts: Mutex<Vec<Cut>>,
    workers: usize,
    /// The epoch of the last snapshot.
    epoch: AtomicU64,
    /// Whether the last save that was noted has failed.
    failed: AtomicBool,
    /// How often the file was written.
    saves: AtomicU64,
}

impl<'a> Saver<'a> {
    /// A saver for a run that resumes `before`.
    pub fn new(
        (save, about): (&'a Save, &str),
        before: &Checkpoint,
        workers: u32,
        start: Instant,
    ) -> Self {
        let before = Checkpoint { about: about.into(), pieces: Vec::new(), ..before.clone() };
        Self {
            runs: run_of(&save.path).into_iter().chain([before.run]).collect(),
            save,
            before,
            start,
            cuts: Mutex::default(),
            workers: workers as usize,
            epoch: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            saves: AtomicU64::new(0),
        }
    }

    /// Changes the text for the program that saves.
    pub fn set_about(&mut self, about: String) {
        self.before.about = about;
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.save.path
    }

    /// How often this run has written the file.
    pub fn saves(&self) -> u64 {
        self.saves.load(Ordering::Acquire)
    }

    /// Time between two saves.
    pub fn every(&self) -> Duration {
        self.save.every
    }

    /// The epoch of the snapshot requested last.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Requests a snapshot. The previous one must be complete.
    pub fn request_snapshot(&self) {
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// Takes a worker's cut.
    pub fn hand_in(&self, cut: Cut) {
        lock(&self.cuts).push(cut);
    }

    /// Locks the file, and writes it before the run begins, so that no search is wasted on a path that cannot be
    /// written. Returns a warning if the file could not be written after other work.
    pub fn lock_and_write(
        &self,
        pieces: Vec<Work>,
        control: &Control,
    ) -> Result<(Lock, Option<String>), RunError> {
        let begin = || {
            // Check before a lock file is created next to it.
            if !self.save.begun {
                self.save.may_replace()?;
            }
            let lock = Lock::acquire(&self.save.path)?;
            let written = self.write(&Counts::default(), pieces, control);
            Ok((lock, if self.save.begun { self.note(written) } else { written.map(|()| None)? }))
        };
        begin().map_err(|why| RunError::Save { path: self.save.path.clone(), why })
    }

    /// A line about a save during the search: about the first that failed, and about the next that did not.
    pub fn note(&self, saved: io::Result<()>) -> Option<String> {
        let path = self.save.path.display();
        let failed = saved.is_err();
        if self.failed.swap(failed, Ordering::Relaxed) == failed {
            return None;
        }
        Some(match saved {
            Ok(()) => format!("--checkpoint {path}: saved again"),
            Err(why) => {
                format!("--checkpoint {path}: {why}; the search continues; the file is unchanged")
            }
        })
    }

    /// A line about a save at the end, if it failed.
    pub fn note_at_end(&self, saved: io::Result<()>) -> Option<String> {
        let path = self.save.path.display();
        let lost = "the work since the last save is lost; the file is unchanged";
        saved.err().map(|why| format!("--checkpoint {path}: {why}; {lost}"))
    }

    /// Takes the counts and the open work of the snapshot under way, if it is complete.
    pub fn take_if_whole(&self) -> Option<(Counts, Vec<Work>)> {
        let mut cuts = lock(&self.cuts);
        let whole = cuts.len() == self.workers;
        whole.then(|| assemble(std::mem::take(&mut *cuts)))
    }

    /// Writes the file with the counts of this run and the open work.
    pub fn write(&self, counts: &Counts, pieces: Vec<Work>, control: &Control) -> io::Result<()> {
        let mut all = Checkpoint { pieces, ..self.before.clone() };
        all.counts.add(counts);
        self.write_checkpoint(all, control)
    }

    /// Writes the file with the progress report of the whole, at the root of several sites.
    pub fn write_whole(
        &self,
        whole: &ProgressReport<Portion<Counts>>,
        control: &Control,
    ) -> io::Result<()> {
        self.write_checkpoint(self.before.clone().with_progress_report(whole), control)
    }

    fn write_checkpoint(&self, mut all: Checkpoint, control: &Control) -> io::Result<()> {
        all.elapsed_ns = all.elapsed_ns.saturating_add(self.start.elapsed().as_nanos() as u64);
        all.best = control.best();
        all.solution = control.solution();
        // Anything may have taken its name since the last save.
        self.save.may_replace()?;
        replace(&self.save.path, &all.to_bytes(), &self.runs)?;
        self.saves.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A file that its group could read used to be readable by another group once it was replaced.
    #[test]
    fn another_group_may_do_only_what_everybody_may_do() {
        for (mode, other) in [(0o640, 0o600), (0o664, 0o644), (0o644, 0o644), (0o606, 0o606)] {
            assert_eq!(mode_in_group(mode, true), mode);
            assert_eq!(mode_in_group(mode, false), other, "{mode:o}");
        }
    }
}
