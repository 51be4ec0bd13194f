//! Tests loops from outside: what each computes on threads, devices and several processes.
#![cfg(not(loom))]

mod loop_kernels;
mod looping;
mod loops;
#[path = "../../../cluster/tests/search/network.rs"]
#[allow(dead_code)]
mod network;
mod numbers;
mod orders;
mod rays;
mod rays_brute;
mod remote;
#[path = "../../../runtime/tests/shared.rs"]
mod shared;
mod stepping;
