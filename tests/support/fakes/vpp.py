"""A machine with VPP: a real shell with a `vppctl`, which leaves out the counters that are 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netdyno.devices.stand_ins.chassis import Chassis

from fakes.shell import PROMPT, Box, Session, printer, write
from fakes.stand_in import Opened, StandIn

CONTROL = """\
#!/bin/sh
case "$*" in
"show version") echo "vpp v23.10-release built by root on 94bc7ef2d5b4 at 2023-10-25T10:00:43" ;;
"show interface address") cat {folder}/addresses ;;
"show interface "*)
    file="{folder}/interfaces/$(echo "$3" | tr / _)"
    cat "$file" 2>/dev/null || echo "show interface: unknown input \\`$3'" ;;
*) echo "unknown input \\`$*'" ;;
esac
"""
HEAD = (
    "              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     \n"
)
SHOWN = (("rx packets", "rx"), ("rx bytes", "rx_bytes"), ("tx packets", "tx"), ("tx bytes", "tx_bytes"))
DROPS = (("drops", "in_drops"), ("tx-error", "out_drops"))


def interface(name: str, number: int, counters: list[tuple[str, int]]) -> str:
    """`show interface`, in the columns of VPP: what is 0 is left out."""
    found = f"{name:<33}{number:>2}{'up':>8}{'9000/0/0/0':>20}     "
    rows = [f"{what:<16}{count:>17}" for what, count in counters if count]
    return HEAD + found + f"\n{' ' * 68}".join(rows) + "\n"


def draw(folder: Path, chassis: Chassis) -> None:
    """What `vppctl` prints."""
    for number, name in enumerate(chassis.ports, 1):
        counted = chassis.counted(name)
        assert counted is not None
        counters = [(what, counted[own]) for what, own in (*SHOWN, *DROPS)]
        write(folder / "interfaces" / name.replace("/", "_"), interface(name, number, counters))


@contextmanager
def opens(stand_in: StandIn, folder: Path) -> Iterator[Opened]:
    """Starts it."""
    chassis = stand_in.chassis()
    draw(folder, chassis)
    write(folder / "bin" / "vppctl", CONTROL.format(folder=folder))
    (folder / "bin" / "vppctl").chmod(0o755)
    box = Box(folder)
    yield Opened(chassis, box, lambda: Session(box, chassis, draw), PROMPT, printer(folder))


FAKE = StandIn(
    driver="vpp",
    opens=opens,
    kind="emulated/router",
    ports=("memif0/0", "memif0/1"),
    rate="10Gbps",
    version="23.10-release",
    state="up",
    before={"rx": 0, "tx": 0, "in_drops": 0, "out_drops": 0},
    load="10%",
)
