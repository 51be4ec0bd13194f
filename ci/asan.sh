#!/usr/bin/env bash
# Runs the emulated device's tests under AddressSanitizer, which checks every memory access of a
# kernel. Needs gcc with libasan, on Linux.
set -euo pipefail
cd "$(dirname "$0")/.."

# Fibers abandon their stacks, so what lies there must not be checked.
export CXXFLAGS="-fsanitize=address --param=asan-stack=0"
export RUSTFLAGS="-Clink-arg=-lasan"
target=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_RUNNER
export "$runner=env LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
cargo test -p pleach-kernels --test main --target "$target" \
    --target-dir "${CARGO_TARGET_DIR:-target}/asan" "$@"
