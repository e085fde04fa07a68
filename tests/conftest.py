"""What `make test` promises to have installed must be there: a missing piece fails, it is not skipped.

Run by hand, pytest skips what this machine cannot do and prints why.
"""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest


def pytest_sessionstart() -> None:
    """With NETDYNO_TESTS=all, as `make test` sets it, stops before a single test if something is missing."""
    if os.environ.get("NETDYNO_TESTS") != "all":
        return
    modules = ("netdyno._engine", "playwright", "jsonschema", "hypothesis")
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    missing += [
        name
        for name in ("tshark", "chromium", "pdftotext", "ip", "tc", "ethtool", "bird")
        if shutil.which(name) is None
    ]
    if missing:
        pytest.exit(f"`make test` should have installed {', '.join(missing)}", returncode=1)
