#!/usr/bin/env bash
# Sparse products against outside programs: 'check' compares them with SciPy's, 'bench' measures them beside MKL.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
case ${1:-} in
check) packages="scipy" ;;
bench) packages="scipy mkl" ;;
*)
    echo "usage: ci/loops.sh check | bench" >&2
    exit 2
    ;;
esac
python3 -m venv "$place/venv"
# Word by word: package names.
# shellcheck disable=SC2086
"$place/venv/bin/pip" install -q --disable-pip-version-check $packages
cargo build --release
"$place/venv/bin/python" ci/loops.py "$1" "$place"
if [ "$1" = bench ]; then
    cargo bench -p pleach-loops --bench products
fi
