"""Models whose fields say what they mean in the docstrings behind them, as dataclasses do."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel


class Described(BaseModel):
    """A model of a plan. Its schema has the docstrings of its fields as descriptions."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        found: dict[str, Any] = handler(schema)
        properties = handler.resolve_ref_schema(found).get("properties", {})
        meanings = describe_fields(cls)
        for name, info in cls.model_fields.items():
            if name in meanings:
                properties[info.alias or name]["description"] = meanings[name]
        return found


def describe_fields(model: type[BaseModel]) -> dict[str, str]:
    """What the fields of a model mean, its bases' too, in one line each.

    Read from the source when somebody asks: a plan that is run needs none of it.
    """
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if issubclass(one, Described):
            found |= _read_module(inspect.getfile(one)).get(one.__name__, {})
    return found


@cache
def _read_module(file: str) -> Mapping[str, Mapping[str, str]]:
    """The docstrings of fields, by class and field."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {one.name: dict(_read_fields(one)) for one in tree.body if isinstance(one, ast.ClassDef)}


def _read_fields(declared: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, behind in pairwise(declared.body):
        match field, behind:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
