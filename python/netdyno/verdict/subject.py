"""A value whose limit is asked for, and how an ordered table of questions is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from netdyno.values.finding import Result, Value
from netdyno.values.reason import Reason
from netdyno.values.verdict import Verdict
from netdyno.verdict.back_pressure import is_of_others, judge_back_pressure
from netdyno.verdict.evidence import Counts, Evidence


@dataclass(frozen=True)
class Subject:
    """A value whose limit is asked for, the result it is of, and the evidence that it rests on."""

    value: Value
    result: Result
    evidence: Evidence

    @cached_property
    def counts(self) -> Counts:
        """Counts of the value's scope; of a common search, which ends where any direction fails, of all."""
        return self.evidence.everything if self.value.is_common else self.evidence.of(self.value.scope)

    @property
    def stream(self) -> str | None:
        """The stream that the value is judged by; None: all."""
        return None if self.value.is_common or self.value.scope == "sum" else self.value.scope

    @property
    def is_real(self) -> bool:
        """Whether the tester has limits of its own: it has none in virtual time."""
        return self.evidence.clock == "real"

    @property
    def is_bound(self) -> bool:
        """Whether the value is a lower bound only: the trials ended before the limit of the device."""
        return self.value.low is not None and self.value.high is None

    @property
    def is_time(self) -> bool:
        """Whether the value is a time, and not a rate, a share or a count."""
        return self.value.unit == "ns"

    @property
    def is_of_frames(self) -> bool:
        """Whether the value is a share of frames, or a time of lost ones."""
        return self.value.of_frames is not None

    @property
    def is_excusable(self) -> bool:
        """Whether the tester may have lost the frames itself."""
        return self.counts.is_excusable

    @property
    def of_links(self) -> int:
        """Frames of the value's scope that links without carrier lost."""
        linked = self.evidence.linked
        return 0 if linked is None else linked.lost_of(self.value.scope)

    @property
    def has_own_loss(self) -> bool:
        """Whether more frames were lost than the tester may explain."""
        return self.evidence.has_own_loss(self.stream)

    @cached_property
    def _pressure(self) -> Verdict | None:
        return judge_back_pressure(self.value, self.evidence)

    @property
    def _is_taken_whole(self) -> bool:
        """Whether a memif device took all of the value's streams, and is the limit of others."""
        pressure = self._pressure
        return pressure is not None and pressure.limit == "device" and is_of_others(self.value, self.evidence)

    @cached_property
    def refused(self) -> Verdict | None:
        """The verdict on the value's frames that a memif peer did not take; None: it took them."""
        return None if self._is_taken_whole else self._pressure

    @property
    def is_refused_by_device(self) -> bool:
        """Whether it is the device's limit that it did not take them."""
        return self.refused is not None and self.refused.limit == "device"

    @cached_property
    def short(self) -> Reason | None:
        """Why the tester sent too little; None: it did not, or the value's streams were taken whole."""
        return None if self._is_taken_whole else self.evidence.short(self.value.scope)

    @property
    def excused(self) -> int | None:
        """Frames of the loss that pauses and bunches of the tester may explain; None: it made none."""
        judged = self.evidence.judged(self.stream) if self.is_real else ()
        return sum(one.explained for one in judged) if any(one.excused for one in judged) else None


Question: TypeAlias = Callable[[Subject], Verdict | None]
"""Gives the verdict if its answer is yes; None: the next question decides."""


def first_answer(subject: Subject, questions: Sequence[Question]) -> Verdict | None:
    """The first verdict that these questions give, in their order; None: none of them does."""
    return next((found for ask in questions if (found := ask(subject)) is not None), None)


def only_if(applies: Callable[[Subject], object], *questions: Question) -> Question:
    """The questions as one, which is asked only of subjects that a condition applies to."""
    return lambda subject: first_answer(subject, questions) if applies(subject) else None
