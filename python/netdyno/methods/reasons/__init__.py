"""Reasons of methods about their values and results, by theme; each module has their table."""

from __future__ import annotations

from netdyno.methods.reasons import (
    bursts,
    common,
    connections,
    convergence,
    deviations,
    learned,
    loss,
    members,
    outages,
    ramps,
    searches,
    services,
    tester,
)
from netdyno.values.reason import Codes, join

REASONS: Codes = join(
    bursts.REASONS,
    common.REASONS,
    connections.REASONS,
    convergence.REASONS,
    deviations.REASONS,
    learned.REASONS,
    loss.REASONS,
    members.REASONS,
    outages.REASONS,
    ramps.REASONS,
    searches.REASONS,
    services.REASONS,
    tester.REASONS,
)
"""The table of all reasons of methods."""
