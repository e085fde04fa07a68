"""The processor of this machine."""

from __future__ import annotations

import platform
from pathlib import Path


def read_processor() -> tuple[str, set[str]]:
    """How many cores of which model, `8 x NAME`, and its flags."""
    models, flags = [], set()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        what, _, value = line.partition(":")
        if what.strip() == "model name":
            models.append(value.strip())
        elif what.strip() == "flags":
            flags = set(value.split())
    return (f"{len(models)} x {models[0]}" if models else platform.machine()), flags
