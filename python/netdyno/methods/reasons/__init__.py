"""Reasons of methods about their values and results, by theme; each module has their table."""

from __future__ import annotations

from netdyno.methods.reasons import (
    bursts,
    common,
    deviations,
    loss,
    outages,
    ramps,
    routes,
    searches,
    services,
    stations,
    tester,
)
from netdyno.values.reason import Codes, join

REASONS: Codes = join(
    bursts.REASONS,
    common.REASONS,
    deviations.REASONS,
    loss.REASONS,
    outages.REASONS,
    ramps.REASONS,
    routes.REASONS,
    searches.REASONS,
    services.REASONS,
    stations.REASONS,
    tester.REASONS,
)
"""The table of all reasons of methods."""
