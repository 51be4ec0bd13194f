//! Files that only their owner can read.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes a new file, completely or not at all.
///
/// # Errors
/// If the file exists, or cannot be written.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => replace(path, text),
    }
}

/// Writes a file, completely or not at all. What it contained before is lost.
///
/// # Errors
/// If the file cannot be written.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A killed process of the same number, as in a container, may have left one.
    let _ = std::fs::remove_file(&part);
    let mut file = options.open(&part)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| std::fs::rename(&part, path)).inspect_err(|_| {
        // An incomplete file is useless. Failing to remove it does no harm.
        let _ = std::fs::remove_file(&part);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_whole_for_its_owner_alone() {
        let folder = std::env::temp_dir().join(format!("pleach-private-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        create(&path, "one").unwrap();
        assert_eq!(create(&path, "two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one", "an existing file is kept");
        // A killed process of this number left its temporary file.
        std::fs::write(folder.join(format!("file.{}.part", std::process::id())), "th").unwrap();
        replace(&path, "three").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "three");
        #[cfg(unix)]
        {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        // Nothing is left of a file that cannot be written: its name is taken by a folder.
        let taken = folder.join("taken");
        std::fs::create_dir_all(taken.join("in it")).unwrap();
        assert!(replace(&taken, "four").is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
