"""How uneven the shares of several ports are, against what flows spread at random make."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log


def chance_of_shares(frames: Sequence[int], flows: int, weights: Sequence[int] = ()) -> float:
    """The most that the chance is of shares at least as far from `weights` as those of `frames`, 0 to 1.

    flows: as many, of one rate, each on one of the ports. weights: how likely each port is; empty: all are
    alike likely. Sanov's theorem (Cover and Thomas, Elements of Information Theory, theorem 11.4.1) with the
    exact number of types: of n ports and F flows C(F + n - 1, n - 1) exp(-F D), D the divergence of the
    shares from the likely ones.
    """
    total, ports = sum(frames), len(frames)
    if total == 0 or flows == 0:
        return 1.0
    weights = weights or (1,) * ports
    likely = [one / sum(weights) for one in weights]
    divergence = sum(
        one / total * log(one / total / of) for one, of in zip(frames, likely, strict=True) if one
    )
    types = lgamma(flows + ports) - lgamma(flows + 1) - lgamma(ports)
    return min(1.0, exp(min(0.0, types - flows * divergence)))
