"""Frame sizes and mixes of them: named, weighed, and always said with their exact sizes.

"IMIX" is not one thing: three in daily use differ by 2 % in their line rate. So a mix has a name and
prints its sizes, its average and its RFC 6985 genome.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from netdyno.errors import Problem, Problems, as_written, suggestion
from netdyno.values.units import FrameSize, UnitError, decimal

MIN_SIZE = 64
"""Bytes: the smallest Ethernet frame, FCS counted (IEEE 802.3 clause 4A.4.2)."""

MOST_SIZES = 4096
"""The most sizes of a mix: crates/frame/src/mix.rs."""

LONGEST_CYCLE = 2**20
"""Frames after which the order of sizes comes again, at most: crates/frame/src/mix.rs."""

_RANGE = re.compile(r"([0-9]+)B?\s*-\s*([0-9]+)B")

MAX_SIZE = 9216
"""Bytes: the largest frame netdyno sends, the largest of RFC 5180 section 5.1.1's examples."""

_GENOME = {
    64: "a",
    128: "b",
    256: "c",
    512: "d",
    1024: "e",
    1280: "f",
    1518: "g",
    2112: "h",
    9000: "i",
    16000: "j",
}
"""RFC 6985 section 4: the letters of the usual sizes."""


MOST_LETTERS = 26
"""Of a mix of more sizes only their number and their ends are printed."""


def mean_size(weights: Iterable[tuple[int, int]]) -> Fraction:
    """Average size of (size, weight) pairs."""
    pairs = list(weights)
    return Fraction(sum(size * weight for size, weight in pairs), sum(weight for _, weight in pairs))


@dataclass(frozen=True)
class Mix:
    """Frame sizes (bytes, FCS counted) with integer weights; a single size is a mix of one.

    name: as in a plan. origin: where a named mix comes from.
    """

    name: str
    weights: tuple[tuple[int, int], ...]
    origin: str = ""

    @property
    def is_named(self) -> bool:
        """Whether its name says its sizes, as a plan may: a named mix, or each size of a range."""
        return self.name in MIXES or _RANGE.fullmatch(self.name) is not None

    @property
    def total(self) -> int:
        """Sum of the weights: frames in one round of the mix."""
        return sum(weight for _, weight in self.weights)

    @property
    def mean(self) -> Fraction:
        """Average frame size, bytes, FCS counted."""
        return mean_size(self.weights)

    @property
    def smallest(self) -> int:
        """Smallest frame, bytes."""
        return min(size for size, _ in self.weights)

    @property
    def largest(self) -> int:
        """Largest frame, bytes."""
        return max(size for size, _ in self.weights)

    @property
    def genome(self) -> str:
        """RFC 6985: the order of sizes, a letter a frame. Long genomes are run-length coded, `28A16B4C`."""
        common = math.gcd(*(weight for _, weight in self.weights))
        if len(self.weights) > MOST_LETTERS:
            return f"CUSTOM IMIX - {len(self.weights)} sizes from {self.smallest} to {self.largest} B"
        counts = [(size, weight // common) for size, weight in self.weights]
        standard = all(size in _GENOME for size, _ in counts)
        letters = [
            _GENOME[size] if standard else chr(ord("A") + index) for index, (size, _) in enumerate(counts)
        ]
        if sum(count for _, count in counts) <= 32:
            runs = "".join(letter * count for letter, (_, count) in zip(letters, counts, strict=True))
        else:
            runs = "".join(f"{count}{letter}" for letter, (_, count) in zip(letters, counts, strict=True))
        if standard:
            return f"IMIX - {runs}"
        table = ", ".join(f"{letter}={size}" for letter, (size, _) in zip(letters, counts, strict=True))
        return f"CUSTOM IMIX - {runs} ({table})"

    def __str__(self) -> str:
        if len(self.weights) == 1:
            return f"{self.weights[0][0]}B"
        if len(self.weights) > MOST_LETTERS:
            ends = f"{self.smallest} to {self.largest} B"
            return f"{self.name}: {len(self.weights)} sizes, {ends}, average {decimal(self.mean, 4)} B"
        sizes = ":".join(str(size) for size, _ in self.weights)
        shares = ":".join(str(weight) for _, weight in self.weights)
        return f"{self.name}: {shares} of {sizes} B, average {decimal(self.mean, 4)} B"


OF_MTU = Mix("mtu", ((1518, 1),))
"""Stands in a plan for the longest frame of each case's MTU; the size is that of an MTU of 1500."""

MIXES: Mapping[str, Mix] = {
    mix.name: mix
    for mix in (
        Mix(
            "imix/trex",
            ((64, 28), (594, 16), (1518, 4)),
            "T-Rex imix.py: 60, 590, 1514 and FCS; NFVbench's 7:4:1",
        ),
        Mix("imix/bench", ((68, 28), (590, 16), (1514, 4)), "T-Rex bench.py size=imix; the ASR9006 article"),
        Mix("imix/csit", ((64, 28), (570, 16), (1518, 4)), "FD.io CSIT"),
    )
}
"""The named mixes. All are 28:16:4; what differs is the sizes."""


def fixed(size: int) -> Mix:
    """One size only, bytes with FCS."""
    return Mix(f"{size}B", ((size, 1),))


def each_size(smallest: int, largest: int) -> Mix:
    """Each size of a range, equally often, in an order that has the average of all on any stretch of it."""
    count = largest - smallest + 1
    # Steps of about the golden section, around and around.
    step = next(step for step in itertools.count(round(count * 0.618)) if math.gcd(step, count) == 1)
    sizes = (smallest + number * step % count for number in range(count))
    return Mix(f"{smallest}B-{largest}B", tuple((size, 1) for size in sizes))


def _range(smallest: str, largest: str) -> Mix:
    low, high = _size(f"{smallest}B"), _size(f"{largest}B")
    if not 2 <= high - low + 1 <= MOST_SIZES:
        why = f"{high - low + 1} sizes" if low <= high else f"{low} is above {high}"
        raise UnitError(
            f"{smallest}B-{largest}B",
            f"is no range of sizes: {why}",
            f"the smallest, then the largest, and at most {MOST_SIZES}",
            code="out-of-range",
        )
    return each_size(low, high)


def read_mix(value: object) -> Mix:
    """A mix as a plan or a command line has it: `64B`, `64B-1518B`, `imix/bench`, or sizes with weights.

    Raises Problem or Problems.
    """
    if isinstance(value, Mix):
        return value
    if isinstance(value, str) and value in MIXES:
        return MIXES[value]
    if isinstance(value, Mapping):
        return _weighed(value)
    if isinstance(value, str) and (found := _RANGE.fullmatch(value.strip())):
        return _range(*found.groups())
    if isinstance(value, str) and not re.match(r"[-+.]?[0-9]", value):
        raise Problem(
            f"unknown mix `{value[:40]}`",
            suggestion(value, MIXES, "a size such as `64B`, or one of"),
            code="unknown-name",
        )
    return fixed(_size(value))


def mix_of_text(text: str) -> Mix:
    """A mix as one word of a command line: `64B`, `imix/bench`, or sizes with weights `64:28,594:16`.

    Braces and spaces as in a plan are taken too: `{64: 28, 594: 16}`.
    """
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    if not text:
        raise Problem("a mix without sizes", "give sizes and weights: `64:28,594:16,1518:4`", code="empty")
    parts = [part.partition(":") for part in text.split(",")]
    if not all(separator for _, separator, _ in parts):
        return read_mix(text)
    weights: dict[object, object] = {}
    for size, _, weight in parts:
        size, weight = size.strip(), weight.strip()
        key = f"{size}B" if size.isdecimal() else size
        if key in weights:
            raise Problem(f"size {size} is given twice", "add the two weights", code="given-twice")
        weights[key] = int(weight) if weight.isdecimal() else weight
    return read_mix(weights)


def _size(value: object) -> int:
    size = FrameSize.parse(value).octets
    if not MIN_SIZE <= size <= MAX_SIZE:
        why = "shorter than any Ethernet frame" if size < MIN_SIZE else "longer than any frame netdyno sends"
        raise UnitError(
            str(value),
            f"is {why}",
            f"sizes go from {MIN_SIZE}B to {MAX_SIZE}B, FCS counted",
            code="out-of-range",
        )
    return size


def _weighed(table: Mapping[object, object]) -> Mix:
    problems: list[Problem] = []
    weights: dict[int, int] = {}
    if not table:
        raise Problem(
            "a mix without sizes", "give sizes and weights: `{64: 28, 594: 16, 1518: 4}`", code="empty"
        )
    for key, weight in table.items():
        place = key if isinstance(key, str | int) else str(key)
        try:
            # What stands before a weight can only be a size in bytes, so here the unit may be left out.
            size = _size(f"{key}B" if isinstance(key, int) and not isinstance(key, bool) else key)
            if size in weights:
                problems.append(
                    Problem(
                        f"size {size} is given twice", "add the two weights", (place,), code="given-twice"
                    )
                )
            elif isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= 65535:
                problems.append(
                    Problem(
                        f"`{as_written(weight)}` is not a weight",
                        "a weight is a whole number from 1 to 65535; leave out a size that is not sent",
                        (place,),
                        code="out-of-range",
                    )
                )
            else:
                weights[size] = weight
        except Problem as problem:
            problems.append(Problem(problem.message, problem.hint, (place,), code=problem.code))
    if len(table) > MOST_SIZES:
        problems.append(
            Problem(f"a mix of {len(table)} sizes", f"give at most {MOST_SIZES}", code="too-many")
        )
    if problems:
        raise Problems(problems)
    cycle = sum(weights.values()) // math.gcd(*weights.values())
    most = min(LONGEST_CYCLE, LONGEST_CYCLE * 256 // len(weights))
    if cycle > most:
        raise Problem(
            f"these weights make a cycle of {cycle} frames",
            f"smaller weights: {most} frames of {len(weights)} sizes at most",
            code="too-many",
        )
    return Mix("own mix", tuple(weights.items()))
