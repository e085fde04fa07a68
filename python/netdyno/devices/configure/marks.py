"""Marks in an expanded template where each of its lines comes from."""

from __future__ import annotations

import re
import secrets

from jinja2 import nodes

_KEPT = (nodes.AssignBlock, nodes.FilterBlock)
"""What is in them is a value, which a mark would change."""


class Marks:
    """The marks of one expansion. No template can write one: each begins with a number drawn by chance."""

    def __init__(self) -> None:
        self._begin = f"\x00{secrets.randbelow(10**9)}:"
        self._pattern = re.compile(rf"{re.escape(self._begin)}([^\x00]*)\x00")

    def add(self, node: nodes.Node, name: str) -> None:
        """Adds them to the tree of a template."""
        for child in node.iter_child_nodes():
            if isinstance(child, nodes.Output):
                child.nodes = [one for part in child.nodes for one in self._marked(part, name)]
            elif not isinstance(child, _KEPT):
                self.add(child, name)

    def split(self, text: str) -> tuple[list[str], list[str]]:
        """The lines of an expanded text without marks, and the place of each, `template:line`."""
        lines, places, place = [], [], ""
        for line in text.split("\n"):
            at = 0
            # A part that ends a line marks the next one too: what follows it there knows better.
            while found := self._pattern.match(line, at):
                place, at = found[1], found.end()
            lines.append(self._pattern.sub("", line))
            places.append(place)
        return lines, places

    def _marked(self, part: nodes.Expr, name: str) -> list[nodes.Expr]:
        def mark(line: int) -> str:
            return f"{self._begin}{name}:{line}\x00"

        if not isinstance(part, nodes.TemplateData):
            return [nodes.TemplateData(mark(part.lineno), lineno=part.lineno), part]
        pieces = part.data.split("\n")
        marked = "\n".join(f"{mark(part.lineno + number)}{one}" for number, one in enumerate(pieces))
        return [nodes.TemplateData(marked, lineno=part.lineno)]
