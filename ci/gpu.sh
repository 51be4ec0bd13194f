#!/usr/bin/env bash
# Run on a machine with a GPU and the built binary (PLEACH, or target/release/pleach). First compares
# counts with the CPU's for every kernel, balancing rule and number of explorers; then measures.
#
#   ci/gpu.sh [DEVICE] [FOLDER] [FLAGS]       as ci/gpu-first.sh, which should run first on a new machine
#
# FOLDER/report.md has the table for docs/measured.md.
set -euo pipefail
exec "$(dirname "$0")/gpu-first.sh" "$@" --stages facts,matrix,sanitizers,early,settings,speed
