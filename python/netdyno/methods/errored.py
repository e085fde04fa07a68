"""Errored frames as RFC 2889 section 5.9 has them: whether a switch forwards frames that it must filter.

Ports carry frames without their frame check sequence, which the card computes, and every frame of the tester
has a probe: so of the five errors a frame too long is the one that can be sent here. The others are listed as
not run, each with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pydantic import Field

from netdyno.errors import Problem
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import Parameters, Procedure, constant, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.common import NothingSent, Several
from netdyno.methods.reasons.deviations import NotTested
from netdyno.methods.reasons.services import CameOut, ControlAt
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS, Cell, Result, Table, Value, columns
from netdyno.values.finding import NOT_RUN as LEFT_OUT
from netdyno.values.kind import ValueKind
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameSize, Percent, PositiveDuration, PositiveLoad

RFC_TRIAL_NS = 30 * 10**9
"""RFC 2889 section 5.9.2: 30 seconds are recommended."""
LONGEST = 1518
"""Bytes with FCS of the longest untagged frame; longer ones should not be forwarded (section 5.9.3)."""
TAG = 4
"""Bytes of a VLAN tag, by which a legal frame may be longer (IEEE Std 802.3 section 3.2.7: 1522 with one)."""

OVERSIZE = ValueKind(
    "oversize frames forwarded",
    "share",
    "the share of frames that came out of any port; of those that are too long none should (RFC 2889 section"
    " 5.9.3)",
    goal="oversize frames forwarded <= 0%",
    instead="legal frames forwarded",
)
LEGAL = ValueKind(
    "legal frames forwarded",
    "share",
    "the share of frames that came out of any port; of legal ones all should",
    goal="legal frames forwarded >= 100%",
    instead=OVERSIZE.name,
)

TABLE = columns(
    "error | frame size: B | load: share | sent: frames | forwarded: frames | to other ports: frames | result"
)


class ErroredParameters(Parameters):
    """Parameters of errored frames."""

    at: list[PositiveLoad] = Field(
        alias="loads",
        default=[PositiveLoad(Percent(Fraction(share, 100))) for share in (10, 50, 100)],
        min_length=1,
        max_length=100,
    )
    """Loads, one after the other."""
    duration: PositiveDuration = PositiveDuration.of_ns(RFC_TRIAL_NS)
    """Length of each trial."""
    longest: FrameSize | None = None
    """The longest legal frame; unless given `1518B` and 4 bytes more for each VLAN tag of the profile. More
    where jumbo frames are set."""


def errored_frames(parameters: ErroredParameters, situation: Situation) -> Method:
    """RFC 2889 section 5.9: frames of the profile's size at each load.

    Frames that are too long pass the test if none comes out of any port; others, the control, if all come. A
    filter takes all of them at any load: legal frames of which some come are lost to the load. So the control
    is judged at its lowest load.
    """
    duration_ns = parameters.duration.ns
    longest = parameters.longest or FrameSize(Fraction(LONGEST + TAG * situation.tags))
    over = situation.mean_size > longest.amount
    outcomes: list[Outcome] = []
    counting: dict[int, Fraction] = {}
    table: list[tuple[Cell, ...]] = []
    notes: list[Reason] = []
    for load in parameters.at:
        fps = situation.fps(load.amount)
        outcome = yield constant(str(load), load.amount, duration_ns)
        outcomes.append(outcome)
        short = find_shortfall(outcome, duration_ns)
        offered = sum(one.offered for one in outcome.streams)
        received = sum(one.received for one in outcome.streams)
        elsewhere = sum(one.elsewhere for one in outcome.streams)
        clean = not received + elsewhere if over else not rows.count_lost(outcome.streams)
        answer = NOT_KNOWN if short is not None else PASS if clean else FAIL
        if answer == FAIL and not over and received + elsewhere:
            answer = "forwarded in part"
        if short is not None:
            notes.append(About(str(load), short))
        else:
            counting[len(outcomes) - 1] = fps
        counts = (Fraction(offered), Fraction(received), Fraction(elsewhere))
        what = "oversize" if over else "none (control)"
        table.append((what, situation.mean_size, fps / situation.line_fps, *counts, answer))
    compared = deviations(METHOD.name, parameters, situation, outcomes)
    table += [
        (one.test, None, None, None, None, None, f"{LEFT_OUT}: {one.why}")
        for one in compared["compliance"]
        if isinstance(one, NotTested)
    ]
    kind = OVERSIZE if over else LEGAL
    judged = tuple(counting) if over else tuple(sorted(counting, key=counting.__getitem__)[:1])
    if not over and judged and len(outcomes) > 1:
        notes.append(ControlAt(str(parameters.at[judged[0]])))
    return Result(
        method=METHOD.name,
        values=tuple(
            _measure_forwarded(
                kind,
                scope,
                [one for place in judged for one in outcomes[place].streams if scope in (one.name, "sum")],
                notes,
            )
            for scope in (*situation.streams, "sum")
        ),
        trials=judged or tuple(range(len(outcomes))),
        **compared,
        notes=tuple(notes),
        headlines=(kind.name,),
        tables=(
            Table(
                "Errored frames",
                TABLE,
                tuple(table),
                "RFC 2889 section 5.9: too long is a frame of more than"
                f" {longest}, which a switch may filter and should not forward.",
            ),
        ),
    )


def _measure_forwarded(
    kind: ValueKind, scope: str, streams: Sequence[StreamResult], notes: Sequence[Reason]
) -> Value:
    """The share of a scope's frames that came out of any port, over the loads judged: the tester fell short
    of nothing there. notes: of which it did. A frame that came out of several ports is one."""
    sent = sum(one.offered for one in streams)
    came = sum(min(one.received + one.elsewhere, one.offered) for one in streams)
    share = Fraction(came, sent) if sent else None
    flooded = sum(one.elsewhere for one in streams)
    said = (CameOut(came, sent, flooded), *notes) if sent else tuple(notes) or (NothingSent(),)
    return Value(kind, scope, share, note=said[0] if len(said) == 1 else Several(said))


def _fits(parameters: ErroredParameters, situation: Situation) -> Problem | None:
    if situation.mixed_receivers:
        return Problem(
            "errored frames have one size, and the profile has a mix",
            "one size: `1519B`, and `1518B` for the control",
            code="unsupported",
        )
    return None


METHOD = Procedure(
    name="errored-frames",
    title="Errored frames",
    doc="Whether a switch filters frames that are too long; what this tester cannot send is listed.",
    standard="RFC 2889 section 5.9",
    parameters=ErroredParameters,
    start=errored_frames,
    traffic_seconds=lambda parameters: parameters.duration.amount * len(parameters.at),
    trials=lambda parameters: len(parameters.at),
    fits=_fits,
    values=(OVERSIZE, LEGAL),
)
