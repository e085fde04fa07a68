"""What was sent over what: protocol, data stream and media, which RFC 2544 asks for with its tables
(sections 26.1 to 26.5)."""

from __future__ import annotations

from collections.abc import Sequence

from netdyno.errors import counted
from netdyno.plan.headers import TITLES
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed
from netdyno.values.reason import PortNote

STANDARD = "RFC 2544"


def sentence(cases: Sequence[CaseView]) -> str:
    """Of cases of RFC 2544's methods, once for those that have the same; empty: there is none."""
    found: dict[str, list[str]] = {}
    for case in cases:
        if case.result is not None and STANDARD in case.result.standard and case.headers:
            found.setdefault(_describe_traffic(case), []).append(case.name)
    if not found:
        return ""
    if len(found) == 1:
        return f"Protocol, data stream and media: {next(iter(found))}."
    each = "; ".join(f"{_who(names)}: {text}" for text, names in found.items())
    return f"Protocol, data stream and media: {each}."


def _who(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {counted(len(names) - 1, 'case')} more"


def _describe_traffic(case: CaseView) -> str:
    protocol = ", ".join(TITLES.get(name, name) for name in case.headers)
    spaced = "evenly spaced frames" if case.burst == 1 else f"frames in bursts of {case.burst:,}"
    if case.arrival:
        spaced = f"frames, arrivals {case.arrival}"
    flows = "" if case.flows is None else f", {counted(case.flows, 'flow')}"
    return f"{protocol}; {spaced}{flows}; {describe_medium(case)}"


def describe_medium(case: CaseView) -> str:
    """What the ports are joined to the device by."""
    # Those of its ports: of lines that differ the slowest is what loads are parts of.
    rates = " and ".join(printed.rate(one, "bit/s") for one in case.lines_bps)
    rate = f" of {rates}" if rates else ""
    if case.clock == "virtual":
        return f"emulated Ethernet lines{rate}"
    media = [note.medium for note in case.notes if isinstance(note, PortNote)]
    if len(case.backends) == 1 and media:
        return media[0]
    if case.line_enforced:
        return f"Ethernet lines{rate}"
    return f"Ethernet ports whose rate{rate} is declared and not enforced"
