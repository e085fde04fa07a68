"""`netdyno ports`: the interfaces of this machine, which backend each can take, and why not the others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from netdyno.ports import backends, nic
from netdyno.ports.nic import advice, fit
from netdyno.values.units import L1Rate

COLUMNS = (
    *("interface", "state", "speed", "driver"),
    *(name for name in backends.KERNEL if name != backends.AUTO),
    "this machine's own traffic",
)

OWN_TRAFFIC = "carries this machine's own traffic: not to be loaded unless a plan declares it"


@dataclass(frozen=True)
class PortReport:
    """An interface as a tester sees it."""

    nic: nic.Nic
    fits: tuple[fit.Fit, ...]
    findings: tuple[advice.Finding, ...]

    @property
    def own_traffic(self) -> str | None:
        """This machine's own traffic on it; None if none is known."""
        if self.nic.link.loopback:
            return "loopback"
        if self.nic.default_route:
            return "default route"
        return self.nic.addresses[0] if self.nic.addresses else None

    @property
    def state(self) -> str:
        """`up`, `down`, `no carrier`; and that a group has it."""
        link = self.nic.link
        state = "down" if not link.up else "no carrier" if link.carrier is False else "up"
        return f"{state}, in a group" if link.in_group else state

    def row(self) -> list[str]:
        """Its line of the table, after `COLUMNS`."""
        card = self.nic.card
        speed = "" if card.speed_bps is None else str(L1Rate(Fraction(card.speed_bps))).removesuffix(" L1")
        if speed and not card.has_line:
            # A driver says it for form's sake: nothing holds frames to it.
            speed = f"({speed})"
        if card.full_duplex is False:
            speed += " half duplex"
        takes = [one.how if one.why is None else f"no: {one.why}" for one in self.fits]
        return [self.nic.name, self.state, speed, self.nic.driver, *takes, self.own_traffic or ""]

    def table(self) -> dict[str, Any]:
        """All of it, as plain JSON."""
        return {
            **self.nic.facts(),
            "state": self.state,
            "has_line": self.nic.card.has_line,
            "promiscuous": self.nic.link.promiscuity > 0,
            "counters": dict(self.nic.link.counters),
            "backends": {
                one.backend: {
                    "takes": one.why is None,
                    "how": one.how or None,
                    "why_not": one.why,
                    "hint": one.hint,
                }
                for one in self.fits
            },
            "own_traffic": None if self.own_traffic is None else f"{self.own_traffic}; {OWN_TRAFFIC}",
            "before_a_test": [asdict(finding) for finding in self.findings],
        }


def look() -> list[PortReport]:
    """Every interface of this network namespace. As a plain user too; changes nothing."""
    may = fit.rights()
    return [
        PortReport(
            card, backends.fits(card, may), tuple(advice.findings(card)) if not card.link.loopback else ()
        )
        for card in nic.read_all()
    ]


def advices(reports: list[PortReport]) -> list[str]:
    """Hints, a line each: rights that allow more backends, settings to change before a test."""
    lines = []
    for report in reports:
        if not report.nic.link.up:
            continue  # The table says so, and the rest may change when it comes up.
        lines += [f"{one.backend}: {one.hint}" for one in report.fits if one.hint]
        if report.own_traffic is not None and not report.nic.link.loopback:
            lines.append(f"{report.nic.name} {OWN_TRAFFIC} ({report.own_traffic})")
            continue
        for finding in report.findings:
            change = f": {finding.command}" if finding.command else ""
            lines.append(f"{report.nic.name} {finding.what}{change}")
    return list(dict.fromkeys(lines))
