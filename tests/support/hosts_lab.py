"""Generator hosts in namespaces, a Linux router between their ports, and a management network with TLS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from certificates import make_identity

SCHEDULER = "tls://192.0.2.1:8786"
NETWORKS = ("16.0.0.0/8", "48.0.0.0/8")
"""Behind the first hosts."""
PATIENCE_S = 60.0
PROGRAM = (sys.executable, "-m", "netdyno")


def run(command: str) -> str:
    """What a command prints; it must end well."""
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout


@dataclass
class HostsLab:
    """names: of the hosts. workers: by name. router, control: network namespaces. scheduler: of Dask."""

    names: tuple[str, ...]
    router: str
    control: str
    environment: Mapping[str, str]
    log: Path
    workers: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    schedulers: list[subprocess.Popen[str]] = field(default_factory=list)
    """The last one is that of now."""

    def within(self, namespace: str, *words: object) -> list[str]:
        return ["ip", "netns", "exec", namespace, *map(str, words)]

    def netdyno(
        self, *words: object, namespace: str = "", timeout_s: float = 120.0
    ) -> subprocess.CompletedProcess[str]:
        """netdyno, in the namespace of the scheduler or another one."""
        return subprocess.run(
            self.within(namespace or self.control, *PROGRAM, *words),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    @contextmanager
    def ports_on(self, owners: Sequence[str]) -> Iterator[None]:
        """The port of each host as interface `t0`, `t1`, ... of another host meanwhile."""
        moves = [
            (f"{self.control}{name}", "p0", f"{self.control}{owner}", f"t{number}")
            for number, (name, owner) in enumerate(zip(self.names, owners, strict=True))
        ]
        try:
            for place in moves:
                move(*place)
            yield
        finally:
            for home, interface, away, renamed in moves:
                move(away, renamed, home, interface)

    def join_router(self, name: str) -> None:
        """A line between a host and the router, and its network behind it, if it has one."""
        number, host = self.names.index(name), f"{self.control}{name}"
        run(f"ip -n {self.router} link add d{number} type veth peer name p0 netns {host}")
        run(f"ip -n {self.router} addr add 100.64.{number}.1/30 dev d{number}")
        run(f"ip -n {self.router} link set d{number} up")
        run(f"ip -n {host} link set p0 up")
        for network in NETWORKS[number : number + 1]:
            run(f"ip -n {self.router} route add {network} via 100.64.{number}.2")

    def start_scheduler(self) -> None:
        self.schedulers.append(self.start(self.control, "scheduler", SCHEDULER))

    def start_worker(self, name: str) -> None:
        self.workers[name] = self.start(f"{self.control}{name}", "worker", SCHEDULER, "--name", name)

    def start(self, namespace: str, *words: object) -> subprocess.Popen[str]:
        with self.log.open("a") as log:
            return subprocess.Popen(
                self.within(namespace, *PROGRAM, *words),
                env=self.environment,
                stdout=log,
                stderr=log,
                text=True,
            )

    def await_workers(self, count: int) -> None:
        """Waits until so many workers are registered."""
        deadline = time.monotonic() + PATIENCE_S
        while (there := self.log.read_text().count("Registered to:")) < count:
            assert time.monotonic() < deadline, f"{there} of {count} workers: {self.log.read_text()[-2000:]}"
            time.sleep(0.1)


@contextmanager
def hosts_lab(folder: Path, count: int = 2) -> Iterator[HostsLab]:
    """The lab. Host `genN` has interface `p0`, address 100.64.N-1.2/30; the router is 100.64.N-1.1 there, and
    has the networks 16.0.0.0/8 and 48.0.0.0/8 behind the first and the second host."""
    control = f"nd{os.getpid()}"
    identity = make_identity(folder, "hosts.lab", None)
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    files = {
        f"{tls}{role}__{what}": str(path)
        for role in ("SCHEDULER", "WORKER", "CLIENT")
        for what, path in (("CERT", identity.certificate), ("KEY", identity.key))
    }
    environment = {**os.environ, f"{tls}CA_FILE": str(identity.certificate), **files}
    names = tuple(f"gen{number}" for number in range(1, count + 1))
    lab = HostsLab(names, f"{control}r", control, environment, folder / "hosts.log")
    lab.log.touch()
    with ExitStack() as within:
        for namespace in (control, lab.router, *(control + name for name in names)):
            run(f"ip netns add {namespace}")
            within.callback(run, f"ip netns del {namespace}")
            run(f"ip -n {namespace} link set lo up")
            for family in ("all", "default"):
                run(f"ip netns exec {namespace} sysctl -qw net.ipv6.conf.{family}.disable_ipv6=1")
        run(f"ip netns exec {lab.router} sysctl -qw net.ipv4.ip_forward=1")
        for number, name in enumerate(names):
            host = control + name
            run(f"ip -n {control} link add m{number} type veth peer name m0 netns {host}")
            # A line to each: not every kernel has bridges.
            run(f"ip -n {control} addr add 192.0.2.1 peer 192.0.2.{number + 2}/32 dev m{number}")
            run(f"ip -n {control} link set m{number} up")
            run(f"ip -n {host} addr add 192.0.2.{number + 2} peer 192.0.2.1/32 dev m0")
            run(f"ip -n {host} link set m0 up")
            lab.join_router(name)
        lab.start_scheduler()
        within.callback(lambda: _end(lab.schedulers))
        within.callback(lambda: _end(lab.workers.values()))
        for name in names:
            lab.start_worker(name)
        lab.await_workers(count)
        yield lab


def move(namespace: str, interface: str, to: str, name: str) -> None:
    """Moves an interface into another namespace, under another name."""
    run(f"ip -n {namespace} link set {interface} down")
    away = "" if to == namespace else f" netns {to}"
    run(f"ip -n {namespace} link set {interface} name {name}{away}")
    run(f"ip -n {to} link set {name} up")


def _end(processes: Sequence[subprocess.Popen[str]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
