"""Reading YAML 1.2 with the position of everything, safely.

Values are built from parser events, not by a YAML constructor: so tags are never executed, depth and
number of nodes are bounded before anything recurses, and duplicate keys are seen. Scalars follow the
YAML 1.2 core schema: `on`, `no` and `12:30:45` are text, `010` is ten.
"""

from __future__ import annotations

import math
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netdyno.errors import PlanError, PlanErrors, suggestion
from netdyno.values.printable import printable

MAX_BYTES = 1 << 20
"""A plan of a hundred lines has 4 kB; a megabyte is a mistake or an attack."""

MAX_DEPTH = 32
MAX_NODES = 20_000
"""Values in a plan, every use of an alias counted again: bounds what ten nested aliases can grow to."""

MAX_ALIASES = 200

MAX_TAG = 256
"""Characters of a word with `!`. The parser's time grows with their square."""

Path_ = tuple[str | int, ...]
"""Where a value is: keys and indices from the top."""

Position = tuple[int, int]
"""Line and column, both from 1."""


@dataclass
class Source:
    """A plan as text and as plain values, with the position of every value and every key."""

    file: str
    text: str = ""
    value: Any = None
    values: dict[Path_, Position] = field(default_factory=dict)
    keys: dict[Path_, Position] = field(default_factory=dict)
    origins: dict[Path_, str] = field(default_factory=dict)
    """Files that parts of the plan were included from, by the path of the part."""
    errors: list[PlanError] = field(default_factory=list)
    elsewhere: dict[Path_, Path_] = field(default_factory=dict)
    """Where parts of the plan stand that were written out for the user, see `stands_at`."""
    overridden: dict[Path_, str] = field(default_factory=dict)
    """Parts of the plan that an option put into it, and the option."""

    def stands_at(self, path: Path_, place: Path_) -> None:
        """Says that what the rules find at `path` is what the text has at `place`."""
        self.elsewhere[path] = place

    def settle(self, path: Path_) -> Path_:
        """The longest beginning of a path that exists in the text; parts that do not are left out."""
        written = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self.elsewhere), ())
        path = (*self.elsewhere.get(written, ()), *path[len(written) :])
        found: Path_ = ()
        for part in path:
            if (*found, part) in self.values:
                found = (*found, part)
        return found

    def position(self, path: Path_, *, key: bool = False) -> Position:
        """Where a value (or its key) begins; that of the nearest thing around it if it is not there."""
        found = self.settle(path)
        if key and found in self.keys:
            return self.keys[found]
        return self.values.get(found, (1, 1))

    def report(
        self, path: Path_, message: str, hint: str | None = None, *, code: str, key: bool = False
    ) -> None:
        """Notes a mistake at a place, on one line whatever text of the plan is quoted in it."""
        found = self.settle(path)
        for whole in (path, found):
            for length in range(len(whole), 0, -1):
                if whole[:length] in self.overridden:
                    place = dotted(whole[:length])
                    self.report_override(self.overridden[whole[:length]], place, message, hint, code=code)
                    return
        line, column = self.position(path, key=key)
        # What is inside an included part stands in its file; the part itself, in ours.
        above = (found[:length] for length in range(len(found) - 1, 0, -1))
        file = next((self.origins[part] for part in above if part in self.origins), self.file)
        hint = None if hint is None else printable(hint)
        self.errors.append(PlanError(line, column, dotted(found), printable(message), hint, file, code=code))

    def report_override(self, by: str, path: str, message: str, hint: str | None, *, code: str) -> None:
        """Notes a mistake in what an option such as `--set` put into the plan."""
        hint = None if hint is None else printable(hint)
        self.errors.append(PlanError(0, 0, path, printable(message), hint, by, code=code))

    def report_key(self, path: Path_, message: str, hint: str | None, *, code: str) -> None:
        """As `report`, of the key at a place: a field that is wrong as a whole, or what should be in it."""
        self.report(path, message, hint, code=code, key=True)

    def report_unknown(
        self,
        path: Path_,
        message: str,
        name: str,
        known: Iterable[str],
        what: str = "known",
        *,
        key: bool = False,
        meant: Sequence[str] = (),
    ) -> None:
        """Notes a name that there is not, with the names that there are. what: these are called. meant: those
        of them that users call so."""
        self.report(path, message, suggestion(name, known, what, meant), key=key, code="unknown-name")

    def override(self, path: Path_, by: str, other: Source) -> None:
        """Says that what is at `path` was put there by an option."""
        self._take_over(path, other)
        for length in range(len(path), 0, -1):
            self.values.setdefault(path[:length], (1, 1))
        self.overridden = {one: old for one, old in self.overridden.items() if one[: len(path)] != path}
        self.overridden[path] = by

    def graft(self, path: Path_, other: Source) -> None:
        """Puts another file's value where `path` is."""
        self._take_over(path, other)
        self.origins[path] = other.file
        self.errors.extend(other.errors)

    def _take_over(self, path: Path_, other: Source) -> None:
        for table, theirs in ((self.values, other.values), (self.keys, other.keys)):
            for place in [place for place in table if place[: len(path)] == path and place != path]:
                del table[place]
            table.update({(*path, *place): position for place, position in theirs.items() if place})


def dotted(path: Path_) -> str:
    """`lab.links[1].rate`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def read_file(path: Path, shown: str | None = None) -> Source:
    """Reads a file. Raises PlanErrors if there is none, it is too large, or it is not UTF-8."""
    name = shown or str(path)
    try:
        data = _bytes_of(path)
    except FileNotFoundError:
        raise _whole(
            name,
            "no such file",
            f"the directory is `{path.parent}`" if path.parent.is_dir() else None,
            code="no-such-file",
        ) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _whole(name, f"cannot be read: {why}", None, code="cannot-read") from None
    if data is None:
        raise _whole(name, "is not a regular file", "write the plan into a file first", code="cannot-read")
    return read_bytes(data, name)


def read_stdin(name: str) -> Source:
    """Reads a plan from standard input, no more of it than a file may have. Raises PlanErrors."""
    if sys.stdin is None:
        raise _whole(name, "standard input is closed", "pipe a plan into it", code="cannot-read")
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    except OSError as error:
        raise _whole(name, f"cannot be read: {error.strerror or error}", None, code="cannot-read") from None
    return read_bytes(data, name)


def _bytes_of(path: Path) -> bytes | None:
    """At most a byte more than a plan may have; None if it is no regular file, whose end may never come."""
    # A FIFO without a writer would not even open.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(MAX_BYTES + 1)


def read_bytes(data: bytes, name: str) -> Source:
    """Reads the bytes of a plan."""
    if len(data) > MAX_BYTES:
        raise _whole(
            name,
            f"is larger than {MAX_BYTES} bytes",
            "a plan is a page of text; measured data does not belong in it",
            code="too-large",
        )
    try:
        return read_text(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        found = PlanError(
            line, column, "", "this is not UTF-8 text", "save the plan as UTF-8", name, code="not-utf8"
        )
        raise PlanErrors(name, [found]) from None


def read_text(text: str, name: str) -> Source:
    """Reads the text of a plan. Raises PlanErrors if it is not YAML."""
    source = Source(name, text)
    if len(text) > MAX_BYTES:
        raise _whole(name, f"is larger than {MAX_BYTES} bytes", None, code="too-large")
    long = _LONG_TAG.search(text)
    if long is not None:
        line = text.count("\n", 0, long.start()) + 1
        column = long.start() - (text.rfind("\n", 0, long.start()) + 1) + 1
        message = f"a word of more than {MAX_TAG} characters with `!`"
        raise PlanErrors(
            name,
            [PlanError(line, column, "", message, "plans are plain YAML: remove it", name, code="too-large")],
        )
    try:
        source.value = _Builder(source).document(_events(text, name))
    except _Stop as stop:
        source.errors.append(stop.error)
        raise PlanErrors(name, source.errors) from None
    return source


_LONG_TAG = re.compile(rf"!\S{{{MAX_TAG}}}")


def _whole(name: str, message: str, hint: str | None, *, code: str) -> PlanErrors:
    return PlanErrors(name, [PlanError(0, 0, "", message, hint, name, code=code)])


class _Stop(Exception):  # noqa: N818
    """Reading cannot go on."""

    def __init__(
        self, name: str, line: int, column: int, message: str, hint: str | None = None, *, code: str
    ) -> None:
        self.error = PlanError(line, column, "", message, hint, name, code=code)


_STUMBLES = (
    ValueError,
    OverflowError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    AssertionError,
)
"""The scanner itself stumbles over some texts (an escape beyond Unicode, a broken %YAML line)."""


def _events(text: str, name: str) -> Iterator[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    line = column = 1
    # The pure parser always: the messages must not depend on whether the C library is installed.
    parser = YAML(typ="safe", pure=True)
    try:
        for event in parser.parse(text):
            line, column = event.start_mark.line + 1, event.start_mark.column + 1
            yield event
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark is not None:
            line, column = mark.line + 1, mark.column + 1
        forgotten = _find_forgotten_colon(text, line)
        if forgotten is not None:
            begin, column, word = forgotten
            message, hint = f"`{word}` has no colon behind it", f"write `{word}:`"
            raise _Stop(name, begin, column, message, hint, code="not-yaml") from None
        raise _Stop(
            name, line, column, f"not YAML: {_sentence(error)}", _yaml_hint(error), code="not-yaml"
        ) from None
    except YAMLError as error:
        reason = str(getattr(error, "reason", "") or "it cannot be read").splitlines()[0]
        position = getattr(error, "position", None)
        if isinstance(position, int):
            line = text.count("\n", 0, position) + 1
            column = position - (text.rfind("\n", 0, position) + 1) + 1
        raise _Stop(name, line, column, f"not YAML: {reason}", code="not-yaml") from None
    except _STUMBLES as error:
        raise _Stop(name, line, column, f"not YAML: {error}", code="not-yaml") from None


LOOKED_BACK = 5
"""Lines before an error in which a colon may be missing: the parser stumbles where the next one stands."""

_NAME = re.compile(r"( *(?:- )?)([A-Za-z][\w-]*)(?= |$)")


def _find_forgotten_colon(text: str, line: int) -> tuple[int, int, str] | None:
    """Where a colon would let the parser go on beyond the line of an error: line, column, and the name that
    it is missing behind; None: nowhere."""
    lines = text.splitlines()
    for place in range(min(line, len(lines)) - 1, max(line - 1 - LOOKED_BACK, -1), -1):
        found = _NAME.match(lines[place])
        # A comment may have one.
        written = lines[place].partition(" #")[0]
        # A goal has no colon, and needs none.
        if found is None or any(sign in written for sign in ":<>"):
            continue
        end = found.end()
        mended = [*lines[:place], f"{lines[place][:end]}:{lines[place][end:]}", *lines[place + 1 :]]
        if _find_error_line("\n".join(mended)) > line:
            return place + 1, found.end(1) + 1, found[2]
    return None


def _find_error_line(text: str) -> float:
    """The line of the first error of YAML, from 1; infinite: there is none."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        for _ in YAML(typ="safe", pure=True).parse(text):
            pass
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return 0 if mark is None else mark.line + 1
    except (YAMLError, *_STUMBLES):
        return 0
    return math.inf


def _sentence(error: Any) -> str:
    parts = [str(part) for part in (error.context, error.problem) if part]
    return ", ".join(parts) or "it cannot be read"


def _yaml_hint(error: Any) -> str | None:
    problem = str(error.problem or "")
    if "'\\t'" in problem:
        return "indent with spaces, YAML forbids tabs"
    if "mapping values are not allowed" in problem:
        return "a value that contains `: ` needs quotes"
    if "cannot start any token" in problem and "%" in problem:
        return 'a value that begins with `%` needs quotes: `"80%"`'
    begun = error.context_mark
    if begun is None:
        return None
    where = f"at line {begun.line + 1}, column {begun.column + 1}"
    match str(error.context or ""):
        case "while parsing a flow mapping":
            return f"close the `{{` {where}, or put a comma between its fields"
        case "while parsing a flow sequence":
            return f"close the `[` {where}, or put a comma between its entries"
        case "while scanning a quoted scalar":
            return f"close the quote {where}"
        case "while parsing a block mapping" | "while parsing a block collection":
            return f"indent this line as far as what begins {where}, or as another name above it"
    return None


_INT = re.compile(r"[-+]?[0-9]{1,18}")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,15}")
_OCT = re.compile(r"0o[0-7]{1,18}")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,3})?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def scalar(text: str) -> str | int | float | bool | None:
    """A plain scalar by the core schema of YAML 1.2, section 10.3.2."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    if _INT.fullmatch(text):
        return int(text)
    if _HEX.fullmatch(text):
        return int(text, 16)
    if _OCT.fullmatch(text):
        return int(text[2:], 8)
    if _FLOAT.fullmatch(text):
        return float(re.sub(r"\.(?=[in])", "", text.lower()))
    return text


@dataclass
class _Open:
    """A collection whose end has not come yet."""

    value: dict[Any, Any] | list[Any]
    path: Path_
    anchor: str | None
    key: tuple[Any, Position] | None = None


_SURROGATE = re.compile("[\ud800-\udfff]")

_NO_KEY = ("a list or a mapping cannot be a key", "keys are names: put it in quotes if it is text")


class _Builder:
    """Turns events into plain values, noting positions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.anchors: dict[str, tuple[Any, Path_ | None]] = {}
        self.nodes = 0
        self.aliases = 0

    def document(self, events: Iterator[Any]) -> Any:
        from ruamel.yaml import events as kinds

        stack: list[_Open] = []
        root: list[Any] = []
        for event in events:
            mark = event.start_mark
            at = (mark.line + 1, mark.column + 1)
            match event:
                case kinds.DocumentStartEvent() if root:
                    raise self._stop(
                        at,
                        "a second document begins here",
                        "one plan a file: remove the `---`",
                        code="not-yaml",
                    )
                case kinds.ScalarEvent() | kinds.AliasEvent():
                    value, origin = self._leaf(event, at, kinds, stack)
                    path = self._place(stack, root, value, at)
                    if path is None:
                        if isinstance(value, dict | list):
                            raise self._stop(at, *_NO_KEY, code="not-yaml")
                    elif origin is not None:
                        self._copy(origin, path)
                    elif event.anchor:
                        self.anchors[event.anchor] = (value, path)
                case kinds.MappingStartEvent() | kinds.SequenceStartEvent():
                    self._tagless(event, at)
                    collection: dict[Any, Any] | list[Any] = (
                        {} if isinstance(event, kinds.MappingStartEvent) else []
                    )
                    path = self._place(stack, root, collection, at)
                    if len(stack) >= MAX_DEPTH:
                        raise self._stop(
                            at,
                            f"nested more than {MAX_DEPTH} deep",
                            "a plan needs about six levels",
                            code="too-large",
                        )
                    if path is None:
                        raise self._stop(at, *_NO_KEY, code="not-yaml")
                    if event.anchor:
                        # Known only when it ends: an alias inside of itself would never end.
                        self.anchors.pop(event.anchor, None)
                    stack.append(_Open(collection, path, event.anchor))
                case kinds.MappingEndEvent() | kinds.SequenceEndEvent():
                    closed = stack.pop()
                    if closed.anchor:
                        self.anchors[closed.anchor] = (closed.value, closed.path)
        return root[0] if root else None

    def _stop(self, at: Position, message: str, hint: str | None = None, *, code: str) -> _Stop:
        return _Stop(self.source.file, *at, message, hint, code=code)

    def _tagless(self, event: Any, at: Position) -> None:
        tag = getattr(event, "tag", None)
        if tag is not None and str(tag) not in (
            "!",
            "tag:yaml.org,2002:str",
            "tag:yaml.org,2002:map",
            "tag:yaml.org,2002:seq",
        ):
            raise self._stop(
                at,
                f"the tag `{str(tag)[:80]}` means nothing in a plan",
                "plans are plain YAML: remove the tag",
                code="not-yaml",
            )

    def _count(self, value: Any, at: Position) -> None:
        self.nodes += 1 + sum(1 for _ in _inside(value))
        if self.nodes > MAX_NODES:
            raise self._stop(
                at,
                f"more than {MAX_NODES} values",
                "give ranges and counts instead of long lists",
                code="too-large",
            )

    def _leaf(self, event: Any, at: Position, kinds: Any, stack: list[_Open]) -> tuple[Any, Path_ | None]:
        if isinstance(event, kinds.AliasEvent):
            if event.anchor not in self.anchors:
                raise self._stop(
                    at,
                    f"`*{event.anchor[:40]}` is not defined above",
                    "an anchor `&name` comes before its alias `*name`",
                    code="unknown-name",
                )
            self.aliases += 1
            if self.aliases > MAX_ALIASES:
                raise self._stop(
                    at,
                    f"more than {MAX_ALIASES} aliases",
                    "write the values out, or use a matrix",
                    code="too-large",
                )
            value, origin = self.anchors[event.anchor]
            self._count(value, at)
            return value, origin
        self._tagless(event, at)
        self._count(None, at)
        if _SURROGATE.search(event.value):
            raise self._stop(
                at,
                "half of a character: a `\\ud800` to `\\udfff` escape stands for none",
                "write the character itself, or its number as in `\\U0001F600`",
                code="not-utf8",
            )
        plain = event.implicit[0] and event.style in (None, "") and event.tag is None
        return (scalar(event.value) if plain else event.value), None

    def _copy(self, origin: Path_, path: Path_) -> None:
        """An alias: what is inside is where the anchor is, the whole is where the alias is."""
        values = self.source.values
        inside = [place for place in values if place[: len(origin)] == origin and place != origin]
        for place in inside:
            moved = (*path, *place[len(origin) :])
            values[moved] = values[place]
            if place in self.source.keys:
                self.source.keys[moved] = self.source.keys[place]

    def _place(self, stack: list[_Open], root: list[Any], value: Any, at: Position) -> Path_ | None:
        """Puts a value where it belongs; None if it became the key of the value to come."""
        if not stack:
            root.append(value)
            self.source.values[()] = at
            return ()
        top = stack[-1]
        if isinstance(top.value, list):
            path = (*top.path, len(top.value))
            top.value.append(value)
        elif top.key is None:
            if isinstance(value, dict | list):
                return None
            top.key = (value, at)
            return None
        else:
            key, key_at = top.key
            top.key = None
            if isinstance(key, bool | float) or key is None:
                # Only names and sizes are keys of a plan; as text they are reported where they stand.
                key = "null" if key is None else str(key).lower()
            path = (*top.path, key)
            if key in top.value:
                first = self.source.keys.get(path, (0, 0))[0]
                self.source.errors.append(
                    PlanError(
                        *key_at,
                        dotted(path),
                        f"`{key}` is given twice",
                        f"the first one is in line {first}; rename or remove one",
                        self.source.file,
                        code="given-twice",
                    )
                )
                # The later value is read into the void: the first one stays, and so do its positions.
                return (*top.path, f"\0{len(self.source.errors)}")
            top.value[key] = value
            self.source.keys[path] = key_at
        self.source.values[path] = at
        return path


def _inside(value: Any) -> Iterator[Any]:
    todo = [value]
    while todo:
        top = todo.pop()
        children = top.values() if isinstance(top, Mapping) else top if isinstance(top, list) else ()
        for child in children:
            yield child
            todo.append(child)
