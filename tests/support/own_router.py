"""A router in a namespace, on interfaces `west` and `east` of this machine, as somebody else's would be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces
from netdyno.devices.linux.forwarding import Router, set_up


@contextmanager
def own_router() -> Iterator[dut.Device]:
    """Its ports are d0 and d1; the calling thread has the interfaces until the end of the block."""
    with ExitStack() as within:
        within.enter_context(namespaces.tester_namespace())
        found = within.enter_context(dut.device_namespace())
        for port, name in enumerate(("west", "east")):
            links.ip(f"link add {name} type veth peer name d{port} netns {found.pid}")
            links.ip(f"link set {name} up")
        set_up(found, Router(), 2)
        yield found
