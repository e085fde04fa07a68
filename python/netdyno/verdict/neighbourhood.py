"""Whether the boxes that the tester spoke to were the same all the while."""

from __future__ import annotations

from collections.abc import Iterable

from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.verdict.neighbours import who
from netdyno.verdict.proof_reasons import AddressClaimed, NextHopMoved


def unsettled(trials: Iterable[Outcome]) -> Reason | None:
    """Why frames may have gone to another host than the device; None: nothing says so.

    A next hop that became another box while there was traffic: what was on its way to the first one is lost.
    A box that has an address of the tester's: what comes back may go there. A next hop that only fell silent
    kept its address, and so did the streams.
    """
    for trial in trials:
        for conflict in trial.conflicts:
            return AddressClaimed(conflict.mac, conflict.address, conflict.port)
        for hop in trial.next_hops:
            moved = [change for change in hop.changes if change.at_ns >= 0]
            if moved:
                again, first = len(moved) - 1 + hop.further_changes, moved[0]
                return NextHopMoved(who(hop), first.at_ns, first.before, first.after, again)
    return None
