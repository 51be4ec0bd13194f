#!/usr/bin/env bash
# Measures how long the command takes to end after a limit or a signal, in the phases that take long.
#
#   ci/latency.sh [FOLDER]   large inputs are made in FOLDER (/tmp/pleach-latency) and kept there
#   PLEACH=…                 the command to measure (target/release/pleach)
#   ONLY=WORD                only lines that contain WORD
set -u
cd "$(dirname "$0")/.."
pleach=${PLEACH:-${CARGO_TARGET_DIR:-target}/release/pleach}
at=${1:-/tmp/pleach-latency}
mkdir -p "$at"

shop() { # JOBS MACHINES
    [ -s "$at/shop-$1x$2" ] || awk -v n="$1" -v m="$2" 'BEGIN { srand(1); print n, m
        for (k = 0; k < m; k++) { for (j = 0; j < n; j++) printf "%d ", 1 + int(99 * rand()); print "" } }' \
        > "$at/shop-$1x$2"
}
shop 500 20; shop 2000 20; shop 2000 60; shop 10000 1000
[ -s "$at/items" ] || awk 'BEGIN { srand(1); n = 3000000; print n, 1e9
    for (i = 0; i < n; i++) print 1 + int(1e6 * rand()), 1 + int(1e6 * rand()) }' > "$at/items"
[ -s "$at/pipe" ] || [ -p "$at/pipe" ] || mkfifo "$at/pipe"
[ -s "$at/order" ] || seq 10000 | tr '\n' ' ' > "$at/order"

printf '%-9s %7s  %s\n' 'ended in' code command
# limit SECONDS WORDS…: with --time-limit; signal NAME SECONDS WORDS…: with a signal after that time.
report() { # START_NS AFTER_S CODE WHAT
    awk -v from="$1" -v to="$(date +%s%N)" -v after="$2" -v code="$3" -v what="$4" \
        'BEGIN { printf "%7.3f s %7s  %s\n", (to - from) / 1e9 - after, code, what }'
}
limit() {
    local after=$1; shift
    [[ "--time-limit $after $*" == *${ONLY:-}* ]] || return 0
    local from; from=$(date +%s%N)
    timeout -s KILL 30 "$pleach" "$@" --quiet --time-limit "$after" > "$at/out" 2> "$at/err"
    report "$from" "$after" $? "--time-limit $after: $*"
}
signal() {
    local name=$1 after=$2; shift 2
    [[ "$name $after $*" == *${ONLY:-}* ]] || return 0
    local from code
    # A shell makes its background commands ignore interrupts, and these would inherit that.
    env --default-signal=INT "$pleach" "$@" > "$at/out" 2> "$at/err" &
    local process=$!
    sleep "$after"
    from=$(date +%s%N)
    kill -s "$name" $process 2> /dev/null || echo "(over before the signal)"
    ( sleep 20; kill -KILL $process 2> /dev/null ) & local guard=$!
    wait $process; code=$?
    report "$from" 0 $code "$name after $after s: $*"
    kill $guard 2> /dev/null; wait $guard 2> /dev/null
}
both() { limit "$@"; signal INT "$@"; }

big=$at/shop-10000x1000
both 0.1 solve flowshop "$big"
both 2 solve flowshop "$big"
signal TERM 8 solve flowshop "$big"
both 2 solve flowshop "$big" --best neh
both 2 solve flowshop "$big" --best none
both 2 solve flowshop "$at/shop-2000x60"
both 4 solve flowshop "$at/shop-2000x60" --best none --bound two
both 2 solve flowshop "$at/shop-2000x20" --bound two
both 1 solve flowshop "$at/shop-500x20"
both 1 solve flowshop "$at/shop-2000x20" --all
both 0.4 solve flowshop ta056 --best optimum
both 2 solve flowshop ta003 --best optimum --all
both 0.3 solve atsp rtilt:1000:1 --bound arborescence
both 2 solve atsp rtilt:1000:1 --bound arborescence
both 8 solve atsp rtilt:1000:1 --bound arborescence
both 3 solve atsp rtilt:1000:1
both 3 solve atsp rtilt:1000:1 --bound assignment --best none
both 0.1 solve knapsack "$at/items"
both 1 count queens 19
both 1 count uts T1XXL
both 1 count uts T1XXL --repeat 3
both 1 solve flowshop ta056 ta057
signal INT 0.3 solve flowshop "$at/pipe"
limit 0.3 solve flowshop "$at/pipe"
signal INT 0.3 check flowshop "$big" "$at/order"
signal INT 0.3 check flowshop "$at/pipe" "$at/order"
signal INT 0.3 report "$at/pipe" -o "$at/page.html"
signal INT 1 sim uts T1L --peers 20000
signal INT 1 reproduce C-fig3 --out "$at/pages"
signal INT 1 devices --check emulated
limit 1 devices --check emulated
signal INT 0.3 devices
for after in 0.3 1 4; do
    signal INT $after loop spmm fem:300000 --out "$at/c.mtx"
    signal INT $after loop spmm fem:300000 --compare-static
    signal INT $after loop csrmm fem:300000 --columns 64 --out "$at/c.mtx"
    signal INT $after loop rays sphere:300000 --size 4096x4096 --out "$at/r.png"
    signal INT $after loop lattice --size 512x256x256 --steps 1000 --out "$at/flow.vti"
done
rm -f "$at/out" "$at/err"
