"""The report for CI servers: what it says of cases and goals, and that servers can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from netdyno.reports.formats import junit
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import Limit, headline
from netdyno.reports.model.view import RunView
from netdyno.values.records import CaseError
from netdyno.values.verdict import Verdict
from pages import report_text
from report_sample import SMALL, write
from words import said


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunView]:
    with write(tmp_path_factory.mktemp("small"), SMALL) as run:
        yield view(run)


COUNT = re.compile(r"[0-9]+")
TIME = re.compile(r"[0-9]+\.[0-9]{3}")
ATTRIBUTES = {
    "testsuites": {},
    "testsuite": {
        "id": COUNT,
        "name": None,
        "package": None,
        "timestamp": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"),
        "hostname": None,
        "tests": COUNT,
        "failures": COUNT,
        "errors": COUNT,
        "skipped": COUNT,
        "time": TIME,
    },
    "properties": {},
    "property": {"name": None, "value": None},
    "testcase": {"classname": None, "name": None, "time": TIME},
    "failure": {"message": None, "type": None},
    "error": {"message": None, "type": None},
    "skipped": {"message": None},
    "system-out": {},
    "system-err": {},
}
"""Of each element every attribute: those that Ant's schema (JUnit.xsd of windyroad) wants, of which Jenkins'
(junit-10.xsd of xunit-plugin) knows all. None: any text."""

TOKENS = {"testsuite": ["name", "package", "hostname"], "testcase": ["name", "classname"]}
"""Texts without line breaks and double spaces."""

CHILDREN = {
    "testsuites": "testsuite",
    "testsuite": "properties( testcase)* system-out system-err",
    "properties": "property( property)*",
    "testcase": "(failure|error|skipped)?",
}


def read(run: RunView) -> list[tuple[str, str, Xml.Element | None]]:
    """The tests as (name, outcome, its element), after a look at the rules of both schemas."""
    root = Xml.fromstring(report_text("junit", run))
    for element in root.iter():
        assert element.attrib.keys() == ATTRIBUTES[element.tag].keys(), element.tag
        for name, pattern in ATTRIBUTES[element.tag].items():
            assert pattern is None or pattern.fullmatch(element.attrib[name]), name
        for name in TOKENS.get(element.tag, ()):
            assert element.attrib[name] == " ".join(element.attrib[name].split()) != ""
        assert re.fullmatch(CHILDREN.get(element.tag, ""), " ".join(child.tag for child in element))
    (suite,) = root
    tests = suite.findall("testcase")
    names = [(test.attrib["classname"], test.attrib["name"]) for test in tests]
    assert len(set(names)) == len(names)
    assert suite.attrib["tests"] == str(len(tests))
    for word, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert suite.attrib[count] == str(sum(test.find(word) is not None for test in tests))
    return [
        (test.attrib["name"], "passed" if not len(test) else test[0].tag, test[0] if len(test) else None)
        for test in tests
    ]


def test_every_case_and_every_goal_is_a_test(small: RunView) -> None:
    goals = (
        ("g >= 1", True, said("ok")),
        ("g >= 2", False, said("too slow")),
        ("g >= 3", None, said("open")),
    )
    done = next(case for case in small.cases if case.headline is not None)
    found = read(replace(small, cases=(replace(done, goals=goals),)))
    assert [(name.removeprefix(done.name), outcome) for name, outcome, _ in found] == [
        (": measured", "passed"),
        (": g >= 1", "passed"),
        (": g >= 2", "failure"),
        (": g >= 3", "skipped"),
    ]
    failure, skipped = found[2][2], found[3][2]
    assert failure is not None
    assert skipped is not None
    assert (failure.attrib["message"], failure.text) == ("too slow", "too slow")
    assert failure.attrib["type"] == said("too slow").code
    assert skipped.attrib["message"] == "open"


def test_case_without_a_result_is_an_error_or_skipped(small: RunView) -> None:
    done = next(case for case in small.cases if case.headline is not None)
    bare = replace(done, result=None, verdicts={})
    invalid = replace(done, verdicts={"sum": Verdict("invalid", said("a pause"))})
    cases = (
        replace(bare, number=1, profile="1", state="failed", error=CaseError("no-route", "no route", "look")),
        replace(bare, number=2, profile="2", state="interrupted"),
        replace(bare, number=3, profile="3", state="pending"),
        replace(invalid, number=4, profile="4"),
    )
    found = read(replace(small, cases=cases))
    assert [outcome for _, outcome, _ in found] == ["error", "skipped", "skipped", "skipped"]
    error = found[0][2]
    assert error is not None
    assert error.attrib == {"type": "no-route", "message": "failed: no route. Look"}
    messages = [element.attrib["message"] for _, _, element in found[1:] if element is not None]
    assert "interrupted" in messages[0]
    assert "pending" in messages[1]
    assert "a pause" in messages[2]


def test_texts_that_are_no_xml_are_replaced(small: RunView, tmp_path: Path) -> None:
    title = "a  <b>&\"'\n]]>\x00\x1b\ud800\ufffe\x85 \N{EM DASH}"
    head = replace(small.head, title=title, name="1.5\x00 gig", overrides=("a=\x01",))
    done = next(case for case in small.cases if case.headline is not None)
    goals = (("g\x07 >=\n1", False, said("because \x00 <")),)
    found = read(replace(small, head=head, emulated=False, cases=(replace(done, goals=goals),)))
    assert len(found) == 2


def test_run_that_has_not_ended_can_be_reported(small: RunView) -> None:
    assert read(replace(small, ended=None, state="running"))


@pytest.mark.parametrize(
    ("words", "outcome"),
    [(["PASS"], "passed"), (["FAIL", "UNKNOWN"], "failure"), (["UNKNOWN"], "skipped")],
)
def test_acceptance_test_is_a_test_of_its_own(words: list[str], outcome: str, small: RunView) -> None:
    shown = replace(headline(small), limits=tuple(Limit(word, word, f"why {word}") for word in words))
    (test,) = junit._of_run(shown, small)
    assert (test.outcome, test.why) == (outcome, f"{words[0]}: why {words[0]}")
    assert not list(junit._of_run(headline(small), small))


def test_summary_in_markdown_has_numbers_and_goals(small: RunView) -> None:
    done = next(case for case in small.cases if case.headline is not None)
    goals = tuple((f"g >= {number}", number > 120, said("x")) for number in range(150))
    text = report_text("markdown-summary", replace(small, cases=(replace(done, goals=goals),)))
    assert text.startswith("## ASR9006")
    assert "121 of 150 missed" in text
    assert text.count("| missed ") == 100
    assert "50 more" in text
