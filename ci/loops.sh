#!/usr/bin/env bash
# Loops against outside programs: 'check' compares sparse products with SciPy's, 'bench' measures them alongside MKL,
# 'rays' compares pictures with VTK's and measures both.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
case ${1:-} in
check) packages="scipy" ;;
bench) packages="scipy mkl" ;;
rays) packages="numpy vtk" ;;
*)
    echo "usage: ci/loops.sh check | bench | rays" >&2
    exit 2
    ;;
esac
python3 -m venv "$place/venv"
# Unquoted on purpose: package names.
# shellcheck disable=SC2086
"$place/venv/bin/pip" install -q --disable-pip-version-check $packages
cargo build --release
if [ "$1" = rays ]; then
    "$place/venv/bin/python" ci/rays.py "$place"
    exit
fi
"$place/venv/bin/python" ci/loops.py "$1" "$place"
if [ "$1" = bench ]; then
    cargo bench -p pleach-loops --bench products
fi
