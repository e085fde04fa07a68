"""Options from the user's file of defaults and from the environment: the command line comes first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from campaigns import write_plan
from commands import said
from netdyno.cli import defaults
from netdyno.cli.app import cli


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "netdyno").mkdir()
    return tmp_path


def write(home: Path, text: str) -> Path:
    file = home / "netdyno" / "defaults.yaml"
    file.write_text(text)
    return file


def options(group: click.Group) -> Iterator[click.Option]:
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from options(command)
        else:
            yield from (one for one in command.params if isinstance(one, click.Option))


def test_command_line_comes_before_environment_file_and_built_in(home: Path) -> None:
    asked = ("rate", "10Gbps", "64B")
    built_in = said(*asked).stdout
    write(home, "rate: {format: csv}\n")
    in_file = said(*asked).stdout
    in_environment = said(*asked, NETDYNO_RATE_FORMAT="md").stdout
    on_line = said(*asked, "--format", "table", NETDYNO_RATE_FORMAT="md").stdout
    assert in_environment.startswith("| ")
    assert in_file.count(",") > 3
    assert on_line == built_in
    assert len({built_in, in_file, in_environment}) == 3


def test_rate_in_the_letter_of_iperf3_comes_before_the_file_s(home: Path) -> None:
    write(home, "send: {rate: 80%, emulated: router, time: 0.1, json: true}\n")
    found = json.loads(said("send", "-b", "10M", cwd=home).stdout)
    assert found["sent"] == 1489


def test_lists_flags_and_texts_of_the_file_reach_the_command(home: Path) -> None:
    plan = write_plan(home)
    write(home, "run: {dry-run: true, only: [profile=64b, direction=uni], out: 7}\n")
    assert len(said("run", plan).stdout.splitlines()) == 2
    write(home, "run: {dry-run: true, only: profile=64b}\n")
    assert len(said("run", plan).stdout.splitlines()) == 4
    assert len(said("run", plan, NETDYNO_RUN_ONLY="profile=64b direction=bidir").stdout.splitlines()) == 2


def test_defaults_that_no_resumed_run_takes_are_not_its_mistake(home: Path) -> None:
    write(home, "run: {scale: 1/10}\n")
    done = said("run", "--resume", home / "none")
    assert "--scale" not in done.stderr
    assert "--scale" in said("run", "--resume", home / "none", "--scale", "1/10").stderr


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("run: {out: x, reprot: [html]}\nrnu: {out: x}\n", ["1:15", "2:1"]),
        ("run: {dry-run: 1, out: [x], only: [[x]]}\ncheck: no\n", ["1:16", "1:24", "1:35", "2:8"]),
        ("dut: {serve: {cro: 1}}\nreport:\n", ["1:15"]),
        ("run: {password: x}\nNETDYNO_SNMP_COMMUNITY: x\n", ["1:7", "2:1"]),
        ("run: [\n", ["2:1"]),
    ],
)
def test_mistake_in_the_file_has_its_place(text: str, places: list[str], home: Path) -> None:
    file = write(home, text)
    done = said("kinds")
    assert done.returncode == 2
    assert re.findall(rf"^error: {file}:([0-9]+:[0-9]+): ", done.stderr, re.MULTILINE) == places
    assert said("--help").returncode == 0


def test_secret_is_refused_and_not_printed(home: Path) -> None:
    write(home, "run: {snmp-community: hunter2}\n")
    done = said("run", "x.yaml")
    assert done.returncode == 2
    assert "hunter2" not in done.stderr
    assert "NETDYNO_PASSWORD" in done.stderr


def test_wrong_value_names_the_file_or_the_variable(home: Path) -> None:
    file = write(home, "rate:\n  format: cvs\n")
    assert f"error: {file}:2:11: " in said("rate", "1Gbps", "64B").stderr
    assert "error: NETDYNO_RATE_FORMAT: " in said("rate", "1Gbps", "64B", NETDYNO_RATE_FORMAT="x").stderr
    assert str(file) not in said("rate", "1Gbps", "64B", "--format", "x").stderr


@pytest.mark.parametrize(
    ("text", "more", "place"),
    [
        ("send: {emulated: router, rate: 80}", (), "1:32"),
        ("send: {emulated: rooter}", (), "1:18"),
        ("send: {emulated: router, time: soon}", (), "1:32"),
        ("send: {emulated: router, bidir: true}", ("-R",), "1:33"),
        # What only the plan finds out.
        ("send: {emulated: router, size: 63B}", (), "1:32"),
        ("send: {emulated: router, rate: 100Gbps}", (), "1:32"),
        ("send: {emulated: router, setting: [capacity=1]}", (), "1:35"),
    ],
)
def test_wrong_value_of_send_names_the_file(text: str, more: tuple[str, ...], place: str, home: Path) -> None:
    file = write(home, text)
    done = said("send", *more, cwd=home)
    assert done.returncode == 2
    assert re.findall(r"^error: (.*?): -", done.stderr, re.MULTILINE)[:1] == [f"{file}:{place}"]


def test_wrong_value_of_send_names_the_variable_or_the_option(home: Path) -> None:
    sent = ("send", "--emulated", "router")
    assert "error: NETDYNO_SEND_SIZE: --size: " in said(*sent, cwd=home, NETDYNO_SEND_SIZE="63B").stderr
    assert "error: NETDYNO_SEND_RATE: --rate: " in said(*sent, cwd=home, NETDYNO_SEND_RATE="80").stderr
    write(home, "send: {size: 64B}")
    assert "error: --size: " in said(*sent, "--size", "63B", cwd=home).stderr


def test_wrong_values_of_a_served_device_name_their_places_all_at_once(home: Path) -> None:
    file = write(home, "dut: {serve: {rate: 10, delay: 5}}")
    asked = ("dut", "serve", "emulated/router", "--memif", "west=/tmp/w", "--memif", "east=/tmp/e")
    done = said(*asked, "--delay", "x")
    assert done.returncode == 2
    assert re.findall("^error: (.*?): `", done.stderr, re.MULTILINE) == [f"{file}:1:21: --rate", "--delay"]


def test_flag_of_the_file_is_switched_off_on_the_command_line(home: Path) -> None:
    write(
        home, "send: {emulated: router, bidir: true, json: true, time: 0.1, b: 1M}\nrun: {no-calibrate: true}"
    )
    for more, streams in (((), 2), (("--no-bidir",), 1), (("--no-bidir", "-R", "--rate", "1Mbps"), 1)):
        assert len(json.loads(said("send", *more, cwd=home).stdout)["streams"]) == streams
    assert "no such file" in said("run", "--calibrate", home / "none.yaml").stderr


def test_every_flag_has_an_opposite_that_is_no_other_option() -> None:
    def commands(group: click.Group) -> Iterator[click.Command]:
        for command in group.commands.values():
            yield from commands(command) if isinstance(command, click.Group) else [command]

    for command in commands(cli):
        shown = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
        assert all(one.secondary_opts for one in shown if one.is_bool_flag), command.name
        words = [word for one in shown for word in (*one.opts, *one.secondary_opts)]
        assert len(words) == len(set(words)), command.name


def test_wrong_name_of_a_report_names_the_file_or_the_variable(home: Path) -> None:
    file = write(home, "run: {report: [htlm]}\nreport: {as: htlm}\n")
    assert f"error: {file}:1:15: there is no report `htlm`" in said("run", "x.yaml").stderr
    assert f"error: {file}:2:14: " in said("report", home).stderr
    assert "error: NETDYNO_RUN_REPORT: " in said("run", "x.yaml", NETDYNO_RUN_REPORT="cvs").stderr


def test_variables_of_options_are_no_others() -> None:
    """Those of devices' secrets are `NETDYNO_<HOST>_PASSWORD`, and so on; others name no command."""
    found = [str(one.envvar) for one in options(cli)]
    assert len(found) == len(set(found)) > 50
    commands = {name.upper() for name in cli.commands}
    assert not {"PASSWORD", "TESTS", "LEVEL", "ENABLE", "SNMP", "USER", "FUZZ", "TESTPMD"} & commands
    assert not [name for name in found if re.search(r"_(USER|PASSWORD|ENABLE|SNMP_\w+)$", name)]
    assert not [one.opts for one in options(cli) if defaults._SECRET.search(defaults.name_of(one))]


def test_user_without_a_home_has_no_defaults(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert said("version").returncode == 0


def test_folder_of_another_user_is_left_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_file(file: Path) -> bool:
        raise PermissionError(file)

    monkeypatch.setattr(Path, "is_file", is_file)
    with cli.make_context("netdyno", ["version"]) as context:
        assert defaults.read_defaults(context) is None


def test_folder_of_the_file_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        assert defaults.find_file() == tmp_path / ".config" / "netdyno" / "defaults.yaml"
