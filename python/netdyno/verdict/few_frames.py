"""Values that a few frames decide, however many others the device lost: whether those are the tester's."""

from __future__ import annotations

from netdyno.values.finding import Value
from netdyno.values.verdict import Verdict
from netdyno.verdict.doubt_reasons import LastLossUnsure, LateFramesDecide, LateTimes
from netdyno.verdict.evidence import Evidence


def judge_few_frames(value: Value, evidence: Evidence, of: str | None) -> Verdict | None:
    """The verdict where the frames that decide a value may be the tester's; None: they are not, or none do.

    of: the stream that the value is judged by; None: all.
    """
    hinge = value.kind.hinges_on
    if hinge == "last loss" and value.number != 0:
        return _last_loss(evidence)
    if evidence.clock == "virtual" or not evidence.everything.late:
        return None
    late, streams = evidence.everything.late, [one for trial in evidence.trials for one in trial.streams]
    if hinge == "delay" and value.number != 1 and not evidence.has_own_loss(of):
        return Verdict("inconclusive", LateTimes(late, evidence.everything.sent))
    touched = 0
    if hinge == "order":
        touched = sum(one.out_of_order for one in streams if of in (None, one.name))
    elif hinge == "flooding":
        touched = sum(one.elsewhere for one in streams)
    return Verdict("inconclusive", LateFramesDecide(touched, late)) if 0 < touched <= late else None


def _last_loss(evidence: Evidence) -> Verdict | None:
    own = evidence.dropped + evidence.not_sent + evidence.too_long
    late_ns = 0 if evidence.clock == "virtual" else evidence.last_loss_late_ns
    return Verdict("inconclusive", LastLossUnsure(own, late_ns)) if own or late_ns else None
