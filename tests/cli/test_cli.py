"""The command line: help at once, one clear line for each mistake, exit codes, data on stdout only."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT, SEARCH, finish, write_plan
from commands import netdyno, said
from netdyno.campaign import interrupts
from netdyno.cli import catalogue, codes
from netdyno.cli.console import lines
from netdyno.cli.runs import COLUMNS, _row
from netdyno.methods import METHODS
from netdyno.plan.goals import goal_kinds, parse_goal
from netdyno.reports import FORMATS
from netdyno.store import FILE
from sealing import changing

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = ("run", "check", "schema", "rate", "list", "report", "kinds", "methods", "reports", "version")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    return finish("run", write_plan(folder), folder / "runs")[1]


def test_help_imports_nothing_slow() -> None:
    """Beside click little is loaded: help is there at once."""
    bare = "import sys, click; print(*sys.modules)"
    ours = "import sys; sys.argv = ['netdyno', '--help']; import netdyno.cli.app; print(*sys.modules)"
    loaded, needed = (
        set(
            subprocess.run(
                [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for code in (ours, bare)
    )
    assert not {"pydantic", "ruamel.yaml", "rich", "altair", "sqlite3", "netdyno._engine"} & loaded
    others = {name for name in loaded - needed if not name.startswith("netdyno")}
    assert len(others) < 40, sorted(others)


def test_check_loads_nothing_that_measures_or_reaches() -> None:
    """A plan without a driver is checked as fast as before there were any."""
    code = (
        f"import sys; sys.argv = ['netdyno', 'check', {str(EXAMPLES / 'asr9006.yaml')!r}]\n"
        "from netdyno.cli import main\n"
        "try: main()\nfinally: print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "netdyno.plan.check" in loaded
    slow = {"sqlite3", "netmiko", "paramiko", "jinja2", "netdyno.campaign.run", "netdyno.store"}
    assert not slow & loaded
    assert not [name for name in loaded if name.startswith(("netdyno.verdict", "netdyno.devices.reach"))]


@pytest.mark.parametrize(
    "command",
    [[], ["dut"], ["dut", "serve"], *([name] for name in COMMANDS)],
)
def test_every_command_has_help(command: list[str]) -> None:
    done = said(*command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage:")
    assert done.stderr == ""


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "give a plan"),
        (["run", "nothing.yaml"], "nothing.yaml"),
        (["run", "{plan}", "--report", "htm"], "did you mean `html`"),
        (["run", "{plan}", "--scale", "2"], "is not a fraction"),
        (["run", "{plan}", "--scale", "0"], "is not a fraction"),
        (["run", "{plan}", "--only", "direction"], "is not AXIS=VALUE"),
        (["run", "{plan}", "--only", "direction=sideways", "--dry-run"], "has no value `sideways`"),
        (["run", "{plan}", "--only", "colour=red", "--dry-run"], "no axis `colour`"),
        (["run", "--resume", "{folder}", "--scale", "1/2"], "--resume continues a run as it began"),
        (["run", "--resume", "{folder}"], "no such file"),
        (["report", "{folder}"], "no such file"),
        (["report", "{folder}", "--as", "pdf"], "there is no report `pdf`"),
        (["check", "nothing.yaml"], "nothing.yaml"),
        (["rate", "10Gbp", "64B"], "did you mean `Gbps`"),
        (["rate", "80%", "64B"], "no line here"),
        (["rate", "10Gbps", "-5B"], "is negative"),
        (["rate", "10,5Gbps", "64B"], "`10.5Gbps`"),
        (["rate", "10Gbps", "{{}}"], "a mix without sizes"),
        (["rate", "10Gbps", "64B", "--tags", "9"], "9"),
        (["runn"], "No such command"),
        (["list", "--format", "xml"], "xml"),
    ],
)
def test_a_mistake_is_one_error_a_hint_and_exit_code_2(
    arguments: list[str], words: str, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path)
    filled = [argument.format(plan=plan, folder=tmp_path) for argument in arguments]
    done = said(*filled, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_plan_with_mistakes_reports_each_with_its_place(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, SEARCH.replace("10Gbps", "10Gbp").replace("direction", "direktion"))
    done = said("check", plan)
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 3
    assert all(line.startswith(f"error: {plan}:") for line in errors)
    assert "hint: did you mean" in done.stderr


# What it prints


def test_check_says_what_would_be_run(tmp_path: Path) -> None:
    done = said("check", write_plan(tmp_path))
    assert done.returncode == 0
    assert "8 cases" in done.stdout
    assert done.stderr == ""


def test_check_warns_of_cores_and_workers_this_machine_has_not(tmp_path: Path) -> None:
    """Not an error: another machine may run it. Virtual time takes one core whatever a plan says."""
    text = SEARCH.replace("emulated/asr9006", "linux/router").replace(
        "  forwarding: [l2-xconnect, ipv4]\n", ""
    )
    mine = min(os.sched_getaffinity(0))
    threads = (("workers: 60", "asks for 60 workers"), (f"cores: [{mine}, 1023]", "names core 1023"))
    for named, told in threads:
        done = said("check", write_plan(tmp_path, text.replace("kind: netdyno", f"kind: netdyno, {named}")))
        assert done.returncode == 0
        assert done.stderr.startswith(f"warning: the plan {told}, and this process may use ")
        assert "`run` refuses it here" in done.stderr
    virtual = SEARCH.replace("kind: netdyno", "kind: netdyno, workers: 60")
    assert said("check", write_plan(tmp_path, virtual)).stderr == ""


def test_one_is_not_several(tmp_path: Path) -> None:
    one = write_plan(tmp_path, SEARCH + "only: [{forwarding: ipv4, profile: 64b, direction: uni}]\n")
    assert ": 1 case, " in said("check", one).stdout
    assert said("run", one, "--dry-run", cwd=tmp_path).stderr.startswith("1 case, ")
    few = SEARCH.replace("kind: netdyno", "kind: netdyno, workers: 2, cores: [0]")
    assert "2 workers, and `cores` names 1 core\n" in said("check", write_plan(tmp_path, few)).stderr


def test_a_mistake_is_broken_between_words_on_a_terminal(tmp_path: Path) -> None:
    """And is one line where a program reads it."""
    plan = write_plan(tmp_path, SEARCH.replace("10Gbps", "10Gbp"))
    ours, terminal = pty.openpty()
    environment = {**ENVIRONMENT, "COLUMNS": "60"}
    command = [sys.executable, "-m", "netdyno", "check", str(plan)]
    done = subprocess.run(command, stderr=terminal, env=environment, stdout=subprocess.DEVNULL)
    os.close(terminal)
    told = os.read(ours, 1 << 16).decode().replace("\r\n", "\n")
    os.close(ours)
    assert done.returncode == 2
    lines = told.splitlines()
    assert all(len(line) <= 60 or " " not in line.strip() for line in lines), lines
    assert " ".join(told.split()) == " ".join(said("check", plan).stderr.split())


def test_list_takes_the_folder_as_run_does(tmp_path: Path) -> None:
    done = said("list", "--out", tmp_path / "elsewhere")
    assert done.stderr == f"no runs in {tmp_path}/elsewhere\n"
    assert said("list", tmp_path, "--out", tmp_path).returncode == 2


@pytest.mark.parametrize(("done", "goals"), [(1, "undecided"), (2, "PASS")])
def test_list_of_a_part_of_the_cases_decides_no_goal(done: int, goals: str) -> None:
    run = dict.fromkeys(COLUMNS, "") | {"limits": {}, "goals": {"passed": 1}, "cases": 2, "done": done}
    assert _row(run)[-1] == goals


@pytest.mark.parametrize("limits", ["device:1", "inconclusive:12 device:3"])
def test_list_in_80_columns_has_a_line_a_title_and_whole_times(limits: str) -> None:
    """A path as long as a line stands above the rest of its row; a short one beside it."""
    title, started = "Cisco ASR1000: voice beside a congested default class", "2026-11-29T08:21:25Z"
    for folder in ("runs/r", "runs/2026-11-29T0821Z-priority-of-a-long-name-4da4"):
        row = [folder, title, started, "interrupted", "2", "1", "0", limits, "undecided"]
        printed = list(lines(COLUMNS, [row], 80, unbroken="started", shortened="title"))
        assert all(len(line) <= 80 for line in printed)
        assert sum(started in line for line in printed) == 1
        assert sum("…" in line for line in printed) == 1
        assert len(printed) <= 6


def test_a_full_disk_is_named_with_what_helps(finished: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full, which takes nothing as a full disk does")
    done = said("report", finished, "--as", "csv", "--output", "/dev/full")
    assert done.returncode == 3
    assert done.stderr.startswith("error: /dev/full: No space left on device\nhint: ")


def test_a_dry_run_starts_nothing(tmp_path: Path) -> None:
    done = said("run", write_plan(tmp_path), "--dry-run", "--only", "direction=uni", cwd=tmp_path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 4
    assert "nothing was started" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_rates_are_those_of_rfc_5180_appendix_a_1() -> None:
    for size, rate in ((64, 14_880_952), (128, 8_445_945), (1518, 812_743), (9216, 135_339)):
        done = said("rate", "10Gbps", f"{size}B", "--format", "json")
        table = json.loads(done.stdout)
        assert int(table["rate_pps"]) == rate
        assert float(Fraction(table["rate_pps_exact"])) == table["rate_pps"]


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
def test_a_rate_in_every_format(form: str) -> None:
    done = said("rate", "10Gbps", "imix/bench", "--format", form)
    assert done.returncode == 0
    assert "3267973.8" in done.stdout


@pytest.mark.parametrize(("command", "names"), [("methods", METHODS), ("reports", FORMATS)])
def test_the_tables_are_listed(command: str, names: dict[str, object]) -> None:
    listed = json.loads(said(command, "--format", "json").stdout)
    assert [row[command[:-1]] for row in listed] == list(names)


def test_kinds_are_listed_with_their_settings() -> None:
    rows = list(csv.DictReader(io.StringIO(said("kinds", "--format", "csv").stdout)))
    asr = next(row for row in rows if row["kind"] == "emulated/asr9006")
    assert asr["emulated"] == "yes"
    assert "forwarding: l2-xconnect, bridge-domain, ipv4" in asr["settings"]


def test_parameters_and_goals_are_listed() -> None:
    table = said("methods").stdout
    for word in ("warmup", "threshold", "30s at 1kpps", "maximum", "throughput >= 95%", "loss <= 0.1%"):
        assert word in table
    rows = list(csv.DictReader(io.StringIO(said("methods", "--format", "csv").stdout)))
    written = {(row["method"], row["parameter"]) for row in rows}
    assert written == {
        (name, info.alias or field)
        for name, method in METHODS.items()
        for field, info in method.parameters.model_fields.items()
    }
    assert all(row["meaning"] and row["default"] and row["written as"] for row in rows)


def test_what_the_reference_says_of_methods_is_what_the_models_say() -> None:
    """docs/reference.md: the tables of parameters and goals, whole."""
    text = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    for parameter in catalogue.parameters():
        cells = (f"`{parameter.name}`", parameter.kind, parameter.default, parameter.meaning)
        section = text[text.index(f"### {parameter.method}\n") :]
        assert f"| {' | '.join(cells)} |" in section[: section.index("\n#", 5)]
    for value in catalogue.values():
        assert f"| {value.value} | {value.unit} | {value.meaning} |" in text
    known = goal_kinds(METHODS)
    assert {goal.value for goal in catalogue.goals()} == set(known)
    for goal in catalogue.goals():
        assert f"| {goal.meaning} | `{goal.example}` |" in text
        assert parse_goal(goal.example, known).value == goal.value


def test_without_a_command_it_helps() -> None:
    done = netdyno()
    assert done.returncode == 0
    assert done.stdout.startswith("Usage:")
    assert done.stderr == ""
    assert netdyno("--version").stdout.startswith("netdyno")


def test_a_mix_may_be_written_as_in_a_plan() -> None:
    short = json.loads(said("rate", "10Gbps", "64:7,594:4", "--format", "json").stdout)
    assert json.loads(said("rate", "10Gbps", "{64: 7, 594: 4}", "--format", "json").stdout) == short
    assert [row["weight"] for row in short["sizes"]] == [7, 4]


def test_rates_have_the_prefix_that_fits() -> None:
    assert "100 Gbit/s" in said("rate", "100Gbps", "64B").stdout
    assert "672 bit/s" in said("rate", "1pps", "64B").stdout, "84 bytes"


@pytest.mark.parametrize("width", [80, 132])
def test_a_piped_report_heeds_columns(width: int, finished: Path) -> None:
    lines = said("report", finished, COLUMNS=str(width)).stdout.splitlines()
    assert all(len(line) <= width for line in lines)


def test_every_exit_code_has_a_meaning() -> None:
    named = {name: value for name, value in vars(codes).items() if name.isupper() and type(value) is int}
    assert set(named.values()) == codes.MEANINGS.keys()
    assert len(set(named.values())) == len(named)
    assert named["INTERRUPTED"] == interrupts.EXIT_CODE
    assert named["OUT_OF_TIME"] == interrupts.OUT_OF_TIME


def test_runs_are_listed(finished: Path) -> None:
    (row,) = json.loads(said("list", finished.parent, "--format", "json").stdout)
    assert row["run"] == str(finished)
    assert (row["state"], row["cases"], row["done"], row["failed"]) == ("done", 8, 8, 0)
    assert row["limits"] == {"device": 4, "line": 4}
    assert row["goals"] == {"failed": 0, "undecided": 0, "passed": 0}
    assert row["started"].endswith("Z")
    nothing = said("list", finished.parent / "nowhere")
    assert (nothing.returncode, nothing.stdout) == (0, "")


def test_goals_of_a_run_are_listed_with_its_limits(tmp_path: Path) -> None:
    """A case with one stream has a limit, too, though nothing is summed up."""
    goals = "goals: [throughput >= 1kpps, throughput >= 14Mpps]\n"
    plan = write_plan(tmp_path, SEARCH.replace("direction: [uni, bidir]", "direction: [uni]") + goals)
    assert said("run", plan, "--out", tmp_path / "runs").returncode == 1
    (row,) = json.loads(said("list", tmp_path / "runs", "--format", "json").stdout)
    # The line carries no 14 Mpps of 512 bytes.
    assert row["goals"]["failed"] >= row["cases"] // 2
    assert row["goals"]["passed"] > 0
    assert sum(row["goals"].values()) == 2 * row["cases"]
    assert sum(row["limits"].values()) == row["cases"]


def test_a_record_from_elsewhere_is_listed_but_steers_nothing(finished: Path, tmp_path: Path) -> None:
    """One with control characters in its title, one that is cut off."""
    for name in ("evil", "torn"):
        shutil.copytree(finished, tmp_path / name)
    title = "\x1b]0;mine\x07 title\x9b2J"
    with changing(tmp_path / "evil") as connection:
        connection.execute("UPDATE run SET head = json_set(head, '$.title', ?)", (title,))
    os.truncate(tmp_path / "torn" / FILE, 5000)
    for form in ("md", "table", "csv"):
        done = said("list", tmp_path, "--format", form)
        assert not set(done.stdout + done.stderr) & {"\x1b", "\x07", "\x9b"}
        assert done.returncode == 0
    rows = json.loads(said("list", tmp_path, "--format", "json").stdout)
    assert [(Path(row["run"]).name, row["state"]) for row in rows] == [
        ("evil", "done"),
        ("torn", "unreadable"),
    ]
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"error: {tmp_path / 'torn'}")


def test_verify_tells_an_intact_run_from_a_damaged_one(finished: Path, tmp_path: Path) -> None:
    done = said("verify", finished)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("intact: 8 cases, ")
    folder = Path(shutil.copytree(finished, tmp_path / "run"))
    with changing(folder, is_sealed=False) as connection:
        connection.execute("UPDATE trials SET name = 'another' WHERE case_number = 2 AND number = 0")
        (name,) = connection.execute("SELECT name FROM cases WHERE number = 2").fetchone()
    done = said("verify", folder)
    assert done.returncode == 2
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"damaged: trial 0 of case `{name}`: ")
    refused = said("report", folder)
    assert refused.returncode == 2
    assert f"trial 0 of case `{name}`" in refused.stderr


@pytest.mark.parametrize("name", ["terminal", "markdown", "csv", "json"])
def test_reports_go_to_stdout_or_into_a_file(name: str, finished: Path, tmp_path: Path) -> None:
    done = said("report", finished, "--as", name)
    assert done.returncode == 0, done.stderr
    assert "64b" in done.stdout
    assert "\x1b" not in done.stdout
    file = tmp_path / "report"
    assert said("report", finished, "--as", name, "-o", file).stdout == ""
    assert file.read_text() == done.stdout


def test_a_report_into_a_folder_that_is_not_there_says_how_to_make_it(finished: Path, tmp_path: Path) -> None:
    refused = said("report", finished, "--as", "html", "-o", tmp_path / "a b" / "x.html")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"mkdir -p '{tmp_path}/a b'" in refused.stderr


def test_a_report_on_two_runs_goes_to_formats_that_take_them(finished: Path) -> None:
    one = said("report", finished, "--as", "brief").stdout
    assert said("report", finished, finished, "--as", "brief").stdout == one + one
    refused = said("report", finished, finished, "--as", "html")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "`--as html`" in refused.stderr


def test_a_reader_that_goes_away_is_no_error(finished: Path) -> None:
    command = f"{sys.executable} -m netdyno report {finished} --as json | head -c 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    assert "error" not in done.stderr


def test_without_an_engine_it_says_so(tmp_path: Path) -> None:
    """Exit code 3: could not measure."""
    code = (
        "import sys, netdyno.testers.netdyno as tester, netdyno.cli as cli\n"
        "tester.TESTER = tester.Netdyno('no_engine_here')\n"
        f"sys.argv = ['netdyno', 'run', {str(write_plan(tmp_path))!r}, '--out', {str(tmp_path / 'runs')!r}]\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.startswith("error: the engine cannot be loaded")
    assert not list((tmp_path / "runs").glob("*")) if (tmp_path / "runs").exists() else True


def test_colour_only_when_wanted(finished: Path) -> None:
    assert "\x1b" in said("report", finished, FORCE_COLOR="1").stdout
    assert "\x1b" not in said("report", finished, FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_that_knows_no_colour_gets_none(
    environment: dict[str, str], coloured: bool, finished: Path
) -> None:
    master, slave = pty.openpty()
    kept = {name: value for name, value in ENVIRONMENT.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "netdyno", "report", str(finished)]
    with subprocess.Popen(command, env={**kept, **environment}, stdout=slave) as process:
        os.close(slave)
        seen = b""
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while part := os.read(master, 65536):
                seen += part
    os.close(master)
    assert process.returncode == 0
    assert b"64b" in seen
    assert (b"\x1b" in seen) == coloured


def test_a_page_does_not_flood_a_terminal(finished: Path) -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "netdyno", "report", str(finished), "--as", "html"]
    done = subprocess.run(
        command, env=ENVIRONMENT, stdout=slave, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(slave)
    with contextlib.suppress(OSError):  # EIO: nothing was written
        assert os.read(master, 1) == b""
    os.close(master)
    assert done.returncode == 0
    page = finished / "report.html"
    assert str(page) in done.stderr
    assert page.read_bytes().startswith(b"<!DOCTYPE html>")
    page.unlink()


EXTERNAL = (
    SEARCH.replace("emulated/asr9006", "external")
    .replace("  forwarding: [l2-xconnect, ipv4]\n", "")
    .replace("rate: 10Gbps}", "rate: 10Gbps, interface: eth77}", 1)
)


@pytest.mark.skipif(os.geteuid() != 0, reason="opens packet sockets")
@pytest.mark.parametrize("included", [False, True])
def test_missing_interface_is_reported_once_and_nothing_begins(included: bool, tmp_path: Path) -> None:
    text, place = EXTERNAL, "small.yaml:5:"
    if included:
        (begin, end), place = (text.index("lab:"), text.index("traffic:")), "lab.yaml:3:"
        (tmp_path / "lab.yaml").write_text(text[begin:end].replace("\n  ", "\n")[5:])
        text = text[:begin] + "lab: lab.yaml\n" + text[end:]
    done = said("run", write_plan(tmp_path, text), "--out", tmp_path / "runs")
    assert done.returncode == 3, done.stderr
    error, hint = done.stderr.splitlines()
    assert place in error
    assert "there is no interface `eth77` on this machine" in error
    assert "there is no interface `east`" in error
    assert hint.startswith("hint: ")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("command", ["kinds", "methods", "reports", "rate 10Gbps imix/bench --tags 1"])
def test_listings_fit_the_terminal_and_lose_nothing(command: str, width: int) -> None:
    whole = said(*command.split(), COLUMNS="").stdout
    fitted = said(*command.split(), COLUMNS=str(width)).stdout
    assert max(map(len, fitted.splitlines())) <= width
    assert sorted("".join(fitted.split())) == sorted("".join(whole.split()))


def test_drivers_in_a_pipe_fit_a_page_and_have_proof_first() -> None:
    first, *lines = said("drivers", COLUMNS="").stdout.splitlines()
    assert first.split() == ["driver", "device", "proof", "what", "it", "does"]
    assert max(map(len, lines)) <= 110
    assert said("drivers", "--format", "csv", COLUMNS="").stdout.count("\n") == 11


def test_rate_json_gives_each_quantity_as_a_number_beside_its_fraction() -> None:
    table = json.loads(said("rate", "10Gbps", "imix/bench", "--format", "json").stdout)
    for row in (table, *table["sizes"]):
        for key in ("rate_pps", "l1_bps", "l2_bps", "l3_bps"):
            assert isinstance(row[key], int | float)
            assert row[key] == pytest.approx(float(Fraction(row[f"{key}_exact"])))
    assert (table["mean_size_bytes"], table["mean_size_bytes_exact"]) == (362.5, "725/2")


@pytest.mark.parametrize("goal", ["throughput >= 20Mpps", "throughput > 100%", "throughput >= 101%"])
def test_check_goal_above_the_line_is_refused_with_its_place(goal: str, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, SEARCH + f'goals: ["{goal}"]\n')
    done = said("check", plan)
    assert done.returncode == 2
    line = len(SEARCH.splitlines()) + 1
    assert done.stderr.startswith(f"error: {plan}:{line}:9: ")


@pytest.mark.parametrize("goal", ["throughput >= 100%", "throughput >= 14.88Mpps", "throughput <= 20Mpps"])
def test_check_goal_at_the_line_is_accepted(goal: str, tmp_path: Path) -> None:
    """Some case can reach it."""
    assert said("check", write_plan(tmp_path, SEARCH + f'goals: ["{goal}"]\n')).returncode == 0


@pytest.mark.parametrize(
    ("written", "wrong", "meant"),
    [
        ("rate: 10Gbps", "rate: 10G", "10Gbps"),
        ("size: 64B", "size: imix", "imix/trex"),
        ("[uni, bidir]", "[bidirectional]", "bidir"),
        ("[uni, bidir]", "[unidirectional]", "uni"),
    ],
)
def test_check_usual_slip_gets_what_was_meant(written: str, wrong: str, meant: str, tmp_path: Path) -> None:
    done = said("check", write_plan(tmp_path, SEARCH.replace(written, wrong, 1)))
    assert done.returncode == 2
    assert f"did you mean `{meant}`?" in done.stderr


def test_check_json_has_code_place_message_and_hint_of_each_mistake(tmp_path: Path) -> None:
    wrong = SEARCH.replace("rate: 10Gbps", "rate: 10G", 1) + 'goals: ["throughput >= 101%"]\nrepeats: 2\n'
    plan = write_plan(tmp_path, wrong)
    done = said("check", plan, "--format", "json")
    assert (done.returncode, done.stderr) == (2, "")
    found = json.loads(done.stdout)
    assert found["plan"] == str(plan)
    assert [error["code"] for error in found["errors"]] == ["wrong-unit", "out-of-range", "unknown-field"]
    first, lines = found["errors"][0], wrong.splitlines()
    assert (first["file"], first["path"]) == (str(plan), "lab.links[0].rate")
    assert lines[first["line"] - 1][first["column"] - 1 :].startswith("10G")
    assert all(error["message"] and error["hint"] for error in found["errors"])


def test_check_json_of_a_right_plan_has_its_cases_and_no_mistake(tmp_path: Path) -> None:
    done = said("check", write_plan(tmp_path, SEARCH), "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["errors"], found["cases"] > 0) == ([], True)


def test_check_json_of_a_missing_file_has_no_line(tmp_path: Path) -> None:
    done = said("check", tmp_path / "none.yaml", "--format", "json")
    assert done.returncode == 2
    (error,) = json.loads(done.stdout)["errors"]
    assert (error["code"], error["line"], error["column"]) == ("no-such-file", None, None)


def test_check_interface_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    """Another machine may have it; nothing is started here."""
    done = said("check", write_plan(tmp_path, EXTERNAL))
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert [name for name in ("`eth77`", "`east`") if any(name in line for line in warnings)] == [
        "`eth77`",
        "`east`",
    ]


def test_value_set_on_the_command_line_is_checked_like_the_plan(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    done = said("check", plan, "--set", "traffic.64c.size=128B", "--set", "seed=x", "--format", "json")
    assert done.returncode == 2
    assert [
        (one["file"], one["line"], one["path"], one["code"]) for one in json.loads(done.stdout)["errors"]
    ] == [
        ("--set seed", None, "seed", "wrong-type"),
        ("--set traffic.64c.size", None, "traffic.64c.size", "unknown-name"),
    ]
    assert said("check", plan, "--set", "traffic").returncode == 2
    listed = said("run", plan, "--dry-run", "--set", "matrix.profile=[64b]").stdout
    assert len(listed.splitlines()) == 4


def test_resume_takes_no_other_values(finished: Path) -> None:
    for command in (("run", "--resume"), ("calibrate",)):
        done = said(*command, finished, "--set", "seed=2")
        assert done.returncode == 2
        assert "--set" in done.stderr


def test_plan_from_standard_input_is_checked_and_run(tmp_path: Path) -> None:
    plan = SEARCH.replace("[64b, 512b]", "[64b]").replace("[uni, bidir]", "[uni]")

    def piped(*arguments: object, text: str = plan) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "netdyno", *map(str, arguments)],
            env=ENVIRONMENT, input=text, capture_output=True, text=True, timeout=60, cwd=tmp_path,
        )  # fmt: skip

    assert piped("check", "-").stdout.startswith("-: A small search: 2 cases")
    done = piped("check", "-", text=plan.replace("10ms", "10m"))
    assert (done.returncode, done.stderr.startswith("error: <stdin>:14:")) == (2, True), done.stderr
    done = piped("check", "-", text="#" * (1 << 20) + plan)
    assert (done.returncode, "is larger than" in done.stderr) == (2, True)
    done = piped("run", "-", "--set", "matrix.forwarding=[ipv4]")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert "-stdin-" in folder.name
    assert said("run", "--resume", folder).returncode == 0


def test_lab_of_a_plan_from_standard_input_is_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, _, rest = SEARCH.partition("lab:\n")
    lab, _, rest = rest.partition("traffic:")
    (tmp_path / "lab.yaml").write_text(lab.replace("\n  ", "\n").removeprefix("  "))
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{head}lab: lab.yaml\ntraffic:{rest}".encode()))
    )
    assert said("check", "-", cwd=tmp_path).returncode == 0
    monkeypatch.setattr(sys, "stdin", None)
    assert said("check", "-", cwd=tmp_path).returncode == 2
