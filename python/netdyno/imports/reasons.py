"""Reasons of values that another tool measured."""

from __future__ import annotations

from netdyno.values.reason import Codes, declared
from netdyno.verdict.saying import VerdictReason


class ImportedRates(VerdictReason, code="imported-rates"):
    """Rates that another tool read and averaged; nothing shows whether it kept up. tool: its name."""

    tool: str
    says = """Limit not judged{where}: imported from {tool}, and whether that kept up is unknown. Its rates
        are averages of a second, its loss is what was sent less what came in that second, its utilisation is
        of L1"""


REASONS: Codes = declared(globals())
