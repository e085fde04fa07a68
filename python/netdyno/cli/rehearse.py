"""`--rehearse`: the plan's device is an emulated one, behind a command line that stands in for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netdyno.errors import NetdynoError, names

if TYPE_CHECKING:
    from netdyno.plan import Plan

USER = "rehearsal"
HELP = "Let an emulated device answer instead of the plan's, behind a command line as its `driver` wants."


@contextmanager
def rehearsal(loaded: Plan) -> Iterator[Plan]:
    """The plan, for the stand-in that runs until the block ends.

    Raises NetdynoError if nothing stands in for its device.
    """
    import secrets
    from tempfile import TemporaryDirectory

    from netdyno.devices import KINDS
    from netdyno.devices.configure.locks import Identity, remove_shared
    from netdyno.devices.drivers import DRIVERS
    from netdyno.devices.secrets import variables
    from netdyno.devices.stand_ins import STAND_INS
    from netdyno.devices.stand_ins.chassis import Chassis
    from netdyno.devices.stand_ins.server import LOOPBACK, serve
    from netdyno.plan import parse
    from netdyno.plan.rehearsed import rehearsed
    from netdyno.testers import tables

    driver = loaded.lab.driver
    if driver not in STAND_INS:
        what = f"of `driver: {driver}`" if driver else "of a device without a `driver`"
        hint = f"rehearsed are {', '.join(STAND_INS)}; or give the plan `kind: emulated/...`: `netdyno kinds`"
        raise NetdynoError(f"--rehearse: nothing stands in for the device {what}", hint, code="unsupported")
    stand_in = STAND_INS[driver]
    ports = [port for link in loaded.lab.links for port in link.device_ports]
    password = secrets.token_hex()
    with TemporaryDirectory(prefix="netdyno-rehearsal-") as name:
        folder = Path(name)
        opened = stand_in.opens(Chassis.new(ports, password), folder)
        with serve(opened.session, USER, password) as door:
            known_hosts = folder / "known_hosts"
            known_hosts.write_text(door.known_host)
            # The user's own logins, and what earlier runs left to undo, are another device's.
            own = {"XDG_STATE_HOME": str(folder / "state"), variables("PASSWORD", LOOPBACK)[0]: password}
            ssh = {"port": door.port, "known_hosts": str(known_hosts)}
            access = {"host": LOOPBACK, "user": USER, "ssh": ssh}
            kind = loaded.lab.kind if KINDS[loaded.lab.kind].emulated else stand_in.kind
            text, left_out, later = rehearsed(
                loaded, {"kind": kind, **access}, has_routing=stand_in.has_routing
            )
            without = f"; without {names(left_out)}" if left_out else ""
            click.echo(
                f"rehearsal: `{kind}` on this machine stands in for the device; its command line is like that"
                f" of {DRIVERS[driver].title}{without}",
                err=True,
            )
            try:
                with _environment(own):
                    file = loaded.file
                    yield parse(text, name=file, base=Path(file).parent, tables=tables(), overrides=later)
            finally:
                remove_shared(Identity(driver, LOOPBACK, door.port, key=door.fingerprint))


@contextmanager
def _environment(own: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name)
        os.environ.update({name: before[name] for name in own if name in before})
