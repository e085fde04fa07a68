"""After a trial whose frames a memif peer's full ring refused, one more at that load: whether it comes again.

A device is named for frames that it did not take only if two trials agree (docs/verdicts.md). A search has
several such trials; a loss at one load has one. The result stays as it is.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import through
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.unmeasured import NotMeasuredError

NAME = "agreement"
"""Of the trial."""


def with_agreement(method: Method) -> Method:
    """The same method, with a second trial behind it if exactly one had frames refused."""
    asked: list[Trial] = []
    refused: list[int] = []

    def noted(trial: Trial) -> Trial:
        asked.append(trial)
        return trial

    def note(number: int, outcome: Outcome | NotMeasuredError) -> None:
        if isinstance(outcome, Outcome) and rows.refused(outcome.streams):
            refused.append(number)

    result, _ = yield from through(method, noted, note)
    if len(refused) == 1:
        # The result is known without it; only its limit may then not be.
        with suppress(NotMeasuredError):
            yield replace(asked[refused[0]], name=NAME)
    return result
