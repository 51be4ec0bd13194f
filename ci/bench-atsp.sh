#!/usr/bin/env bash
# Benchmarks the ATSP, one line each: proves optima of all named files, then of random classes with
# 100 cities; then counts paths per second and core.
#
#   ci/bench-atsp.sh [TIME-LIMIT]
set -euo pipefail
cd "$(dirname "$0")/.."

limit=${1:-60s}
cargo build --release --quiet
solve() { target/release/pleach solve atsp "$@" --json; }
row() {
    python3 -c '
import json, sys
answer = json.load(sys.stdin)
nodes, seconds = int(answer["nodes"]["branched"]), answer["seconds"]
rate = nodes / max(seconds - answer["setup_seconds"], 1e-9) / 1e6
print("{:14} {:13} {:9} {:>10} {:>10} {:>12} nodes {:8.2f} s {:8.1f} M branched/s".format(
    answer["instance"], answer["settings"]["bound"], answer["status"], str(answer["objective"]),
    str(answer["lower_bound"]), nodes, seconds, rate))'
}

for name in br17 ftv33 ftv35 ftv38 ftv44 ftv47 ftv55 ftv64 ftv70 ft53 ft70 ry48p kro124p p43; do
    { solve "$name" --time-limit "$limit" || true; } | row
done
for class in amat tmat smat tsmat rect rtilt stilt crane disk coin shop super; do
    for seed in 1 2 3; do
        { solve "$class:100:$seed" --time-limit "$limit" || true; } | row
    done
done
for name in crane:15:1 crane:16:1 tsmat:14:1; do
    best=$(solve "$name" | sed 's/.*"objective":\([0-9]*\).*/\1/')
    for threads in 1 2; do
        solve "$name" --bound partial --best "$best" --threads $threads | row
    done
done
