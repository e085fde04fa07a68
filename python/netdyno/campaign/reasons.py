"""The table of all reasons, for whoever reads a run: each package exports its own."""

from __future__ import annotations

from netdyno import verdict
from netdyno.campaign import busy
from netdyno.methods import reasons as methods
from netdyno.values import engine_reason, reason, unmeasured

REASONS: reason.Codes = reason.join(
    reason.REASONS,
    engine_reason.REASONS,
    unmeasured.REASONS,
    methods.REASONS,
    verdict.REASONS,
    busy.REASONS,
)
