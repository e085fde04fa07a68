"""Reasons of modifiers about a result: how the device answered queries and followed routing updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class UpdatesNotFollowed(Reason):
    """The device did not follow so many of its routing updates.

    examples: some of them, a clause each. ask_rip: port of the device for which it is unknown whether it
    learns by RIP; None: it does.
    """

    code: ClassVar[str] = "updates-not-followed"
    wrong: int
    sent: int
    examples: tuple[str, ...]
    ask_rip: str | None

    def __str__(self) -> str:
        more = _count_more(self.wrong, self.examples)
        hint = (
            f" Does the device learn by RIP version 2 on its port at {self.ask_rip}?" if self.ask_rip else ""
        )
        return (
            f"The device did not follow {self.wrong} of {self.sent} routing updates:"
            f" {'; '.join(self.examples)}{more}.{hint}"
        )


@dataclass(frozen=True)
class FollowingUnknown(Reason):
    """Whether the device followed any routing update is unknown. given_s: time it needs for each."""

    code: ClassVar[str] = "following-unknown"
    sent: int
    given_s: int

    def __str__(self) -> str:
        return (
            f"Unknown whether the device followed any of {self.sent} routing updates: it had less than"
            f" {self.given_s} s for each, or received no network before one was withdrawn."
        )


@dataclass(frozen=True)
class QueriesUnanswered(Reason):
    """The device answered fewer management queries than were sent. variable: holds the community."""

    code: ClassVar[str] = "queries-unanswered"
    answered: int
    sent: int
    variable: str

    def __str__(self) -> str:
        hint = "" if self.answered else f" Nothing was answered: is {self.variable} its community?"
        return f"The device answered {self.answered} of {self.sent} management queries.{hint}"


@dataclass(frozen=True)
class WrongAnswers(Reason):
    """Answers to management queries were wrong. examples: some of them, a clause each."""

    code: ClassVar[str] = "wrong-answers"
    wrong: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        more = _count_more(self.wrong, self.examples)
        return f"{counted(self.wrong, 'wrong SNMP answer')} left out: {'; '.join(self.examples)}{more}."


def _count_more(wrong: int, examples: tuple[str, ...]) -> str:
    more = wrong - len(examples)
    return f", and {more} more" if more > 0 else ""


REASONS: Codes = declared(globals())
