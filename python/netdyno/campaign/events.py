"""What happens to the device while a trial runs: emulated ones are told before, real ones asked in time."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from netdyno.devices.wiring import Wiring
from netdyno.errors import NotMeasuredError
from netdyno.ports.memif import Session
from netdyno.testers.netdyno.spec import event_spec
from netdyno.values.load import Event, Happened, Trial
from netdyno.values.outcome import Outcome

BEFORE_TRAFFIC = ("", "resolve", "settle")
"""Phases of a trial in which its traffic has not begun."""

LOOK_S = 0.001
"""How often it is looked whether traffic has begun; when it did is then known exactly."""


class Course:
    """One trial on a session, and the events in it."""

    def __init__(self, session: Session, wiring: Wiring, trial: Trial) -> None:
        self._session = session
        self._trial = trial
        self._ask = wiring.ask
        self._ports = [port.name for port in wiring.ports]
        self._to_come: list[Event] = []
        self._happened: list[Happened] = []
        self._emulated = wiring.clock == "virtual"
        self._drain_ns = 0
        if trial.events and not self._emulated and self._ask is None:
            kinds = ", ".join(f"`{kind}`" for kind in dict.fromkeys(event.kind for event in trial.events))
            raise NotMeasuredError(
                f"trial `{trial.name}` asks of the device: {kinds}, and nobody can ask this one",
                "take a device that netdyno builds: an emulated one, or a Linux one",
            )

    def start(self, spec: str) -> None:
        """Has the engine begin."""
        events = sorted(self._trial.events, key=lambda event: event.at_ns)
        self._happened, self._to_come = [], []
        if not events:
            self._session.start(spec)
        elif self._emulated:
            self._session.start(spec, json.dumps([event_spec(event, self._ports) for event in events]))
            self._happened = [Happened(event, event.at_ns, event.at_ns) for event in events]
        else:
            self._to_come, self._drain_ns = events, int(json.loads(spec)["drain_ns"])
            self._session.start(spec)

    def wait(self, seconds: float) -> bool:
        """Waits for the end of the trial, or so long; meanwhile has happen what is due. Whether it ended.

        What was due later happens at its end, and is told so: a link that was taken down is up again.
        """
        until = time.monotonic() + seconds
        while self._to_come:
            left = until - time.monotonic()
            if left <= 0:
                return False
            due = self._due_in()
            if due is not None and due <= 0:
                self._happen(self._to_come.pop(0))
            elif self._session.wait(min(left, LOOK_S if due is None else due)):
                while self._to_come and self._elapsed()[1]:
                    self._happen(self._to_come.pop(0))
                return True
        return self._session.wait(max(until - time.monotonic(), 0))

    def told(self, result: Outcome) -> Outcome:
        """The result, with what happened."""
        return replace(result, happened=tuple(self._happened))

    def _elapsed(self) -> tuple[int, bool]:
        """Time since traffic began, and whether it has."""
        snapshot = json.loads(self._session.snapshot())
        if snapshot["phase"] in BEFORE_TRAFFIC:
            return 0, False
        # Once traffic has begun the engine knows how long the trial will take.
        began = snapshot["total_ns"] - self._trial.duration_ns - self._drain_ns
        return snapshot["elapsed_ns"] - began, True

    def _due_in(self) -> float | None:
        """Seconds until the next event; None before traffic."""
        elapsed, began = self._elapsed()
        return (self._to_come[0].at_ns - elapsed) / 1e9 if began else None

    def _happen(self, event: Event) -> None:
        assert self._ask is not None
        before, _ = self._elapsed()
        self._ask(event.kind, None if event.port is None else self._ports.index(event.port))
        after, _ = self._elapsed()
        self._happened.append(Happened(event, before, after))
