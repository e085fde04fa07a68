"""Where a card sits: its place on PCI Express and in the machine.

/sys/bus is the same in every network namespace.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_PCI = Path("/sys/bus/pci/devices")
_LANE_GBPS = {2.5: 2.0, 5.0: 4.0, 8.0: 7.877, 16.0: 15.754, 32.0: 31.508}
"""By GT/s of a lane, what is left for data, Gbit/s: 8b/10b up to 5 GT/s, 128b/130b above."""


@dataclass(frozen=True)
class Slot:
    """A card's place on PCI Express. numa: of the memory it is near to, None: the machine has one.

    speed, most_speed: transfers a second of a lane, GT/s; lanes, most_lanes: how many. None: not told.
    """

    numa: int | None
    speed: float | None
    lanes: int | None
    most_speed: float | None
    most_lanes: int | None

    @property
    def data_bps(self) -> int | None:
        """What the slot carries each way before PCIe's packet headers, bit/s; None: not known."""
        if self.speed not in _LANE_GBPS or not self.lanes:
            return None
        return int(_LANE_GBPS[self.speed] * self.lanes * 1e9)


def slot(bus: str, root: Path = _PCI) -> Slot | None:
    """The slot of a card by its bus address (`0000:03:00.0`); None: it sits in none."""
    folder = root / bus
    if "/" in bus or not bus or not (folder / "numa_node").exists():
        return None
    node = _read(folder / "numa_node")
    return Slot(
        numa=int(node) if node is not None and node.isdecimal() else None,
        speed=_transfers(folder / "current_link_speed"),
        lanes=_lanes(folder / "current_link_width"),
        most_speed=_transfers(folder / "max_link_speed"),
        most_lanes=_lanes(folder / "max_link_width"),
    )


def _transfers(file: Path) -> float | None:
    """`8.0 GT/s PCIe`; `Unknown` for a card of a virtual machine."""
    said = (_read(file) or "").split()
    return float(said[0]) if len(said) >= 2 and said[1] == "GT/s" else None


def _lanes(file: Path) -> int | None:
    said = _read(file)
    # 255 stands for unknown.
    return int(said) if said is not None and said.isdecimal() and 0 < int(said) < 255 else None


def _read(file: Path) -> str | None:
    try:
        return file.read_text().strip()
    except OSError:
        return None
