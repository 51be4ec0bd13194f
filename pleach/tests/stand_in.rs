//! Stand-ins for NVIDIA's and AMD's libraries: drivers whose GPUs are the emulated device, and fake compilers.

use crate::outside::folder;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of the driver, made once; `None` if there is no compiler.
pub fn driver() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    MADE.get_or_init(make).as_deref()
}

fn make() -> Option<PathBuf> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/kernels");
    let folder = folder("driver");
    let source = |name: &str| kernels.join("emulated").join(name).into_os_string();
    let mut parts = Vec::new();
    let mut compilers = Vec::new();
    for (name, file) in [
        ("queens", "kernel.cpp"),
        ("queens_intervals", "kernel.cpp"),
        ("flowshop", "kernel.cpp"),
        ("flowshop_intervals", "kernel.cpp"),
        ("flowshop_parallel", "kernel.cpp"),
        ("flowshop_bounds", "kernel.cpp"),
        ("uts", "kernel.cpp"),
        ("atsp", "kernel.cpp"),
        ("atsp_intervals", "kernel.cpp"),
        ("loop_csrmm", "kernel.cpp"),
        ("loop_rays", "kernel.cpp"),
        ("loop_lattice", "kernel.cpp"),
        ("loop_spmm_count", "kernel.cpp"),
        ("loop_spmm_add", "kernel.cpp"),
        ("block", "block.cpp"),
        ("driver", "driver.cpp"),
        ("compiler", "compiler.cpp"),
        ("hip", "hip.cpp"),
        ("hiprtc", "hiprtc.cpp"),
    ] {
        let part = folder.join(format!("{name}.o"));
        let is_loop = name.starts_with("loop_");
        let compiler = Command::new("c++")
            .args(["-c", "-O1", "-fPIC", "-std=c++17", "-Wno-unknown-pragmas"])
            .arg(format!("-DPLEACH_SOURCE=\"{name}.cu\""))
            .arg(format!("-DPLEACH_LAUNCH=pleach_emulated_{name}"))
            .arg(format!("-DPLEACH_BOUNDS={}", u8::from(name.ends_with("_bounds") || is_loop)))
            .arg(format!("-DPLEACH_SERVES={}", u8::from(is_loop && name != "loop_lattice")))
            .arg("-I")
            .arg(kernels.join("cuda"))
            .args([source(file), "-o".into(), part.clone().into_os_string()])
            .spawn()
            .ok()?;
        compilers.push(compiler);
        parts.push(part);
    }
    for mut compiler in compilers {
        assert!(compiler.wait().unwrap().success());
    }
    let makers = parts.split_off(parts.len() - 4);
    for (part, place, name, kernels) in [
        (&makers[0], "cuda", "cuda", &parts[..]),
        (&makers[1], "nvrtc", "nvrtc", &[]),
        (&makers[2], "hip", "amdhip64", &parts),
        (&makers[2], "no-hiprtc", "amdhip64", &parts),
        (&makers[3], "hip", "hiprtc", &[]),
    ] {
        let place = folder.join(place);
        std::fs::create_dir_all(&place).unwrap();
        let library = place.join(format!("lib{name}.so"));
        let parts = kernels.iter().chain([part]);
        let linked = Command::new("c++").arg("-shared").args(parts).arg("-o").arg(library).status();
        assert!(linked.unwrap().success());
    }
    Some(folder)
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
