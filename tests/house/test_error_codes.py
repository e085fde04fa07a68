"""Every error has a code that programs can rely on, and each code of the table is some error's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path

import pytest
import sources
from netdyno import errors
from netdyno.errors import CODES

PACKAGE = Path(errors.__file__).parent
MAKERS = {"_whole", "_Stop", "_stop", "report"}
"""Functions of the plan's reader that make an error of what they are given."""
CARRIERS = {"CaseError", "Lacking"}
"""Classes that are no errors and have the code of one as their first field."""
READER = "plan/source.py"
PASSED_ON = re.compile(r"(?:\w+\.)?code|row\['code'\]")
"""The code of another error, of the caller, or one that was stored."""


@cache
def error_names() -> frozenset[str]:
    """Names of all classes of errors but two: several errors, and one that has the code of its reason."""
    found = {"NetdynoError", "Problem", "PlanError"}
    classes = [
        (node.name, {base.id for base in node.bases if isinstance(base, ast.Name)})
        for path in PACKAGE.rglob("*.py")
        for node in sources.nodes(path)
        if isinstance(node, ast.ClassDef)
    ]
    before = 0
    while len(found) > before:
        before = len(found)
        found |= {name for name, bases in classes if bases & found}
    return frozenset(found - {"PlanErrors", "NotMeasuredError"})


def codes_in(source: str, makers: Set[str] = frozenset()) -> Iterator[tuple[int, str | None]]:
    """Line and code of each error that a source makes: empty if it is passed on, None if it is missing."""
    named = error_names() | makers
    for node in sources.walk(source):
        if not isinstance(node, ast.Call):
            continue
        callee = sources.callee(node)
        is_carrier = callee in CARRIERS
        is_report = callee == "report" and ast.unparse(node.func) == "source.report"
        if not is_carrier and not is_report and callee not in named:
            continue
        first = [ast.unparse(one) for one in node.args[:1]] if is_carrier else []
        given = next((ast.unparse(one.value) for one in node.keywords if one.arg == "code"), "".join(first))
        literal = re.fullmatch("'([^']*)'", given)
        yield node.lineno, literal[1] if literal else "" if PASSED_ON.fullmatch(given) else None


@cache
def made() -> tuple[tuple[str, str | None], ...]:
    """Place and code of each error of the package."""
    named = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
    return tuple(
        (f"{name}:{line}", code)
        for name, path in named.items()
        for line, code in codes_in(path.read_text(), MAKERS if name == READER else set())
    )


def test_errors_of_the_sources_have_a_code_of_the_table() -> None:
    found = made()
    assert len(found) > 250
    assert [place for place, code in found if code is None or (code and code not in CODES)] == []


def test_codes_of_the_table_are_some_error_s_each() -> None:
    written = {code for _, code in made()}
    # Of several errors in a plan, which have codes of their own.
    assert [code for code in CODES if code not in written] == ["bad-plan"]


def test_codes_are_lower_case_with_hyphens_and_explained() -> None:
    for code, meaning in CODES.items():
        assert re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", code), code
        assert meaning, code


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("raise LabError('x')", None),
        ("raise LabError('x', code=f'{x}')", None),
        ("raise LabError('x', code='no-rights')", "no-rights"),
        ("raise LabError('x', code=error.code)", ""),
        ("Lacking('no-rights', 'x')", "no-rights"),
        ("Lacking(code='no-rights', message='x')", "no-rights"),
        ("CaseError(f'{x}', 'x')", None),
    ],
)
def test_planted_error_without_a_literal_code_is_seen(source: str, code: str | None) -> None:
    assert [found for _, found in codes_in(source)] == [code]


def test_text_that_is_no_errors_code_counts_for_none() -> None:
    assert list(codes_in("NAMES = ('no-rights',)\nprint('no-rights')\nPort(code='no-rights')")) == []
