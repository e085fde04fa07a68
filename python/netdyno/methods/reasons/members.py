"""Reasons about flows that are chosen so that members of a LAG carry shares of them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from netdyno.values import number
from netdyno.values.reason import Codes, Reason, declared


class FlowsChosen(Reason, code="flows-chosen"):
    """Which members the candidate flows came to, and how many were chosen of each. at: ports or device ports
    of the LAG. found, chosen: of each member, in order."""

    at: str
    flows: int
    candidates: int
    found: tuple[int, ...]
    chosen: tuple[int, ...]
    took_ns: int
    says = """netdyno chose {flows:flow} for the members of {at}: {_chosen}. Of {candidates:candidate} they
        carry {_found}; learning that took {took_ns}"""

    @property
    def _chosen(self) -> str:
        return _in_order(self.chosen)

    @property
    def _found(self) -> str:
        return _in_order(self.found)


class SharesNotReached(Reason, code="shares-not-reached"):
    """Too few candidates came to some members. chosen: flows of each member, in order, and wanted: their
    shares. members: how many of them carry flows."""

    at: str
    flows: int
    members: int
    chosen: tuple[int, ...]
    wanted: tuple[Fraction, ...]
    says = """{flows:flow} on {members:member} of {at}: {_chosen}, and {_wanted} were wanted. Too few
        candidates reach the others: vary more header fields, or hash more of them in the device"""

    @property
    def _chosen(self) -> str:
        return _in_order(self.chosen)

    @property
    def _wanted(self) -> str:
        return ", ".join(map(number.percent, self.wanted))


class FlowsWander(Reason, code="flows-wander"):
    """Candidate flows of a stream whose frames went over several members."""

    stream: str
    flows: int
    candidates: int
    says = """{flows} of {candidates:flow} of `{stream}` went over several members and were not chosen: the
        device spreads packets and not flows, or moved flows meanwhile"""


class MembersUnread(Reason, code="members-unread"):
    """The device's counters of a LAG's members say nothing, so flows were left as they were. at: its port."""

    at: str
    says = """the device's counters of the members of `{at}` were not read, and no flows were chosen for them.
        Look at what its driver reads"""


class SharesChanged(Reason, code="shares-changed"):
    """Members carried other shares in a trial than those that flows were chosen for. Of each, in order."""

    at: str
    trial: str
    carried: tuple[Fraction, ...]
    chosen: tuple[Fraction, ...]
    says = """in trial `{trial}` the members of {at} carried {_carried}, and flows were chosen for {_chosen}:
        the device moved flows. Turn off its rebalancing"""

    @property
    def _carried(self) -> str:
        return ", ".join(map(number.percent, self.carried))

    @property
    def _chosen(self) -> str:
        return ", ".join(map(number.percent, self.chosen))


def _in_order(counts: Iterable[int]) -> str:
    return ", ".join(map(number.count, counts))


REASONS: Codes = declared(globals())
