"""`backend: auto`: what carries a case's frames, chosen by what the case needs; and the sentence for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.plan.matrix import streams
from netdyno.ports import backends, nic
from netdyno.ports.nic import fit
from netdyno.values.number import rate
from netdyno.values.rates import FCS, load_fps
from netdyno.values.units import L1Rate

if TYPE_CHECKING:
    from netdyno.calibration import Proven
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

USUAL: Mapping[str, Fraction] = {
    "af_packet": Fraction(340_000),
    "af_xdp": Fraction(490_000),
}
"""Frames a second sent and received by one core, copied, where nothing was proven: docs/labs.md."""

MOST_XDP_BYTES = 3840
"""Without FCS: a frame of AF_XDP lies in 4096 bytes, 256 of which the kernel keeps for itself."""


@dataclass(frozen=True)
class Candidate:
    """A backend that all ports left to netdyno could have.

    fps: what it carries, frames a second of each direction. None: more than the other one, but not known.
    """

    kind: str
    how: str
    fps: Fraction | None
    proven: bool

    def carries(self, need: Fraction) -> bool:
        """Whether it is enough, as far as anybody knows."""
        return self.fps is not None and self.fps >= need

    def __str__(self) -> str:
        if self.fps is None:
            return "what it carries is not proven here"
        known = rate(self.fps, "pps")
        return f"proven {known} here" if self.proven else f"not proven here, {known} are usual"


def backend(plan: Plan, case: Case, wiring: Wiring, proven: Callable[[Wiring], Proven | None]) -> Wiring:
    """The wiring with a backend for each port that leaves it to us, and a note that says which and why.

    The first of packet sockets and AF_XDP that carries what the case needs; else the one that carries more.
    proven: what a calibration proved for a wiring, if one holds.
    """
    interfaces = [
        port["backend"]["interface"]
        for port in wiring.session["ports"]
        if port["backend"]["kind"] == backends.AUTO
    ]
    if not interfaces:
        return wiring
    need = needed_fps(plan, case, wiring)
    possible, refusals = [], []
    may = fit.rights()
    cards = [(name, nic.read(name)) for name in interfaces]
    for kind in USUAL:
        candidate = _candidate(kind, case, wiring, cards, may, proven)
        if isinstance(candidate, Candidate):
            possible.append(candidate)
        else:
            refusals.append(f"`{kind}` cannot be: {candidate}")
    if not possible:
        # Opening it says what is wrong, with what helps.
        return wiring.settled()
    enough = [one for one in possible if one.carries(need)]
    chosen = enough[0] if enough else max(possible, key=_amount)
    how = f" ({chosen.how})" if chosen.how else ""
    wanted = rate(need, "pps")
    note = f"`backend: auto` is `{chosen.kind}`{how}: {wanted} a direction are needed, {chosen}"
    note += "." if enough else ": the result may be a lower bound."
    if refusals and not enough:
        note += f" {'; '.join(refusals)}."
    settled = wiring.settled(chosen.kind)
    return replace(settled, notes=(*settled.notes, note))


def needed_fps(plan: Plan, case: Case, wiring: Wiring) -> Fraction:
    """The most frames a second that the plan's method may ask of a direction of the case."""
    slowest = L1Rate(Fraction(min(port.rate_bps for port in wiring.ports)))
    size = case.profile.mix.mean
    most = max(load_fps(load, line=slowest, size=size).amount for _, load in plan.parameters.loads())
    return most * max(stream.place.line for stream in streams(case, wiring))


def _candidate(
    kind: str,
    case: Case,
    wiring: Wiring,
    cards: list[tuple[str, nic.Nic | None]],
    may: fit.Rights,
    proven: Callable[[Wiring], Proven | None],
) -> Candidate | str:
    """What a backend would be here; why it cannot be, if it cannot."""
    hows = []
    for name, card in cards:
        if card is None:
            return f"there is no interface `{name}`"
        found = next(one for one in fit.fits(card, may) if one.backend == kind)
        if found.why is not None:
            return f"of `{name}`, {found.why}"
        hows.append(found.how)
    if kind == "af_xdp":
        longest = max(size for size, _ in case.profile.mix.weights) - FCS
        if longest > MOST_XDP_BYTES:
            return f"frames of {longest} bytes without FCS, and it carries up to {MOST_XDP_BYTES}"
        workers = wiring.session.get("workers", 1)
        for name, card in cards:
            if card is not None and card.queues is not None and card.queues.now != workers:
                return f"`{name}` has {card.queues.now} queues and there are {workers} workers"
    known = proven(wiring.settled(kind))
    how = hows[0] if kind == "af_xdp" and len(set(hows)) == 1 else ""
    if known is not None and known.holds and known.max_fps is not None:
        return Candidate(kind, how, known.max_fps, proven=True)
    if any("zero-copy" in one for one in hows):
        return Candidate(kind, how, None, proven=False)
    senders = {stream.place.tx for stream in streams(case, wiring)}
    return Candidate(kind, how, USUAL[kind] / len(senders), proven=False)


def _amount(candidate: Candidate) -> tuple[bool, Fraction]:
    return candidate.fps is None, candidate.fps or Fraction(0)
