"""After a trial whose frames a memif peer's full ring refused, one more at that load: whether it comes again.

A device is named for frames that it did not take only if two trials agree (docs/verdicts-detail.md). A search
has several such trials; a loss at one load has one. The result stays as it is.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import record_trials
from netdyno.values.load import Frames, Trial
from netdyno.values.method import Method
from netdyno.values.unmeasured import NotMeasuredError

NAME = "agreement"
"""Of the trial."""

MOST_NS = 10_000_000_000
"""How long it is at most: a soak of hours is not repeated."""


def with_agreement(method: Method) -> Method:
    """The same method, with a second trial behind it if exactly one had frames refused."""
    result, made = yield from record_trials(method)
    refused = [trial for trial, outcome in made.values() if rows.count_refused(outcome.streams)]
    again = _again(refused[0]) if len(refused) == 1 else None
    if again is not None:
        # The result is known without it; only its limit may then not be.
        with suppress(NotMeasuredError):
            yield again
    return result


def _again(trial: Trial) -> Trial | None:
    """A trial of the same constant load; None: it had none, or more happened in it."""
    load = trial.frames
    rates = set(trial.rates)
    if len(rates) != 1 or trial.events or load.loads:
        return None
    again = Frames.steady(rates.pop(), min(trial.duration_ns, MOST_NS), NAME)
    return Trial(NAME, replace(again, burst=load.burst, flows=load.flows))
