"""Broadcast frames among the test frames, RFC 2544 section 11.1: every hundredth frame goes to all.

They take the place of test frames and are counted by themselves: rates and losses are of the other 99 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netdyno.errors import Problem
from netdyno.modifiers.modifier import Asked, Modifier, Profile
from netdyno.values.finding import Result, Table, columns
from netdyno.values.outcome import Outcome

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring

SHARE = Fraction(1, 100)
"""RFC 2544 section 11.1."""

EVERYBODY = "ff:ff:ff:ff:ff:ff"

COLUMNS = columns(
    "stream | test frames sent: frames | broadcasts sent: frames | share: share | broadcasts received: frames"
)


def headers(profile: Profile, mac: str) -> list[dict[str, Any]]:
    """Ethernet and the profile's tags with nothing behind them.

    The type is then 0x88B5, IEEE Std 802's for local experiments, which no router processes, as section 11.1
    wants it.
    """
    tags = [
        header.model_dump(mode="json", exclude_none=True) for header in profile.stack if header.type == "vlan"
    ]
    return [{"type": "ethernet", "src": mac, "dst": EVERYBODY}, *tags]


def problem(asked: Asked) -> Problem | None:
    """Streams by class, and patterns of MAC addresses, have no place for them."""
    if asked.profile.classes:
        return Problem(
            "`broadcast` replaces one frame in a hundred, which a profile with classes does not allow",
            "a profile without `classes`",
            code="unsupported",
        )
    if any(way.to for way in asked.ways):
        return Problem(
            "`broadcast` does not go with a pattern of MAC addresses",
            "a pattern of ports, such as `pairs`",
            code="unsupported",
        )
    return None


def with_table(result: Result, _wiring: Wiring, trials: Sequence[Outcome]) -> Result:
    """What was sent beside each stream, over all trials that the result rests on."""
    names = dict.fromkeys(stream.name for trial in trials for stream in trial.streams)
    rows = []
    for name in names:
        judged = [one for trial in trials for one in trial.streams if one.name == name]
        beside = [one for trial in trials for one in trial.beside if one.name == f"{name}/{MODIFIER.name}"]
        frames, others = sum(one.offered for one in judged), sum(one.offered for one in beside)
        share = Fraction(others, frames + others) if frames + others else None
        received = Fraction(sum(one.received + one.elsewhere for one in beside))
        rows.append((name, Fraction(frames), Fraction(others), share, received))
    caption = (
        "RFC 2544 section 11.1, in the trials that count: broadcasts took the place of one frame in 100."
        " Loads and bursts are of both, rates and losses of the test frames alone, and so is the rate that"
        " the line carries of them: 99 % of its own. A test frame behind a broadcast leaves up to a frame"
        " later; its latency counts from then. A router passes no broadcast, a bridge each one."
    )
    return replace(result, tables=(*result.tables, Table("Broadcast frames", COLUMNS, tuple(rows), caption)))


MODIFIER = Modifier(
    name="broadcast",
    doc="one frame in a hundred is a broadcast, in place of a test frame",
    section="11.1",
    share=SHARE,
    headers=headers,
    problem=problem,
    conclude=with_table,
)
