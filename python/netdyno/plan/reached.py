"""How a plan has a device reached: its driver, and what that needs."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from netdyno.devices.access import Access, Api, Snmp, Ssh
from netdyno.devices.drivers import Reached
from netdyno.devices.kind import Kind
from netdyno.plan import Tables
from netdyno.plan import models as m
from netdyno.plan.lab import Lab
from netdyno.plan.source import Path_, Source

NO_PORT = ""
"""Stands for the device's port of a link whose endpoints are wrong, which has been reported."""
PORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_./:@-]{0,62}")
_OF_A_NETWORK = ("host", "user", "ssh", "snmp", "api", "allow")
_OF_A_DRIVER = (*_OF_A_NETWORK, "configuration")
_OF_TLS = ("strict", "ca")


def check(source: Source, place: Path_, node: m.Node, tables: Tables) -> None:
    """A driver must be known, be of a device that it can reach, and have what it needs."""
    given = [name for name in _OF_A_DRIVER if name in node.model_fields_set]
    if not node.driver:
        for name in given:
            source.report_key(
                (*place, name),
                f"`{name}` is for a device with a driver",
                "name its `driver`: `netdyno drivers` lists them",
                code="unknown-field",
            )
        return
    where = (*place, "driver")
    if node.driver not in tables.drivers:
        message = f"unknown driver `{node.driver[:40]}`"
        meant = find_drivers_meant(node.driver, tables)
        source.report_unknown(where, message, node.driver, tables.drivers, "drivers", meant=meant)
        return
    if not tables.kinds[node.kind].takes_driver:
        source.report_key(
            where,
            f"`{node.kind}` has no driver",
            "leave `driver` out: netdyno built it",
            code="unknown-field",
        )
        return
    driver = tables.drivers[node.driver]
    # One that is wrong has been reported.
    if driver.needs_host and not node.host and (*place, "host") not in source.values:
        source.report(
            where,
            f"the driver `{node.driver}` needs the `host` of the device",
            "give its name or address: `host: fridge`",
            code="missing-field",
        )
    if port := re.fullmatch(r"([^:]+):(\d{1,5})", node.host):
        source.report(
            (*place, "host"),
            "`host` takes no port",
            f"write `host: {port[1]}` and `ssh: {{port: {port[2]}}}`",
            code="wrong-format",
        )
    if not driver.needs_host:
        for name in (one for one in given if one in _OF_A_NETWORK):
            source.report_key(
                (*place, name),
                f"the driver `{node.driver}` reaches nothing by a network",
                f"leave `{name}` out",
                code="unknown-field",
            )
    elif node.api is not None and not driver.api:
        source.report_key(
            (*place, "api"),
            f"the driver `{node.driver}` has no API of its own",
            "leave `api` out",
            code="unsupported",
        )
    elif node.api is not None:
        _check_api(source, (*place, "api"), node.api)
    if node.configuration and not driver.configures:
        source.report_key(
            (*place, "configuration"),
            f"the driver `{node.driver}` does not configure",
            "leave `configuration` out, or name another driver",
            code="unsupported",
        )


def _check_api(source: Source, place: Path_, api: m.DeviceApi) -> None:
    """Options of a certificate are for TLS alone."""
    for name in _OF_TLS if not api.tls else ():
        if name in api.model_fields_set:
            source.report_key(
                (*place, name),
                f"`{name}` is about a certificate, and `tls: false` has none",
                f"leave `{name}` or `tls: false` out",
                code="conflict",
            )


def kind(node: m.Node, tables: Tables, base: Path | None) -> Kind:
    """The kind of a device with the settings that its configuration takes."""
    found = tables.kinds[node.kind]
    if not node.configuration or node.driver not in tables.drivers or not found.takes_driver:
        return found
    return found.reached_by(
        tables.drivers[node.driver], Reached(configuration=node.configuration, folder=base)
    )


def check_ports(source: Source, planned: Lab) -> None:
    """Names of ports go into commands: only what a device calls its ports."""
    for index, link in enumerate(planned.links):
        for number, port in enumerate(link.device_ports):
            if not PORT_NAME.fullmatch(port) and (number or port != NO_PORT):
                source.report(
                    ("lab", "links", index, "members" if number else "endpoints"),
                    f"`{port[:40]}` is no name of a device's port",
                    "as the device calls it, such as `Te0/1/0/0`, `ether1`, `sfp-sfpplus1`",
                    code="wrong-format",
                )


def access(node: m.Node) -> Access:
    """How the device is reached, as values."""
    # The journal of a device has it, too: another run, from another folder, may have to undo this one.
    known_hosts = os.path.abspath(os.path.expanduser(node.ssh.known_hosts)) if node.ssh.known_hosts else ""
    ssh = Ssh(node.ssh.port, node.ssh.strict, known_hosts, tuple(node.ssh.old))
    snmp = None if node.snmp is None else Snmp(node.snmp.port)
    api = None if node.api is None else Api(**node.api.model_dump())
    return Access(node.host, node.user, ssh, snmp, tuple(node.allow), api)


MAKERS: Mapping[str, Sequence[str]] = {
    "mikrotik": ("routeros",),
    "ccr": ("routeros",),
    "iosxr": ("cisco_iosxr",),
    "ios-xr": ("cisco_iosxr",),
    "ios_xr": ("cisco_iosxr",),
    "iosxe": ("cisco_iosxe",),
    "ios-xe": ("cisco_iosxe",),
    "ios_xe": ("cisco_iosxe",),
    "ios": ("cisco_ios",),
    "cisco": ("cisco_iosxr", "cisco_iosxe", "cisco_ios", "cisco_asa"),
    "isr": ("cisco_iosxe", "cisco_ios"),
    "asr1": ("cisco_iosxe",),
    "asr9": ("cisco_iosxr",),
    "asr": ("cisco_iosxr", "cisco_iosxe"),
    "xr": ("cisco_iosxr",),
    "xe": ("cisco_iosxe",),
    "asa": ("cisco_asa",),
    "s5860": ("fsos",),
    "fs": ("fsos",),
    "frr": ("linux",),
    "bird": ("linux",),
    "ovs": ("openvswitch",),
}
"""What users call a device whose system a driver has another name for: how its name begins."""

DEVICES = ("router", "switch", "firewall", "device", "dut", "real", "hardware", "physical", "host")
"""What users call a device of their own."""


def find_drivers_meant(name: str, tables: Tables) -> Sequence[str]:
    """The drivers that somebody may mean who says `mikrotik`; none: another one is spelled alike."""
    if name in tables.drivers:
        return (name,)
    if difflib.get_close_matches(name.lower()[:100], tables.drivers, n=1, cutoff=0.8):
        return ()
    return next(
        (
            [one for one in meant if one in tables.drivers]
            for maker, meant in MAKERS.items()
            if name.lower().startswith(maker)
        ),
        (),
    )


def find_kinds_meant(name: str, tables: Tables) -> Sequence[str]:
    """The kinds of devices that somebody may mean who says `router`, or the name of a driver or a maker."""
    own = [one for one in tables.kinds if one.rpartition("/")[2] == name.lower()]
    is_device = name.lower() in DEVICES or find_drivers_meant(name, tables)
    return [*(("external",) if is_device else ()), *own]
