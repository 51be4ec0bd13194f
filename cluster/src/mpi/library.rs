//! Finds and opens the library of a [`LibraryPlan`], and determines its family.

use super::choose::{Launcher, LibraryPlan};
use super::dialect::Family;
use crate::NetError;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY};
use std::ffi::{c_char, c_int};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// An open library. It is never closed: its functions may be called until the process ends.
pub struct OpenLibrary {
    pub library: ManuallyDrop<Library>,
    /// The path under which it was opened.
    pub path: String,
    pub family: Family,
    /// How it identifies itself.
    pub version: String,
    /// The number of processes that a launcher started, if it reports that.
    pub launched: Option<u32>,
}

/// Opens the library of the plan; `None` if the plan is to open nothing.
pub fn open(plan: &LibraryPlan) -> Result<Option<OpenLibrary>, NetError> {
    match plan {
        LibraryPlan::Nothing => Ok(None),
        LibraryPlan::ByHand { path, size } => by_hand(path, *size).map(Some),
        LibraryPlan::Launched { launcher, sign, size } => {
            launched(launcher, &beside_launcher(), (*sign, *size)).map(Some)
        }
    }
}

fn by_hand(path: &Path, launched: Option<u32>) -> Result<OpenLibrary, NetError> {
    let name = path.display().to_string();
    let library = load(path).map_err(|why| NetError::CannotOpen { path: name.clone(), why })?;
    let library = ManuallyDrop::new(library);
    let version = version(&library);
    match family(&library, path, &version) {
        Some(family) => Ok(OpenLibrary { library, path: name, family, version, launched }),
        None => {
            let found = if version.is_empty() { version } else { format!(", found {version}") };
            Err(NetError::UnknownLibrary { path: name, found })
        }
    }
}

/// The first library of the launcher that can be opened and understands it: by its name, as the loader finds it, or
/// else in one of these folders.
fn launched(
    launcher: &Launcher,
    folders: &[PathBuf],
    (sign, size): (&'static str, Option<u32>),
) -> Result<OpenLibrary, NetError> {
    let mut tried = Vec::new();
    let named = launcher.libraries.iter().map(PathBuf::from);
    let placed = folders.iter().flat_map(|at| launcher.libraries.iter().map(|name| at.join(name)));
    for path in named.chain(placed.filter(|path| path.exists())) {
        let name = path.display();
        match by_hand(&path, size) {
            Ok(opened) if launcher.families.contains(&opened.family) => return Ok(opened),
            Ok(opened) => tried.push(format!("{name}, which is {}", opened.version)),
            Err(NetError::CannotOpen { why, .. }) if why.starts_with(&format!("{name}: ")) => {
                tried.push(name.to_string());
            }
            Err(error) => tried.push(error.to_string()),
        }
    }
    let (found, launcher, help) = (sign, launcher.name, launcher.help);
    Err(NetError::NoLibrary { found, launcher, tried: tried.join(", "), help })
}

/// The maximum number of processes between this one and its launcher.
const MOST_BETWEEN: usize = 8;

/// Library folders next to the programs that started this process: an MPI installed outside the system has its launcher
/// in `bin` and its library in `lib`.
fn beside_launcher() -> Vec<PathBuf> {
    let parent = |process: &u32| {
        let about = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name in parentheses may contain anything; the state and the parent follow it.
        about.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let above = std::iter::successors(parent(&std::process::id()), parent).take(MOST_BETWEEN);
    let programs =
        above.filter_map(|process| std::fs::read_link(format!("/proc/{process}/exe")).ok());
    let folders = programs.filter_map(|program| Some(program.parent()?.parent()?.to_path_buf()));
    let system = |root: &PathBuf| root == Path::new("/") || root == Path::new("/usr");
    folders
        .filter(|root| !system(root))
        .flat_map(|root| ["lib", "lib64"].map(|it| root.join(it)))
        .collect()
}

fn load(path: &Path) -> Result<Library, String> {
    // Plugins that some libraries load later look for the library's functions among the global ones.
    // SAFETY: an MPI library may be opened at any time; its initialization assumes nothing about the
    // program.
    let opened = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_GLOBAL) };
    opened.map_err(|error| match error {
        libloading::Error::DlOpen { source } => source.to_string(),
        other => other.to_string(),
    })
}

/// How the library identifies itself, up to the end of the first line or a comma. Empty if it does not.
fn version(library: &Library) -> String {
    // SAFETY: this is the function's type in all families.
    let found = unsafe {
        type Get = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
        library.get::<Get>("MPI_Get_library_version")
    };
    let Ok(get) = found else { return String::new() };
    // No family writes more than 8192 bytes.
    let (mut text, mut length) = (vec![0_u8; 16384], 0);
    // SAFETY: the function may be called before initialization, and the text has room.
    let code = unsafe { get(text.as_mut_ptr().cast(), &raw mut length) };
    let length = if code == 0 { usize::try_from(length).unwrap_or(0) } else { 0 };
    let text = String::from_utf8_lossy(&text[..length.min(text.len())]);
    let line = text.split(['\n', ',', '\0']).next().unwrap_or_default();
    line.split_whitespace().filter(|word| *word != "Version:").collect::<Vec<_>>().join(" ")
}

fn family(library: &Library, path: &Path, version: &str) -> Option<Family> {
    // MPICH 5 has the function in both of its libraries; the one with the old ABI returns -1.
    // SAFETY: this is the function's only type.
    let found = unsafe {
        type Get = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
        library.get::<Get>("MPI_Abi_get_version")
    };
    if let Ok(get) = found {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the function may be called before initialization.
        let code = unsafe { get(&raw mut major, &raw mut minor) };
        if code == 0 && major >= 1 {
            return Some(Family::Abi);
        }
    }
    let has = |name: &str| {
        // SAFETY: the symbol is not used.
        unsafe { library.get::<*mut ()>(name) }.is_ok()
    };
    let mpich = ["MPICH", "Intel(R) MPI", "MVAPICH"].iter().any(|name| version.contains(name));
    let named = path.file_name().is_some_and(|name| name.to_string_lossy().contains("mpi_abi"));
    if has("ompi_mpi_comm_world") {
        Some(Family::OpenMpi)
    } else if named && has("MPI_Init_thread") {
        Some(Family::Abi)
    } else {
        mpich.then_some(Family::Mpich)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::choose::{Choice, choose};

    fn fails(path: &str) -> String {
        by_hand(Path::new(path), None).err().unwrap().to_string()
    }

    #[test]
    fn unusable_paths_are_named() {
        let text = fails("/nowhere/libmpi.so.40");
        assert!(
            text.starts_with("cannot open the MPI library '/nowhere/libmpi.so.40': "),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1);
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn another_library_is_refused() {
        let text = fails("libc.so.6");
        assert!(text.starts_with("'libc.so.6' is not a usable MPI library"), "{text}");
    }

    #[test]
    fn a_launcher_without_its_library_says_what_to_do() {
        let LibraryPlan::Launched { launcher, .. } =
            choose(&Choice::Auto, &|name| (name == "PMI_FD").then(|| "5".into()))
        else {
            panic!("no launcher");
        };
        let libraries = &["libmpi-nowhere.so.1", "libmpi-nowhere.so.2"];
        let launcher = Launcher { libraries, ..*launcher };
        let launched = |folders: &[PathBuf]| {
            super::launched(&launcher, folders, ("PMI_FD", None)).err().unwrap().to_string()
        };
        let text = launched(&[]);
        let start = "PMI_FD is set by a launcher that speaks PMI, but no library for it can be opened \
                     (tried libmpi-nowhere.so.1, libmpi-nowhere.so.2): install MPICH";
        assert!(text.starts_with(start), "{text}");
        // Libraries next to the launcher are tried next.
        let folder = std::env::temp_dir().join(format!("pleach-mpi-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let placed = folder.join("libmpi-nowhere.so.2");
        std::fs::write(&placed, "no library").unwrap();
        let text = launched(&["/nowhere".into(), folder.clone()]);
        let tried = format!("libmpi-nowhere.so.2, {}): install", placed.display());
        assert!(text.contains(&tried), "{text}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn folders_beside_the_programs_above_are_searched() {
        // Some program in a folder started the test.
        let folders = beside_launcher();
        assert!(folders.len() <= 2 * MOST_BETWEEN && folders.iter().all(|it| it.is_absolute()));
    }
}
