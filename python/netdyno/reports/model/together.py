"""Port groups alone and together: what each passed, and which resource explains the limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.model.joined import free
from netdyno.reports.model.table import Table
from netdyno.reports.model.view import ALL, CaseView, RunView
from netdyno.values.finding import Cell, Column, Value, columns
from netdyno.values.situation import GROUP_AXIS
from netdyno.verdict.shared import Answer, Loaded, PortRate, explain

COLUMNS = ("loaded", "port", "group", "card", "alone", "together", "ratio")
ABOUT = (
    "What came back of what each port sent, with its group alone and beside the others on one clock, and the"
    " sums of groups, cards and all. Only the sums tell what is shared: who gets how much of it is chance."
)
BOUNDS = (
    "No ratio where a search ended by what other groups lost: all have one share of their lines, and these"
    " may pass more. A ramp takes each to its own limit."
)
GROUPS = "Port groups"
RESOURCES = {
    "port": "Each port by itself",
    "card": "A card",
    "box": "The whole box",
    "tester": "The tester",
    "not told": "Not told by these cases",
}
ALONE = "Alone and together"


@dataclass(frozen=True)
class Family:
    """Cases that differ in nothing but the groups they load.

    axes: what they have in common, of the axes in which cases of the run differ. value: the one compared.
    """

    axes: Mapping[str, str]
    value: str
    cases: Mapping[Loaded, CaseView]
    answer: Answer

    @property
    def resource(self) -> str:
        """The resource that explains the limit, in words."""
        return "Cards" if len(self.answer.cards) > 1 else RESOURCES[self.answer.resource]

    @property
    def ratio(self) -> Fraction | None:
        """What most groups pass at once of what they pass alone; None: that is not known."""
        several = [one for one in self.cases if len(one.groups) > 1]
        if not several:
            return None
        most = max(several, key=lambda one: len(one.ports))
        ratio = _beside(most.ports, _alone(self, most))[2]
        return ratio if isinstance(ratio, Fraction) else None

    @property
    def label(self) -> str:
        """`card / 64b / bidir`; empty if the run has no other."""
        return " / ".join(self.axes.values())


def families(run: RunView) -> tuple[Family, ...]:
    """Those with a case that loads several groups; of methods that find rates."""
    found: dict[tuple[str, ...], list[CaseView]] = {}
    others = [name for name in run.axis_names if name != GROUP_AXIS]
    for case in run.cases:
        if GROUP_AXIS in case.settings and case.result is not None:
            found.setdefault(tuple(case.axes.get(name, "") for name in others), []).append(case)
    differing = [name for number, name in enumerate(others) if len({rest[number] for rest in found}) > 1]
    families = []
    for rest, cases in found.items():
        axes = dict(zip(others, rest, strict=True))
        family = _family({name: axes[name] for name in differing}, cases)
        families += [family] if family is not None else []
    return tuple(families)


def _family(axes: Mapping[str, str], cases: Sequence[CaseView]) -> Family | None:
    repeats: dict[str, list[CaseView]] = {}
    for case in cases:
        repeats.setdefault(case.settings[GROUP_AXIS], []).append(case)
    name = next((name for case in cases if (name := _name(case)) is not None), None)
    if name is None:
        return None
    loaded = {found: same[0] for value, same in repeats.items() if (found := _loaded(value, name, same))}
    answer = explain(list(loaded))
    return None if answer is None else Family(axes, name, loaded, answer)


def _name(case: CaseView) -> str | None:
    """The value that says how fast each of its streams got; None if it has none."""
    assert case.result is not None
    # A best rate may be that of a queue that empties: of two what lasts is compared.
    lasting = [name for name, kind in case.result.kinds.items() if kind.role == "held rate"]
    for name in (*lasting, *case.result.headlines):
        own = [value for value in case.result.values if value.name == name and value.scope in case.streams]
        if own and all(value.unit == "fps" and value.number is not None for value in own):
            return name
    return None


def _loaded(group: str, name: str, repeats: Sequence[CaseView]) -> Loaded | None:
    """What a case found, the mean of its repeats; None if one has not found it."""
    values = [
        {value.scope: value for value in case.result.values if value.name == name} if case.result else {}
        for case in repeats
    ]
    first = repeats[0]
    if any(stream not in own or own[stream].number is None for own in values for stream in first.streams):
        return None
    ports: dict[int, PortRate] = {}
    for stream, place in zip(first.streams, first.places, strict=True):
        fps = sum((own[stream].number or Fraction(0) for own in values), Fraction(0)) / len(values)
        before = ports.get(place.tx)
        ports[place.tx] = PortRate(
            first.ports[place.tx],
            place.group,
            place.card,
            fps + (before.fps if before else 0),
            place.share + (before.asked if before else 0),
            any(own[stream].is_ended_by_others(own.get(ALL)) for own in values),
        )
    # What others kept from more has no limit of its own.
    verdicts = tuple(
        verdict
        for case, own in zip(repeats, values, strict=True)
        for stream in case.streams
        if not own[stream].is_ended_by_others(own.get(ALL)) and (verdict := case.verdict(stream))
    )
    every = [own[stream] for own in values for stream in first.streams]
    # One load is held for all ports of a search; of another method each port reaches its value by itself.
    return Loaded(
        group,
        tuple(ports.values()),
        any(value.is_common for value in every),
        max((_spread(value) for value in every if value.searched), default=Fraction(0)),
        verdicts,
    )


def _spread(value: Value) -> Fraction:
    """How far its bounds are apart."""
    if not value.number or value.low is None or value.high is None:
        return Fraction(0)
    return (value.high - value.low) / value.number


def tables(run: RunView) -> tuple[Table, ...]:
    """What groups passed at once, and that beside what they passed alone; none of a run without groups."""
    found = families(run)
    if not found:
        return ()
    axes = list(found[0].axes)
    rows = [(case.number, row) for family in found for case, row in _rows(family)]
    captions = [_sentence(family) for family in found]
    if any(port.is_bound for family in found for case in family.cases for port in case.ports):
        captions.append(BOUNDS)
    columns = (
        *(Column(free(axis, COLUMNS)) for axis in axes),
        *(Column(name) for name in COLUMNS[:4]),
        *(Column(name, "fps") for name in COLUMNS[4:6]),
        Column(COLUMNS[6], "share"),
    )
    alone = Table(
        ALONE,
        (*captions, ABOUT, f"Rates are each port's {', '.join(dict.fromkeys(one.value for one in found))}."),
        columns,
        tuple(row for _, row in rows),
        tuple(number for number, _ in rows),
        marks=frozenset(_marks(found, len(axes) + 4)),
    )
    return (alone, _groups(axes, found))


def _sentence(family: Family) -> str:
    where = f"{family.label}: " if family.label else ""
    return f"Which resource explains the limit? {where}{family.resource}: {family.answer.reason}."


def _rows(family: Family) -> Iterator[tuple[CaseView, tuple[Cell, ...]]]:
    for together, case in family.cases.items():
        if len(together.groups) < 2:
            continue
        alone = _alone(family, together)
        head = (*family.axes.values(), together.name)
        for port in together.ports:
            names = (port.port, port.group, port.card)
            yield case, (*head, *names, *_beside([port], alone))
        for group in together.groups:
            own = [port for port in together.ports if port.group == group]
            yield case, (*head, "all", group, "", *_beside(own, alone))
        for card in dict.fromkeys(port.card for port in together.ports if port.card):
            own = [port for port in together.ports if port.card == card]
            yield case, (*head, "all", "all", card, *_beside(own, alone))
        yield case, (*head, "all", "all", "all", *_beside(together.ports, alone))


def _alone(family: Family, together: Loaded) -> Mapping[str, Fraction]:
    """The rate of each port in the case of its group alone."""
    return {
        port.port: port.fps
        for one in family.cases
        if len(one.groups) == 1
        for port in one.ports
        if port.group in together.groups
    }


def _marks(found: Sequence[Family], alone: int) -> Iterator[tuple[int, int]]:
    """Cells that are contradicted throughputs. alone: the place of that column; *together* is behind it."""
    rows = [(family, case, row) for family in found for case, row in _rows(family)]
    for number, (family, case, row) in enumerate(rows):
        group = row[alone - 2]
        own = [
            one
            for loaded, one in family.cases.items()
            if len(loaded.groups) == 1 and group in (*loaded.groups, "all")
        ]
        for place, cases in ((alone, own), (alone + 1, [case])):
            if row[place] is not None and any(one.contradiction(ALL) for one in cases):
                yield number, place


def _beside(ports: Sequence[PortRate], alone: Mapping[str, Fraction]) -> tuple[Cell, Cell, Cell]:
    """Alone, together, and the second over the first, unless together some might have passed more."""
    now = sum((port.fps for port in ports), Fraction(0))
    if any(port.port not in alone for port in ports):
        return None, now, None
    before = sum((alone[port.port] for port in ports), Fraction(0))
    known = before and not any(port.is_bound for port in ports)
    return before, now, now / before if known else None


def _groups(axes: Sequence[str], found: Sequence[Family]) -> Table:
    """Each group of the cases that load several, and their sum."""
    rows: list[tuple[Cell, ...]] = []
    numbers: list[int] = []
    doubtful: list[bool] = []
    for family in found:
        for together, case in family.cases.items():
            if len(together.groups) < 2 or case.result is None:
                continue
            for scope in (*together.groups, ALL):
                value = case.result.headline((scope,))
                if value is None:
                    continue
                share = case.share_of_line(value)
                head = (*family.axes.values(), together.name, "all" if scope == ALL else scope)
                rows.append((*head, value.name, value.number, share, case.limit(scope)))
                numbers.append(case.number)
                doubtful.append(bool(case.doubt(value)))
    heading = columns(
        *(Column(free(axis, (*COLUMNS, "value", "of the line", "limit"))) for axis in axes),
        "loaded | group | value | rate: fps | of the line: share | limit",
    )
    about = "What stands for each group, and for all of them, in the cases that load several at once."
    rate = len(axes) + 3
    marks = frozenset((number, rate) for number, doubt in enumerate(doubtful) if doubt)
    return Table(GROUPS, (about,), heading, tuple(rows), tuple(numbers), marks=marks)
