"""The texts that devices print while a trial runs, each once, until they are a transcript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from netdyno.values.sample import Printed, Sample
from netdyno.values.transcript import Said, Transcript, size

MOST_BYTES = 4 * 2**20
"""UTF-8, of all texts of one instrument in a trial: at 1 Hz those of four ports last for some ten minutes."""
MOST_TIMES = 200_000
"""Texts of one instrument in a trial, repeated ones too."""


@dataclass
class Texts:
    """What one instrument was answered. Times are on the clock of its samples."""

    found: dict[Printed, list[int]] = field(default_factory=dict)
    left_out: int = 0
    _bytes: int = 0
    _times: int = 0

    def add(self, samples: Iterable[Sample]) -> None:
        """Adds the texts of one reading: samples of one answer share theirs."""
        answers = {id(one.raw): (one.raw, one.answered_ns) for one in samples if one.raw is not None}
        for printed, at_ns in answers.values():
            times = self.found.get(printed)
            more = size(printed.text) if times is None else 0
            if self._bytes + more > MOST_BYTES or self._times >= MOST_TIMES:
                self.left_out += 1
                continue
            self._bytes += more
            self._times += 1
            if times is None:
                times = self.found[printed] = []
            times.append(at_ns)

    def copied(self) -> Texts:
        """One of its own, with the same texts."""
        return replace(self, found={one: list(times) for one, times in self.found.items()})


def pack_transcript(instruments: Iterable[Texts], began_ns: int) -> bytes:
    """The transcript of all instruments, dated from the begin of traffic, packed; empty: there is no text."""
    every = tuple(instruments)
    said = [
        Said(printed.command, printed.text, tuple(at_ns - began_ns for at_ns in times))
        for one in every
        for printed, times in one.found.items()
    ]
    left_out = sum(one.left_out for one in every)
    if not said and not left_out:
        return b""
    # Texts that are alike stand beside each other: they are packed well.
    return Transcript(tuple(sorted(said, key=lambda one: (one.command, one.at_ns))), left_out).pack()
