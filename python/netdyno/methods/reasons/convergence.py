"""Reasons of an acceptance: what was not done, and how forwarding and the device's own table agree."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.values.reason import Codes, Reason, declared

Part: TypeAlias = Literal["withdraw", "cut"]
Missing: TypeAlias = Literal["speaker", "emulated", "prefixes", "stream"]

MISSING: Mapping[Missing, str] = {
    "speaker": "the tester has no routes to withdraw at a port that frames are sent to",
    "emulated": "nothing is withdrawn from an emulated device. Run the plan on the real one",
    "prefixes": "no prefixes are behind the port: add `routing`, or the axis `routes`",
    "stream": "no other port sends to it",
}


class PartLeftOut(Reason, code="part-left-out"):
    """A part of the acceptance that this case cannot have."""

    part: Part
    missing: Missing

    def __str__(self) -> str:
        return f"`{self.part}` was left out: {MISSING[self.missing]}"


class PartNotMeasured(Reason, code="part-not-measured"):
    """A part of the acceptance whose trial could not be measured."""

    part: str
    reason: Reason
    says = "`{part}` was not measured: {reason}"


class FlowsNotCounted(Reason, code="flows-not-counted"):
    """This tester does not count flows one by one."""

    says = "this tester does not count what each flow lost"


class PrefixesLate(Reason, code="prefixes-late"):
    """Prefixes that had not converged when traffic ended. after_ns: from the event to the end. named: the
    first ones."""

    late: int
    prefixes: int
    after_ns: int
    named: tuple[str, ...] = ()
    says = """{late} of {prefixes} prefixes had not converged {after_ns} after the event{named:?, first
        {named}}"""


class PrefixesLeftOut(Reason, code="prefixes-left-out"):
    """Prefixes that were not forwarded, or before an announcement still were, when the event came. named: the
    first ones."""

    left_out: int
    named: tuple[str, ...] = ()
    says = """{left_out:=1?1 prefix|{left_out} prefixes} not counted{named:? (first {named})}: not forwarded
        before the event, or already announced"""


class NoPrefixMeasured(Reason, code="no-prefix-measured"):
    """No prefix was in the state that the event changes: forwarded, or before an announcement not."""

    says = "no prefix was forwarded as expected before the event"


class LoadNotSent(Reason, code="load-not-sent"):
    """The tester did not send a load of the acceptance as asked. short: how far it fell short."""

    short: Reason
    says = "{short}: lower the load, raise `trial.retries`, or free the tester's cores"


class ChangeNotSent(Reason, code="change-not-sent"):
    """The tester did not send as much to the prefixes as asked while routes changed."""

    short: Reason
    says = "{short}: lower `rate`, or free the tester's cores"


class PrefixesConverged(Reason, code="prefixes-converged"):
    """A full convergence: of how many prefixes, and to what resolution."""

    prefixes: int
    resolution_ns: Fraction
    says = "the last of {prefixes:=1?1 prefix|{prefixes} prefixes}, resolution {resolution_ns}"


class LostBeforeEvent(Reason, code="lost-before-event"):
    """Frames were lost before the event: a time by lost frames is then an upper bound."""

    frames: int
    says = "{frames:frame} lost before the event: convergence by loss is at most that. Lower `rate`"


class RoutesNotCounted(Reason, code="routes-not-counted"):
    """Nobody counted the device's routes. reason: why readings failed; None: there were none."""

    reason: Reason | None
    says = "table: the device's routes were not counted{reason:?: {reason}}"


class ChangeNotSeen(Reason, code="change-not-seen"):
    """The device's routes were not read both before the event and after it."""

    readings: int
    says = "table: {readings:reading} of the device's routes, not before and after the event"


class TableUnchanged(Reason, code="table-unchanged"):
    """The count of the device's routes stayed the same."""

    routes: int
    says = "table: still {routes:route}: next hops changed, or nothing did"


class TableStillChanging(Reason, code="table-still-changing"):
    """The count of the device's routes changed until the last reading."""

    before: int
    after: int
    says = "table: still changing at its last reading, from {before} to {after:route}. Raise `watch`"


class PlanesAgree(Reason, code="planes-agree", is_detail=True):
    """Forwarding and table changed at the same time, within the sum of the resolutions."""

    apart_ns: Fraction
    within_ns: Fraction
    says = "agree: {apart_ns} apart, resolution {within_ns}"


class PlanesDiffer(Reason, code="planes-differ"):
    """Forwarding and table did not change at the same time. has_other_way: frames came by another port
    meanwhile, and a count of routes is the same by whichever of two ways."""

    is_table_later: bool
    apart_ns: Fraction
    within_ns: Fraction
    has_other_way: bool = False
    says = (
        "differ: the table {is_table_later:?later|earlier} by {apart_ns}, resolution {within_ns}"
        "{has_other_way:?; it counts a route that has another way, by which frames came meanwhile}"
    )


class CriteriaMet(Reason, code="criteria-met"):
    """The criteria of an acceptance. failed: the names of those that failed, unknown: of the others that were
    not met."""

    met: int
    criteria: int
    failed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    says = "{met} of {criteria} criteria met{failed:?; failed: {failed}}{unknown:?; unknown: {unknown}}"


class WatchUnread(Reason, code="watch-unread"):
    """What the plan watches was never read."""

    says = "no reading in any trial"


class NoLoadSoHigh(Reason, code="no-load-so-high"):
    """No load as high as asked for was held and judged."""

    says = "no load as high as that was held"


class WithinResolution(Reason, code="within-resolution"):
    """A limit lies within the resolution of a time."""

    resolution_ns: Fraction
    says = "the limit lies within the resolution of {resolution_ns}. Raise `rate`"


REASONS: Codes = declared(globals())
"""The table of these."""
