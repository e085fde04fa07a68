"""For a CI server: a test for each case, whether it was measured, and one for each goal of it.

The file is valid by the schema of Jenkins' xUnit plugin and by that of Apache Ant, which want other things:
attributes that one of them lacks are left out, elements that one of them wants are there, in Ant's order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from xml.etree import ElementTree as Xml

from netdyno.reports import Look
from netdyno.reports.model.headline import Headline, headline, is_silent
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.view import CaseView, RunView

_NO_CHARACTER = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document may hold."""

_ACCEPTANCE: dict[str, Literal["passed", "failure", "skipped"]] = {
    "PASS": "passed",
    "FAIL": "failure",
    "UNKNOWN": "skipped",
}
"""The outcomes of an acceptance test, in place of limits."""


_OUTCOMES: dict[bool | None, Literal["passed", "failure", "skipped"]] = {
    True: "passed",
    False: "failure",
    None: "skipped",
}
"""The outcomes of goals."""


@dataclass(frozen=True)
class _Test:
    name: str
    outcome: Literal["passed", "failure", "error", "skipped"]
    code: str = ""
    why: str = ""
    traffic_ns: int = 0


def render(runs: RunSet, look: Look) -> bytes:
    """The report on one run."""
    run, shown = runs.only, headline(runs.only)
    tests = [*_of_run(shown, run), *(test for case in run.cases for test in _of_case(run, case))]
    counts = {word: sum(test.outcome == word for test in tests) for word in ("failure", "error", "skipped")}
    root = Xml.Element("testsuites")
    suite = Xml.SubElement(
        root,
        "testsuite",
        {
            "id": "0",
            "name": _token(run.report_title),
            "package": "netdyno",
            # Ant's schema takes no time zone, and wants a name of the machine: a record has none.
            "timestamp": run.started[:19],
            "hostname": "localhost",
            "tests": str(len(tests)),
            "failures": str(counts["failure"]),
            "errors": str(counts["error"]),
            "skipped": str(counts["skipped"]),
            "time": f"{_seconds(run):.3f}",
        },
    )
    properties = Xml.SubElement(suite, "properties")
    for name, value in _properties(run):
        Xml.SubElement(properties, "property", {"name": name, "value": _text(value)})
    for test in tests:
        case = Xml.SubElement(
            suite,
            "testcase",
            {
                # A server takes what stands before the last dot for a package.
                "classname": f"netdyno.{_token(run.head.name).replace('.', '_')}",
                "name": _token(test.name),
                "time": f"{test.traffic_ns / 1e9:.3f}",
            },
        )
        if test.outcome != "passed":
            of_type = {} if test.outcome == "skipped" else {"type": _text(test.code)}
            found = Xml.SubElement(case, test.outcome, {"message": _text(test.why), **of_type})
            # Some servers show the text, others the message.
            found.text = None if test.outcome == "skipped" else _text(test.why)
    Xml.SubElement(suite, "system-out").text = _text(f"{shown.tested}; {shown.state}")
    Xml.SubElement(suite, "system-err")
    Xml.indent(root)
    page: bytes = Xml.tostring(root, "utf-8", xml_declaration=True)
    return page + b"\n"


def _of_run(shown: Headline, run: RunView) -> Iterator[_Test]:
    """The goals of the run as a whole, and the acceptance test that it is, if it is one."""
    for goal, passed, why in run.run_goals:
        yield _Test(goal, _OUTCOMES[passed], "compared", why)
    found = [one for one in shown.limits if one.limit in _ACCEPTANCE]
    words = [one.limit for one in found]
    worst = next((word for word in ("FAIL", "UNKNOWN", "PASS") if word in words), None)
    if worst is not None:
        why = "; ".join(one.sentence for one in found if one.limit == worst)
        yield _Test("acceptance", _ACCEPTANCE[worst], "acceptance", why)


def _of_case(run: RunView, case: CaseView) -> Iterator[_Test]:
    """Whether a case was measured, then each of its goals."""
    name = case.name or case.device_title
    traffic_ns = sum(trial.duration_ns for trial in case.trials if trial.state != "cancelled")
    yield _measured(case, f"{name}: measured", traffic_ns)
    for goal, passed, reason in case.goals:
        yield _Test(f"{name}: {goal}", _OUTCOMES[passed], reason.code, str(reason))


def _measured(case: CaseView, name: str, traffic_ns: int) -> _Test:
    if case.error is not None:
        return _Test(name, "error", case.error.code, f"failed: {case.error}", traffic_ns)
    if case.result is None:
        return _Test(name, "skipped", why=f"the case was not measured: it is {case.state}")
    verdicts = (*case.verdicts.values(), *case.others.values())
    invalid = next((one for one in verdicts if one.limit == "invalid"), None)
    if invalid is not None:
        return _Test(name, "skipped", why=str(invalid.reason), traffic_ns=traffic_ns)
    if is_silent(case):
        return _Test(name, "skipped", why="nothing came back from the device", traffic_ns=traffic_ns)
    return _Test(name, "passed", traffic_ns=traffic_ns)


def _properties(run: RunView) -> Iterator[tuple[str, str]]:
    yield "run", run.id
    yield "device", ", ".join(run.device_titles)
    yield "emulated", str(run.emulated).lower()
    yield "state", run.state
    yield "scale", str(run.head.scale)
    yield "seed", str(run.head.seed)
    yield from (("tag", one) for one in run.annotations.tags)
    yield from (("set", one) for one in run.head.overrides)
    yield from ((f"version of {name}", version) for name, version in run.head.versions.items())


def _seconds(run: RunView) -> float:
    if run.ended is None:
        return 0.0
    began, ended = (datetime.fromisoformat(moment) for moment in (run.started, run.ended))
    return max((ended - began).total_seconds(), 0.0)


def _token(text: str) -> str:
    """A text without line breaks and without spaces that stand together."""
    return " ".join(_text(text).split())


def _text(text: str) -> str:
    return _NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)
