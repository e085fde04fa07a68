"""When the device is taken to have the table: who counts what of it, and what is said if it never comes.

Time is an argument here: nothing sleeps. Truth: sets of the prefixes' texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest
from netdyno.devices.peering import Bgp, Speaker
from netdyno.devices.speakers import speaking
from netdyno.devices.speakers.table import Table, make_table
from netdyno.devices.wiring import LabError
from netdyno.values.load import Event, Trial

SILENT, REFUSED = LabError("silent", code="device-silent"), LabError("no", code="login-refused")
SPEAKER = Speaker(Bgp(1, 2), networks=("192.0.2.1/30",))
FULL = {4: 1000, 6: 100}


@dataclass
class Clock:
    """Passes when somebody sleeps."""

    now_s: float = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@dataclass
class Port:
    name: str = "east"
    vlans: tuple[()] = ()


@dataclass
class One:
    """A speaker whose one session is up. unsent_s: until then its kernel has bytes of it."""

    table: Table | None = None
    unsent_s: float = 0.0
    speaker: Speaker = SPEAKER
    number: int = 0
    port: Port = field(default_factory=Port)

    def look(self) -> None: ...

    def adjacencies(self, within_s: float) -> tuple[()]:
        return ()


@dataclass
class Device:
    """Counts its routes. answer: what it says at a time, s."""

    clock: Clock
    answer: Callable[[float], Mapping[int, int] | LabError | None]

    def count_routes(self) -> Mapping[int, int] | None:
        found = self.answer(self.clock.now_s)
        if isinstance(found, LabError):
            raise found
        return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(speaking, "time", made)
    monkeypatch.setattr(speaking, "_has_unsent", lambda one: made.now_s < one.unsent_s)
    return made


def awaited(
    clock: Clock, answer: Callable[[float], Mapping[int, int] | LabError | None], *running: One
) -> Mapping[int, int] | None:
    device = Device(clock, answer)
    return speaking._await_table(device, running, (), lambda _: None)  # type: ignore[arg-type]


def table(seed: int = 1, withdraw: int = 0) -> Table:
    return make_table(1000, 100, seed, withdraw, has_attributes=False)


@pytest.mark.parametrize(
    ("answer", "code", "until_s"),
    [
        (lambda _: SILENT, "device-silent", 60),
        (lambda _: REFUSED, "login-refused", 0),
        (lambda now: {4: 400, 6: 100} if now < 5 else SILENT, "device-silent", 60),
        (lambda _: {4: 999, 6: 100}, "table-incomplete", 60),
        (lambda now: SILENT if now < 30 else FULL, None, 30),
        (lambda now: {4: min(50 * int(now), 1000), 6: 100}, None, 20),
        # Nobody reads IPv6 of it, or no table at all: what the sessions have sent stands for that.
        (lambda _: {4: 1000}, None, 0),
        (lambda _: None, None, 0),
    ],
)
def test_wait_ends_with_the_table_or_with_the_cause(
    clock: Clock, answer: Callable[[float], Mapping[int, int]], code: str | None, until_s: float
) -> None:
    if code is None:
        assert awaited(clock, answer, One(table())) == answer(clock.now_s)
    else:
        with pytest.raises(LabError) as ended:
            awaited(clock, answer, One(table()))
        assert ended.value.code == code
    assert until_s <= clock.now_s < until_s + 3


def test_two_tables_are_waited_for_together_and_one_table_once(clock: Clock) -> None:
    first, same, other = One(table(1)), One(table(1, withdraw=10)), One(table(2))
    both = {*first.table.ipv4.texts(), *other.table.ipv4.texts()}  # type: ignore[union-attr]
    of_ipv6 = {*first.table.ipv6.texts(), *other.table.ipv6.texts()}  # type: ignore[union-attr]
    assert len(both) > 1000
    assert awaited(clock, lambda _: FULL, first, same) == FULL
    whole = {4: len(both), 6: len(of_ipv6)}
    assert awaited(clock, lambda _: whole, first, same, other) == whole
    with pytest.raises(LabError) as ended:
        awaited(clock, lambda _: {**whole, 4: len(both) - 1}, first, other)
    assert ended.value.code == "table-incomplete"


def test_bytes_that_a_device_takes_late_or_never_are_waited_for(clock: Clock) -> None:
    assert awaited(clock, lambda _: None, One(table(), unsent_s=50)) is None
    assert 50 < clock.now_s < 53
    with pytest.raises(LabError) as ended:
        awaited(clock, lambda _: None, One(table(), unsent_s=1e9))
    assert ended.value.code == "table-incomplete"


def test_wait_for_bytes_ends_when_the_run_is_stopped(clock: Clock) -> None:
    def stop(why: str) -> None:
        raise KeyboardInterrupt

    device = Device(clock, lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        speaking._await_table(device, (One(table(), 1e9),), (), stop)  # type: ignore[arg-type]


def test_routes_are_counted_often_in_trials_with_events_alone() -> None:
    instrument = speaking.RoutesInstrument(lambda: None)
    running = speaking.Speaking(None, instruments=(instrument,))  # type: ignore[arg-type]
    found = []
    for events in ((), (Event(0, "withdraw", "east"),), ()):
        running.begin(Trial("one", None, events=events))  # type: ignore[arg-type]
        found.append(instrument.period_s)
    assert found == [1.0, 0.1, 1.0]
