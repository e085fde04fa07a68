"""Devices while a case runs: drivers, instruments, and their readings as series."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from netdyno.campaign.instruments import Recorder
from netdyno.campaign.readings import ReadingFailed, ValueTooLarge
from netdyno.devices import KINDS, LabError, LabLink, Trait
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.live import Channel, Live
from netdyno.devices.wiring import Wiring
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.testers.tester import Progress
from netdyno.values.health import Health
from netdyno.values.load import Event
from netdyno.values.outcome import FrameCounts, Outcome
from netdyno.values.sample import Absent, Sample
from netdyno.values.unmeasured import NotMeasuredError
from words import has_code, said

NOTHING = Outcome(FrameCounts((), (), 1), Health(0, 0, 0, 0, 0, None), ())
LINKS = (LabLink("west", "d0", 10**9, interface="eth77"), LabLink("east", "d1", 10**9, interface="eth78"))
HEAT, FRAMES = Channel("chassis", "temperature", "C", 1), Channel("d0", "rx", "packets", is_counter=True)
TOOK_NS, WINDOW_NS = 1_000, 30 * 10**9
EXTERNAL = """\
title: An own device
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external, driver: DRIVER}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], interface: eth77, rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], interface: eth78, rate: 1Gbps}
traffic: {small: {size: 64B}}
method: {throughput: {duration: 10ms}}
"""


@dataclass
class Thermometer:
    """Reads what a test says; a reading that is None fails, a value that is None is absent."""

    says: Callable[[int], Mapping[Channel, int | None] | None]
    name: str = "thermometer"
    period_s: float = 0.01
    reads: int = 0
    read_from: set[str] = field(default_factory=set)

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        asked_ns = now()
        found = self.says(self.reads)
        self.reads += 1
        if found is None:
            raise LabError("no answer", code="cannot-read")
        absent = Absent(said("no such sensor"))
        return {
            channel: Sample(asked_ns, asked_ns + TOOK_NS, absent if value is None else value, WINDOW_NS)
            for channel, value in found.items()
        }

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> Mapping[str, Any] | None:
        return None


def recorded(instrument: Thermometer, seconds: float = 0.1) -> Outcome:
    with Recorder((instrument,)) as recorder:
        recorder.look(lambda: Progress("traffic", 5_000_000, 10**9, traffic_ns=2_000_000))
        time.sleep(seconds)
        return recorder.with_readings(NOTHING)


def test_readings_are_a_series_dated_from_the_begin_of_traffic() -> None:
    (series,) = recorded(Thermometer(lambda number: {HEAT: 234})).series
    assert (series.source, series.subject, series.name, series.unit) == (
        "thermometer",
        "chassis",
        "temperature",
        "C",
    )
    assert set(series.numbers) == {series.numbers[0]}
    assert float(series.numbers[0]) == 23.4
    assert len(series.values) > 3
    assert series.times_ns[0] < 2_000_000 < series.times_ns[-1]


def test_a_missed_reading_has_no_sample() -> None:
    instrument = Thermometer(lambda number: {HEAT: number} if number != 1 else None)
    (series,) = recorded(instrument).series
    assert 1 not in series.values
    assert {0, 2} <= set(series.values)
    assert [one.reason for one in series.missed] == [ReadingFailed("cannot-read")]


@pytest.mark.parametrize(
    ("late", "code", "is_read"),
    [
        ({0}, "device-silent", True),
        ({0}, "session-lost", True),
        ({0, 1}, "device-silent", False),
        ({0}, "login-refused", False),
    ],
)
def test_first_reading_that_is_late_is_no_failed_case(late: set[int], code: str, *, is_read: bool) -> None:
    class Late(Thermometer):
        def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
            if self.reads in late:
                self.reads += 1
                raise LabError("no answer in time", code=code)
            return super().read(now)

    instrument = Late(lambda number: {HEAT: 234})
    if is_read:
        (series,) = recorded(instrument).series
        assert set(series.values) == {234}
        return
    with pytest.raises(LabError, check=has_code(code)):
        recorded(instrument)


def test_absent_value_is_missed_and_says_why() -> None:
    (series,) = recorded(Thermometer(lambda number: {HEAT: number if number % 2 else None})).series
    assert all(value % 2 for value in series.values)
    assert series.missed[0].at_ns < series.times_ns[0]
    assert {one.reason for one in series.missed} == {said("no such sensor")}


def test_value_that_no_store_takes_is_missed() -> None:
    (series,) = recorded(Thermometer(lambda number: {HEAT: 2**63})).series
    assert (series.values, {one.reason for one in series.missed}) == ((), {ValueTooLarge()})


def test_series_says_how_long_readings_took_and_what_they_average() -> None:
    (series,) = recorded(Thermometer(lambda number: {HEAT: 1})).series
    assert set(series.took_ns) == {TOOK_NS}
    assert len(series.took_ns) == len(series.values)
    assert (series.window_ns, series.is_counter, series.bits) == (WINDOW_NS, False, None)


def test_traffic_counter_that_stood_still_has_a_series() -> None:
    channel = replace(FRAMES, counts_traffic=True, bits=64)
    (series,) = recorded(Thermometer(lambda number: {channel: 7})).series
    assert (set(series.values), series.is_counter, series.bits) == ({7}, True, 64)


def test_a_counter_that_did_not_move_has_no_series() -> None:
    assert recorded(Thermometer(lambda number: {FRAMES: 7})).series == ()
    assert recorded(Thermometer(lambda number: {FRAMES: number})).series != ()


def test_a_first_reading_that_fails_is_an_error_and_no_thread_is_left() -> None:
    with pytest.raises(LabError):
        recorded(Thermometer(lambda number: None))
    assert not any(one.name.startswith("instrument") for one in threading.enumerate())


def test_no_thread_is_left_after_a_trial() -> None:
    recorded(Thermometer(lambda number: {HEAT: 1}))
    assert not any(one.name.startswith("instrument") for one in threading.enumerate())


def test_wirings_are_pure() -> None:
    """No callables: what a lab is like is known, compared and sent before anything is built."""
    for kind in KINDS.values():
        links = tuple(LabLink(f"t{n}", f"d{n}", 10**9, interface=f"e{n}") for n in range(kind.links[0]))
        wiring = kind.wire(links, {})
        assert wiring == kind.wire(links, {}), kind.name
        assert not any(callable(getattr(wiring, name)) for name in Wiring.__dataclass_fields__), kind.name
        assert (Trait.CAN_BE_ASKED in wiring.traits) == (kind.name != "external")


def test_an_external_device_without_a_driver_cannot_be_asked() -> None:
    live = Live(KINDS["external"].wire(LINKS, {}))
    with pytest.raises(NotMeasuredError):
        live.ask(Event(0, "reset"))
    assert (live.instruments(), live.check()) == ((), None)


def test_a_driver_of_the_plan_reads_the_devices_ports() -> None:
    plan = parse(EXTERNAL.replace("DRIVER", "this-kernel"))
    assert plan.lab.driver == "this-kernel"
    wiring = plan.kind.wire(plan.lab.links, {})
    driver = DRIVERS["this-kernel"]
    with driver.reach(wiring, plan.kind.reached) as live:
        (instrument,) = live.instruments()
        assert instrument.interfaces == ("d0", "d1")  # type: ignore[attr-defined]
        assert {channel.subject for channel in instrument.read(time.monotonic_ns)} == {"ip"}


@pytest.mark.parametrize(("kind", "driver"), [("external", "no-such"), ("linux/router", "this-kernel")])
def test_a_driver_that_cannot_be_is_an_error_of_the_plan(kind: str, driver: str) -> None:
    text = EXTERNAL.replace("DRIVER", driver).replace("kind: external", f"kind: {kind}")
    with pytest.raises(PlanErrors) as caught:
        parse(text)
    assert any(error.path.endswith("driver") for error in caught.value.errors)
