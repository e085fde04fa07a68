"""Shaping on the way out of the second port: above the load, for what the work costs, or at 100 Mbit/s."""

from __future__ import annotations

from netdyno.devices.linux.features.feature import OUTSIDE, Packet, TcFeature

RATE = "40gbit"
SHAPED = "100mbit"
_ON = f"dev {OUTSIDE}"

FEATURES = (
    TcFeature(
        "shaper",
        "a token bucket (tbf) that the load does not fill",
        commands=(f"qdisc add {_ON} root tbf rate {RATE} burst 2mb latency 50ms",),
    ),
    TcFeature(
        "priority",
        "a hierarchy (htb) with a class of priority, by UDP port",
        commands=(
            f"qdisc add {_ON} root handle 1: htb default 20",
            f"class add {_ON} parent 1: classid 1:1 htb rate {RATE} burst 2mb",
            f"class add {_ON} parent 1:1 classid 1:10 htb rate 1gbit ceil {RATE} prio 0 burst 2mb cburst 2mb",
            f"class add {_ON} parent 1:1 classid 1:20 htb rate 1gbit ceil {RATE} prio 7 burst 2mb cburst 2mb",
            f"qdisc add {_ON} parent 1:10 handle 10: pfifo limit 1000",
            f"qdisc add {_ON} parent 1:20 handle 20: pfifo limit 1000",
            f"filter add {_ON} parent 1: protocol ip prio 1 u32 match ip dport 5060 0xffff flowid 1:10",
        ),
        queues=((Packet(dport=5060), "10:"), (Packet(), "20:")),
    ),
    TcFeature(
        "shaped-100mbit",
        "a token bucket (tbf) of 100 Mbit/s, of frames without FCS",
        commands=(f"qdisc add {_ON} root tbf rate {SHAPED} burst 16kb limit 1500kb",),
    ),
    TcFeature(
        "llq-100mbit",
        "100 Mbit/s (htb) with a class for DSCP EF that goes first",
        commands=(
            f"qdisc add {_ON} root handle 1: htb default 20",
            f"class add {_ON} parent 1: classid 1:1 htb rate {SHAPED} burst 16kb cburst 16kb",
            f"class add {_ON} parent 1:1 classid 1:10 htb rate 20mbit ceil {SHAPED} prio 0",
            f"class add {_ON} parent 1:1 classid 1:20 htb rate 80mbit ceil {SHAPED} prio 7",
            f"qdisc add {_ON} parent 1:10 handle 10: pfifo limit 64",
            f"qdisc add {_ON} parent 1:20 handle 20: pfifo limit 1000",
            f"filter add {_ON} parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10",
        ),
        queues=((Packet(tos=0xB8), "10:"), (Packet(), "20:")),
    ),
    TcFeature(
        "fair-queue-100mbit",
        "100 Mbit/s (tbf) with a queue for each flow and control of delay (fq_codel)",
        # A cable between namespaces takes every packet at once: without a rate above it, nothing would queue.
        commands=(
            f"qdisc add {_ON} root handle 1: tbf rate {SHAPED} burst 16kb limit 1500kb",
            f"qdisc add {_ON} parent 1:1 handle 10: fq_codel",
        ),
        queues=((Packet(), "10:"),),
    ),
)
