"""`netdyno examples`: the plans that come with netdyno, listed or copied."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click

from netdyno.cli.console import FORMATS, format_option, print_hint, print_table

PACKAGED = Path(__file__).parents[1] / "examples"
"""In a wheel (tools/wheel/build.py)."""
OF_SOURCES = Path(__file__).parents[3] / "examples"
FOLDER = "examples"


@click.command()
@click.option("--copy", is_flag=True, help=f"Copy those that are not there yet into ./{FOLDER}.")
@format_option(*FORMATS)
def examples(copy: bool, form: str) -> None:
    """List the plans that come with netdyno, or copy them to here."""
    come = PACKAGED if PACKAGED.is_dir() else OF_SOURCES
    files = sorted(come.glob("*.yaml"))
    if copy:
        folder = Path(FOLDER)
        folder.mkdir(exist_ok=True)
        # With the inventories that some are compared by.
        for file in sorted(come.glob("*.y*ml")):
            if not (folder / file.name).exists():
                shutil.copy(file, folder)
    print_table(["plan", "title"], [[f"{FOLDER}/{file.name}", _title(file)] for file in files], form)
    if not copy:
        print_hint(f"`netdyno examples --copy` puts them into ./{FOLDER}")


def _title(plan: Path) -> str:
    found = re.search(r"^(?:title|suite): (.*)$", plan.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""
