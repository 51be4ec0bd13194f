#!/usr/bin/env bash
# Work that travels, at length: 200 kills, 10 million mutated inputs, and what saving and intervals cost.
set -euo pipefail
cd "$(dirname "$0")/.."

date -u +%F
PLEACH_KILLS=200 cargo test -p pleach --test main kills_change_no_count -- --nocapture
PLEACH_MUTANTS=10000000 cargo test -p pleach-run --test main mutated_inputs_are_refused -- --nocapture
cargo bench -p pleach --bench travel
