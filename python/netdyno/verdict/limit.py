"""The limit on one case: the questions of docs/verdicts.md, in the order in which they are asked.

The first answer stands. What filled the line is limited by the line, whatever else happened. After that the
tester doubts itself, its receiver and its fixture before it names the device; and that it names only as far
as it is calibrated for more itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netdyno.values.finding import Result, Value
from netdyno.values.verdict import Verdict
from netdyno.verdict.back_pressure import judge_stops
from netdyno.verdict.device import (
    find_copying_device,
    find_device_measure,
    find_device_time,
    find_doubt,
    find_lossy_device,
    find_no_loss,
    find_no_value,
    find_none_failed,
    find_open_end,
    find_other_group,
    find_unproven_measure,
)
from netdyno.verdict.directions import with_sums
from netdyno.verdict.evidence import Evidence
from netdyno.verdict.lines import (
    can_be_line,
    find_full_arrival,
    find_full_line,
    find_full_member,
    find_line_behind_device,
    find_oversubscribed_line,
    find_shared_line,
    has_no_early_knee,
)
from netdyno.verdict.paused import find_pausing_device
from netdyno.verdict.reasons import Incomplete, NothingMeasured
from netdyno.verdict.subject import Question, Subject, first_answer, only_if
from netdyno.verdict.tester import (
    find_carrier_loss,
    find_catching_up,
    find_changed_frames,
    find_damaged_frames,
    find_early_knee,
    find_explained_block,
    find_far_end_drops,
    find_foreign_frames,
    find_joined_frames,
    find_kept_back,
    find_late_frames,
    find_loss_beyond_window,
    find_loss_while_full,
    find_loss_while_held,
    find_loss_while_late,
    find_made_frames,
    find_moved_neighbour,
    find_other_load,
    find_own_drops,
    find_pause_frames,
    find_planned_loss,
    find_short_receiver,
    find_short_tester,
    find_small_mtu,
    find_split_flows,
    find_unanswered_questions,
    find_unclear_block,
    find_uncounted_frames,
    find_unproven_mac,
    find_unproven_path,
    find_unread_frames,
    find_unseen_frames,
    find_unsent_load,
    has_full_rings,
    has_knee_before_tester,
    has_lost_more_than_refused,
    is_short_alone,
    may_explain_all,
)
from netdyno.verdict.times import (
    counts_sending_time,
    find_late_deciders,
    find_late_delays,
    find_late_link_up,
    find_late_reading,
    find_late_times,
    find_own_delays,
    find_unsure_last_loss,
    is_real_time,
)

INVALID: Sequence[Question] = (
    find_made_frames,
    find_unsent_load,
    find_moved_neighbour,
    find_split_flows,
)

UNPROVEN: Sequence[Question] = (find_unproven_mac, find_kept_back, find_unproven_path)
"""Of what came back in no trial of the case: whether the plan or the cabling may be why."""

AROUND_DEVICE: Sequence[Question] = (
    find_carrier_loss,
    find_planned_loss,
    only_if(
        lambda subject: subject.is_excusable,
        find_small_mtu,
        find_own_drops,
        find_unseen_frames,
        *UNPROVEN,
        find_damaged_frames,
        find_joined_frames,
        find_pause_frames,
        find_foreign_frames,
        find_uncounted_frames,
        find_changed_frames,
        find_unanswered_questions,
        find_unclear_block,
        only_if(has_full_rings, find_loss_while_late, find_loss_while_full),
        only_if(lambda subject: not subject.is_real, find_loss_beyond_window),
        only_if(
            may_explain_all,
            find_explained_block,
            find_catching_up,
            find_loss_beyond_window,
            find_unread_frames,
            find_loss_while_late,
            find_loss_while_held,
            find_late_frames,
        ),
    ),
    find_far_end_drops,
)
"""Whether a link, the tester, its receiver or the fixture lost the frames."""

REFUSED: Question = only_if(
    lambda subject: subject.refused is not None,
    find_line_behind_device,
    only_if(has_lost_more_than_refused, *AROUND_DEVICE),
    lambda subject: subject.refused,
)
"""Of frames that a memif peer did not take."""

OF_RATE: Sequence[Question] = (
    *INVALID,
    only_if(can_be_line, find_full_line, find_shared_line, find_full_member),
    only_if(can_be_line, only_if(has_no_early_knee, find_full_arrival)),
    only_if(
        # The goal allows what was refused at the highest load there is.
        lambda subject: subject.is_refused_by_device and subject.value.searched and subject.is_bound,
        find_open_end,
    ),
    REFUSED,
    only_if(
        lambda subject: subject.short is not None,
        only_if(has_knee_before_tester, find_doubt, find_far_end_drops, find_early_knee),
        find_short_receiver,
        find_pausing_device,
        find_short_tester,
    ),
    only_if(
        lambda subject: subject.value.number is None,
        *UNPROVEN,
        find_no_value,
    ),
    *AROUND_DEVICE,
    find_lossy_device,
    find_copying_device,
    find_other_group,
    find_open_end,
)

OF_MEASURE: Sequence[Question] = (
    *INVALID,
    only_if(is_short_alone, find_carrier_loss, find_pausing_device, find_other_load),
    REFUSED,
    only_if(
        lambda subject: subject.value.number is None or subject.is_bound,
        *UNPROVEN,
        find_no_value,
    ),
    *AROUND_DEVICE,
    only_if(is_real_time, only_if(counts_sending_time, find_late_times)),
    find_unsure_last_loss,
    find_late_delays,
    find_late_deciders,
    only_if(lambda subject: subject.is_time, find_pause_frames),
    only_if(is_real_time, only_if(counts_sending_time, find_late_reading), find_late_link_up),
    find_own_delays,
    only_if(lambda subject: subject.is_of_frames, find_no_loss, find_oversubscribed_line, find_full_arrival),
    find_none_failed,
    find_unproven_measure,
    find_device_time,
    find_device_measure,
)
"""Of a time, a share or a count, which was measured at a given load."""


def judge(result: Result, evidence: Evidence, headline: str = "") -> dict[str, Verdict]:
    """A verdict for each scope of a headline: every stream, every port group, and their sum.

    headline: the first, if empty. The evidence is that of the trials which this headline rests on
    (`Result.resting`).
    """

    def of(scope: str) -> Value | None:
        return result.value(headline, scope) if headline else result.headline((scope,))

    own = _by_scope(result, evidence, headline)
    values = {scope: value for scope in evidence.situation.streams if (value := of(scope)) is not None}
    verdicts = {scope: _judge_value(Subject(value, result, own(scope))) for scope, value in values.items()}
    together = of("sum")
    if together is None:
        return verdicts
    if not verdicts:
        return {"sum": _judge_value(Subject(together, result, own("sum")))}
    # Groups whose search another group ended have no limit of their own, and none that all have together.
    ended = {name for name, value in values.items() if not value.is_ended_by_others(together)}
    return with_sums(verdicts, evidence.situation, ended)


def _by_scope(result: Result, evidence: Evidence, headline: str) -> Callable[[str], Evidence]:
    """Gives the evidence for one scope of a headline: the trials that its value there rests on."""
    name = headline or next(iter(result.headlines), "")
    if name not in result.rests_by_scope:
        return lambda scope: evidence
    every = result.resting(name)
    found: dict[tuple[int, ...], Evidence] = {}

    def own(scope: str) -> Evidence:
        numbers = result.resting(name, scope)
        if numbers not in found:
            places = [place for place, number in enumerate(every) if number in numbers]
            found[numbers] = evidence.of_trials(places)
        return found[numbers]

    return own


def _judge_value(subject: Subject) -> Verdict:
    """The verdict on one value. If nothing seems to limit it, a peer that stopped reading may."""
    value, evidence = subject.value, subject.evidence
    if value.number is None and not evidence.trials:
        return Verdict("inconclusive", Incomplete(value.note) if value.note else NothingMeasured())
    verdict = first_answer(subject, OF_RATE if value.unit == "fps" else OF_MEASURE)
    assert verdict is not None  # The last question always has an answer.
    return (judge_stops(value, evidence) or verdict) if verdict.limit == "none" else verdict
