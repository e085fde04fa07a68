"""How a run agrees with the standards its methods follow: one statement each, with every deviation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from netdyno.reports.model.view import ALL, CaseView, RunView
from netdyno.values.finding import Conformity, Result

NAMED = 4
"""Cases named one by one; of more only how many."""

ORDER: tuple[Conformity, ...] = ("deviating", "conditional", "unconditional")
"""From the worst: a run agrees with a standard as well as its worst case does."""

MEANING: Mapping[Conformity, str] = {
    "unconditional": "no deviation is known",
    "conditional": "not all that it recommends (SHOULD) was done",
    "deviating": "not all that it requires was done",
}


@dataclass(frozen=True)
class Statement:
    """A standard and how the run agrees with it.

    standard: empty in records of before results named it. required, recommended: what of these was not done,
    each once, with its cases if it is not said of all. contradicted: throughputs at which later trials lost
    frames, in the same way; they may have been found as the standard has it.
    """

    standard: str
    conformity: Conformity
    required: tuple[str, ...]
    recommended: tuple[str, ...]
    contradicted: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """`Compliance with RFC 2544 section 26.1: conditional, not all that it recommends was done.`"""
        if not self.standard:
            return "Restrictions of the result:"
        end = ":" if self.deviations else "."
        return f"Compliance with {self.standard}: {self.conformity}, {MEANING[self.conformity]}{end}"

    @property
    def deviations(self) -> tuple[str, ...]:
        """All of them, each with which it is."""
        if not self.standard:
            return self.required
        return (
            *(f"contradicted: {one}" for one in self.contradicted),
            *(f"required: {one}" for one in self.required),
            *(f"recommended: {one}" for one in self.recommended),
        )


def statements(run: RunView) -> tuple[Statement, ...]:
    """One for each standard, in the order of the cases."""
    found: dict[str, list[CaseView]] = {}
    for case in run.cases:
        if case.result is not None and (case.result.standard or case.result.compliance):
            found.setdefault(case.result.standard, []).append(case)
    return tuple(_statement(standard, cases) for standard, cases in found.items())


def _statement(standard: str, cases: Sequence[CaseView]) -> Statement:
    results = [(case, case.result) for case in cases if case.result is not None]
    classes = {result.conformity or "deviating" for _, result in results}

    def merge(said_of: Callable[[Result], Iterable[object]]) -> tuple[str, ...]:
        found: dict[str, list[CaseView]] = {}
        for case, result in results:
            for sentence in dict.fromkeys(said_of(result)):
                found.setdefault(str(sentence), []).append(case)
        return tuple(_of(sentence, those, cases) for sentence, those in found.items())

    return Statement(
        standard,
        next(one for one in ORDER if one in classes),
        required=merge(lambda result: result.compliance),
        recommended=merge(lambda result: result.recommended),
        contradicted=merge(_contradictions),
    )


def _contradictions(result: Result) -> Iterator[str]:
    for value in result.values:
        if value.contradicted and value.scope == ALL:
            yield f"{value.contradicted_name}: {value.contradicted}"


def _of(sentence: str, those: Sequence[CaseView], every: Sequence[CaseView]) -> str:
    if len(those) == len(every):
        return sentence
    if len(those) <= NAMED:
        return f"{sentence} ({', '.join(case.name for case in those)})"
    return f"{sentence} ({len(those)} of {len(every)} cases)"
