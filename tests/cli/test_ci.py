"""`netdyno run` in a CI job: files for the server, and the page of the job."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

from campaigns import TWO, write_plan
from commands import said

GOALS = "goals: [throughput >= 1kpps, throughput >= 14Mpps]\n"


def test_run_leaves_a_junit_file_and_a_page_of_the_job(tmp_path: Path) -> None:
    plan, page = write_plan(tmp_path, TWO + GOALS), tmp_path / "page.md"
    page.write_text("of another step\n")
    options = ("--out", tmp_path / "runs", "--junit", tmp_path / "j.xml", "--github-summary")
    done = said("run", plan, *options, GITHUB_STEP_SUMMARY=str(page))
    assert done.returncode == 1
    suite = Xml.parse(tmp_path / "j.xml").getroot()[0]
    assert (suite.attrib["tests"], int(suite.attrib["failures"])) == ("6", 2)
    assert page.read_text().startswith("of another step\n## ")
    assert "| missed " in page.read_text()
    (folder,) = (tmp_path / "runs").iterdir()
    again = said("report", folder, "--as", "junit")
    assert again.stdout == (tmp_path / "j.xml").read_text()


def test_page_of_the_job_is_left_out_where_there_is_none(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, TWO)
    options = ("--out", tmp_path / "runs", "--github-summary")
    done = said("run", plan, *options, GITHUB_STEP_SUMMARY="")
    assert done.returncode == 0
    assert "GITHUB_STEP_SUMMARY" in done.stderr
    failed = said("run", plan, *options, GITHUB_STEP_SUMMARY=str(tmp_path / "no" / "page.md"))
    assert failed.returncode == 3
    assert "page.md" in failed.stderr


def test_junit_file_in_no_folder_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, TWO)
    done = said("run", plan, "--out", tmp_path / "runs", "--junit", tmp_path / "no" / "j.xml")
    assert done.returncode == 2
    assert not (tmp_path / "runs").exists()
