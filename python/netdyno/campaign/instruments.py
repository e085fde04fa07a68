"""Instruments of a device, read before, during and after each trial; their readings as series."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Lock, Thread

from netdyno.campaign.readings import ReadingFailed, Readings, with_readings
from netdyno.devices.live import Channel, Instrument
from netdyno.errors import NetdynoError
from netdyno.testers.tester import Progress
from netdyno.values.outcome import Outcome
from netdyno.values.sample import Absent
from netdyno.values.series import MOST_SAMPLES

END_S = 2.0
"""A reading that is under way when a trial ends is waited for this long, and then left out."""


_LATE = ("device-silent", "session-lost")
"""Codes of a reading that may come if it is asked for again."""


class _Reader:
    """One instrument through one trial."""

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self.found = Readings(instrument.name)
        self.first: Mapping[Channel, int] = {}
        self.last: Mapping[Channel, int] = {}
        self.over = Event()
        self._readings = 0
        self._lock = Lock()
        self._thread = Thread(target=self._read_on, name=f"instrument {instrument.name}", daemon=True)

    def begin(self, *, is_strict: bool) -> None:
        """Reads once, then again and again.

        Raises LabError if it is strict and no reading comes: of one that is late the next one is waited for.
        """
        try:
            self.first = self._read(self.found)
        except NetdynoError as error:
            if is_strict and error.code not in _LATE:
                raise
            if is_strict:
                self.first = self._read(self.found)
        self._thread.start()

    def end(self) -> None:
        """Reads for the last time."""
        self.over.set()
        self._thread.join(END_S)
        # A reading that hangs may still come: nobody is to see it.
        with self._lock:
            self.found = self.found.copied()
        try:
            self.last = self._read(self.found)
        except NetdynoError as error:
            # The traffic side is whole. That a built device has ended is found by who looks at its programs.
            self._miss(error)

    def _read(self, found: Readings) -> Mapping[Channel, int]:
        """Reads once. The values that came."""
        samples = self.instrument.read(time.monotonic_ns)
        with self._lock:
            found.add(samples)
        self._readings += 1
        return {channel: one.value for channel, one in samples.items() if not isinstance(one.value, Absent)}

    def _read_on(self) -> None:
        found = self.found
        while not self.over.wait(self.instrument.period_s) and self._readings < MOST_SAMPLES - 1:
            try:
                self._read(found)
            except NetdynoError as error:
                self._miss(error)

    def _miss(self, error: NetdynoError) -> None:
        """Lists a reading without a value in every series."""
        with self._lock:
            self.found.miss(time.monotonic_ns(), ReadingFailed(error.code))


class Recorder:
    """All instruments of a device through one trial. In virtual time there is nothing to read."""

    def __init__(
        self,
        instruments: Sequence[Instrument],
        begun: Callable[[], None] = lambda: None,
        *,
        is_strict: bool = True,
    ) -> None:
        """begun: called once traffic has begun. is_strict: an instrument that does not answer is an error."""
        self._begun = begun
        self._is_strict = is_strict
        self._readers = [_Reader(one) for one in instruments]
        self._began_ns: int | None = None

    def __enter__(self) -> Recorder:
        """Reads each for the first time. Raises LabError."""
        try:
            for reader in self._readers:
                reader.begin(is_strict=self._is_strict)
        except BaseException:
            self.__exit__()
            raise
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
        """The outcome with the readings as series and the device's counters that moved."""
        if not self._readers:
            return outcome
        for reader in self._readers:
            reader.end()
        summaries = [reader.instrument.summary(reader.first, reader.last) for reader in self._readers]
        devices = (*outcome.devices, *(one for one in summaries if one is not None))
        found = replace(outcome, devices=devices)
        if self._began_ns is None:
            return found
        return with_readings(found, [reader.found for reader in self._readers], self._began_ns)
