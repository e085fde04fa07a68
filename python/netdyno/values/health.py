"""How well the tester itself did in a trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerHealth:
    """How one thread of the tester did while there was traffic (real time)."""

    core: int | None
    """The core it was kept on, if it was."""
    core_share_ppm: int | None
    rounds: int
    longest_gap_ns: int
    frames: int
    """Sent and received."""
    busy_ns: int
    """Time of the rounds in which it moved frames: over `frames`, what one cost."""
    tx_frames: tuple[int, ...] = ()
    """Sent from its queue of each port since traffic began, in the order of the ports; empty: not noted."""
    rx_frames: tuple[int, ...] = ()
    """Received there: who spreads frames over queues is the card, the kernel or the peer."""


@dataclass(frozen=True)
class CatchUp:
    """How the tester caught up after pauses (real time); see crates/engine/src/result.rs."""

    percent: int
    """The highest rate at which it may, per cent of the intended one."""
    pauses: int
    longest_ns: int
    """The longest a frame had been due when the tester came back to it."""
    frames: int
    """Sent faster than intended between a pause and being on time again: at another load."""
    longest_run: int
    """The most of them after one pause."""
    most_in_round: int
    """The most frames that one worker handed to one port in one round of its loop; the next may follow at
    once."""


@dataclass(frozen=True)
class PeerHealth:
    """What the process at the other end of a port had of its cores during a trial, ns; see
    crates/io/src/process.rs.

    waited_ns: None where the kernel does not count it; stolen_ns, interrupts_ns: None where it does not say.
    """

    pid: int
    elapsed_ns: int
    ran_ns: int
    """All its threads together, as `waited_ns`."""
    waited_ns: int | None
    """Ready to run, and without a core."""
    ours_ns: int
    """The tester itself ran on the cores of its busy threads."""
    stolen_ns: int | None
    """The hypervisor took from these cores, in ticks of 10 ms."""
    interrupts_ns: int | None
    """Interrupts took from them, likewise."""

    @property
    def held_ns(self) -> int:
        """How long it was preempted at most, as far as the kernel says: it may have waited for the tester."""
        return (self.waited_ns or 0) + self.ours_ns + (self.stolen_ns or 0) + (self.interrupts_ns or 0)

    @property
    def preempted_ns(self) -> int:
        """How long it was preempted, as the kernel counts it. The tester's part is in `waited_ns`."""
        waited_ns = self.ours_ns if self.waited_ns is None else self.waited_ns
        return waited_ns + (self.stolen_ns or 0) + (self.interrupts_ns or 0)


@dataclass(frozen=True)
class HostHealth:
    """How one of several generator hosts did in a trial. name: empty for the host that ran the load test.

    None of a number: not measured, as that of frames in a trial of connections.
    """

    name: str
    began_late_ns: int | None
    """How long after the instant that all hosts had its traffic began; None: it did not."""
    clock_bound_ns: int | None
    """How far that instant may have been another one than ours, by what is known of its clock."""
    core_share_ppm: int | None
    longest_gap_ns: int | None
    unsent: int | None
    rx_dropped: int | None
    tx_dropped: int | None
    sent_ns: int
    """How long it sent."""
    streams: tuple[str, ...]
    """Those that it sends."""
    pressure_ns: int | None = None
    """How long some process of it waited for a core, whoever's: what its kernel calls pressure (PSI)."""


@dataclass(frozen=True)
class Health:
    """How well the tester itself did."""

    unsent: int
    latest_departure_ns: int
    longest_gap_ns: int
    rx_dropped: int
    tx_full: int
    core_share_ppm: int | None
    split_flows: int = 0
    """Flows whose frames came to several workers: order and copies are not known from one to the other."""
    workers: tuple[WorkerHealth, ...] = ()
    threads: int = 0
    """Threads that never slept, workers and emulated devices; `cores` is what they had between them."""
    cores: int = 0
    tx_dropped: int = 0
    """Frames offered that the tester's kernel or driver dropped before the wire, as far as these say so."""
    rx_full: int = 0
    """Looks that found a port's ring full: what came before them and found no room, nobody counted."""
    rx_full_ns: int | None = None
    """The time before those looks, of all rings together; None: not measured."""
    tx_ahead: int = 0
    """The most frames that were still to leave the machine when a port was handed further ones."""
    tx_ahead_ns: int | None = None
    """What these take on their line at most: so much of a latency may be the tester's own queue."""
    unheard: int = 0
    """Frames that are no test frames and came so many at once that they were not listened to or answered."""
    rx_too_long: int = 0
    """Frames longer than any that was sent, which nobody looked into: test frames that are missing may be
    joined in them."""
    catch_up: CatchUp | None = None
    """None in virtual time."""
    tx_no_peer: int = 0
    """Times a port had no peer to send to; `tx_full` counts those without room."""
    peers: tuple[PeerHealth, ...] = ()
    """The processes at the other ends of the ports; those that the kernel tells of."""

    @property
    def made_up(self) -> int:
        """Frames sent at another load than the intended one, in catching up after pauses."""
        return 0 if self.catch_up is None else self.catch_up.frames
