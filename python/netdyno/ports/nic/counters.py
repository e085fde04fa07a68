"""Counters of a card and its driver, and what they mean for a trial.

Two sources: the counters every interface has (rtnetlink's 64-bit statistics), and those a driver adds under
names of its own (`ethtool -S`). A driver's names are no standard: they are sorted by what drivers in use call
things, and what is not recognised is kept and called nothing.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from netdyno.ports.ethtool import Ask
from netdyno.ports.nic.settings import strings

_GSTATS = 0x1D
_SS_STATS = 1

KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        # Flow control. Priority flow control counts a pause a class (`rx_prio3_pause`).
        # Some drivers also tell how long they paused: no count of frames.
        ("pause received", r"(?!.*duration)((rx|receive).*(pause|flow_control|xo(n|ff))|.*xo(n|ff)_rx)"),
        ("pause sent", r"(?!.*duration)((tx|transmit).*(pause|flow_control|xo(n|ff))|.*xo(n|ff)_tx)"),
        # Frames the line brought intact and the card or the driver had no room for: the tester's own limit.
        (
            "no room to receive",
            r"rx_missed|rx_no_(buffer|dma|desc|bd)|rx_out_of_buffer|out_of_buffer|rx_no_buf|rx_fifo_err"
            r"|rx_over_err|rx_discards_phy|rx_discards|rx_buf(f)?_(alloc|exhaust)|rx_xdp_drops?"
            r"|rx_oom|rx_ring_full|rx_queue_\d+_drops?|rx\d*_(no_buf|drops?|buff_alloc_err)|rx_drops?$"
            r"|rx.*alloc.*(err|fail)|imissed|port\.rx_dropped",
        ),
        # Frames the line spoiled.
        (
            "damaged on the line",
            r"(rx|receive).*(crc|fcs|align|symbol|frame_err|frag|jabber|undersize|illegal)|crc_err|align_err"
            r"|illegal_bytes|mac_(local|remote)_fault",
        ),
        # A card that is busy is handed the frame again.
        ("no room to send", r"tx.*busy"),
        ("not sent", r"tx.*(drop|err|abort|carrier|timeout|fifo|discard)"),
        ("other error", r"(err|drop|discard|fail|miss)"),
    )
)
"""By what a counter's name tells, the first that fits."""

_AMBIGUOUS = frozenset(("rx_dropped", "rx_nohandler", "rx_otherhost_dropped", "rx_errors", "tx_errors"))
"""The kernel's own `rx_dropped` also counts frames no protocol wanted, which test frames are; the sums of
errors repeat what stands beside them."""


def driver(ask: Ask) -> dict[str, int]:
    """The driver's own counters, by its names. A name that comes twice is kept once, with the sum."""
    names = strings(ask, _SS_STATS)
    if not names:
        return {}
    reply = ask(struct.pack("II", _GSTATS, len(names)) + bytes(8 * len(names)))
    if reply is None:
        return {}
    found: dict[str, int] = {}
    for name, count in zip(names, struct.unpack_from(f"={len(names)}Q", reply, 8), strict=True):
        if name.strip():
            found[name.strip()] = found.get(name.strip(), 0) + count
    return found


_RESETS = re.compile(r"tx_?timeout|(^|[_.])(\w*_)?resets?(_?(count|cnt|total))?$", re.IGNORECASE)


def resets(moved: Mapping[str, int]) -> tuple[str, ...]:
    """Those of a driver's counters that moved which say that the card was reset."""
    return tuple(name for name in moved if _RESETS.search(name))


def difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What was counted in between. A counter that fell began anew, or is a gauge: it is left out."""
    return {name: count - before[name] for name, count in after.items() if count > before.get(name, count)}


def kind_of(name: str) -> str | None:
    """The meaning of a counter; None if it counts no problem or is unknown."""
    if name in _AMBIGUOUS:
        return None
    return next((kind for kind, pattern in KINDS if pattern.search(name)), None)


def by_kind(*counted: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Counters by their meaning. Several may tell of the same frame: a queue's and the port's."""
    found: dict[str, dict[str, int]] = {}
    for counters in counted:
        for name, count in counters.items():
            kind = kind_of(name)
            if kind is not None:
                found.setdefault(kind, {})[name] = count
    return found
