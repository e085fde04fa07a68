#!/bin/sh
# Pins the Python dependencies again, with hashes and without naming a registry. Wants `uv`.
set -eu
cd "$(dirname "$0")/.."
compile() {
    uv pip compile pyproject.toml "$@" --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --no-emit-index-url --quiet
}
run="--extra build --extra figures --extra devices --extra rehearse --extra tcp"
# shellcheck disable=SC2086 # a list of words
compile $run --output-file requirements.lock
compile $run --extra hosts --extra dev --output-file requirements-dev.lock
compile --extra wheel --output-file requirements-wheel.lock
