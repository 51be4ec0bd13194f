//! Output files: written completely or not at all, and never over an input or another output.

use super::flags::{FlagValues, KEY};
use crate::failure::{Failure, usage};
use pleach_runtime::real_path;
use pleach_runtime::save::create_replacement;
use pleach_runtime::sync::lock;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// A file to be written later.
pub struct Output {
    path: PathBuf,
    target: Target,
}

/// Where an output is written.
enum Target {
    /// To a new file next to this one, which the new file replaces once it is complete. The new file is made when it is
    /// written: a process that is killed while it searches leaves none behind.
    Beside(PathBuf),
    /// Directly to a device, a pipe, or a file in a folder where no other file can be created.
    Direct(File),
}

impl Output {
    /// Prepares the file that a flag names, if it is given; an existing file stays until the new one is complete. A
    /// path that cannot be written is an error before the search.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn of(flag: &str, given: &FlagValues) -> Result<Option<Self>, Failure> {
        given.path(flag).map(|path| Self::at(flag, path)).transpose()
    }

    /// The same for a path, which may be the flag's default.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn at(flag: &str, path: PathBuf) -> Result<Self, Failure> {
        not_a_dash(flag, &path)?;
        not_standard_output(flag, &path)?;
        match Target::of(&path) {
            Ok(target) => Ok(Self { path, target }),
            Err(why) => usage(format!("--{flag} {}: {why}", path.display())),
        }
    }

    /// Gives up the output, since there is nothing to write: the file is unchanged. Returns its name.
    pub fn leave(self) -> String {
        self.name()
    }

    /// Its name.
    pub fn name(&self) -> String {
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

    /// Writes bytes.
    ///
    /// # Errors
    /// If they cannot be written; an existing file stays as it was.
    pub fn write_bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.path.display();
        let written = self.target.write(&self.path, bytes);
        written.map_err(|why| Failure::Unwritten(format!("cannot write {path}: {why}")))
    }
}

/// Flags that name a file about a solution, which is not written if there is none.
pub const ABOUT_SOLUTION: [&str; 3] = ["solution", "gantt", "schedule"];

/// The files about a solution that flags name, each after its flag.
///
/// # Errors
/// If one cannot be written.
pub fn about_solution(given: &FlagValues) -> Result<Vec<(&'static str, Output)>, Failure> {
    let mut files = Vec::new();
    for flag in ABOUT_SOLUTION {
        files.extend(Output::of(flag, given)?.map(|file| (flag, file)));
    }
    Ok(files)
}

/// Refuses `-`, by which other commands mean standard output.
pub fn not_a_dash(flag: &str, path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return usage(format!(
            "--{flag} -: expected a file, since the result goes to standard output"
        ));
    }
    Ok(())
}

/// Writes a file completely or not at all; a link stays a link. Anything but a regular file is written directly.
///
/// # Errors
/// If it cannot be written; an existing file stays as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Target::of(path)?.write(path, bytes)
}

/// Checks that [`replace`] can write a file.
///
/// # Errors
/// Why it cannot.
pub fn can_replace(path: &Path) -> io::Result<()> {
    Target::of(path).map(drop)
}

impl Target {
    fn of(path: &Path) -> io::Result<Self> {
        if let Err(why) = path.metadata()
            && why.kind() != ErrorKind::NotFound
        {
            return Err(why);
        }
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ErrorKind::IsADirectory.into());
        }
        if path.file_name().is_none() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "expected a file name"));
        }
        if path.exists() && !path.is_file() {
            return File::options().write(true).open(path).map(Target::Direct);
        }
        let place = real_path(path);
        match Part::beside(place.clone()) {
            Err(why) if why.kind() == ErrorKind::PermissionDenied && path.exists() => {
                File::options().write(true).open(path).map(Target::Direct)
            }
            part => {
                // A file without write permission is not replaced either.
                if path.exists() {
                    File::options().write(true).open(path)?;
                }
                part.map(|_| Target::Beside(place))
            }
        }
    }

    fn write(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self {
            Target::Beside(place) => Part::beside(place)?.fill(bytes),
            Target::Direct(file) if path.is_file() => {
                let before = std::fs::read(path);
                let written = fill(&file, bytes);
                if let (Err(_), Ok(before)) = (&written, before) {
                    // Its bytes still have their place on the disk.
                    let _ = fill(&file, &before);
                }
                written
            }
            Target::Direct(mut file) => file.write_all(bytes).and_then(|()| file.flush()),
        }
    }
}

/// Replaces the content of a file.
fn fill(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// The paths of all `.part` files.
static PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn parts() -> MutexGuard<'static, Vec<PathBuf>> {
    lock(&PARTS)
}

/// Removes all `.part` files, since the process ends early.
pub fn remove_parts() {
    let mut parts = parts();
    for part in parts.drain(..) {
        // A file that remains does no harm.
        let _ = std::fs::remove_file(part);
    }
    // Until the process has ended, other threads must not create another one.
    std::mem::forget(parts);
}

/// A file that is written next to its target, and replaces it once complete; otherwise it is
/// removed.
struct Part {
    place: PathBuf,
    part_path: PathBuf,
    file: File,
}

impl Part {
    fn beside(place: PathBuf) -> io::Result<Self> {
        let mut parts = parts();
        for number in 0.. {
            let mut part_path = place.clone().into_os_string();
            // Another process may be writing the same file.
            part_path.push(format!(".{}-{number}.part", std::process::id()));
            let part_path = PathBuf::from(part_path);
            match create_replacement(&part_path, &place) {
                Ok(file) => {
                    parts.push(part_path.clone());
                    return Ok(Self { place, part_path, file });
                }
                Err(why) if why.kind() != ErrorKind::AlreadyExists || number == MOST_PARTS => {
                    return Err(why);
                }
                Err(_) => {}
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Writes all bytes, and replaces the target.
    fn fill(mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.chunks(CHUNK) {
            self.file.write_all(chunk)?;
            // A process cannot end while the system is writing its data to disk.
            self.file.sync_data()?;
        }
        self.file.sync_all()?;
        std::fs::rename(&self.part_path, &self.place)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut parts = parts();
        if let Some(at) = parts.iter().position(|part| *part == self.part_path) {
            parts.swap_remove(at);
            // After the file was renamed to the target, there is nothing to remove.
            let _ = std::fs::remove_file(&self.part_path);
        }
    }
}

/// The maximum number of bytes written in one call.
const CHUNK: usize = 1 << 23;

/// The most `.part` files of one name.
const MOST_PARTS: u32 = 1000;

/// Refuses an output that would replace the result on standard output.
pub fn not_standard_output(flag: &str, path: &Path) -> Result<(), Failure> {
    if is_standard_output(path) {
        return usage(format!(
            "--{flag} {} is the file that standard output goes to; choose another file",
            path.display()
        ));
    }
    Ok(())
}

/// Whether standard output goes to this regular file.
#[cfg(unix)]
fn is_standard_output(path: &Path) -> bool {
    use std::os::fd::AsFd;
    let out = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    match (path.metadata(), out.and_then(|out| out.metadata())) {
        (Ok(file), Ok(out)) => file.is_file() && identical(&file, &out),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_standard_output(_: &Path) -> bool {
    false
}

/// Flags that name an output file.
pub const WRITTEN: [&str; 10] = [
    "log", "checkpoint", "certificate", "solution", "gantt", "schedule", "trace", "metrics", "svg",
    "out",
];

/// The flags of searches that name files to read.
pub const READ: [&str; 5] = ["start", "due", "weights", "releases", "setups"];

/// Refuses an output that is the same file as another output or as an input.
///
/// # Errors
/// One line: which two.
pub fn keep_apart(given: &FlagValues, inputs: &[String]) -> Result<(), Failure> {
    // `report` may write its page to standard output.
    for flag in WRITTEN.into_iter().filter(|flag| *flag != "out") {
        if let Some(path) = given.path(flag) {
            not_a_dash(flag, &path)?;
            not_standard_output(flag, &path)?;
        }
    }
    let mut seen: Vec<(String, PathBuf)> = Vec::new();
    let read = READ.into_iter().chain(["beside", "transfer", "obstacle"]);
    let read = read.filter_map(|flag| Some((format!("--{flag}"), given.path(flag)?)));
    let key = ("--key".to_string(), key_path(given).into());
    let inputs = inputs.iter().map(|word| ("the input".to_string(), PathBuf::from(word)));
    let from = given.saving.from.as_ref().filter(|from| given.word("checkpoint") != Some(from));
    let from = from.map(|from| ("the saved search".to_string(), PathBuf::from(from)));
    let beside_from = from.clone().into_iter().flat_map(|(_, path)| companions(&path));
    let beside_from =
        beside_from.map(|(ending, path)| (format!("the .{ending} file of the saved search"), path));
    seen.extend(inputs.chain(read).chain([key]).chain(from).chain(beside_from));
    type Clash = fn(&Path, &Path) -> bool;
    let written = WRITTEN
        .iter()
        .filter_map(|&flag| Some((format!("--{flag}"), given.path(flag)?, same as Clash)));
    // A checkpoint has files next to it, which are compared by name: a process that is killed while it saves leaves
    // FILE.old as a second name of FILE.
    let beside = given.path("checkpoint").into_iter().flat_map(|path| companions(&path));
    let beside = beside.map(|(ending, path)| {
        (format!("the .{ending} file of --checkpoint"), path, same_place as Clash)
    });
    for (flag, path, clash) in written.chain(beside) {
        if let Some((other, there)) = seen.iter().find(|(_, there)| clash(there, &path)) {
            let (path, there) = (path.display(), there.display());
            return usage(format!(
                "{flag} {path} is the same file as {other} {there}; choose another file"
            ));
        }
        seen.push((flag, path));
    }
    Ok(())
}

/// The file of the key.
pub fn key_path(given: &FlagValues) -> String {
    given.word("key").unwrap_or(KEY.about.default).to_string()
}

/// The files next to a checkpoint, by their endings.
fn companions(path: &Path) -> [(&'static str, PathBuf); 3] {
    ["lock", "part", "old"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{ending}"));
        (ending, PathBuf::from(name))
    })
}

/// Whether two paths lead to the same regular file, or will once it is written.
fn same(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        // Nothing is lost in /dev/null or on a terminal.
        (Ok(there), _) | (_, Ok(there)) if !there.is_file() => false,
        (Ok(a), Ok(b)) if identical(&a, &b) => true,
        _ => same_place(one, other),
    }
}

fn same_place(one: &Path, other: &Path) -> bool {
    real_path(one) == real_path(other)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that was killed while it searched used to leave a `.part` file behind.
    #[test]
    fn an_output_has_no_part_file_until_it_is_written() {
        let folder = std::env::temp_dir().join(format!("pleach-parts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = || std::fs::read_dir(&folder).unwrap().count();
        let output = || Output::at("out", folder.join("a.txt")).unwrap();
        let both = [output(), output()];
        assert_eq!(files(), 0);
        for (output, text) in both.into_iter().zip(["1", "2"]) {
            output.write(text).unwrap();
            let written = std::fs::read_to_string(folder.join("a.txt")).unwrap();
            assert_eq!((files(), written), (1, format!("{text}\n")));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Until it was filled, everybody could open the new file of one that only its owner could read.
    #[cfg(unix)]
    #[test]
    fn a_part_file_has_the_permissions_of_its_target_at_once() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("pleach-modes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let place = folder.join("a.txt");
        std::fs::write(&place, "1").unwrap();
        for mode in [0o600, 0o644] {
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
            let part = Part::beside(place.clone()).unwrap();
            assert_eq!(part.file.metadata().unwrap().permissions().mode() & 0o777, mode);
            part.fill(b"2").unwrap();
            assert_eq!(place.metadata().unwrap().permissions().mode() & 0o777, mode);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

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
