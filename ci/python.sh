#!/usr/bin/env bash
# The Python package: lints, a wheel, and its tests in a fresh environment. Exits with 77 without a suitable Python.
set -euo pipefail
cd "$(dirname "$0")/../python"

step() { printf '\n== %s\n' "$*"; "$@"; }

usable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'
python=
for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    if "$candidate" -c "$usable" 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "skipped: no Python from 3.10 on with the module venv" >&2
    exit 77
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
rm -rf "$target/environments" "$target/wheels"
step "$python" -m venv "$target/environments/build"
if ! "$target/environments/build/bin/pip" install --quiet 'maturin>=1.9,<2'; then
    echo "skipped: no package maturin" >&2
    exit 77
fi

step cargo fmt --check
step cargo clippy --all-targets -- -D warnings
step "$target/environments/build/bin/maturin" build --release --out "$target/wheels" \
    --interpreter "$target/environments/build/bin/python"
wheel=$(ls "$target"/wheels/*.whl)
size=$(wc -c <"$wheel")
if [ "$size" -gt 15000000 ]; then
    echo "$wheel has $size bytes, expected at most 15,000,000" >&2
    exit 1
fi

# The wheel alone first: no other package is needed.
step "$python" -m venv "$target/environments/test"
bin=$target/environments/test/bin
step "$bin/pip" install --quiet "$wheel"
step env -C "$target" "$bin/python" -c 'import pleach; print(pleach.flowshop.solve("ta001").makespan)'
step "$bin/pip" install --quiet numpy scipy pandas pandas-stubs pytest mypy numba nbclient ipykernel
# The program of the workspace, for the tests of the service, built as in ci/test.sh.
(cd .. && step cargo test --workspace --no-run)
PLEACH_PROGRAM=$(cd .. && cargo metadata --format-version 1 --no-deps | "$python" -c 'import json, sys
print(json.load(sys.stdin)["target_directory"])')/debug/pleach
export PLEACH_PROGRAM
# From another folder: here, the sources would be imported in place of the installed package.
step env -C "$target" "$bin/pytest" --quiet -c "$PWD/pyproject.toml" "$PWD/tests"
# The types of the installed package, as a user of it checks them.
for files in "-p pleach" "$PWD/examples" "$PWD/tests"; do
    step env -C "$target" "$bin/mypy" --config-file "$PWD/pyproject.toml" $files
done
step env -C "$target" "$bin/stubtest" pleach._pleach
