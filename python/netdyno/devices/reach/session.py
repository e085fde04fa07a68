"""An open session with the command line of a device: commands out, texts back, each within its deadline."""

from __future__ import annotations

import re
import time
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from threading import RLock, Thread
from typing import Any

from netdyno.devices import secrets
from netdyno.devices.access import Access
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.reach.login import login
from netdyno.devices.shell import Configuring, Shell
from netdyno.devices.wiring import LabError

LONGEST = 8 * 2**20
"""Characters of one answer; a large running configuration has some hundred thousand."""
LOGIN_S = 60.0
LOGIN_AGAIN_S = 10.0
"""After a session that was lost: a question with a deadline does not wait for a device that is too busy for
logins, or as long as its own."""
FIRST_S = 15.0
"""Longest time until the first exchange after it, s."""
PROMPT_TAIL = 120
"""Characters of a prompt: the name of the device and the mode behind it."""
HEAD_LINES = 5
"""A refusal is among so many first lines of an answer; of a running configuration it is the first."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])|[\x00\x07]")
_LONGEST_ANSI = 32
_MORE = re.compile(r"(?<!-)-{2,10} ?more ?-{2,10}[^\n]{0,20}$", re.IGNORECASE)
_PAGED = re.compile(
    r"^[ <]{0,2}-{2,10} ?more ?-{2,10}[^\n]{0,20}?(?:\x08[ \x08]*|\r(?: *\r)?)", re.IGNORECASE | re.MULTILINE
)
"""What a pager printed at the begin of a line, and then printed over."""
_marks = count(1)


class Session:
    """Logs in when first asked, and again after a session that was lost.

    A command is over when the device answers a comment that was sent behind it: a prompt inside an output
    ends nothing. Several threads may ask: each waits until the one before it has its answer.
    """

    def __init__(self, access: Access, shell: Shell) -> None:
        self.access = access
        self.shell = shell
        self._connection: Any = None
        self.host_key = ""
        """Fingerprint of the device's host key, from the login on."""
        self._prompt_end = ""
        self._was_open = False
        self._lock = RLock()
        self._refused = [re.compile(pattern, re.MULTILINE) for pattern in shell.refused]

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, within_s: float = LOGIN_S) -> None:
        """Logs in, if it is not. Raises LabError as `login`."""
        with self._lock:
            if self._connection is not None and not _is_alive(self._connection):
                # A device ends a session that was idle for some minutes.
                self.close()
            if self._connection is None:
                self._connection = _login_in_time(self.access, self.shell, within_s)
                self._was_open = True
                self.host_key = _fingerprint(self._connection)
                # What a slow device still prints of the login would be the begin of its first answer.
                self._exchange("", time.monotonic() + FIRST_S)

    def close(self) -> None:
        """Ends the session; one that is lost is left as it is."""
        connection, self._connection = self._connection, None
        if connection is not None:
            # Not by netmiko's own farewell: it waits for a prompt that may never come.
            with suppress(Exception):
                connection.paramiko_cleanup()

    def find_lack_of_privileges(self) -> LabError | None:
        """The error of a login in user mode, which may not be enough; None: it is not in user mode."""
        if not self.shell.user_mode or self._prompt_end != self.shell.user_mode:
            return None
        own, any_host = secrets.variables("ENABLE", self.access.host)
        return LabError(
            f"the login at `{self.access.name}` is in user mode, without privileges",
            f"set {any_host} (or {own}), or give the user privileges on the device",
            code="login-refused",
        )

    def ask(self, command: str, within_s: float = 15.0) -> str:
        """What the device prints for one command, without the echo and the prompt.

        Raises LabError: `device-silent`, `session-lost`, `command-refused`, `too-long`, or as `login`.
        """
        with self._lock:
            self.open(min(max(within_s, LOGIN_AGAIN_S), LOGIN_S) if self._was_open else LOGIN_S)
            said = self._exchange(command, time.monotonic() + within_s)
        # A banner or a description further on may read like an error.
        self._check(_head(said, self.shell, 1 if command == self.shell.running else HEAD_LINES), command)
        return said

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        """Enters configuration text as a whole and commits it; returns what the device printed.

        confirm_s: commits for so long only, where the system can. If a line is refused, a system that
        commits is left as it was; of others the lines before it are in effect. Raises LabError as `ask`.
        """
        how = self._configuring()
        with self._lock:
            self.open()
            return self._enter(how, text, confirm_s, within_s)

    def _enter(self, how: Configuring, text: str, confirm_s: int | None, within_s: float) -> str:
        deadline = time.monotonic() + within_s
        if how.enter:
            self._check(self._exchange(how.enter, deadline), how.enter)
        try:
            said = self._exchange(text.rstrip("\n"), deadline)
            self._check(said, text)
            if how.commit is not None:
                is_timed = how.confirmed is not None and confirm_s is not None
                commit = how.confirmed.format(seconds=confirm_s) if is_timed and how.confirmed else how.commit
                told = self._exchange(commit, deadline)
                self._check(told, commit)
                said += told
        except LabError:
            if self._connection is not None:
                with suppress(LabError):
                    self._exchange(how.abort or how.leave, time.monotonic() + within_s)
            raise
        if how.leave:
            self._exchange(how.leave, deadline)
        return said

    def confirm(self) -> None:
        """Makes a commit for a time permanent. Raises LabError as `ask`."""
        how = self._configuring()
        if how.commit is not None:
            deadline = time.monotonic() + 30.0
            with self._lock:
                self.open()
                for command in (how.enter, how.commit, how.leave):
                    self._check(self._exchange(command, deadline), command)

    def _configuring(self) -> Configuring:
        how = self.shell.configuring
        if how is None:
            raise LabError(
                f"`{self.access.name}` is not configured by its command line",
                "leave `configuration` out",
                code="unsupported",
            )
        return how

    def _check(self, said: str, sent: str) -> None:
        """Raises LabError if the device refused a line."""
        for pattern in self._refused:
            found = pattern.search(said)
            if found is not None:
                line = said[said.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0].strip()
                what = _line_before(said, found.start()) or sent.partition("\n")[0]
                lack = self.find_lack_of_privileges()
                hint = (
                    "give the user the right to it, on the device or in its AAA server"
                    if "authorization" in line.casefold()
                    else "check the line, and whether this version of the system has it"
                )
                raise LabError(
                    f"the device `{self.access.name}` refused `{_shown(what)}`: {_shown(line)}"
                    + (" (in user mode)" if lack else ""),
                    lack.hint if lack else hint,
                    code="command-refused",
                )

    def _exchange(self, command: str, deadline: float) -> str:
        """Sends lines, then a comment; returns what was printed before the device took the comment."""
        self._drain(deadline)
        self._send(f"{command}\n")
        number = next(_marks)
        mark = f"{self.shell.comment} netdyno {number}"
        begin = re.escape(mark)
        if self.shell.echo:
            mark = self.shell.echo.format(number=number)
            begin = rf"(?:^|[\r\n])netdyno-{number}"
        prompt = rf"{re.escape(self._name)}[^\r\n]{{0,{PROMPT_TAIL}}}[#>$%\]] ?$"
        said = self._read("", re.compile(rf"(?:^|[\r\n]){prompt}"), deadline, command)
        self._send(f"{mark}\n")
        taken = re.compile(rf"{begin}[ \r]*\n(?:[^\n]*\n)*\r?{prompt}")
        said = self._read(said, taken, deadline, command)
        self._prompt_end = said.rstrip()[-1:]
        if self.shell.echo:
            # It may have been printed as it was typed, amid the text, and again behind the prompt.
            *_, end = re.finditer(rf"{begin}[ \r]*\n", said)
            said = re.sub(rf"{re.escape(mark)}\r*\n", "", said[: end.start() + 1])
        text = said if self.shell.echo else said[: said.rindex(mark)]
        # What is left of the last line is the prompt that the comment was typed at.
        text = text[: text.rfind("\n") + 1]
        return _without_echo(text, command)

    @property
    def _name(self) -> str:
        """The begin of every prompt of this device."""
        return _ANSI.sub("", self._connection.base_prompt).strip()[:20]

    def _send(self, text: str) -> None:
        # RouterOS wants a carriage return.
        typed = text.replace("\n", self._connection.RETURN)
        try:
            self._connection.remote_conn.sendall(typed.encode())
        except (OSError, EOFError) as error:
            raise self._lost(text, str(error)) from None

    def _drain(self, deadline: float) -> None:
        """Drops what came unasked since the last answer, such as a log message."""
        channel = self._connection.remote_conn
        while channel.recv_ready():
            if time.monotonic() > deadline:
                raise self._silent("")
            if not channel.recv(65536):
                raise self._lost("", "closed by the device")

    def _read(self, said: str, until: re.Pattern[str], deadline: float, command: str) -> str:
        """Reads on until the text ends as wanted. Raises LabError."""
        channel = self._connection.remote_conn
        turned = -1
        while not until.search(said[-2000:]):
            page = _MORE.search(said, max(len(said) - 60, 0))
            if page is not None and page.start() > turned:
                turned = page.start()
                self._send(" ")
            left = deadline - time.monotonic()
            if left <= 0:
                # Also of one that prints on and on.
                raise self._silent(command)
            try:
                channel.settimeout(left)
                piece = channel.recv(65536)
            except TimeoutError:
                raise self._silent(command) from None
            except (OSError, EOFError) as error:
                raise self._lost(command, str(error)) from None
            if not piece:
                raise self._lost(command, "closed by the device")
            # A sequence may come in two pieces.
            said, tail = said[:-_LONGEST_ANSI], said[-_LONGEST_ANSI:]
            said += _ANSI.sub("", tail + piece.decode(errors="replace"))
            if len(said) > LONGEST:
                self.close()
                raise LabError(
                    f"the device `{self.access.name}` answers `{_shown(command)}` without end",
                    "log in to it by hand and see what it prints",
                    code="too-long",
                )
        return _PAGED.sub("", said)

    def _silent(self, command: str) -> LabError:
        self.close()
        shown = _shown(command.partition("\n")[0])
        return LabError(
            f"the device `{self.access.name}` does not answer `{shown}` in time",
            "log in to it by hand and see whether its command line answers",
            code="device-silent",
        )

    def _lost(self, command: str, why: str) -> LabError:
        self.close()
        shown = _shown(command.partition("\n")[0])
        return LabError(
            f"the session with `{self.access.name}` ended during `{shown}`: {secrets.redact(why)}",
            "see whether the device restarted or limits its sessions",
            code="session-lost",
        )


def _login_in_time(access: Access, shell: Shell, within_s: float) -> Any:
    """An open connection. Raises LabError as `login`, and `device-silent` after so long.

    In a thread of its own: the library has no deadline for a device that prints on and on.
    """
    done: Future[Any] = Future()

    def work() -> None:
        try:
            connection = login(access, shell)
        except BaseException as error:
            if done.set_running_or_notify_cancel():
                done.set_exception(error)
            return
        if done.set_running_or_notify_cancel():
            done.set_result(connection)
            return
        # Too late: it would keep a line of the device.
        with suppress(Exception):
            connection.paramiko_cleanup()

    Thread(target=work, name=f"login {access.name}", daemon=True).start()
    try:
        return done.result(within_s)
    except TimeoutError:
        if not done.cancel():
            return done.result()
        raise LabError(
            f"the device `{access.name}` did not finish the login within {within_s:.0f} s",
            "log in to it by hand and see what it prints",
            code="device-silent",
        ) from None


def _is_alive(connection: Any) -> bool:
    channel = connection.remote_conn
    transport = channel.get_transport()
    return not channel.closed and transport is not None and transport.is_active()


def _fingerprint(connection: Any) -> str:
    transport = connection.remote_conn.get_transport()
    return "" if transport is None else str(transport.get_remote_server_key().fingerprint)


def _without_echo(text: str, command: str) -> str:
    """Lines end in a line feed alone; the echo of a single command, which may be wrapped, is taken off."""
    text = text.replace("\r\n", "\n").replace("\r", "")
    first, _, rest = text.partition("\n")
    if "\n" not in command and first.strip().endswith(command.strip()[-40:]):
        return rest
    return text


def _head(said: str, shell: Shell, count: int) -> str:
    """The first lines of an answer with a refusal's caret; no more of them have content than so many."""
    found: list[str] = []
    for line in said.split("\n"):
        has_content = bool(line.strip(" ^\r")) and not any(
            re.search(pattern, line) for pattern in shell.volatile
        )
        count -= has_content
        if count < 0:
            break
        found.append(line)
    return "\n".join(found)


def _line_before(said: str, at: int) -> str:
    """The last line before a place that is neither empty nor only a caret."""
    lines = said[:at].split("\n")[:-1] if "\n" in said[:at] else []
    return next((line.strip() for line in reversed(lines) if line.strip(" ^\r")), "")


def _shown(text: str) -> str:
    """At most 80 printable characters, without secrets."""
    found = " ".join(hide_secrets(text).split())
    return "".join(one if one.isprintable() else "?" for one in found)[:80]
