//! GPUs through their makers' libraries, which are opened at run time.

mod any_gpu;
mod cache;
mod compile;
mod cuda;
mod driver;
#[cfg(test)]
mod fake_driver;
mod forms;
pub mod gpus;
mod hip;
mod module;
mod nvrtc;
mod pinned_staging;
mod queue;
