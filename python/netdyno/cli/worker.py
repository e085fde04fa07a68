"""`netdyno worker` and `netdyno scheduler`: Dask's commands, with the settings that generator hosts need."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence

import click

ADDRESS = re.compile(r"(tcp|tls)://(\S+):([0-9]{1,5})")
SELDOM = {
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
"""By default an idle worker wakes 52 times a second, which takes 1.5 % of a core; so it is 0.3 %."""
WORKER_SETTINGS = {
    **SELDOM,
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    **{
        f"DASK_DISTRIBUTED__WORKER__MEMORY__{name}": "False"
        for name in ("TARGET", "SPILL", "PAUSE", "TERMINATE")
    },
}
SCHEDULER_SETTINGS = {
    **SELDOM,
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "False",
}


def _address(_: click.Context, __: click.Parameter, value: str) -> str:
    if ADDRESS.fullmatch(value) is None:
        raise click.BadParameter(f"`{value[:60]}` is no address: write `tls://192.0.2.9:8786`")
    return value


address = click.argument("scheduler", metavar="ADDRESS", callback=_address)
dry_run = click.option("--dry-run", is_flag=True, help="Print the command and start nothing.")


@click.command()
@address
@click.option("--name", required=True, metavar="HOST", help="This host, as plans name it.")
@click.option(
    "--listen",
    metavar="ADDRESS",
    help="The address of this host that others reach it by; by default the one towards the scheduler.",
)
@dry_run
def worker(scheduler: str, name: str, listen: str | None, dry_run: bool) -> None:
    """Offer this host's ports to the scheduler at ADDRESS, such as `tls://192.0.2.9:8786`.

    Prints the command of Dask that it becomes. TLS is set by DASK_DISTRIBUTED__COMM__TLS__* (docs/hosts.md).
    """
    command = ["dask_worker", scheduler, "--name", name, "--no-nanny", "--nthreads", "1"]
    command += ["--dashboard-address", "127.0.0.1:0", "--memory-limit", "0"]
    # By itself Dask's worker listens on all networks, those of the test too.
    command += ["--host", listen or _find_own_address(scheduler)]
    _become(scheduler, command, WORKER_SETTINGS, dry_run=dry_run)


@click.command()
@address
@dry_run
def scheduler(scheduler: str, dry_run: bool) -> None:
    """Start the scheduler at ADDRESS, where generator hosts and load tests meet.

    Prints the command of Dask that it becomes.
    """
    found = ADDRESS.fullmatch(scheduler)
    assert found is not None
    protocol, host, port = found.groups()
    command = ["dask_scheduler", "--host", host, "--port", port, "--protocol", protocol]
    command += ["--dashboard-address", "127.0.0.1:0"]
    _become(scheduler, command, SCHEDULER_SETTINGS, dry_run=dry_run)


def _find_own_address(scheduler: str) -> str:
    from netdyno.hosts.door import HostError
    from netdyno.ports.own_address import find_own_address

    found = ADDRESS.fullmatch(scheduler)
    assert found is not None
    try:
        return find_own_address(found[2].strip("[]"), int(found[3]))
    except OSError as error:
        raise HostError(
            f"this host cannot reach {scheduler}: {error.strerror or error}",
            "look at the address and at `ip route`; `--listen` gives this host's own address",
            code="host-unreachable",
        ) from None


def _become(scheduler: str, command: Sequence[str], settings: Mapping[str, str], *, dry_run: bool) -> None:
    """Replaces this process by a command of Dask."""
    from netdyno.devices.extras import find_missing
    from netdyno.hosts.door import refuse_unencrypted, refuse_without_certificate

    refuse_unencrypted(scheduler)
    missing = find_missing("hosts", "a generator host")
    if not dry_run:
        if missing is not None:
            raise missing
        refuse_without_certificate(scheduler)
    words = [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:]]
    click.echo(
        " ".join((*(f"{name}={value}" for name, value in settings.items()), shlex.join(words))), err=True
    )
    if not dry_run:
        os.execve(sys.executable, words, {**os.environ, **settings})
