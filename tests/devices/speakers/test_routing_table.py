"""The synthetic table. Truth: counts of a public table, Python's `ipaddress`, and BIRD, asked what it has."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_network
from pathlib import Path

import pytest
from netdyno.devices.peering import Bgp, Speaker
from netdyno.devices.speakers.announced import LABS, behind_ports, table_of
from netdyno.devices.speakers.table import (
    Attributes,
    Routes,
    Table,
    make_table,
    prefix_of,
)

ROUTES, ROUTES_IPV6, WITHDRAW = 20_000, 4_000, 2_000
OWN_AS = 64_500
BIRD = shutil.which("bird", path="/usr/sbin:/usr/bin:/sbin:/bin")


@pytest.fixture(scope="module")
def table() -> Table:
    return make_table(ROUTES, ROUTES_IPV6, 7, WITHDRAW, LABS, withdraw_ipv6=1_000)


def every(table: Table, version: int) -> list[str]:
    if version == 6:
        return [*table.ipv6.texts(), *table.withdrawn_ipv6.texts()]
    return [*table.ipv4.texts(), *table.withdrawn.texts()]


@pytest.mark.parametrize(
    ("version", "count", "shares", "inside"),
    [
        (4, ROUTES, {24: 59.6, 23: 10.7, 22: 12.0, 16: 1.5}, 0.507),
        (6, ROUTES_IPV6, {48: 47.1, 44: 9.0, 40: 8.4, 32: 14.1}, 0.569),
    ],
)
def test_table_has_the_lengths_and_the_nesting_of_the_internet(
    version: int, count: int, shares: dict[int, float], inside: float, table: Table
) -> None:
    networks = [ip_network(text) for text in every(table, version)]
    assert len(set(networks)) == len(networks) == count == table.count(version)
    lengths = Counter(network.prefixlen for network in networks)
    assert min(lengths) == {4: 8, 6: 19}[version]
    for length, share in shares.items():
        assert 100 * lengths[length] / count == pytest.approx(share, abs=0.6)
    known = {(int(network.network_address), network.prefixlen) for network in networks}
    bits = networks[0].max_prefixlen

    def is_inside(address: int, length: int) -> bool:
        return any(
            (address >> (bits - one) << (bits - one), one) in known for one in range(min(lengths), length)
        )

    assert sum(is_inside(*one) for one in known) / count == pytest.approx(inside, abs=0.04)


def test_table_has_no_special_network_and_none_of_the_lab(table: Table) -> None:
    labs = [ip_network(text) for text in LABS]
    for version in (4, 6):
        for text in every(table, version):
            network = ip_network(text)
            assert network.network_address.is_global
            assert network.broadcast_address.is_global
            assert not any(network.overlaps(lab) for lab in labs if lab.version == version)


def test_routes_are_as_diverse_as_those_of_the_internet(table: Table) -> None:
    """APNIC's report: 13.45 prefixes an AS; a path has 4.7, with the AS that reports."""
    places = [*table.ipv4.attributes, *table.withdrawn.attributes]
    paths = [table.attributes[place].path for place in places]
    assert sum(1 + len(path) for path in paths) / len(paths) == pytest.approx(4.7, abs=0.3)
    origins = Counter(path[-1] for path in paths)
    assert 10 < ROUTES / len(origins) < 25
    assert origins.most_common(1)[0][1] > 100
    assert len(set(paths)) > ROUTES / 12
    assert len({table.attributes[place] for place in places}) > ROUTES / 10
    assert any(path[-1] == path[-2] for path in paths if len(path) > 1)


def test_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    first, second, other = (make_table(3_000, 300, seed, 100) for seed in (1, 1, 2))
    assert first == second
    assert set(first.ipv4.prefixes) != set(other.ipv4.prefixes)


def test_path_has_no_as_that_the_device_refuses() -> None:
    usual = make_table(2_000, 0, 1)
    common = Counter(number for one in usual.attributes for number in one.path).most_common(1)[0][0]
    without = make_table(2_000, 0, 1, avoid_as=(common,))
    assert all(common not in one.path for one in without.attributes)


@pytest.mark.parametrize("version", [4, 6])
def test_sample_is_of_every_length_and_alone_in_the_table(version: int, table: Table) -> None:
    sample = table.sample(300, version)
    assert len(set(sample)) == 300
    withdrawn = {4: table.withdrawn, 6: table.withdrawn_ipv6}[version]
    assert len(withdrawn) == {4: WITHDRAW, 6: 1_000}[version]
    assert set(sample) <= set(withdrawn.texts())
    lengths = {int(text.split("/")[1]) for text in sample}
    assert lengths == {int(text.split("/")[1]) for text in every(table, version)}
    chosen = [ip_network(text) for text in sample[:20]]
    whole = [ip_network(text) for text in every(table, version)]
    assert all(sum(one.overlaps(other) for other in whole) == 1 for one in chosen)


def test_parts_of_a_table_have_the_sample_in_turn_and_each_route_once(table: Table) -> None:
    parts = table.divide(3, 300)
    whole = [text for part in parts for text in (*part.ipv4.texts(), *part.withdrawn.texts())]
    assert sorted(whole) == sorted(every(table, 4))
    for number, part in enumerate(parts):
        assert set(table.sample(300)[number::3]) <= set(part.withdrawn.texts())
        assert part.count(4) == pytest.approx(ROUTES / 3, abs=50)


def test_sample_of_a_small_table_is_what_it_has() -> None:
    table = make_table(5, 0, 1)
    assert set(table.sample(1_000)) <= set(table.ipv4.texts())
    assert make_table(1, 0, 1).sample(10) == tuple(make_table(1, 0, 1).ipv4.texts())


def test_frames_go_to_the_sample_of_what_is_announced() -> None:
    bgp = Bgp(OWN_AS, 64_501, routes=5_000, routes_ipv6=3_000, withdraw=2_000, withdraw_ipv6=1_500)
    table = table_of(Speaker(bgp))
    assert table is not None
    for version in (4, 6):
        ours, theirs = behind_ports([Speaker(bgp), None], version)
        assert ours == table.sample(1_000, version)
        assert len(theirs) == len(ours)
        assert {ip_network(text).version for text in theirs} == {version}
    assert behind_ports([None, None]) == ()


def test_more_routes_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        make_table(
            1_000,
            0,
            1,
            avoid=(
                "0.0.0.0/1",
                "128.0.0.0/2",
                "192.0.0.0/4",
                "208.0.0.0/5",
                "216.0.0.0/6",
                "220.0.0.0/7",
                "222.0.0.0/8",
            ),
        )


ODD = Table(
    Routes(4, [prefix_of("1.2.3.0/24")[1], prefix_of("1.2.0.0/16")[1]], [0, 1]),
    Routes(6, [prefix_of("2a00:1::/48")[1]], [2]),
    (
        Attributes((4_200_000_001, 5, 5, 7), 2, 4_294_967_295, ((65_535, 65_281), (1, 0)), ((7, 0, 9),)),
        Attributes(()),
        Attributes((1,), 1, 0, (), ((2**32 - 1, 2**32 - 1, 2**32 - 1),)),
    ),
)
"""Values at their limits."""


@contextmanager
def bird(folder: Path, config: str) -> Iterator[Path]:
    """BIRD with a configuration: its control socket, once it answers."""
    assert BIRD is not None
    (folder / "bird.conf").write_text(config)
    control = folder / "ctl"
    command = [BIRD, "-f", "-c", "bird.conf", "-s", str(control), "-P", str(folder / "pid")]
    process = subprocess.Popen(command, cwd=folder, stderr=(folder / "log").open("w"))
    try:
        deadline = time.monotonic() + 60
        while "up and running" not in asked(control, "show", "status"):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield control
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()


def asked(control: Path, *words: str) -> str:
    command = [f"{BIRD}c", "-s", str(control), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout


def routes_in(said: str) -> dict[str, Attributes]:
    """The routes that `show route all` prints."""
    found = {}
    for block in re.split(r"\n(?=[0-9a-f.:]+/\d+ )", said):
        lines = dict(re.findall(r"BGP\.(\w+): (.*)", block))
        head = re.search(r"^[0-9a-f.:]+/\d+", block, re.MULTILINE)
        if head is None:
            continue
        three = re.findall(r"\((\d+), (\d+), (\d+)\)", lines.get("large_community", ""))
        two = re.findall(r"\((\d+),(\d+)\)", lines.get("community", ""))
        found[head[0]] = Attributes(
            tuple(map(int, lines.get("as_path", "").split())),
            {"IGP": 0, "EGP": 1, "Incomplete": 2}[lines.get("origin", "IGP")],
            int(lines["med"]) if "med" in lines else None,
            tuple((int(a), int(b)) for a, b in two),
            tuple((int(a), int(b), int(c)) for a, b, c in three),
        )
    return found


def routes_of(table: Table) -> dict[str, Attributes]:
    parts = (table.ipv4, table.withdrawn, table.ipv6, table.withdrawn_ipv6)
    return {
        text: table.attributes[place]
        for part in parts
        for text, place in zip(part.texts(), part.attributes, strict=True)
    }


@pytest.mark.skipif(BIRD is None, reason="BIRD is not installed")
@pytest.mark.parametrize("given", [ODD, make_table(4_000, 800, 3, 500, withdraw_ipv6=100)])
def test_bird_has_each_route_with_its_attributes_and_withdraws_the_part(given: Table, tmp_path: Path) -> None:
    include = given.write_bird(tmp_path)
    with bird(tmp_path, f"router id 100.64.0.2;\nprotocol device {{}}\n{include}\n") as control:
        assert routes_in(asked(control, "show", "route", "all")) == routes_of(given)
        for version, kept in ((4, given.ipv4), (6, given.ipv6)):
            asked(control, "disable", f"withdrawn{version}")
            left = routes_in(asked(control, "show", "route", "all", "table", f"master{version}"))
            assert set(left) == set(kept.texts())
