"""A load test of Coloclue and IPng as its file has it (`values/ipng.py`), checked."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as schema

from netdyno.imports.imported import ImportFileError
from netdyno.values.ipng import DURATIONS, LOADS, ONE_WAY, PORTS, PROFILE, RATES, SECOND
from netdyno.values.printable import printable
from netdyno.values.units import FrameRate, L1Rate, L2Rate, Percent, Rate

MOST_SAMPLES = 100_000
"""A day, and more."""
MOST_PPS = 10**11
LONGEST_S = 10 * MOST_SAMPLES
MOST_TEXT = 200
"""Characters of a text."""
_MULT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?(%|[kmg]?pps|[kmg]?bps(?:l[12])?)", re.IGNORECASE)
_PREFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
MOST_APART = 1.5
"""Seconds between samples of a second that a busy tester may take."""
_TIME = (10**9, 10**10)
"""Keys of samples that are seconds since 1970, from 2001 on."""


@dataclass(frozen=True)
class IpngFile:
    """The contents of a file. target: what is ramped up to, and held. durations_ns: of warm-up, ramp-up and
    hold. began, ended: None where samples have no times."""

    warmup: Rate
    target: Rate
    durations_ns: tuple[int, int, int]
    profile: str
    is_one_way: bool
    samples: tuple[Mapping[str, Any], ...]
    began: datetime | None
    ended: datetime | None

    def rates(self, port: str, rate: str) -> list[float]:
        """One of the rates of a port, `tx_pps`, a number a second."""
        return [sample[port][rate] for sample in self.samples]


@cache
def _document() -> SchemaValidator:
    """What a file has to be. Keys of `vars` and beside it that are not known here are left alone."""
    rate = schema.float_schema(strict=True, ge=0, le=MOST_PPS, allow_inf_nan=False)
    seconds = schema.float_schema(strict=True, ge=0, le=LONGEST_S, allow_inf_nan=False)
    text = schema.str_schema(strict=True, min_length=1, max_length=MOST_TEXT)
    asked = _mapping({**dict.fromkeys((*LOADS, PROFILE), text), **dict.fromkeys(DURATIONS, seconds)})
    asked["fields"][ONE_WAY] = schema.typed_dict_field(schema.bool_schema(strict=True), required=False)
    sample = _mapping(dict.fromkeys(PORTS, _mapping(dict.fromkeys(RATES, rate))))
    sample["fields"]["global"] = schema.typed_dict_field(schema.any_schema(), required=False)
    sample["extra_behavior"] = "forbid"
    samples = schema.dict_schema(schema.str_schema(), sample, min_length=1, max_length=MOST_SAMPLES)
    return SchemaValidator(_mapping({"vars": asked, "stats": samples}))


def _mapping(fields: Mapping[str, schema.CoreSchema]) -> schema.TypedDictSchema:
    return schema.typed_dict_schema({name: schema.typed_dict_field(one) for name, one in fields.items()})


def parse(path: Path, content: bytes) -> IpngFile:
    """What is in a file. Raises ImportFileError with the first thing that is wrong."""
    try:
        found = _document().validate_json(content)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, wrong["loc"]))
        raise _refuse(path, f"{where[:80]}: {wrong['msg']}" if where else wrong["msg"]) from error
    given, stats = found["vars"], found["stats"]
    warmup_ns, ramp_ns, hold_ns = (round(Fraction(given[key]) * SECOND) for key in DURATIONS)
    if not warmup_ns + ramp_ns + hold_ns:
        raise _refuse(path, "its durations are all 0")
    first, last = (_seconds(key) for key in (next(iter(stats)), next(reversed(stats))))
    if first is not None and last is not None and len(stats) > 1:
        apart = (last - first) / (len(stats) - 1)
        if not 1 / MOST_APART <= apart <= MOST_APART:
            raise _refuse(path, f"its samples are {apart:g} s apart, not a second")
    began, ended = _moment(first), _moment(last)
    return IpngFile(
        warmup=_load(path, given, LOADS[0]),
        target=_load(path, given, LOADS[1]),
        durations_ns=(warmup_ns, ramp_ns, hold_ns),
        profile=given[PROFILE].rpartition("/")[2],
        is_one_way=given.get(ONE_WAY, False),
        samples=tuple(stats.values()),
        began=began if ended is not None else None,
        ended=ended if began is not None and ended is not None and began <= ended else None,
    )


def _refuse(path: Path, what: str) -> ImportFileError:
    hint = "it has `vars` and `stats`, as the load tester of IPng writes them"
    return ImportFileError(f"{path}: no load test of T-Rex: {printable(what)}", hint, code="wrong-format")


def _load(path: Path, given: Mapping[str, Any], key: str) -> Rate:
    """A load as T-Rex's console takes it: bits a second are L2 unless it says L1."""
    found = _MULT.fullmatch(given[key].strip())
    if found is None:
        raise _refuse(path, f"vars.{key}: `{given[key][:40]}` is no load like `100%`, `1kpps` or `10gbpsl1`")
    amount, unit = Fraction(found[1]), found[2].lower()
    if unit == "%":
        return Percent(amount / 100)
    prefix, of = (unit[0], unit[1:]) if unit[0] in "kmg" else ("", unit)
    amount *= _PREFIX[prefix]
    return FrameRate(amount) if of == "pps" else L1Rate(amount) if of == "bpsl1" else L2Rate(amount)


def _seconds(key: str) -> float | None:
    """The number that the key of a sample is, if it is one."""
    try:
        found = float(key)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _moment(seconds: float | None) -> datetime | None:
    """The time of a sample whose key is one, in seconds since 1970."""
    if seconds is None or not _TIME[0] <= seconds < _TIME[1]:
        return None
    return datetime.fromtimestamp(seconds, UTC)
