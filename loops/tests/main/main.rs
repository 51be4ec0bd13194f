//! Tests of the loops from outside.

mod rays;
mod rays_brute;
mod remote;
