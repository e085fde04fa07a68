"""Mistakes of templates: what is wrong, where, and what the hint offers; all of them at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from configured import links
from netdyno.devices.configure import sandbox
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.mistakes import TemplateMistake, find_mistakes
from netdyno.devices.configure.render import render_all
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.configure.sources import TemplateFault
from netdyno.devices.drivers.cisco_iosxr import DRIVER
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.reach.template import find_case_mistakes

PORTS = ("TenGigE0/1/0/0", "TenGigE0/2/0/0")
SETTINGS = {"lag": "plain"}


def fault_of(source: str, folder: Path) -> TemplateFault:
    (folder / "own.j2").write_text(source)
    (found,) = render_all([("own.j2", SETTINGS)], "cisco_iosxr", links(*PORTS), folder)
    return found.faults[0]


def mistakes_of(source: str, folder: Path) -> list[tuple[str, int]]:
    """Code and line of each mistake."""
    (folder / "own.j2").write_text(source)
    return [(one.code, one.line) for one in found("own.j2", "cisco_iosxr", folder)]


def found(name: str, driver: str, folder: Path) -> list[TemplateMistake]:
    allowed = Allowed(SECTIONS["cisco_xr"], PORTS)
    (rendered,) = render_all([(name, SETTINGS)], driver, links(*PORTS), folder)
    return list(find_mistakes(rendered, name, driver, folder, allowed))


@pytest.mark.parametrize(
    ("source", "missing", "meant"),
    [
        ("{% for one in link %}{% endfor %}", "link", "links"),
        ("{{ port }}", "port", "ports"),
        ("{{ lac }}", "lac", "lag"),
        ("{{ setting.lag }}", "setting", "settings"),
        ("{% if 3 < lac %}a{% endif %}", "lac", "lag"),
        ("{% for one in links %}{{ one.devport }}{% endfor %}", "devport", "device_port"),
        ("{{ links[1]['adress'] }}", "adress", "address"),
        ("{{ settings.lga }}", "lga", "lag"),
    ],
)
def test_name_without_a_value_is_reported_with_a_near_one(
    source: str, missing: str, meant: str, tmp_path: Path
) -> None:
    fault = fault_of(f"a\n{source}\n", tmp_path)
    assert fault.line == 2
    assert f"`{missing}`" in fault.why
    assert (fault.hint or "").startswith(f"did you mean `{meant}`?")


@pytest.mark.parametrize("name", ["Te0/1/0/0", "te 0/1/0/0", "TenGig0/1/0/0"])
def test_port_of_the_lab_in_short_is_to_be_written_in_full(name: str, tmp_path: Path) -> None:
    (tmp_path / "own.j2").write_text(f"interface {name}\n shutdown\n!\n")
    (mistake,) = found("own.j2", "cisco_iosxr", tmp_path)
    assert (mistake.code, mistake.line) == ("section-not-allowed", 1)
    assert "`TenGigE0/1/0/0`" in (mistake.hint or "")
    assert "allow" not in (mistake.hint or "")


def test_hint_for_an_unknown_name_lists_all_names(tmp_path: Path) -> None:
    hint = fault_of("{{ area }}", tmp_path).hint or ""
    assert all(f"`{name}`" in hint for name in ("links", "ports", "settings", "lag"))


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\n{% for one in links %}\nb\n", 3),
        ("{% if lag %}\na\n{% endfor %}\n", 3),
        ("a\n{{ ports[0] }\nb\n", 2),
        ("a\n{# b\n", 2),
        ("{% if lag is upcase %}a{% endif %}", 1),
        ("a\n\n{{ lag|uper }}", 3),
        ("{{ ports[7] }}", 1),
    ],
)
def test_fault_of_the_syntax_is_reported_with_its_line(source: str, line: int, tmp_path: Path) -> None:
    assert fault_of(source, tmp_path).line == line


def test_unknown_names_and_foreign_lines_are_reported_together(tmp_path: Path) -> None:
    """Lines below or with a value that is missing are not judged."""
    source = """\
interface {{ port }}
 transport input ssh
!
hostname x
{% for one in links %}
interface {{ one.device_port }}
 ipv4 address {{ one.adress }} 255.255.255.252
{% endfor %}
reload {{ port }}
aaa new-model
interface MgmtEth0/0
"""
    assert sorted(mistakes_of(source, tmp_path)) == [
        ("section-not-allowed", 4),
        ("section-not-allowed", 10),
        ("section-not-allowed", 11),
        ("template-wrong", 1),
        ("template-wrong", 7),
    ]


def test_missing_value_in_a_sum_ends_the_rendering_there(tmp_path: Path) -> None:
    source = "{{ name ~ lag }}\n{% if area %}\n{% endif %}\nmtu {{ size + 4 }}\n{{ cost }}\nhostname x\n"
    assert mistakes_of(source, tmp_path) == [("template-wrong", line) for line in (1, 2, 4)]


def test_missing_file_is_looked_for_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "own.j2").write_text("")
    (mistake,) = found("owm.j2", "cisco_iosxr", tmp_path)
    assert mistake.code == "template-wrong"
    assert f"`{tmp_path}`" in mistake.why
    assert mistake.hint is not None
    assert mistake.hint.startswith("did you mean `own.j2`?")


def test_missing_include_is_reported_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "part.j2").write_text("")
    (tmp_path / "own.j2").write_text("\n\n{% include 'prt.j2' %}\n")
    (mistake,) = found("own.j2", "cisco_iosxr", tmp_path)
    assert (mistake.template, mistake.line) == ("own.j2", 3)
    assert mistake.hint is not None
    assert "`part.j2`" in mistake.hint


def test_ready_template_of_another_driver_names_that_driver(tmp_path: Path) -> None:
    (mistake,) = found("asr9006-l2-xconnect-plain", "cisco_ios", tmp_path)
    assert mistake.hint is not None
    assert "`cisco_iosxr`" in mistake.hint
    assert "`driver`" in mistake.hint
    assert "router" not in mistake.hint


def test_mistakes_behind_a_case_that_takes_too_much_are_of_their_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "CPU_S", 0.3)
    (tmp_path / "right.j2").write_text("")
    (tmp_path / "slow.j2").write_text("{{ 9 ** (9 ** 9) }}")
    reached = Reached((), (), None, "{name}.j2", tmp_path)
    cases = [{"name": "right"}, {"name": "slow"}, {"name": "right"}, {"nmae": "right"}]
    every = [[one.template for one in of] for of in find_case_mistakes(DRIVER, reached, cases)]
    assert every == [[], ["slow.j2"], [], ["{name}.j2"]]
