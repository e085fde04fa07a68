"""What notes and verdicts say of watches that broke."""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import counted
from netdyno.values.breaks import ADJACENCY, PING
from netdyno.values.number import duration, fixed
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import VerdictReason

TABLE = "Watches"


class WatchBroke(Reason, code="watch-broke"):
    """A break of a watch in a trial; times in ns from the begin of its traffic.

    good_ns, bad_ns: it was last there, and first found lost. still_bad_ns, back_ns: it was last found lost,
    and there again; None: not before the trial, or not in it. missed: pings, polls or answers. trial: from 1.
    """

    source: str
    subject: str
    good_ns: int | None
    bad_ns: int
    still_bad_ns: int
    back_ns: int | None
    missed: int
    is_at_least: bool
    trial: int
    is_continued: bool = False
    """Whether it began in an earlier trial, and is no break of its own."""
    is_asked: bool = False
    """Whether it began after the device was asked to take a link down or to reset, and is no break either."""
    why: Reason | None = None
    """Where it is known: of an adjacency of an emulated router, whose times are exact."""

    @property
    def watch(self) -> str:
        """`ping to 192.0.2.1`, `OSPF neighbour 192.0.2.1`."""
        return name_watch(self.source, self.subject)

    def __str__(self) -> str:
        if self.why is not None:
            return self._exact(self.why)
        lost = f"by {_seconds(self.bad_ns)}, before its first reading"
        if self.good_ns is not None:
            lost = f"between {_seconds(self.good_ns)} and {_seconds(self.bad_ns)}"
        trial = f" of trial {self.trial}" if self.trial > 1 else ""
        back = "not back"
        if self.back_ns is not None:
            back = f"back between {_seconds(self.still_bad_ns)} and {_seconds(self.back_ns)}"
        noun = {PING: "ping", ADJACENCY: "poll"}.get(self.source, "answer")
        least = "at least " if self.is_at_least else ""
        return f"{self.watch} was lost {lost}{trial} ({least}{counted(self.missed, noun)}, {back})"

    def _exact(self, why: Reason) -> str:
        trial = f" of trial {self.trial}" if self.trial > 1 else ""
        back = "" if self.back_ns is None else f", back after {duration(self.back_ns - self.bad_ns)}"
        lost = f"{self.watch} was lost {duration(self.bad_ns)} into the traffic{trial}{back}"
        return f"{lost}. {str(why).removesuffix('.')}"


class WatchesHeld(Reason, code="watches-held"):
    """Every watch of the case held in all trials."""

    watches: int
    says = "{watches:=1?The watch|All {watches:d} watches} held."


class WatchesLost(Reason, code="watches-lost"):
    """Some watches of the case broke. breaks: the first ones. more: further breaks."""

    watches: int
    broken: int
    breaks: tuple[WatchBroke, ...]
    more: int

    def __str__(self) -> str:
        noun = "watch" if self.watches == 1 else "watches"
        return f"{self.broken} of {self.watches} {noun} broke. {_listed(self)}."


class WatchesBroke(VerdictReason, code="watches-broke"):
    """A verdict on a number during which watches broke. reason: of the number, which stays what it is.

    breaks: the first ones in the trials that the number rests on. more: further ones.
    """

    reason: Reason
    breaks: tuple[WatchBroke, ...]
    more: int

    def say(self, where: str = "") -> str:
        said = self.reason.say(where) if isinstance(self.reason, VerdictReason) else str(self.reason)
        count = len(self.breaks) + self.more
        times = "once" if count == 1 else f"{count} times"
        return f"{said.removesuffix('.')}. Meanwhile watches broke {times}. {_listed(self)}"


REASONS: Codes = declared(globals())


def name_watch(source: str, subject: str) -> str:
    """What a series watches: `ping to 192.0.2.1`; an adjacency's own name says it."""
    return subject if source == ADJACENCY else f"{source} to {subject}" if source == PING else source


def _listed(found: WatchesLost | WatchesBroke) -> str:
    """A sentence for each of the first breaks, the last one without its full stop."""
    sentences = [f"{text[0].upper()}{text[1:]}" for text in map(str, found.breaks)]
    if found.more:
        sentences.append(f"{found.more} more in the table `{TABLE}`")
    return ". ".join(sentences)


def _seconds(ns: int) -> str:
    """A time of the traffic, to 10 ms: `12.34 s`."""
    return f"{fixed(Fraction(ns, 10**9), 2)} s"
