"""What methods say, class by class: printed in one line, and read back as it was stored."""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from netdyno.campaign.reasons import REASONS as KNOWN
from netdyno.methods.reasons import REASONS
from netdyno.methods.reasons.tester import Preempted
from netdyno.store.codec import decode_reason
from netdyno.values.reason import Reason, encode

LEAVES: dict[object, st.SearchStrategy[Any]] = {
    str: st.sampled_from(("west-east", "50%")),
    int: st.integers(min_value=1, max_value=10**12),
    Fraction: st.fractions(min_value=Fraction(1, 10**6), max_value=10**9, max_denominator=10**6),
    bool: st.booleans(),
    Reason: st.builds(Preempted, st.integers(min_value=1, max_value=10**12)),
}


def of_type(wanted: Any) -> st.SearchStrategy[Any]:
    """Values of a field of this type."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, UnionType):
        return st.one_of(*(st.none() if one is NoneType else of_type(one) for one in inner))
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(of_type(inner[0]), min_size=1, max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(of_type, inner))
    return LEAVES[wanted] if wanted in LEAVES else of_class(wanted)


def of_class(kind: type[Reason]) -> st.SearchStrategy[Any]:
    """Reasons of this class."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{one.name: of_type(hints[one.name]) for one in fields(kind)})


@pytest.mark.parametrize("code", REASONS)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_reason_of_any_fields_is_read_back_and_printed_in_one_line(code: str, data: st.DataObject) -> None:
    reason = data.draw(of_class(REASONS[code]))
    assert decode_reason(json.loads(json.dumps(encode(reason))), KNOWN) == reason
    sentence = str(reason)
    assert sentence == " ".join(sentence.split())
    assert not sentence.endswith(".")
    assert "None" not in sentence
    assert "Fraction" not in sentence
