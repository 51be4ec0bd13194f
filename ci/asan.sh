#!/usr/bin/env bash
# Runs the tests of the kernels with an emulated device compiled for AddressSanitizer, which checks every memory access
# of a kernel. Needs gcc with libasan, on Linux.
set -euo pipefail
cd "$(dirname "$0")/.."

# Fibers abandon their stacks, so what lies there must not be checked.
export CXXFLAGS="-fsanitize=address --param=asan-stack=0"
target=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_RUNNER
export "$runner=env LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
cargo test --workspace --test kernels "$@"
