"""What methods say of their values and results, by theme; each module has the classes and their table."""

from __future__ import annotations

from netdyno.methods.reasons import deviations, loss, ramps, routes, tester
from netdyno.values.reason import Codes, join

REASONS: Codes = join(deviations.REASONS, loss.REASONS, ramps.REASONS, routes.REASONS, tester.REASONS)
"""The table of all reasons of methods."""
