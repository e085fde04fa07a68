"""Expands templates in a child process with limits of memory and time, which Jinja2 has none of.

Only this module and `marks` import jinja2.
"""

from __future__ import annotations

import errno
import gc
import os
import pickle
import re
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any, ClassVar, NoReturn

import jinja2
import jinja2.meta
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing as missing_owner

from netdyno.devices.configure.marks import Marks
from netdyno.devices.configure.sources import TemplateFault
from netdyno.devices.wiring import LabError
from netdyno.errors import suggestion

MEMORY_MB = 512
"""What expanding may take beyond this process."""
CPU_S = 2.0
"""Of one expansion."""
MOST_CHARACTERS = 1_000_000
"""Of an expanded text."""
STAND_IN = "\ufffc"
"""What is written in place of a value that is missing (OBJECT REPLACEMENT CHARACTER)."""

Find = Callable[[str], str | None]
"""Gives the source of a template by its name; None: there is none. Raises TemplateFault."""


@dataclass(frozen=True)
class Expansion:
    """An expanded template: its lines, and the place of each, `template:line`.

    faults: what is wrong with it. Where a value is missing, a line has `STAND_IN`; after another fault there
    are no lines.
    """

    lines: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    faults: tuple[TemplateFault, ...] = ()


class _Missing(jinja2.StrictUndefined):
    """A value that is missing. Where it can be stood in for, it is noted, so that all are found at once."""

    note: ClassVar[Callable[[jinja2.Undefined], None]]

    def __str__(self) -> str:  # type: ignore[override]
        type(self).note(self)
        return STAND_IN

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        type(self).note(self)
        return iter(())

    def __bool__(self) -> bool:  # type: ignore[override]
        type(self).note(self)
        return False

    def __getitem__(self, key: object) -> Any:
        type(self).note(self)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]


class _Environment(ImmutableSandboxedEnvironment):
    """Of the templates that `find` gives. noted: missing values of an expansion, by what is wrong."""

    def __init__(self, find: Find) -> None:
        super().__init__(
            undefined=type("a value that is missing", (_Missing,), {"note": self._note}),
            loader=jinja2.FunctionLoader(lambda name: _named(find(name), name)),
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._marks = Marks()
        self._known: tuple[str, ...] = ()
        self._noted: dict[str, TemplateFault] = {}

    def expand(self, name: str, values: Mapping[str, Any]) -> Expansion:
        """The expansion of a template, whatever is wrong with it."""
        self._known, self._noted = tuple(values), {}
        try:
            text = self.get_template(name).render(values)
            if len(text) > MOST_CHARACTERS:
                raise ValueError(f"its text has more than {MOST_CHARACTERS:,} characters")
            lines, places = self._marks.split(text)
        except Exception as error:
            fault = self._as_fault(error, name)
            return Expansion(faults=(*self._noted.values(), *([fault] if fault else [])))
        return Expansion(tuple(lines), tuple(places), tuple(self._noted.values()))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        if None in jinja2.meta.find_referenced_templates(tree):
            raise jinja2.TemplateSyntaxError("`include` takes a name in quotes", 0, name)
        self._marks.add(tree, name or "")
        return tree

    def _note(self, missing: jinja2.Undefined) -> None:
        """Notes a missing value, the first time that it is used. Raises SecurityError for a forbidden one."""
        if missing._undefined_hint:
            missing._fail_with_undefined_error()
        why, hint = _explain(missing, self._known)
        self._noted.setdefault(why, TemplateFault(*_here(), why, hint))

    def _as_fault(self, error: Exception, name: str) -> TemplateFault | None:
        """None: it may only follow from what stands in for a value that is missing."""
        if isinstance(error, jinja2.UndefinedError):
            why = str(error)
            if known := re.fullmatch(r"'(\w+)' is undefined", why):
                why, hint = _unknown_name(known[1], self._known)
                return None if why in self._noted else TemplateFault(*_place(error, name), why, hint)
            return TemplateFault(*_place(error, name), why)
        if self._noted:
            return None
        if isinstance(error, TemplateFault):
            return error
        if isinstance(error, jinja2.TemplateSyntaxError):
            why = (error.message or "it is no template").rstrip(". ")
            return TemplateFault(error.name or name, error.lineno, why)
        if isinstance(error, jinja2.TemplateNotFound):
            absent = str(error.name or name)
            return TemplateFault(*_place(error, name), f"there is no template `{absent}`", absent=absent)
        if isinstance(error, MemoryError):
            return TemplateFault(*_place(error, name), f"it takes more than {MEMORY_MB} MB")
        why = str(error)[:300].rstrip(". ") or type(error).__name__
        return TemplateFault(*_place(error, name), why)


def expand_all(jobs: Sequence[tuple[str, Mapping[str, Any]]], find: Find) -> list[Expansion]:
    """The expansions of templates with values, in a child process.

    Fewer than asked for if a limit ended the child: the last one says so. Raises LabError `process-ended`.
    """
    if not jobs:
        return []
    inlet, outlet = os.pipe()
    # Threads of this process hold no lock that the child needs: it expands, writes and ends.
    child = os.fork()
    if child == 0:
        os.close(inlet)
        _work(jobs, find, outlet)
    found: list[Expansion] = []
    try:
        os.close(outlet)
        with open(inlet, "rb") as answers, suppress(EOFError, pickle.UnpicklingError):
            while len(found) < len(jobs):
                found.append(pickle.load(answers))
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if len(found) < len(jobs):
        name = jobs[len(found)][0]
        limit = _find_limit(os.waitstatus_to_exitcode(status), name)
        found.append(Expansion(faults=(TemplateFault(name, 0, f"it takes more than {limit}"),)))
    return found


def _find_limit(code: int, name: str) -> str:
    """The limit that ended the child, by its exit code, as subprocess has it.

    name: of the template that was expanded. Raises LabError `process-ended`: it was no limit.
    """
    if code in (-signal.SIGPROF, -signal.SIGXCPU):
        return f"{CPU_S:.0f} s of CPU"
    if code == errno.ENOMEM:
        return f"{MEMORY_MB} MB"
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    raise LabError(
        f"Template {name}: the process that expands it ended with {how}.",
        "standard error has what it printed" if code > 0 else "look at the system's log",
        code="process-ended",
    )


def _work(jobs: Sequence[tuple[str, Mapping[str, Any]]], find: Find, outlet: int) -> NoReturn:
    """What the child does."""
    try:
        # Ctrl-C is the parent's: it waits no longer than the limit of time.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        # Nothing of the parent's is ended here.
        gc.freeze()
        _limit_memory()
        environment = _Environment(find)
        with open(outlet, "wb") as answers:
            for name, values in jobs:
                # Ends the process, also within one long operation of Python.
                signal.setitimer(signal.ITIMER_PROF, CPU_S)
                found = environment.expand(name, values)
                signal.setitimer(signal.ITIMER_PROF, 0)
                pickle.dump(found, answers)
                answers.flush()
    except MemoryError:
        os._exit(errno.ENOMEM)
    except BaseException:
        try:
            traceback.print_exc()
        finally:
            os._exit(1)
    os._exit(0)


def _limit_memory() -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + MEMORY_MB * 2**20
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


@lru_cache(maxsize=256)
def find_names(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a template needs a value for, and the templates that it includes.

    Of one that is no template, every word of it: rendering says what is wrong, and no setting is to be called
    unknown beside that.
    """
    try:
        tree = jinja2.Environment().parse(source)
        # It looks filters up, too.
        names = frozenset(jinja2.meta.find_undeclared_variables(tree))
    except (jinja2.TemplateSyntaxError, RecursionError):
        return frozenset(re.findall(r"(?<!\w)[A-Za-z_]\w*", source)), frozenset()
    return names, frozenset(name for name in jinja2.meta.find_referenced_templates(tree) if name)


def _named(source: str | None, name: str) -> tuple[str, str, None] | None:
    """A source as jinja2 loads it: under its name, which stands in the trace of an error."""
    return None if source is None else (source, name, None)


def _explain(missing: jinja2.Undefined, known: Sequence[str]) -> tuple[str, str | None]:
    """What is missing, and names that there are."""
    owner, name = missing._undefined_obj, str(missing._undefined_name)
    if owner is missing_owner:
        return _unknown_name(name, known)
    if isinstance(owner, Mapping):
        return f"there is no `{name}` in it", suggestion(name, owner, "it has")
    return missing._undefined_message, None


def _unknown_name(name: str, known: Sequence[str]) -> tuple[str, str]:
    return f"unknown name `{name}`", suggestion(name, known, "names")


def _here() -> tuple[str, int]:
    """The template and line that is being expanded."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if template is not None:
            return str(template.name), template.get_corresponding_lineno(frame.f_lineno)
        frame = frame.f_back
    return "", 0


def _place(error: BaseException, name: str) -> tuple[str, int]:
    """The template and line in which an error was raised: jinja2 puts both into the trace."""
    place, trace = (name, 0), error.__traceback__
    while trace is not None:
        if "__jinja_exception__" in trace.tb_frame.f_globals:
            place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return place
