"""Models whose fields are described by the docstrings behind them."""

from __future__ import annotations

from netdyno.values.described import Described, describe_fields
from pydantic import Field


class Base(Described):
    load: int = 1
    """How much
    is sent."""


class Inner(Base):
    size: int = Field(default=64, alias="frame size")
    """Bytes of a frame."""
    plain: int = 0


def test_docstrings_behind_fields_describe_them_in_one_line() -> None:
    assert describe_fields(Inner) == {"load": "How much is sent.", "size": "Bytes of a frame."}


def test_schema_has_docstrings_of_fields_under_their_aliases() -> None:
    properties = Inner.model_json_schema()["properties"]
    assert properties["load"]["description"] == "How much is sent."
    assert properties["frame size"]["description"] == "Bytes of a frame."
    assert "description" not in properties["plain"]
