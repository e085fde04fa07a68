"""Stored calibrations, and which of them a case may rest on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryFile

from netdyno.calibration import inventory
from netdyno.calibration.document import Calibration, CalibrationError, Traffic
from netdyno.calibration.reasons import CalibrationOld, CalibrationUnreadable
from netdyno.values.proven import OwnLatency, Proven

FOLDER = "calibrations"
"""Beside the runs: `runs/calibrations/2026-11-22T0350Z-ab12.json`."""

ROOM_BYTES = 65_536
"""A calibration takes some 20 kB."""

LONG = 3
"""Commas from which on a fact is a list of which only what differs is said."""

OLD = timedelta(days=30)
"""After this a calibration is said to be old. It holds on: what it rests on has not changed."""


def prepare(runs: Path) -> None:
    """Raise CalibrationError if nothing can be stored beside the runs; leaves nothing behind."""
    try:
        there = next(
            folder for folder in (runs / FOLDER, *(runs / FOLDER).absolute().parents) if folder.exists()
        )
        with TemporaryFile(dir=there) as file:
            file.write(bytes(ROOM_BYTES))
    except OSError as error:
        hint = "`--out` names another folder"
        raise CalibrationError(
            f"{runs}: nothing can be kept there: {error.strerror}", hint, code="cannot-write"
        ) from error


def save(runs: Path, calibration: Calibration) -> Path:
    """Writes it beside the runs. It appears whole or not at all."""
    folder = runs / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{calibration.id}.json"
    unborn = file.with_suffix(".new")
    with unborn.open("w") as out:
        out.write(calibration.to_json())
        out.flush()
        os.fsync(out.fileno())
    unborn.rename(file)
    return file


def load(runs: Path) -> tuple[list[Calibration], list[CalibrationUnreadable]]:
    """The calibrations beside the runs, newest first, and an error for each unreadable one."""
    found, wrong = [], []
    for file in sorted((runs / FOLDER).glob("*.json")):
        try:
            found.append(Calibration.from_json(file.read_text(), str(file)))
        except (CalibrationError, OSError, UnicodeDecodeError) as error:
            cause = error.code if isinstance(error, CalibrationError) else "cannot-read"
            wrong.append(CalibrationUnreadable(str(file), cause, str(error)))
    found.sort(key=lambda one: one.made_at, reverse=True)
    return found, wrong


def find_proven(
    calibrations: Iterable[Calibration], ports: Sequence[str], key: str, basis: Mapping[str, str]
) -> Proven | None:
    """What the newest valid calibration covers for these ports and this traffic; else the newest.

    None: these ports were never calibrated, or never with this traffic.
    """
    fitting = [
        (one, traffic)
        for one in calibrations
        if one.ports == tuple(ports)
        for traffic in one.traffic
        if traffic.key == key
    ]
    fitting.sort(key=lambda pair: pair[0].made_at, reverse=True)
    found = [_as_proven(one, traffic, basis) for one, traffic in fitting]
    return next((one for one in found if one.expired is None), found[0] if found else None)


def _as_proven(calibration: Calibration, traffic: Traffic, basis: Mapping[str, str]) -> Proven:
    return Proven(
        id=calibration.id,
        made_at=calibration.made_at,
        max_fps=traffic.max_fps,
        line_fps=traffic.line_fps,
        latency_floor_ns=traffic.latency_floor_ns,
        latency_noise_ns=traffic.latency_noise_ns,
        rate_error_ppm=traffic.rate_error_ppm,
        latencies=tuple(
            OwnLatency(one.fps, one.latency_p999_ns)
            for one in traffic.points
            if not one.disturbed and one.latency_p999_ns is not None
        ),
        expired=describe_changes(calibration.basis, basis)
        or find_failed_check(calibration, traffic)
        or (None if calibration.complete else "it was interrupted before its last checks"),
        is_stricter=traffic.is_stricter,
    )


RELIED_ON = ("C1", "C3", "C4", "C5", "C10")
"""Where one of these fails no rate is proven: frames counted right, another's sender's too, none lost, faults
found. C7 is of latencies."""


def find_failed_check(calibration: Calibration, traffic: Traffic) -> str | None:
    """A clause on the failed checks that this traffic needs; None: none failed."""
    those = [
        check
        for check in calibration.checks
        if check.mark == "fail"
        and check.name in RELIED_ON
        # C1 is of directions, not of one traffic.
        and (check.name == "C1" or check.scope in ("", traffic.name))
    ]
    return "; ".join(f"its check {check.name} ({check.title}) failed" for check in those) or None


def is_disturbed(calibrations: Iterable[Calibration], id: str, key: str) -> bool:
    """Whether a calibration may show less of this traffic than the tester can do: others had its core."""
    return any(
        check.name == "C3" and check.scope == traffic.name and check.mark == "warn"
        for one in calibrations
        if one.id == id
        for traffic in one.traffic
        if traffic.key == key
        for check in one.checks
    )


def describe_changes(was: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """The facts that changed since the calibration, a clause; None if it still holds."""
    changes: list[str] = []
    for what in dict.fromkeys((*was, *now)):
        if what.endswith(inventory.OPENED) and not (what in was and what in now):
            continue
        if was.get(what, "") != now.get(what, ""):
            changes += _describe_change(what, was.get(what, ""), now.get(what, ""))
    return "; ".join(changes) or None


def _describe_change(what: str, was: str, now: str) -> Iterator[str]:
    """Clauses on a fact that changed; of a table or a long list only what differs."""
    before, after = _as_table(was), _as_table(now)
    if before is None or after is None:
        yield f"{what} is now {now or 'gone'}, it was {was or 'not there'}"
        return
    missing = "" if was.startswith("{") else "off"
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, missing), after.get(name, missing)
        if old != new:
            yield from _describe_change(f"{what}: {name}", old, new)


def _as_table(text: str) -> Mapping[str, str] | None:
    """Names and values of a fact that is a table; each part of a long list is `on`. None: it is neither."""
    try:
        found = json.loads(text)
    except ValueError:
        found = text.split(", ") if text.count(", ") >= LONG else None
    if isinstance(found, list):
        return {str(one): "on" for one in found}
    if not isinstance(found, dict):
        return None
    return {name: one if isinstance(one, str) else json.dumps(one) for name, one in found.items()}


def age_note(one: Proven, now: datetime | None = None) -> CalibrationOld | None:
    """The note on a calibration that is older than `OLD`; None if it is not."""
    age = (now or datetime.now(UTC)) - one.made_at
    if age <= OLD:
        return None
    return CalibrationOld(one.id, age.days)
