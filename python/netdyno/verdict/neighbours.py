"""Reads the engine's records of neighbours that changed, fell silent or conflicted; words them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netdyno.values.outcome import NextHop, Outcome
from netdyno.values.reason import Reason
from netdyno.verdict.proof_reasons import AddressClaimed, NextHopMoved


@dataclass(frozen=True)
class Incident:
    """What befell a neighbour. code: `next-hop-changed`, `next-hop-fell-silent` or `address-conflict`."""

    code: str
    sentence: str


def incidents(trials: Iterable[tuple[int, Outcome]]) -> tuple[Incident, ...]:
    """One for each neighbour and kind of incident in these trials (number, result).

    Its sentence has the first incident and the number of those that followed.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for number, result in trials:
        for hop in result.next_hops:
            named = who(hop)
            for change in hop.changes:
                when = f"{seconds(change.at_ns)} into trial {number}"
                found.setdefault(("next-hop-changed", named), []).append(
                    f"{named} became {change.after} {when} (it was {change.before}): the stream followed it"
                )
            if hop.further_changes:
                found.setdefault(("next-hop-changed", named), []).extend([""] * hop.further_changes)
            for silence in hop.silences:
                end = "to its end" if silence.until_ns is None else f"until {seconds(silence.until_ns)}"
                found.setdefault(("next-hop-fell-silent", named), []).append(
                    f"{named} did not answer when asked whether it is there, from"
                    f" {seconds(silence.from_ns)} into trial {number} {end}:"
                    " the stream went on to the MAC address it had"
                )
        for conflict in result.conflicts:
            sentences = f"{conflict.mac} claims {conflict.address}, the tester's address on `{conflict.port}`"
            found.setdefault(("address-conflict", conflict.port, conflict.address), []).append(
                f"{sentences}, in trial {number}: give the tester an address nobody else has"
            )
    return tuple(Incident(key[0], _first(sentences)) for key, sentences in found.items())


def _first(sentences: list[str]) -> str:
    more = len(sentences) - 1
    return sentences[0] + (f" (and {more} more time{'s' if more > 1 else ''})" if more else "")


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


def who(hop: NextHop) -> str:
    """The name of a next hop in sentences: port, address, VLANs."""
    on = f" on VLAN {'.'.join(str(vlan) for vlan in hop.vlans)}" if hop.vlans else ""
    return f"next hop {hop.address} of `{hop.port}`{on}"


def seconds(ns: int) -> str:
    """`12.3 s`."""
    return f"{ns / 1e9:.1f} s"
