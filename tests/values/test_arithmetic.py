"""The arithmetic against figures worked out elsewhere: RFC tables, published load tests and their slips."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.errors import Problem, Problems
from netdyno.values import rates as a
from netdyno.values.mixes import MIXES, mean_size, read_mix
from netdyno.values.units import FrameRate, L1Rate, L2Rate, LayerMixError, Load, bit_rate

DATA = Path(__file__).parents[1] / "data"
TREX, BENCH, CSIT = (MIXES[name].mean for name in ("imix/trex", "imix/bench", "imix/csit"))


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


def gig(number: str) -> L1Rate:
    return L1Rate.parse(f"{number}Gbps")


def pps(number: float | str | int | Fraction) -> FrameRate:
    return FrameRate(Fraction(number))


def l2(bps: int) -> L2Rate:
    return L2Rate(Fraction(bps))


def ten(size: a.Size) -> FrameRate:
    return a.line_rate(gig("10"), size)


# One entry a row: how the row's figure follows from its inputs, by netdyno's functions. The line rates
# (`LR-<rate>G-<size>`) are distinguished by their names.
COMPUTED: dict[str, Callable[[], Fraction]] = {
    "LR-20G-64": lambda: (ten(64) * 2).amount,
    "LR-40G-64x": lambda: (ten(64) * 4).amount,
    "LR-8x10G-64": lambda: (ten(64) * 8).amount,
    "LR-10G-1514": lambda: ten(1514).amount,
    "BITS-256": lambda: a.wire_bits(256),
    "OVH-256": lambda: a.overhead(FrameRate.parse("4.53Mpps")).amount,
    "OVH-256-exact": lambda: a.overhead(ten(256)).amount,
    "L2-256": lambda: a.l2(ten(256), 256).amount,
    "IMIX-A-avg": lambda: TREX,
    "IMIX-TXT-avg": lambda: mean_size([(64, 28), (590, 16), (1514, 4)]),
    "IMIX-B-avg": lambda: BENCH,
    "IMIX-CSIT-avg": lambda: CSIT,
    "IMIX-A-10G": lambda: ten(TREX).amount,
    "IMIX-A-4x10G": lambda: (ten(TREX) * 4).amount,
    "IMIX-B-10G": lambda: ten(BENCH).amount,
    "IMIX-CSIT-10G": lambda: ten(CSIT).amount,
    "QINQ-bits": lambda: (a.l2(FrameRate.parse("13.12Mpps"), a.TAG)).amount,
    "QINQ-naive": lambda: 100 * (L1Rate(a.l2(FrameRate.parse("13.12Mpps"), a.TAG).amount) / gig("40")),
    "QINQ-trunkpps": lambda: a.line_rate(gig("40"), TREX + a.TAG).amount,
    "L3-tag": lambda: a.l2(FrameRate.parse("6.55Mpps"), a.TAG).amount,
    "L3-tag-meas": lambda: (l2(37915517884) - (l2(9381044793) * 2 + l2(18952369793))).amount,
    "L3-ovh40": lambda: a.overhead(FrameRate.parse("13.03Mpps")).amount,
    "L3-25G80": lambda: a.load_fps(Load.parse("80%").amount, line=gig("25"), size=TREX).amount,
    "L3-long-loss": lambda: Fraction(584431313183 - 584306589637),
    "BONUS-tx": lambda: sum((pps("29.83"), pps("29.72"), pps("59.46")), pps(0)).amount,
    "BONUS-rx": lambda: sum((pps("17.67"), pps("17.02"), pps("24.43")), pps(0)).amount,
    "BONUS-pct": lambda: 100 * (pps("59.12") / pps("119.01")),
    "BONUS-pct-mixed": lambda: 100 * bit_rate("30.28Gbps L2").amount / gig("80").amount,
    "S5860-cap": lambda: (gig("10") * 28 + gig("25") * 4).amount / 10**9,
    "S5860-pps": lambda: a.line_rate(gig("10") * 28 + gig("25") * 4, 64).amount,
    "ASR1K-256-100": lambda: (ten(256) * 2).amount,
    "ASR1K-1518-100": lambda: (ten(1518) * 2).amount,
    "ASR1K-1518-90": lambda: (a.load_fps(Load.parse("90%").amount, line=gig("10"), size=1518) * 2).amount,
    "RFC8219-678": lambda: a.line_rate(gig("10"), 678 + 20).amount,
}

UNITS = {"pps": 1, "kpps": 10**3, "Mpps": 10**6}

# Rows whose published figure is not the true one; the table's verdict gives the reason of each.
PUBLISHED_WRONG = {
    "IMIX-A-4x10G",
    "QINQ-naive",
    "L3-long-loss",
    "BONUS-pct",
    "ASR1K-1518-100",
    "ASR1K-1518-90",
}


def golden(row: dict[str, str]) -> Fraction:
    line = re.fullmatch(r"LR-(\d+)G-(\d+)", row["id"])
    if line and row["id"] not in COMPUTED:
        return a.line_rate(gig(line[1]), int(line[2])).amount
    return COMPUTED[row["id"]]()


GOLDEN = rows("golden-arithmetic.csv")


def test_every_golden_row_is_there() -> None:
    assert len(GOLDEN) == 69
    assert len({row["id"] for row in GOLDEN}) == 69
    assert set(COMPUTED) <= {row["id"] for row in GOLDEN}


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row["id"])
def test_golden_arithmetic(row: dict[str, str]) -> None:
    """To 1e-9 of the value, or to the last digit of the table where that is coarser."""
    exact = Fraction(row["exact_value"])
    digits = len(row["exact_value"].partition(".")[2])
    printed = Fraction(1, 2 * 10**digits) if digits else 0
    assert abs(golden(row) - exact) <= max(exact / 10**9, printed)


FIGURE = re.compile(r"~?(?!0x)(\d+(?:\.\d+)?) ?([A-Za-z%][^-/]*)?")
SINGLE = [row for row in GOLDEN if FIGURE.fullmatch(row["published_value"])]


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_published_figures_are_right_unless_the_table_says_why_not(row: dict[str, str]) -> None:
    """A right figure agrees with ours to its last digit, rounded or cut off; a wrong one does not."""
    found = FIGURE.fullmatch(row["published_value"])
    assert found
    scales = {"kpps": 10**3, "Mpps": 10**6, "Mbps": 10**6, "Gbps": 10**9}
    base = {"Mb/s": 10**6, "Gb/s": 10**9}.get(row["unit"], 1)
    factor = Fraction(scales.get(found[2] or "", base), base)
    last_digit = factor / 10 ** len(found[1].partition(".")[2])
    right = abs(golden(row) - Fraction(found[1]) * factor) < last_digit
    assert right == (row["id"] not in PUBLISHED_WRONG), row["verdict"]


def test_published_figures_that_are_not_one_number() -> None:
    others = {row["id"] for row in GOLDEN if row["published_value"]} - {row["id"] for row in SINGLE}
    assert others == {
        "LR-10G-1514", "IMIX-TXT-avg", "IMIX-B-10G", "L3-25G80",
    }  # fmt: skip
    # RFC 8219 prints the row of 768 byte frames as 678; with 20 bytes of 6in4 the true row is this.
    assert round(a.line_rate(gig("10"), 768 + 20).amount) == 1_547_030


def test_the_slip_behind_38_per_cent_cannot_be_made_here() -> None:
    with pytest.raises(LayerMixError):
        bit_rate("30.28Gbps L2") / gig("80")


@pytest.mark.parametrize(
    ("size", "ten_megabit", "ten_gigabit"),
    [
        # RFC 5180 appendix A.1, Ethernet: frames per second, truncated, at 10 Mbit/s and 10 Gbit/s.
        (64, 14_880, 14_880_952),
        (128, 8_445, 8_445_945),
        (256, 4_528, 4_528_985),
        (512, 2_349, 2_349_624),
        (1024, 1_197, 1_197_318),
        (1280, 961, 961_538),
        (1518, 812, 812_743),
        (1522, 810, 810_635),
        (4096, 303, 303_692),
        (8192, 152, 152_216),
        (9216, 135, 135_339),
    ],
)
def test_frame_rates_are_those_of_rfc_5180_appendix_a_1(
    size: int, ten_megabit: int, ten_gigabit: int
) -> None:
    assert a.line_rate(L1Rate.parse("10Mbps"), size).amount.__floor__() == ten_megabit
    assert a.line_rate(gig("10"), size).amount.__floor__() == ten_gigabit


EXPECTED = rows("article-asr9006-expectations.csv")
MEASURED = {
    (row["test"], row["profile"], row["direction"]): row
    for row in rows("article-tables.csv")
    if row["article"] == "000-asr9006" and re.fullmatch(r"[12]\.[123]", row["test"])
}

# Rows of the article whose two figures, frames and bits, do not belong to frames of the stated size:
# four imix rows have 2 to 6 bytes more a frame; three 64 B rows are off by no more than 0.05 byte.
INCONSISTENT = {
    ("1.1", "64b-multi", "uni"),
    ("1.2", "64b-single", "bidir-sum"),
    ("1.3", "64b-single", "bidir-sum"),
    ("2.1", "imix", "uni"),
    ("2.1", "imix", "bidir-sum"),
    ("2.2", "imix", "uni"),
    ("2.2", "imix", "bidir-sum"),
}


def key(row: dict[str, str]) -> tuple[str, str, str]:
    return row["test"], row["profile"], row["direction"]


def test_the_48_rows_and_their_exceptions() -> None:
    assert len(EXPECTED) == 48
    assert {key(row) for row in EXPECTED if row["consistent"] == "NO"} == INCONSISTENT
    assert sum(row["consistent"] == "yes" for row in EXPECTED) == 41


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: "-".join(key(row)))
def test_the_48_rows_of_the_asr9006_article(row: dict[str, str]) -> None:
    line = L1Rate(Fraction(row["capacity_l1_bps"]))
    size = Fraction(row["frame_b_incl_fcs"])
    observed = pps(row["observed_pps"])
    assert round(a.line_rate(line, size).amount) == int(row["line_rate_pps"])
    assert abs(100 * a.share_of_line(observed, line, size) - Fraction(row["pct_of_line"])) <= Fraction(1, 200)

    profile = {"1514b": "1514B", "imix": "imix/bench"}.get(row["profile"], "64B")
    assert read_mix(profile).mean == size
    assert a.wire_bits(size) / 8 == Fraction(row["expected_l1_bytes_per_frame"])

    # Bytes a frame, from the bits and the frames the article prints, each a rounded number.
    found = re.match(r"as printed: ([0-9.]+) ([kM]pps) / ([0-9.]+) Gbps", MEASURED[key(row)]["source_note"])
    assert found
    frames, unit, bits = Fraction(found[1]), UNITS[found[2]], Fraction(found[3])
    frames_step = Fraction(1, 2 * 10 ** len(found[1].partition(".")[2]))
    bits_step = Fraction(1, 2 * 10 ** len(found[3].partition(".")[2]))
    low, high = (
        (bits + sign * bits_step) * 10**9 / ((frames - sign * frames_step) * unit) / 8 for sign in (-1, 1)
    )
    assert abs(low - Fraction(row["l1_bytes_per_frame_lo"])) <= Fraction(1, 100)
    assert abs(high - Fraction(row["l1_bytes_per_frame_hi"])) <= Fraction(1, 100)
    consistent = low <= a.wire_bits(size) / 8 <= high
    assert consistent == (key(row) not in INCONSISTENT)


def test_mixes_say_their_sizes() -> None:
    assert str(MIXES["imix/trex"]) == "imix/trex: 28:16:4 of 64:594:1518 B, average 361.8333 B"
    assert str(MIXES["imix/bench"]) == "imix/bench: 28:16:4 of 68:590:1514 B, average 362.5 B"
    assert str(MIXES["imix/csit"]) == "imix/csit: 28:16:4 of 64:570:1518 B, average 353.8333 B"
    assert str(read_mix("64B")) == "64B"
    # The order of two mixes in RFC 6985: letters of its table, and an own table.
    assert read_mix({64: 3, 512: 2, 1518: 1}).genome == "IMIX - aaaddg"
    assert MIXES["imix/bench"].genome == "CUSTOM IMIX - AAAAAAABBBBC (A=68, B=590, C=1514)"
    assert read_mix({64: 28, "594B": 16, 1518: 4}).mean == TREX


def test_range_of_sizes_has_each_once_and_any_stretch_its_average() -> None:
    mix = read_mix("64B-1518B")
    assert sorted(mix.weights) == [(size, 1) for size in range(64, 1519)]
    assert mix.mean == 791
    sizes = [size for size, _ in mix.weights] * 2
    stretches = (sizes[first : first + 100] for first in range(len(mix.weights)))
    assert all(abs(sum(stretch) / 100 - 791) < 24 for stretch in stretches)  # 3 % of it
    assert str(mix) == "64B-1518B: 1455 sizes, 64 to 1518 B, average 791 B"


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ("128B-64B", [((), "`128B-64B` is no range of sizes: 128 is above 64")]),
        ("64B-9216B", [((), "`64B-9216B` is no range of sizes: 9153 sizes")]),
        ({64: 65535, 128: 65534, 256: 65535 * 16}, [((256,), "`1048560` is not a weight")]),
        (
            dict.fromkeys(range(64, 1064), 65535) | {9216: 1},
            [((), "these weights make a cycle of 65535001 frames")],
        ),
        ("imix/bnch", [((), "unknown mix `imix/bnch`")]),
        ("63B", [((), "`63B` is shorter than any Ethernet frame")]),
        ("9217B", [((), "`9217B` is longer than any frame netdyno sends")]),
        ({}, [((), "a mix without sizes")]),
        (
            {64: 0, "x": 1, 40: 1, True: 2},
            [
                ((64,), "`0` is not a weight"),
                (("x",), "`x` is not a frame size"),
                ((40,), "`40B` is shorter than any Ethernet frame"),
                ((True,), "`true` is not a frame size"),
            ],
        ),
        ({64: 1, "64B": 2}, [(("64B",), "size 64 is given twice")]),
        (64, [((), "`64` is a frame size without a unit")]),
    ],
)
def test_wrong_mixes(value: object, problems: list[tuple[tuple[object, ...], str]]) -> None:
    with pytest.raises((Problem, Problems)) as caught:
        read_mix(value)
    found = caught.value.problems if isinstance(caught.value, Problems) else [caught.value]
    assert [(problem.at, problem.message) for problem in found] == problems


def test_rate_table() -> None:
    table = a.rate_table("10Gbps", "64B")
    assert table["fps"] == {"exact": "312500000/21", "printed": "14880952.38 pps"}
    assert table["L1"]["printed"] == "10 Gbit/s"
    # 64 B of 84 B: 7.619 Gbit/s; the IP packet is 46 B: 5.476 Gbit/s.
    assert table["L2"]["printed"] == "7.619047619 Gbit/s"
    assert table["L3"]["printed"] == "5.476190476 Gbit/s"

    tagged = a.rate_table("14.88Mpps", "64B", tags=1)
    assert tagged["mean_size"]["printed"] == "68 B"
    assert tagged["L1"]["printed"] == "10.47552 Gbit/s", "14,880,000 x 88 x 8 bits"

    mixed = a.rate_table("10Gbps", "imix/bench")
    assert mixed["fps"]["printed"] == "3267973.86 pps"
    assert [row["size"] for row in mixed["sizes"]] == [68, 590, 1514]
    assert sum(Fraction(row["L1"]["exact"]) for row in mixed["sizes"]) == 10**10
    assert sum(Fraction(row["L2"]["exact"]) for row in mixed["sizes"]) == Fraction(mixed["L2"]["exact"])

    with pytest.raises(Problem, match="no line here"):
        a.rate_table("80%", "64B")
    with pytest.raises(Problem, match="VLAN tags"):
        a.rate_table("10Gbps", "64B", tags=9)


def test_a_mix_in_one_word() -> None:
    assert a.rate_table("10Gbps", "64:28,594:16,1518:4")["fps"] == a.rate_table("10Gbps", "imix/trex")["fps"]
    with pytest.raises(Problems):
        a.rate_table("10Gbps", "64:28,594:x")
    with pytest.raises(Problem):
        a.rate_table("10Gbps", "64:28,594")
    for twice in ("64:28,594:16,64:4", "64:28,594:16,64B:4", "64B:28,594:16,64:4"):
        with pytest.raises(Problem, match="is given twice"):
            a.rate_table("10Gbps", twice)
