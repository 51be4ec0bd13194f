//! Loops that several processes share: the first one, the *root*, hands out ranges as to devices, and results come back.

mod company;
mod errands;
mod ferry;
mod guest;
mod loans;
mod orders;
mod outpost;
mod word;

pub(super) use company::Company;
pub(super) use ferry::Ferried;
pub(super) use word::Deeds;
