"""AF_XDP on an interface of the kernel."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from pydantic import Field

from netdyno.ports.backends.backend import Backend, Options
from netdyno.ports.nic import fit


class XdpOptions(Options):
    """Where its program is in the receive path, and whether frames are copied."""

    attach: Literal["auto", "generic", "native"] = Field(
        default="auto", description="Of AF_XDP: its program in the driver (native) or behind it (generic)."
    )
    mode: Literal["auto", "copy", "zero-copy"] = Field(
        default="auto", description="Of AF_XDP: whether frames are copied."
    )


BACKEND = Backend(
    name="af_xdp",
    noun="AF_XDP",
    whose="AF_XDP's",
    options=XdpOptions,
    fit=fit.xdp_fit,
    usual_fps=Fraction(490_000),
    # A frame lies in 4096 bytes, 256 of which the kernel keeps for itself.
    longest=3840,
    names_its_way=True,
    has_queue_per_worker=True,
    in_driver=("attach", "native"),
    is_held=lambda card: bool(card.link.xdp),
)
