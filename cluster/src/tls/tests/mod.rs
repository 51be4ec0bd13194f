//! Tests of stars inside one process, with peers that break every rule.

mod direct;
mod floods;
mod flow;
mod forged;
mod keys;
mod mutated;
mod refusals;
mod table;
mod unauthenticated;
