"""A stand-in behind SSH, and netdyno runs that reach it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from campaigns import ENVIRONMENT
from commands import said
from netdyno.devices.stand_ins.chassis import Chassis

from fakes.server import PASSWORD, USER, Server


@dataclass
class Lab:
    """The device, its SSH and the folder of everything else. text: a plan."""

    server: Server
    chassis: Chassis
    device: Any
    folder: Path
    text: str

    @property
    def environment(self) -> Mapping[str, str]:
        """Of a netdyno that knows the password, with a home and a state folder of its own."""
        home = {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state")}
        kept = {name: value for name, value in ENVIRONMENT.items() if name != "SSH_AUTH_SOCK"}
        return {**kept, **home, "NETDYNO_PASSWORD": PASSWORD}

    @property
    def journals(self) -> Path:
        """Where its runs keep the undo of devices."""
        return self.folder / "state" / "netdyno" / "devices"

    def plan(self, **replaced: str) -> Path:
        """A plan that reaches it. replaced: texts of the plan."""
        text = self.text.replace("USER", USER).replace("PORT", str(self.server.port))
        text = text.replace("KNOWN", self.server.known_hosts(self.folder))
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        path = self.folder / "plan.yaml"
        path.write_text(text)
        return path

    def start(self, *words: str, stdout: int | IO[str] = subprocess.PIPE) -> subprocess.Popen[str]:
        """Starts netdyno. stdout: where it prints, also errors."""
        return subprocess.Popen(
            [sys.executable, "-c", "from netdyno.cli import main; main()", *words],
            env=dict(self.environment),
            cwd=self.folder,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> tuple[int, str]:
        """Exit code and output of netdyno in this process, stderr behind stdout."""
        done = said(*words, cwd=self.folder, environment=self.environment)
        return done.returncode, done.stdout + done.stderr

    def cases(self) -> list[dict[str, Any]]:
        """The cases of the only run, as JSON has them."""
        code, text = self.run("report", str(next((self.folder / "runs").iterdir())), "--as", "json")
        assert code == 0, text
        found: list[dict[str, Any]] = json.loads(text)["cases"]
        return found


def series_of(case: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The series of a quantity in a case."""
    return [one for trial in case["trials"] for one in trial["series"] if one["name"] == name]
