#!/usr/bin/env bash
# Makes a release from the last commit, and tries what it made: programs, image, packages and sources. The crates are
# packaged, but built only as parts of the others.
# Usage: ci/release.sh [FOLDER]
set -euo pipefail
given=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/.."

fail() { echo "$*" >&2; exit 1; }
step() { printf '\n== %s\n' "$*"; "$@"; }

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
commit=$(git rev-parse --short=12 HEAD)
machine=$(uname -m)
goal=${given:-$PWD/release/pleach-$version}
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed: a release is made from a commit"
[ ! -e "$goal" ] || [ -z "$(ls -A "$goal")" ] || fail "$goal is not empty"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Only a complete release is moved into place.
out=$work/release
mkdir "$out"

# What has changed: the section of this version, or of unreleased changes.
section() { awk -v version="$1" '$1 == "##" { on = $2 == version; next } on' CHANGELOG.md; }
changes=$(section "$version")
[ -n "$changes" ] || changes=$(section Unreleased)
[ -n "$changes" ] || fail "CHANGELOG.md has neither a section for $version nor one for what is unreleased"
printf 'Pleach %s, commit %s\n\n%s\n' "$version" "$commit" "$(sed '/./,$!d' <<<"$changes")" >"$out/CHANGES.md"

# The sources as they are in the commit, and all builds from them.
name=pleach-$version
git archive --format=tar.gz --prefix="$name/" -o "$out/$name-src.tar.gz" HEAD
git clone --quiet --no-hardlinks . "$work/$name"
cd "$work/$name"
target=${RELEASE_TARGET_DIR:-$work/target}

# An archive with the program, completions, the manual page, and the licences. $1 is the program, $2 what it runs on.
archive() {
    local folder=$name-$machine-linux-$2
    mkdir -p "$work/$folder/completions"
    install -s "$1" "$work/$folder/pleach"
    "$1" man >"$work/$folder/pleach.1"
    for shell in bash zsh fish; do
        "$1" completions "$shell" >"$work/$folder/completions/pleach.$shell"
    done
    cp LICENSE-APACHE LICENSE-MIT CITATION.cff "$out/CHANGES.md" "$work/$folder/"
    tar -C "$work" --owner=0 --group=0 --sort=name -czf "$out/$folder.tar.gz" "$folder"
}

# One program for GPUs and MPI, whose libraries it opens at run time, and one that needs no library at all.
step cargo build --release --locked -p pleach --target-dir "$target"
archive "$target/release/pleach" gnu
step env RUSTFLAGS="-C target-feature=+crt-static" \
    cargo build --release --locked -p pleach --target-dir "$target" --target "$machine-unknown-linux-gnu"
static=$target/$machine-unknown-linux-gnu/release/pleach
archive "$static" static

# An image for Docker and Podman: the static program, on nothing.
step python3 ci/image.py "$work/$name-$machine-linux-static/pleach" "pleach:$version" "$out/$name-$machine-image.tar"

# The crates, as a registry takes them.
step cargo package --workspace --no-verify --locked --quiet --target-dir "$target"
mkdir "$out/crates"
cp "$target"/package/*-"$version".crate "$out/crates/"

# The Python package, built and as sources.
step python3 -m venv "$work/build"
step "$work/build/bin/pip" install --quiet 'maturin>=1.9,<2'
(cd python && step env CARGO_TARGET_DIR="$target/python" "$work/build/bin/maturin" build --release --sdist --locked \
    --out "$out")

(cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)

# Tries the same files as a user would. Programs get nothing of this environment but a path and an empty home;
# packages get a new Python environment or a new cargo root.
mkdir "$work/home"
empty() { env -i HOME="$work/home" PATH=/usr/bin:/bin "$@"; }
tried() { grep -q "$2" <<<"$1" || fail "expected \"$2\", not: $1"; echo "$1" | head -n 1; }
(cd "$out" && step sha256sum --quiet --check SHA256SUMS)
for kind in gnu static; do
    tar -C "$work/home" -xzf "$out/$name-$machine-linux-$kind.tar.gz"
    unpacked=$work/home/$name-$machine-linux-$kind
    tried "$(empty "$unpacked/pleach" --version)" "$version"
    tried "$(empty "$unpacked/pleach" solve flowshop ta001)" "1278 (optimal)"
done
libraries=$(ldd "$work/home/$name-$machine-linux-static/pleach" 2>&1 || true)
grep -Eq "statically linked|not a dynamic executable" <<<"$libraries" ||
    fail "the static program needs libraries: $libraries"
mkdir "$work/root"
tar -xOf "$out/$name-$machine-image.tar" layer.tar | tar -C "$work/root" -xf -
if [ "$(id -u)" = 0 ]; then
    tried "$(chroot --userspec=10001:10001 "$work/root" /usr/local/bin/pleach count queens 12)" "14,200 (counted)"
else
    echo "not tried: the image, which needs root"
fi
for file in "$out"/*.whl "$out"/pleach-*.tar.gz; do
    case $file in *-src.tar.gz | *-linux-*.tar.gz) continue ;; esac
    rm -rf "$work/try"
    python3 -m venv "$work/try"
    step "$work/try/bin/pip" install --quiet "$file"
    tried "$(cd "$work/home" && "$work/try/bin/python" -c 'import pleach; print(pleach.flowshop.solve("ta001"))')" 1278
    tried "$(cd "$work/home" && "$work/try/bin/pleach" solve flowshop ta001 --quiet)" 1278
done
tar -C "$work/home" -xzf "$out/$name-src.tar.gz"
step env CARGO_HOME="$work/home/.cargo" cargo install --quiet --locked --root "$work/home/installed" \
    --path "$work/home/$name/pleach"
tried "$(empty "$work/home/installed/bin/pleach" solve flowshop ta001)" "1278 (optimal)"

mkdir -p "$goal"
cp -r "$out/." "$goal/"
printf '\n%s\n' "$goal"
(cd "$goal" && find . -type f -printf '%9s %P\n' | sort -k 2)
