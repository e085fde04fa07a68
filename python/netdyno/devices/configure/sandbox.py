"""Expands templates that may be hostile: no files, no attributes, bounded output, memory and time.

Only this module, `marks` and `unknown` import jinja2. A template may use values, loops, conditions, `set` and
includes; macros, blocks and inheritance, which can recurse, are refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from itertools import chain
from typing import Any

import jinja2
import jinja2.meta
from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from netdyno.devices.configure.faults import TemplateFault, as_fault
from netdyno.devices.configure.marks import Marks
from netdyno.devices.configure.unknown import Unknown, UnknownError, class_of
from netdyno.devices.configure.weight import (
    CHARACTERS,
    FILTER,
    LONGEST_LIST,
    TooMuchError,
    Weigher,
    as_list,
    weigh,
)

MOST_CHARACTERS = 1_000_000
"""Of an expanded text, and of any text inside a template."""
MOST_STEPS = 100_000
"""Turns of all loops, and included templates, of one expansion."""
MOST_WEIGHT = 2_000_000
"""Of all lists and texts that an expansion makes, filters or compares, as `weigh` has it."""
MOST_NUMBER = 2**63

_FILTERS = (
    *("default", "d", "first", "last", "length", "count", "int", "lower", "upper", "trim", "sort", "unique"),
    *("list", "min", "max", "abs", "reverse"),
)
_METHODS = ("items", "keys", "values", "get", "lower", "upper", "strip", "startswith", "endswith", "split")
_LOOP = ("index", "index0", "first", "last", "length", "revindex", "revindex0")
_REFUSED = (nodes.Macro, nodes.CallBlock, nodes.Block, nodes.Extends, nodes.Import, nodes.FromImport)


class _Generator(CodeGenerator):
    def visit_Concat(self, node: nodes.Concat, frame: Any) -> None:  # noqa: N802, jinja2 names it
        self.write("environment.concat((")
        for part in node.nodes:
            self.write("environment.as_text(")
            self.visit(part, frame)
            self.write("), ")
        self.write("))")


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of one expansion.

    find: the source of a template by its name; None: there is none. unknown: the class of missing values.
    """

    code_generator_class = _Generator
    intercepted_binops = frozenset(("+", "-", "*", "**", "/", "//", "%"))

    def __init__(self, find: Callable[[str], str | None], unknown: type[Unknown] = Unknown) -> None:
        super().__init__(
            undefined=unknown,
            loader=jinja2.FunctionLoader(lambda name: _named(find(name), name)),
            finalize=self.as_text,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            optimized=False,
        )
        self.steps = 0
        self.weight = 0
        self.loaded: Counter[str] = Counter()
        self.marks = Marks()
        self.filters = {name: self.filters[name] for name in _FILTERS} | {
            "counted": self.count,
            "join": self.join,
            FILTER: self.weighed,
            "replace": self.substitute,
        }
        self.tests = {
            name: self.tests[name] for name in ("defined", "undefined", "none", "divisibleby", "in")
        }
        self.globals = {"range": _bounded_range}

    def concat(self, parts: Iterable[str]) -> str:
        """Texts as one. Raises TooMuchError."""
        found, size = [], 0
        for part in parts:
            size += len(part)
            if size > MOST_CHARACTERS:
                raise TooMuchError(f"its text has more than {MOST_CHARACTERS:,} characters")
            found.append(part)
        self.add_weight(size // CHARACTERS)
        return "".join(found)

    def as_text(self, value: object) -> object:
        """A text or a number as text. Raises TooMuchError for a list or mapping: it may hold itself often."""
        if isinstance(value, jinja2.Undefined | str):
            return str(value)
        if isinstance(value, bool | int | float) or value is None:
            return str(value)
        raise TooMuchError("it writes a list or mapping as text: use `join`, or one of it, as in `ports[0]`")

    def join(self, values: Iterable[object], between: str = "") -> str:
        """The filter `join`."""
        parts = [str(self.as_text(value)) for value in self.count(values)]
        return self.concat([part for one in parts for part in (between, one)][1:])

    def substitute(self, text: object, old: str, new: str) -> str:
        """The filter `replace`."""
        return self.concat(chain.from_iterable((new, one) for one in str(self.as_text(text)).split(old)))[
            len(new) :
        ]

    def count(self, values: Iterable[Any]) -> Iterator[Any]:
        """The same values, each a step. Raises TooMuchError."""
        for value in values:
            self.step()
            yield value

    def weighed(self, value: Any) -> Any:
        """The same value, an iterator as a list, when its weight is counted. Raises TooMuchError."""
        value = as_list(value)
        self.add_weight(weigh(value))
        return value

    def add_weight(self, weight: int) -> None:
        """Counts work on lists and texts. Raises TooMuchError."""
        self.weight += weight
        if self.weight > MOST_WEIGHT:
            raise TooMuchError("it works on too many and too long lists or texts")

    def step(self) -> None:
        """Counts a step. Raises TooMuchError."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooMuchError(f"its loops have more than {MOST_STEPS:,} turns")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Arithmetic of numbers; `+` also of texts. Raises TooMuchError."""
        for one in (left, right):
            if isinstance(one, Unknown):
                return one.use()
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            return self.concat((left, right))
        numbers = all(isinstance(one, int | float) and abs(one) < MOST_NUMBER for one in (left, right))
        if operator == "**":
            raise TooMuchError("`**` is not for templates of devices")
        if not numbers:
            also = " or two texts" if operator == "+" else ""
            raise TooMuchError(f"`{operator}` is for numbers below 2^63{also}")
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Only harmless methods of mappings and texts, and the turn of a loop."""
        if isinstance(obj, LoopContext):
            return attr in _LOOP
        return isinstance(obj, Unknown) or (isinstance(obj, Mapping | str) and attr in _METHODS)

    def _load_template(
        self,
        name: str,
        globals: MutableMapping[str, Any] | None,
    ) -> jinja2.Template:
        self.step()
        self.loaded[str(name)] += 1
        return super()._load_template(name, globals)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in tree.find_all(nodes.Node):
            if isinstance(node, _REFUSED) or (isinstance(node, nodes.For) and node.recursive):
                kind = type(node).__name__.lower()
                raise jinja2.TemplateSyntaxError(
                    f"`{kind}` is not for templates of devices", node.lineno, name
                )
        Weigher().visit(tree)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, "counted", [], [], None, None, lineno=loop.lineno)
        self.marks.add(tree, name or "")
        return tree


def _named(source: str | None, name: str) -> tuple[str, str, None] | None:
    """A source as jinja2 loads it: under its name, which stands in the trace of an error."""
    return None if source is None else (source, name, None)


def _bounded_range(*numbers: int) -> range:
    found = range(*numbers)
    if len(found) > LONGEST_LIST:
        raise TooMuchError(f"`range` has more than {LONGEST_LIST:,} numbers")
    return found


def expand(
    name: str,
    find: Callable[[str], str | None],
    values: Mapping[str, Any],
    missing: Collection[tuple[str, str]] = (),
) -> tuple[list[str], list[str]]:
    """The lines of a template, and the place of each, `template:line`. Raises TemplateFault.

    missing: values whose lack is known: a stand-in is written for each.
    """
    sandbox = Sandbox(find, class_of(tuple(values), missing))
    filters, tests = sorted((*_FILTERS, "join", "replace")), sorted(sandbox.tests)
    try:
        return sandbox.marks.split(sandbox.get_template(name).render(values))
    except jinja2.TemplateSyntaxError as error:
        raise as_fault(
            error.name or name, error.lineno, error.message or "", filters, tests, error.source or ""
        ) from error
    except jinja2.TemplateNotFound as error:
        absent = str(error.name or name)
        raise TemplateFault(
            *_place(error, name), f"there is no template `{absent}`", absent=absent
        ) from error
    except RecursionError as error:
        if max(sandbox.loaded.values()) > 1:
            raise TemplateFault(name, 0, "it includes itself", "take the `include` out") from error
        why = "its parts are nested too deep"
        raise TemplateFault(name, 0, why, "write it with fewer parentheses and blocks") from error
    except UnknownError as error:
        raise TemplateFault(*_place(error, name), str(error), error.hint, missing=error.missing) from error
    except jinja2.TemplateRuntimeError as error:
        # Jinja2 looks some filters and tests up only where they are used.
        raise as_fault(*_place(error, name), str(error)[:300], filters, tests, "") from error
    except Exception as error:
        # What a hostile template makes Python raise is a mistake of the template, whatever its class.
        why = str(error)[:300].rstrip(". ") or type(error).__name__
        raise TemplateFault(*_place(error, name), why) from error


def find_names(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a template needs a value for, and the templates that it includes by name.

    Of one that is no template, every word of it: rendering says what is wrong, and no setting is to be called
    unknown beside that.
    """
    sandbox = Sandbox(lambda name: None)
    try:
        tree = sandbox.parse(source)
        # It looks filters up, too.
        names = frozenset(jinja2.meta.find_undeclared_variables(tree))
    except (jinja2.TemplateSyntaxError, RecursionError):
        return frozenset(re.findall(r"(?<!\w)[A-Za-z_]\w*", source)), frozenset()
    return names, frozenset(name for name in jinja2.meta.find_referenced_templates(tree) if name)


def _place(error: BaseException, name: str) -> tuple[str, int]:
    """The template and line in which an error was raised: jinja2 puts both into the trace."""
    place, trace = (name, 0), error.__traceback__
    while trace is not None:
        if "__jinja_exception__" in trace.tb_frame.f_globals:
            place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return place
