//! Device code: the kernels as text, to be compiled for a device at run time, and what they are fed.
//!
//! With the feature `emulated` the same sources, compiled for the CPU, are a device too.

#[cfg(feature = "emulated")]
pub mod emulated;

/// The parts that kernels paste in, and the kernels themselves.
const FILES: [(&str, &str); 7] = [
    ("launch.cuh", include_str!("../cuda/launch.cuh")),
    ("explorer.cuh", include_str!("../cuda/explorer.cuh")),
    ("lanes.cuh", include_str!("../cuda/lanes.cuh")),
    ("balance.cuh", include_str!("../cuda/balance.cuh")),
    ("queens.cu", include_str!("../cuda/queens.cu")),
    ("flowshop.cu", include_str!("../cuda/flowshop.cu")),
    ("uts.cu", include_str!("../cuda/uts.cu")),
];

/// The kernels as the compiler gives them for any instance.
const PTX: [(&str, &str); 3] = [
    ("queens", include_str!("../ptx/queens.ptx")),
    ("flowshop", include_str!("../ptx/flowshop.ptx")),
    ("uts", include_str!("../ptx/uts.ptx")),
];

/// The kernels that there are.
pub const NAMES: [&str; 3] = ["queens", "flowshop", "uts"];

/// Threads of a block: as many explorers as it has warps.
pub const THREADS: u32 = 128;

/// Explorers of a block.
pub const EXPLORERS: u32 = THREADS / 32;

/// Words of a record of what was found, before the plan.
pub const FOUND: usize = 4;

/// Numbers that an explorer counts: branched, bounded, total, depth.
pub const COUNTS: usize = 4;

/// What every entry point takes, by value; the same in `cuda/launch.cuh`. Addresses are of the
/// device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch {
    /// `u32[explorers * capacity * words]`: node `i` of explorer `e` at `(e * capacity + i) * words`.
    pub stacks: u64,
    /// `u32[explorers]`: nodes on each stack.
    pub heights: u64,
    /// `u64[explorers * COUNTS]`: what is counted is added; of the depth the greatest is kept.
    pub counts: u64,
    /// `i64[1]`: the score that a solution must beat; kernels lower it.
    pub best: u64,
    /// `u32[explorers * (FOUND + plan)]`: 1 when something was written, a word that is not used,
    /// the score as two words, the lower one first, then the plan.
    pub found: u64,
    /// `u32[]`: what is the same for all nodes.
    pub tables: u64,
    /// `u32[2]`: explorers that stopped for want of nodes or of room; the second is not used.
    pub idle: u64,
    /// Explorers, a warp each.
    pub explorers: u32,
    /// Nodes of a stack at most.
    pub capacity: u32,
    /// Steps of each explorer in this launch at most.
    pub budget: u32,
    /// Explorers stop, soon, when so many are idle; 0 for never.
    pub trigger: u32,
    /// For `balance`: a [`Kind`].
    pub kind: u32,
    /// For `balance`: which round, from 0.
    pub round: u32,
    /// For `balance`: only explorers with more nodes than this give.
    pub least: u32,
    /// Constants of the instance.
    pub sizes: [u32; 9],
}

/// The entry points of every kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Explorers branch their nodes.
    Explore = 0,
    /// Explorers without nodes take some of others'.
    Balance = 1,
}

impl Entry {
    /// Its name in the compiled code.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Entry::Explore => "explore",
            Entry::Balance => "balance",
        }
    }
}

/// How explorers find someone to take from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Explorers are the corners of a cube, and look at one neighbour a round.
    Hypercube = 0,
    /// Each empty explorer looks through a window of others, wider when fewer are empty.
    Adapt = 1,
}

/// Explorers along each edge of the cube, but for the last; `EDGE` in `cuda/balance.cuh`.
const EDGE: u32 = 8;

impl Kind {
    /// Rounds, one launch each, after which everyone has looked at everyone that this kind lets it look at.
    #[must_use]
    pub fn rounds(self, explorers: u32) -> u32 {
        if self == Kind::Adapt {
            return 1;
        }
        let (mut rounds, mut scale) = (0, 1);
        while u64::from(scale) * u64::from(EDGE) < u64::from(explorers) {
            rounds += EDGE - 1;
            scale *= EDGE;
        }
        rounds + explorers.div_ceil(scale).saturating_sub(1)
    }
}

/// Blocks of a launch with so many explorers.
#[must_use]
pub fn blocks(explorers: u32) -> u32 {
    explorers.div_ceil(EXPLORERS)
}

/// A kernel's source with all that it includes pasted in, to be compiled as C++17.
///
/// The constants of the instance can be defined as `SIZE_0`, `SIZE_1` and so on, all of them or
/// none; the compiler then need not read them from the launch.
#[must_use]
pub fn source(kernel: &str) -> Option<String> {
    let mut text = String::new();
    let known = NAMES.contains(&kernel);
    known.then(|| paste(&format!("{kernel}.cu"), &mut Vec::new(), &mut text)).map(|()| text)
}

/// A kernel compiled for any instance: what to take where nothing can compile its source. It needs
/// a device of compute capability 9.0 at least, and `ci/kernels.sh` keeps it up to date.
#[must_use]
pub fn ptx(kernel: &str) -> Option<&'static str> {
    PTX.iter().find(|(name, _)| *name == kernel).map(|&(_, text)| text)
}

fn paste(name: &str, seen: &mut Vec<String>, text: &mut String) {
    if seen.iter().any(|other| other == name) {
        return;
    }
    seen.push(name.into());
    let file = FILES.iter().find(|(other, _)| *other == name).map_or("", |(_, file)| file);
    for line in file.lines() {
        match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) => paste(inner, seen, text),
            None if line == "#pragma once" => {}
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_whole() {
        for kernel in NAMES {
            let text = source(kernel).unwrap();
            assert!(!text.contains("#include"), "{kernel}");
            assert_eq!(text.matches("struct Launch {").count(), 1, "{kernel}");
            for entry in [Entry::Explore, Entry::Balance] {
                let head = format!("ENTRY {}(Launch launch)", entry.name());
                assert_eq!(text.matches(&head).count(), 1, "{kernel}: {head}");
                let compiled = ptx(kernel).unwrap();
                assert!(compiled.contains(&format!(".visible .entry {}(", entry.name())));
            }
        }
        assert_eq!(source("knapsack"), None);
        assert_eq!(source("launch"), None);
    }

    #[test]
    fn rounds_reach_all_along_every_edge() {
        let rounds = |explorers| Kind::Hypercube.rounds(explorers);
        assert_eq!([1, 2, 8, 9, 64, 65].map(rounds), [0, 1, 7, 8, 14, 15]);
        assert_eq!(Kind::Adapt.rounds(4096), 1);
    }
}
