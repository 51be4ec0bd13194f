#!/usr/bin/env bash
# All checks that a user can run: format, lints, packages, docs, tests, doc tests, examples.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo fmt --all --check
step cargo clippy --workspace --all-targets -- -D warnings
# The library without the features of the command, and with each of them.
for features in "" cluster gpu loops lab service xlsx; do
    step cargo clippy -p pleach --no-default-features --features "$features" -- -D warnings
done
step cargo package --workspace --no-verify --quiet
step env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
# A shell starts commands in the background with interrupts ignored, and the tests send some.
defaults=(env)
if env --default-signal=INT true 2>/dev/null; then
    defaults=(env --default-signal=INT)
fi
# Unit, integration and doc tests, and examples; the test profile is the release profile with
# assertions and overflow checks. Many tests wait for processes, so six run at once even on few cores.
cores=$(nproc)
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((cores > 6 ? cores : 6))}
step "${defaults[@]}" cargo test --workspace
