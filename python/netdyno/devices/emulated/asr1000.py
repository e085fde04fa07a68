"""A Cisco ASR1000 with an ESP20 after a published latency test of it ("Cisco ASR 1000 Series: latency").

The article's Table 11 (tests/data/article-asr1000-table11.csv): latency of 256 and 1518 bytes both ways
over two 10GE ports at 90 to 100 % of the line, 300 s each, without loss. Its average is flat up to 99 % and,
at 256 bytes, rises by a millisecond at 100 %. What makes it so is not in the article. Here it is an engine
that works in batches: it serves few frames slowly and, when it is behind, more of them at a time, so at 100 %
a queue stands in front of it that neither grows nor shrinks. With 1518 bytes it has a sixth of the frames and
never is behind.

That table is of a WAN aggregation with all services. The article's text has three more latencies, at the
throughput of RFC 2544 and of services as a whole: `service` takes them, and nothing of a single service.
"""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices import addresses, routes
from netdyno.devices.emulated.model import Emulated, Model, fps
from netdyno.devices.reasons import PublishedLatency, PublishedLatencyAtThroughput
from netdyno.devices.wiring import LabLink
from netdyno.values.load import NO_SERVICE, SERVICE_SETTING
from netdyno.values.reason import Reason

# Geometric means of the averages at 90 to 99 %: 256 B 50.248 and 73.196 us, 1518 B 99.23 and 114.08 us. Less
# both lines (a frame, preamble and SFD, twice) 60.23 and 103.95 us are left: 51.36 us and 34.64 ns a byte.
DELAY_NS = 51_360
DELAY_PER_BYTE_PS = 34_640
# Between the row of 99 %, which ran at 8,951,366 frames a second, and that of 100 %, at 9,057,971.
FEW_FPS = 8_970_000
# What stands in the queue at 100 %: 1,179.081 us on average, less the flat latency.
BEHIND_NS = 1_118_000
# "The ASR1000-ESP20 can forward at the full 10Gbps bidirectional rate for packets greater than 200 bytes":
# 2 x 10^10 / (220 x 8).
MANY_FPS = 11_363_636
# The longest latency at 100 %, 2,846.29 us, less the flat one, at that rate.
QUEUE = 31_600
# "20-Gbps Embedded Services Processor". That of frames, FCS counted, for both ports pass their lines' rate.
SYSTEM_BPS = 20_000_000_000
# "In all cases the priority traffic incurred latency in the order of 30 ~ 50usec, while default traffic was
# either buffered or tail dropped": a low-latency queue by DSCP 46 in front of each line and of each shaper,
# shallow. What routers tell each other (DSCP 48) is in it as well; without it they wait with all else.
URGENT = {"dscp": [46, 48], "queue": 64}
LLQ = (
    {"name": "priority", "priority": 0, **URGENT},
    {"name": "default", "priority": 1, "queue": 1024},
)
# "20-30 microseconds without services": the least of it, for the time of a frame on both lines comes on top.
# "Adding all of the services ... incurs only a 10usec delay"; "when utilizing a hierachical QoS policy and
# shaping the latency increases by around 200usecs at NDR", against the same services with a normal policy.
AT_THROUGHPUT_NS = {NO_SERVICE: 20_000, "all": 30_000, "all-shaped": 230_000}
# "The latency at NDR is around 100usecs higher for the ASR1000-ESP20 at NDR for 10Gbps testing."
OF_10GE_NS, TEN_GE_BPS = 100_000, 10_000_000_000
WAN_AGGREGATION = "wan-aggregation"
# Not published; a rehearsal should not take minutes.
RESET_NS = 500_000_000


def _model(links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    llq, service = chosen["qos"] == "llq", chosen[SERVICE_SETTING]
    device = {
        "box_bits": {"rate_bps": SYSTEM_BPS, "layer": "l2"},
        "box_queue": QUEUE,
        "reset_ns": RESET_NS,
    }
    note: Reason = PublishedLatency()
    if service == WAN_AGGREGATION:
        device |= {
            "delay_ns": DELAY_NS,
            "delay_per_byte_ps": DELAY_PER_BYTE_PS,
            "box_fps": fps(FEW_FPS),
            "box_haste": {"behind_ns": BEHIND_NS, "fps": fps(MANY_FPS)},
        }
    else:
        is_10ge = all(link.rate_bps >= TEN_GE_BPS for link in links)
        delay_ns = AT_THROUGHPUT_NS[service] + OF_10GE_NS * is_10ge
        device |= {"delay_ns": delay_ns, "box_fps": fps(MANY_FPS)}
        note = PublishedLatencyAtThroughput(delay_ns)
    return Model(
        "ipv4",
        ports=({"classes": list(LLQ) if llq else []},) * len(links),
        device=device,
        notes=(note,),
        vlan={"priority": URGENT} if llq else {},
    )


KIND = Emulated(
    "emulated/asr1000-esp20",
    "emulated Cisco ASR1000 ESP20",
    _model,
    settings={
        "qos": ("none", "llq"),
        SERVICE_SETTING: (WAN_AGGREGATION, *AT_THROUGHPUT_NS),
        routes.SETTING: (),
    },
    links=range(1, addresses.MOST_PORTS + 1),
)
