#!/usr/bin/env bash
# Measures for docs/measured.md: bare explorers, then explorers inside the engine. Makes no
# assertions.
set -euo pipefail
cd "$(dirname "$0")/.."

date -u +%F
grep -m1 'model name' /proc/cpuinfo || true
cargo bench -p pleach-problems --bench node_rate
cargo bench -p pleach --bench engine
