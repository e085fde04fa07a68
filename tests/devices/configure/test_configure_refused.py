"""All lines of a template that may not be entered are reported at once, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from configured import CONFIGURED, PORTS, links
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.refused import NotAllowedError
from netdyno.devices.configure.render import Rendered, render
from netdyno.devices.configure.sections import SECTIONS

OWN = """\
{# a comment #}
{% set name %}
abc
{% endset %}
{% for port in ports %}
interface {{ port }}
 description {{ name | trim | length }}
{% endfor %}

hostname x
{% include "part.j2" %}
{{ "username a secret planted-1" }}
line vty 0 4
 transport input telnet
"""


def rendered(folder: Path, own: str = OWN) -> Rendered:
    (folder / "own.j2").write_text(own)
    (folder / "part.j2").write_text("\nreload\naaa new-model\n")
    return render("own.j2", "cisco_iosxr", {}, links(*PORTS["xr"][:2]), folder)


def refused(found: Rendered, system: str = "xr") -> NotAllowedError:
    allowed = Allowed(SECTIONS["cisco_xr"], PORTS[system], places=found.places)
    with pytest.raises(NotAllowedError) as raised:
        allowed.check(found.text, CONFIGURED[system])
    return raised.value


def test_every_rendered_line_has_its_line_in_the_template(tmp_path: Path) -> None:
    found = rendered(tmp_path)
    assert list(zip(found.text.splitlines(), found.places, strict=True)) == [
        ("interface TenGigE0/1/0/0", "own.j2:6"),
        (" description 3", "own.j2:7"),
        ("interface TenGigE0/2/0/0", "own.j2:6"),
        (" description 3", "own.j2:7"),
        ("hostname x", "own.j2:10"),
        ("reload", "part.j2:2"),
        ("aaa new-model", "part.j2:3"),
        ("username a secret planted-1", "own.j2:12"),
        ("line vty 0 4", "own.j2:13"),
        (" transport input telnet", "own.j2:14"),
    ]


def test_all_refused_lines_are_reported_at_once(tmp_path: Path) -> None:
    error = refused(rendered(tmp_path))
    assert error.code == "section-not-allowed"
    assert [(one.place, one.line, one.is_command) for one in error.lines] == [
        ("own.j2:10", "hostname x", False),
        ("part.j2:2", "reload", True),
        ("part.j2:3", "aaa new-model", False),
        ("own.j2:12", "username a secret planted-1", False),
        ("own.j2:13", "line vty 0 4", False),
    ]
    for line in error.lines:
        assert line.place in error.message
    assert "planted-1" not in f"{error.message}{error.hint}"


def test_hint_for_a_line_with_a_secret_needs_none_of_it(tmp_path: Path) -> None:
    """What the hint says to write allows the line."""
    found = rendered(tmp_path, "username a secret planted-1\n")
    hint = refused(found).hint or ""
    assert "`username a secret` in `allow:`" in hint
    Allowed(SECTIONS["cisco_xr"], allow=("username a secret",)).check(found.text, CONFIGURED["xr"])


def test_message_of_many_refused_lines_has_ten_and_a_count(tmp_path: Path) -> None:
    error = refused(rendered(tmp_path, "".join(f"vrf v{number}\n" for number in range(25))))
    assert len(error.lines) == 25
    assert "own.j2:10: " in error.message
    assert "own.j2:11: " not in error.message
    assert "15 more" in error.message


def test_line_that_imitates_a_mark_stays_as_it_is(tmp_path: Path) -> None:
    found = rendered(tmp_path, '{{ "\\x001:evil.j2:7\\x00" }}hostname y\n')
    assert found.places == ("own.j2:1",)
    assert found.text == "\x001:evil.j2:7\x00hostname y\n"
