"""Net-SNMP's agent on the loopback, some objects of which are what a test says."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

COMMUNITY, USER, AUTH, PRIV = "geheim", "messer", "authpass123", "privpass123"
READY_S = 10.0

# A program of `pass_persist` (snmpd.conf(5)): lines `OID type value` of a file, read anew for each request.
SCRIPT = r"""
import sys
def key(oid): return tuple(map(int, oid.strip(".").split(".")))
def load():
    rows = [line.split(None, 2) for line in open(sys.argv[1])]
    return {key(oid): (kind, value.strip()) for oid, kind, value in rows}
while command := sys.stdin.readline().strip():
    if command == "PING":
        print("PONG", flush=True)
        continue
    oid, table = key(sys.stdin.readline()), load()
    if command == "getnext":
        oid = next((one for one in sorted(table) if one > oid), None)
    if oid in table:
        print("." + ".".join(map(str, oid)), *table[oid], sep="\n", flush=True)
    else:
        print("NONE", flush=True)
"""
TABLES = (".1.3.6.1.2.1.2.2.1", ".1.3.6.1.2.1.31.1.1.1", ".1.3.6.1.2.1.99.1.1.1", ".1.3.6.1.2.1.47.1.1.1.1")


@dataclass
class Snmpd:
    """An agent. port: of the loopback. objects: the file."""

    folder: Path
    port: int
    has_own_tables: bool
    process: subprocess.Popen[str] | None = None

    def say(self, objects: Mapping[str, tuple[str, object]]) -> None:
        """These objects from now on: `{OID: (type, value)}`."""
        lines = [f"{oid} {kind} {value}\n" for oid, (kind, value) in objects.items()]
        draft = self.folder / "draft"
        draft.write_text("".join(lines))
        # At once: the agent's program reads it at any time.
        draft.replace(self.folder / "objects")

    def start(self) -> None:
        found = shutil.which("snmpd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        if found is None:
            pytest.skip("snmpd is not installed")
        without = ["-I", "-ifTable,-ifXTable"] if self.has_own_tables else []
        environment = {**os.environ, "MIBS": "", "SNMPCONFPATH": str(self.folder)}
        environment["SNMP_PERSISTENT_DIR"] = str(self.folder / "kept")
        command = [found, "-f", "-C", "-c", str(self.folder / "conf"), *without, "-Lo"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("NET-SNMP version"):
                return
        raise AssertionError("snmpd did not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


@contextmanager
def running(folder: Path, objects: Mapping[str, tuple[str, object]] | None = None) -> Iterator[Snmpd]:
    """An agent with these objects instead of its own tables of interfaces; None: with its own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    agent = Snmpd(folder, port, objects is not None)
    (folder / "serve.py").write_text(SCRIPT)
    program = f"{sys.executable} {folder}/serve.py {folder}/objects"
    tables = [f"pass_persist {table} {program}" for table in TABLES] if objects is not None else []
    lines = [f"agentaddress udp:127.0.0.1:{port}", f"rocommunity {COMMUNITY} 127.0.0.1"]
    lines += [f'createUser {USER} SHA "{AUTH}" AES "{PRIV}"', f"rouser {USER} priv", *tables]
    (folder / "conf").write_text("\n".join(lines) + "\n")
    agent.say(objects or {})
    try:
        agent.start()
        yield agent
    finally:
        agent.stop()
