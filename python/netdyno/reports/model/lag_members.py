"""How evenly the members of LAGs were loaded: of emulated devices, of those a driver reads, of the tester."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from netdyno.reports.model.table import Table, table_of_cases
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Cell, columns
from netdyno.verdict.device_trial import count_members

TITLE = "LAG members"
CAPTION = (
    "Frames that each member of a LAG carried, in order of the members, into the device and out of it, over"
    " the trials that the result rests on. Frames that a far-end switch dropped are not among them."
)
EVEN, LEAST, MOST, SHARES = "even share", "least", "most", "share of each"
SHARE_COLUMNS = f"{EVEN}: share | {LEAST}: share | {MOST}: share | {SHARES}"
COLUMNS = columns(f"port | way | carried: frames | {SHARE_COLUMNS}")
WAYS: Mapping[str, str] = {"member_rx": "in", "member_tx": "out"}
"""Counters of a port (DevicePortCounters of crates/dut/src/spec.rs)."""
LITTLE = Fraction(1, 1000)
"""Of what the busiest LAG carried: a way with no more carried answers and no traffic."""


def tables(run: RunView) -> tuple[Table, ...]:
    """A row for each case, LAG and way; none where no device has LAGs."""
    rows = [(case, row) for case in run.cases for row in _rows(case)]
    return (table_of_cases(run, TITLE, CAPTION, COLUMNS, rows),) if rows else ()


def _rows(case: CaseView) -> Iterator[tuple[Cell, ...]]:
    found = {**_count_frames(case), **_read_frames(case), **count_own(case)}
    busiest = max(map(sum, found.values()), default=0)
    for (port, way), frames in found.items():
        total = sum(frames)
        if total <= busiest * LITTLE:
            continue
        yield port, way, Fraction(total), *list_shares(frames)


def list_shares(frames: Sequence[int]) -> tuple[Cell, ...]:
    """The cells of `SHARE_COLUMNS`, of frames of which there are some."""
    shares = [Fraction(one, sum(frames)) for one in frames]
    printed_shares = ", ".join(map(printed.percent, shares))
    return Fraction(1, len(frames)), min(shares), max(shares), printed_shares


def _read_frames(case: CaseView) -> Mapping[tuple[str, str], Sequence[int]]:
    """The same of the LAGs of an external device whose driver reads their members."""
    made = [(trial.duration_ns, trial.result) for trial in case.resting_trials]
    return count_members(made, dict(zip(case.streams, case.places, strict=False)), case.device_ports)


def _count_frames(case: CaseView) -> Mapping[tuple[str, str], Sequence[int]]:
    """Frames of each member over the trials that the result rests on, by port and way.

    A record may come from a stranger: what is no list of counts is left out.
    """
    found: dict[tuple[str, str], list[int]] = {}
    for trial in case.resting_trials:
        for device in trial.result.devices:
            for port in device.get("ports", ()):
                for counter, way in WAYS.items():
                    frames, place = port.get(counter, ()), (str(port.get("name", "")), way)
                    before = found.get(place, [0] * len(frames))
                    if len(before) == len(frames) > 1 and all(isinstance(one, int) for one in frames):
                        found[place] = [sum(pair) for pair in zip(before, frames, strict=True)]
    return found


def count_own(case: CaseView) -> dict[tuple[str, str], list[int]]:
    """Test frames of each member over the same trials, by LAG of the tester and way of the device."""
    found: dict[tuple[str, str], list[int]] = {}
    for lag in case.lags:
        for trial in case.resting_trials:
            members = [trial.result.ports[number] for number in lag if number < len(trial.result.ports)]
            ways = {
                "in": [one.tx_frames - one.own_frames for one in members],
                "out": [one.rx_frames - one.foreign - one.stale for one in members],
            }
            for way, frames in ways.items() if members else ():
                place = (members[0].name.rpartition(".")[0], way)
                before = found.get(place, [0] * len(frames))
                found[place] = [sum(pair) for pair in zip(before, frames, strict=True)]
    return found
