//! Loops that several processes share: the first one, the *root*, hands out ranges as to devices, and results come back.

mod errands;
mod ferry;
mod guest;
mod loans;
mod orders;
mod outpost;
mod word;

pub(super) use errands::Errands;
pub(super) use ferry::{Ferried, Ferry};
pub(super) use outpost::{Outpost, tell_deeds};
pub(super) use word::{Crowd, Deeds};
