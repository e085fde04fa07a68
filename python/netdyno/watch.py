"""The interfaces under the tester's ports, looked at before and after each trial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netdyno.labs import nic
from netdyno.labs.nic import counters
from netdyno.trial import InterfaceResult, TrialResult

if TYPE_CHECKING:
    from netdyno.labs import Wiring


@dataclass(frozen=True)
class _Port:
    """before: the interface when the trial began, None if there was none; of_driver: its counters then."""

    name: str
    interface: str
    before: nic.Nic | None
    of_driver: dict[str, int]


class Watch:
    """What was there when a trial began."""

    def __init__(self, wiring: Wiring) -> None:
        opened = [(port["name"], port["backend"].get("interface")) for port in wiring.session["ports"]]
        self._ports = [
            _Port(name, interface, nic.read(interface), nic.driver_counters(interface))
            for name, interface in opened
            if interface is not None
        ]

    def told(self, result: TrialResult) -> TrialResult:
        """The result with what the interfaces counted meanwhile, and why it is invalid if a line changed."""
        if not self._ports:
            return result
        found = [_compare(port) for port in self._ports]
        return replace(
            result,
            interfaces=tuple(interface for interface, _ in found),
            invalid=(*result.invalid, *(reason for _, reasons in found for reason in reasons)),
        )


def _compare(port: _Port) -> tuple[InterfaceResult, list[str]]:
    before, after = port.before, nic.read(port.interface)
    named = f"interface `{port.interface}` of `{port.name}`"
    if before is None or after is None or before.link.index != after.link.index:
        return InterfaceResult(port.name, port.interface), [f"{named} was taken away during the trial"]
    general = counters.difference(before.link.counters, after.link.counters)
    of_driver = counters.difference(port.of_driver, nic.driver_counters(port.interface))
    reasons = []
    downs = after.link.downs - before.link.downs
    if downs > 0:
        times = "once" if downs == 1 else f"{downs} times"
        reasons.append(f"the link of `{port.name}` (interface `{port.interface}`) went down {times}")
    elif before.link.up and not after.link.up:
        reasons.append(f"{named} was switched off")
    for what, was, now in (
        ("bit/s", before.card.speed_bps, after.card.speed_bps),
        ("duplex", _duplex(before), _duplex(after)),
    ):
        # A link that is down has no speed; that it went down has been told.
        if was is not None and now is not None and was != now:
            reasons.append(f"{named} runs at {now} {what} now, at the trial's beginning it was {was}")
    return (
        InterfaceResult(
            port.name, port.interface, general, of_driver, counters.by_kind(general, of_driver), max(downs, 0)
        ),
        reasons,
    )


def _duplex(card: nic.Nic) -> str | None:
    full = card.card.full_duplex
    return None if full is None else "full" if full else "half"
