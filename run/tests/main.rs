//! The run crate from outside: conformance of transports and executors, and whole runs.
#![cfg(not(loom))]

mod engine;
mod executor;
mod gpu;
mod hostile;
mod late;
mod resume;
mod transport;
