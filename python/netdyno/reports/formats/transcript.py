"""What devices printed while trials ran, word for word, with the times at which each text was read."""

from __future__ import annotations

from collections.abc import Iterator

from netdyno.reports import Look
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.view import CaseView, RunView, TrialView
from netdyno.values.printable import printable
from netdyno.values.transcript import Said, Transcript

MOST_TIMES = 10
"""Times of one text that are listed."""


def render(runs: RunSet, look: Look) -> bytes:
    """The texts of a run, by case, trial and command."""
    return ("\n".join(_lines(runs.only)) + "\n").encode()


def _lines(run: RunView) -> Iterator[str]:
    yield printable(f"# {run.report_title}")
    found = [line for case in run.cases for trial in case.trials for line in _of_trial(case, trial)]
    yield from found or ("", "No device was asked by a command.")


def _of_trial(case: CaseView, trial: TrialView) -> Iterator[str]:
    if not trial.result.transcript:
        return
    transcript = Transcript.unpack(trial.result.transcript)
    yield ""
    yield printable(f"## case {case.number} ({case.name}), trial {trial.number}, attempt {trial.attempt}")
    if transcript.left_out:
        yield ""
        yield (
            f"{transcript.left_out:,} texts are left out: there is room for 4 MiB of an instrument"
            " in a trial, and for 20 MB of a run."
        )
    for said in transcript.texts:
        yield from ("", f"### {printable(said.command)}", _times(said))
        yield from (printable(line) for line in said.text.rstrip("\n").split("\n"))


def _times(said: Said) -> str:
    """When a text was read, from the begin of traffic; of many times the first ones."""
    shown = ", ".join(f"{at_ns / 1e9:.3f}" for at_ns in said.at_ns[:MOST_TIMES])
    more = len(said.at_ns) - MOST_TIMES
    return f"at {shown} s" + (f", and {more:,} times more" if more > 0 else "")
