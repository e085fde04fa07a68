"""The files beside a plan that a run stores in its folder, to be resumed with."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from netdyno.plan import Plan
from netdyno.plan.matrix import Case

INCLUDED = "included"
"""Folder of a run with the files its plan includes. No name in a plan can mean a file of the run itself."""
OWN = 0o600
"""Rights of a template: the configuration of a device may hold secrets, and is for nobody else to read."""


def read_templates(plan: Plan, chosen: Sequence[Case], most: int | None = None) -> Mapping[str, str]:
    """The templates beside the plan that its cases configure the device with: name and text.

    most: configurations that are rendered; None: all. Raises LabError.
    """
    kind, found = plan.kind, dict[str, str]()
    if plan.lab.configuration:
        distinct = {tuple(case.settings.items()): case.settings for case in chosen}
        for settings in islice(distinct.values(), most):
            found |= kind.driver.read_templates(kind.reached, settings)
    return found


def keep_files(folder: Path, files: Mapping[str, str], rights: int = 0o666) -> None:
    """Keeps files beside a plan, by their names there, where resuming looks for them."""
    kept = (folder / INCLUDED).resolve()
    for name, text in files.items():
        copy = (kept / name).resolve()
        if copy.is_relative_to(kept):
            copy.parent.mkdir(parents=True, exist_ok=True)
            with open(
                copy, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, rights)
            ) as out:
                out.write(text)
