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

/// Builds one library per kernel, each with a single entry point, and one for their common part.
#[cfg(feature = "emulated")]
fn emulated() -> Result<(), cc::Error> {
    let explore = ["queens", "flowshop", "uts", "atsp", "diverging"];
    let others = ["queens_intervals", "flowshop_intervals", "atsp_intervals", "flowshop_bounds"];
    for kernel in explore.into_iter().chain(others) {
        let bounds = kernel.ends_with("_bounds");
        build()
            .file("emulated/kernel.cpp")
            .define("PLEACH_BOUNDS", if bounds { "1" } else { "0" })
            .define("PLEACH_SOURCE", format!("\"{kernel}.cu\"").as_str())
            .define("PLEACH_LAUNCH", format!("pleach_emulated_{kernel}").as_str())
            .try_compile(&format!("pleach_emulated_{kernel}"))?;
    }
    build().file("emulated/block.cpp").try_compile("pleach_emulated_block")
}

#[cfg(feature = "emulated")]
fn build() -> cc::Build {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).include("cuda").include("emulated");
    build.flag_if_supported("-Wno-unknown-pragmas");
    build
}
