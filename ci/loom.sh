#!/usr/bin/env bash
# Runs the tests of the data structures that threads share, in every interleaving.
set -euo pipefail
cd "$(dirname "$0")/.."

export RUSTFLAGS="--cfg loom"
cargo test -p pleach-runtime -p pleach-loops --release --lib --target-dir target/loom "$@"
