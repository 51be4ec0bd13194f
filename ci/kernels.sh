#!/usr/bin/env bash
# Compiles all kernels for sm_90 with NVIDIA's compiler, without a GPU, and compares registers,
# spills and PTX with the committed ones; --write updates those. Exits with 77 if the compiler
# cannot be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fetch() {
    python3 -m venv "$place/venv" &&
        "$place/venv/bin/pip" install -q --disable-pip-version-check --no-deps \
            nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-nvcc==13.0.88
}
if ! fetch; then
    echo "kernels: cannot fetch NVIDIA's compiler from PyPI" >&2
    exit 77
fi
"$place/venv/bin/python" ci/kernels.py "$place/venv" "$@"
