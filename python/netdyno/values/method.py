"""A method as a generator.

It yields a `Trial`, is sent an `Outcome`, and returns a `Result`. That a trial
could not be measured is thrown into it as a `NotMeasuredError`, which ends a method that does not catch it.
It does not measure, sleep, print or store, so a ten-line device can stand in for the engine in a test.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

from netdyno.values.finding import Result
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome

Method: TypeAlias = Generator[Trial, Outcome, Result]
