"""Watches of a case: their instruments, ready before the first trial and closed after the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise

from netdyno.devices.live import Instrument, Live
from netdyno.devices.reach.instrument import CliInstrument
from netdyno.devices.speakers.lags import Lags
from netdyno.devices.speakers.speaking import Speaking
from netdyno.devices.watches import Watch
from netdyno.devices.watches.ping import PingInstrument, await_answer
from netdyno.values.breaks import ANSWER_TIME, ANSWERS
from netdyno.values.outcome import Outcome
from netdyno.values.series import MOST_MISSED, MOST_SERIES, Series

SILENT_S = 5.0
"""Who answers no ping for this long before the first trial is not watched: that is an error."""


@dataclass(frozen=True)
class Watching:
    """What watches a case. answering: sources whose answers are those of a command line."""

    instruments: tuple[Instrument, ...] = ()
    answering: frozenset[str] = frozenset()
    lags: Lags = field(default_factory=Lags)

    def with_answers(self, outcome: Outcome) -> Outcome:
        """The outcome with a series of how long the command line took to answer, if that is watched."""
        found = [
            one for name in sorted(self.answering) if (one := _answers(name, outcome.series)) is not None
        ]
        if not found:
            return outcome
        return replace(outcome, series=(*found, *outcome.series)[:MOST_SERIES])


@contextmanager
def watching(
    live: Live, watch: Watch | None, speakers: Speaking | None = None, lags: Lags | None = None
) -> Iterator[Watching]:
    """Everything that is watched of a device. Raises LabError: without a right, or if nothing answers."""
    if watch is None:
        yield Watching(() if speakers is None else speakers.instruments, lags=lags or Lags())
        return
    known = live.addresses_of()
    found: list[Instrument] = []
    with ExitStack() as within:
        for ping in watch.pings:
            address = known.get(ping.to, ping.to)
            one = PingInstrument(ping, address)
            within.callback(one.close)
            await_answer(one, ping, address, SILENT_S)
            found.append(one)
        adjacencies = live.adjacencies() if watch.adjacencies else None
        if adjacencies is not None:
            found.append(adjacencies)
        if speakers is not None:
            # Who has neighbours beside the tester is asked for all of them; each is watched at one end.
            own = speakers.watches if watch.adjacencies and adjacencies is None else ()
            found += (*own, *speakers.instruments)
        found += () if lags is None else lags.watches
        answering = (one.name for one in live.instruments() if isinstance(one, CliInstrument))
        named = frozenset(answering if watch.cli_ns is not None else ())
        yield Watching(tuple(found), named, lags or Lags())


def _answers(source: str, series: Sequence[Series]) -> Series | None:
    """How long each reading of a source took, ns, and which ones failed; None: it has no series.

    A reading of several quantities took as long for each of them.
    """
    own = [one for one in series if one.source == source and one.took_ns]
    if not own:
        return None
    took = sorted({pair for one in own for pair in zip(one.times_ns, one.took_ns, strict=True)})
    first = took[:1]
    apart = first + [later for earlier, later in pairwise(took) if later[0] > earlier[0]]
    missed = dict.fromkeys(missed for one in own for missed in one.missed)
    at = tuple(at_ns for at_ns, _ in apart)
    times = tuple(took_ns for _, took_ns in apart)
    by_time = sorted(missed, key=lambda one: one.at_ns)[:MOST_MISSED]
    return Series(ANSWERS, source, ANSWER_TIME, "ns", at, times, took_ns=times, missed=tuple(by_time))
