#!/usr/bin/env bash
# All checks, as a user runs them: format, lints, tests, doc tests, examples, loom.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo fmt --all --check
step cargo clippy --workspace --all-targets -- -D warnings
step env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
# Unit tests, tests from outside, examples and doc tests; the test profile is the release profile
# with assertions and overflow checks.
step cargo test --workspace
# The threads' shared parts, in every order in which they can take turns.
step env RUSTFLAGS="--cfg loom" cargo test -p pleach-run --release --lib --target-dir target/loom
# The kernels once more, every access to memory checked, where the compiler can do that.
if [ -e "$(cc -print-file-name=libasan.so)" ]; then
    step ci/asan.sh
fi
