"""Between which loads a search stands that has not ended, from its finished trials alone.

A load counts as its search counts it: of throughput one trial with a loss is enough, of NDR as much of the
time as its goal allows may be bad. What has too few trials yet to settle a goal is taken for what these show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from netdyno.methods import METHODS
from netdyno.methods.parts.procedure import Allowed, find_own_shortfall
from netdyno.methods.parts.rows import count_refused
from netdyno.methods.reasons.searches import SoFar
from netdyno.values.records import CaseHead, CaseWiring, StoredTrial

SEARCHING = re.compile(r"(.*: )?(search|verification|final) [0-9]+")
"""Names of trials that try a load; a ramp, a warm-up and trials behind a search have others."""


class _Shot(NamedTuple):
    duration_ns: int
    bad: int
    sent: int


@dataclass
class SearchSoFar:
    """A search under way. goals: what it looks for, and what a load may lose that passes, by name."""

    goals: Mapping[str, Allowed]
    wiring: CaseWiring
    trials: int = 0
    """Finished trials of the search."""
    _loads: dict[Fraction, list[_Shot]] = field(default_factory=dict)
    """Trials that show something of the device, by load; none: the tester fell short in all."""

    @classmethod
    def of_stored(cls, head: CaseHead, wiring: CaseWiring) -> SearchSoFar:
        """That of a stored case; it has no goals if its parameters are of another version."""
        try:
            read = METHODS[head.method].parameters.model_validate_json(head.parameters)
        except (KeyError, ValueError):
            return cls({}, wiring)
        return cls(read.searched, wiring)

    def add(self, trial: StoredTrial) -> None:
        """Takes in a trial; one that does not count, or is none of the search, changes nothing."""
        if not self.goals or trial.state != "done" or not SEARCHING.fullmatch(trial.name):
            return
        self.trials += 1
        outcome = trial.result
        (segment,) = self.wiring.situation.in_frames(trial.segments)
        shots = self._loads.setdefault(segment.from_rate.amount, [])
        more_came = any(stream.lost < 0 for stream in outcome.streams)
        if not more_came and find_own_shortfall(outcome, segment.duration_ns) is None:
            refused = count_refused(outcome.streams)
            bad = sum(max(stream.missing, 0) + stream.duplicates for stream in outcome.streams) + refused
            sent = sum(stream.offered for stream in outcome.streams) + refused
            shots.append(_Shot(segment.duration_ns, bad, sent))

    def find(self) -> Iterator[SoFar]:
        """What is known for each goal, in rates of all streams together; nothing before the first trial."""
        situation = self.wiring.situation
        times = situation.share("sum")
        line = situation.line("sum") if self.wiring.enforced_rate else None
        for name, allowed in self.goals.items() if self.trials else ():
            passed, failed, short = self._bounds(allowed)
            shots = () if failed is None else self._loads[failed]
            yield SoFar(
                value=name,
                trials=self.trials,
                passed_pps=None if passed is None else passed * times,
                failed_pps=None if failed is None else failed * times,
                short_pps=None if short is None else short * times,
                missing=sum(shot.bad for shot in shots),
                sent=sum(shot.sent for shot in shots),
                line_pps=line,
            )

    def _bounds(self, allowed: Allowed) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
        """The highest load that passed below all that did not, and the lowest of those: one that failed, or
        one at which the tester fell short. Loads of each sending port."""
        passed = None
        for load in sorted(self._loads):
            shots = self._loads[load]
            if not shots:
                return passed, None, load
            bad_ns = sum(shot.duration_ns for shot in shots if shot.bad > allowed.loss * shot.sent)
            if bad_ns > allowed.exceed * sum(shot.duration_ns for shot in shots):
                return passed, load, None
            passed = load
        return passed, None, None
