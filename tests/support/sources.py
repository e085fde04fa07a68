"""The Python sources that tests of the house read: each is parsed once in a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return parse(path.read_text())


def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file's syntax tree."""
    return walk(path.read_text())


@cache
def parse(source: str) -> ast.Module:
    """The syntax tree of a source."""
    return ast.parse(source)


@cache
def walk(source: str) -> tuple[ast.AST, ...]:
    """Every node of the syntax tree of a source."""
    return tuple(ast.walk(parse(source)))


def callee(call: ast.Call) -> str:
    """The last name of what is called; empty if it has none."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
