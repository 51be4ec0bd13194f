//! Compiles the kernels for the CPU, where that is asked for.

fn main() {
    println!("cargo::rerun-if-changed=cuda");
    println!("cargo::rerun-if-changed=emulated");
    #[cfg(feature = "emulated")]
    emulated();
}

/// Each kernel becomes a library with one way in, and what they share another.
#[cfg(feature = "emulated")]
fn emulated() {
    for kernel in ["queens", "flowshop", "uts", "diverging"] {
        build()
            .file("emulated/kernel.cpp")
            .define("PLEACH_SOURCE", format!("\"{kernel}.cu\"").as_str())
            .define("PLEACH_LAUNCH", format!("pleach_emulated_{kernel}").as_str())
            .compile(&format!("pleach_emulated_{kernel}"));
    }
    build().file("emulated/block.cpp").compile("pleach_emulated_block");
}

#[cfg(feature = "emulated")]
fn build() -> cc::Build {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(2).include("cuda").include("emulated");
    build.flag_if_supported("-Wno-unknown-pragmas");
    build
}
