"""`netdyno examples`: a user of the wheel has the plans that the pages name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from netdyno.cli.app import cli
from netdyno.cli.examples import OF_SOURCES


def test_examples_are_listed_and_copied_beside_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    every = {path.name: path.read_bytes() for path in OF_SOURCES.glob("*.yaml")}
    more = {path.name: path.read_bytes() for path in OF_SOURCES.glob("*.yml")}
    listed = CliRunner().invoke(cli, ["examples", "--format", "json"])
    assert {Path(row["plan"]).name for row in json.loads(listed.stdout)} == set(every)
    assert all(row["title"] for row in json.loads(listed.stdout))
    assert not list(tmp_path.iterdir())
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/ndr.yaml").write_text("mine")
    assert CliRunner().invoke(cli, ["examples", "--copy"]).exit_code == 0
    copied = {path.name: path.read_bytes() for path in (tmp_path / "examples").iterdir()}
    assert copied == {**every, **more, "ndr.yaml": b"mine"}
