"""How much of a long property a run of the tests tries: a fifth of it, or all.

`make explore` sets NETDYNO_TESTS=long; `make fuzz` says how many it wants of what it runs.
"""

from __future__ import annotations

import os

WHOLE = os.environ.get("NETDYNO_TESTS") == "long"

SAMPLE = 1 if WHOLE else 5
"""Of examples, moments and seeds that prove one thing, one in so many is tried."""


def examples(count: int) -> int:
    """As many as a run tries of a property's examples, and never fewer than eight of eight."""
    return max(count // SAMPLE, min(count, 8))
