"""`netdyno note`: what people remark on a stored run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from netdyno.cli.console import print_hint
from netdyno.errors import counted


@click.command()
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.argument("text", required=False)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Add this tag; may be repeated.")
@click.option("--untag", "untags", multiple=True, metavar="TAG", help="Take this tag away; may be repeated.")
def note(run: Path, text: str | None, tags: tuple[str, ...], untags: tuple[str, ...]) -> None:
    """Add a note (TEXT) or a tag to the RUN in a folder; print its notes and tags.

    They stand beside the record, in `notes.jsonl`: reports and `netdyno list` show them, and `netdyno verify`
    does not cover them.
    """
    from netdyno.store import FILE, add_notes, read_notes
    from netdyno.values.printable import printable

    folder = run.parent if run.name == FILE else run
    notes = () if text is None else (text,)
    add_notes(folder, datetime.now(UTC), notes=notes, tags=tags, untags=untags)
    found = read_notes(folder)
    if found.tags:
        click.echo(f"tags: {' '.join(found.tags)}")
    for one in found.notes:
        click.echo(f"{one.at}  {printable(one.text)}")
    if found.unreadable:
        print_hint(f"{counted(found.unreadable, 'line')} of {folder / 'notes.jsonl'} cannot be read")
