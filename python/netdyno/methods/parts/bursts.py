"""The longest burst that comes back whole: from a guess in steps that double, then by halves, repeated."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace

from netdyno.methods.parts.procedure import find_shortfall
from netdyno.methods.parts.search import find_bracket
from netdyno.methods.reasons.bursts import BurstCopied, BurstsUnsent, NoBurstLimit, SearchesEnded
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.units import PositiveDuration

GUESS = 1024
"""Steps of the first burst: what many devices' buffers hold."""
TRIES = 3
"""Of a burst that the tester did not send as asked."""


@dataclass
class Bursts:
    """Searches over the length of a burst, in steps, and their results.

    burst: the trial of so many steps; its traffic is all in its segments.
    """

    most: int
    burst: Callable[[int], Trial]
    count: int = 0
    passing: dict[int, int] = field(default_factory=dict)
    """The last trial in which a length passed, by length."""
    limit: tuple[int | None, int | None] = (None, None)
    """Of the search that is under way, or the last one: the trial of the longest burst that passed, and of
    the shortest that did not."""
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    """Of those that passed, by trial."""
    lengths: list[int] = field(default_factory=list)
    """What each search found; fewer than there were to be if one showed nothing, or found no limit."""
    useless: Reason | None = None
    """Why a burst shows nothing of a buffer."""

    def search(self, repeats: int) -> Generator[Trial, Outcome, None]:
        """Runs so many searches, each from the length that the one before it found."""
        for number in range(repeats):
            guess = self.lengths[-1] if self.lengths else GUESS
            found = yield from self._search(f"search {number + 1}", guess)
            if found is None:
                return
            self.lengths.append(found)
            if found == self.most:
                return

    def why_none(self, repeats: int, longest: PositiveDuration) -> Reason | None:
        """The reason why not every search found a length; None if each did."""
        if self.useless is not None:
            return SearchesEnded(len(self.lengths), repeats, self.useless)
        return NoBurstLimit(longest.ns) if self.is_unlimited else None

    @property
    def is_unlimited(self) -> bool:
        """Whether the longest burst there is passed."""
        return bool(self.lengths) and self.lengths[-1] == self.most

    @property
    def resting(self) -> tuple[int, ...]:
        """The trials that show the limit of the last search."""
        return tuple(sorted({number for number in self.limit if number is not None}))

    def _search(self, name: str, guess: int) -> Generator[Trial, Outcome, int | None]:
        """The most steps that pass; None if a burst showed nothing."""
        self.limit = (None, None)
        found = yield from find_bracket(
            lambda steps: self._passes(name, steps), self.most, start=min(max(guess, 1), self.most)
        )
        return found.lower if found.ended_at is None else None

    def _passes(self, name: str, steps: int) -> Generator[Trial, Outcome, bool | None]:
        """Whether a burst comes back whole; None if it shows nothing."""
        burst = self.burst(steps)
        short: Reason | None = None
        for _ in range(TRIES):
            outcome = yield replace(burst, name=f"{name}: {burst.name}")
            trial, self.count = self.count, self.count + 1
            short = find_shortfall(outcome, burst.duration_ns)
            if short is None:
                return self._is_whole(steps, trial, outcome)
        assert short is not None  # Every try fell short.
        self.useless = BurstsUnsent(short)
        return None

    def _is_whole(self, steps: int, trial: int, outcome: Outcome) -> bool | None:
        """Whether all frames of a burst came back, which moves the limit; None if copies hide that."""
        longest, shortest = self.limit
        if any(one.missing for one in outcome.streams):
            # Lengths close in on the limit from both sides: of either kind the last one is the nearest.
            self.limit = (longest, trial)
            return False
        copies = sum(one.duplicates for one in outcome.streams)
        if copies:
            # What makes copies is no full buffer, and a burst without them may have passed.
            self.limit = (longest, trial)
            self.useless = BurstCopied(sum(one.offered for one in outcome.streams), copies)
            return None
        self.limit = (trial, shortest)
        self.passing[steps], self.outcomes[trial] = trial, outcome
        return True
