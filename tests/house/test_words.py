"""Phrases that the project has replaced by plain words (docs/glossary.md): none may come back.

Looked at are documents, comments of the examples, and of the sources what a user or a reader of the API sees:
string literals, first lines of docstrings, names of functions, and Rust's doc comments and string literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

PHRASES = {
    "kept from its core": "preempted",
    "made again": "retried",
    "by the clock": "in real time",
    "simply there": "external device",
    "became another box": "MAC address changed",
    "another box": "another device, another host",
    "would tell": "rerun with X, add X",
    "nobody knows": "unknown",
    "nobody can say": "unknown",
    "what a queue held": "frames still queued",
    "from within": "measured by the tester",
    "from outside": "measured by the device, independent",
    "the far end of a group": "the far-end switch of the LAG",
    "no part in it": "the tester was healthy",
    "proven to do": "calibrated for",
    "proven to pass": "calibrated for",
    "is told": "is reported, is passed to",
    "are told": "are reported, are passed to",
    "was told": "was reported, was passed to",
    "were told": "were reported, were passed to",
    "one's own": "your own",
    "who was the limit": "the limit",
    "left late": "sent late",
    "tainted": "not usable",
    "the rise": "the ramp-up",
    "linear rise": "ramp-up",
}
"""What is not written any more, and what is written instead."""

NAMES = {"told": "a verb and an object, such as `explain_limit`"}
"""Names of functions that say nothing of what is done."""

UNCLEAN: frozenset[str] = frozenset()
"""Packages and crates whose sentences are still being rewritten; it only shrinks."""


class Text(NamedTuple):
    """A sentence that a user or a developer reads, where it stands, and the part of the project it is of."""

    part: str
    where: str
    text: str


def of_documents() -> Iterator[Text]:
    """Each paragraph of the documents and of the comments in the examples."""
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.yaml")]:
        line = 1
        for paragraph in re.split(r"(\n\s*\n)", path.read_text()):
            part = "methods" if path.name == "reference.md" else "docs"
            yield Text(part, f"{path.relative_to(ROOT)}:{line}", paragraph.replace("\n#", "\n"))
            line += paragraph.count("\n")


def of_python(source: str, part: str, where: str) -> Iterator[Text]:
    """Literals, first lines of docstrings, and names of functions (words apart) of a module."""
    tree = ast.parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                skipped.add(id(node.value))
                first = node.value.value.strip().split("\n\n")[0]
                yield Text(part, f"{where}:{node.lineno}", first)
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(piece) for piece in node.values)
            pieces = [str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values]
            yield Text(part, f"{where}:{node.lineno}", "".join(pieces))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Text(part, f"{where}:{node.lineno}", f"def {node.name.strip('_').replace('_', ' ')}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield Text(part, f"{where}:{node.lineno}", node.value)


def of_rust(source: str, part: str, where: str) -> Iterator[Text]:
    """Doc comments, one after the other, and string literals of a Rust source."""
    block, begins = "", 0
    for number, line in enumerate(source.splitlines(), 1):
        comment = re.match(r"\s*//[/!] ?(.*)", line)
        if comment:
            begins = begins or number
            block += f" {comment[1]}"
            continue
        if block:
            yield Text(part, f"{where}:{begins}", block)
        block, begins = "", 0
    literals = re.sub(r"^\s*//.*$", "", source, flags=re.MULTILINE)
    for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', literals, re.DOTALL):
        text = re.sub(r"\\\n\s*", "", found[1])
        yield Text(part, f"{where}:{literals[: found.start()].count(chr(10)) + 1}", text)


def everything() -> Iterator[Text]:
    """All that is looked at."""
    yield from of_documents()
    package = ROOT / "python" / "netdyno"
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package).parts[0].removesuffix(".py")
        yield from of_python(path.read_text(), part, str(path.relative_to(ROOT)))
    for path in sorted((package / "reports" / "assets").glob("*.j*")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield Text("reports", f"{path.relative_to(ROOT)}:{number}", line)
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        inner = path.relative_to(ROOT / "crates").parts
        if "tests" not in inner and path.stem not in ("tests", "test", "fuzz"):
            yield from of_rust(path.read_text(), f"crates/{inner[0]}", str(path.relative_to(ROOT)))


FORBIDDEN = re.compile(
    "|".join(
        rf"(?<!\w){re.escape(phrase).replace(chr(92) + ' ', ' ')}(?!\w)(?! apart)" for phrase in PHRASES
    ),
    re.IGNORECASE,
)


def findings(texts: Iterator[Text]) -> list[tuple[str, str]]:
    """The part and one line, what stands where and what to write, for each phrase that is not to be."""
    found = []
    for part, where, text in texts:
        for match in FORBIDDEN.finditer(re.sub(r"\s+", " ", text)):
            found.append((part, f"{where}: `{match[0]}`: write {PHRASES[match[0].lower()]}"))
        name = text.removeprefix("def ")
        if name != text and name in NAMES:
            found.append((part, f"{where}: a function `{name}`: write {NAMES[name]}"))
    return found


def test_texts_of_clean_parts_hold_no_replaced_phrase() -> None:
    found = [line for part, line in findings(everything()) if part not in UNCLEAN]
    assert not found, "\n" + "\n".join(found)


def test_list_of_unclean_parts_names_only_parts_that_exist() -> None:
    assert {text.part for text in everything()} >= UNCLEAN


PLANTED_PYTHON = '''
def another_box() -> str:
    """The rise."""
    value = 1
    return f"a trial {value} was made " f"again" + "it is told"
'''

PLANTED_RUST = """
/// Nobody
/// knows.
fn fine() { let a = "by the \\
    clock"; }
// what is simply there may stand in a plain comment
"""


def test_python_with_planted_phrases_is_found() -> None:
    found = [line for _, line in findings(of_python(PLANTED_PYTHON, "x", "x.py"))]
    assert [line.split("`")[1] for line in sorted(found)] == [
        "another box",
        "The rise",
        "is told",
        "made again",
    ]


def test_rust_with_planted_phrases_is_found() -> None:
    found = [line for _, line in findings(of_rust(PLANTED_RUST, "x", "x.rs"))]
    assert [line.split("`")[1] for line in found] == ["Nobody knows", "by the clock"]


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_in_a_sentence_is_found(phrase: str) -> None:
    assert findings(iter([Text("x", "x", f"Then {phrase}, at last.")])), phrase
    assert not findings(iter([Text("x", "x", f"Then {phrase}x at last.")])), phrase
