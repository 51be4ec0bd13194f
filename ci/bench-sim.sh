#!/usr/bin/env bash
# Simulates every scenario. (ci/prove.sh simulates 100,000 random clusters.)
set -euo pipefail
cd "$(dirname "$0")/.."

date -u +%F
cargo build --release --quiet
for scenario in scenarios/*.toml; do
    printf '\n== %s\n' "$scenario"
    target/release/pleach sim "$scenario" "$@"
done
