#!/usr/bin/env bash
# The tests of the emulated device, where every access of a kernel to memory of the host is checked.
# Needs gcc with its libasan, on Linux.
set -euo pipefail
cd "$(dirname "$0")/.."

# Fibers leave their stacks as they are, so that what lies there is not checked.
export CXXFLAGS="-fsanitize=address --param=asan-stack=0"
export RUSTFLAGS="-Clink-arg=-lasan"
target=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_RUNNER
export "$runner=env LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
cargo test -p pleach-kernels --test main --target "$target" \
    --target-dir "${CARGO_TARGET_DIR:-target}/asan" "$@"
