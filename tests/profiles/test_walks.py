"""Variables of T-Rex's field engine: the values that its captures and simulator show."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

import pytest
from netdyno.errors import NetdynoError
from netdyno.profiles.streams import read_streams
from netdyno.profiles.walks import draws, walks
from trex_json import stream, variable


def values(count: int, *instructions: dict[str, Any]) -> dict[str, list[int]]:
    (found,) = read_streams([stream(*instructions)])
    return {name: [walk.value(frame) for frame in range(count)] for name, walk in walks(found).items()}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (variable("v", 0, 10, step=3), [0, 3, 6, 9, 0, 3]),
        (variable("v", 1, 35, "dec", step=7), [35, 28, 21, 14, 7, 35]),
        (variable("v", 97, 100, "dec", step=2), [100, 98, 100, 98, 100, 98]),
        (variable("v", 97, 101, step=2), [97, 99, 101, 97, 99, 101]),
        (variable("v", 1, 3, init_value=2), [2, 3, 1, 2, 3, 1]),
        (variable("v", 0, 0, "dec", value_list=[16, 10, 14]), [14, 10, 16, 14, 10, 16]),
    ],
)
def test_variable_walks_as_in_t_rex(given: dict[str, Any], expected: list[int]) -> None:
    assert values(6, given) == {"v": expected}


def test_tuple_steps_its_port_where_the_address_wraps() -> None:
    # exp/udp_1pkt_tuple_gen: two addresses, ports from 1025.
    given = {
        "type": "tuple_flow_var",
        "name": "t",
        "ip_min": 1,
        "ip_max": 2,
        "port_min": 1025,
        "port_max": 65500,
    }
    found = values(4, {**given, "limit_flows": 0, "flags": 0})
    assert list(zip(found["t.ip"], found["t.port"], strict=True)) == [
        (1, 1025),
        (2, 1025),
        (1, 1026),
        (2, 1026),
    ]


def test_drawn_values_are_those_of_t_rex_for_its_seed() -> None:
    # exp/udp_1pkt_repeat_random: seed 0x1235, 48.0.0.1 to .255, 16 draws; their last bytes.
    found = draws(0x1235, 16, 0x30000001, 0x300000FF, 4)
    assert bytes(one & 0xFF for one in found).hex() == "9f50391813ca9a7814fe1bb10c027244"


def test_values_of_a_seed_are_those_that_t_rex_draws_for_each_frame() -> None:
    # exp/syn_attack: both variables of a stream are drawn from one generator.
    given = [
        variable("ip", 0x10000000, 0x120000FE, "random"),
        variable("port", 1025, 65000, "random", size=2),
    ]
    (read,) = read_streams([stream(*given, random_seed=0x1234)])
    found = walks(read, exact=True)
    drawn = [(str(IPv4Address(found["ip"].value(k))), found["port"].value(k)) for k in range(4)]
    assert drawn == [
        ("16.160.53.26", 13424),
        ("17.174.26.206", 26846),
        ("16.57.242.65", 31406),
        ("17.139.209.207", 22000),
    ]
    assert walks(read)["ip"].is_random


def test_chain_of_variables_steps_each_when_the_one_before_wraps() -> None:
    # exp/dependent_field_engine_vars: a list downwards, then a counter, four draws, and a counter.
    chain = (
        variable("a", 0, 0, "dec", value_list=[16, 10, 14], next_var="b"),
        variable("b", 97, 99, size=1, next_var="c"),
        {"type": "flow_var_rand_limit", "name": "c", "size": 1, "limit": 4, "seed": 0, "min_value": 97,
         "max_value": 122, "next_var": "d"},
        variable("d", 97, 98, size=1),
    )  # fmt: skip
    found = values(40, *chain)
    assert found["a"][:7] == [14, 10, 16, 14, 10, 16, 14]
    assert bytes(found["b"][:12]) == b"aaabbbcccaaa"
    assert bytes(found["c"][0:12:3]) == b"mmmx"
    assert (found["d"][35], found["d"][36]) == (97, 98)


def test_variable_behind_one_of_a_single_value_never_steps() -> None:
    # What T-Rex's simulator sends of CSIT's ethip4udp-1024u63p: port 65535 in every frame.
    found = values(3, variable("a", 7, 7, next_var="b"), variable("b", 1024, 65535, size=2))
    assert found == {"a": [7, 7, 7], "b": [65535, 65535, 65535]}


@pytest.mark.parametrize(
    "instructions",
    [
        [variable("a", 0, 1, next_var="b"), variable("b", 0, 1, next_var="a")],
        [variable("a", 0, 1, next_var="c")],
        [variable("a", 0, 1), variable("a", 0, 1)],
        [variable("a", 5, 1)],
        [variable("a", 0, 1, size=3)],
        [variable("a", 0, 1 << 40)],
        [{"type": "flow_var", "name": "a"}],
        [variable("a", 0, 0, value_list=[1.5])],
    ],
)
def test_program_that_cannot_be_is_refused(instructions: list[dict[str, Any]]) -> None:
    with pytest.raises((NetdynoError, KeyError, ValueError)):
        values(1, *instructions)
