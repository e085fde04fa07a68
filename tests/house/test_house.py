"""The rules of the house, kept by looking at it: imports, links, names in documents, what no file holds."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from netdyno.devices import KINDS
from netdyno.methods import METHODS
from netdyno.reports import FORMATS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "netdyno"


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def texts() -> Iterator[tuple[str, str]]:
    for path in tracked():
        try:
            yield str(path.relative_to(ROOT)), path.read_text()
        except UnicodeDecodeError:
            continue


CRATES = {
    # docs/design.md, section 2: what each may build on.
    "fuzz": set(),
    "frame": set(),
    "io": set(),
    "dut": {"frame", "io"},
    "engine": {"frame", "io"},
    "session": {"frame", "io", "dut", "engine"},
    "py": {"session"},
    "level": set(),
}


def test_crates_build_on_what_they_may() -> None:
    assert {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")} == set(CRATES)
    for crate, allowed in CRATES.items():
        depends = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text()).get("dependencies", {})
        own = {name.removeprefix("netdyno-") for name in depends if name.startswith("netdyno-")}
        assert own <= allowed, f"crates/{crate} builds on {own - allowed}"


def test_unsafe_is_in_one_crate() -> None:
    for crate in ("fuzz", "frame", "dut", "engine", "session", "level"):
        lib = (ROOT / "crates" / crate / "src" / "lib.rs").read_text()
        assert "#![forbid(unsafe_code)]" in lib, f"crates/{crate} may hold unsafe code"


def test_no_file_is_about_somebodys_machine_or_a_registry() -> None:
    registry = r"(pypi|pythonhosted|crates|npmjs|yarnpkg)\.(org|io|com)"
    machine = r"(?<![\w./-])/(work|root|home)/[\w.]"
    for name, text in texts():
        for number, line in enumerate(text.splitlines(), 1):
            found = re.search(rf"{registry}|{machine}", line)
            # Cargo.lock says where packages come from by cargo's own fixed name of the default registry.
            if found and not (name == "Cargo.lock" and "github.com/rust-lang/" in line):
                pytest.fail(f"{name}:{number}: `{found[0]}`")


def test_no_file_refers_to_a_document_that_is_not_here() -> None:
    here = {path.name for path in tracked()}
    for name, text in texts():
        for page in re.findall(r"\b([A-Z][A-Z-]+\.md)\b", text):
            assert page in here, f"{name} refers to {page}"


def documents() -> dict[Path, str]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return {path: path.read_text() for path in pages}


def test_links_in_documents_lead_somewhere() -> None:
    for path, text in documents().items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            there = path.parent / file if file else path
            assert there.exists(), f"{path.relative_to(ROOT)} links to {target}, which is not there"
            if anchor:
                assert anchor in anchors(there), (
                    f"{path.relative_to(ROOT)} links to {target}: no such heading"
                )


def anchors(path: Path) -> set[str]:
    """Headings as GitHub names them: lower case, spaces as hyphens, other marks gone."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def names() -> Iterator[tuple[str, str]]:
    from netdyno.cli.app import cli

    for command in cli.commands:
        yield "command", f"netdyno {command}"
    for kind in KINDS:
        yield "kind", f"`{kind}`"
    for method in METHODS:
        yield "method", f"`{method}`"
    for report in FORMATS:
        yield "report", f"`{report}`"
    table = re.search(
        r"^backends! \{(.*?)^\}",
        (ROOT / "crates/io/src/backend/mod.rs").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    backends = re.findall(r"(\w+)::\w+,", table[1] if table else "")
    assert backends, "the table of backends is gone"
    for backend in backends:
        yield "backend", f"`{backend}`"


def test_every_name_is_in_the_documents() -> None:
    everything = "\n".join(documents().values())
    missing = [f"{what} {name}" for what, name in names() if name not in everything]
    assert not missing, f"not in any document: {', '.join(missing)}"


def test_every_make_target_is_listed_by_help() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test", "check", "bench", "clean", "help"):
        assert re.search(rf"^{target}:.*## .+", makefile, re.MULTILINE), target


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_every_example_is_a_plan_without_mistakes(path: Path) -> None:
    from click.testing import CliRunner
    from netdyno.cli.app import cli

    done = CliRunner().invoke(cli, ["check", str(path)])
    assert done.exit_code == 0, done.output


def test_every_example_is_named_in_the_documents() -> None:
    everything = "\n".join(documents().values())
    for path in (ROOT / "examples").iterdir():
        assert path.name in everything, f"examples/{path.name} is in no document"


def test_no_rust_test_is_left_out_of_its_crates_program() -> None:
    """With `autotests = false` a file that tests/main.rs does not name is not even compiled."""
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        if tomllib.loads(manifest.read_text())["package"].get("autotests", True):
            continue
        tests = manifest.parent / "tests"
        named = set(re.findall(r"^mod (\w+);$", (tests / "main.rs").read_text(), re.MULTILINE))
        there = {path.stem for path in tests.glob("*.rs")} | {
            path.parent.name for path in tests.glob("*/mod.rs")
        }
        assert there - {"main"} == named, tests


def test_crate_docs_hold_no_example_that_is_never_run() -> None:
    """`make test` leaves doc tests out: a block that would be one has to move to the crate's tests."""
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        fences = re.findall(r"^\s*//[/!] *```(.*)$", path.read_text(), re.MULTILINE)
        assert set(fences[::2]) <= {"text", "json"}, path


def test_what_users_install_is_what_is_tested() -> None:
    """A library of one version in the one lock and of another in the other is tested for nobody."""
    users, tested = (
        dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / name).read_text(), re.M))
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert users
    assert users.items() <= tested.items()
