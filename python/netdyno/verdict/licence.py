"""Licences and policers: a cap in bits a second that does not ask how long frames are.

What a device can process is bounded in frames a second, and so its bit rate grows with the frame size. A
token bucket counts bits. One size cannot tell the two apart; two sizes of the same configuration can.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.values.finding import Result, Value
from netdyno.values.rates import ETHERNET, FCS, WIRE_OVERHEAD, wire_bits
from netdyno.values.records import StoredCase, StoredVerdict
from netdyno.values.verdict import Verdict
from netdyno.verdict.causes import IdleMembers
from netdyno.verdict.directions import with_sums
from netdyno.verdict.evidence import Evidence
from netdyno.verdict.proof_reasons import SameBits
from netdyno.verdict.reasons import DeviceLost
from netdyno.verdict.saying import RoundFigure
from netdyno.verdict.watched import with_breaks_of, without_breaks

MOST_MEMBERS = 8
"""Of a LAG, of which some may be idle."""

SAME = Fraction(1, 100)
"""Rates within this share of each other are the same rate."""

ROUND = Fraction(1, 100)
"""A rate within this share of a round figure is that figure."""

HINT = Fraction(1, 1000)
"""One case alone hints at a cap if its rate is within this share of a round figure."""

APART = Fraction(5, 4)
"""Sizes closer than this have about the same bit rate whatever is counted."""

LAYERS: Mapping[str, int] = {"L2": 0, "L1": WIRE_OVERHEAD, "L2 without FCS": -FCS, "L3": -ETHERNET - FCS}
"""What a cap may count: bytes a frame counts beyond its own (FCS counted)."""


@dataclass(frozen=True)
class _Point:
    """The rate that one case reached at one frame size."""

    case: int
    size: Fraction
    fps: Fraction

    def bps(self, layer: str) -> Fraction:
        """Bits a second as the layer counts them."""
        return self.fps * 8 * (self.size + LAYERS[layer])


def across(cases: Iterable[StoredCase]) -> dict[int, tuple[StoredVerdict, ...]]:
    """The verdicts that other cases change: case number to all verdicts of the case.

    Cases that differ in nothing but the profile, each limited by the device below its line, at the same rate
    in bits whatever the frame size: where that is a round figure, a licence or policer was the limit. Not
    where another size passed more bits a second: nothing that counts bits lets those through. Nor is a round
    figure of one case then said to be one.
    """
    families: dict[tuple[str, ...], list[StoredCase]] = {}
    whole = {case.head.number: case for case in cases}
    for case in map(without_breaks, whole.values()):
        if case.state == "done" and case.result is not None and case.wiring is not None:
            families.setdefault(_family(case), []).append(case)
    changed: dict[int, dict[tuple[str, str], Verdict]] = {}
    for family in families.values():
        everywhere = set.intersection(*(set(case.wiring.situation.streams) for case in family if case.wiring))
        for value, scope in dict.fromkeys(
            (verdict.value, verdict.scope) for case in family for verdict in case.verdicts
        ):
            if scope not in everywhere:
                continue
            passed = [
                point for case in family if (point := _find_passed_rate(case, value, scope)) is not None
            ]
            for case in family:
                verdict = _without_refuted_figure(case, value, scope, passed)
                if verdict is not None:
                    changed.setdefault(case.head.number, {})[value, scope] = verdict
            flat = _flat([point for case in family if (point := _point(case, value, scope)) is not None])
            if flat is None:
                continue
            layer, alike = flat
            sizes = tuple(sorted({point.size for point in alike}))
            figure = _round(alike[0].bps(layer), ROUND)
            if figure is None or _refutes(passed, figure, layer):
                continue
            if all(_round(one.bps(layer), ROUND) == figure for one in alike):
                for point in alike:
                    of_line = _find_part_of_line(figure, layer, whole[point.case], scope)
                    licence = Verdict("licence", SameBits(figure, layer, sizes, of_line))
                    changed.setdefault(point.case, {})[value, scope] = licence
    return {
        case.head.number: with_breaks_of(whole[case.head.number], _verdicts(case, changed[case.head.number]))
        for family in families.values()
        for case in family
        if case.head.number in changed
    }


def _find_part_of_line(figure: Fraction, layer: str, case: StoredCase, scope: str) -> Fraction | None:
    """The part of the line that a figure is, if it is what some members of a LAG carry; None: it is not."""
    assert case.wiring is not None
    situation = case.wiring.situation
    part = figure / (situation.line(scope) * wire_bits(situation.size(scope)))
    nearest = Fraction(round(part * MOST_MEMBERS), MOST_MEMBERS)
    return nearest if layer == "L1" and nearest and abs(part - nearest) <= SAME * nearest else None


def _refutes(passed: Iterable[_Point], figure: Fraction, layer: str) -> bool:
    """Whether a size passed more bits a second than a round figure that is to be a cap."""
    return any(point.bps(layer) > figure * (1 + SAME) for point in passed)


def _without_refuted_figure(
    case: StoredCase, value: str, scope: str, passed: Sequence[_Point]
) -> Verdict | None:
    """The verdict on a case without a round figure that another size refutes; None: it has none such."""
    found = case.verdict(scope, value)
    if found is None or not isinstance(found.reason, DeviceLost) or found.reason.figure is None:
        return None
    figure = found.reason.figure
    if not _refutes(passed, figure.bps, figure.layer):
        return None
    return Verdict(found.limit, replace(found.reason, figure=None))


def hint(value: Value, result: Result, evidence: Evidence) -> RoundFigure | None:
    """The round figure in bits a second that a device limit is near; None if there is none."""
    if any(isinstance(cause, IdleMembers) for cause in evidence.causes):
        return None
    number = _find_lasting_rate(result, value.name, value.scope)
    # Between bounds that are far apart, or steps somebody chose, a round figure is one of those.
    if number and value.high is not None and value.low is not None:
        number = number if value.high - value.low <= ROUND * value.low else None
    if not number or evidence.situation.mixed_receivers:
        return None
    point = _Point(0, evidence.situation.size(value.scope), number)
    return find_round_figure(point.fps, point.size, HINT)


def find_round_figure(fps: Fraction, size: Fraction, within: Fraction = HINT) -> RoundFigure | None:
    """The round figure in bits a second, in some layer, that frames of a size come near; None: none.

    Of several layers the one that comes nearest.
    """
    point = _Point(0, size, fps)
    found = [(layer, figure) for layer in LAYERS if (figure := _round(point.bps(layer), within)) is not None]
    if not found:
        return None
    layer, figure = min(found, key=lambda one: abs(one[1] - point.bps(one[0])))
    return RoundFigure(figure, layer)


def _family(case: StoredCase) -> tuple[str, ...]:
    """The key of cases that may be compared: all axes but the profile."""
    head = case.head
    axes = {axis: value for axis, value in head.axes.items() if axis != "profile"}
    return (head.kind, head.method, head.parameters, json.dumps(axes), json.dumps(dict(head.settings)))


def _point(case: StoredCase, value: str, scope: str) -> _Point | None:
    """What a case says of one scope; None if that is nothing of the device's, or frames of a mix came back as
    another mix, so that the rate in bits is not known."""
    assert case.result is not None
    assert case.wiring is not None
    verdict = case.verdict(scope, value)
    if any(isinstance(note, IdleMembers) for note in case.result.notes):
        # What the members that are used carry is a round figure, too.
        return None
    return None if verdict is None or verdict.limit != "device" else _find_passed_rate(case, value, scope)


def _find_passed_rate(case: StoredCase, value: str, scope: str) -> _Point | None:
    """The rate that passed in a case, whatever limited it; None if it is unknown in bits."""
    assert case.result is not None
    assert case.wiring is not None
    verdict = case.verdict(scope, value)
    if verdict is None or verdict.limit == "invalid":
        return None
    if "line share" in case.result.roles:
        return None
    found = case.result.value(value or next(iter(case.result.headlines), ""), scope)
    if found is not None and found.only_below is not None:
        # No load passed: what the search came down to is a step of its own, the same for all sizes.
        return None
    number = _find_lasting_rate(case.result, value, scope)
    return None if not number else _Point(case.head.number, case.wiring.situation.size(scope), number)


def _find_lasting_rate(result: Result, headline: str, scope: str) -> Fraction | None:
    """The rate that lasts of a headline (the first, if empty): of a ramp its hold, for a bucket that was full
    lets more through for a while; of a search the middle of its bounds, or where frames were still queued
    what was forwarded."""
    found = [result.value(name, scope) for name in ((headline,) if headline else result.headlines)]
    if any(value is not None and value.kind.role == "best rate" for value in found):
        found.insert(0, result.of_role("held rate", scope))
    for value in found:
        if value is None or value.number is None or value.unit != "fps":
            continue
        if value.lasting != value.load:
            return value.lasting
        searched = value.searched and value.high is not None
        return (value.number + value.high) / 2 if searched and value.high else value.number
    return None


def _flat(points: Sequence[_Point]) -> tuple[str, list[_Point]] | None:
    """The layer in which the most points agree, and these points; None if no two of different sizes agree."""
    best: tuple[str, list[_Point]] | None = None
    for layer in LAYERS:
        ordered = sorted(points, key=lambda point: point.bps(layer))
        for start, lowest in enumerate(ordered):
            most = lowest.bps(layer) * (1 + SAME)
            alike = [point for point in ordered[start:] if point.bps(layer) <= most]
            sizes = [point.size for point in alike]
            if max(sizes) >= APART * min(sizes) and (best is None or _closer(layer, alike, *best)):
                best = (layer, alike)
    return best


def _closer(layer: str, alike: Sequence[_Point], other: str, others: Sequence[_Point]) -> bool:
    """Whether the points of `layer` agree better than others: more of them, or as many closer together."""
    return (len(alike), -_spread(layer, alike)) > (len(others), -_spread(other, others))


def _spread(layer: str, points: Sequence[_Point]) -> Fraction:
    rates = [point.bps(layer) for point in points]
    return max(rates) / min(rates) - 1


def _round(bps: Fraction, within: Fraction) -> Fraction | None:
    """The round figure near a rate, bit/s: one digit, or two of which the second is 5; None: none."""
    scale = Fraction(1)
    while bps >= 100 * scale:
        scale *= 10
    nearest = 5 * round(bps / scale / 5) * scale
    return nearest if nearest and abs(bps - nearest) <= within * nearest else None


def _find_deciding_streams(case: StoredCase, value: str, scopes: Iterable[str]) -> set[str]:
    """The streams that limit the sum: not those whose search another stream ended."""
    assert case.result is not None
    name = value or next(iter(case.result.headlines), "")
    together = case.result.value(name, "sum")
    of = {scope: case.result.value(name, scope) for scope in scopes}
    return {scope for scope, one in of.items() if one is None or not one.is_ended_by_others(together)}


def _verdicts(case: StoredCase, changed: Mapping[tuple[str, str], Verdict]) -> tuple[StoredVerdict, ...]:
    assert case.wiring is not None
    situation = case.wiring.situation
    found: list[StoredVerdict] = []
    for value in dict.fromkeys(one.value for one in case.verdicts):
        every = {one.scope: Verdict(one.limit, one.reason) for one in case.verdicts if one.value == value}
        scopes = {scope: one for scope, one in every.items() if scope in situation.streams}
        scopes.update({scope: verdict for (name, scope), verdict in changed.items() if name == value})
        if "sum" in every:
            scopes = with_sums(scopes, situation, _find_deciding_streams(case, value, scopes))
        found += [StoredVerdict(scope, one.limit, one.reason, value) for scope, one in scopes.items()]
    return tuple(found)
