"""A calibration as a value: its checks, what it covers, and what it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from netdyno.errors import NetdynoError

FORMAT = 2
"""Of the document. A reader refuses what is newer than it knows."""

Mark: TypeAlias = Literal["pass", "warn", "fail", "n/a"]
MARKS = {"pass": "pass", "warn": "WARN", "fail": "FAIL", "n/a": "n/a "}
"""As a terminal has them, all of one width."""


class CalibrationError(NetdynoError):
    """A calibration cannot be made here, or a stored one cannot be read."""


@dataclass(frozen=True)
class Check:
    """One check of a calibration.

    name: `C3`. scope: the traffic it was asked of, empty if none. value: what was found, in words and units.
    rule: what passes. reason: why it did not, or why it was not asked; empty if there is nothing to say.
    """

    name: str
    title: str
    scope: str
    value: str
    rule: str
    mark: Mark
    reason: str = ""
    workers: int | None = None
    """How many workers of the tester it was asked of; None: it is of the machine, or of an older netdyno."""

    @property
    def label(self) -> str:
        """Its number, title and scope."""
        return f"{self.name} {self.title}" + (f" ({self.scope})" if self.scope else "")


@dataclass(frozen=True)
class Point:
    """Measurements at one load. Times in ns; None with too few frames."""

    share_percent: int
    """Of the most that passed."""
    fps: Fraction
    frames: int
    rate_error_ppm: float | None
    latency_min_ns: int | None
    latency_p50_ns: int | None
    latency_p99_ns: int | None
    latency_p999_ns: int | None
    gap_mean_ns: float | None
    """From one departure to the next."""
    gap_stdev_ns: float | None
    gap_max_ns: float | None
    longest_burst: int
    """Frames handed over together at most."""
    disturbed: bool = False
    """Somebody else had the tester's core for a while, in each trial at this load: it proves nothing."""


@dataclass(frozen=True)
class Traffic:
    """The numbers of one kind of frames in one choice of directions."""

    key: str
    """Of what decides how much work a frame is: sizes, flows, header stack, directions. See `traffic.key`."""
    name: str
    """`64b / bidir`."""
    max_fps: Fraction | None
    line_fps: Fraction | None
    latency_floor_ns: int | None
    latency_noise_ns: int | None
    rate_error_ppm: Fraction | None
    points: tuple[Point, ...] = ()
    is_stricter: bool = False
    """Whether the joined ports carried more in all than the lab's: the tester may do more than `max_fps`."""


@dataclass(frozen=True)
class Calibration:
    """The limits of a tester."""

    id: str
    made_at: datetime
    effort: str
    """`quick` or `full`."""
    how: str
    """What was between the ports, a sentence."""
    ports: tuple[str, ...]
    """Of what kind each is and where: the ports it holds for. Compared whole, in order."""
    basis: Mapping[str, str]
    """What else must be as it was: kernel, processor, pinning, driver, ... A name and a value each."""
    machine: Mapping[str, Any]
    """What the machine was like before and after: `Watch` and `Bounce` of the engine, and stolen time."""
    checks: tuple[Check, ...]
    traffic: tuple[Traffic, ...]
    host: str = ""
    """The generator host that has the ports; empty: the machine that netdyno ran on."""
    complete: bool = True
    """False: it was interrupted, and has what was measured until then."""

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if check.mark == "fail")

    def to_json(self) -> str:
        """As text: one object, readable by people."""
        table = asdict(self)
        table["format"] = FORMAT
        return json.dumps(table, indent=1, ensure_ascii=False, default=_plain) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "calibration") -> Calibration:
        """Reads what `to_json` wrote. Raises CalibrationError: it may come from a stranger."""
        try:
            table = json.loads(text)
            if table["format"] > FORMAT:
                raise CalibrationError(
                    f"{name}: written by a newer netdyno", "update netdyno", code="newer-calibration"
                )
            return cls(
                id=str(table["id"]),
                made_at=_moment(table["made_at"]),
                effort=str(table["effort"]),
                how=str(table["how"]),
                ports=tuple(str(port) for port in table["ports"]),
                basis={str(what): str(was) for what, was in table["basis"].items()},
                machine=dict(table["machine"]),
                checks=tuple(Check(**check) for check in table["checks"]),
                traffic=tuple(_traffic(one) for one in table["traffic"]),
                host=str(table.get("host", "")),
                complete=bool(table["complete"]),
            )
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
            raise CalibrationError(
                f"{name}: not a calibration of netdyno: {error!r}", code="not-a-calibration"
            ) from error


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds")
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"{value!r} has no place in a calibration")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"`{text}` is in no time zone")
    return moment.astimezone(UTC)


def _fraction(text: object) -> Fraction | None:
    return None if text is None else Fraction(str(text))


def _traffic(table: Mapping[str, Any]) -> Traffic:
    points = tuple(_point(point) for point in table["points"])
    rates = {name: _fraction(table[name]) for name in ("max_fps", "line_fps", "rate_error_ppm")}
    return Traffic(**{**table, **rates, "points": points})


def _point(table: Mapping[str, Any]) -> Point:
    unknown = set(table) - {field.name for field in fields(Point)}
    if unknown:
        raise ValueError(f"unknown `{unknown.pop()}`")
    return Point(**{**table, "fps": Fraction(str(table["fps"]))})
