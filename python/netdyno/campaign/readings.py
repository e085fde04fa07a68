"""What instruments read through a trial, until it is series and a transcript."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from netdyno.devices.live import Channel
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Codes, Reason, declared
from netdyno.values.sample import Absent, Printed, Sample
from netdyno.values.series import (
    LIMIT,
    LONGEST_COMMAND,
    MOST_MISSED,
    MOST_SAMPLES,
    MOST_SERIES,
    Missed,
    Series,
)
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


class ReadingFailed(Reason, code="reading-failed"):
    """An instrument had no reading at all. error_code: the code of its error."""

    error_code: str
    says = "The instrument could not be read (`{error_code}`)."


class ValueTooLarge(Reason, code="value-too-large"):
    """A value has more than 63 bits and a sign."""

    says = "The value does not fit into a signed 64-bit number."


class ReadingsLeftOut(Reason, code="readings-left-out"):
    """A trial in virtual time has more readings than are kept: the first ones and the last one are."""

    count: int

    def __str__(self) -> str:
        return f"{self.count:,} readings before the last one were left out: a trial has room for 20,000."


REASONS: Codes = declared(globals())


@dataclass
class Samples:
    """What was read of one quantity, times on the monotonic clock."""

    at_ns: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    took_ns: list[int] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    window_ns: int | None = None
    command: str = ""

    def add(self, sample: Sample) -> None:
        """Adds one, unless it is not later than the one before: an instrument may repeat an answer."""
        at_ns, value = sample.at_ns, sample.value
        if sample.raw is not None:
            self.command = sample.raw.command[:LONGEST_COMMAND]
        if isinstance(value, Absent):
            self.miss(Missed(at_ns, value.reason))
        elif not -LIMIT <= value < LIMIT:
            self.miss(Missed(at_ns, ValueTooLarge()))
        elif (not self.at_ns or at_ns > self.at_ns[-1]) and len(self.at_ns) < MOST_SAMPLES:
            self.at_ns.append(at_ns)
            self.values.append(value)
            self.took_ns.append(sample.answered_ns - sample.asked_ns)
            # A device that changes its window while it is read: the longest one covers all.
            self.window_ns = max(self.window_ns or 0, sample.window_ns or 0) or None

    def miss(self, missed: Missed) -> None:
        """Lists a reading without a value, as far as there is room."""
        if len(self.missed) < MOST_MISSED:
            self.missed.append(missed)

    def copied(self) -> Samples:
        """One of its own, with the same samples."""
        return Samples(
            list(self.at_ns),
            list(self.values),
            list(self.took_ns),
            list(self.missed),
            self.window_ns,
            self.command,
        )

    def to_series(self, source: str, channel: Channel, began_ns: int) -> Series:
        """The series, dated from the begin of traffic."""
        return Series(
            source,
            channel.subject,
            channel.name,
            channel.unit,
            tuple(at_ns - began_ns for at_ns in self.at_ns),
            tuple(self.values),
            channel.scale,
            tuple(self.took_ns),
            self.window_ns,
            channel.is_counter,
            channel.bits,
            tuple(replace(one, at_ns=one.at_ns - began_ns) for one in self.missed),
            self.command,
        )


@dataclass
class Readings:
    """What one instrument read in a trial. source: its name."""

    source: str
    samples: dict[Channel, Samples] = field(default_factory=dict)
    texts: Texts = field(default_factory=Texts)

    def add(self, read: Mapping[Channel, Sample]) -> None:
        """Adds one reading."""
        for channel, sample in read.items():
            self.samples.setdefault(channel, Samples()).add(sample)
        self.texts.add(read.values())

    def miss(self, at_ns: int, why: Reason) -> None:
        """Lists a reading without a value in every series."""
        for one in self.samples.values():
            one.miss(Missed(at_ns, why))

    def copied(self) -> Readings:
        """One of its own, with the same readings."""
        samples = {channel: one.copied() for channel, one in self.samples.items()}
        return Readings(self.source, samples, self.texts.copied())

    def to_series(self, began_ns: int) -> list[Series]:
        """A series for each quantity, from the begin of traffic; of counters those that moved."""
        return [
            samples.to_series(self.source, channel, began_ns)
            for channel, samples in self.samples.items()
            if not channel.is_counter or channel.counts_traffic or len(set(samples.values)) > 1
        ]


def with_readings(outcome: Outcome, readings: Sequence[Readings], began_ns: int) -> Outcome:
    """The outcome with the series and the transcript of all instruments, from the begin of traffic."""
    series = [one for each in readings for one in each.to_series(began_ns)]
    room = MOST_SERIES - len(outcome.series)
    transcript = pack_transcript([one.texts for one in readings], began_ns)
    return replace(outcome, series=(*outcome.series, *series[:room]), transcript=transcript)
