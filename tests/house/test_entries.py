"""One file and one line for what a table holds: nothing else has its name as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from pathlib import Path

import netdyno
import pytest
import sources
from netdyno.ports.backends import BACKENDS, RING

PACKAGE = Path(netdyno.__file__).parent

SERVED = "cli/serve.py"
"""What `dut serve` offers to other testers are memifs, as its option is called."""


def literals(source: str, names: Set[str]) -> Iterator[int]:
    """Lines of a source with one of these names as text."""
    if not any(name in source for name in names):
        return
    for node in sources.walk(source):
        if isinstance(node, ast.Constant) and node.value in names:
            yield node.lineno


def named(names: Set[str], home: str, exempt: Set[str] = frozenset()) -> list[str]:
    """Places outside a package that have one of these names as text."""
    return [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(PACKAGE / home) and str(path.relative_to(PACKAGE)) not in exempt
        for line in literals(path.read_text(), names)
    ]


def test_backend_is_named_in_its_own_package_alone() -> None:
    assert named({*BACKENDS, RING}, "ports", {SERVED}) == []


@pytest.mark.parametrize("source", ['kinds == ("memif",)', 'kind == "memif"', '{"kind": "memif"}'])
def test_backend_named_as_text_is_found(source: str) -> None:
    assert list(literals(source, BACKENDS.keys())) == [1]
