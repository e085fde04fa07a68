"""Whether the kernel counts the time of interrupts as that of the thread they come in.

A veth delivers frames in soft interrupts of the thread that sends. A kernel that keeps these apart
(CONFIG_IRQ_TIME_ACCOUNTING) counts none of the device's work as the tester's.
"""

from __future__ import annotations

import gzip
import platform
from pathlib import Path

_APART = b"\nCONFIG_IRQ_TIME_ACCOUNTING=y\n"
_OFF = "tsc=noirqtime"


def counts_interrupts_apart(root: Path = Path("/")) -> bool:
    """Whether it keeps them apart. False also where its configuration cannot be read."""
    release = platform.release()
    for path in ("proc/config.gz", f"boot/config-{release}", f"lib/modules/{release}/config"):
        try:
            text = (root / path).read_bytes()
            text = gzip.decompress(text) if path.endswith(".gz") else text
            return _APART in text and _OFF not in (root / "proc/cmdline").read_text().split()
        except OSError:
            continue
    return False
