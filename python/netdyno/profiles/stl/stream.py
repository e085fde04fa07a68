"""Streams, their modes and captures as T-Rex's library has them, and the JSON of each."""

from __future__ import annotations

import base64
import os
import struct
import sys
from collections.abc import Iterator
from typing import Any

from netdyno.profiles.stl.packet import Packet, Refused
from netdyno.profiles.stl.program import STLError, instructions, parsed

STLStreamDstMAC_CFG_FILE, STLStreamDstMAC_PKT, STLStreamDstMAC_ARP = 0, 1, 2
RATES = {"pps": "pps", "bps_L1": "bps_L1", "bps_L2": "bps_L2", "percentage": "percentage"}


class Mode:
    """How the frames of a stream are placed in time."""

    def __init__(self, kind: str, rates: dict[str, Any], **more: Any) -> None:
        given = {name: value for name, value in rates.items() if value is not None}
        for name in given:
            if name not in RATES:
                raise Refused(name)
        if len(given) > 1:
            raise STLError(f"a mode with {' and '.join(given)}: one rate")
        name, value = next(iter(given.items()), ("pps", 1))
        if name == "percentage" and not 0 < value <= 100:
            raise STLError(f"percentage={value}: above 0, 100 at most")
        self.json = {"type": kind, "rate": {"type": name, "value": value}, **more}


def STLTXCont(**rates: Any) -> Mode:  # noqa: N802
    """For ever."""
    return Mode("continuous", rates)


def STLTXSingleBurst(total_pkts: int = 1, **rates: Any) -> Mode:  # noqa: N802
    """So many frames."""
    return Mode("single_burst", rates, total_pkts=total_pkts)


def STLTXMultiBurst(  # noqa: N802
    pkts_per_burst: int = 1, ibg: float = 0.0, count: int = 1, **rates: Any
) -> Mode:
    """Bursts with a gap, us, between them."""
    return Mode("multi_burst", rates, pkts_per_burst=pkts_per_burst, ibg=ibg, count=count)


def STLFlowStats(pg_id: int, **_: Any) -> dict[str, Any]:  # noqa: N802
    """Counts of a stream."""
    return {"enabled": True, "stream_id": pg_id, "rule_type": "stats"}


def STLFlowLatencyStats(pg_id: int, **_: Any) -> dict[str, Any]:  # noqa: N802
    """Latency of a stream."""
    return {"enabled": True, "stream_id": pg_id, "rule_type": "latency"}


class STLPktBuilder:
    """A template and its program."""

    def __init__(
        self,
        pkt: Any = None,
        pkt_buffer: Any = None,
        vm: Any = None,
        path_relative_to_profile: bool = False,
        build_raw: bool = False,
        remove_fcs: bool = True,
    ) -> None:
        self.vm, self.packet = vm, pkt if isinstance(pkt, Packet) else None
        self.raw = pkt_buffer
        if isinstance(pkt, str):
            folder = os.path.dirname(sys._getframe(1).f_code.co_filename) if path_relative_to_profile else ""
            self.raw = next(read_pcap(os.path.join(folder, pkt)))[1]
        elif pkt is not None and self.packet is None:
            raise STLError(f"pkt is a packet or the name of a capture, not {type(pkt).__name__}")
        self.remove_fcs = remove_fcs

    def json(self) -> tuple[bytes, dict[str, Any]]:
        """The frame without FCS, and the instructions."""
        packet = self.packet
        if packet is None and self.raw is not None:
            packet = parsed(self.raw, self.vm)
            last = None if packet is None else packet.lastlayer()
            if packet is not None and last is not None and last.name == "Padding" and self.remove_fcs:
                list(packet.layers())[-2].remove_payload()
        return self.raw if packet is None else packet.build(), instructions(self.vm, packet)


class STLStream:
    """A stream."""

    def __init__(
        self,
        name: Any = None,
        packet: Any = None,
        mode: Mode | None = None,
        enabled: bool = True,
        self_start: bool = True,
        isg: float = 0.0,
        flow_stats: Any = None,
        next: Any = None,
        stream_id: Any = None,
        action_count: int = 0,
        random_seed: int = 0,
        mac_src_override_by_pkt: Any = None,
        mac_dst_override_mode: Any = None,
        dummy_stream: bool = False,
        start_paused: bool = False,
        core_id: int = -1,
    ) -> None:
        from netdyno.profiles.stl.layers import IP, Ether

        mode = mode or STLTXCont()
        if next is not None and mode.json["type"] == "continuous":
            raise STLError("a continuous stream has no next one")
        builder = packet or STLPktBuilder(pkt=Ether() / IP())
        if not isinstance(builder, STLPktBuilder):
            raise STLError(f"packet is an STLPktBuilder, not {type(builder).__name__}")
        first = builder.packet
        given = first.fields if isinstance(first, Ether) and not first.is_read else {}
        source = "src" in given if mac_src_override_by_pkt is None else bool(mac_src_override_by_pkt)
        target = "dst" in given if mac_dst_override_mode is None else int(mac_dst_override_mode)
        frame, program = builder.json()
        self.name, self.next = name, next
        caller = sys._getframe(1)
        while caller.f_code.co_filename == __file__ and caller.f_back is not None:
            caller = caller.f_back
        self.json: dict[str, Any] = {
            "enabled": enabled,
            "self_start": self_start,
            "start_paused": start_paused,
            "isg": isg,
            "flags": int(source) | int(target) << 1 | int(dummy_stream) << 3,
            "action_count": action_count,
            "core_id": core_id,
            "mode": mode.json,
            "packet": {"binary": base64.b64encode(frame).decode(), "meta": ""},
            "vm": program,
            "flow_stats": flow_stats or {"enabled": False},
            "line": caller.f_lineno if caller.f_code.co_filename == sys.argv[0] else 0,
            **({"random_seed": random_seed} if random_seed else {}),
            **({} if name is None else {"name": name}),
            **({} if next is None else {"next": next}),
        }


class STLProfile:
    """Several streams."""

    def __init__(self, streams: Any = None) -> None:
        self.streams = [streams] if isinstance(streams, STLStream) else list(streams or ())

    def get_streams(self) -> list[STLStream]:
        """They."""
        return self.streams

    @staticmethod
    def load_pcap(
        pcap_file: str,
        ipg_usec: float | None = None,
        speedup: float = 1.0,
        loop_count: int = 1,
        vm: Any = None,
        packet_hook: Any = None,
        split_mode: Any = None,
        min_ipg_usec: float | None = None,
        src_mac_pcap: bool = False,
        dst_mac_pcap: bool = False,
    ) -> STLProfile:
        """A stream for each packet of a capture, one after the other."""
        if split_mode is not None:
            raise Refused("split_mode")
        if packet_hook is not None:
            raise Refused("packet_hook")
        found: list[STLStream] = []
        packets = list(read_pcap(pcap_file))
        before = packets[0][0] if packets else 0.0
        for number, (at, frame) in enumerate(packets, 1):
            gap = (at - before) * 1e6 / speedup if ipg_usec is None else ipg_usec / speedup
            before, is_last = at, number == len(packets)
            found.append(
                STLStream(
                    name=number,
                    packet=STLPktBuilder(pkt_buffer=frame, vm=vm),
                    mode=STLTXSingleBurst(total_pkts=1, percentage=100),
                    self_start=number == 1,
                    isg=max(gap, min_ipg_usec or 0.0),
                    action_count=loop_count if is_last else 0,
                    next=(1 if loop_count != 1 else None) if is_last else number + 1,
                    mac_src_override_by_pkt=src_mac_pcap,
                    mac_dst_override_mode=int(dst_mac_pcap),
                )
            )
        return STLProfile(found)


def read_pcap(path: str) -> Iterator[tuple[float, bytes]]:
    """The frames of a capture, each with its time, s."""
    with open(path, "rb") as file:
        head = file.read(24)
        orders = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}
        order = next((one for one in "<>" if struct.unpack(one + "I", head[:4].ljust(4))[0] in orders), None)
        if order is None:
            raise STLError(f"{path} is no pcap file")
        unit = orders[struct.unpack(order + "I", head[:4])[0]]
        while len(entry := file.read(16)) == 16:
            seconds, part, length, _ = struct.unpack(order + "IIII", entry)
            yield seconds + part * unit, file.read(min(length, 1 << 18))
