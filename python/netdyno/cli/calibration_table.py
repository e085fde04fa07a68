"""A calibration in words, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from netdyno.calibration import inventory, shelf
from netdyno.calibration.document import MARKS, Calibration
from netdyno.errors import counted
from netdyno.ports.backends import RING
from netdyno.values.number import rate
from netdyno.values.printable import printable, wrap


def lines(calibration: Calibration, width: int) -> Iterator[str]:
    """A table of what is proven, then every check with what it found; at last what proves nothing."""
    ended = "" if calibration.complete else ", interrupted"
    host = f" of host `{calibration.host}`" if calibration.host else ""
    yield f"calibration {calibration.id}{host} ({calibration.effort}{ended})"
    yield f"between the ports: {printable(calibration.how)}"
    yield ""
    rows = [("traffic", "most without loss", "latency p50", "noise p99.9 - p50", "rate error")]
    for one in calibration.traffic:
        rows.append(
            (
                printable(one.name),
                "not found" if one.max_fps is None else rate(one.max_fps, "pps", "at least"),
                _us(one.latency_floor_ns),
                _us(one.latency_noise_ns),
                "" if one.rate_error_ppm is None else f"{float(one.rate_error_ppm):.1f} ppm",
            )
        )
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
    yield ""
    several = any((check.workers or 1) > 1 for check in calibration.checks)
    for check in calibration.checks:
        workers = f", {counted(check.workers, 'worker')}" if several and check.workers is not None else ""
        title = printable(f"{check.label}{workers}")
        text = f"{title}: {printable(check.value)}" if check.value else title
        if check.reason:
            text += f" -- {printable(check.reason)}"
        yield from wrap(text, max(width, 40), f"{MARKS[check.mark]}  ", " " * 6)
    for sentence in _list_unproven(calibration):
        yield ""
        yield from wrap(printable(sentence), max(width, 40))


def _list_unproven(calibration: Calibration) -> Iterator[str]:
    """What no run will rest on, and why: a sentence each."""
    for one in calibration.traffic:
        why = shelf.find_failed_check(calibration, one)
        if why is None and one.max_fps is None:
            why = "no load passed without loss"
        if why is not None:
            yield (
                f"Nothing is proven for {one.name}: {why}. Its figures are kept to be read; a run is judged"
                " as if it had not been calibrated."
            )
        elif one.latency_floor_ns is None:
            yield (
                f"No latency floor is known for {one.name}: the tester was preempted in every trial with"
                " enough frames."
            )
    if any(inventory.backend_of(port) == RING for port in calibration.ports):
        yield "No plan's ports are rings: these are the machine's own figures, and no run rests on them."


def _us(ns: int | None) -> str:
    return "" if ns is None else f"{ns / 1000:.3g} us" if ns < 1e6 else f"{ns / 1e6:.3g} ms"
