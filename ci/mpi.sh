#!/usr/bin/env bash
# Runs what every network must obey under three MPI launchers: Debian's Open MPI, Debian's MPICH, and
# PyPI's MPICH with the MPI 5 ABI. Installs what is missing if it may; exits with 77 if one stays missing.
#
#   ci/mpi.sh [CASE...]
set -euo pipefail
cd "$(dirname "$0")/.."

# Nothing was tested, which is not a failure of what would have been.
cannot() {
    echo "mpi: NOT TESTED: $1" >&2
    exit 77
}

need=()
command -v mpiexec.openmpi >/dev/null || need+=(openmpi-bin)
command -v mpiexec.mpich >/dev/null || need+=(mpich)
python3 -c 'import venv, ensurepip' 2>/dev/null || need+=(python3-venv)
if ((${#need[@]})) && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -qy --no-install-recommends "${need[@]}" ||
        cannot "the packages ${need[*]} cannot be installed"
fi

# Absolute, for the tests run in another folder.
mkdir -p "${CARGO_TARGET_DIR:-target}"
venv=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/mpi
version=5.0.2
if ! "$venv/bin/pip" show mpich 2>/dev/null | grep -q "^Version: $version$"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps "mpich==$version" ||
        cannot "PyPI's mpich $version cannot be installed"
fi

launchers=()
add() {
    local path
    path=$(command -v "$2") || cannot "$2 is missing"
    launchers+=("$1=$path")
}
add open-mpi mpiexec.openmpi
add mpich mpiexec.mpich
add mpi-abi "$venv/bin/mpiexec"
PLEACH_MPI="${launchers[*]}" cargo test -p pleach-net --test sites -- "$@"
