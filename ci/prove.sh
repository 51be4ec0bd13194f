#!/usr/bin/env bash
# The checks that take too long for every change: the largest models, five million random walks of leases and ten
# million damaged messages, as many damaged TLS frames, 200,000 random clusters, half of them of sites that
# come and go, two hundred searches by real processes that are killed, stopped, cut off and restarted, and many random runs on threads.
set -euo pipefail
cd "$(dirname "$0")/.."

date -u +%F
run() { cargo test -p "$1" --test main "$2" -- --nocapture; }
PLEACH_ROOM=3 run pleach-lab every_schedule_of_four_peers_ends_correctly
PLEACH_SEEDS=50000 run pleach-lab searches_are_exact
PLEACH_SEEDS=100000 run pleach-lab searches_on_sites_are_exact
PLEACH_LONG=yes cargo test --release -p pleach-lab --lib lease:: -- --nocapture
PLEACH_SEEDS=10000000 cargo test -p pleach-cluster --lib mutated -- --nocapture
PLEACH_CHAOS=200 run pleach chaos_changes_no_result
PLEACH_RUNS=20000 run pleach-runtime random_runs_count_exactly
