"""One trial on an open session of the engine: what every test helper and tool drives it by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from netdyno.devices.wiring import Wiring
from netdyno.testers.netdyno.engine import Opened
from netdyno.testers.netdyno.spec import event_spec, read_result
from netdyno.values.load import Happened, Trial
from netdyno.values.outcome import Outcome


def shoot(session: Opened, wiring: Wiring, trial: Trial, spec: Mapping[str, Any]) -> Outcome:
    """The outcome of a trial in virtual time, in which its events happen. spec: its TrialSpec."""
    events = sorted(trial.events, key=lambda event: event.at_ns)
    names = [port.name for port in wiring.ports]
    outcome = read_result(session.trial(spec, [event_spec(event, names) for event in events]))
    return replace(outcome, happened=tuple(Happened(one, one.at_ns, one.at_ns) for one in events))
