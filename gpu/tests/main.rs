//! Tests devices from outside: their executors, and whole runs on them.
#![cfg(not(loom))]

mod either;
mod evaluate;
mod gpu;
mod leaving;
mod pending;
#[path = "../../runtime/tests/shared.rs"]
mod shared;
mod worker_pool;
