//! The runtime from outside: conformance of transports and executors, and complete runs.
#![cfg(not(loom))]

mod engine;
mod executor;
mod goals;
mod hostile;
mod progress;
mod resume;
mod shared;
mod transport;
