"""Scheduler and workers started by `ssh` on their hosts, and ended again: what `netdyno hosts --start` does.

Each runs in a session of its own, so it stays when the login ends. Its process and its log are noted on its
host, in `~/.local/state/netdyno`: `--stop` ends what is noted there and nothing else.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netdyno.hosts.door import HostError, connect, is_loopback, refuse_unencrypted
from netdyno.ports.nic import netlink

CONNECT_S = 10
START_S = 40
"""The longest that Dask may take to start on a host: its imports took 8 s on a busy one."""
STOP_S = 10
ANSWER_S = CONNECT_S + START_S + 20.0
SSH = ("ssh", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}", "--")
"""As the user logs in, by `~/.ssh/config` and its keys. A question would never be answered."""
NOT_REACHED = 255
"""What `ssh` ends with if there was no login."""
NO_PROGRAM = 127
SCHEDULER = ""
"""In place of the name of a worker's host."""

_FOLDER = 'cd "${XDG_STATE_HOME:-$HOME/.local/state}/netdyno" 2>/dev/null'
_IS_OURS = """\
of() { tr '\\0' ' ' <"/proc/$1/cmdline" 2>/dev/null; }
ours() { p=$(cat FILE.pid 2>/dev/null) && of "$p" | grep -qF -- MARK; }
"""
"""Whether the process that was noted is still the one that was started."""
_START = f"""\
{_IS_OURS}state="${{XDG_STATE_HOME:-$HOME/.local/state}}/netdyno"
mkdir -p "$state" && cd "$state" || exit 1
if ours; then echo there; exit 0; fi
BUSY
PATH="$PATH:$HOME/.local/bin:/usr/local/bin"
command -v PROGRAM >/dev/null || exit {NO_PROGRAM}
if [ -z "${{DASK_DISTRIBUTED__COMM__TLS__CA_FILE-}}" ] && [ -r /etc/netdyno/hosts.env ]; then
    set -a; . /etc/netdyno/hosts.env; set +a
fi
setsid COMMAND >FILE.log 2>&1 </dev/null &
p=$!
echo $p >FILE.pid
i=0
while [ $i -lt {START_S * 4} ] && kill -0 $p 2>/dev/null; do
    if grep -q READY FILE.log; then echo started; exit 0; fi
    i=$((i+1)); sleep 0.25
done
kill $p 2>/dev/null
rm -f FILE.pid
tail -n 5 FILE.log >&2
exit 1
"""
_STOP = f"""\
{_IS_OURS}{_FOLDER} && ours || {{ echo none; exit 0; }}
kill $p
i=0
while [ $i -lt {STOP_S * 4} ] && kill -0 $p 2>/dev/null; do i=$((i+1)); sleep 0.25; done
kill -9 $p 2>/dev/null
rm -f FILE.pid
echo ended
"""


@dataclass(frozen=True)
class Service:
    """A worker, or the scheduler. name: of the worker's host; empty: it is the scheduler.

    login: of its host, as `ssh` takes it; None: it is this one.
    """

    name: str
    scheduler: str
    login: str | None

    @property
    def command(self) -> tuple[str, ...]:
        """What starts it there."""
        program = (sys.executable, "-m", "netdyno") if self.login is None else ("netdyno",)
        if self.name == SCHEDULER:
            return (*program, "scheduler", self.scheduler)
        return (*program, "worker", self.scheduler, "--name", self.name)

    @property
    def start_script(self) -> str:
        """For `sh`: prints `started`, or `there` if it runs already."""
        is_scheduler = self.name == SCHEDULER
        port = int(self.scheduler.rpartition(":")[2])
        listens = f"grep -qE ':{port:04X} 0+:0000 0A' /proc/net/tcp /proc/net/tcp6 2>/dev/null"
        return self._filled(
            _START,
            BUSY=f"if {listens}; then echo there; exit 0; fi" if is_scheduler else "",
            PROGRAM=shlex.quote(self.command[0]),
            COMMAND=shlex.join(self.command),
            READY="'Scheduler at:'" if is_scheduler else "'Registered to:'",
        )

    @property
    def stop_script(self) -> str:
        """For `sh`: prints `ended`, or `none` if `start_script` began none."""
        return self._filled(_STOP)

    def _filled(self, script: str, **words: str) -> str:
        file = re.sub(r"[^A-Za-z0-9._]+", "-", f"{self.name or 'scheduler'}@{self.scheduler}")
        # Dask's scheduler has the port as a word of its own.
        mark = self.scheduler.rpartition(":")[2] if self.name == SCHEDULER else f"--name {self.name} "
        words |= {"FILE": file, "MARK": shlex.quote(mark)}
        return re.sub(rf"\b({'|'.join(words)})\b", lambda found: words[found[1]], script)


def find_services(
    scheduler: str, hosts: Sequence[str], logins: Mapping[str, str]
) -> tuple[Service | None, tuple[Service, ...]]:
    """The scheduler, None if its address is neither of this host nor of one with a login; and the workers.

    logins: as `ssh` takes them, by host; of the others it is the host's name.
    """
    workers = tuple(Service(host, scheduler, logins.get(host, host)) for host in hosts)
    address = re.sub(r"^\w+://", "", scheduler).rpartition(":")[0].strip("[]")
    own = {one.partition("/")[0] for each in netlink.addresses().values() for one in each}
    if is_loopback(scheduler) or address in own:
        return Service(SCHEDULER, scheduler, None), workers
    for one in workers:
        if one.login and one.login.rpartition("@")[2] == address:
            return Service(SCHEDULER, scheduler, one.login), workers
    return None, workers


def start(scheduler: Service | None, workers: Sequence[Service]) -> dict[str, str | HostError]:
    """Starts what is not there, and waits for it: `started`, `there`, or the error, by name.

    Raises HostError if there is no scheduler then.
    """
    found: dict[str, str | HostError] = {}
    address = workers[0].scheduler
    refuse_unencrypted(address)
    if scheduler is not None:
        found |= _on_all([scheduler], [scheduler.start_script])
        failed = found[SCHEDULER]
        if isinstance(failed, HostError):
            raise failed
    door = connect(address)
    missing = []
    for worker in workers:
        try:
            door.address(worker.name)
        except HostError as error:
            if error.code == "host-unreachable":
                missing.append(worker)
                continue
        # What is wrong with one that is there is said when it is looked at.
        found[worker.name] = "there"
    return found | _on_all(missing, [one.start_script for one in missing])


def stop(scheduler: Service | None, workers: Sequence[Service]) -> dict[str, str | HostError]:
    """Ends what `start` began: `ended`, `none` if it began nothing there, or the error, by name."""
    found = _on_all(workers, [one.stop_script for one in workers])
    last = [] if scheduler is None else [scheduler]
    return found | _on_all(last, [one.stop_script for one in last])


def _on_all(services: Sequence[Service], scripts: Sequence[str]) -> dict[str, str | HostError]:
    """What each script printed on its host, all at once."""
    running = [
        subprocess.Popen(
            # A login shell need not be a POSIX one.
            ["sh", "-c", script] if one.login is None else [*SSH, one.login, f"sh -c {shlex.quote(script)}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for one, script in zip(services, scripts, strict=True)
    ]
    return {one.name: _answer(one, process) for one, process in zip(services, running, strict=True)}


def _answer(service: Service, process: subprocess.Popen[str]) -> str | HostError:
    where = "here" if service.login is None else f"on `{service.login}`"
    by_hand = f"start it there by hand: `{shlex.join(service.command)}`"
    try:
        printed, said = process.communicate(timeout=ANSWER_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        text = f"`ssh {service.login}` did not end within {ANSWER_S:.0f} s"
        return HostError(text, by_hand, code="host-unreachable")
    if process.returncode == 0:
        return printed.strip().rpartition("\n")[2]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = lines[-1] if lines else "it said nothing"
    why = next((line for line in lines if line.startswith("error: ")), last).removeprefix("error: ")
    if process.returncode == NOT_REACHED and service.login is not None:
        hint = f"`ssh {service.login}` must log in without a question; `lab.hosts.ssh` names other logins"
        return HostError(f"no login {where}: {why}", hint, code="host-unreachable")
    if process.returncode == NO_PROGRAM:
        hint = "install netdyno there, in /usr/local/bin or ~/.local/bin"
        return HostError(f"there is no `{service.command[0]}` {where}", hint, code="host-unreachable")
    what = "the scheduler" if service.name == SCHEDULER else f"the worker `{service.name}`"
    return HostError(f"{what} did not start {where}: {why}", by_hand, code="host-unreachable")
