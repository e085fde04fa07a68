"""What a modifier of RFC 2544 section 11 is: a condition under which a test is run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from netdyno.errors import Problem
from netdyno.patterns import Way
from netdyno.trial import Result, TrialResult

if TYPE_CHECKING:
    from netdyno.labs.wiring import Kind, Wiring
    from netdyno.plan.traffic import Profile


def _nothing(_profile: Profile, _ways: Sequence[Way], _ports: int) -> Mapping[str, str]:
    return {}


def _possible(_profile: Profile, _ways: Sequence[Way], _kind: Kind) -> Problem | None:
    return None


def _untold(result: Result, _wiring: Wiring, _trials: Sequence[TrialResult]) -> Result:
    return result


@dataclass(frozen=True)
class Modifier:
    """One file, and one line in `MODIFIERS`.

    section: of RFC 2544. title: what it adds, in the standard's words. share: of the frames of each stream
    that others take the place of, evenly spread; they are counted beside it, and no method sees them.
    headers: of those, by the profile and the sending port's MAC address. settings: what it sets of the
    device, for the ways of a case among so many ports. problem: why a case cannot be so. told: the result,
    with what came of it in the trials that the result rests on.
    """

    name: str
    title: str
    doc: str
    section: str
    share: Fraction = Fraction(0)
    headers: Callable[[Profile, str], list[dict[str, Any]]] | None = None
    settings: Callable[[Profile, Sequence[Way], int], Mapping[str, str]] = _nothing
    problem: Callable[[Profile, Sequence[Way], Kind], Problem | None] = _possible
    told: Callable[[Result, Wiring, Sequence[TrialResult]], Result] = _untold
