"""Turns what devices print into rows, or says why it cannot: never rows that may be wrong.

`INDEX` has a line for each output that is known. Templates are TextFSM; each ends its states in
`^. -> Error`, so that a line that is not known is an error with its number.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

import textfsm

from netdyno.devices.outputs import cisco, fsos
from netdyno.devices.outputs.output import Output, Records, Rows, check_totals, number
from netdyno.devices.outputs.refused import OutputError, not_understood
from netdyno.devices.outputs.text import Line, read_lines
from netdyno.errors import suggestion

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
    rows = ((one if isinstance(one, str) else ", ".join(one) for one in record) for record in records)
    return fields, tuple(dict(zip(fields, row, strict=True)) for row in rows)


INDEX: tuple[Output, ...] = (*cisco.OUTPUTS, *fsos.OUTPUTS)


def look_up(system: str, command: str) -> Output:
    """The output that a command of a system prints. Raises OutputError `no-template` for an unknown one."""
    for output in INDEX:
        if output.is_of(system, command):
            return output
    of_system = [output.command for output in INDEX if output.system == system]
    if of_system:
        hint = suggestion(command, of_system, f"commands of {system}")
    else:
        hint = suggestion(system, dict.fromkeys(output.system for output in INDEX), "systems")
    raise OutputError(f"`{command}` of `{system}` has no template", hint, code="no-template")


__all__ = ["INDEX", "Output", "OutputError", "Rows", "look_up", "number", "parse"]


def parse(system: str, command: str, text: str) -> Rows:
    """The rows of what a command printed, without its echo and the next prompt.

    system: as in `INDEX`, `cisco_iosxr`. Raises OutputError: `no-template` for an unknown command;
    `command-refused`; `too-long`; `not-understood` with its line; `total-differs` with both totals.
    """
    output = look_up(system, command)
    lines = read_lines(system, command, text)
    names, records = read_records(output.template, command, lines)
    totals = {total.field for total in output.totals} | {name for name in names if name.startswith("total")}
    fields = tuple(name for name in names if name not in totals)
    rows = tuple(
        {name: record[name] for name in fields}
        for record in records
        if not any(record[name] for name in totals if name in record)
    )
    printed = tuple(record for record in records if any(record[name] for name in totals if name in record))
    total = check_totals(command, output.totals, rows, printed)
    _check_rows(command, output, rows, is_empty_right=output.is_table or total is not None)
    return Rows(fields, rows, total)


def _check_rows(command: str, output: Output, rows: Records, *, is_empty_right: bool) -> None:
    """Raises `not-understood` for rows that lack what each row has, or that are there twice."""
    if not rows and not is_empty_right:
        raise not_understood(command, None, "", "the output has no rows: repeat the command")
    seen = set()
    for row in rows:
        lacking = [name for name in output.always if not row[name]]
        if lacking:
            raise not_understood(command, None, lacking[0], "a row lacks this field: repeat the command")
        key = tuple(row[name] for name in output.unique)
        if key and key in seen:
            raise not_understood(command, None, " ".join(key), "two rows are of the same: repeat the command")
        seen.add(key)
