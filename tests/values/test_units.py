"""Units: what engineers write, exactly, and back."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.values.units import (
    Duration,
    FrameRate,
    FrameSize,
    L1Rate,
    L2Rate,
    LayerMixError,
    Load,
    Percent,
    PositiveDuration,
    Quantity,
    UnitError,
    bit_rate,
    decimal,
)
from pydantic import BaseModel, ValidationError


@pytest.mark.parametrize(
    ("kind", "text", "amount", "printed"),
    [
        (L1Rate, "10Gbps", 10**10, "10Gbps L1"),
        (L1Rate, "9.5 Gbit/s", 9_500_000_000, "9.5Gbps L1"),
        (L1Rate, "10GbpsL1", 10**10, "10Gbps L1"),
        (L1Rate, "100 Mb/s L1", 10**8, "100Mbps L1"),
        (L2Rate, "10Gbps L2", 10**10, "10Gbps L2"),
        (L2Rate, "9.28GbpsL2", 9_280_000_000, "9.28Gbps L2"),
        (FrameRate, "14.88Mpps", 14_880_000, "14.88Mpps"),
        (FrameRate, "1kpps", 1000, "1kpps"),
        (FrameRate, "250fps", 250, "250pps"),
        (FrameRate, "0pps", 0, "0pps"),
        (FrameRate, "3 Mframes/s", 3_000_000, "3Mpps"),
        (Percent, "80%", Fraction(4, 5), "80%"),
        (Percent, "0.1 %", Fraction(1, 1000), "0.1%"),
        (FrameSize, "64B", 64, "64B"),
        (FrameSize, "1514 bytes", 1514, "1514B"),
        (Duration, "120s", 120, "120s"),
        (Duration, "500ms", Fraction(1, 2), "500ms"),
        (Duration, "2min", 120, "120s"),
        (Duration, "1h", 3600, "3600s"),
        (Duration, "30us", Fraction(30, 10**6), "30us"),
        (Duration, "30\N{MICRO SIGN}s", Fraction(30, 10**6), "30us"),
        (Duration, "0s", 0, "0ns"),
        (Duration, "1ns", Fraction(1, 10**9), "1ns"),
    ],
)
def test_what_is_written_is_what_is_meant(
    kind: type[Quantity], text: str, amount: Fraction, printed: str
) -> None:
    parsed = kind.parse(text)
    assert parsed.amount == amount
    assert str(parsed) == printed


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("80%", Percent(Fraction(4, 5))),
        ("1kpps", FrameRate(Fraction(1000))),
        ("9.5Gbps", L1Rate(Fraction(9_500_000_000))),
        ("9 Gbps L2", L2Rate(Fraction(9_000_000_000))),
    ],
)
def test_a_load_is_a_rate_of_any_layer_or_a_share(text: str, amount: Quantity) -> None:
    assert Load.parse(text).amount == amount
    assert Load.parse(str(Load.parse(text))) == Load.parse(text)


@pytest.mark.parametrize(
    ("kind", "value", "message", "hint"),
    [
        (FrameSize, "1514b", "`1514b` is in bits (`b`), and a frame size is in bytes", "write `1514B`"),
        (FrameSize, "64", "`64` is a frame size without a unit", "say the unit, as in `64B`"),
        (FrameSize, 64, "`64` is a frame size without a unit", "say the unit, as in `64B`"),
        (
            FrameSize,
            "64.5B",
            "`64.5B` is not a whole number of bytes",
            "a frame has whole bytes: `64B`",
        ),
        (FrameSize, "9kB", "`9kB` is not a frame size in plain bytes", "write all its bytes, as in `9000B`"),
        (Duration, 30, "`30` is a duration without a unit", "say the unit, as in `30s`"),
        (
            Duration,
            "0.5ns",
            "`0.5ns` is not a whole number of nanoseconds",
            "a nanosecond is the finest step",
        ),
        (Duration, "9999h", "`9999h` is more than a year", "give a shorter time, such as `12h`"),
        (
            PositiveDuration,
            "0ms",
            "`0ms` is no time at all",
            "give a duration longer than zero, such as `30s`, or leave the phase out",
        ),
        (Load, "10gbps", "`10gbps` has no unit netdyno knows: `gbps`", "case matters: `10Gbps`"),
        (Load, "5 mpps", "`5 mpps` has no unit netdyno knows: `mpps`", "case matters: `5Mpps`"),
        (
            Load,
            "1.25 GB/s",
            "`1.25 GB/s` counts bytes (`B`), and rates count bits",
            "eight times the number, in `Gb/s`",
        ),
        (Load, "1Gibit/s", "`1Gibit/s` has a binary prefix", "prefixes are decimal: `1Gbit/s`"),
        (
            Load,
            "1,000pps",
            "`1,000pps` has a comma, which may be a decimal sign or a separator",
            "write `1.000pps` or `1000pps`",
        ),
        (
            Load,
            "1e6pps",
            "`1e6pps` is written with an exponent",
            "write the digits, or a prefix: `k`, `M`, `G`",
        ),
        (Load, "-5pps", "`-5pps` is negative", "a load counts from zero up, as in `80%`"),
        (Load, "10,5Gbps", "`10,5Gbps` has a decimal comma", "the decimal sign is a point: `10.5Gbps`"),
        (Load, "0,125Mpps", "`0,125Mpps` has a decimal comma", "the decimal sign is a point: `0.125Mpps`"),
        (
            Load,
            "1,000,000pps",
            "`1,000,000pps` has a separator between its digits",
            "write `1000000pps` or use a prefix",
        ),
        (FrameSize, "-5B", "`-5B` is negative", "a frame size is more than zero, as in `64B`"),
        (FrameSize, "0B", "`0B` is no frame at all", "Ethernet frames have at least 64 bytes: `64B`"),
        (
            Load,
            "10Gbps L3",
            "`10Gbps L3` names the layer L3, which a load cannot be given in",
            "say L1 or L2, or give frames: `1Mpps`",
        ),
        (Load, True, "`true` is not a load", "write it like `80%`"),
        (Load, None, "`null` is not a load", "write it like `80%`"),
        (
            L1Rate,
            "10Gbps L2",
            "`10Gbps L2` is an L2 rate where an L1 rate is needed",
            "a link's rate is what its line carries: `10Gbps`",
        ),
        (
            L2Rate,
            "10Gbps",
            "`10Gbps` is an L1 rate where an L2 rate is needed",
            "write it as an L2 rate, as in `9.28Gbps L2`",
        ),
        (
            Duration,
            "5 secs",
            "`5 secs` is not a duration: `secs` is no unit of one",
            "write `5s`",
        ),
    ],
)
def test_wrong_value_is_reported_with_its_reason_and_right_spelling(
    kind: type[Quantity], value: object, message: str, hint: str
) -> None:
    with pytest.raises(UnitError) as caught:
        kind.parse(value)
    assert caught.value.message == message
    assert caught.value.hint == hint


@given(
    st.one_of(
        st.text(max_size=30),
        st.from_regex(r"\A[0-9.,_+-]{0,8} ?[a-zA-Z/%0-9 ]{0,9}\Z"),
        st.none(),
        st.floats(),
    )
)
def test_no_value_does_worse_than_a_unit_error(value: object) -> None:
    for kind in (Load, FrameSize, Duration, PositiveDuration, L1Rate, L2Rate, FrameRate, Percent):
        assert 0 < len(complaint(kind, value)) < 200


def complaint(kind: type[Quantity] | type[Load], value: object) -> str:
    try:
        return str(kind.parse(value))
    except UnitError as error:
        return error.message


NUMBERS = st.builds(
    lambda whole, part: f"{whole}.{part}" if part else f"{whole}",
    st.integers(0, 10**9),
    st.from_regex(r"\A[0-9]{0,9}\Z"),
)


@given(
    NUMBERS,
    st.sampled_from([*FrameRate.units, *L1Rate.units, *(f"{unit} L2" for unit in L1Rate.units), "%"]),
    st.sampled_from(["", " "]),
)
def test_loads_print_back_exactly(number: str, unit: str, space: str) -> None:
    text = f"{number}{space}{unit}"
    load = Load.parse(text)
    assert Load.parse(str(load)) == load
    assert re.fullmatch(Load.pattern(), text)
    assert re.fullmatch(Load.pattern(), str(load))


@given(st.integers(0, 366 * 86400 * 10**9))
def test_durations_print_back_exactly(ns: int) -> None:
    assert Duration.parse(str(Duration.of_ns(ns))).ns == ns


@given(st.integers(1, 10**12), st.integers(1, 10**6))
def test_a_number_without_end_is_printed_to_six_places(numerator: int, denominator: int) -> None:
    value = Fraction(numerator, denominator)
    text = decimal(value)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        assert Fraction(text) == value
    else:
        assert abs(Fraction(text) - value) <= Fraction(1, 2 * 10**6)


def test_layers_do_not_mix() -> None:
    l1, l2 = L1Rate.parse("80Gbps"), L2Rate.parse("30.28Gbps L2")
    for mix in (
        lambda: l2 / l1,
        lambda: l1 + l2,
        lambda: l1 - l2,
        lambda: l1 < l2,
        lambda: l1 >= l2,
        lambda: l1 * l2,
    ):
        with pytest.raises(LayerMixError):
            mix()
    with pytest.raises(LayerMixError):
        l1 * 0.5  # type: ignore[operator]
    assert l1 != L2Rate(l1.amount)
    assert l1 / L1Rate.parse("10Gbps") == 8


def test_a_bit_rate_is_l1_unless_said() -> None:
    assert type(bit_rate("10Gbps")) is L1Rate
    assert type(bit_rate("10Gbps L2")) is L2Rate


class Model(BaseModel):
    rate: L1Rate
    load: Load
    size: FrameSize
    time: PositiveDuration


def test_units_are_pydantic_types_with_a_schema() -> None:
    model = Model.model_validate({"rate": "10Gbps", "load": "80%", "size": "64B", "time": "120s"})
    assert model.model_dump(mode="json") == {
        "rate": "10Gbps L1",
        "load": "80%",
        "size": "64B",
        "time": "120s",
    }
    assert Model.model_validate(model.model_dump()) == model
    for name, field in Model.model_json_schema()["properties"].items():
        assert field["examples"], name
        for example in field["examples"]:
            assert re.fullmatch(field["pattern"], example), name
    with pytest.raises(ValidationError) as caught:
        Model.model_validate({"rate": 10, "load": "80", "size": "64b", "time": "0s"})
    assert [error["loc"] for error in caught.value.errors()] == [("rate",), ("load",), ("size",), ("time",)]
