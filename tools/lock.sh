#!/bin/sh
# Pins the Python dependencies again, with hashes and without naming a registry. Wants `uv`.
set -eu
cd "$(dirname "$0")/.."
compile() {
    uv pip compile pyproject.toml "$@" --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --no-emit-index-url --quiet
}
compile --extra build --extra rehearse --output-file requirements.lock
compile --extra build --extra dev --output-file requirements-dev.lock
