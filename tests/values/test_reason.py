"""Reasons as code and fields: both ways, and what a hostile record may not do."""

import json
import re
from dataclasses import fields
from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.campaign.reasons import REASONS as ALL
from netdyno.store.codec import MOST_TEXT, decode_reason
from netdyno.values.engine_reason import EngineReason
from netdyno.values.reason import REASONS, About, Reason, UnknownReason, by_code, encode
from words import said


class Everything(Reason, code="everything"):
    name: str
    count: int
    rate_pps: Fraction
    known: bool
    layer: Literal["L1", "L2"]
    most: Fraction | None
    sizes: tuple[Fraction, ...]
    ends: tuple[int, int] | None
    why: Reason
    each: tuple[tuple[str, Reason], ...]
    says = "{name}"


KNOWN = by_code(Everything, EngineReason, *REASONS.values())
ONE = Everything(
    "a", 10**30, Fraction(7, 3), True, "L2", None, (Fraction(1),), (1, 2), said("x"), (("s", said("y")),)
)
FIELDS = encode(ONE)["fields"]

numbers = st.fractions()
reasons = st.recursive(
    st.builds(said, st.text(max_size=20)),
    lambda inner: st.builds(About, st.text(max_size=9), inner),
    max_leaves=3,
)


@given(
    st.builds(
        Everything,
        st.text(max_size=40),
        st.integers(),
        numbers,
        st.booleans(),
        st.sampled_from(("L1", "L2")),
        st.none() | numbers,
        st.lists(numbers, max_size=3).map(tuple),
        st.none() | st.tuples(st.integers(), st.integers()),
        reasons,
        st.lists(st.tuples(st.text(max_size=5), reasons), max_size=3).map(tuple),
    )
)
def test_reason_encoded_and_decoded_is_equal(reason: Everything) -> None:
    assert decode_reason(json.loads(json.dumps(encode(reason))), KNOWN) == reason


def test_unknown_code_is_shown_as_code_and_fields_and_kept() -> None:
    written = {
        "code": "from-the-future",
        "fields": {"rate_pps": "7/3", "why": {"code": "text", "fields": {}}},
    }
    found = decode_reason(written, KNOWN)
    assert found == UnknownReason(written["code"], written["fields"])  # type: ignore[arg-type]
    assert encode(found) == written
    assert str(found) == 'from-the-future (rate_pps "7/3", why {"code": "text", "fields": {}})'
    assert found != UnknownReason("from-the-future", {})
    assert len({found, decode_reason(written, KNOWN)}) == 1


def test_reasons_are_equal_by_code_and_fields_alone() -> None:
    assert said("a") == said("a")
    assert said("a") != said("b")
    assert About("a", said("b")) != said("a: b")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", None),
        ("name", "x" * (MOST_TEXT + 1)),
        ("count", True),
        ("count", "1"),
        ("count", 1.0),
        ("known", 1),
        ("rate_pps", 1),
        ("rate_pps", "1e999999999"),
        ("rate_pps", "1/0"),
        ("rate_pps", "nan"),
        ("rate_pps", "9" * 1001),
        ("layer", "L3"),
        ("layer", ["L1"]),
        ("most", ""),
        ("sizes", "1"),
        ("sizes", [None]),
        ("ends", [1, 2, 3]),
        ("why", "text"),
        ("why", {"code": "about"}),
        ("why", {"code": "about", "fields": {}}),
        ("why", {"code": "engine", "fields": {**encode(said("x"))["fields"], "more": 1}}),
        ("why", {"code": "../engine", "fields": encode(said("x"))["fields"]}),
        ("why", {"code": "unknown", "fields": [1]}),
        ("why", {"code": "unknown", "fields": {"x": 0.5}}),
        ("each", [["s"]]),
    ],
)
def test_field_of_another_type_is_refused_in_one_line(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="reason") as refused:
        decode_reason({"code": "everything", "fields": {**FIELDS, name: value}}, KNOWN)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "fields", [{}, {**FIELDS, "more": 1}, {n: one for n, one in FIELDS.items() if n != "most"}]
)
def test_field_too_few_or_too_many_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="reason"):
        decode_reason({"code": "everything", "fields": fields}, KNOWN)


@pytest.mark.parametrize("code", ["about", "from-the-future"])
def test_deep_nesting_is_refused(code: str) -> None:
    nested: Any = encode(said("x"))
    for _ in range(50):
        nested = {"code": "about", "fields": {"subject": "s", "reason": nested}}
    with pytest.raises(ValueError, match="reason"):
        decode_reason(nested if code == "about" else {"code": code, "fields": {"x": nested}}, KNOWN)


def test_two_classes_of_one_code_are_refused() -> None:
    class Other(Reason, code="about"):
        pass

    with pytest.raises(AssertionError, match="about"):
        by_code(About, Other)


@pytest.mark.parametrize("kind", ALL.values(), ids=ALL)
def test_template_of_a_reason_names_its_own_fields(kind: type[Reason]) -> None:
    named = re.findall(r"(?<!\{)\{(\w+)", getattr(kind, "says", ""))
    assert set(named) <= {one.name for one in fields(kind)} | set(dir(kind)) | {"where"}


class Optional(Reason, code="optional"):
    note: str
    lost: int
    trials: int
    says = """{trials:=1?one trial|{trials:trial}}{note:?, {note}|, no note}{lost:?,
        {lost} lost}"""


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (Optional("a|b {x}", 1500, 1), "one trial, a|b {x}, 1,500 lost"),
        (Optional("", 0, 2), "2 trials, no note"),
    ],
)
def test_template_with_optional_parts_prints_those_that_hold(reason: Reason, sentence: str) -> None:
    assert str(reason) == sentence
