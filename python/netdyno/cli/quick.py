"""What `send`, `ndr` and `calibrate` are asked for between two ports, and the plan that it makes."""

from __future__ import annotations

import ipaddress
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from netdyno.cli.console import parse_pairs, print_error
from netdyno.cli.defaults import find_named, place_of
from netdyno.errors import NetdynoError, PlanErrors, Problem, suggestion

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.plan.quick import QuickPlan, QuickPort
    from netdyno.values.units import L1Rate, PositiveDuration

EMULATED = "emulated/"
DEFAULT_LINE, EMULATED_LINE = "10Gbps", "1Gbps"
"""Lines that are assumed: of what has none, as in calibrations; and emulated, where less takes less time."""
SIZE, SIZE_V6, TAG, FLOWS = 64, 84, 4, 4096
"""Least frames, with a probe: bytes without and of a tag."""

FROM: Mapping[str, Sequence[str]] = {
    "load": ("-b", "--rate"),
    "duration": ("-t",),
    "sum": ("-t",),
    "interval": ("-i",),
    "sample": ("-i", "-t"),
    "rate": ("--line",),
    "gateway": ("--via",),
}
"""The options that fields of a plan come from, where they have other names; the first one given counts."""


@dataclass(frozen=True)
class Asked:
    """The ports and the traffic, as written on the command line."""

    ports: tuple[str, ...] = ()
    size: str | None = None
    flows: int | None = None
    bidir: bool = False
    reverse: bool = False
    vlan: int | None = None
    to: str | None = None
    via: str | None = None
    address: str | None = None
    line: str | None = None
    backend: str = "auto"
    emulated: str | None = None
    settings: tuple[str, ...] = ()
    memif: tuple[str, ...] = ()
    force: bool = False

    @property
    def direction(self) -> str:
        """As a plan has it."""
        if self.bidir and self.reverse:
            raise click.UsageError("--bidir sends both ways already: leave out -R, or say `--no-bidir`")
        return "bidir" if self.bidir else "uni-reverse" if self.reverse else "uni"

    @property
    def used_size(self) -> str:
        """The size, or the least one."""
        if self.size is not None and re.fullmatch("[0-9]+", self.size):
            return f"{self.size}B"
        if self.size is None:
            least = SIZE_V6 if ":" in (self.to or self.via or "") else SIZE
            return f"{least + (0 if self.vlan is None else TAG)}B"
        # Of the mixes of that name T-Rex's is the one that most people mean.
        return "imix/trex" if self.size == "imix" else self.size

    @property
    def used_flows(self) -> int:
        """As many as asked; else the usual number, or one to each host of a small network."""
        from netdyno.plan.pools import hosts

        network = None if self.to is None else ipaddress.ip_network(self.to, strict=False)
        if self.flows is not None or network is None or network.num_addresses == 1:
            return self.flows or FLOWS
        return min(FLOWS, hosts(str(network))[2])

    def arguments(self) -> list[str]:
        """The ports, and every option that was given."""
        written = list(self.ports)
        for field in fields(self):
            value, option = getattr(self, field.name), f"--{field.name}"
            if field.name == "ports" or value == field.default:
                continue
            option = "--setting" if field.name == "settings" else option
            for one in value if isinstance(value, tuple) else (value,):
                written += [option] if one is True else [option, str(one)]
        return written

    def plan(
        self, title: str, method: str, parameters: Mapping[str, Any], trial: Mapping[str, Any]
    ) -> QuickPlan:
        """The plan. Raises UsageError, NetdynoError."""
        from netdyno.plan.quick import QuickPlan

        _check_address("--to", self.to)
        pair = find_ports(self)
        between = f"{pair[0].name} {'<->' if self.bidir else '<-' if self.reverse else '->'} {pair[1].name}"
        made = QuickPlan(
            f"{title}, {self.used_size}, {between}",
            pair,
            method,
            parameters,
            trial,
            kind=_find_kind(self.emulated) if self.emulated else "external",
            settings=dict(parse_pairs("--setting", self.settings, "NAME=VALUE", "capacity=1Mpps")),
            size=self.used_size,
            flows=self.used_flows,
            direction=self.direction,
            vlan=self.vlan,
            to=self.to,
        )
        if made.destination is None and any("gateway" in port.options for port in pair):
            raise click.UsageError(
                "--via: the far port has no address to send to: give the router's at both,"
                " `--via 10.0.1.1,10.0.2.1`, or `--to`"
            )
        return made


def seconds(option: str, text: str) -> PositiveDuration:
    """A time of so many seconds, or with a unit."""
    from netdyno.values.units import PositiveDuration, UnitError

    try:
        return PositiveDuration.parse(f"{text}s" if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else text)
    except UnitError as error:
        raise wrong_value(option, error) from error


def wrong_value(option: str, error: Problem) -> click.UsageError:
    """The error of an option whose value has a wrong unit, with what to write."""
    return click.UsageError("; ".join(filter(None, (f"{option}: {error}", error.hint))))


def load_quick(quick: QuickPlan, command: str) -> Plan:
    """The plan, checked. Ends the program with what is wrong, without places: no user wrote the text."""
    from netdyno.plan import parse
    from netdyno.testers import tables

    name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{command}-{quick.ports[0].name}-{quick.ports[1].name}")
    try:
        return parse(quick.text(), name=f"{name}.yaml", tables=tables())
    except PlanErrors as error:
        _refuse(error)


@contextmanager
def without_places(plan: Plan) -> Iterator[None]:
    """Errors inside name no place of a plan that nobody wrote."""
    try:
        yield
    except NetdynoError as error:
        error.message = re.sub(rf"^{re.escape(plan.file)}:[0-9]+:[0-9]+: ", "", error.message)
        raise


def _refuse(error: PlanErrors) -> NoReturn:
    from netdyno.cli.codes import USAGE

    for one in error.errors:
        print_error(_name_option(one.path) + one.message, one.hint)
    sys.exit(USAGE)


def _name_option(path: str) -> str:
    """Where the value at a place of the plan was given, `FILE:1:8: --size: `; empty: it was not given."""
    context = click.get_current_context()
    field = "setting" if ".settings." in path else path.rpartition(".")[2]
    for option in FROM.get(field, (f"--{field}",)):
        found = find_named(context, option)
        source = None if found is None else context.get_parameter_source(found.name or "")
        if source is not None and source is not ParameterSource.DEFAULT:
            return f"{place_of(context, found)}{option}: "
    return ""


def _find_kind(name: str) -> str:
    from netdyno.devices import KINDS

    known = [kind.removeprefix(EMULATED) for kind in KINDS if kind.startswith(EMULATED)]
    short = name.removeprefix(EMULATED)
    if short not in known:
        hint = suggestion(short, known, "emulated devices")
        raise click.UsageError(f"--emulated: there is no `{name}`; {hint}")
    return EMULATED + short


def find_ports(asked: Asked) -> tuple[QuickPort, QuickPort]:
    """The two ports that are asked for. Raises UsageError, NetdynoError."""
    ways = [bool(asked.ports), asked.emulated is not None, bool(asked.memif)]
    if sum(ways) != 1 or (asked.ports and len(asked.ports) != 2):
        raise click.UsageError(
            "give two ports, `eth1 eth2`, or `--memif SOCKET`, or `--emulated router`; `netdyno ports` lists"
            " the interfaces"
        )
    if asked.emulated:
        return _emulated(asked)
    return _memifs(asked) if asked.memif else _interfaces(asked)


def _emulated(asked: Asked) -> tuple[QuickPort, QuickPort]:
    from netdyno.plan.quick import QuickPort

    for name in ("via", "address", "to"):
        if getattr(asked, name) is not None:
            raise click.UsageError(f"--{name}: leave it out, an emulated device has its own addresses")
    line = line_rate("--line", asked.line or EMULATED_LINE)
    return QuickPort("west", line), QuickPort("east", line)


def _memifs(asked: Asked) -> tuple[QuickPort, QuickPort]:
    from netdyno.plan.quick import QuickPort
    from netdyno.ports.backends import LOOPS

    if len(asked.memif) > 2:
        raise click.UsageError("--memif: one socket of two interfaces, or two sockets")
    line = line_rate("--line", asked.line or DEFAULT_LINE)
    (kind,) = LOOPS
    ids = (0, 1) if len(asked.memif) == 1 else (0, 0)
    sockets = [one if one.startswith("@") else str(Path(one).absolute()) for one in asked.memif]
    first, second = (
        QuickPort(name, line, {"backend": kind, "socket": socket, "id": number, **found})
        for name, socket, number, found in zip(
            ("west", "east"), (sockets * 2)[:2], ids, _addresses(asked), strict=True
        )
    )
    return first, second


def _interfaces(asked: Asked) -> tuple[QuickPort, QuickPort]:
    from fractions import Fraction

    from netdyno.plan.quick import QuickPort
    from netdyno.ports import ethtool
    from netdyno.ports.backends import KERNEL
    from netdyno.ports.in_use import find_links, refuse_used
    from netdyno.ports.nic import netlink
    from netdyno.values.units import L1Rate

    if asked.backend not in KERNEL:
        raise click.UsageError(f"--backend: {suggestion(asked.backend, KERNEL, 'of an interface')}")
    links = find_links(asked.ports)
    if not asked.force:
        can_force = "force" in click.get_current_context().params
        instead = f"give other ports{'; `--force` loads these all the same' if can_force else ''}"
        refuse_used([link.name for link in links], instead=instead, sleep=_import_meanwhile)
    _refuse_unfit([link.name for link in links], asked.backend)
    if links[0].kind == "veth" and links[0].lower == links[1].index:
        click.echo(
            f"{links[0].name} and {links[1].name} are both ends of one veth: a cable, no device", err=True
        )
    cards = [ethtool.card(link.name) for link in links]
    rates = [
        L1Rate(Fraction(card.speed_bps))
        if card.speed_bps and not asked.line
        else line_rate("--line", asked.line or DEFAULT_LINE)
        for card in cards
    ]
    own = netlink.addresses()
    there = [own.get(link.index, ()) for link in links]
    first, second = (
        QuickPort(link.name, rate, {"interface": link.name, "backend": asked.backend, **found})
        for link, rate, found in zip(links, rates, _addresses(asked, there), strict=True)
    )
    return first, second


def _import_meanwhile(seconds: float) -> None:
    """Waits, and imports what is needed next, which takes as long."""
    began = time.monotonic()
    import netdyno.campaign.run  # noqa: F401

    time.sleep(max(seconds - (time.monotonic() - began), 0))


def _refuse_unfit(names: Sequence[str], backend: str) -> None:
    """LabError if an interface is down, or may not be opened."""
    from netdyno.devices.wiring import LabError
    from netdyno.ports import backends, nic
    from netdyno.ports.nic import fit

    may, kind = fit.rights(), backends.USUAL if backend == backends.AUTO else backend
    for name in names:
        card = nic.read(name)
        found = next((one for one in backends.fits(card, may) if one.backend == kind), None) if card else None
        if found is None or found.why is None:
            continue
        refusal = may.af_packet if kind == backends.USUAL else getattr(may, kind, None)
        if refusal is not None and found.why == refusal[0]:
            again = shlex.join([str(Path(sys.argv[0]).absolute()), *sys.argv[1:]])
            raise LabError(f"no right to open `{name}`: {found.why}", f"`sudo {again}`", code="no-rights")
        hint = f"`{found.hint}`" if found.hint and found.hint.startswith("ip ") else found.hint
        raise LabError(f"interface `{name}` cannot be used: {found.why}", hint, code="interface-unfit")


def line_rate(option: str, text: str) -> L1Rate:
    """The rate of a line."""
    from netdyno.values.units import L1Rate, UnitError

    try:
        return L1Rate.parse(text)
    except UnitError as error:
        raise wrong_value(option, error) from error


def _check_address(option: str, text: str | None) -> None:
    try:
        if text is not None:
            ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}; such as 198.18.0.1 or 10.2.0.0/16") from error


def _given(option: str, text: str | None) -> tuple[str | None, str | None]:
    """What is given for each port."""
    given = [one.strip() for one in text.split(",")] if text else []
    if len(given) > 2:
        raise click.UsageError(f"{option}: two at most, one a port, in their order")
    for one in filter(None, given):
        try:
            ipaddress.ip_interface(one)
        except ValueError as error:
            raise click.UsageError(f"{option}: {error}; such as 10.0.1.1, or 10.0.1.1/24") from error
    first, second = (*given, "", "")[:2]
    return first or None, second or None


def _addresses(
    asked: Asked, on_interfaces: Sequence[Sequence[str]] = ((), ())
) -> Iterator[Mapping[str, str]]:
    """The gateway and the own address of each port, where there is a router."""
    from netdyno.plan.quick import link_addresses

    vias, owns = _given("--via", asked.via), _given("--address", asked.address)
    if asked.bidir and any(vias) and not all(vias):
        raise click.UsageError("--via: with --bidir the router's address at each port: `10.0.1.1,10.0.2.1`")
    for via, own, there in zip(vias, owns, on_interfaces, strict=True):
        yield link_addresses(via, own, there if any(vias) else ())
