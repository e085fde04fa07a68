"""The number of flows of a profile, and the shares of them that members of a LAG are to carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import Field, WithJsonSchema, WrapValidator

from netdyno.errors import Problem, as_written, suggestion

EVEN = "even"
USUAL = 64
"""Flows for members where a plan does not say how many."""
MOST_SPREAD = 8192
LEAST_CANDIDATES, CANDIDATES_A_FLOW = 256, 8
"""Of eight candidates a flow a member has enough that is to carry up to five times an even share."""


class SpreadFlows(int):
    """A number of flows that are chosen so that members of a LAG carry shares of them.

    shares: of each member, in order, whole numbers of any sum; none: even ones.
    """

    shares: tuple[int, ...] = ()

    @classmethod
    def of(cls, count: int, shares: tuple[int, ...]) -> SpreadFlows:
        """So many flows in these shares."""
        found = cls(count)
        found.shares = shares
        return found

    @property
    def candidates(self) -> int:
        """Flows that they are chosen from, if the headers make as many."""
        return max(LEAST_CANDIDATES, CANDIDATES_A_FLOW * self)


def _read(value: Any, handler: Callable[[Any], int]) -> int:
    """A number, or a mapping of `count` and `members`."""
    if not isinstance(value, Mapping):
        return handler(value)
    fields = ("count", "members")
    for name in value:
        if name not in fields:
            hint = suggestion(str(name), fields, "fields")
            raise Problem(f"unknown field `{as_written(name)}`", hint, at=(str(name),), code="unknown-field")
    if "members" not in value:
        message, hint = "`members` of `flows` is missing", f"`members: {EVEN}`, or shares: `members: [3, 1]`"
        raise Problem(message, hint, code="missing-field")
    count, members = value.get("count", USUAL), value["members"]
    if type(count) is not int or not 1 <= count <= MOST_SPREAD:
        message = f"`{as_written(count)}` is no number of flows that can be chosen"
        raise Problem(message, f"a whole number from 1 to {MOST_SPREAD}", at=("count",), code="out-of-range")
    shares = () if members == EVEN else members
    are_whole = isinstance(shares, list | tuple) and all(type(one) is int and one >= 0 for one in shares)
    if not are_whole or (members != EVEN and not any(shares)):
        raise Problem(
            f"`{as_written(members)}` are no shares of members",
            f"`{EVEN}`, or a whole number for each member, in order: `[3, 1]`",
            at=("members",),
            code="wrong-format",
        )
    if len(shares) > count:
        message = f"{len(shares)} members cannot share {count} flow{'' if count == 1 else 's'}"
        raise Problem(message, f"`count: {len(shares)}` or more", at=("count",), code="out-of-range")
    return SpreadFlows.of(count, tuple(shares))


MOST = 10**12
FlowsField: TypeAlias = Annotated[
    int,
    Field(ge=1, le=MOST),
    WrapValidator(_read),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MOST},
                {
                    "type": "object",
                    "properties": {
                        "count": {"type": "integer", "minimum": 1, "maximum": MOST_SPREAD, "default": USUAL},
                        "members": {
                            "anyOf": [
                                {"const": EVEN},
                                {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
                            ]
                        },
                    },
                    "required": ["members"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
