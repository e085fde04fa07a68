"""The modules of each Rust crate import each other in one direction: no circle of files, none of folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/src"))

Module = tuple[str, ...]
"""Names from the root of the crate, which is ()."""
Graph = dict[Module, dict[Module, str]]
"""Each module with the modules it names, and a path by which it names each."""

NO_CODE = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/                            # comments
  | \bb?r(?P<hashes>\#*)".*?"(?P=hashes)            # raw strings
  | b?"(?:\\.|[^"\\])*"                             # strings
  | b?'(?:\\u\{[^}]*\}|\\x..|\\.|[^'\\\n])'         # characters, not lifetimes
  | \bpub\(in\s[^)]*\)                            # who may see something is no import
    """,
    re.VERBOSE | re.DOTALL,
)


def without_tests(code: str) -> str:
    """The code without its `#[cfg(test)] mod name { ... }` blocks."""
    while block := re.search(r"#\[cfg\(test\)\]\s*mod \w+ \{", code):
        depth, end = 1, block.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        code = code[: block.start()] + code[end:]
    return code


def use_paths(tree: str) -> Iterator[str]:
    """The paths of a `use` tree, each written out: `a::{b, c::{d}}` has `a::b` and `a::c::d`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield tree.split(" as ")[0].strip()
        return
    depth, part = 0, ""
    for character in rest[: rest.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if part.strip():
                yield from (head.strip() + path for path in use_paths(part.strip()))
            part = ""
        else:
            part += character


def module_of(file: Path, sources: Path) -> Module:
    names = file.relative_to(sources).with_suffix("").parts
    return names[:-1] if names[-1] in ("mod", "lib") else names


def module_graph(sources: Path) -> Graph:
    """Which modules of a crate name which, tests left out. Parent and child may be a circle like any two."""
    codes = {
        module_of(file, sources): without_tests(NO_CODE.sub(" ", file.read_text()))
        for file in sorted(sources.rglob("*.rs"))
    }
    tests = {
        (*module, name)
        for module, code in codes.items()
        for name in re.findall(r"#\[cfg\(test\)\]\s*(?:pub )?mod (\w+);", code)
    }
    graph: Graph = {}
    for module, code in codes.items():
        if module in tests:
            continue
        uses = re.findall(r"\buse\s+([^;]+);", code)
        paths = [path for use in uses for path in use_paths(re.sub(r"\s+", " ", use))]
        paths += re.findall(r"(?<![\w:])(?:\w+::)+\w+", re.sub(r"\buse\s+[^;]+;", " ", code))
        named = graph[module] = {}
        for path in sorted(set(paths)):
            first, *rest = path.split("::")
            if first == "crate":
                target: Module = ()
            elif first in ("self", "super"):
                target = module if first == "self" else module[:-1]
                while rest and rest[0] == "super":
                    target, rest = target[:-1], rest[1:]
            elif (*module, first) in codes:
                target, rest = module, [first, *rest]
            else:
                continue
            while rest and (*target, rest[0]) in codes:
                target, rest = (*target, rest[0]), rest[1:]
            if target != module and target not in tests:
                named[target] = path
    return graph


def folder_graph(graph: Graph) -> Graph:
    """The same of what stands in `src`: files, and folders as one each."""
    folders: Graph = {}
    for module, named in graph.items():
        for target, path in named.items():
            if module and target and module[0] != target[0]:
                folders.setdefault(module[:1], {})[target[:1]] = f"{path} in {'::'.join(module)}"
    return folders


def circle(graph: Graph) -> list[str]:
    """One circle of a graph, a line for each step; empty if there is none."""
    open_, done = [], set[Module]()

    def visit(module: Module) -> list[str]:
        if module in open_:
            around = [*open_[open_.index(module) :], module]
            name = "::".join
            return [
                f"{name(one) or 'lib'} -> {name(other) or 'lib'} by {graph[one][other]}"
                for one, other in pairwise(around)
            ]
        if module in done:
            return []
        open_.append(module)
        found = next(filter(None, map(visit, graph.get(module, {}))), [])
        open_.pop()
        done.add(module)
        return found

    return next(filter(None, map(visit, graph)), [])


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_rust_modules_of_each_crate_form_no_circle(crate: Path) -> None:
    graph = module_graph(crate / "src")
    assert len(graph) > 1 or crate.name in ("fuzz", "level"), "no modules found: has the layout changed?"
    assert not circle(graph), "\n".join(circle(graph))
    assert not circle(folder_graph(graph)), "\n".join(circle(folder_graph(graph)))


def crate_of(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        file = folder / (name.replace("__", "/") + ".rs")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


LIB = "mod one; mod two;"
PLANTED = {
    "two files": {"lib": LIB, "one": "use crate::two::Two;", "two": "use super::one::One;"},
    "in braces": {"lib": LIB, "one": "use crate::{two};", "two": "pub use crate::{\n one::{self, One},\n};"},
    "a path in code": {"lib": LIB, "one": "fn f() -> crate::two::Two {}", "two": "use super::one;"},
    "by the root": {
        "lib": LIB + "pub use one::One;",
        "one": "use crate::two::Two;",
        "two": "use crate::One;",
    },
    "parent and child": {"lib": "mod one;", "one__mod": "mod in_; use in_::T;", "one__in_": "use super::S;"},
    "three files": {
        "lib": LIB + "mod three;",
        "one": "use crate::two;",
        "two": "use crate::three;",
        "three": '/* " */ use crate::one;',
    },
}


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_circle_of_rust_modules_is_found(planted: str, tmp_path: Path) -> None:
    assert circle(module_graph(crate_of(tmp_path, **PLANTED[planted])))


def test_planted_circle_of_rust_folders_is_found(tmp_path: Path) -> None:
    files = {
        "lib": LIB,
        "one__mod": "mod a; mod b;",
        "one__a": "use crate::two::c::C;",
        "one__b": "",
        "two__mod": "mod c; mod d;",
        "two__c": "",
        "two__d": "use crate::one::b::B;",
    }
    graph = module_graph(crate_of(tmp_path, **files))
    assert not circle(graph)
    assert circle(folder_graph(graph))


def test_circle_of_rust_tests_or_comments_is_none(tmp_path: Path) -> None:
    files = {
        "lib": "mod one; mod two; #[cfg(test)] mod hostile;",
        "one": '//! See [`crate::two`].\nuse crate::two::Two;\nconst S: &str = "crate::two::Two";',
        "two": "#[cfg(test)]\nmod tests { use crate::one::One; fn f() { if true {} } }",
        "hostile": "use crate::one; use crate::two;",
    }
    assert not circle(module_graph(crate_of(tmp_path, **files)))
