#!/usr/bin/env bash
# Tries the page of a service in a browser. Ends with 77 if no browser can be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
    if ! { apt-get update -q && apt-get install -qy chromium; } >/dev/null 2>&1; then
        echo "skipped: the page in a browser, since chromium cannot be installed" >&2
        exit 77
    fi
    browser=$(command -v chromium)
fi
# The program that the tests run, built as in ci/test.sh.
cargo test --workspace --no-run
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 ci/page.py target/debug/pleach "$browser" "$place/page" "$@"
