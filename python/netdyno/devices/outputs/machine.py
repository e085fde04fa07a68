"""Templates: the only place that knows TextFSM, and the only one that knows ntc-templates' files."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

import textfsm

from netdyno.devices.outputs.refused import not_understood
from netdyno.devices.outputs.text import Line

NTC = "ntc:"
"""Before the name of a file of ntc-templates. Its index is never read: it matches abbreviations."""

WITHIN = "Within"
"""Names of states that begin so are inside a row: no output ends there."""

_REPORT_HINT = (
    "if the device printed it so, keep the output and report it: its release needs a new line in the template"
)


@lru_cache(maxsize=128)
def template_text(template: str) -> str:
    """The text of a template, of this package or of ntc-templates."""
    if template.startswith(NTC):
        folder = resources.files("ntc_templates") / "templates"
        return (folder / template.removeprefix(NTC)).read_text("utf-8")
    return (resources.files("netdyno.devices.outputs") / "templates" / template).read_text("utf-8")


def read_records(
    template: str, command: str, lines: Sequence[Line]
) -> tuple[tuple[str, ...], tuple[Mapping[str, str], ...]]:
    """The fields of a template and a record for each row, values of lists joined with `, `.

    Raises OutputError `not-understood` with the first line that the template does not know, or where the
    output ends before its first row or inside one.
    """
    machine = textfsm.TextFSM(io.StringIO(template_text(template)))
    records: list[list[str | list[str]]] = []
    for line in lines:
        try:
            records = machine.ParseText(line.text, eof=False)
        except textfsm.TextFSMError as error:
            raise not_understood(command, line.number, line.text, _REPORT_HINT) from error
    # TextFSM has no public name for the state that it is in.
    state: str = machine._cur_state_name
    is_own = not template.startswith(NTC)
    if is_own and (state == "Start" or state.startswith(WITHIN)):
        raise not_understood(command, None, lines[-1].text, "the output is cut off: repeat the command")
    if lines:
        records = machine.ParseText("", eof=True)
    fields = tuple(str(name).lower() for name in machine.header)
    return fields, tuple(dict(zip(fields, map(_joined, record), strict=True)) for record in records)


def _joined(value: str | list[str]) -> str:
    """A value as one text."""
    return value if isinstance(value, str) else ", ".join(value)
