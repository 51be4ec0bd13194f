//! The run crate from outside: conformance of transports and executors, and whole runs.
#![cfg(not(loom))]

mod crew;
mod engine;
mod evaluate;
mod executor;
mod gpu;
mod hostile;
mod late;
mod looks;
mod resume;
mod sites;
mod transport;
