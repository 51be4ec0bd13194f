//! Compiles the kernels for the CPU if the feature `emulated` is on.

fn main() {
    println!("cargo::rerun-if-changed=cuda");
    println!("cargo::rerun-if-changed=emulated");
    println!("cargo::rustc-check-cfg=cfg(emulated)");
    #[cfg(feature = "emulated")]
    match emulated() {
        Ok(()) => println!("cargo::rustc-cfg=emulated"),
        // Everything else works without it.
        Err(why) => println!("cargo::warning=built without the emulated device: {why}"),
    }
}

/// Kernels with sizes compiled in, as GPUs run them.
#[cfg(feature = "emulated")]
const SIZED: [(&str, &[u32]); 7] = [
    ("queens", &[10]),
    ("flowshop", &[9, 5, 4, 0]),
    ("flowshop", &[9, 6, 4, 15]),
    ("flowshop", &[34, 10, 4, 0]),
    ("flowshop_parallel", &[9, 6, 4, 15]),
    ("flowshop_parallel", &[34, 10, 4, 0]),
    ("atsp", &[9]),
];

/// Builds one library per kernel, each with a single entry point, and one for their common part.
#[cfg(feature = "emulated")]
fn emulated() -> Result<(), cc::Error> {
    let explore = ["queens", "flowshop", "uts", "atsp", "diverging"];
    let others = ["queens_intervals", "flowshop_intervals", "flowshop_parallel", "atsp_intervals"];
    let bounds = ["flowshop_bounds"];
    let loops = ["loop_csrmm", "loop_rays", "loop_lattice", "loop_spmm_count", "loop_spmm_add"];
    for kernel in explore.into_iter().chain(others).chain(bounds).chain(loops) {
        library(kernel, &[])?;
    }
    for (kernel, sizes) in SIZED {
        library(kernel, sizes)?;
    }
    build().file("emulated/block.cpp").try_compile("pleach_emulated_block")
}

#[cfg(feature = "emulated")]
fn library(kernel: &str, sizes: &[u32]) -> Result<(), cc::Error> {
    // Those that can be launched once and fed.
    let serves = kernel.starts_with("loop_") && kernel != "loop_lattice";
    let bounds = kernel.ends_with("_bounds") || kernel.starts_with("loop_");
    let mut name = format!("pleach_emulated_{kernel}");
    let mut build = build();
    for (i, size) in sizes.iter().enumerate() {
        build.define(&format!("SIZE_{i}"), format!("{size}u").as_str());
        name += &format!("_{size}");
    }
    build
        .file("emulated/kernel.cpp")
        .define("PLEACH_BOUNDS", if bounds { "1" } else { "0" })
        .define("PLEACH_SERVES", if serves { "1" } else { "0" })
        .define("PLEACH_SOURCE", format!("\"{kernel}.cu\"").as_str())
        .define("PLEACH_LAUNCH", name.as_str())
        .try_compile(&name)
}

#[cfg(feature = "emulated")]
fn build() -> cc::Build {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).include("cuda").include("emulated");
    build.flag_if_supported("-Wno-unknown-pragmas").flag_if_supported("-Wno-unused-parameter");
    // Sums and products stay two operations, as on x86.
    build.flag_if_supported("-ffp-contract=off");
    build
}
