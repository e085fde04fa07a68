"""What is asked of a real device while a trial runs, against a session and a device of a few lines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from emulated import plan, wire_case
from netdyno.campaign.happening import Course
from netdyno.testers.tester import Progress
from netdyno.values.health import Health
from netdyno.values.load import Event, Frames, Trial
from netdyno.values.outcome import FrameCounts, Outcome
from netdyno.values.units import FrameRate

MS = 10**6


@dataclass
class Clockwork:
    """A session whose clock is moved by who waits: traffic from 10 ms on, for 100 ms, and 20 ms of drain."""

    now_ns: int = 0
    began: bool = True
    asked: list[tuple[int, str]] = field(default_factory=list)

    def now(self) -> Progress:
        sending = self.began and self.now_ns >= 10 * MS
        since = self.now_ns - 10 * MS if sending else None
        return Progress("traffic" if sending else "settle", self.now_ns, 130 * MS, traffic_ns=since)

    def run(self, course: Course) -> None:
        course.begin()
        while self.now_ns < 130 * MS:
            self.now_ns = min(self.now_ns + max(int(course.look(self.now) * 1e9), 1), 130 * MS)
        course.end(self.now)


def course(session: Clockwork, *events: Event) -> tuple[Course, Trial]:
    _, wiring = wire_case(plan("emulated/cross-connect", "size: 64B"))
    real: Any = SimpleNamespace(
        wiring=replace(wiring, clock="real"),
        ask=lambda event: session.asked.append((session.now_ns, event.kind)),
    )
    load = Fraction(1)
    trial = Trial("trial", Frames.steady(FrameRate(load), 100 * MS), events=events)
    made = Course(real, trial, lambda progress: None)
    session.run(made)
    return made, trial


def test_trial_is_watched_from_start_to_end_and_shown_once_a_second() -> None:
    _, wiring = wire_case(plan("emulated/cross-connect", "size: 64B"))
    real: Any = SimpleNamespace(wiring=replace(wiring, clock="real"))
    said: list[str] = []
    watch: Any = SimpleNamespace(
        started=lambda: said.append("started"), stopped=lambda: said.append("stopped")
    )
    trial = Trial("trial", Frames.steady(FrameRate(1), 100 * MS))
    made = Course(real, trial, lambda progress: said.append(progress.phase), watch=watch)
    Clockwork().run(made)
    # Its clock runs faster than that of the wall: no second passes.
    assert said == ["started", "settle", "stopped"]


def happened(made: Course) -> list[tuple[Event, int]]:
    health = Health(0, 0, 0, 0, 0, None)
    result = made.with_events(Outcome(FrameCounts((), (), 1), health, ()))
    return [(one.event, one.from_ns) for one in result.happened]


def test_an_event_happens_when_it_is_due() -> None:
    session = Clockwork()
    course(session, Event(30 * MS, "reset"))
    ((at_ns, kind),) = session.asked
    assert kind == "reset"
    assert at_ns - 10 * MS - 30 * MS in range(MS)


def test_event_due_after_the_end_happens_at_the_end_with_a_note() -> None:
    """A stored trial is taken up again only if all that its plan asks for happened in it; and no link stays
    down for the next trial."""
    session = Clockwork()
    made, trial = course(session, Event(30 * MS, "link-down"), Event(500 * MS, "link-up"))
    assert [kind for _, kind in session.asked] == ["link-down", "link-up"]
    found = happened(made)
    assert tuple(event for event, _ in found) == trial.events
    assert found[1][1] == 120 * MS, "the end of the drain, from the begin of traffic"


def test_nothing_happens_in_a_trial_that_never_sent() -> None:
    session = Clockwork(began=False)
    made, _ = course(session, Event(30 * MS, "link-down"))
    assert (session.asked, happened(made)) == ([], [])
