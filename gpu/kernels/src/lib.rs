//! Device code: the kernels as source text, compiled for a device at run time, and their arguments.
//!
//! With the feature `emulated`, the same sources also serve as a device: a C++ compiler compiles them for the CPU when
//! they are first used.

pub mod bounding;
#[cfg(feature = "emulated")]
pub mod emulated;
pub mod launch;
pub mod serving;

use std::path::PathBuf;

/// Files with their names, from a folder.
macro_rules! texts {
    ($folder:literal $ending:literal: $($name:literal)*) => {
        [$(($name, include_str!(concat!($folder, $name, $ending)))),*]
    };
}

/// The kernels and the parts that they include.
const FILES: [(&str, &str); 32] = texts! { "../cuda/" "":
    "hip.cuh" "launch.cuh" "pages.cuh" "moves.cuh" "giving.cuh" "explorer.cuh" "lanes.cuh"
    "balance.cuh" "victims.cuh" "intervals.cuh" "best.cuh" "flowshop.cuh" "flowshop_children.cuh"
    "ranking.cuh" "bounding.cuh" "serve.cuh" "exact.cuh" "queens.cu" "queens_intervals.cu"
    "flowshop.cu" "flowshop_intervals.cu" "flowshop_parallel.cu" "uts.cu" "atsp.cu" "atsp_intervals.cu"
    "flowshop_bounds.cu" "loop_csrmm.cu" "loop_rays.cu" "loop_lattice.cu" "loop_spmm.cuh"
    "loop_spmm_count.cu" "loop_spmm_add.cu"
};

/// The kernels compiled ahead of time for any instance.
const PTX: [(&str, &str); 14] = texts! { "../ptx/" ".ptx":
    "queens" "queens_intervals" "flowshop" "flowshop_intervals" "flowshop_parallel" "uts" "atsp"
    "atsp_intervals" "flowshop_bounds" "loop_csrmm" "loop_rays" "loop_lattice" "loop_spmm_count"
    "loop_spmm_add"
};

/// The kernels that explore.
pub const NAMES: [&str; 8] = [
    "queens", "flowshop", "uts", "atsp", "queens_intervals", "flowshop_intervals",
    "flowshop_parallel", "atsp_intervals",
];

/// The kernels among them whose work is intervals.
pub const INTERVALS: [&str; 4] =
    ["queens_intervals", "flowshop_intervals", "flowshop_parallel", "atsp_intervals"];

/// The kernels among these whose explorer is a warp, which bounds in parallel; otherwise it is a thread.
pub const PARALLEL: [&str; 1] = ["flowshop_parallel"];

/// The kernels that bound the children of parents on the host.
pub const BOUNDS: [&str; 1] = ["flowshop_bounds"];

/// The kernels of loops. A range of units is the only parent of a batch, and the words of its results are the children.
pub const LOOPS: [&str; 5] =
    ["loop_csrmm", "loop_rays", "loop_lattice", "loop_spmm_count", "loop_spmm_add"];

/// The kernels among them that can be launched once and then fed.
pub const SERVES: [&str; 4] = ["loop_csrmm", "loop_rays", "loop_spmm_count", "loop_spmm_add"];

/// A kernel's source with everything it includes pasted in, as C++17.
///
/// The constants of the instance can be defined as `SIZE_0`, `SIZE_1` and so on, all of them or
/// none; the compiler then need not read them from the launch record.
#[must_use]
pub fn source(kernel: &str) -> Option<String> {
    let mut text = String::new();
    let known = [&NAMES[..], &BOUNDS, &LOOPS].iter().any(|kernels| kernels.contains(&kernel));
    known.then(|| paste(&format!("{kernel}.cu"), &[], &mut Vec::new(), &mut text)).map(|()| text)
}

/// A kernel's PTX for any instance: the fallback where no compiler is available. It needs compute
/// capability 9.0 or higher; `ci/kernels.sh` keeps it up to date.
#[must_use]
pub fn ptx(kernel: &str) -> Option<&'static str> {
    PTX.iter().find(|(name, _)| *name == kernel).map(|&(_, text)| text)
}

/// The folder for compiled kernels, if this user has one.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(folder.or_else(home)?.join("pleach"))
}

/// Appends one of these files, or of the kernels' files, with everything it includes that is not there yet. `#line`
/// directives make compilers name the lines of the files.
fn paste(name: &str, files: &[(&str, &str)], seen: &mut Vec<String>, text: &mut String) {
    seen.push(name.into());
    let file = FILES.iter().chain(files).find(|(other, _)| *other == name);
    text.push_str(&format!("#line 1 \"{name}\"\n"));
    for (line, number) in file.map_or("", |(_, file)| file).lines().zip(2..) {
        match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) if !seen.iter().any(|other| other == inner) => {
                paste(inner, files, seen, text);
                text.push_str(&format!("#line {number} \"{name}\"\n"));
            }
            Some(_) => text.push('\n'),
            None if line == "#pragma once" => text.push('\n'),
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::launch::KernelEntry;
    use super::*;

    #[test]
    fn sources_are_complete() {
        for kernel in NAMES {
            let text = source(kernel).unwrap();
            assert!(!text.contains("#include"), "{kernel}");
            assert_eq!(text.matches("struct Launch {").count(), 1, "{kernel}");
            for entry in KernelEntry::of(kernel) {
                let head = format!(" {}(Launch launch)", entry.name());
                assert_eq!(text.matches(&head).count(), 1, "{kernel}: {head}");
                let compiled = ptx(kernel).unwrap();
                assert!(compiled.contains(&format!(".visible .entry {}(", entry.name())));
            }
        }
        for kernel in BOUNDS.into_iter().chain(LOOPS) {
            let text = source(kernel).unwrap();
            assert!(!text.contains("#include"), "{kernel}");
            assert_eq!(text.matches("ENTRY bound(Bounding launch)").count(), 1, "{kernel}");
            assert!(ptx(kernel).unwrap().contains(".visible .entry bound("));
            let serves = text.matches("ENTRY serve(Serving serving)").count();
            assert_eq!(serves, usize::from(SERVES.contains(&kernel)), "{kernel}");
            assert_eq!(ptx(kernel).unwrap().matches(".visible .entry serve(").count(), serves);
        }
        assert_eq!(source("knapsack"), None);
        assert_eq!(source("launch"), None);
    }
}
