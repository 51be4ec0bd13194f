#!/usr/bin/env bash
# The first minutes on a machine with a GPU: what is there, what works, how fast it is. Needs the built
# binary (PLEACH, or target/release/pleach) and python3, but no compiler and no cargo.
#
#   ci/gpu-first.sh [DEVICE] [FOLDER] [--seconds 480] [--limit 20] [--stages facts,driver,…] [--small]
#
# DEVICE is gpu0, or emulated to rehearse the script itself with small cases. The script ends within
# --seconds, whatever fails; every command ends within --limit. FOLDER (target/gpu) then holds
# rows.jsonl, a line per result, written as results arrive; report.md, what works, what does not, and what was
# not reached; and the logs of the tools. Exit code 0 if everything that ran was right, 1 if not, 2 if the script
# could not start.
set -euo pipefail
if ! command -v python3 >/dev/null; then
    echo "python3 not found; only this script needs it" >&2
    exit 2
fi
exec python3 "$(dirname "$0")/gpu-first.py" "$@"
