"""A Linux router: a real shell, whose kernel's counters are those of an emulated device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netdyno.devices.stand_ins.chassis import Chassis

from fakes.shell import PROMPT, Session, box_in, printer, write
from fakes.stand_in import Opened, StandIn

OTHERS = (
    *("collisions", "multicast", "rx_compressed", "rx_crc_errors", "rx_errors", "rx_fifo_errors"),
    *("rx_frame_errors", "rx_length_errors", "rx_missed_errors", "rx_nohandler", "rx_over_errors"),
    *("tx_aborted_errors", "tx_carrier_errors", "tx_compressed", "tx_errors", "tx_fifo_errors"),
    *("tx_heartbeat_errors", "tx_window_errors"),
)
"""Files of `/sys/class/net/*/statistics` that stay at 0."""
MOVED = {
    "rx_packets": "rx",
    "rx_bytes": "rx_bytes",
    "rx_dropped": "in_drops",
    "tx_packets": "tx",
    "tx_bytes": "tx_bytes",
    "tx_dropped": "out_drops",
}
STAT = """\
cpu  40211 12 9120 {idle} 331 0 {softirq} 811 0 0
cpu0 20100 6 4560 {idle} 160 0 {softirq} 400 0 0
intr 9012311 0 9 0 0
ctxt 15092123
btime 1655892672
processes 31211
softirq 8127211 0 811222 12 2100211
"""


def draw(folder: Path, chassis: Chassis) -> None:
    """The kernel's files, as a machine of one core has them."""
    frames = 0
    for name in chassis.ports:
        counted = chassis.counted(name)
        assert counted is not None
        port = folder / "net" / name
        for file, what in MOVED.items():
            write(port / "statistics" / file, f"{counted[what]}\n")
        for file in OTHERS:
            write(port / "statistics" / file, "0\n")
        write(port / "operstate", "up\n")
        frames += counted["rx"]
    write(folder / "stat", STAT.format(idle=900_000 + chassis.instants, softirq=1_000 + frames // 1_000))


@contextmanager
def opens(stand_in: StandIn, folder: Path) -> Iterator[Opened]:
    """Starts it."""
    chassis = stand_in.chassis()
    draw(folder, chassis)
    with box_in(folder, stand_in.ports) as box:
        said = box.do(
            f"mount --bind {folder}/net /sys/class/net && mount --bind {folder}/stat /proc/stat;"
            " ip address add 192.0.2.9/24 dev lo; ip route add 203.0.113.0/24 dev lo"
        )
        assert not said, said
        yield Opened(chassis, box, lambda: Session(box, chassis, draw), PROMPT, printer(folder))


FAKE = StandIn(
    driver="linux",
    opens=opens,
    kind="emulated/router",
    ports=("d0", "d1"),
    rate="10Gbps",
    version="Linux",
    state="up",
    template="router",
    before={"rx": 2449, "tx": 2449, "in_drops": 3, "out_drops": 1},
    load="10%",
)
