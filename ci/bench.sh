#!/usr/bin/env bash
# The figures of docs/measured.md: bare explorers, then with the engine around them. Asserts
# nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

date -u +%F
grep -m1 'model name' /proc/cpuinfo || true
cargo bench -p pleach-problems --bench node_rate
cargo bench -p pleach --bench engine
