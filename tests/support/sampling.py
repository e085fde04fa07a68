"""How much of a long property a run of the tests tries: a sample, or all of it.

`make explore` and `make fuzz` set NETDYNO_TESTS=long.
"""

from __future__ import annotations

import os

WHOLE = os.environ.get("NETDYNO_TESTS") == "long"

SAMPLE = 1 if WHOLE else 4
"""Of moments, seeds and places that prove one thing, every so-manieth is tried."""
