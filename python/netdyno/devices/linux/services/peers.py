"""A routing daemon of a Linux router, whose neighbours are the tester's speakers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from netdyno.devices import addresses
from netdyno.devices.bgp_password import read_password
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.bird import IS_UP, OF_PROTOCOLS, run_bird
from netdyno.devices.linux.frr import run_frr
from netdyno.devices.linux.services.service import Installed, Lab
from netdyno.devices.peering import Ospf, Speaker
from netdyno.devices.wiring import WiredPort

# Its kernel is read once: what changes there it changed itself, and to read a full table takes half a minute.
_COMMON = """log stderr {{ info, warning, error, fatal, bug, remote, auth }};
router id {own};
protocol device {{ scan time 1; }}
protocol direct {{ ipv4; ipv6; check link; interface {names}; }}
protocol kernel {{ scan time 3600; ipv4 {{ import none; export {exported}; }}; }}
protocol kernel {{ scan time 3600; ipv6 {{ import none; export {exported}; }}; }}
"""


def install(lab: Lab, name: str) -> AbstractContextManager[Installed]:
    """The daemon of this name, once it runs: its neighbours come later. Raises LabError."""
    return _DAEMONS[name](lab)


@contextmanager
def _bird(lab: Lab) -> Iterator[Installed]:
    ipv6 = _give_ipv6(lab)
    with run_bird(lab.device, configure_bird(lab), IS_UP) as daemon:
        yield Installed((daemon,), of_links=ipv6)


@contextmanager
def _frr(lab: Lab) -> Iterator[Installed]:
    ipv6 = _give_ipv6(lab)
    with run_frr(lab.device, configure_frr(lab)) as daemons:
        yield Installed(daemons, of_links=ipv6)


_DAEMONS = {"bird": _bird, "frr": _frr}


def speakers(lab: Lab) -> list[tuple[int, WiredPort, Speaker]]:
    """The ports at which the tester speaks, with their numbers."""
    return [(number, port, port.speaker) for number, port in enumerate(lab.wiring.ports) if port.speaker]


def _give_ipv6(lab: Lab) -> tuple[str, ...]:
    """IPv6 for all ports where a speaker has it: address, the tester as a neighbour, networks behind it.

    The commands that give it to each port again; none: no speaker has IPv6.
    """
    if not any(speaker.has_ipv6 for _, _, speaker in speakers(lab)):
        return ()
    # The kernel had it switched off.
    for scope in ("all", *lab.ports):
        lab.device.do(f"echo 0 > /proc/sys/net/ipv6/conf/{scope}/disable_ipv6")
    lab.device.do("echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
    found = []
    for number, name in enumerate(lab.ports):
        tester = addresses.tester_ipv6(number)
        commands = [
            f"address replace {addresses.device_ipv6(number)}/64 dev {name} nodad",
            f"neighbour replace {tester} lladdr {lab.wiring.ports[number].mac} dev {name} nud permanent",
            *(
                f"route replace {network} via {tester}"
                for network in addresses.behind_ipv6(number, len(lab.ports))
            ),
        ]
        found.append(" && ".join(f"ip {command}" for command in commands))
        lab.device.do(found[-1])
    return tuple(found)


def configure_bird(lab: Lab) -> str:
    """The configuration of the device's BIRD."""
    found = speakers(lab)
    names = ", ".join(f'"{name}"' for name in lab.ports)
    text = _COMMON.format(own=addresses.device(0), names=names, exported=OF_PROTOCOLS)
    for version in (2, 3):
        text += _ospf(version, found)
    for number, port, speaker in found:
        text += "".join(
            _session(number, port, speaker, one) for one in enumerate(speaker.sessions(number), 1)
        )
    return text


def _ospf(version: int, found: list[tuple[int, WiredPort, Speaker]]) -> str:
    areas: dict[str, list[str]] = {}
    for number, _, speaker in found:
        ospf: Ospf | None = speaker.ospf if version == 2 else speaker.ospf3
        if ospf is not None:
            areas.setdefault(ospf.area, []).append(
                f'interface "{dut.PORTS[number]}" {{ type ptp; hello {ospf.hello_s}; dead {ospf.dead_s};'
                " check link; };"
            )
    if not areas:
        return ""
    channel = "ipv4" if version == 2 else "ipv6"
    inside = "\n".join(f"  area {area} {{ {' '.join(lines)} }};" for area, lines in areas.items())
    return f"protocol ospf v{version} {{ {channel} {{ import all; export none; }};\n{inside}\n}}\n"


def _session(number: int, port: WiredPort, speaker: Speaker, session: tuple[int, str]) -> str:
    bgp = speaker.bgp
    assert bgp is not None
    place, address = session
    password = read_password(port.name, bgp)
    is_direct = address == speaker.address
    family = "import all; export none; gateway recursive;"
    return (
        f"protocol bgp {dut.PORTS[number]}_{place} {{\n"
        f"  local {addresses.device(number)} as {bgp.peer_as}; neighbor {address} as {bgp.own_as};\n"
        f"  {'direct; check link' if is_direct else 'multihop'}; connect delay time 1; connect retry time 2;"
        f" error wait time 1, 2;\n"
        f"  graceful restart {'on' if bgp.restarts else 'off'};\n"
        + (f'  password "{password}";\n' if password else "")
        + f"  ipv4 {{ {family} }};\n"
        + (f"  ipv6 {{ {family} }};\n" if bgp.has_ipv6 else "")
        + "}\n"
    )


def configure_frr(lab: Lab) -> Mapping[str, str]:
    """The configuration of each of the device's FRR daemons, by name."""
    found = speakers(lab)
    own = addresses.device(0)
    texts = {"zebra": ""}
    for version, name in ((2, "ospfd"), (3, "ospf6d")):
        lines = "".join(_ospf_of_frr(number, speaker, version) for number, _, speaker in found)
        if lines:
            router = "ospf" if version == 2 else "ospf6"
            texts[name] = f"{lines}router {router}\n ospf{'' if version == 2 else '6'} router-id {own}\n"
    sessions = [
        (number, port, speaker, address)
        for number, port, speaker in found
        for address in speaker.sessions(number)
    ]
    if sessions:
        bgp = sessions[0][2].bgp
        assert bgp is not None
        said = [f"router bgp {bgp.peer_as}", f" bgp router-id {own}", " no bgp ebgp-requires-policy"]
        said += [" no bgp default ipv4-unicast", " no bgp network import-check"]
        of_version: dict[int, list[str]] = {4: [], 6: []}
        for number, port, speaker, address in sessions:
            said += _session_of_frr(number, port, speaker, address)
            of_version[4].append(address)
            if speaker.bgp is not None and speaker.bgp.has_ipv6:
                of_version[6].append(address)
        for version, peers in of_version.items():
            if peers:
                activated = [f"  neighbor {one} activate" for one in peers]
                said += [f" address-family ipv{version} unicast", *activated, " exit-address-family"]
        texts["bgpd"] = "\n".join(said) + "\n"
    return texts


def _ospf_of_frr(number: int, speaker: Speaker, version: int) -> str:
    ospf = speaker.ospf if version == 2 else speaker.ospf3
    if ospf is None:
        return ""
    name = "ip ospf" if version == 2 else "ipv6 ospf6"
    return (
        f"interface {dut.PORTS[number]}\n {name} area {ospf.area}\n {name} network point-to-point\n"
        f" {name} hello-interval {ospf.hello_s}\n {name} dead-interval {ospf.dead_s}\n"
    )


def _session_of_frr(number: int, port: WiredPort, speaker: Speaker, address: str) -> Iterator[str]:
    bgp = speaker.bgp
    assert bgp is not None
    yield f" neighbor {address} remote-as {bgp.own_as}"
    yield f" neighbor {address} timers connect 1"
    if address != speaker.address:
        yield f" neighbor {address} update-source {addresses.device(number)}"
        if not bgp.is_internal:
            yield f" neighbor {address} ebgp-multihop 8"
    password = read_password(port.name, bgp)
    if password:
        yield f" neighbor {address} password {password}"
    if not bgp.restarts:
        yield f" neighbor {address} graceful-restart-disable"
