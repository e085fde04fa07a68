"""`backend: auto`: chooses the backend of a case's ports by the rate and frame size that the case needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.campaign.lab_reasons import BackendChosen, BackendRefused
from netdyno.plan.matrix import situation, streams
from netdyno.ports import backends, nic
from netdyno.ports.nic import fit
from netdyno.values.rates import FCS

if TYPE_CHECKING:
    from netdyno.calibration import Proven
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case


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
        """Whether it carries so many frames a second. False if its rate is unknown."""
        return self.fps is not None and self.fps >= need


def choose_backends(
    plan: Plan, case: Case, wiring: Wiring, proven: Callable[[Wiring], Proven | None]
) -> Wiring:
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
    if "hosts" in wiring.session:
        # What a card of another host can take is not asked.
        return wiring.settled()
    need = needed_fps(plan, case, wiring)
    possible, refusals = [], []
    may = fit.rights()
    cards = [(name, nic.read(name)) for name in interfaces]
    for one in backends.BACKENDS.values():
        if one.usual_fps is None:
            continue
        candidate = _candidate(one, case, wiring, cards, may, proven)
        if isinstance(candidate, Candidate):
            possible.append(candidate)
        else:
            refusals.append(BackendRefused(one.name, candidate))
    if not possible:
        # Opening it says what is wrong, with what helps.
        return wiring.settled()
    enough = [one for one in possible if one.carries(need)]
    chosen = enough[0] if enough else max(possible, key=lambda one: (one.fps is None, one.fps or 0))
    note = BackendChosen(
        chosen.kind,
        chosen.how,
        need,
        chosen.fps,
        chosen.proven,
        bool(enough),
        () if enough else tuple(refusals),
    )
    settled = wiring.settled(chosen.kind)
    return replace(settled, notes=(*settled.notes, note))


def needed_fps(plan: Plan, case: Case, wiring: Wiring) -> Fraction:
    """The most frames a second that the plan's method may ask of a direction of the case; the line's, of one
    that asks for no rate."""
    known = situation(case, wiring)
    asked = (known.fps(load.amount) for _, load in plan.parameters_of(case).loads())
    most = max(asked, default=known.line_fps)
    return most * max(place.line for place in known.places)


def _candidate(
    backend: backends.Backend,
    case: Case,
    wiring: Wiring,
    cards: list[tuple[str, nic.Nic | None]],
    may: fit.Rights,
    proven: Callable[[Wiring], Proven | None],
) -> Candidate | str:
    """The candidate for a backend on these interfaces; a clause if it cannot be used."""
    hows = []
    for name, card in cards:
        if card is None:
            return f"there is no interface `{name}`"
        assert backend.fit is not None
        found = backend.fit(card, may)
        if found.why is not None:
            return f"of `{name}`, {found.why}"
        hows.append(found.how)
    longest = max(part.mix.largest for part in case.profile.parts) - FCS
    if backend.longest is not None and longest > backend.longest:
        return f"frames of {longest} bytes without FCS, and it carries up to {backend.longest}"
    workers = wiring.session.get("workers", 1)
    for name, card in cards if backend.has_queue_per_worker else ():
        if card is not None and card.queues is not None and card.queues.now != workers:
            return f"`{name}` has {card.queues.now} queues and there are {workers} workers"
    known = proven(wiring.settled(backend.name))
    how = hows[0] if backend.names_its_way and len(set(hows)) == 1 else ""
    if known is not None and known.holds and known.max_fps is not None:
        return Candidate(backend.name, how, known.max_fps, proven=True)
    if any("zero-copy" in one for one in hows):
        return Candidate(backend.name, how, None, proven=False)
    usual = backend.usual_fps or Fraction(0)
    senders = {stream.place.tx for stream in streams(case, wiring)}
    return Candidate(backend.name, how, usual / len(senders), proven=False)
