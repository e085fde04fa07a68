"""Carries out the events of a trial on a real device when they are due, and shows the progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

from netdyno.campaign.instruments import Recorder
from netdyno.devices.live import Live
from netdyno.devices.speakers.lags import Lags
from netdyno.devices.speakers.speaking import Speaking
from netdyno.devices.wiring import Trait
from netdyno.ports.watch import Watch
from netdyno.testers.tester import Progress
from netdyno.values.load import OF_LACP, OF_SPEAKERS, Event, Happened, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.unmeasured import NotAskable, NotMeasuredError

LOOK_S = 0.001
"""How often it is looked whether traffic has begun; when it did is then known exactly."""

STOP_S = 0.25
"""How soon it is noticed that the trial is to be stopped."""

NO_LAGS = Lags()

SHOWN_S = 1.0
"""How often a running trial is shown: it takes up to a millisecond of a core, which may be the device's."""


class Course:
    """Watches one trial: carries out its events and shows its progress.

    In virtual time the tester tells emulated devices what happens to them. Raises NotMeasuredError if the
    trial asks something of a device that nobody can ask.
    """

    def __init__(
        self,
        live: Live,
        trial: Trial,
        show: Callable[[Progress], None],
        recorder: Recorder | None = None,
        watch: Watch | None = None,
        speakers: Speaking | None = None,
        lags: Lags = NO_LAGS,
    ) -> None:
        self._live = live
        self._speakers = speakers
        self._lags = lags
        self._trial = trial
        self._recorder = recorder or Recorder(())
        self._watch = watch
        self._show = show
        self._next_shown = 0.0
        self._to_come: list[Event] = []
        self._happened: list[Happened] = []
        self._emulated = live.wiring.clock == "virtual"
        # Who asks for intervals wants to see each soon.
        self._shown_s = STOP_S if self._emulated or trial.observe.interval_ns else SHOWN_S
        speak = OF_SPEAKERS if speakers is not None and speakers.running else frozenset()
        asked = [event.kind for event in trial.events if event.kind not in speak and not lags.does(event)]
        if asked and (Trait.CAN_BE_ASKED not in live.wiring.traits or (OF_SPEAKERS | OF_LACP) & {*asked}):
            raise NotMeasuredError(
                NotAskable(tuple(dict.fromkeys(asked))),
                "use a device that netdyno builds: `emulated/...` or `linux/...`",
            )

    def begin(self) -> None:
        """Starts a trial with all its events still to come."""
        events = sorted(self._trial.events, key=lambda event: event.at_ns)
        self._happened, self._to_come = [], [] if self._emulated else events
        # In real time at once: nobody is to think that there is none. A virtual one may be over in a moment.
        self._next_shown = time.monotonic() + STOP_S if self._emulated else 0.0
        self._lags.prepare(self._to_come)
        if self._watch is not None:
            self._watch.started()

    def look(self, now: Callable[[], Progress]) -> float:
        """Carries out the events that are due; returns the seconds until the next look."""
        is_due = time.monotonic() >= self._next_shown
        if is_due or self._recorder.began_ns is None:
            self._recorder.look(now)
        pause = self._have_happen(now)
        if is_due:
            self._show(now())
            self._next_shown = time.monotonic() + self._shown_s
        return min(pause, STOP_S)

    def end(self, now: Callable[[], Progress]) -> None:
        """Carry out the events that are still due, so that a link that was taken down is up again."""
        if self._watch is not None:
            self._watch.stopped()
        self._recorder.look(now)
        while self._to_come and now().traffic_ns is not None:
            self._happen(self._to_come.pop(0), now)

    def with_events(self, result: Outcome) -> Outcome:
        """The outcome, with the events that were carried out on a real device."""
        return result if self._emulated else replace(result, happened=tuple(self._happened))

    def _have_happen(self, now: Callable[[], Progress]) -> float:
        """Carries out the events that are due; returns the seconds until the next one, infinite if none."""
        while self._to_come:
            passed = now().traffic_ns
            if passed is None:
                return LOOK_S
            due = (self._to_come[0].at_ns - passed) / 1e9
            if due > 0:
                return due
            self._happen(self._to_come.pop(0), now)
        return math.inf

    def _happen(self, event: Event, now: Callable[[], Progress]) -> None:
        before = now().traffic_ns or 0
        if event.kind in OF_SPEAKERS and self._speakers is not None:
            self._speakers.ask(event)
        elif self._lags.does(event):
            self._lags.ask(event)
        else:
            self._live.ask(event)
        self._happened.append(Happened(event, before, now().traffic_ns or 0))
