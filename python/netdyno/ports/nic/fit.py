"""Which backend an interface can take: tried where trying does no harm, else by what the kernel says."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import socket
import struct
from dataclasses import dataclass, replace
from pathlib import Path

from netdyno.ports.nic import Nic, xdp

_BPF_SYSCALL = {"x86_64": 321, "aarch64": 280, "riscv64": 280}
_BPF_PROG_LOAD = 5
_BPF_PROG_TYPE_XDP = 6
_BPF_ATTR_BYTES = 128
_LINK_KERNEL = (5, 9)
"""BPF links to an interface: a program that goes with its process, however that ends."""

# linux/capability.h
_NET_ADMIN, _NET_RAW, _BPF = ("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13), ("CAP_BPF", 39)


@dataclass(frozen=True)
class Fit:
    """Whether an interface can take a backend.

    how: in which way it would (`native, copy`). why: it cannot, a clause; None: it can. hint: what to do.
    """

    backend: str
    how: str = ""
    why: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Rights:
    """What this process may do on this kernel: each backend's refusal and what helps, None if it may."""

    af_packet: tuple[str, str | None] | None
    af_xdp: tuple[str, str | None] | None


def rights() -> Rights:
    """Tried: a packet socket that receives nothing, an AF_XDP socket, a BPF program attached nowhere."""
    return Rights(_packet_refusal(), _xdp_refusal())


def packet_fit(nic: Nic, may: Rights) -> Fit:
    """Packet sockets on an interface."""
    return _fit("af_packet", nic, may.af_packet, "any frame")


def _fit(backend: str, nic: Nic, refusal: tuple[str, str | None] | None, how: str) -> Fit:
    if not nic.link.ethernet:
        return Fit(backend, why="it carries no Ethernet frames")
    if refusal is not None:
        return Fit(backend, why=refusal[0], hint=refusal[1])
    if not nic.link.up:
        return Fit(backend, why="it is down", hint=f"ip link set {nic.name} up")
    return Fit(backend, how)


def xdp_fit(nic: Nic, may: Rights) -> Fit:
    """AF_XDP on an interface."""
    if nic.xdp is None:
        how = "native if its driver can, else generic"
    elif nic.xdp.zero_copy:
        how = "native, zero-copy"
    else:
        # A veth hands on frames as the kernel's packets already: generic is the faster one there.
        native = nic.xdp.native and nic.link.kind != "veth"
        how = "native, copy" if native else "generic, copy"
    fit = _fit("af_xdp", nic, may.af_xdp, how)
    if fit.why is None and nic.queues is not None and nic.queues.now > 1:
        # Each queue is served by a socket of its own, and each worker has one.
        hint = f"as many workers as its {nic.queues.now} queues, or ethtool -L {nic.name} combined 1"
        fit = replace(fit, hint=hint)
    if fit.why is None and nic.link.xdp:
        return Fit(
            "af_xdp",
            why=f"it has an XDP program already ({nic.link.xdp}, number {nic.link.xdp_program})",
            hint=f"end the program that attached it, or ip link set {nic.name} xdp off",
        )
    return fit


def _grant(*needed: tuple[str, int]) -> str:
    """What would give this process the rights that it is without."""
    status = Path("/proc/self/status").read_text()
    (effective,) = re.findall(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    missing = [name for name, bit in needed if not int(effective, 16) >> bit & 1]
    if Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]:
        if _BPF in needed:
            return (
                "a user namespace's root is not enough for XDP programs: run as the machine's, or `af_packet`"
            )
        return "this user namespace does not own the network: `unshare -Urn` makes both, or run outside of it"
    if not missing:
        return "it has the rights: a container's profile or the kernel's lockdown forbids it"
    small = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in missing)
    return (
        f"run as root, or grant {' and '.join(f'`{name}`' for name in missing)}: `sudo setpriv --reuid=$USER"
        f" --init-groups --inh-caps={small} --ambient-caps={small} netdyno ...`"
    )


def _packet_refusal() -> tuple[str, str | None] | None:
    try:
        # Protocol 0 receives nothing.
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except PermissionError:
        return "this process may not open packet sockets", _grant(_NET_RAW)
    except OSError as error:
        return f"this kernel has no packet sockets ({error.strerror})", None
    return None


def _xdp_refusal() -> tuple[str, str | None] | None:
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    if release and (int(release[1]), int(release[2])) < _LINK_KERNEL:
        return f"Linux {platform.release()} has no BPF links", "Linux 5.9 or later"
    refused = xdp.socket_refusal() or _load_refusal()
    if refused is None:
        return None
    if refused.errno in (errno.EAFNOSUPPORT, errno.ENOSYS):
        return "this kernel has no AF_XDP", "a kernel with CONFIG_XDP_SOCKETS and CONFIG_BPF_SYSCALL"
    if isinstance(refused, PermissionError):
        return "this process may not load XDP programs", _grant(_NET_RAW, _NET_ADMIN, _BPF)
    return f"the kernel takes no XDP program ({refused.strerror})", None


def _load_refusal() -> OSError | None:
    """Why an XDP program may not be loaded. The one tried passes every frame and is attached to nothing."""
    number = _BPF_SYSCALL.get(platform.machine())
    if number is None:
        return None
    # r0 = XDP_PASS; exit
    program = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, 2, 0x95, 0, 0, 0), 16)
    licence = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack(
        "IIQQ", _BPF_PROG_TYPE_XDP, 2, ctypes.addressof(program), ctypes.addressof(licence)
    )
    filled = ctypes.create_string_buffer(attributes, _BPF_ATTR_BYTES)
    libc = ctypes.CDLL(None, use_errno=True)
    opened = libc.syscall(
        ctypes.c_long(number), ctypes.c_int(_BPF_PROG_LOAD), filled, ctypes.c_uint(_BPF_ATTR_BYTES)
    )
    if opened < 0:
        return OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.close(opened)
    return None
