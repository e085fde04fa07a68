"""`netdyno note`, and who shows what it added."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from campaigns import ONE, finish, write_plan
from commands import said


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    run = finish("run", write_plan(folder, ONE), folder / "runs")[1]
    done = said("note", run, "the new *firmware*", "--tag", "lab1", "--tag", "fw:7.14")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "tags: lab1 fw:7.14"
    assert done.stdout.splitlines()[1].endswith("the new *firmware*")
    assert said("note", run).stdout == done.stdout
    return run


def test_list_shows_notes_and_takes_tags(noted: Path) -> None:
    (row,) = json.loads(said("list", noted.parent, "--tag", "lab1", "--format", "json").stdout)
    assert row["tags"] == ["lab1", "fw:7.14"]
    assert [one["text"] for one in row["notes"]] == ["the new *firmware*"]
    assert "lab1 fw:7.14" in said("list", noted.parent, COLUMNS="300").stdout
    assert "no such runs" in said("list", noted.parent, "--tag", "lab1", "--tag", "lab2").stderr
    (line,) = csv.DictReader(io.StringIO(said("list", noted.parent, "--format", "csv").stdout))
    assert (line["tags"], line["notes"]) == ("lab1 fw:7.14", "the new *firmware*")


def test_reports_have_notes_beside_where_the_numbers_are_from(noted: Path) -> None:
    texts = {name: said("report", noted, "--as", name).stdout for name in ("terminal", "markdown", "html")}
    assert "Tags: lab1, fw:7.14. Note of " in texts["html"]
    assert r"the new \*firmware\*." in texts["markdown"]
    assert "the new *firmware*" in texts["terminal"]
    found = json.loads(said("report", noted, "--as", "json").stdout)
    assert found["tags"] == ["lab1", "fw:7.14"]
    assert [one["text"] for one in found["remarks"]] == ["the new *firmware*"]
    assert said("verify", noted).stdout.startswith("intact: ")


def test_tag_is_taken_away_and_a_wrong_one_refused(noted: Path, tmp_path: Path) -> None:
    assert "night" in said("note", noted, "--tag", "night").stdout
    assert "night" not in said("note", noted, "--untag", "night").stdout
    assert said("note", noted, "--tag", "two words").returncode == 2
    assert said("note", tmp_path, "text").returncode == 2
