#!/bin/sh
# Runs the first cargo that is new enough (rust-version in Cargo.toml): rustup's, or Debian's cargo-web.
set -eu

needed=$(sed -n 's/^rust-version = "1\.\([0-9]*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml")
for folder in $(echo "$PATH" | tr ':' ' ') "$HOME/.cargo/bin" /usr/bin; do
    [ -x "$folder/cargo" ] && [ -x "$folder/rustc" ] || continue
    minor=$("$folder/rustc" --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
    [ "${minor:-0}" -ge "$needed" ] || continue
    PATH="$folder:$PATH"
    export PATH
    if [ "${1:-}" = -- ]; then # any other program that wants cargo on its PATH
        shift
        exec "$@"
    fi
    exec cargo "$@"
done
echo "no Rust 1.$needed or newer on this machine" >&2
exit 1
