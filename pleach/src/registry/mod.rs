//! The problems that the command knows, one entry each.
//!
//! Nothing outside this folder tells one problem from another. A new problem is a file here that
//! makes an [`Entry`], and its name in [`ENTRIES`].

mod atsp;
mod clique;
pub mod entry;
mod flowshop;
mod instances;
mod knapsack;
mod qap;
mod queens;
mod shop;
pub(crate) mod simulated_load;
mod text;
mod uts;

pub use entry::{
    Act, Check, Checked, Done, Draw, Ended, Entry, Mode, Probe, Rate, Request, Simulation, Start,
    entry, names,
};
pub use instances::NamedInstance;

/// The problems of the `pleach` command.
pub static ENTRIES: [Entry; 7] = [
    flowshop::ENTRY,
    atsp::ENTRY,
    queens::ENTRY,
    uts::ENTRY,
    knapsack::ENTRY,
    clique::ENTRY,
    qap::ENTRY,
];
