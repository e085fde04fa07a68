"""What a balance of frames and bytes says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from netdyno.errors import counted
from netdyno.values import number as printed
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.balance import Path
from netdyno.verdict.conventions import Bytes

MOST_NAMED = 3
"""Drop counters, ports or conventions that a sentence names."""


class EveryFrameAccounted(Reason, code="every-frame-accounted"):
    """The four counts and the device's counters of drops add up.

    dropped: by the device, by its own counters. drops: names of those that moved. kept: frames for the device
    itself (ARP, ND) less those that it made, copies among them; negative: it made more.
    """

    sent: int
    taken: int
    dropped: int
    given: int
    received: int
    drops: tuple[str, ...]
    kept: int

    def __str__(self) -> str:
        names = f" ({_listed(self.drops)})" if self.dropped and self.drops else ""
        if self.kept:
            what = "kept {} for itself" if self.kept > 0 else "added {} (copies or its own)"
            names += f", {what.format(printed.count(abs(self.kept)))}"
        return (
            f"Every frame accounted for: tester sent {printed.count(self.sent)}, device took"
            f" {printed.count(self.taken)}, dropped {printed.count(self.dropped)}{names} and gave"
            f" {printed.count(self.given)}, tester received {printed.count(self.received)}."
        )


class FramesUnaccounted(Reason, code="frames-unaccounted"):
    """Counts differ by more than the device's counters of drops explain.

    missing_in, missing_device, missing_out: frames that went missing on the links to the device, in it, and
    on the links from it. more_in, more_device, more_out: frames that came in addition there.
    """

    missing_in: int
    missing_device: int
    missing_out: int
    more_in: int
    more_device: int
    more_out: int

    def __str__(self) -> str:
        return f"{'; '.join(self._parts())}."

    def _parts(self) -> Iterator[str]:
        missing = (
            (self.missing_in, "between tester and device"),
            (self.missing_device, "in the device"),
            (self.missing_out, "between device and tester"),
        )
        for frames, place in missing:
            if frames:
                yield f"{counted(frames, 'frame')} unaccounted for {place}"
        more = (
            (self.more_in, "The device took in {} that the tester did not send"),
            (self.more_device, "The device dropped or gave out {} more than it took in"),
            (self.more_out, "The tester received {} that the device did not count"),
        )
        for frames, text in more:
            if frames:
                yield text.format(counted(frames, "frame"))


class BalanceUnknown(Reason, code="balance-unknown"):
    """Counters of the device are missing. reason: the first that is, and why."""

    reason: Reason
    says = "Balance unknown: {reason}"


class BytesExplained(Reason, code="bytes-explained"):
    """The device's byte counters follow one convention to the byte. ways: `Te0/1/0/0 in`.

    conventions: those that do; of frames with tags there may be several.
    """

    conventions: tuple[str, ...]
    ways: tuple[str, ...]

    def __str__(self) -> str:
        return f"The device counts bytes {' or '.join(self.conventions)}: exact for {_listed(self.ways)}."


class BytesOff(Reason, code="bytes-off"):
    """The device's byte counter follows no known convention. off: bytes beyond the nearest one, signed."""

    way: str
    nearest: str
    off: int
    off_share: Fraction

    def __str__(self) -> str:
        more = "more" if self.off > 0 else "less"
        share = printed.share(abs(self.off_share))
        return (
            f"The byte counter of {self.way} follows no known convention: {counted(abs(self.off), 'byte')}"
            f" ({share}) {more} than bytes {self.nearest}."
        )


REASONS: Codes = declared(globals())


def explain_frames(paths: Sequence[Path]) -> Reason | None:
    """What the paths of a case say together; None: there are none."""
    if not paths:
        return None
    unknown = next((path.unknown for path in paths if path.unknown is not None), None)
    if unknown is not None:
        return BalanceUnknown(unknown)
    if all(path.is_whole for path in paths):
        names = (drop.name for path in paths for drop in path.drops if drop.frames)
        return EveryFrameAccounted(
            sent=sum(path.sent for path in paths),
            taken=sum(path.taken for path in paths if isinstance(path.taken, int)),
            dropped=sum(path.dropped or 0 for path in paths),
            given=sum(path.given for path in paths if isinstance(path.given, int)),
            received=sum(path.received for path in paths),
            drops=tuple(dict.fromkeys(names)),
            kept=sum(path.own - path.foreign - path.copies for path in paths),
        )
    # What one path lacks is not made up for by what another has too much.
    steps = [(path.link_in or 0, path.rest or 0, path.link_out or 0) for path in paths]
    missing = [sum(max(step[place], 0) for step in steps) for place in range(3)]
    more = [sum(max(-step[place], 0) for step in steps) for place in range(3)]
    return FramesUnaccounted(*missing, *more)


def explain_bytes(found: Sequence[Bytes]) -> tuple[Reason, ...]:
    """Which convention explains the byte counters, those alike in one sentence."""
    alike: dict[tuple[str, ...], list[str]] = {}
    off: list[Reason] = []
    for one in found:
        way = f"{one.port} {one.way}"
        if one.conventions:
            alike.setdefault(tuple(each.name for each in one.conventions), []).append(way)
        else:
            off.append(BytesOff(way, one.nearest.name, one.off, one.off_share))
    explained = (BytesExplained(names, tuple(dict.fromkeys(ways))) for names, ways in alike.items())
    return (*explained, *dict.fromkeys(off))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMED])
    further = len(names) - MOST_NAMED
    return f"{shown} and {further} more" if further > 0 else shown
