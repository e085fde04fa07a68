"""The documents: each begins with an example that works, and the reference is what the program says."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from netdyno import _engine
from netdyno.campaign.reasons import REASONS
from netdyno.cli.app import cli
from netdyno.cli.catalogue import parameters
from netdyno.cli.codes import MEANINGS
from netdyno.devices import KINDS
from netdyno.devices.drivers import DRIVERS
from netdyno.errors import CODES
from netdyno.methods import METHODS
from netdyno.modifiers import MODIFIERS
from netdyno.plan.goals import goal_kinds
from netdyno.plan.patterns import PATTERNS
from netdyno.ports.backends import BACKENDS, OPTIONS
from netdyno.reports import FORMATS
from netdyno.testers import TESTERS
from netdyno.values.engine_reason import EngineReason
from netdyno.values.reason import Reason

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CELL = 200
"""Characters in a cell of a table, at most: longer text belongs below the table."""

PAGE_NAMES = [path.name for path in PAGES]


def page(name: str) -> str:
    return next(path for path in PAGES if path.name == name).read_text()


def load(path: str) -> ModuleType:
    """A module that is in no package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(text: str) -> Iterator[str]:
    """Every cell of every table."""
    for line in text.splitlines():
        if line.startswith("|"):
            yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_table_cells_of_a_page_are_short(name: str) -> None:
    long = [cell for cell in cells(page(name)) if len(cell) > CELL]
    assert not long, "\n".join(long)


def first_commands(text: str) -> list[list[str]]:
    """The commands of the example before the first section, as a shell would split them."""
    block = re.search(r"```sh\n(.*?)```", text.split("\n## ")[0], re.DOTALL)
    return [shlex.split(line, comments=True) for line in block[1].splitlines()] if block else []


NEW = ("--yes", "--force", "--ports", "eth8,eth9")
"""What answers the questions of an example: interfaces that no machine of a test has."""
RUN = ("check", "rate", "kinds", "methods", "reports", "ports", "schema", "version", "--help")
"""Commands of an example that are run as they are; of the others the plan, if any, is checked."""


@pytest.mark.parametrize("name", [name for name in PAGE_NAMES if name != "interfaces.md"])
def test_example_at_the_begin_of_a_page_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    commands = first_commands(page(name))
    assert commands, f"{name} has no example before its first section"
    for words in commands:
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), words
            continue
        if words[0] == "pipx":
            # `make wheel-test` installs it.
            continue
        assert words[0] == "netdyno", words
        assert words[1] in {*cli.commands, "--help"}, words
        plans = [word for word in words if word.endswith(".yaml")]
        if words[1] == "new":
            asked = [*words[1:], *NEW]
        else:
            asked = words[1:] if words[1] in RUN else ["check", *plans] if plans else [words[1], "--help"]
        done = CliRunner().invoke(cli, asked)
        assert done.exit_code == 0, f"{' '.join(words)}: {done.output}"


def test_texts_of_routers_in_a_page_are_those_that_new_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = re.findall(r"\n    netdyno (new .*)\n\n[^\n]*:\n\n((?:(?:    .*)?\n)+)", page("own-router.md"))
    assert len(found) == 2
    for asked, text in found:
        done = CliRunner().invoke(cli, [*shlex.split(asked), *NEW])
        assert done.exit_code == 0, done.output
        assert textwrap.dedent(text).strip() in done.output


@pytest.mark.parametrize("name", [name for name in PAGE_NAMES if "```yaml\ntitle:" in page(name)])
def test_whole_plan_in_a_page_is_without_mistakes(name: str, tmp_path: Path) -> None:
    for number, plan in enumerate(re.findall(r"```yaml\n(title:.*?)```", page(name), re.DOTALL)):
        path = tmp_path / f"{number}.yaml"
        path.write_text(plan)
        done = CliRunner().invoke(cli, ["check", str(path)])
        assert done.exit_code == 0, done.output


def test_example_of_the_inner_interfaces_prints_what_the_page_says() -> None:
    text = page("interfaces.md")
    block = re.search(r"prints `([^`]+)`:\n\n```python\n(.*?)```", text.split("\n## ")[0], re.DOTALL)
    assert block, "interfaces.md has no example before its first section"
    ran = subprocess.run([sys.executable, "-c", block[2]], capture_output=True, text=True, timeout=60)
    assert (ran.stdout.strip(), ran.stderr) == (block[1], "")


def test_structure_in_the_design_is_the_one_of_the_package() -> None:
    tree = re.search(r"```text\n(errors.*?)```", page("design.md"), re.DOTALL)
    assert tree
    drawn = [line.split()[0].rstrip("/") for line in tree[1].splitlines()]
    assert drawn == list(load("tests/house/test_contracts.py").LAYERS)
    package = ROOT / "python" / "netdyno"
    there = {path.stem if path.is_file() else path.name for path in package.iterdir()}
    native = {"_engine", "_engine.abi3", "_level"}
    assert there - {"__pycache__", *native, "py", "__init__", "__main__"} == set(drawn)


def test_first_run_in_the_readme_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = re.search(
        r"\n    netdyno (run .*)\n\n((?:(?:    .*)?\n)+)", page("README.md").split("## First run")[1]
    )
    assert block
    asked = [str(ROOT / word) if word.endswith(".yaml") else word for word in shlex.split(block[1])]
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output

    def steady(text: str) -> str:
        """Without what differs from run to run: the time it took, and the name of its folder."""
        return re.sub(r"runs/\S+", "runs/", re.sub(r" in \d+:\d+ ", " ", text)).strip()

    assert steady(done.stdout) == steady(textwrap.dedent(block[2]))


SENT = re.compile(r"\n    netdyno (send --emulated .*)\n\n((?:(?:    .*)?\n)+)")


@pytest.mark.parametrize("name", [name for name in PAGE_NAMES if SENT.search(page(name))])
def test_send_in_a_page_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    for command, shown in SENT.findall(page(name)):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setenv("COLUMNS", "100")
            done = CliRunner().invoke(cli, shlex.split(command))
        assert done.exit_code == 0, done.output
        printed, wanted = (
            re.sub(r"runs/\S+", "runs/", text).strip() for text in (done.stdout, textwrap.dedent(shown))
        )
        assert printed == wanted


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_paths_that_a_page_names_are_there(path: Path) -> None:
    text = path.read_text()
    # A name in capitals, or `x`, stands for one that a reader chooses.
    for name in re.findall(r"`((?:tests|crates|python|tools|examples)/[\w./-]+)", text):
        chosen = Path(name).stem in ("NAME", "x") or name == "tests/main.rs"
        assert chosen or (ROOT / name).exists(), name


def test_readme_is_short() -> None:
    assert len(page("README.md").splitlines()) <= 200


def test_reference_is_what_the_program_says() -> None:
    tool = load("tools/reference_page.py")
    assert tool.PAGE.read_text() == tool.page(), "run `.venv/bin/python tools/reference_page.py`"


def named() -> Iterator[tuple[str, str]]:
    """What a user or a program can name, with what it is, from the tables of the program."""
    tables = {
        "method": METHODS,
        "goal": goal_kinds(METHODS),
        "modifier": MODIFIERS,
        "pattern": PATTERNS,
        "kind": KINDS,
        "setting": [name for kind in KINDS.values() for name in kind.settings],
        "driver": DRIVERS,
        "tester": TESTERS,
        "backend": BACKENDS,
        "option of a link": OPTIONS,
        "report": FORMATS,
        "reason": set(REASONS) - {EngineReason.code},
        "error": CODES,
        "engine's reason": [one["code"] for one in json.loads(_engine.reasons())],
    }
    yield from ((what, f"`{name}`") for what, names in tables.items() for name in names)
    yield from (("parameter", f"| `{one.name}` | {one.kind} |".replace("||", "|")) for one in parameters())
    yield from (("exit code", f"| {code} | ") for code in MEANINGS)
    for name, command in load("tools/reference_page.py").commands():
        yield "command", f"| `{name}"
        for one in command.params:
            yield from (("option", f"`{flag}`") for flag in one.opts if flag.startswith("-"))


def test_reference_names_everything_there_is_to_name() -> None:
    text = page("reference.md")
    assert not [(what, name) for what, name in named() if name not in text]


@pytest.mark.parametrize("reason", REASONS.values(), ids=REASONS)
def test_reason_in_the_reference_has_a_meaning(reason: type[Reason]) -> None:
    # A dataclass without a docstring is given its signature for one.
    assert not (reason.__doc__ or f"{reason.__name__}(").startswith(f"{reason.__name__}(")


def test_change_log_is_short() -> None:
    assert len((ROOT / "CHANGELOG.md").read_text().splitlines()) <= 60


def test_picture_of_the_readme_is_drawn_from_its_plan_of_now() -> None:
    """`make docs` draws it again."""
    pictures = load("tools/pictures.py")
    assert pictures.source_of(pictures.PICTURE.read_bytes()) == pictures.source_of_now()
    assert set(re.findall(r"\w+/\w+\.png", page("README.md"))) == {"docs/report.png"}


def test_picture_without_its_source_is_found() -> None:
    pictures = load("tools/pictures.py")
    drawn = pictures.PICTURE.read_bytes()
    assert pictures.source_of(pictures.with_source(drawn, "another")) == "another"
    header = len(pictures.BEGIN) + 12 + 13
    chunk = 12 + len(pictures.SOURCE) + 1 + len(pictures.source_of_now())
    assert pictures.source_of(drawn[:header] + drawn[header + chunk :]) == ""
