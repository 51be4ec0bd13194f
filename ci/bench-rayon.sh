#!/usr/bin/env bash
# A loop of 10⁸ tiny units with Pleach and with rayon's parallel iterator, alternating in one process.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/src"
cat > "$place/Cargo.toml" <<END
[package]
name = "beside-rayon"
version = "0.0.0"
edition = "2024"
[dependencies]
pleach = { path = "$PWD/pleach", default-features = false }
rayon = "1.11"
[profile.release]
codegen-units = 1
END
cat > "$place/src/main.rs" <<'END'
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const UNITS: usize = 100_000_000;

fn timed(go: impl Fn() -> u64) -> f64 {
    let began = Instant::now();
    assert_eq!(go(), UNITS as u64 / 2 * (UNITS as u64 - 1));
    began.elapsed().as_secs_f64() * 1e3
}

fn main() {
    let by_pleach = || {
        let sum = AtomicU64::new(0);
        let done = pleach::each(UNITS, |units| {
            let part = units.fold(0, |sum, unit| sum + black_box(unit as u64));
            sum.fetch_add(part, Ordering::Relaxed);
        });
        done.map_or(0, |_| sum.into_inner())
    };
    let by_rayon = || (0..UNITS).into_par_iter().map(|unit| black_box(unit as u64)).sum();
    let mut times: Vec<(f64, f64)> = (0..15).map(|_| (timed(by_pleach), timed(by_rayon))).collect();
    times.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let (pleach, rayon) = times[times.len() / 2];
    println!("pleach {pleach:.1} ms, rayon {rayon:.1} ms, median ratio {:.3}", pleach / rayon);
}
END
cargo run -q --release --manifest-path "$place/Cargo.toml" --target-dir "$place/target"
