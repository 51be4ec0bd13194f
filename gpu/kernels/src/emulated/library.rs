//! Compiles a kernel for the CPU when it is first used, and caches the library for later runs.

use super::fault::Fault;
use crate::{BOUNDS, LOOPS, NAMES, SERVES, cache_folder, paste};
use libloading::Library;
use std::error::Error;
use std::ffi::{OsString, c_void};
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is compiled around a kernel's source.
const FILES: [(&str, &str); 5] = [
    ("fiber.hpp", include_str!("../../emulated/fiber.hpp")),
    ("block.hpp", include_str!("../../emulated/block.hpp")),
    ("block.cpp", include_str!("../../emulated/block.cpp")),
    ("device.hpp", include_str!("../../emulated/device.hpp")),
    ("diverging.cu", include_str!("../../emulated/diverging.cu")),
];

/// Includes a kernel as `PLEACH_SOURCE`.
const KERNEL: &str = include_str!("../../emulated/kernel.cpp");

/// A kernel made of mistakes, to test that mistakes are caught.
const DIVERGING: &str = "diverging";

/// The entry point of each library.
const ENTRY: &str = "pleach_emulated";

/// Keeps multiplication and addition separate, as on x86. Warnings are for kernel authors, so they are off.
const FLAGS: [&str; 7] =
    ["-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", "-w"];

// SAFETY: the caller vouches for the addresses in `launch`.
pub(super) type LaunchFn = unsafe extern "C" fn(u32, *const c_void, u32, u32, u64, *mut u8, usize);

/// A kernel that is loaded, is being compiled, or cannot be.
type Loading = Arc<OnceLock<Result<LaunchFn, Fault>>>;

/// All kernels that this process has asked for.
static KERNELS: Mutex<Vec<(String, Loading)>> = Mutex::new(Vec::new());

/// The entry point of a kernel: its name, then its sizes if they are compiled in, as in "queens 10 2".
pub(super) fn entry(kernel: &str) -> Result<LaunchFn, Fault> {
    loading(kernel).get_or_init(|| load(kernel)).clone()
}

/// Whether a kernel is loaded, or its library exists.
pub(super) fn is_compiled(kernel: &str) -> bool {
    let exists = || {
        let mut words = kernel.split(' ');
        let text = unit(words.next().unwrap_or_default(), words);
        library(kernel, &text, &flags()).is_ok_and(|path| path.exists())
    };
    loading(kernel).get().is_some() || exists()
}

fn loading(kernel: &str) -> Loading {
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, loading)) = kernels.iter().find(|(name, _)| name == kernel) {
        return Arc::clone(loading);
    }
    let loading = Loading::default();
    kernels.push((kernel.into(), Arc::clone(&loading)));
    loading
}

fn load(kernel: &str) -> Result<LaunchFn, Fault> {
    let failed = |why: String| Fault::Build { kernel: kernel.into(), why };
    let mut words = kernel.split(' ');
    let name = words.next().unwrap_or_default();
    let known = [&NAMES[..], &BOUNDS, &LOOPS, &[DIVERGING]];
    if !known.iter().any(|kernels| kernels.contains(&name)) {
        return Err(Fault::Unknown(kernel.into()));
    }
    let text = unit(name, words);
    let path = compiled(kernel, &text).map_err(|why| failed(why.to_string()))?;
    // SAFETY: the library was compiled from the sources above, and its initialisation does no more than that of any C++
    // program.
    let loaded = unsafe { Library::new(&path) }.map_err(|why| failed(cause(&why)))?;
    // SAFETY: the entry point of `kernel.cpp` has this type, and the library stays loaded until the process ends.
    let entry = unsafe { loaded.get::<LaunchFn>(ENTRY).map(|entry| *entry) };
    let entry = entry.map_err(|why| failed(cause(&why)))?;
    std::mem::forget(loaded);
    Ok(entry)
}

/// The message of the system's loader.
fn cause(why: &libloading::Error) -> String {
    why.source().map_or_else(|| why.to_string(), ToString::to_string)
}

/// Everything that is compiled for a kernel, as one text.
fn unit<'a>(name: &str, sizes: impl Iterator<Item = &'a str>) -> String {
    let bounds = BOUNDS.contains(&name) || LOOPS.contains(&name);
    let mut text = format!(
        "#define PLEACH_LAUNCH {ENTRY}\n#define PLEACH_BOUNDS {}\n#define PLEACH_SERVES {}\n",
        u8::from(bounds),
        u8::from(SERVES.contains(&name)),
    );
    for (i, size) in sizes.enumerate() {
        text += &format!("#define SIZE_{i} {size}u\n");
    }
    let kernel = KERNEL.replace("PLEACH_SOURCE\n", &format!("\"{name}.cu\"\n"));
    let files = [&FILES[..], &[("kernel.cpp", &kernel)]].concat();
    let mut seen = Vec::new();
    paste("block.cpp", &files, &mut seen, &mut text);
    paste("kernel.cpp", &files, &mut seen, &mut text);
    text
}

/// The flags of the compiler: ours, then those of the user.
fn flags() -> Vec<String> {
    let more = std::env::var("CXXFLAGS").unwrap_or_default();
    FLAGS.into_iter().chain(more.split_whitespace()).map(String::from).collect()
}

/// The path of the library compiled from this text, whether it exists or not.
fn library(kernel: &str, text: &str, flags: &[String]) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (text, flags).hash(&mut hasher);
    let name = format!("emulated-{}-{:016x}.so", kernel.replace(' ', "-"), hasher.finish());
    Ok(folder()?.join(name))
}

/// The library compiled from this text.
fn compiled(kernel: &str, text: &str) -> io::Result<PathBuf> {
    let flags = flags();
    let path = library(kernel, text, &flags)?;
    if path.exists() {
        return Ok(path);
    }
    static COMPILED: AtomicU32 = AtomicU32::new(0);
    let number = COMPILED.fetch_add(1, Ordering::Relaxed);
    let part = path.with_extension(format!("{}-{number}.part", std::process::id()));
    let made = compile(text, &flags, &part).and_then(|()| fs::rename(&part, &path));
    if made.is_err() {
        // If there is no such file, there is nothing to remove.
        let _ = fs::remove_file(&part);
    }
    made.map(|()| path)
}

fn compile(text: &str, flags: &[String], to: &Path) -> io::Result<()> {
    find_compiler().map_err(|why| io::Error::other(why.clone()))?;
    let mut command = Command::new(compiler());
    let command = command.args(flags).args(["-x", "c++", "-", "-o"]).arg(to);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    // A compiler that stops early reports why, which tells more than a failed write of the text.
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    if output.status.success() {
        return written;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let error = said.lines().find(|line| line.contains("error")).unwrap_or("it was interrupted");
    Err(io::Error::other(format!("{}: {error}", compiler().display())))
}

/// The C++ compiler: `CXX`, or `c++`.
fn compiler() -> OsString {
    std::env::var_os("CXX").unwrap_or_else(|| "c++".into())
}

/// Checks that there is a C++ compiler.
///
/// # Errors
/// The command that was tried.
pub fn find_compiler() -> Result<(), &'static String> {
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let mut command = Command::new(compiler());
        let command = command.arg("--version").stdin(Stdio::null());
        let ran = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let why = |why: io::Error| format!("no C++ compiler ({}: {why})", compiler().display());
        ran.map(|_| ()).map_err(why)
    });
    found.as_ref().copied()
}

/// Where libraries are kept: with other compiled kernels, or else in a folder of this process.
fn folder() -> io::Result<PathBuf> {
    if let Some(folder) = cache_folder()
        && fs::create_dir_all(&folder).is_ok()
    {
        return Ok(folder);
    }
    static OWN: OnceLock<Result<PathBuf, io::ErrorKind>> = OnceLock::new();
    let own = OWN.get_or_init(|| {
        let name = format!("pleach-kernels-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map(|()| folder).map_err(|why| why.kind())
    });
    own.clone().map_err(io::Error::from)
}
