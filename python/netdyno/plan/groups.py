"""Port groups: ports of a lab that are loaded among themselves, alone or beside other groups on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BESIDE = "+"
"""Joins the names of groups that a case loads together, `core+edge`."""


@dataclass(frozen=True)
class Group:
    """Tester ports, by name. cards: what each shares with other ports in the device; empty: not said."""

    name: str
    ports: tuple[str, ...]
    cards: tuple[str, ...]


def default_groups(names: Sequence[str]) -> tuple[str, ...]:
    """The values of the axis where a plan gives none: each group alone, then all together."""
    return (*names, BESIDE.join(names)) if len(names) > 1 else tuple(names)


def groups_of_case(value: str, groups: Sequence[Group]) -> tuple[Group, ...]:
    """The groups of a case, in the order of the plan."""
    names = value.split(BESIDE)
    return tuple(group for group in groups if group.name in names)
