"""How the command ends, as processes of their own: signals, streams that are gone, exit codes."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from alarm import at_most
from campaigns import ENVIRONMENT, ONE, SEARCH, TWO, is_gone, wait_for, write_plan
from commands import said
from netdyno.store import FILE, open_run
from sampling import SAMPLE
from sealing import changing

COMMAND = [sys.executable, "-m", "netdyno"]
SLOW = SEARCH.replace("duration: 10ms", "duration: 400ms")
LIMIT_S = 60
PROCESSOR_S = 10
"""Of processor time, which a busy machine does not stretch."""


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of bash that has `$netdyno`; its exit code is that of the first command of a pipe."""
    return subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"],
        env={**ENVIRONMENT, "netdyno": " ".join(COMMAND), **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


def the_run(parent: Path) -> Path:
    (folder,) = (path for path in parent.iterdir() if not path.name.startswith("."))
    return folder


def stored_trials(parent: Path) -> int:
    """Finished trials that the only run below a folder has by now."""
    for folder in parent.glob("*"):
        if (folder / FILE).exists():
            with open_run(folder) as run:
                return run.trial_count()
    return 0


@pytest.fixture
def running(tmp_path: Path) -> subprocess.Popen[str]:
    """A run of the real command, slow enough to be interrupted, in a session of its own."""
    plan = write_plan(tmp_path, SLOW)
    return subprocess.Popen(
        [*COMMAND, "run", str(plan), "--out", str(tmp_path / "runs"), "--report", "csv"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


# Signals


@pytest.mark.parametrize("pause_s", [0.0, 0.3])
def test_run_repeated_ctrl_c_says_what_is_kept(
    pause_s: float, running: subprocess.Popen[str], tmp_path: Path
) -> None:
    """Ctrl-C as a terminal sends it, to every process, again and again until the command has ended."""
    wait_for(lambda: stored_trials(tmp_path / "runs") >= 3)
    while running.poll() is None:
        os.killpg(running.pid, signal.SIGINT)
        time.sleep(pause_s)
    _, err = running.communicate(timeout=LIMIT_S)
    folder = the_run(tmp_path / "runs")
    with open_run(folder) as run:
        kept = run.trial_count()
    assert running.returncode == 130
    assert kept >= 3
    assert re.search(rf"^interrupted: {kept} trials? kept", err, re.MULTILINE)
    assert f"netdyno run --resume {folder}" in err
    assert "Traceback" not in err
    wait_for(lambda: is_gone(running.pid))


# Until the command has set its handler, Python's own start decides how a signal ends the process: this
# writes a mark once the handler is set.
WITH_MARK = """
import _signal, os
set_handler = _signal.signal
def set_and_mark(number, handler):
    before = set_handler(number, handler)
    _signal.signal = set_handler
    os.write(1, b"!")
    return before
_signal.signal = set_and_mark
from netdyno.cli import main
main()
"""


def test_run_ctrl_c_in_its_first_moments_shows_no_traceback(tmp_path: Path) -> None:
    """A signal every few milliseconds of the start: no run yet, its first worker still importing."""
    plan = write_plan(tmp_path, SLOW)
    for number in range(0, 8, SAMPLE):
        process = subprocess.Popen(
            [sys.executable, "-c", WITH_MARK, "run", str(plan), "--out", str(tmp_path / f"runs-{number}")],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stdout.read(1) == "!"
        time.sleep(0.1 * number)
        while process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.02)
        _, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130, err
        assert "Traceback" not in err
        assert "KeyboardInterrupt" not in err


def test_run_first_worker_is_shielded_from_ctrl_c_from_its_start(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    """Read from the kernel as soon as the process is there: SIGINT is blocked or ignored."""
    interrupt = 1 << (signal.SIGINT - 1)
    seen: dict[int, bool] = {}
    end = time.monotonic() + LIMIT_S
    while stored_trials(tmp_path / "runs") < 1:
        assert time.monotonic() < end
        own = Path(f"/proc/{running.pid}/cmdline").read_bytes()
        for task in Path(f"/proc/{running.pid}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                try:
                    command = Path(f"/proc/{child}/cmdline").read_bytes()
                    status = Path(f"/proc/{child}/status").read_text()
                except OSError:
                    continue
                if command != own:
                    continue
                masks = [int(mask, 16) for mask in re.findall(r"^Sig(?:Blk|Ign):\s*(\w+)", status, re.M)]
                shielded = any(mask & interrupt for mask in masks)
                seen[child] = seen.get(child, True) and shielded
    running.kill()
    running.communicate()
    assert seen
    assert all(seen.values())
    wait_for(lambda: is_gone(running.pid))


# Streams


@pytest.mark.parametrize("reader", ["| true", "| head -1"])
def test_run_without_a_reader_ends_as_with_one(reader: str, tmp_path: Path) -> None:
    """The reader of stdout is gone before anything is printed, or after the first line."""
    plan = write_plan(tmp_path, ONE)
    done = shell(f"$netdyno run {plan} --out {tmp_path}/runs --report csv {reader}")
    assert done.returncode == 0, done.stderr
    assert (the_run(tmp_path / "runs") / "report.csv").stat().st_size > 0
    assert "Traceback" not in done.stderr


def test_run_without_a_reader_of_any_stream_measures_all(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, ONE)
    done = shell(f"$netdyno run {plan} --out {tmp_path}/runs --report csv 2>&1 | true")
    assert done.returncode == 0
    folder = the_run(tmp_path / "runs")
    assert (folder / "report.csv").exists()
    with open_run(folder) as run:
        assert {case.state for case in run.cases} == {"done"}


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_run_with_closed_streams_measures_all(streams: str, tmp_path: Path) -> None:
    """The descriptors 0 to 2 are closed: no file of the run may take their numbers."""
    plan = write_plan(tmp_path, ONE)
    done = shell(f"$netdyno run {plan} --out {tmp_path}/runs --report csv {streams}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    folder = the_run(tmp_path / "runs")
    assert (folder / "report.csv").exists()
    with open_run(folder) as run:
        assert {case.state for case in run.cases} == {"done"}


def test_run_on_a_full_stdout_keeps_its_exit_code_and_report(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, ONE)
    done = shell(f"$netdyno run {plan} --out {tmp_path}/runs --report csv > /dev/full")
    assert done.returncode == 0
    assert (the_run(tmp_path / "runs") / "report.csv").exists()
    assert "Traceback" not in done.stderr


def test_list_on_a_full_stdout_fails_once(tmp_path: Path) -> None:
    done = shell("$netdyno kinds > /dev/full")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 2  # the error and its hint
    assert done.stderr.startswith("error: stdout: ")


def test_run_on_a_narrow_stdout_shows_no_traceback(tmp_path: Path) -> None:
    """A title that ASCII does not have is printed with escapes; the report has it as it is."""
    plan = write_plan(tmp_path, ONE.replace("A small search", "Łódź → 東京"))
    done = subprocess.run(
        [*COMMAND, "run", str(plan), "--out", str(tmp_path / "runs"), "--report", "markdown"],
        env={**ENVIRONMENT, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert "Łódź → 東京" in (the_run(tmp_path / "runs") / "report.md").read_text(encoding="utf-8")


# Reports and exit codes


def test_run_writes_its_reports_before_it_prints_the_summary(tmp_path: Path) -> None:
    """The first byte on stdout is read slowly: by then the report is there."""
    plan = write_plan(tmp_path, ONE)
    reader = f"(head -c 1 > /dev/null; ls {tmp_path}/runs/*/report.csv > {tmp_path}/seen)"
    shell(f"$netdyno run {plan} --out {tmp_path}/runs --report csv | {reader}")
    assert (tmp_path / "seen").read_text().strip().endswith("report.csv")


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is done."""
    parent = tmp_path_factory.mktemp("complete")
    plan = write_plan(parent, TWO + 'goals: ["throughput >= 99%"]\n')
    said("run", plan, "--out", parent / "runs")
    return the_run(parent / "runs")


def test_run_report_that_cannot_be_written_costs_no_summary(complete: Path, tmp_path: Path) -> None:
    """A directory is where the report is to be: a complete run that is resumed writes its reports again."""
    folder = Path(shutil.copytree(complete, tmp_path / "run"))
    (folder / "report.csv").mkdir()
    done = said("run", "--resume", folder, "--report", "csv", "--report", "json")
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stderr
    assert done.stdout
    assert (folder / "report.json").exists()


@pytest.mark.parametrize("command", ["run --resume {run} --report html", "report {run} --as html -o {file}"])
def test_report_without_room_leaves_the_file_as_it_was(command: str, complete: Path, tmp_path: Path) -> None:
    """A limit of 64 kB a file; the page has more. No half of a page stands under the report's name."""
    folder = Path(shutil.copytree(complete, tmp_path / "run"))
    file = folder / "report.html"
    file.write_text("the one before")
    there = {path.name for path in folder.iterdir() if not path.name.startswith(FILE)}
    done = shell(f"ulimit -f 64; $netdyno {command.format(run=folder, file=file)}")
    assert done.returncode in (1, 3)
    assert f"error: {file}: " in done.stderr
    assert "Traceback" not in done.stderr
    assert file.read_text() == "the one before"
    assert {path.name for path in folder.iterdir() if not path.name.startswith(FILE)} == there


def test_report_is_written_to_pipes_and_through_links(complete: Path, tmp_path: Path) -> None:
    piped = shell(f"$netdyno report {complete} --as csv -o /dev/stdout | cat")
    assert piped.returncode == 0, piped.stderr
    (tmp_path / "real.csv").touch(mode=0o640)
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    done = said("report", complete, "--as", "csv", "-o", tmp_path / "link.csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == piped.stdout
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("out", ["file", "link"])
def test_run_into_what_is_no_folder_is_refused_at_once(out: str, tmp_path: Path) -> None:
    """Of a link to nothing the system says that it exists; trying again would never end."""
    plan = write_plan(tmp_path, ONE)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with at_most(PROCESSOR_S):
        done = said("run", plan, "--out", tmp_path / out)
    assert done.returncode == 3, done.stderr
    assert len(done.stderr.splitlines()) == 2  # the error and its hint


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_complete_and_resumed_says_so_when_it_is_interrupted(
    number: signal.Signals, complete: Path, tmp_path: Path
) -> None:
    """While it writes its report, which it cannot end: a FIFO has room for a part of the page."""
    folder = Path(shutil.copytree(complete, tmp_path / "run"))
    os.mkfifo(folder / "report.html")
    process = subprocess.Popen(
        [*COMMAND, "run", "--resume", str(folder), "--report", "html"],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # Not blocking: a program that ends before it writes must not keep the test waiting.
    with open(os.open(folder / "report.html", os.O_RDONLY | os.O_NONBLOCK), "rb") as report:
        while process.poll() is None and not select.select([report], [], [], 0.05)[0]:
            pass
        while process.poll() is None:
            process.send_signal(number)
            time.sleep(0.05)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, err
    with open_run(folder) as run:
        kept = run.trial_count()
    assert re.search(rf"^interrupted: .*{kept} trials kept in {re.escape(str(folder))}$", err, re.MULTILINE)


@pytest.mark.parametrize(
    ("limit", "passed", "code"),
    [("tester", None, 4), ("receiver", None, 4), ("device", None, 0), ("tester", 1, 0), ("tester", 0, 1)],
)
def test_run_limited_by_the_tester_everywhere_exits_4_unless_goals_answer(
    limit: str, passed: int | None, code: int, complete: Path, tmp_path: Path
) -> None:
    """A complete run, its record changed all limits and goals the same: resuming gives its code."""
    folder = Path(shutil.copytree(complete, tmp_path / "run"))
    with changing(folder) as connection:
        connection.execute("UPDATE verdicts SET who = ?1, body = json_set(body, '$.limit', ?1)", (limit,))
        if passed is None:
            connection.execute("DELETE FROM goals")
        else:
            judged = "true" if passed else "false"
            connection.execute(
                "UPDATE goals SET passed = ?, body = json_set(body, '$.passed', json(?))", (passed, judged)
            )
    done = said("run", "--resume", folder)
    assert done.returncode == code, done.stderr
    # Each case has a number: what is said of a run without any would not be true.
    assert "no case has a number" not in done.stderr


# Hostile plans


def refused(plan: Path) -> str:
    """What `check` prints on stderr of a plan that it refuses, within PROCESSOR_S of a core."""
    with at_most(PROCESSOR_S):
        done = said("check", plan)
    assert done.returncode == 2, done.stderr
    return done.stderr


@pytest.mark.parametrize("where", ["title", "lab"])
def test_check_plan_with_lone_surrogates_is_refused_with_its_place(where: str, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, f'{where}: "\\ud83d\\ude00"\n')
    assert refused(plan).startswith(f"error: {plan}:1:{len(where) + 3}: ")


def test_check_whole_plan_with_lone_surrogates_in_a_name_is_refused(tmp_path: Path) -> None:
    """All else of the plan is right, so the name would be printed."""
    plan = write_plan(
        tmp_path, ONE.replace("  64b:", '  "\\ud83d\\ude00":').replace("[64b]", '["\\ud83d\\ude00"]')
    )
    line = ONE[: ONE.index("  64b:")].count("\n") + 1
    assert refused(plan).startswith(f"error: {plan}:{line}:3: ")


@pytest.mark.parametrize("lead", ["", "lab: ", "title: "])
def test_check_plan_of_exclamation_marks_is_refused_at_once(lead: str, tmp_path: Path) -> None:
    """0.9 MB of them: the parser's time grows with the square of a tag's length."""
    plan = write_plan(tmp_path, lead + "!" * 900_000)
    assert refused(plan).startswith(f"error: {plan}:1:{len(lead) + 1}: ")


@pytest.mark.parametrize("named", ["the plan", "its lab"])
def test_check_fifo_is_refused_at_once(named: str, tmp_path: Path) -> None:
    """Opening a FIFO that nobody writes waits for ever."""
    os.mkfifo(tmp_path / "fifo")
    plan = tmp_path / "fifo"
    if named == "its lab":
        begin, end = SEARCH.index("lab:"), SEARCH.index("traffic:")
        plan = write_plan(tmp_path, SEARCH[:begin] + "lab: fifo\n" + SEARCH[end:])
    assert "not a regular file" in refused(plan)
