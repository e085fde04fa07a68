"""Bounds what a template does with lists and texts: their weight is counted where they are made or compared.

A list that holds another twice, which holds another twice, is small in memory and endless to compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from itertools import islice
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.visitor import NodeTransformer

LONGEST_LIST = 10_000
CHARACTERS = 20
"""Of a text, that weigh as much as an element of a list."""
FILTER = "weighed"
"""The filter that the tree has around all that is weighed. Templates cannot name it."""


class TooMuchError(Exception):
    """A template makes more text, numbers or turns than it may."""


def weigh(value: object) -> int:
    """The elements in a value, each as often as it is reached. Raises TooMuchError above `LONGEST_LIST`."""
    found, left = 0, [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            found += len(one) // CHARACTERS
        elif isinstance(one, range):
            found += len(one)
        elif isinstance(one, Iterable) and isinstance(one, Sized) and not isinstance(one, jinja2.Undefined):
            found += len(one)
            left += one if found <= LONGEST_LIST else ()
            left += one.values() if isinstance(one, Mapping) else ()
        if found > LONGEST_LIST and not isinstance(one, str):
            raise TooMuchError(f"a list has more than {LONGEST_LIST:,} elements")
    return found


def as_list(value: Any) -> Any:
    """What an iterator gives, as a list, so that it can be weighed. Raises TooMuchError."""
    if isinstance(value, Sized | jinja2.Undefined) or not isinstance(value, Iterable):
        return value
    found = list(islice(value, LONGEST_LIST + 1))
    if len(found) > LONGEST_LIST:
        raise TooMuchError(f"a list has more than {LONGEST_LIST:,} elements")
    return found


class Weigher(NodeTransformer):
    """Puts the filter around lists, what filters and calls take and give, and what is compared."""

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802, jinja2 names it
        return _weighed(self.generic_visit(node))

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        return _weighed(self.generic_visit(node))

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802
        return _weighed(self.generic_visit(node))

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        found = self.generic_visit(node)
        return _weighed(found) if node.ctx == "load" else found

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802
        found = self.generic_visit(node)
        return _weighed(found) if isinstance(node.arg, nodes.Slice) else found

    def visit_Filter(self, node: nodes.Filter) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        if node.node is None:
            return node
        node.node = _weighed(node.node)
        return _weighed(node)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _weighed(node.expr)
        for operand in node.ops:
            operand.expr = _weighed(operand.expr)
        return node


def _weighed(node: Any) -> nodes.Filter:
    return nodes.Filter(node, FILTER, [], [], None, None, lineno=node.lineno)
