#!/usr/bin/env bash
# Runs a suite of flowshop instances and appends a row for each to a file, by default
# docs/flowshop.csv; skips rows that this commit already has on this processor.
#
#   ci/bench-flowshop.sh SUITE [TIME-LIMIT] [FILE]
#
# ONLY='^VFR[678]' runs only instances whose names match, EVERY=10 only every tenth of them.
# A schedule better than the best known one, and than the one of an earlier run, is written to
# docs/schedules.
#
# Suites: sample (24 of all kinds), taillard (ta001 to ta120), vrf and vrf-large (240 each), first-30
# (ta001 to ta030 from scratch), optimum-10 (ta021 to ta030 from the optimum, bound one,
# min-branch), flow-time and no-wait (ta001 to ta120), flow-time-30 (ta001 to ta030), setups,
# setups-20 (20 jobs) and tardiness (PYJOBSHOP is a copy of the repository PyJobShop/Experiments).
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${1:?expected a suite}
limit=${2:-60s}
file=${3:-docs/flowshop.csv}
flags=()
best_known=problems/data/flowshop-best.csv
column=2
case $suite in
    sample) names=(ta005 ta017 ta021 ta030 ta031 ta041 ta044 ta051 ta056 ta061 ta071 ta081
        ta085 ta091 ta101 ta111 VFR10_20_1 VFR20_10_3 VFR20_15_2 VFR30_10_4 VFR30_15_1
        VFR40_5_2 VFR50_20_1 VFR60_10_1) ;;
    taillard) names=($(printf 'ta%03d ' {1..120})) ;;
    first-30) names=($(printf 'ta%03d ' {1..30})) ;;
    optimum-10)
        names=($(printf 'ta%03d ' {21..30}))
        flags=(--best optimum --bound one --branching min-branch)
        ;;
    flow-time | flow-time-30)
        names=($(printf 'ta%03d ' {1..120}))
        if [ "$suite" = flow-time-30 ]; then names=("${names[@]:0:30}"); fi
        flags=(--objective flow-time)
        best_known=problems/data/flowshop-variants-best.csv
        ;;
    no-wait)
        names=($(printf 'ta%03d ' {1..120}))
        flags=(--no-wait)
        best_known=problems/data/flowshop-variants-best.csv
        column=3
        ;;
    vrf) names=($(for n in 10 20 30 40 50 60; do
        for m in 5 10 15 20; do printf "VFR${n}_${m}_%d " {1..10}; done
    done)) ;;
    vrf-large) names=($(for n in 100 200 300 400 500 600 700 800; do
        for m in 20 40 60; do printf "VFR${n}_${m}_%d " {1..10}; done
    done)) ;;
    setups | setups-20 | tardiness)
        best_known=docs/pyjobshop.csv
        column=4
        jobs=
        if [ "$suite" = setups-20 ]; then jobs=20; fi
        names=($(grep "^${suite%-20}/[0-9]*,$jobs" "$best_known" | cut -d, -f1))
        folder=${PYJOBSHOP:?expected a copy of PyJobShop/Experiments}/data/instances
        if [ "$suite" = tardiness ]; then
            folder+=/TT-PFSP
            flags=(--objective tardiness)
        else
            folder+=/SDST-PFSP
        fi
        ;;
    *)
        echo "unknown suite '$suite'" >&2
        exit 2
        ;;
esac

if [ -n "${ONLY:-}" ]; then
    names=($(printf '%s\n' "${names[@]}" | grep -E "$ONLY")) ||
        { echo "no instance matches ONLY=$ONLY" >&2; exit 2; }
fi
if [ "${EVERY:-1}" -gt 1 ]; then
    names=($(printf '%s\n' "${names[@]}" | awk -v every="$EVERY" 'NR % every == 1'))
fi

cargo build --release --quiet
commit=$(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo +)
processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1 | tr -s ' ,' ' ')
# The value of a key in a one-line JSON object.
branched() { sed -n 's/.*"nodes":{"branched":"\{0,1\}\([0-9]*\).*/\1/p' <<<"$1"; }
value() { grep -o "\"$1\":[^,}]*" <<<"$2" | head -1 | cut -d: -f2 | tr -d '"'; }

if [ ! -e "$file" ]; then
    echo "commit,processor,threads,suite,limit,instance,status,value,bound,best known,branched,seconds" >"$file"
fi
for name in "${names[@]}"; do
    key="$commit,$processor,$(nproc),$suite,$limit,$name,"
    if grep -qF "$key" "$file"; then continue; fi
    instance=$name
    if [[ $name == */* ]]; then instance=$folder/${name#*/}.txt; fi
    if [ "$instance" != "$name" ] && [ ! -e "$instance" ]; then continue; fi
    result=$(target/release/pleach solve flowshop "$instance" --time-limit "$limit" "${flags[@]}" --json || [ $? -eq 3 ])
    best=$(grep -m1 "^$name," "$best_known" | cut -d, -f"$column")
    row="$key$(value status "$result"),$(value objective "$result"),$(value lower_bound "$result"),$best"
    row="$row,$(branched "$result"),$(value seconds "$result")"
    echo "$row" | tee -a "$file"
    found=$(value objective "$result")
    if [ "$found" = null ] || [ "$found" -ge "${best:-0}" ]; then continue; fi
    schedule=docs/schedules/$suite/${name#*/}.txt
    if [ -e "$schedule" ]; then
        # An invalid schedule has no value, and is overwritten.
        before=$(target/release/pleach check flowshop "$instance" "$schedule" "${flags[@]}" --json) || before=
        if [ -n "$before" ] && [ "$found" -ge "$(value objective "$before")" ]; then continue; fi
    fi
    mkdir -p "${schedule%/*}"
    sed -n 's/.*"solution":\[\([0-9,]*\)\].*/\1/p' <<<"$result" | tr , ' ' >"$schedule"
done

# Summary: proven optima, total time, and the gap of the others to the best known.
awk -F, -v key="$commit,$processor,$(nproc),$suite,$limit," '
    index($0, key) == 1 {
        n++; seconds += $12
        if ($7 == "optimal" || $7 == "no-better") proven++
        else if ($8 != "null" && $10 > 0) {
            gap = 100 * ($8 - $10) / $10
            sum += gap
            if (gap > worst) worst = gap
            open++
        }
    }
    END {
        printf "%d instances, %d proven, %.1f s", n, proven, seconds
        if (open) printf ", others %.2f %% above the best known on average, %.2f %% at most", sum / open, worst
        print ""
    }' "$file"
