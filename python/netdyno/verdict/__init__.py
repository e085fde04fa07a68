"""The limit on a result, and whether the plan's goals were met. Pure: counts in, reasons out.

evidence   what a verdict rests on
bounds     upper bounds of searches, only where they stand
back_pressure frames that a memif peer did not take
paused     frames that the device's pause frames (flow control) kept the tester from sending
excuses    how many lost frames the tester's own timing may explain
steady     the same share lost at loads apart, which no wait of the kernel explains
limit      one case: the questions in their order, and who answers them: lines, tester (and what else is
           around the device), times, device; subject: what they are asked of
causes     what lost frames have in common where that is not the load: sizes, idle members, any load
uneven     a fixed load of which frames were sent late
link       what links without carrier lost, taken out of the evidence
proof      what the tester itself is calibrated for, against what it would blame a device for
licence    several cases: the same bits per second whatever the frame size
balance    frames at four points: tester, device in, device out, tester; balance_reasons: what it says
counted    drops that the device counted, as proof that frames were lost in it
drops_by_load whether the share of lost frames depends on the load
device_counts both ends of each link: the tester's counts, the device's counters
conventions which bytes of a frame a device counts
printed_rates averages that a device printed, against the tester's counts of the same time
trunk      loss that follows from tags on a line inside the device
goals      the plan's goals against values and verdicts
connections the limit of what TCP carried; connection_subject: what is known of it; connection_reasons: what
           it says
watched    breaks of watches beside the traffic, in results and verdicts; watch_reasons: what they say
reasons    what verdicts say, as classes; doubt_reasons: where nobody can tell whose a loss is;
           proof_reasons: of calibration and of several directions; pressure_reasons: of frames that a
           memif peer did not take
saying     rates, shares and losses in their sentences
"""

from netdyno.values.reason import Codes, join
from netdyno.verdict import (
    balance_reasons,
    causes,
    connection_reasons,
    counted,
    doubt_reasons,
    knee,
    pressure_reasons,
    printed_rates,
    proof_reasons,
    reasons,
    saying,
    trunk,
    uneven,
    watch_reasons,
)
from netdyno.verdict.bounds import with_proven_bounds, with_standing_bounds
from netdyno.verdict.causes import find_causes, find_flow_notes
from netdyno.verdict.connections import judge_connections
from netdyno.verdict.evidence import OWN_DROPS, Evidence
from netdyno.verdict.excuses import Timed, Traffic, Witnesses
from netdyno.verdict.goals import is_asked, judge_goal
from netdyno.verdict.licence import across
from netdyno.verdict.limit import judge
from netdyno.verdict.link import with_link
from netdyno.verdict.steady import SteadyLoss
from netdyno.verdict.trunk import with_tag_overhead
from netdyno.verdict.uneven import find_uneven_load
from netdyno.verdict.watched import breaks_in, breaks_of, with_breaks, with_watches

REASONS: Codes = join(
    reasons.REASONS,
    connection_reasons.REASONS,
    doubt_reasons.REASONS,
    proof_reasons.REASONS,
    pressure_reasons.REASONS,
    saying.REASONS,
    knee.REASONS,
    trunk.REASONS,
    causes.REASONS,
    balance_reasons.REASONS,
    counted.REASONS,
    printed_rates.REASONS,
    watch_reasons.REASONS,
    uneven.REASONS,
)
"""What verdicts say, by code."""

__all__ = [
    "OWN_DROPS",
    "REASONS",
    "Evidence",
    "SteadyLoss",
    "Timed",
    "Traffic",
    "Witnesses",
    "across",
    "breaks_in",
    "breaks_of",
    "find_causes",
    "find_flow_notes",
    "find_uneven_load",
    "is_asked",
    "judge",
    "judge_connections",
    "judge_goal",
    "with_breaks",
    "with_link",
    "with_proven_bounds",
    "with_standing_bounds",
    "with_tag_overhead",
    "with_watches",
]
