"""Whether the boxes that the tester spoke to were the same all the while."""

from __future__ import annotations

from collections.abc import Iterable

from netdyno.values.outcome import Outcome
from netdyno.verdict.neighbours import seconds, who


def unsettled(trials: Iterable[Outcome]) -> str | None:
    """Why frames may have gone to another box than the device, a clause; None: nothing says so.

    A next hop that became another box while there was traffic: what was on its way to the first one is lost.
    A box that has an address of the tester's: what comes back may go there. A next hop that only fell silent
    kept its address, and so did the streams.
    """
    for trial in trials:
        for conflict in trial.conflicts:
            return (
                f"{conflict.mac} claims {conflict.address}, the tester's own address on `{conflict.port}`:"
                " what came back may have gone there"
            )
        for hop in trial.next_hops:
            moved = [change for change in hop.changes if change.at_ns >= 0]
            if moved:
                again = len(moved) - 1 + hop.further_changes
                more = "" if not again else f", and changed {again} more time{'s' if again > 1 else ''}"
                return (
                    f"{who(hop)} became another box {seconds(moved[0].at_ns)} into the traffic"
                    f" ({moved[0].after}, before that {moved[0].before}){more}: what was on its way to it is"
                    " neither box's loss"
                )
    return None
