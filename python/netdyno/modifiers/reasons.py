"""Reasons of modifiers about a result: how the device answered queries and followed routing updates."""

from __future__ import annotations

from netdyno.values.reason import Codes, Reason, declared


class UpdatesNotFollowed(Reason, code="updates-not-followed"):
    """The device did not follow so many of its routing updates.

    examples: some of them, a clause each. ask_rip: port of the device for which it is unknown whether it
    learns by RIP; None: it does.
    """

    wrong: int
    sent: int
    examples: tuple[str, ...]
    ask_rip: str | None
    says = """The device did not follow {wrong:d} of {sent:d} routing updates: {examples}{more:?, and {more:d}
        more}.{ask_rip:? Does the device learn by RIP version 2 on its port at {ask_rip}?}"""

    @property
    def more(self) -> int:
        """How many are no examples."""
        return max(self.wrong - len(self.examples), 0)


class FollowingUnknown(Reason, code="following-unknown"):
    """Whether the device followed any routing update is unknown. given_s: time it needs for each."""

    sent: int
    given_s: int
    says = """Unknown whether the device followed any of {sent:d} routing updates: it had less than
        {given_s:d} s for each, or received no network before one was withdrawn."""


class QueriesUnanswered(Reason, code="queries-unanswered"):
    """The device answered fewer management queries than were sent. variable: holds the community."""

    answered: int
    sent: int
    variable: str
    says = """The device answered {answered:d} of {sent:d} management queries.{answered:?| Nothing was
        answered: is {variable} its community?}"""


class WrongAnswers(Reason, code="wrong-answers"):
    """Answers to management queries were wrong. examples: some of them, a clause each."""

    wrong: int
    examples: tuple[str, ...]
    says = "{wrong:wrong SNMP answer} left out: {examples}{more:?, and {more:d} more}."

    @property
    def more(self) -> int:
        """How many are no examples."""
        return max(self.wrong - len(self.examples), 0)


REASONS: Codes = declared(globals())
