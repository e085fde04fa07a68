"""Every output that can be parsed, a line each. Nothing else is: no abbreviation, no prefix."""

from __future__ import annotations

from netdyno.devices.outputs import cisco, fsos
from netdyno.devices.outputs.output import Output
from netdyno.devices.outputs.refused import OutputError
from netdyno.errors import suggestion

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
