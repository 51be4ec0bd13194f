//! Tests of the loops from outside.

mod afar;
mod rays;
mod rays_brute;
