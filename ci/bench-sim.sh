#!/usr/bin/env bash
# The long run of the simulator: 100,000 random clusters over all presets, then every scenario.
set -euo pipefail
cd "$(dirname "$0")/.."

date -u +%F
PLEACH_SEEDS=50000 cargo test -p pleach --test main searches_are_exact -- --nocapture
cargo build --release --quiet
for scenario in scenarios/*.toml; do
    printf '\n== %s\n' "$scenario"
    target/release/pleach sim "$scenario" "$@"
done
