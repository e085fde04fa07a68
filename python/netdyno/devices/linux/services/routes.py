"""Routes to the networks behind the tester's ports, or to as many prefixes as the setting says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from netdyno.devices import addresses, routes, routing
from netdyno.devices.linux import leftovers
from netdyno.devices.linux.services.service import Installed, Lab, Service
from netdyno.devices.wiring import Wiring


@dataclass(frozen=True)
class Routes(Service):
    """Static routes by way of each port, unless the router learns them."""

    def is_on(self, settings: Mapping[str, str]) -> bool:
        return settings.get(routing.SETTING) != routing.BGP

    def wire(self, wiring: Wiring, value: str) -> Wiring:
        behind = routes.prefixes_behind(value, len(wiring.ports))
        if routes.version(behind[0]) == 6:
            raise ValueError("it forwards IPv4 alone, so there are no IPv6 routes")
        return replace(wiring, routes=behind)

    @contextmanager
    def install(self, lab: Lab) -> Iterator[Installed]:
        count = len(lab.ports)
        networks = [addresses.networks_behind(port, count) for port in range(count)]
        with leftovers.own_folder("routes") as folder:
            commands = []
            has_speakers = any(port.speaker for port in lab.wiring.ports)
            for port, prefixes in enumerate(networks if has_speakers else lab.wiring.routes or networks):
                via = addresses.tester(port)
                file = folder / f"routes-{port}"
                file.write_text("".join(f"route replace {prefix} via {via}\n" for prefix in prefixes))
                # One process for all of them.
                commands.append(f"ip -batch {file}")
                lab.device.do(commands[-1])
            yield Installed(of_links=tuple(commands))


SERVICE = Routes(routes.SETTING)
