#!/usr/bin/env bash
# Measures how well paced processes on this machine share a search, over TLS and over MPI, and compares with
# the simulator: ci/paced.sh [PROCESSES...], 16 and 64 if none are given. All together explore RATE nodes a second,
# 320000 if it is not set.
#
# Efficiency is the number of nodes divided by the number that all workers could have explored while their process took
# part. MPI needs an mpiexec, which MPIEXEC names.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -q -p pleach
pleach=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/release/pleach
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpiexec=${MPIEXEC:-mpiexec}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

efficiency() {
    python3 - "$work/report" "$1" <<'PY'
import json, sys
report, pace = json.load(open(sys.argv[1])), int(sys.argv[2])
there = sum(report["seconds"] - site["joined_s"] for site in report["sites"])
print(f'{report["nodes"]["bounded"] / (pace * there):.4f} ({report["seconds"]:.1f} s)')
PY
}

# The simulated efficiency of a search by this many sites, whose nodes take this long.
simulated() {
    cat >"$work/paced.toml" <<TOML
title = "paced"
seeds = [1, 2, 3]
balance = "adaptive"
[load]
problem = "$2"
instance = "$3"
node_us = $((1000000 / pace))
[sites]
count = $n
units = 1
TOML
    "$pleach" sim "$work/paced.toml" --json | python3 -c '
import json, sys
print("%.4f" % json.load(sys.stdin)["rows"][0]["figures"]["efficiency"]["mean"])'
}

for processes in "${@:-16 64}"; do
    for n in $processes; do
        pace=$((${RATE:-320000} / n))
        for search in "count uts T3" "count queens 13"; do
            # shellcheck disable=SC2086
            echo "$search, $n processes, simulated: $(simulated $search)"
            flags=(--threads 1 --pace "$pace" --quiet)
            rm -f "$work/key" "$work/address"
            # shellcheck disable=SC2086
            "$pleach" $search --threads 1 --pace "$pace" --listen 127.0.0.1:0 --places "$n" \
                --key "$work/key" --json >"$work/report" 2>"$work/err" &
            root=$!
            until grep -q "to join" "$work/err"; do sleep 0.05; done
            address=$(sed -n 's/.*join \([^ ]*\) .*/\1/p' "$work/err")
            for ((i = 1; i < n; i++)); do
                "$pleach" join "$address" --key "$work/key" "${flags[@]}" &
            done
            wait "$root"
            wait
            echo "$search, $n processes, TLS: $(efficiency "$pace")"
            if command -v "$mpiexec" >/dev/null; then
                # shellcheck disable=SC2086
                "$mpiexec" -n "$n" "$pleach" $search "${flags[@]}" --json >"$work/report"
                echo "$search, $n processes, MPI: $(efficiency "$pace")"
            fi
        done
    done
done
