#!/usr/bin/env bash
# Compiles all kernels with HIP's run-time compiler, for AMD GPUs whose waves have 32 or 64 lanes, or for those that are
# named; needs no GPU. Exits with 77 if the compiler cannot be obtained.
set -euo pipefail
cd "$(dirname "$0")/.."

have() { ldconfig -p | grep -q libamdhip64; }
if ! have && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -q && apt-get install -qy --no-install-recommends libamdhip64-5 libhiprtc-builtins5; } || true
fi
if ! have; then
    echo "hip: HIP's run-time compiler is not here: install libamdhip64-5" >&2
    exit 77
fi
exec python3 ci/hip.py "$@"
