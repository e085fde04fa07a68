"""Instruments of a device, read before, during and after each trial; their readings as series."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Thread

from netdyno.devices.live import Channel, Instrument
from netdyno.errors import NetdynoError
from netdyno.testers.tester import Progress
from netdyno.values.outcome import Outcome
from netdyno.values.series import MOST_SAMPLES, MOST_SERIES, Series

END_S = 2.0
"""A reading that is under way when a trial ends is waited for this long, and then left out."""


class _Reader:
    """One instrument through one trial."""

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self.readings: list[tuple[int, Mapping[Channel, int]]] = []
        self.over = Event()
        self._thread = Thread(target=self._read_on, name=f"instrument {instrument.name}", daemon=True)

    def begin(self) -> None:
        """Reads once, then again and again. Raises LabError if not even the first reading comes."""
        self.readings.append((time.monotonic_ns(), self.instrument.read()))
        self._thread.start()

    def end(self) -> None:
        """Reads for the last time. Raises LabError if there is no reading."""
        self.over.set()
        self._thread.join(END_S)
        # A reading that hangs may still come: nobody is to see it.
        self.readings = list(self.readings)
        self.readings.append((time.monotonic_ns(), self.instrument.read()))

    def _read_on(self) -> None:
        readings = self.readings
        while not self.over.wait(self.instrument.period_s) and len(readings) < MOST_SAMPLES - 1:
            try:
                found = self.instrument.read()
            except NetdynoError:
                # A missed reading has no sample.
                continue
            readings.append((time.monotonic_ns(), found))


class Recorder:
    """All instruments of a device through one trial. In virtual time there is nothing to read."""

    def __init__(self, instruments: Sequence[Instrument], begun: Callable[[], None] = lambda: None) -> None:
        """begun: called once traffic has begun."""
        self._begun = begun
        self._readers = [_Reader(one) for one in instruments]
        self._began_ns: int | None = None

    def __enter__(self) -> Recorder:
        """Reads each for the first time. Raises LabError."""
        for reader in self._readers:
            reader.begin()
        return self

    def __exit__(self, *_: object) -> None:
        for reader in self._readers:
            reader.over.set()

    def look(self, now: Callable[[], Progress]) -> None:
        """Notes when traffic began, as soon as it has; each look may know better."""
        passed_ns = now().traffic_ns
        if passed_ns is not None:
            # The tester may have been elsewhere since it said how far it is: never the other way round.
            began_ns = time.monotonic_ns() - passed_ns
            if self._began_ns is None:
                self._begun()
            self._began_ns = min(self._began_ns or began_ns, began_ns)

    @property
    def began_ns(self) -> int | None:
        """When traffic began, monotonic clock; None if it has not."""
        return self._began_ns

    def with_readings(self, outcome: Outcome) -> Outcome:
        """The outcome with the readings as series and the device's counters that moved. Raises LabError."""
        if not self._readers:
            return outcome
        for reader in self._readers:
            reader.end()
        summaries = [
            reader.instrument.summary(reader.readings[0][1], reader.readings[-1][1])
            for reader in self._readers
        ]
        devices = (*outcome.devices, *(one for one in summaries if one is not None))
        series = [one for reader in self._readers for one in self._series(reader)]
        room = MOST_SERIES - len(outcome.series)
        return replace(outcome, devices=devices, series=(*outcome.series, *series[:room]))

    def _series(self, reader: _Reader) -> list[Series]:
        """A series for each quantity, from the begin of traffic; none if that time is unknown."""
        if self._began_ns is None:
            return []
        found: dict[Channel, tuple[list[int], list[int]]] = {}
        for at_ns, values in reader.readings:
            for channel, value in values.items():
                times, numbers = found.setdefault(channel, ([], []))
                times.append(at_ns - self._began_ns)
                numbers.append(value)
        return [
            Series(
                reader.instrument.name,
                channel.subject,
                channel.name,
                channel.unit,
                tuple(times),
                tuple(numbers),
                channel.scale,
            )
            for channel, (times, numbers) in found.items()
            if not channel.is_counter or numbers[-1] != numbers[0]
        ]
