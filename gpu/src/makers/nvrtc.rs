//! [`find`]: NVRTC, CUDA's run-time compiler, wherever it is installed.

use cudarc::nvrtc::sys::is_culib_present;
use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use std::env::var_os;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names the only folder to search besides the library path, if it is set.
const FOLDER: &str = "PLEACH_NVRTC";

/// Whether there is an NVRTC: on the library path, in the folder that `PLEACH_NVRTC` names, in a CUDA toolkit, or in a
/// Python package.
pub(super) fn find() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        on_the_path() || folders().iter().any(|folder| load(folder) && on_the_path())
    })
}

/// Whether the loader finds it by name; a library that is already loaded counts.
fn on_the_path() -> bool {
    // SAFETY: NVRTC's initialisation has no preconditions.
    unsafe { is_culib_present() }
}

/// Loads the NVRTC of a folder, so that the loader finds it by name from now on.
fn load(folder: &Path) -> bool {
    // The second library opens the first one by name.
    let names = ["libnvrtc-builtins.so", "libnvrtc.so"];
    let [builtins, nvrtc] = names.map(|name| below(folder, name).into_iter().next());
    builtins.is_none_or(|path| stays(&path)) && nvrtc.is_some_and(|path| stays(&path))
}

/// Loads a library for the rest of the process.
fn stays(path: &Path) -> bool {
    // SAFETY: these are NVRTC's own libraries, whose initialisation has no preconditions.
    let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) };
    library.map(std::mem::forget).is_ok()
}

/// The folders that may have NVRTC, in search order.
fn folders() -> Vec<PathBuf> {
    if let Some(only) = var_os(FOLDER) {
        return vec![only.into()];
    }
    let named = |name: &str| var_os(name).map(PathBuf::from);
    let mut toolkits: Vec<PathBuf> =
        ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(named).collect();
    toolkits.extend(below(Path::new("/usr/local"), "cuda"));
    let inside = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
    let mut all: Vec<PathBuf> =
        toolkits.iter().flat_map(|toolkit| inside.map(|part| toolkit.join(part))).collect();
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(named);
    let home = named("HOME").map(|home| home.join(".local"));
    let system = ["/usr/local", "/usr", "/opt/conda"].map(PathBuf::from);
    for root in environments.chain(home).chain(system) {
        for python in below(&root.join("lib"), "python3") {
            for packages in ["site-packages", "dist-packages"] {
                let wheels = below(&python.join(packages).join("nvidia"), "cu");
                all.extend(wheels.into_iter().map(|wheel| wheel.join("lib")));
            }
        }
    }
    all
}

/// The entries of a folder whose names begin like this, last name first: usually the newest.
fn below(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let fits = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning))
    };
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(fits).collect();
    all.sort();
    all.reverse();
    all
}
