"""A network namespace of its own for the tester: entered before ports open, left behind afterwards."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netdyno.devices.wiring import LabError

# <linux/sched.h>. Python has os.unshare and os.setns only from 3.12 on, and Debian 12 has 3.11.
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWNET = 0x4000_0000
# fsopen(2), fsconfig(2) and fsmount(2), Linux 5.2; the numbers are the same on every architecture.
FSOPEN, FSCONFIG, FSMOUNT = 430, 431, 432
FSCONFIG_CMD_CREATE = 6
CLOSE_ON_EXEC = 1

_libc = ctypes.CDLL(None, use_errno=True)

_settled = False
"""Whether this process lives in a user namespace of its own: that door opens one way only."""


@contextmanager
def tester_namespace() -> Iterator[bool]:
    """The calling thread (and threads it starts) in a fresh network namespace. Yields whether as root.

    Root goes back afterwards. A plain user gets a user namespace around it, in which root stands for
    the user alone; a process cannot return from that, so it stays, and the next lab finds it there.
    """
    sys.audit("netdyno.namespace")
    if _settled:
        yield False
        return
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _call("unshare", CLONE_NEWNET) == 0:
            try:
                _quiet()
                yield True
            finally:
                if _call("setns", home, CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), "cannot return to the first network namespace")
            return
        refusal = ctypes.get_errno()
    finally:
        os.close(home)
    if refusal != errno.EPERM:
        raise LabError(
            f"the kernel gives no network namespace: {os.strerror(refusal)}",
            "it needs CONFIG_NET_NS, and room below `/proc/sys/user/max_net_namespaces`",
            code="no-namespace",
        )
    _settle()
    yield False


@contextmanager
def within(pid: int) -> Iterator[None]:
    """The calling thread in the network namespace of a process. Raises OSError.

    Sockets that are opened in the block belong to that namespace for good.
    """
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _done(_call("setns", there, CLONE_NEWNET))
        try:
            yield
        finally:
            _done(_call("setns", home, CLONE_NEWNET))
    finally:
        os.close(there)
        os.close(home)


def sysfs_of(pid: int) -> int:
    """The descriptor of /sys as the network namespace of a process has it. Raises OSError.

    It is mounted nowhere, so it needs no mount namespace: those cannot be made in a plain chroot.
    """
    with within(pid):
        made = _done(_system(FSOPEN, ctypes.c_char_p(b"sysfs"), CLOSE_ON_EXEC))
        try:
            _done(_system(FSCONFIG, made, FSCONFIG_CMD_CREATE, None, None, 0))
            return _done(_system(FSMOUNT, made, CLOSE_ON_EXEC, 0))
        finally:
            os.close(made)


def _settle() -> None:
    global _settled
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        # unshare(2): CLONE_NEWUSER wants a process with a single thread.
        raise LabError(
            f"a lab without root has to be built before other threads start; there are {threads}",
            "run as root, or run this plan in a process of its own",
            code="no-namespace",
        )
    user, group = os.getuid(), os.getgid()
    if _call("unshare", CLONE_NEWUSER | CLONE_NEWNET) != 0:
        refusal = ctypes.get_errno()
        raise LabError(
            f"this user may not make a network namespace, nor a user namespace: {os.strerror(refusal)}",
            _userns_hint(),
            code="no-rights",
        )
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    except OSError as error:
        raise LabError(
            f"the user namespace got no identity: {error.strerror}", _userns_hint(), code="no-rights"
        ) from error
    _settled = True
    _quiet()


def _userns_hint() -> str:
    """The setting that forbids user namespaces here, as far as it can be read."""
    for name, bad, good in (
        ("user/max_user_namespaces", "0", "10000"),
        ("kernel/unprivileged_userns_clone", "0", "1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ):
        try:
            value = Path("/proc/sys", name).read_text().strip()
        except OSError:
            continue
        if value == bad:
            return f"run as root, or allow it: `sudo sysctl {name.replace('/', '.')}={good}`"
    return "run as root; something here (a chroot? a container's profile?) forbids user namespaces"


def _quiet() -> None:
    """No IPv6 chatter: interfaces made here send neither router solicitations nor MLD reports."""
    for scope in ("all", "default"):
        try:
            Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")
        except OSError:
            continue  # A kernel without IPv6 has nothing to say.


def _done(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _system(number: int, *arguments: int | ctypes.c_char_p | None) -> int:
    ctypes.set_errno(0)
    # As long as a register: what a variadic function is given as an int leaves its upper half open.
    wide = [ctypes.c_long(it) if isinstance(it, int) else it for it in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *wide)
    return result


def _call(name: str, *arguments: int) -> int:
    ctypes.set_errno(0)
    result: int = getattr(_libc, name)(*arguments)
    return result
