"""What `ip` and `sysctl` print, as the commands that would make it so: exact, or an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

from netdyno.devices.hiding import hide_secrets
from netdyno.devices.wiring import LabError

END = "netdyno-end"
RUNNING = (
    "ip -json -details link show; ip -json -details address show; "
    "ip -4 -oneline -details route show table all; echo netdyno-ipv6; "
    "ip -6 -oneline -details route show table all; "
    "sysctl net.ipv4.ip_forward net.ipv4.conf.all.accept_redirects net.ipv6.conf.all.forwarding; "
    "grep -H . /proc/sys/net/ipv[46]/conf/*/forwarding; echo netdyno'-end'"
)
"""The command whose output `read_commands` reads; the mark at its end is not in its echo."""

_TYPES = "unicast|local|broadcast|multicast|throw|unreachable|prohibit|blackhole|nat|anycast"
_OWN_ROUTE = re.compile(r" proto (?:static|boot)\b")
"""Others are the kernel's and those of daemons, who enter and remove them by themselves."""
_STATE = re.compile(
    r" (?:linkdown|dead|offload|rt_offload|offload_failed|rt_offload_failed|trap|rt_trap|unresolved|pervasive"
    r"|notify|cache|error -?\d+|table main)(?= |$)"
)
"""Words of a route that are no part of it, or the default."""
_FORWARDING = re.compile(r"/proc/sys/(net/ipv[46]/conf/[^/\s:]+/forwarding):([01])")
_SYSCTL = re.compile(r"(net\.\S+) = (\S+)")
_FLAGS = ("noprefixroute", "nodad", "mngtmpaddr", "home", "autojoin")


def read_commands(printed: str) -> list[str]:
    """The commands, in the order of what is printed. Raises LabError `not-understood`."""
    lines = [line.rstrip() for line in printed.replace("\r", "").split("\n") if line.strip()]
    if not lines or lines[-1] != END:
        raise _wrong(lines[-1] if lines else "", "is the last line: the answer was cut short")
    tables = [line for line in lines if line.startswith("[{") and line.endswith("]")]
    if len(tables) != 2 or len(printed) < 2:
        raise _wrong(lines[0], "is no table in JSON: iproute2 4.16 or newer prints it")
    try:
        links, addresses = (json.loads(one) for one in tables)
        found = [*_links(links), *_addresses(addresses)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _wrong(lines[0], "is no table of interfaces or addresses") from error
    rest = lines[lines.index(tables[1]) + 1 : -1]
    family = "ip"
    for line in rest:
        if line == "netdyno-ipv6":
            family = "ip -6"
        elif known := _SYSCTL.fullmatch(line):
            found.append(f"sysctl -w {known[1]}={known[2]}")
        elif known := _FORWARDING.fullmatch(line):
            # `all` is what the other two set, and stands for each interface.
            if not known[1].endswith("/all/forwarding"):
                found.append(f"sysctl -w {known[1]}={known[2]}")
        elif re.match(rf"(?:{_TYPES}) \S", line):
            if _OWN_ROUTE.search(line) and " expires " not in line:
                found.append(f"{family} route add {_route(line)}")
        else:
            raise _wrong(line, "is neither a route nor a setting")
    if family == "ip" or not any(one.startswith("sysctl -w net.ipv4.ip_forward=") for one in found):
        raise _wrong(rest[-1] if rest else "", "is no setting: a part of the answer is missing")
    return found


def _links(links: list[Any]) -> Iterator[str]:
    for one in links:
        name = _name(one["ifname"])
        yield f"ip link set dev {name} mtu {int(one['mtu'])}"
        yield f"ip link set dev {name} {'up' if 'UP' in one['flags'] else 'down'}"


def _addresses(links: list[Any]) -> Iterator[str]:
    for link in links:
        name = _name(link["ifname"])
        for one in link["addr_info"]:
            local = ip_address(one["local"])
            # A lease comes and goes by itself; so does a link-local address that the kernel gives.
            if one.get("dynamic") or (local.version == 6 and local.is_link_local and _is_given(one, link)):
                continue
            peer = f" peer {ip_address(one['address'])}" if "address" in one else ""
            words = [f"ip address add {local}{peer}/{int(one['prefixlen'])} dev {name}"]
            if "broadcast" in one:
                words.append(f"broadcast {ip_address(one['broadcast'])}")
            if one.get("label", name) != name:
                words.append(f"label {_name(one['label'])}")
            if local.version == 4 and one["scope"] != ("host" if local.is_loopback else "global"):
                words.append(f"scope {_name(one['scope'])}")
            if "metric" in one:
                words.append(f"metric {int(one['metric'])}")
            words += [flag for flag in _FLAGS if one.get(flag)]
            if one.get("deprecated"):
                words.append("preferred_lft 0")
            yield " ".join(words)


def _is_given(one: Any, link: Any) -> bool:
    if one.get("protocol") == "kernel_ll" or one.get("stable-privacy"):
        return True
    octets = bytes.fromhex(str(link.get("address", "")).replace(":", "") or "00")
    by_mac = bytes([octets[0] ^ 2, *octets[1:3], 0xFF, 0xFE, *octets[3:]])
    return len(octets) == 6 and ip_address(one["local"]).packed[8:] == by_mac


def _route(line: str) -> str:
    plain = " ".join(line.replace("\\", " ").split())
    return _STATE.sub("", plain).removeprefix("unicast ")


def _name(name: str) -> str:
    """A name that is safe in a command. Raises ValueError."""
    if not re.fullmatch(r"[\w.:@-]{1,64}", name, re.ASCII):
        raise ValueError(name)
    return name


def _wrong(line: str, why: str) -> LabError:
    shown = hide_secrets(line)[:60].encode("unicode_escape").decode("ascii")
    return LabError(
        f"`ip` and `sysctl` printed no whole configuration: `{shown}` {why}.",
        "enter the commands by hand: another version of `ip`, or a lost session, prints less",
        code="not-understood",
    )
