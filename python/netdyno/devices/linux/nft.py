"""Rules of nftables in a device's namespace."""

from __future__ import annotations

from netdyno.devices.kind import Program
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import leftovers
from netdyno.devices.wiring import LabError

NFT = Program("nft", "nftables", "a Linux router filters packets with it")


def load(device: dut.Device, rules: str) -> None:
    """Adds rules, as `nft -f` reads them; they go with the namespace. Raises LabError."""
    program = dut.tool(NFT)
    with leftovers.own_folder("nft") as folder:
        file = folder / "rules.nft"
        file.write_text(rules)
        status, said = device.ask(f"{program} -f {file}")
    if status != 0:
        raise LabError(
            f"the device's rules could not be set up: `nft` said: {said.strip() or status}",
            "this kernel may lack nftables; try `sudo modprobe nf_tables`",
            code="command-failed",
        )
