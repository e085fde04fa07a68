"""Tables that route collectors dumped. Truth: records written from RFC 6396, and what BIRD itself dumps."""

from __future__ import annotations

import bz2
import gzip
import time
from collections.abc import Callable, Sequence
from ipaddress import ip_network
from pathlib import Path
from struct import pack

import pytest
from netdyno.devices.peering import Bgp, Speaker
from netdyno.devices.speakers import mrt
from netdyno.devices.speakers.announced import behind_ports, count_announced, table_of
from netdyno.devices.speakers.mrt import read_table
from netdyno.devices.speakers.table import Attributes, Table, make_table
from netdyno.devices.wiring import LabError
from netdyno.errors import Problem
from test_routing_table import BIRD, bird, routes_of

PATH = (3356, 4_200_000_000, 15169)
SAID = Attributes(PATH, 2, 50, ((3356, 5), (174, 21_000)), ((15169, 1, 2),))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "netdyno" / "tables"


def attribute(kind: int, value: bytes, flags: int = 0x40) -> bytes:
    """RFC 4271 section 4.3. Of four bytes in front if the flag says that the length has two."""
    return pack(">BBH" if flags & 0x10 else ">BBB", flags, kind, len(value)) + value


def segment(kind: int, *numbers: int) -> bytes:
    return pack(f">BB{len(numbers)}I", kind, len(numbers), *numbers)


USUAL = b"".join(
    (
        attribute(1, b"\x02"),
        attribute(2, segment(2, *PATH), 0x50),
        attribute(3, bytes((192, 0, 2, 1))),
        attribute(4, pack(">I", 50), 0x80),
        attribute(8, pack(">6H", 3356, 5, 65535, 65281, 174, 21_000), 0xC0),
        attribute(32, pack(">3I", 15169, 1, 2), 0xC0),
        attribute(99, bytes(300), 0xD0),
    )
)


def record(kind: int, subtype: int, body: bytes) -> bytes:
    """Section 2."""
    return pack(">IHHI", 1_700_000_000, kind, subtype, len(body)) + body


PEERS = record(13, 1, pack(">IHH", 0, 0, 1) + pack(">BIII", 2, 1, 2, 3356))


def entry(prefix: str, *several: bytes, number: bytes = b"") -> bytes:
    """Section 4.3.2; with the number of a path RFC 8050."""
    network = ip_network(prefix)
    packed = network.network_address.packed[: (network.prefixlen + 7) // 8]
    body = pack(">IB", 7, network.prefixlen) + packed + pack(">H", len(several))
    for said in several:
        body += pack(">HI", 0, 1_700_000_000) + number + pack(">H", len(said)) + said
    return record(13, {4: 2, 6: 4}[network.version] + (6 if number else 0), body)


def written(folder: Path, records: Sequence[bytes], pack_: Callable[[bytes], bytes] = bytes) -> Path:
    path = folder / "table.mrt"
    path.write_bytes(pack_(b"".join(records)))
    return path


GOOD = (
    PEERS,
    entry("8.8.8.0/24", USUAL, attribute(1, b"\0")),
    entry("8.0.0.0/9", USUAL),
    entry(
        "2a00::/12", attribute(2, segment(2, 1) + segment(1, 2, 3) + segment(3, 64512)), number=pack(">I", 9)
    ),
    entry("2a00:1450:4001::/48", USUAL),
)


@pytest.mark.parametrize("pack_", [bytes, gzip.compress, bz2.compress])
def test_first_entry_of_each_prefix_is_read(pack_: Callable[[bytes], bytes], tmp_path: Path) -> None:
    found = read_table(written(tmp_path, GOOD, pack_))
    assert routes_of(found) == {
        "8.8.8.0/24": SAID,
        "8.0.0.0/9": SAID,
        "2a00::/12": Attributes((1, 2, 3)),
        "2a00:1450:4001::/48": SAID,
    }
    assert not found.left_out


def test_file_is_read_once_and_a_damaged_copy_again(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, GOOD)
    first = routes_of(read_table(path))
    with monkeypatch.context() as patch:
        patch.setattr(mrt, "attributes_of", None)
        assert routes_of(read_table(path)) == first
    (kept,) = cache.iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert routes_of(read_table(path)) == first
    path.write_bytes(b"".join(GOOD[:2]))
    assert list(routes_of(read_table(path))) == ["8.8.8.0/24"]


def test_routes_of_no_internet_router_are_left_out_and_counted(tmp_path: Path) -> None:
    others = ("0.0.0.0/0", "10.1.0.0/16", "224.0.0.0/4", "::/0", "fe80::/10", "16.1.0.0/16", "16.2.3.0/24")
    path = written(tmp_path, [*GOOD, *(entry(one, USUAL) for one in others)])
    found = read_table(path, avoid=("16.0.0.0/8",), avoid_as=(2,))
    assert set(routes_of(found)) == {"8.8.8.0/24", "8.0.0.0/9", "2a00:1450:4001::/48"}
    assert found.left_out == {mrt.DEFAULT_ROUTE: 2, mrt.SPECIAL: 3, mrt.OF_LAB: 2, mrt.LOOPED: 1}
    assert read_table(path, has_ipv6=False).left_out[mrt.NO_NEXT_HOP] == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"".join(GOOD)[:-5], "ends within a record, after 3 routes"),
        (b"".join(GOOD[:3]) + b"\0\0\0", "ends within a record, after 2 routes"),
        (gzip.compress(b"".join(GOOD))[:-30], "cannot be unpacked"),
        (gzip.compress(b"".join(GOOD))[:-9] + bytes(9), "cannot be unpacked"),
        (bz2.compress(b"".join(GOOD))[:-9], "cannot be unpacked"),
        (b"8.8.8.0/24 3356 15169\n" * 9, "is no MRT file"),
        (PEERS + record(13, 2, b"\0\0\0\x07\x21" + bytes(9)), "has a damaged record"),
        (PEERS + record(13, 2, GOOD[1][12:30]), "has a damaged record"),
        (PEERS + entry("8.0.0.0/8", USUAL[:-1]), "has a damaged record"),
        (PEERS + b"\xff" * 12, "has a damaged record"),
        (record(16, 4, bytes(30)), "no table"),
        (PEERS, "no table"),
    ],
)
def test_file_that_is_no_whole_table_is_named_with_what_was_read(
    data: bytes, words: str, tmp_path: Path, cache: Path
) -> None:
    with pytest.raises(LabError, match=words) as failed:
        read_table(written(tmp_path, [data]))
    assert failed.value.code == "not-a-table"
    assert not cache.exists()


def test_plan_with_a_damaged_file_has_a_problem_of_its_code(tmp_path: Path) -> None:
    path = written(tmp_path, [b"".join(GOOD)[:-5]])
    with pytest.raises(Problem) as failed:
        behind_ports([Speaker(Bgp(1, 2, table=str(path))), None])
    assert failed.value.code == "not-a-table"


def test_frames_go_to_the_routes_of_a_file(tmp_path: Path) -> None:
    bgp = Bgp(64_500, 64_501, table=str(written(tmp_path, GOOD[:2])), withdraw=1)
    speaker = Speaker(bgp)
    assert behind_ports([speaker, None])[0] == ("8.8.8.0/24",)
    table = table_of(speaker)
    assert table is not None
    assert list(table.withdrawn.texts()) == ["8.8.8.0/24"]
    assert count_announced(bgp) == {4: 1}


@pytest.mark.skipif(BIRD is None, reason="BIRD is not installed")
def test_what_bird_dumps_of_a_table_is_that_table(tmp_path: Path) -> None:
    given = make_table(3_000, 600, 3, 500)
    config = [
        "router id 100.64.0.2;\nprotocol device {}",
        given.write_bird(tmp_path),
        *(
            f'protocol mrt m{version} {{ table "master{version}"; filename "{version}.mrt"; period 1; }}'
            for version in (4, 6)
        ),
    ]
    with bird(tmp_path, "\n".join(config)):
        found: list[Table] = []
        deadline = time.monotonic() + 60
        for version in (4, 6):
            while True:
                assert time.monotonic() < deadline
                try:
                    table = read_table(tmp_path / f"{version}.mrt")
                    if table.count(version) == given.count(version):
                        break
                except LabError:
                    time.sleep(0.2)
            found.append(table)
    read = routes_of(found[0]) | routes_of(found[1])
    # BIRD sorts communities as it sends them.
    wanted = {prefix: _sorted(one) for prefix, one in routes_of(given).items()}
    assert {prefix: _sorted(one) for prefix, one in read.items()} == wanted


def _sorted(one: Attributes) -> Attributes:
    return one._replace(communities=tuple(sorted(one.communities)), large=tuple(sorted(one.large)))
