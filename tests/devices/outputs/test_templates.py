"""The templates themselves: each state ends in an error, and each file is somebody's."""

from __future__ import annotations

from pathlib import Path

import netdyno.devices.outputs
import pytest
from netdyno.devices.outputs import INDEX, NTC, template_text

FOLDER = Path(netdyno.devices.outputs.__file__).parent / "templates"

PROSE = {"cisco_ios_show-version.textfsm": {"WithinLicence", "WithinNotice"}}
"""States that skip a text whose wording may be any, up to a last line that is known."""


def states(text: str) -> dict[str, list[str]]:
    """The rules of each state of a template, by its name."""
    found: dict[str, list[str]] = {}
    for block in text.split("\n\n")[1:]:
        lines = [line for line in block.split("\n") if line and not line.startswith("#")]
        found[lines[0]] = [line.strip() for line in lines[1:]]
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_state_of_a_template_ends_in_an_error(path: Path) -> None:
    rules = states(path.read_text())
    assert "Start" in rules
    prose = PROSE.get(path.name, set())
    without = {name for name, lines in rules.items() if name != "EOF" and lines[-1:] != ["^. -> Error"]}
    assert without == prose


def test_template_of_another_project_ends_in_an_error() -> None:
    for output in INDEX:
        if output.template.startswith(NTC):
            assert template_text(output.template).rstrip().endswith("^. -> Error")
            assert output.always


def test_every_template_is_of_an_output() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {
        output.template for output in INDEX if not output.template.startswith(NTC)
    }


def test_outputs_of_the_index_are_named_once() -> None:
    names = [(output.system, name) for output in INDEX for name in (output.command, *output.aliases)]
    assert len(names) == len(set(names))
    for output in INDEX:
        assert output.is_of(
            output.system, output.command.replace("{interface}", "Te0/1").replace("{number}", "3")
        )
