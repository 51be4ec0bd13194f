//! The run crate from outside: conformance of transports and executors, and whole runs.
#![cfg(not(loom))]

/// Slow-down factors of the first threads.
fn slow_threads(factors: impl IntoIterator<Item = f64>) -> Vec<(String, f64)> {
    factors.into_iter().enumerate().map(|(i, factor)| (format!("cpu{i}"), factor)).collect()
}

mod either;
mod engine;
mod evaluate;
mod executor;
mod gpu;
mod hostile;
mod late;
mod leaving;
mod looks;
mod loop_kernels;
mod looping;
mod opening;
mod resume;
mod sites;
mod stepping;
mod transport;
mod worker_pool;
