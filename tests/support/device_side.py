"""Instruments that read an emulated device in virtual time, as a driver's would, without any session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from netdyno.devices.drivers.driver import Driver, Reached
from netdyno.devices.live import Channel, Instrument, Live
from netdyno.devices.wiring import Wiring
from netdyno.values.counter_reasons import CounterNotRead
from netdyno.values.sample import Absent, Sample

DROPS = ("in_drops", "both_drops", "out_drops", "weary_drops", "partner_drops", "down_drops")
BOX = ("box_drops", "card_drops", "trunk_drops", "reset_drops")
IDLE_MW, MW_PER_MPPS = 18_000, 2_000
"""A switch that draws 18 W idle (the S5860's), and 2 W more for each Mpps."""


@dataclass
class Emulation:
    """What the emulated device has counted now. moved: frames received between the last two instants, a
    second."""

    at_ns: int = 0
    devices: Sequence[Mapping[str, Any]] = ()
    rate: int = 0
    bytes_per_frame: int = 0
    missed_ns: tuple[int, int] = (0, 0)
    """When the power supply does not answer."""

    def stand_at(self, at_ns: int, devices: Sequence[Mapping[str, Any]]) -> None:
        before = sum(port["rx_frames"] for one in self.devices for port in one["ports"])
        now = sum(port["rx_frames"] for one in devices for port in one["ports"])
        passed_ns = at_ns - self.at_ns
        self.rate = max(now - before, 0) * 10**9 // passed_ns if passed_ns > 0 else 0
        self.at_ns, self.devices = at_ns, devices


@dataclass(frozen=True)
class Counters:
    """Counters by canonical names, those of the whole device of the subject `device`."""

    emulation: Emulation
    name: str = "fake"
    period_s: float = 1.0

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        found = {}
        at_ns = now()
        for device in self.emulation.devices:
            for port in device["ports"]:
                counted = {"rx_packets": port["rx_frames"], "tx_packets": port["tx_frames"]}
                for name, count in (counted | {name: port[name] for name in DROPS}).items():
                    # What the far-end switch of a LAG drops never comes to the device.
                    if name != "partner_drops":
                        found[port["name"], name] = count
            found |= {("device", name): device[name] for name in BOX}
        return {
            Channel(
                who, name, "packets", is_counter=True, counts_traffic=name.endswith("packets"), bits=64
            ): Sample(at_ns, at_ns, count)
            for (who, name), count in found.items()
        }

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> None:
        return None


@dataclass(frozen=True)
class Gauges:
    """Power in W, exact, and a CPU that the device averages over a window."""

    emulation: Emulation
    window_ns: int
    name: str = "fake"
    period_s: float = 1.0

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        at_ns = now()
        begin_ns, end_ns = self.emulation.missed_ns
        milliwatts = IDLE_MW + self.emulation.rate * MW_PER_MPPS // 10**6
        power = Absent(CounterNotRead("PS0", "power")) if begin_ns < at_ns < end_ns else milliwatts // 2
        busy = min(self.emulation.rate // 300_000, 100)
        cpu = Channel("route processor", "control-plane CPU", "%")
        return {
            Channel("PS0", "power", "W", 3): Sample(at_ns, at_ns, power),
            Channel("PS1", "power", "W", 3): Sample(at_ns, at_ns, power),
            cpu: Sample(at_ns, at_ns, busy, self.window_ns),
        }

    def summary(self, first: Mapping[Channel, int], last: Mapping[Channel, int]) -> None:
        return None


@dataclass(frozen=True)
class FakeLive(Live):
    """The device, read and never asked."""

    emulation: Emulation = field(default_factory=Emulation)
    window_ns: int = 1_000_000

    def stand_at(self, at_ns: int, counters: Sequence[Mapping[str, Any]], mean_bytes: float) -> bool:
        self.emulation.stand_at(at_ns, counters)
        return True

    def instruments(self) -> tuple[Instrument, ...]:
        return (Counters(self.emulation), Gauges(self.emulation, self.window_ns))


class FakeDriver(Driver):
    name = "fake"
    title = "instruments of a test"

    def reach(self, wiring: Wiring, reached: Reached) -> AbstractContextManager[Live]:
        return nullcontext(FakeLive(wiring))


DRIVER = FakeDriver()
"""For a kind's `reached_by`."""
