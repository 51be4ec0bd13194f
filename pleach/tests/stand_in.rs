//! Stand-ins for NVIDIA's and AMD's libraries: drivers whose GPUs are the emulated device, and fake compilers.

use crate::outside::folder;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;

/// The folder of the driver, made once; `None` if there is no compiler.
pub fn driver() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    MADE.get_or_init(make).as_deref()
}

fn make() -> Option<PathBuf> {
    let folder = folder("driver");
    let compiled = |lanes: u32, makers: &[&str]| {
        compile(&folder.join(lanes.to_string()), lanes, makers).map(linkable)
    };
    let (whole, halves) = (compiled(32, &MAKERS)?, compiled(64, &["hip", "hiprtc"])?);
    for (parts, place, name, maker) in [
        (&whole, "cuda", "cuda", "driver"),
        (&whole, "nvrtc", "nvrtc", "compiler"),
        (&whole, "hip", "amdhip64", "hip"),
        (&whole, "no-hiprtc", "amdhip64", "hip"),
        (&whole, "hip", "hiprtc", "hiprtc"),
        (&halves, "hip-64", "amdhip64", "hip"),
        (&halves, "hip-64", "hiprtc", "hiprtc"),
    ] {
        let place = folder.join(place);
        std::fs::create_dir_all(&place).unwrap();
        let library = place.join(format!("lib{name}.so"));
        let is_maker = |part: &&PathBuf| MAKERS.iter().any(|it| part.ends_with(format!("{it}.o")));
        let own = |part: &&PathBuf| part.ends_with(format!("{maker}.o"));
        let compiles = name.ends_with("rtc");
        let parts = parts.iter().filter(|part| own(part) || !compiles && !is_maker(part));
        let linked = Command::new("c++").arg("-shared").args(parts).arg("-o").arg(library).status();
        assert!(linked.unwrap().success());
    }
    Some(folder)
}

/// The kernels of the emulated device.
const KERNELS: [&str; 14] = [
    "queens", "queens_intervals", "flowshop", "flowshop_intervals", "flowshop_parallel",
    "flowshop_bounds", "uts", "atsp", "atsp_intervals", "loop_csrmm", "loop_rays", "loop_lattice",
    "loop_spmm_count", "loop_spmm_add",
];

/// The libraries of the makers.
const MAKERS: [&str; 4] = ["driver", "compiler", "hip", "hiprtc"];

/// Starts the compilers for a device whose waves have this many lanes, with these makers' libraries; `None` if there is
/// no compiler.
fn compile(folder: &Path, lanes: u32, makers: &[&str]) -> Option<Vec<(PathBuf, Child)>> {
    std::fs::create_dir_all(folder).unwrap();
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/kernels");
    let source = |name: &str| kernels.join("emulated").join(name).into_os_string();
    let parts = KERNELS.iter().chain(&["block"]).chain(makers).copied();
    let compiled = parts.map(|name| {
        let file = if KERNELS.contains(&name) { "kernel" } else { name };
        let part = folder.join(format!("{name}.o"));
        let is_loop = name.starts_with("loop_");
        // What runs for each turn of a thread is optimised as on the emulated device.
        let level = if makers.contains(&name) { "-O1" } else { "-O2" };
        let compiler = Command::new("c++")
            .args(["-c", level, "-fPIC", "-fno-semantic-interposition", "-std=c++17"])
            .arg("-Wno-unknown-pragmas")
            .arg(format!("-DWAVE_LANES={lanes}"))
            .arg(format!("-DPLEACH_SOURCE=\"{name}.cu\""))
            .arg(format!("-DPLEACH_LAUNCH=pleach_emulated_{name}"))
            .arg(format!("-DPLEACH_BOUNDS={}", u8::from(name.ends_with("_bounds") || is_loop)))
            .arg(format!("-DPLEACH_SERVES={}", u8::from(is_loop && name != "loop_lattice")))
            .arg("-I")
            .arg(kernels.join("cuda"))
            .args([source(&format!("{file}.cpp")), "-o".into(), part.clone().into_os_string()])
            .spawn();
        compiler.ok().map(|compiler| (part, compiler))
    });
    compiled.collect()
}

/// Waits for the compilers. Returns what they made.
fn linkable(parts: Vec<(PathBuf, Child)>) -> Vec<PathBuf> {
    let made = parts.into_iter().map(|(part, mut compiler)| {
        assert!(compiler.wait().unwrap().success());
        part
    });
    made.collect()
}

/// Lets a command find the stand-in for NVIDIA's driver, and its compiler if wanted, but none of the machine's own.
///
/// What is compiled is kept in this folder.
pub fn stand_in(command: &mut Command, compiles: bool, kept: &Path) -> Option<()> {
    let all = ["cuda", "nvrtc"].map(|name| driver().map(|driver| driver.join(name)));
    let [cuda, nvrtc] = all.map(|part| part.unwrap_or_default());
    driver()?;
    let parts = if compiles { vec![cuda, nvrtc] } else { vec![cuda] };
    command.env("LD_LIBRARY_PATH", std::env::join_paths(parts).unwrap());
    command.env("PLEACH_NVRTC", folder("no-nvrtc")).env("PLEACH_HIP", folder("no-hip"));
    command.env("XDG_CACHE_HOME", kept);
    Some(())
}

/// Lets a command find the stand-ins for AMD's libraries in this folder, but none of the machine's own.
///
/// What is compiled is kept in the last folder.
pub fn stand_in_hip(command: &mut Command, place: &str, kept: &Path) -> Option<()> {
    command.env("PLEACH_HIP", driver()?.join(place)).env("XDG_CACHE_HOME", kept);
    command.env("LD_LIBRARY_PATH", folder("no-cuda"));
    Some(())
}
