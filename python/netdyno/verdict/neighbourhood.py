"""Finds next hops that changed their MAC address, and hosts with an address of the tester."""

from __future__ import annotations

from collections.abc import Iterable

from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.verdict.neighbours import who
from netdyno.verdict.proof_reasons import AddressClaimed, NextHopMoved


def find_moved_host(trials: Iterable[Outcome]) -> Reason | None:
    """The reason why frames may have gone to another host than the device; None if there is none.

    A next hop whose MAC address changed during traffic: frames on the way to the old address are lost. A
    host with an address of the tester's: returning frames may go there. A next hop that only fell silent
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
