"""Programs of T-Rex's field engine: the words of both styles, and the instructions that they make."""

from __future__ import annotations

import ipaddress
import random
from typing import Any

from netdyno.profiles.stl.packet import Packet


class STLError(Exception):
    """What T-Rex's library refuses. Profiles raise it themselves as well."""


class STLTypeError(STLError):
    """An argument of another type than it takes."""


class CTRexPacketBuildException(STLError):  # noqa: N818
    """A program that cannot be."""


def as_int(value: Any) -> Any:
    """A number, or an IPv4 address as one; what else is given stays."""
    return int(ipaddress.IPv4Address(value)) if isinstance(value, str) else value


class CTRexVmInsFixHwCs:
    """Numbers of the protocols of a checksum."""

    L4_TYPE_UDP, L4_TYPE_TCP, L4_TYPE_IP = 11, 13, 17


# A command is a dict with a `type`, as in the instructions; places are still as the profile has them.


def STLVmFlowVar(  # noqa: N802
    name: Any,
    init_value: Any = None,
    min_value: Any = 0,
    max_value: Any = 255,
    size: int = 4,
    step: Any = 1,
    op: str = "inc",
    value_list: Any = None,
    split_to_cores: bool = True,
    next_var: Any = None,
) -> dict[str, Any]:
    """A variable that counts up or down, walks a list, or is drawn."""
    if op not in ("inc", "dec", "random"):
        raise STLError(f"op {op!r} of variable {name!r}: inc, dec or random")
    if size not in (1, 2, 4, 8):
        raise STLError(f"size {size!r} of variable {name!r}: 1, 2, 4 or 8")
    if op == "random" and next_var is not None:
        raise CTRexPacketBuildException(f"random variable {name!r} has a next_var")
    found = {"type": "flow_var", "name": name, "op": op, "size": size, "step": as_int(step)}
    found |= {"split_to_cores": split_to_cores, "next_var": next_var}
    if value_list is not None:
        values = [as_int(value) for value in value_list]
        if not values or max(values) >= 1 << 8 * size or min(values) < 0:
            raise CTRexPacketBuildException(f"values of {name!r} do not fit {size} bytes")
        return found | {"value_list": values}
    low, high = as_int(min_value), as_int(max_value)
    first = as_int(init_value)
    if first is None:
        first = high if op == "dec" else low
    if not 0 <= low <= first <= high < 1 << 8 * size:
        raise CTRexPacketBuildException(f"variable {name!r}: {low} <= {first} <= {high} in {size} bytes")
    return found | {"init_value": first, "min_value": low, "max_value": high}


def STLVmFlowVarRepeatableRandom(  # noqa: N802
    name: Any,
    size: int = 4,
    limit: int = 100,
    seed: Any = None,
    min_value: Any = 0,
    max_value: Any = None,
    split_to_cores: bool = True,
    next_var: Any = None,
) -> dict[str, Any]:
    """A variable that draws the same `limit` values again and again."""
    high = (1 << 8 * size) - 1 if max_value is None else as_int(max_value)
    return {
        "type": "flow_var_rand_limit",
        "name": name,
        "size": size,
        "limit": as_int(limit),
        "seed": random.randint(1, 32000) if seed is None else as_int(seed),
        "min_value": as_int(min_value),
        "max_value": high,
        "split_to_cores": split_to_cores,
        "next_var": next_var,
    }


def STLVmTupleGen(  # noqa: N802
    name: Any,
    ip_min: Any = "0.0.0.1",
    ip_max: Any = "0.0.0.10",
    port_min: int = 1025,
    port_max: int = 65535,
    limit_flows: int = 100000,
    flags: int = 0,
) -> dict[str, Any]:
    """Addresses and ports: the port counts where the addresses wrap."""
    return {
        "type": "tuple_flow_var",
        "name": name,
        "ip_min": as_int(ip_min),
        "ip_max": as_int(ip_max),
        "port_min": port_min,
        "port_max": port_max,
        "limit_flows": limit_flows,
        "flags": flags,
    }


def STLVmWrFlowVar(  # noqa: N802
    fv_name: Any, pkt_offset: Any, offset_fixup: int = 0, add_val: int = 0, is_big: bool = True
) -> dict[str, Any]:
    """Writes a variable."""
    return {
        "type": "write_flow_var",
        "name": fv_name,
        "pkt_offset": pkt_offset,
        "fixup": offset_fixup,
        "add_value": add_val,
        "is_big_endian": is_big,
    }


def STLVmWrMaskFlowVar(  # noqa: N802
    fv_name: Any,
    pkt_offset: Any,
    pkt_cast_size: int = 1,
    mask: int = 0xFF,
    shift: int = 0,
    add_value: int = 0,
    offset_fixup: int = 0,
    is_big: bool = True,
) -> dict[str, Any]:
    """Writes some bits of a variable."""
    if pkt_cast_size not in (1, 2, 4):
        raise STLError(f"pkt_cast_size {pkt_cast_size!r}: 1, 2 or 4")
    return {
        "type": "write_mask_flow_var",
        "name": fv_name,
        "pkt_offset": pkt_offset,
        "fixup": offset_fixup,
        "add_value": add_value,
        "is_big_endian": is_big,
        "pkt_cast_size": pkt_cast_size,
        "mask": mask,
        "shift": shift,
    }


def STLVmFixIpv4(offset: Any) -> dict[str, Any]:  # noqa: N802
    """The checksum of an IPv4 header."""
    return {"type": "fix_checksum_ipv4", "layer": offset}


def STLVmFixChecksumHw(l3_offset: Any, l4_offset: Any, l4_type: int) -> dict[str, Any]:  # noqa: N802
    """The checksums of IPv4 and of UDP or TCP, by the card."""
    return {"type": "fix_checksum_hw", "layer": l3_offset, "above": l4_offset, "l4_type": l4_type}


def STLVmFixIcmpv6(l3_offset: Any, l4_offset: Any) -> dict[str, Any]:  # noqa: N802
    """The checksum of ICMPv6."""
    return {"type": "fix_checksum_icmpv6", "layer": l3_offset, "above": l4_offset}


def STLVmTrimPktSize(fv_name: Any) -> dict[str, Any]:  # noqa: N802
    """Cuts the frame to a variable's value."""
    return {"type": "trim_pkt_size", "name": fv_name}


class STLVM:
    """A program in the other style: a method for each command."""

    def __init__(self) -> None:
        self.commands: list[dict[str, Any]] = []
        self.cache_size: int | None = None

    def var(
        self,
        name: Any,
        min_value: Any,
        max_value: Any,
        size: int = 4,
        op: str = "inc",
        step: Any = 1,
        split_to_cores: bool = True,
        value_list: Any = None,
        init_value: Any = None,
        next_var: Any = None,
        **more: Any,
    ) -> None:
        """A variable."""
        given = {"step": step, "op": op, "value_list": value_list, "next_var": next_var, **more}
        given |= {"split_to_cores": split_to_cores, "init_value": init_value}
        self.commands.append(STLVmFlowVar(name, min_value=min_value, max_value=max_value, size=size, **given))

    def repeatable_random_var(self, fv_name: Any, **given: Any) -> None:
        """A variable that draws the same values again."""
        self.commands.append(STLVmFlowVarRepeatableRandom(fv_name, **given))

    def tuple_var(
        self,
        name: Any,
        ip_min: Any,
        ip_max: Any,
        port_min: int,
        port_max: int,
        limit_flows: int = 0,
        flags: int = 0,
    ) -> None:
        """Addresses and ports."""
        self.commands.append(STLVmTupleGen(name, ip_min, ip_max, port_min, port_max, limit_flows, flags))

    def write(
        self,
        fv_name: Any,
        pkt_offset: Any,
        offset_fixup: int = 0,
        add_val: int = 0,
        byte_order: str = "big",
    ) -> None:
        """Writes a variable."""
        self.commands.append(STLVmWrFlowVar(fv_name, pkt_offset, offset_fixup, add_val, byte_order == "big"))

    def write_mask(
        self,
        fv_name: Any,
        pkt_offset: Any,
        pkt_cast_size: int = 1,
        mask: int = 0xFF,
        shift: int = 0,
        add_val: int = 0,
        offset_fixup: int = 0,
        byte_order: str = "big",
    ) -> None:
        """Writes some bits of a variable."""
        self.commands.append(
            STLVmWrMaskFlowVar(
                fv_name, pkt_offset, pkt_cast_size, mask, shift, add_val, offset_fixup, byte_order == "big"
            )
        )

    def trim(self, fv_name: Any) -> None:
        """Cuts the frame to a variable's value."""
        self.commands.append(STLVmTrimPktSize(fv_name))

    def fix_chksum(self, offset: Any = "IP") -> None:
        """The checksum of an IPv4 header."""
        self.commands.append(STLVmFixIpv4(offset))

    def fix_chksum_hw(self, l3_offset: Any, l4_offset: Any, l4_type: int) -> None:
        """The checksums of the card."""
        self.commands.append(STLVmFixChecksumHw(l3_offset, l4_offset, l4_type))

    def fix_chksum_icmpv6(self, l3_offset: Any, l4_offset: Any) -> None:
        """The checksum of ICMPv6."""
        self.commands.append(STLVmFixIcmpv6(l3_offset, l4_offset))

    def set_cached(self, cache_size: int) -> None:
        """How many packets are made once and sent again and again."""
        self.cache_size = cache_size


class STLScVmRaw(STLVM):
    """A program as a list of commands."""

    def __init__(
        self, list_of_commands: Any = None, split_by_field: Any = None, cache_size: Any = None
    ) -> None:
        super().__init__()
        self.commands, self.cache_size = list(list_of_commands or ()), cache_size

    def add_cmd(self, command: dict[str, Any]) -> None:
        """One command more."""
        self.commands.append(command)


def _find_layer(packet: Packet | None, name: str) -> tuple[int, Packet]:
    """Where a layer begins, by its class or display name: `IP`, `IP:1`, `802|1Q`."""
    wanted, _, index = name.partition(":")
    wanted, count, offset = wanted.replace("|", "."), int(index or 0), 0
    for layer in () if packet is None else packet.layers():
        if wanted in (type(layer).__name__, layer.name):
            if count == 0:
                return offset, layer
            count -= 1
        offset += len(layer.header())
    raise CTRexPacketBuildException(f"the packet has no layer {name!r}")


def find_offset(packet: Packet | None, place: Any) -> int:
    """A place as bytes from the begin of the frame: a number stays, `IP.src` is looked up."""
    if not isinstance(place, str):
        return int(place)
    layer_name, dot, field_name = place.rpartition(".")
    if not dot:
        return _find_layer(packet, place)[0]
    offset, layer = _find_layer(packet, layer_name)
    bits = 0
    for field in layer.fields_desc:
        if field.name == field_name:
            return offset + bits // 8
        bits += field.bits
    raise CTRexPacketBuildException(f"layer {layer_name!r} has no field {field_name!r}")


def instructions(program: Any, packet: Packet | None) -> dict[str, Any]:
    """A program as `add_stream` takes it."""
    if isinstance(program, list):
        program = STLScVmRaw(program)
    if program is None:
        return {"instructions": []}
    found = []
    for command in program.commands:
        one = dict(command)
        layer, above = one.pop("layer", None), one.pop("above", None)
        if "pkt_offset" in one:
            one["pkt_offset"] = find_offset(packet, one["pkt_offset"]) + one.pop("fixup")
        elif one["type"] == "fix_checksum_ipv4":
            one["pkt_offset"] = find_offset(packet, layer)
        elif layer is not None:
            one["l2_len"] = find_offset(packet, layer)
            one["l3_len"] = find_offset(packet, above) - one["l2_len"] if above else 20
        found.append(one)
    return {"instructions": found, **({"cache": program.cache_size} if program.cache_size else {})}


def parsed(raw: bytes, program: Any) -> Packet | None:
    """A frame as layers, if a program names one of them."""
    from netdyno.profiles.stl.layers import Ether

    commands = program if isinstance(program, list) else getattr(program, "commands", ())
    named = any(isinstance(one.get(key), str) for one in commands for key in ("pkt_offset", "layer"))
    return Ether(raw) if named else None
