"""The table of all reasons, for a reader of a run: each package exports its own."""

from __future__ import annotations

from netdyno import verdict
from netdyno.calibration import reasons as calibration
from netdyno.campaign import busy, lab_reasons, readings
from netdyno.devices import reasons as devices
from netdyno.devices.telemetry import reasons as telemetry
from netdyno.devices.watches import reasons as watches
from netdyno.imports import reasons as imports
from netdyno.methods import reasons as methods
from netdyno.modifiers import reasons as modifiers
from netdyno.ports import reasons as ports
from netdyno.values import counter_reasons, engine_reason, reason, rehearsal, unmeasured

REASONS: reason.Codes = reason.join(
    reason.REASONS,
    engine_reason.REASONS,
    unmeasured.REASONS,
    counter_reasons.REASONS,
    rehearsal.REASONS,
    ports.REASONS,
    devices.REASONS,
    telemetry.REASONS,
    watches.REASONS,
    modifiers.REASONS,
    methods.REASONS,
    verdict.REASONS,
    imports.REASONS,
    calibration.REASONS,
    busy.REASONS,
    lab_reasons.REASONS,
    readings.REASONS,
)
