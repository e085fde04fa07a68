"""Phrases that the project has replaced by plain words (docs/glossary.md): none may come back.

Looked at are documents, comments of the examples, and of sources, tests, benches and tools: string literals,
docstrings, comments and names of functions. Names of tests also have a length.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
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

LONGEST = 70
"""Characters of the name of a test."""

NO_CONDITIONS = ("told", "nobody", "nobodys", "whatever", "whoever", "made again", "ones own", "one s own")
"""Words that say neither the condition nor the result of a test, beside the replaced phrases."""


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
    """Comments, docstrings, literals, and names of functions (words apart) of a module."""
    yield from comments_of_python(source, part, where)
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                skipped.add(id(node.value))
                yield Text(part, f"{where}:{node.lineno}", node.value.value)
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(piece) for piece in node.values)
            pieces = [str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values]
            yield Text(part, f"{where}:{node.lineno}", "".join(pieces))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Text(part, f"{where}:{node.lineno}", f"def {node.name.strip('_').replace('_', ' ')}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield Text(part, f"{where}:{node.lineno}", node.value)


def comments_of_python(source: str, part: str, where: str) -> Iterator[Text]:
    """Comments of a module; those on lines that follow each other are one text."""
    block, begins, last = "", 0, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            if block and line != last + 1:
                yield Text(part, f"{where}:{begins}", block)
                block = ""
            begins = begins if block else line
            block, last = f"{block} {token.string.lstrip('#: ')}", line
    if block:
        yield Text(part, f"{where}:{begins}", block)


def of_rust(source: str, part: str, where: str) -> Iterator[Text]:
    """Comments, string literals, and names of functions (words apart) of a Rust source."""
    block, begins = "", 0
    for number, line in enumerate([*source.splitlines(), ""], 1):
        comment = re.search(r"//[/!]? ?(.*)", re.sub(r'"(?:[^"\\]|\\.)*"', "", line))
        if comment:
            begins = begins or number
            block += f" {comment[1]}"
        elif block:
            yield Text(part, f"{where}:{begins}", block)
            block, begins = "", 0
        function = re.match(r"\s*(?:pub(?:\(\w+\))? )?(?:const |unsafe )*fn (\w+)", line)
        if function:
            yield Text(part, f"{where}:{number}", f"def {function[1].replace('_', ' ')}")
    literals = re.sub(r"^\s*//.*$", "", source, flags=re.MULTILINE)
    for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', literals, re.DOTALL):
        text = re.sub(r"\\\n\s*", "", found[1])
        yield Text(part, f"{where}:{literals[: found.start()].count(chr(10)) + 1}", text)


def read_everything() -> Iterator[Text]:
    """All that is looked at; of sources only those that may hold a phrase."""
    yield from of_documents()
    package = ROOT / "python" / "netdyno"
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package).parts[0].removesuffix(".py")
        if may_hold_a_phrase(source := path.read_text()):
            yield from of_python(source, part, str(path.relative_to(ROOT)))
    for path in sorted((package / "reports" / "assets").glob("*.j*")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield Text("reports", f"{path.relative_to(ROOT)}:{number}", line)
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]:
        if path != Path(__file__) and may_hold_a_phrase(source := path.read_text()):
            where = path.relative_to(ROOT)
            yield from of_python(source, where.parts[0], str(where))
    for path in [*(ROOT / "tools").glob("*.sh"), ROOT / "Makefile"]:
        yield Text("tools", f"{path.relative_to(ROOT)}:1", path.read_text().replace("\n#", "\n"))
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        inner = path.relative_to(ROOT / "crates").parts
        if may_hold_a_phrase(source := path.read_text()):
            yield from of_rust(source, f"crates/{inner[0]}", str(path.relative_to(ROOT)))


def names_of_tests() -> Iterator[tuple[str, str]]:
    """Where each test stands, and its name."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE):
            yield str(path.relative_to(ROOT)), name
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        for name in re.findall(r"^\s*#\[test\]\n(?:\s*#\[.*\n)*\s*fn (\w+)", path.read_text(), re.MULTILINE):
            yield str(path.relative_to(ROOT)), name


FORBIDDEN = re.compile(
    "|".join(
        rf"(?<!\w){re.escape(phrase).replace(chr(92) + ' ', ' ')}(?!\w)(?! apart)" for phrase in PHRASES
    ),
    re.IGNORECASE,
)


def words_of(text: str) -> str:
    """The words of a source in lower case, without what stands between them."""
    text = re.sub(r"""\\n|\b[rbf]{1,2}(?=["'])|[^a-zA-Z0-9]+""", " ", text)
    return f" {' '.join(text.lower().split())} "


WANTED = tuple(words_of(one) for one in (*PHRASES, "def told", "fn told"))


def may_hold_a_phrase(source: str) -> bool:
    """Whether its words are those of a phrase: most sources need no parsing."""
    words = words_of(source)
    return any(one in words for one in WANTED)


def findings(texts: Iterable[Text]) -> list[tuple[str, str]]:
    """The part and one line, what stands where and what to write, for each phrase that is not to be."""
    found = []
    for part, where, text in texts:
        plain = " ".join(text.split())
        small = plain.lower()
        for match in FORBIDDEN.finditer(plain) if any(one in small for one in PHRASES) else ():
            found.append((part, f"{where}: `{match[0]}`: write {PHRASES[match[0].lower()]}"))
        name = text.removeprefix("def ")
        if name != text and name in NAMES:
            found.append((part, f"{where}: a function `{name}`: write {NAMES[name]}"))
    return found


def faults_of_name(name: str) -> list[str]:
    """What is wrong with the name of a test."""
    words = f" {name.replace('_', ' ')} "
    found = [f"`{one}`" for one in NO_CONDITIONS if f" {one} " in words]
    found += [f"`{match[0]}`" for match in FORBIDDEN.finditer(words)]
    if len(name) > LONGEST:
        found.append(f"{len(name)} characters")
    return found


def test_names_of_tests_are_short_and_hold_no_replaced_phrase() -> None:
    named = list(names_of_tests())
    assert {Path(where).suffix for where, _ in named} == {".py", ".rs"}
    found = [
        f"{where}: {name}: {', '.join(faults)}" for where, name in named if (faults := faults_of_name(name))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("test_port_without_a_cable_is_refused", []),
        ("test_a_trial_is_made_again", ["`made again`", "`made again`"]),
        ("what_nobody_told_fails", ["`told`", "`nobody`"]),
        (f"test_{'x' * 66}", ["71 characters"]),
        (f"test_{'x' * 65}", []),
    ],
)
def test_name_of_a_test_with_planted_faults_is_found(name: str, faults: list[str]) -> None:
    assert faults_of_name(name) == faults


def test_texts_hold_no_replaced_phrase() -> None:
    found = [line for _, line in findings(read_everything())]
    assert not found, "\n" + "\n".join(found)


PLANTED_PYTHON = '''
def another_box() -> str:
    """The rise.

    A frame left
    late.
    """
    value = 1  # nobody
    # knows: that is `tainted` "from within"
    return f"a trial {value} was made " f"again" + "it is told"
'''

PLANTED_RUST = """
/// Nobody
/// knows.
fn fine() { let a = "by the \\
    clock"; }
// what is simply
// there may not
pub(crate) fn made_again() { let a = "http://x"; } // another box
"""


def test_python_with_planted_phrases_is_found() -> None:
    assert may_hold_a_phrase(PLANTED_PYTHON)
    found = [line for _, line in findings(of_python(PLANTED_PYTHON, "x", "x.py"))]
    assert [line.split("`")[1] for line in found] == [
        "nobody knows",
        "tainted",
        "from within",
        "another box",
        "The rise",
        "left late",
        "made again",
        "is told",
    ]


def test_rust_with_planted_phrases_is_found() -> None:
    assert may_hold_a_phrase(PLANTED_RUST)
    found = [line for _, line in findings(of_rust(PLANTED_RUST, "x", "x.rs"))]
    assert [line.split("`")[1] for line in found] == [
        "Nobody knows",
        "made again",
        "simply there",
        "another box",
        "by the clock",
    ]


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_in_a_sentence_is_found(phrase: str) -> None:
    assert findings(iter([Text("x", "x", f"Then {phrase}, at last.")])), phrase
    first, _, rest = phrase.partition(" ")
    for source in (f"# Then {phrase}.", f'"{first} "\nf"{rest}"', f"{first}_{rest}", f"a\\n{first}\\n{rest}"):
        assert may_hold_a_phrase(source), source
    assert not may_hold_a_phrase(f"{first}{rest}s")
    assert not findings(iter([Text("x", "x", f"Then {phrase}x at last.")])), phrase
