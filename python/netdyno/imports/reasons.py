"""Reasons of values that another tool measured."""

from __future__ import annotations

from netdyno.values.number import bits
from netdyno.values.reason import Codes, declared
from netdyno.verdict.saying import VerdictReason


class ImportedRates(VerdictReason, code="imported-rates"):
    """Rates that another tool read and averaged; nothing shows whether it kept up. tool: its name."""

    tool: str
    says = """Limit not judged{where}: imported from {tool}, and whether that kept up is unknown. Its rates
        are averages of a second, its loss is what was sent less what came in that second, its utilisation is
        of L1"""


class ImportedConnections(VerdictReason, code="imported-connections"):
    """What connections carried by another tool's report, which has no state of its hosts. tool: its name.
    held_bps: payload that each connection was held to; None: it was not."""

    tool: str
    held_bps: int | None = None

    def say(self, where: str = "") -> str:
        """where: of which scopes it is said."""
        held = "" if self.held_bps is None else f" It held each connection to {bits(self.held_bps)} (`-b`)."
        return (
            f"Limit not judged{where}: imported from {self.tool}, which does not say whether its hosts kept"
            f" up.{held} Device, hosts, windows or congestion control may be the limit. Rates are of payload."
            f" Measure again with `tester: {self.tool}`"
        )


class ImportedDatagrams(VerdictReason, code="imported-datagrams"):
    """Datagrams that another tool counted at its sockets, which may have dropped them. tool: its name."""

    tool: str
    says = """Limit not judged{where}: imported from {tool}, whose lost datagrams may be those of its own
        sockets. Rates are of payload. Count frames with `netdyno send` instead"""


REASONS: Codes = declared(globals())
