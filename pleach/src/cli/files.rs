//! The files that a command writes: opened before the search, and never an input or another output.

use super::flags::Given;
use crate::failure::{Failure, usage};
use std::fs::{File, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file to be written later.
pub struct Output {
    path: PathBuf,
    file: File,
    /// Whether the file was not there before.
    is_new: bool,
}

impl Output {
    /// Opens the file that a flag names, if it is given; what the file holds stays until it is written,
    /// so that a path that cannot be written costs no search.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn of(flag: &str, given: &Given) -> Result<Option<Self>, Failure> {
        let Some(path) = given.path(flag) else { return Ok(None) };
        let is_new = !path.exists();
        let file = File::options().write(true).create(true).truncate(false).open(&path);
        match file {
            Ok(file) if is_standard_output(&file) => usage(format!(
                "--{flag} {} is the file that standard output goes to; choose another file",
                path.display()
            )),
            Ok(file) => Ok(Some(Self { path, file, is_new })),
            Err(why) => usage(format!("--{flag} {}: {why}", path.display())),
        }
    }

    /// There is nothing to write: the file stays as it was. Returns its name.
    pub fn leave(self) -> String {
        if self.is_new {
            // An empty file that stays does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
        self.path.display().to_string()
    }

    /// Whether its name has this ending.
    pub fn ends_with(&self, ending: &str) -> bool {
        self.path.extension().is_some_and(|it| it == ending)
    }

    /// Writes it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(self, text: &str) -> Result<(), Failure> {
        self.write_bytes(format!("{text}\n").as_bytes())
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write_bytes(mut self, bytes: &[u8]) -> Result<(), Failure> {
        // A terminal or a pipe has no length to set.
        let _ = self.file.set_len(0);
        let written = self.file.write_all(bytes).and_then(|()| self.file.flush());
        let path = self.path.display();
        written.map_err(|why| Failure::Machine(format!("cannot write {path}: {why}")))
    }
}

/// Writes a file whole, or not at all; a link to one stays a link. What is no ordinary file is written as it is.
///
/// # Errors
/// If it cannot be written; a file that is there stays as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if path.exists() && !path.is_file() {
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    let path = place(path);
    // Another process may be at it as well.
    let mut aside = path.clone().into_os_string();
    aside.push(format!(".{}.part", std::process::id()));
    let written = std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, &path));
    if written.is_err() {
        // What was begun is of no use.
        let _ = std::fs::remove_file(&aside);
    }
    written
}

/// Whether an ordinary file is the one that standard output goes to.
#[cfg(unix)]
fn is_standard_output(file: &File) -> bool {
    use std::os::fd::AsFd;
    let out = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    match (file.metadata(), out.and_then(|out| out.metadata())) {
        (Ok(file), Ok(out)) => file.is_file() && identical(&file, &out),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_standard_output(_: &File) -> bool {
    false
}

/// Flags that name a file to be written.
const WRITTEN: [&str; 6] = ["checkpoint", "solution", "gantt", "trace", "svg", "out"];

/// Refuses an output that is the same file as another output or as an input.
///
/// # Errors
/// One line: which two.
pub fn keep_apart(given: &Given, inputs: &[String]) -> Result<(), Failure> {
    let mut seen: Vec<(String, PathBuf)> = Vec::new();
    let start = given.path("start").map(|path| ("--start".to_string(), path));
    let inputs = inputs.iter().map(|word| ("the input".to_string(), PathBuf::from(word)));
    let from = given.saving.from.as_ref().filter(|from| given.word("checkpoint") != Some(from));
    let from = from.map(|from| ("the saved search".to_string(), PathBuf::from(from)));
    seen.extend(inputs.chain(start).chain(from));
    let written = WRITTEN.iter().filter_map(|&flag| Some((format!("--{flag}"), given.path(flag)?)));
    // A checkpoint has two files beside it while a search runs.
    let beside = given.path("checkpoint").into_iter().flat_map(|path| {
        ["lock", "part"].map(|ending| {
            let mut name = path.clone().into_os_string();
            name.push(format!(".{ending}"));
            (format!("the .{ending} file of --checkpoint"), PathBuf::from(name))
        })
    });
    for (flag, path) in written.chain(beside) {
        if let Some((other, there)) = seen.iter().find(|(_, there)| same(there, &path)) {
            let (path, there) = (path.display(), there.display());
            return usage(format!(
                "{flag} {path} is the same file as {other} {there}; choose another file"
            ));
        }
        seen.push((flag, path));
    }
    Ok(())
}

/// Whether two paths lead to one ordinary file, or will once it is written.
fn same(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        // Nothing is lost in /dev/null or on a terminal.
        (Ok(there), _) | (_, Ok(there)) if !there.is_file() => false,
        (Ok(a), Ok(b)) if identical(&a, &b) => true,
        _ => place(one) == place(other),
    }
}

#[cfg(unix)]
fn identical(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn identical(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// Where a path leads, links followed as far as there are files.
fn place(path: &Path) -> PathBuf {
    follow(path, MOST_LINKS)
}

/// The most links that one path may go through: systems stop at 40, too.
const MOST_LINKS: u32 = 40;

fn follow(path: &Path, links: u32) -> PathBuf {
    if let Ok(place) = path.canonicalize() {
        return place;
    }
    // A link to a file that is not there yet.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_file_are_told() {
        let folder = std::env::temp_dir().join(format!("pleach-files-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        let file = folder.join("a.txt");
        std::fs::write(&file, "1").unwrap();
        assert!(same(&file, &folder.join("inner/../a.txt")));
        assert!(same(&folder.join("new"), &folder.join("inner/../new")));
        assert!(!same(&file, &folder.join("b.txt")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&file, folder.join("link")).unwrap();
            std::fs::hard_link(&file, folder.join("hard")).unwrap();
            std::os::unix::fs::symlink("new", folder.join("to-new")).unwrap();
            assert!(same(&file, &folder.join("link")) && same(&file, &folder.join("hard")));
            assert!(same(&folder.join("new"), &folder.join("to-new")));
            assert!(!same(Path::new("/dev/null"), Path::new("/dev/null")));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
