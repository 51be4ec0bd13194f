//! Exact search of irregular trees, on all cores and devices of one machine or of many.
//!
//! Describe your problem as a [`Tree`]: its root, and how a node branches. [`solve`] explores the whole
//! tree and proves the result; [`Solver`] has limits, checkpoints and callbacks. The problems of the
//! `pleach` command are here as well: [`flowshop::solve`], [`atsp::solve`], [`queens::count`],
//! [`uts::count`], [`knapsack::solve`], [`clique::solve`] and [`qap::solve`] do what the command does,
//! with typed results.
//!
//! All of this needs no feature. `cluster` adds searches by several processes, `gpu` devices, `loops`
//! loops of independent work (`each`, `map`), `service` a client of `pleach serve`, and `cli` all of
//! these and `main`, which makes a whole command of a tree.
//!
//! ```
//! use pleach::{Children, Goal, Tree};
//!
//! /// Sets of numbers from 1 to `n` without two neighbours.
//! struct Sets { n: u32 }
//!
//! impl Tree for Sets {
//!     type Node = u32; // the next number to decide on
//!     const GOAL: Goal = Goal::Count;
//!
//!     fn root(&self) -> u32 {
//!         1
//!     }
//!
//!     fn expand(&self, &next: &u32, _best: Option<i64>, out: &mut Children<Self>) {
//!         if next > self.n {
//!             return out.count(1);
//!         }
//!         out.child(next + 1); // leave it out
//!         out.child(next + 2); // take it
//!     }
//! }
//!
//! let report = pleach::solve(Sets { n: 20 })?;
//! assert_eq!(report.count, 17_711);
//! # Ok::<(), pleach::RunError>(())
//! ```
#![forbid(unsafe_code)]
// The command line alone uses some items that all problems have.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

mod campaign;
mod certificate;
#[cfg(feature = "cli")]
pub mod cli;
mod decimal;
#[cfg(feature = "cli")]
mod draw;
#[cfg(feature = "loops")]
mod each;
#[cfg(all(feature = "cluster", feature = "loops"))]
mod each_across;
#[cfg(feature = "cli")]
mod failure;
#[cfg(feature = "cli")]
mod input;
#[cfg(feature = "cluster")]
mod joining;
#[cfg(feature = "cli")]
mod loops;
mod parallel;
#[cfg(feature = "cluster")]
mod processes;
#[cfg(feature = "cli")]
mod provenance;
#[cfg(feature = "cli")]
mod registry;
mod report;
#[cfg(feature = "cli")]
mod results;
#[cfg(feature = "cli")]
mod rows;
#[cfg(feature = "cluster")]
mod shared_search;
mod solver;
#[cfg(feature = "cli")]
mod standby;

pub use campaign::{
    Best, Certify, Checkpoint, Error, Search, Watch, atsp, clique, flowshop, knapsack, qap, queens,
    shop, uts,
};
pub use certificate::{Audit, NoProof, Sample, audit_tree as audit};
#[cfg(feature = "cli")]
pub use cli::{main, rows, text, words};
#[cfg(feature = "loops")]
pub use each::{Each, each, map};
#[cfg(feature = "cluster")]
pub use joining::BUILD;
pub use pleach_core::search::backtrack::{Backtrack, Backtracking, Moves};
pub use pleach_core::search::depth_first::TreeExplorer;
pub use pleach_core::search::explorer::{Explorer, Progress};
pub use pleach_core::search::laws;
pub use pleach_core::search::problem::{Plain, Problem};
pub use pleach_core::search::tree::{
    Children, Counts, Goal, Improver, Solution, Tree, TreeSource, WrongBound,
};
pub use pleach_core::search::work::{Entry, Malformed, Nodes, Pack, Pool, Reader, Work};
pub use pleach_core::steal::Policy;
pub use pleach_core::wire::certificate::Certificate;
pub use pleach_core::wire::fingerprint;
#[cfg(feature = "loops")]
pub use pleach_loops::looping::{Cells, Loop, RemoteLoop, ResultPlacement};
#[cfg(feature = "loops")]
pub use pleach_loops::looping::{LoopReport, LoopSettings, LoopSnapshot, Part, Sizes, run_loop};
pub use pleach_problems::simd::Level;
pub use pleach_runtime::activity::{Activity, Column, Phases};
pub use pleach_runtime::{
    Balance, Cancel, Outcome, Pause, ProgressSnapshot, RunError, Save, Settings, Stop, WorkerPool,
    WorkerReport, cores,
};
/// The client of a service that shares machines between users: `pleach serve`.
#[cfg(feature = "service")]
pub use pleach_serve as service;
#[cfg(feature = "cluster")]
pub use processes::Processes;
pub use report::{Report, Status};
#[cfg(feature = "cluster")]
pub use shared_search::SharedReport;
pub use solver::{Solver, solve};

/// The page on adding a problem, whose code is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/problem.md")]
pub struct AddAProblem;
