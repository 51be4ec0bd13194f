#!/usr/bin/env bash
# The long run for saving and moving work: 200 kills, 10 million mutated inputs, and the cost of saving and of
# intervals.
set -euo pipefail
cd "$(dirname "$0")/.."

date -u +%F
PLEACH_CHAOS=20 cargo test -p pleach --test main chaos_changes_no_result -- --nocapture
PLEACH_MUTANTS=10000000 cargo test -p pleach-runtime --test main mutated_inputs_are_refused -- --nocapture
cargo bench -p pleach --bench travel
