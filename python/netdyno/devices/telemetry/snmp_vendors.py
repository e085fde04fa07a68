"""Processors and temperatures of vendors that have them in MIBs of their own.

CISCO-PROCESS-MIB, CISCO-ENVMON-MIB, CISCO-ENTITY-SENSOR-MIB; MIKROTIK-MIB; those of Ruijie, which FS has
below its own number; JUNIPER-MIB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ENTERPRISES = "1.3.6.1.4.1"
SYS_OBJECT_ID = "1.3.6.1.2.1.1.2.0"


@dataclass(frozen=True)
class Gauge:
    """A column of a table, or a scalar.

    columns: the same in newer and older releases; the first that is there. names: column of the subjects;
    empty: `subject`, with the index where there are several. scale: digits behind the point. window_s: over
    which the device averaged. kinds: column and value of the rows that are of this quantity; value None: any
    above 0. has_zero: 0 is a value, and does not stand for none.
    """

    name: str
    unit: str
    columns: tuple[str, ...]
    subject: str = ""
    names: str = ""
    scale: int = 0
    window_s: int | None = None
    kinds: tuple[str, int | None] | None = None
    has_zero: bool = True


@dataclass(frozen=True)
class Vendor:
    """processors, gauges: its own. sensors: a table of the form of ENTITY-SENSOR-MIB; empty: it has none.

    gauges: by release, the newer one first; a quantity that a sensor or a newer gauge has is not read again.
    """

    processors: tuple[Gauge, ...] = ()
    gauges: tuple[tuple[Gauge, ...], ...] = ()
    sensors: str = ""


def _mikrotik(number: int, name: str, unit: str, scale: int = 0) -> Gauge:
    """One unit of the table of gauges."""
    table = f"{ENTERPRISES}.14988.1.1.3.100.1"
    return Gauge(name, unit, (f"{table}.3",), names=f"{table}.2", scale=scale, kinds=(f"{table}.4", number))


def _mikrotik_scalar(number: int, name: str, unit: str, subject: str) -> Gauge:
    """Of RouterOS 6, in tenths."""
    column = f"{ENTERPRISES}.14988.1.1.3.{number}"
    return Gauge(name, unit, (column,), subject, scale=1, has_zero=False)


def _ruijie(enterprise: int) -> Vendor:
    system = f"{ENTERPRISES}.{enterprise}.1.1.10.2"
    temperature = f"{system}.1.1.44.1"
    return Vendor(
        (Gauge("CPU", "%", (f"{system}.36.1.1.1",), "processor", window_s=5),),
        ((Gauge("temperature", "C", (f"{temperature}.5",), names=f"{temperature}.4", has_zero=False),),),
    )


_CISCO_CPU = f"{ENTERPRISES}.9.9.109.1.1.1.1"
_CISCO = f"{ENTERPRISES}.9.9.13.1.3.1"
_JUNIPER = f"{ENTERPRISES}.2636.3.1.13.1"

VENDORS: Mapping[int, Vendor] = {
    9: Vendor(
        (Gauge("CPU", "%", (f"{_CISCO_CPU}.6", f"{_CISCO_CPU}.3"), "processor", window_s=5),),
        ((Gauge("temperature", "C", (f"{_CISCO}.3",), names=f"{_CISCO}.2", has_zero=False),),),
        f"{ENTERPRISES}.9.9.91.1.1.1.1",
    ),
    14988: Vendor(
        gauges=(
            (
                _mikrotik(1, "temperature", "C"),
                _mikrotik(2, "fan", "rpm"),
                _mikrotik(5, "power", "W", 1),
            ),
            (
                _mikrotik_scalar(10, "temperature", "C", "board"),
                _mikrotik_scalar(11, "temperature", "C", "processor"),
                _mikrotik_scalar(12, "power", "W", "device"),
            ),
        ),
    ),
    4881: _ruijie(4881),
    52642: _ruijie(52642),
    2636: Vendor(
        # Of what has memory: a fan has no processor, and 0 % all the same.
        (Gauge("CPU", "%", (f"{_JUNIPER}.8",), names=f"{_JUNIPER}.5", kinds=(f"{_JUNIPER}.15", None)),),
        ((Gauge("temperature", "C", (f"{_JUNIPER}.7",), names=f"{_JUNIPER}.5", has_zero=False),),),
    ),
}


def find_vendor(object_id: object) -> Vendor:
    """The vendor of an agent by its sysObjectID; one without anything of its own for every other."""
    parts = str(object_id).removeprefix(f"{ENTERPRISES}.").partition(".")
    return VENDORS.get(int(parts[0]), Vendor()) if parts[0].isdecimal() else Vendor()
