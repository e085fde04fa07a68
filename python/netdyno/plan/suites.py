"""`suite:`, the whole of a standard: what the plan leaves to it is filled in before the plan is read.

A suite is one entry in `SUITES`. It stands in a plan in place of `method`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netdyno.errors import names
from netdyno.plan.problems import format_value, salvage_part
from netdyno.plan.source import Path_, Source
from netdyno.plan.traffic import Profile


@dataclass(frozen=True)
class Suite:
    """A standard's tests.

    method: the one that makes all of them, whose parameters are the suite's. title: of a plan without one.
    sizes: frame sizes, bytes with FCS, of a profile that says none. traffic: the fields of the only profile
    of a plan without any.
    """

    method: str
    title: str
    doc: str
    sizes: tuple[int, ...]
    traffic: Mapping[str, Any]


SUITES: Mapping[str, Suite] = {
    "rfc2544": Suite(
        "rfc2544",
        "RFC 2544, all six tests",
        "all six tests, over the seven frame sizes of Ethernet (9.1), between two addresses (12)",
        (64, 128, 256, 512, 1024, 1280, 1518),
        {"addresses": "rfc2544", "flows": 1},
    )
}
"""Every suite, by the name it has in a plan."""

KEY = "suite"


def key(source: Source) -> str:
    """What names the method in this plan: `method`, or `suite`."""
    return KEY if isinstance(source.value, dict) and KEY in source.value else "method"


def fill_suite(source: Source, raw: dict[str, Any]) -> dict[str, Any]:
    """The plan with all that its suite gives written out, as if the plan said it; mistakes are noted."""
    if KEY not in raw:
        return raw
    if "method" in raw:
        source.report_key(
            ("method",),
            "`suite` and `method` both say what is measured",
            "keep one of them",
            code="given-twice",
        )
    name, parameters = _named(source, raw[KEY])
    found = {key: value for key, value in raw.items() if key != KEY}
    if name is None:
        # The method is unknown; `{}` is reported where it is read.
        return {"title": "?", "traffic": {"any": {"size": "64B"}}, **found, "method": None}
    suite = SUITES[name]
    found = {"title": suite.title, "traffic": {"": dict(suite.traffic)}, **found}
    found["method"] = {suite.method: parameters}
    return _sized(found, suite)


def _named(source: Source, value: object) -> tuple[str | None, Any]:
    """The suite's name and its parameters."""
    if isinstance(value, dict) and len(value) == 1:
        ((name, parameters),) = value.items()
    elif isinstance(value, str):
        name, parameters = value, None
    else:
        source.report(
            (KEY,),
            f"`suite` is a name, or a name with parameters, not {format_value(value)}",
            f"write `suite: rfc2544`; suites: {names(SUITES)}",
            code="wrong-type",
        )
        return None, None
    if name in SUITES:
        return str(name), parameters
    place: Path_ = (KEY, name) if isinstance(value, dict) else (KEY,)
    message = f"unknown suite `{str(name)[:40]}`"
    source.report_unknown(place, message, str(name), SUITES, "suites", key=len(place) > 1)
    return None, None


def _sized(raw: dict[str, Any], suite: Suite) -> dict[str, Any]:
    """The plan with the suite's sizes in profiles that say none."""
    traffic = raw["traffic"]
    if not isinstance(traffic, dict):
        return raw
    profiles = {
        name: {**value, "size": _sizes(value, suite)}
        if isinstance(value, dict) and "size" not in value
        else value
        for name, value in traffic.items()
    }
    return {**raw, "traffic": profiles}


def _sizes(value: dict[Any, Any], suite: Suite) -> list[str]:
    """The suite's sizes; where headers need more, what they need: IPv6 does not fit into 64 bytes."""
    profile, _ = salvage_part(Profile, {**value, "size": "9216B"})
    least = 64 if profile is None else profile.smallest()
    return [f"{size}B" for size in dict.fromkeys(max(size, least) for size in suite.sizes)]
