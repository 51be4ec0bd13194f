//! Compiles the kernels for the CPU, where that is asked for.

fn main() {
    println!("cargo::rerun-if-changed=cuda");
    println!("cargo::rerun-if-changed=emulated");
    println!("cargo::rustc-check-cfg=cfg(emulated)");
    #[cfg(feature = "emulated")]
    match emulated() {
        Ok(()) => println!("cargo::rustc-cfg=emulated"),
        // Everything else works without it.
        Err(why) => println!("cargo::warning=the emulated device is left out: {why}"),
    }
}

/// Each kernel becomes a library with one way in, and what they share another.
#[cfg(feature = "emulated")]
fn emulated() -> Result<(), cc::Error> {
    for kernel in ["queens", "flowshop", "uts", "diverging"] {
        build()
            .file("emulated/kernel.cpp")
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
