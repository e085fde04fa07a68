"""Objects that are read by SNMP: their OIDs, units and widths.

IF-MIB (RFC 2863), EtherLike-MIB (RFC 3635), ENTITY-MIB (RFC 6933), ENTITY-SENSOR-MIB (RFC 3433),
HOST-RESOURCES-MIB (RFC 2790), SNMPv2-MIB (RFC 3418). Those of vendors are in `snmp_vendors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netdyno.devices.live import Channel
from netdyno.values.counter import DISCONTINUITY, TICK_DIGITS

SYS_DESCR = "1.3.6.1.2.1.1.1.0"
SYS_UPTIME = "1.3.6.1.2.1.1.3.0"
IF, IFX = "1.3.6.1.2.1.2.2.1", "1.3.6.1.2.1.31.1.1.1"
IF_DESCR, IF_NAME = f"{IF}.2", f"{IFX}.1"
PAUSES = "1.3.6.1.2.1.10.7.10.1"
SENSOR = "1.3.6.1.2.1.99.1.1.1"
"""Its columns 1 to 5 are type, scale, precision, value and state."""
PHYSICAL_DESCR, PHYSICAL_PARENT, PHYSICAL_CLASS, PHYSICAL_NAME = (
    f"1.3.6.1.2.1.47.1.1.1.1.{column}" for column in (2, 4, 5, 7)
)
PORT_CLASS = 10
"""Of an entity that is a port; a transceiver is in one, or is one."""
PROCESSOR_LOAD = "1.3.6.1.2.1.25.3.3.1.2"
PROCESSOR_WINDOW_NS = 60 * 10**9
"""hrProcessorLoad is the mean over the last minute (RFC 2790)."""
STORAGE_TYPE, STORAGE_UNIT, STORAGE_SIZE, STORAGE_USED = (
    f"1.3.6.1.2.1.25.2.3.1.{column}" for column in (2, 4, 5, 6)
)
STORAGE_RAM = "1.3.6.1.2.1.25.2.1.2"


@dataclass(frozen=True)
class Object:
    """A column of a table of interfaces. limit: values are below it. scale: digits behind the point."""

    name: str
    column: str
    unit: str
    limit: int
    scale: int = 0
    is_counter: bool = False
    counts_traffic: bool = False

    def channel(self, subject: str) -> Channel:
        """Its channel, of one interface."""
        bits = self.limit.bit_length() - 1 if self.is_counter else None
        return Channel(subject, self.name, self.unit, self.scale, self.is_counter, self.counts_traffic, bits)


def _wide(name: str, number: int, unit: str, narrow: tuple[str, str]) -> tuple[Object, Object]:
    """A counter of 64 bits and the one of 32 bits that stands for it where there is none."""
    one = Object(name, f"{IFX}.{number}", unit, 2**64, 0, True, True)
    return one, Object(narrow[0], narrow[1], unit, 2**32, 0, True, True)


WIDE = (
    _wide("ifHCInOctets", 6, "B", ("ifInOctets", f"{IF}.10")),
    _wide("ifHCInUcastPkts", 7, "packets", ("ifInUcastPkts", f"{IF}.11")),
    _wide("ifHCInMulticastPkts", 8, "packets", ("ifInMulticastPkts", f"{IFX}.2")),
    _wide("ifHCInBroadcastPkts", 9, "packets", ("ifInBroadcastPkts", f"{IFX}.3")),
    _wide("ifHCOutOctets", 10, "B", ("ifOutOctets", f"{IF}.16")),
    _wide("ifHCOutUcastPkts", 11, "packets", ("ifOutUcastPkts", f"{IF}.17")),
    _wide("ifHCOutMulticastPkts", 12, "packets", ("ifOutMulticastPkts", f"{IFX}.4")),
    _wide("ifHCOutBroadcastPkts", 13, "packets", ("ifOutBroadcastPkts", f"{IFX}.5")),
    *(
        (
            Object(f"dot3HC{way}PauseFrames", f"{PAUSES}.{wide}", "packets", 2**64, is_counter=True),
            Object(f"dot3{way}PauseFrames", f"{PAUSES}.{wide - 2}", "packets", 2**32, is_counter=True),
        )
        for way, wide in (("In", 5), ("Out", 6))
    ),
)
NARROW = (
    *(
        Object(name, f"{IF}.{number}", "packets", 2**32, is_counter=True)
        for name, number in (
            ("ifInDiscards", 13), ("ifInErrors", 14), ("ifOutDiscards", 19), ("ifOutErrors", 20)
        )
    ),
    Object("ifOperStatus", f"{IF}.8", "state", 8),
    Object("ifHighSpeed", f"{IFX}.15", "Mbit/s", 2**32),
    Object(DISCONTINUITY, f"{IFX}.19", "s", 2**32, scale=TICK_DIGITS),
)  # fmt: skip

SENSORS: Mapping[int, tuple[str, str]] = {
    3: ("voltage", "V"),
    4: ("voltage", "V"),
    5: ("current", "A"),
    6: ("power", "W"),
    8: ("temperature", "C"),
    10: ("fan", "rpm"),
    14: ("optical power", "dBm"),
}
"""Types of sensors that are read (EntitySensorDataType): name and unit."""
OK = 1
OVERFLOW = 10**9
"""A sensor's value of this size, or of minus it, stands for one outside of its range (RFC 3433)."""
