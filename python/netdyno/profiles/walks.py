"""The variables of T-Rex's field engine as functions of the frame's number.

Written from its documents and captures. A variable that another one names as `next_var` steps when that one
shows its first value again, so each value stays for `every` frames.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from netdyno.profiles.streams import MOST_VALUES, Stream, number

MOST_DRAWN = 4096
"""Draws of T-Rex's generator that are written down; of more netdyno draws itself."""
SEED_FACTOR = 514229
"""What T-Rex multiplies the seed of a stream by, on its first core."""
FIRST = (f"values are T-Rex's first {MOST_DRAWN} draws; then they come again",)
DRAWN = 1 << 15
"""How many values a draw of T-Rex's has for variables of 1 or 2 bytes."""


@dataclass(frozen=True)
class Walk:
    """Values: in frame k `low + (first - low + step * (k // every)) mod (high - low + 1)`, or those of a
    list, or drawn from `low` to `high`. bytes: the width of the variable."""

    bytes: int
    low: int = 0
    high: int = 0
    first: int = 0
    step: int = 0
    values: tuple[int, ...] = ()
    every: int = 1
    is_random: bool = False
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Values until the first comes again; 1 of a random one."""
        if self.is_random:
            return 1
        if self.values:
            return len(self.values)
        span = self.high - self.low + 1
        return span // math.gcd(span, self.step)

    @property
    def period(self) -> int:
        """Frames until all begins again."""
        return self.count * self.every

    def value(self, frame: int) -> int:
        """The value in a frame of one that is not random."""
        index = frame // self.every
        if self.values:
            return self.values[index % len(self.values)]
        return self.low + (self.first - self.low + self.step * index) % (self.high - self.low + 1)

    @property
    def most(self) -> int:
        """Its largest value."""
        return max(self.values) if self.values else self.high

    @property
    def least(self) -> int:
        """Its smallest value."""
        return min(self.values) if self.values else self.low

    def plus(self, more: int) -> Walk:
        """All values so many more."""
        if self.values:
            return replace(self, values=tuple(one + more for one in self.values))
        return replace(self, low=self.low + more, high=self.high + more, first=self.first + more)

    def before_first(self, name: str) -> Walk:
        """The value before the first one for ever: what T-Rex sends of a variable that never steps."""
        value = self.value(-1)
        note = f"T-Rex never steps `{name}`, for the variable before it has a single value: it stays {value}"
        return Walk(self.bytes, value, value, value, notes=(*self.notes, note))

    def mapped(self, of: Callable[[int], int]) -> Walk | None:
        """Other values in their places, as a list; None if it is random or has too many."""
        if self.is_random or self.count > MOST_VALUES:
            return None
        shown = (self.value(index * self.every) for index in range(self.count))
        return replace(self, values=tuple(of(one) for one in shown))

    def field(self, written: Callable[[int], Any], seed: int | None = None) -> Any:
        """The value of a field in a plan. written: a number as the plan has it. seed: of a random one that
        is written in several places."""
        every = {"every": self.every} if self.every > 1 else {}
        if self.is_random:
            ends = {"min": written(self.low), "max": written(self.high)}
            return {"random": ends | ({} if seed is None else {"seed": seed})}
        if self.count == 1:
            return written(self.value(0))
        if self.values:
            return {"list": [written(one) for one in self.values], **every}
        last = self.first + self.step * (self.count - 1)
        if self.low <= last <= self.high:
            step = {"start": written(self.first), "step": self.step, "count": self.count}
            return {"step": {**step, **every}}
        ends = {"min": written(self.low), "max": written(self.high)}
        return {"range": {**ends, "step": self.step, "start": written(self.first), **every}}


class Draws:
    """T-Rex's generator: bits 16 to 30 of a linear congruential one of 32 bits."""

    def __init__(self, seed: int) -> None:
        self.state = seed & 0xFFFFFFFF

    def _draw(self) -> int:
        self.state = (214013 * self.state + 2531011) & 0xFFFFFFFF
        return self.state >> 16 & 0x7FFF

    def number(self, low: int, high: int, size: int) -> int:
        """A number for a variable of so many bytes."""
        drawn = self._draw()
        for _ in range({4: 1, 8: 3}.get(size, 0)):
            drawn = drawn << 16 | self._draw()
        return drawn % (high - low + 1) + low


def draws(seed: int, count: int, low: int, high: int, size: int) -> tuple[int, ...]:
    """The first numbers of a generator for one variable."""
    draw = Draws(seed)
    return tuple(draw.number(low, high, size) for _ in range(count))


def walks(stream: Stream, *, exact: bool = False) -> dict[str, Walk]:
    """The variables of a stream by name; a tuple has two, `name.ip` and `name.port`. Raises NetdynoError.

    exact: of values that T-Rex draws from a seed the first `MOST_DRAWN`, as a list.
    """
    found: dict[str, Walk] = {}
    follows: dict[str, str] = {}
    for one in stream.instructions:
        kind = one.get("type")
        if kind == "tuple_flow_var":
            found |= _tuple(stream, one)
        elif kind in ("flow_var", "flow_var_rand_limit"):
            name = _name(one.get("name"))
            if name in found:
                stream.refuse(f"two variables `{name}`")
            is_limited = kind == "flow_var_rand_limit"
            found[name] = _limited(stream, one, exact) if is_limited else _variable(stream, one)
            if one.get("next_var") is not None:
                follows[name] = _name(one["next_var"])
                if one.get("init_value", None) not in (None, _usual_first(one)):
                    stream.refuse(f"`init_value` of `{name}`, which has a `next_var`")
    trimmed = {_name(one.get("name")) for one in stream.instructions if one.get("type") == "trim_pkt_size"}
    if exact and stream.seed and not any(name in trimmed for name, walk in found.items() if walk.is_random):
        found |= _drawn(stream.seed, {name: walk for name, walk in found.items() if walk.is_random})
    return _chained(stream, found, follows)


def _drawn(seed: int, random: Mapping[str, Walk]) -> dict[str, Walk]:
    """Variables that a stream draws for each frame, all from one generator, in their order."""
    draw = Draws(seed * SEED_FACTOR)
    found: dict[str, list[int]] = {name: [] for name in random}
    for _ in range(MOST_DRAWN):
        for name, walk in random.items():
            found[name].append(draw.number(walk.low, walk.high, walk.bytes))
    return {name: Walk(random[name].bytes, values=tuple(one), notes=FIRST) for name, one in found.items()}


def _name(value: Any) -> str:
    return str(value)[:100]


def _usual_first(one: Mapping[str, Any]) -> Any:
    return one.get("max_value") if one.get("op") == "dec" else one.get("min_value")


def _chained(stream: Stream, found: dict[str, Walk], follows: Mapping[str, str]) -> dict[str, Walk]:
    """Each value of a variable stays for as many frames as those before it in its chain take."""
    targets = list(follows.values())
    if len(set(targets)) < len(targets) or not set(targets) <= set(found):
        stream.refuse("`next_var` names no variable, or two name the same one")
    left = set(found)
    for head in [name for name in found if name not in targets]:
        # The port of a tuple has its own.
        every, name, is_stuck = found[head].every, head, False
        while True:
            left.discard(name)
            walk = found[name]
            if walk.is_random and (name in follows or every > 1):
                stream.refuse(f"a random variable `{name}` with others in a chain")
            found[name] = walk.before_first(name) if is_stuck else replace(walk, every=every)
            # What has a single value never comes to its first one again.
            is_stuck = is_stuck or walk.count == 1
            every *= walk.count
            if name not in follows:
                break
            name = follows[name]
    if left:
        stream.refuse("`next_var` goes in a circle")
    return found


def _variable(stream: Stream, one: Mapping[str, Any]) -> Walk:
    name, op, size = _name(one.get("name")), one.get("op"), number(one, "size")
    step = number(one, "step", default=1)
    if size not in (1, 2, 4, 8) or op not in ("inc", "dec", "random") or step < 1:
        stream.refuse(f"variable `{name}` of {size} bytes, step {step}")
    if one.get("value_list") is not None:
        return _listed(stream, one, name, size, step)
    below = 1 << 8 * size
    low, high = number(one, "min_value", below), number(one, "max_value", below)
    if low > high:
        stream.refuse(f"variable `{name}` from {low} to {high}")
    if op == "random":
        if size <= 2 and high - low >= DRAWN:
            note = f"T-Rex draws the lowest {DRAWN} of {high - low + 1} values"
            return Walk(size, low, low + DRAWN - 1, is_random=True, notes=(note,))
        return Walk(size, low, high, is_random=True)
    first = number(one, "init_value", below, default=high if op == "dec" else low)
    more = -(high - low + 1) % step
    if op == "inc":
        high += more
    else:
        low -= more
    if not 0 <= low <= first <= high < below or high - low >= 1 << 32:
        stream.refuse(f"variable `{name}` from {low} to {high}, step {step}")
    return Walk(size, low, high, first, step if op == "inc" else -step)


def _listed(stream: Stream, one: Mapping[str, Any], name: str, size: int, step: int) -> Walk:
    values = tuple(one["value_list"])
    if not 1 <= len(values) <= MOST_VALUES or any(
        isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 8 * size
        for value in values
    ):
        stream.refuse(f"the values of `{name}`", f"1 to {MOST_VALUES} numbers of {size} bytes")
    if one["op"] == "random":
        if sorted(values) != list(range(min(values), max(values) + 1)):
            stream.refuse(f"`{name}` is drawn from a list with gaps")
        return Walk(size, min(values), max(values), is_random=True)
    if len(values) % step:
        stream.refuse(f"`{name}` walks {len(values)} values by {step}")
    return Walk(size, values=values[::step] if one["op"] == "inc" else values[::-1][::step])


def _limited(stream: Stream, one: Mapping[str, Any], exact: bool) -> Walk:
    name, size, limit = _name(one.get("name")), number(one, "size"), number(one, "limit")
    if size not in (1, 2, 4, 8) or limit < 1:
        stream.refuse(f"variable `{name}` of {size} bytes, limit {limit}")
    below = 1 << 8 * size
    low, high = number(one, "min_value", below), number(one, "max_value", below)
    if low > high:
        stream.refuse(f"variable `{name}` from {low} to {high}")
    if limit <= MOST_DRAWN or exact:
        values = draws(number(one, "seed"), min(limit, MOST_DRAWN), low, high, size)
        return Walk(size, values=values, notes=FIRST if limit > MOST_DRAWN else ())
    note = f"T-Rex repeats its {limit} draws of `{name}`; these are netdyno's own"
    return Walk(size, low, high, is_random=True, notes=(note,))


def _tuple(stream: Stream, one: Mapping[str, Any]) -> dict[str, Walk]:
    name = _name(one.get("name"))
    low, high = number(one, "ip_min", 1 << 32), number(one, "ip_max", 1 << 32)
    ports = number(one, "port_min", 1 << 16), number(one, "port_max", 1 << 16)
    if number(one, "flags", default=0):
        stream.refuse(f"`flags` of the tuple `{name}`")
    if low > high or ports[0] > ports[1]:
        stream.refuse(f"the tuple `{name}` of no addresses or no ports")
    addresses = high - low + 1
    return {
        f"{name}.ip": Walk(4, low, high, low, 1),
        f"{name}.port": Walk(2, ports[0], ports[1], ports[0], 1, every=addresses),
    }


def limit_of(stream: Stream) -> int:
    """After how many frames a tuple begins again in the middle; 0: it does not."""
    for one in stream.instructions:
        if one.get("type") == "tuple_flow_var":
            limit = number(one, "limit_flows", default=0)
            ports = number(one, "port_max", 1 << 16) - number(one, "port_min", 1 << 16) + 1
            whole = ports * (number(one, "ip_max", 1 << 32) - number(one, "ip_min", 1 << 32) + 1)
            return limit if limit % whole else 0
    return 0
