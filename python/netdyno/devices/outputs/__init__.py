"""Turns what devices print into rows, or says why it cannot: never rows that may be wrong.

`INDEX` has a line for each output that is known. Templates are TextFSM; each ends its states in
`^. -> Error`, so that a line that is not known is an error with its number.
"""

from __future__ import annotations

from netdyno.devices.outputs.index import INDEX, look_up
from netdyno.devices.outputs.output import Output
from netdyno.devices.outputs.refused import OutputError, not_understood
from netdyno.devices.outputs.rows import Rows, number
from netdyno.devices.outputs.text import read_lines
from netdyno.devices.outputs.totals import Records, check_totals

__all__ = ["INDEX", "Output", "OutputError", "Rows", "look_up", "number", "parse"]


def parse(system: str, command: str, text: str) -> Rows:
    """The rows of what a command printed, without its echo and the next prompt.

    system: as in `INDEX`, `cisco_iosxr`. Raises OutputError: `no-template` for an unknown command;
    `command-refused`; `too-long`; `not-understood` with its line; `total-differs` with both totals.
    """
    output = look_up(system, command)
    lines = read_lines(system, command, text)
    # TextFSM is imported by the first text that needs it: plans without such devices start faster.
    from netdyno.devices.outputs.machine import read_records

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
