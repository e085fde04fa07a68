"""Reasons about labs, for a reader of the report: the device, its cores, the interfaces."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from netdyno.values.reason import Codes, Reason, declared


class EmulatedDevice(Reason, code="emulated-device"):
    """The device is a model in virtual time."""

    says = "The device is emulated, in virtual time: nothing here was measured on a real device."


class TableEmulated(Reason, code="table-emulated"):
    """An emulated router has the table that its neighbours announce, without a session of BGP."""

    says = """The emulated router has the announced table from the begin of each trial to its end: no session
        of BGP is emulated, and none can break."""


class ServedDevice(Reason, code="served-device"):
    """The device is a model that a process serves in real time, between veth pairs."""

    says = "The emulated device is served in real time, by a program on this machine."


class DeviceTakesIn(Reason, code="device-takes-in"):
    """The plan limits the frames that an emulated device takes in, per port, card or for all ports.

    cards: ports of each card.
    """

    rate_pps: int
    per: Literal["port", "card", "box"]
    cards: tuple[int, ...]

    def __str__(self) -> str:
        thousands, rest = divmod(self.rate_pps, 1000)
        shown = f"{self.rate_pps} pps" if rest else f"{thousands} kpps"
        if not self.rate_pps % 1_000_000:
            shown = f"{self.rate_pps // 1_000_000} Mpps"
        of = ", ".join(map(str, self.cards))
        each = f"card of {of}" if len(self.cards) == 1 else f"of {len(self.cards)} cards with {of}"
        where = {
            "port": "on each port",
            "card": f"on each {each} ports",
            "box": "on all ports together",
        }[self.per]
        return f"The device takes in {shown} {where}, as the plan says."


class DeviceSetTo(Reason, code="device-set-to"):
    """The plan sets these settings of an emulated device to other values than their defaults."""

    settings: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        settings = ", ".join(f"`{name}: {value}`" for name, value in self.settings)
        return f"The device is as the plan says: {settings}."


class PublishedCapacities(Reason, code="published-capacities", is_detail=True):
    """An emulated device has the capacities of a published test. source: the numbers and their cells."""

    source: str
    says = "Its capacities: {source}."


class PublishedOneWay(Reason, code="published-one-way"):
    """The published test behind an emulated device sent in one direction only in its uni runs."""

    says = "The capacities come from a published test whose uni runs sent in one direction only."


class HashedMembers(Reason, code="hashed-members"):
    """The ports of an emulated device are LAGs; hashes choose a member for each frame, in and out.

    far_end_hash: of the switch that sends to the device. Empty in runs stored before hashes were settings.
    switches: that the members of each port belong to; of several a first stage chooses one. second: how the
    second stage hashes, `same` or `rotated`.
    """

    members: int
    hash: str = ""
    far_end_hash: str = "dst-ip"
    switches: int = 1
    second: str = ""
    says = """Each port is a LAG of {members:d} members{second:?, of {switches:d} switches}. The far-end
        switch chooses a frame's member by `{far_end_hash}`{hash:?, the device by `{hash}`}{second:?: first
        the switch, then its member (`second_hash: {second}`)}."""


class PublishedLatency(Reason, code="published-latency"):
    """The emulated ASR1000 has the latency and the limits of a published test."""

    says = """Its latency is that of a published test: 256 B 50 to 73 us on average up to 99 % of two 10
        Gbit/s lines and 1,179 us at 100 %, 1518 B 99 to 114 us; the box forwards 11.36 Mpps and 20 Gbit/s."""


class PublishedLatencyAtThroughput(Reason, code="published-latency-at-throughput"):
    """The emulated ASR1000 has the latency that a published test names at its throughput, under any load.

    delay_ns: of the device, without the lines.
    """

    delay_ns: int
    says = """Its latency, {delay_ns} beside the lines', is that of a published test at its throughput. Below
        that load none is published."""


class CapacityUnknown(Reason, code="capacity-unknown"):
    """The capacity of an emulated device is unknown: it has what it was seen to forward. least_fps: that."""

    least_fps: int
    says = """A published test filled its line and names no load of its core. The model forwards what was
        seen, {least_fps}, and real hardware that or more."""


class NoPublishedLimit(Reason, code="no-published-limit"):
    """No limit of the emulated CCR1072 is published, so its model has none."""

    says = """A published test filled its eight 10 Gbit/s ports with long frames and found no other limit.
        Its limit for short frames is unknown; the model passes them all."""


class DeviceLicence(Reason, code="device-licence"):
    """The licence of an emulated device limits both directions together."""

    rate_bps: int

    def __str__(self) -> str:
        return f"Its licence lets {self.rate_bps // 1_000_000} Mbit/s through, both directions together."


class CapacityFromCpu(Reason, code="capacity-from-cpu"):
    """The capacity of an emulated device follows from a published load of its core. busy: the share of it."""

    busy: Fraction
    capacity_fps: int
    says = """What it forwards follows from a published load of its core, {busy:%} at 95 Mbit/s of TCP or
        less: it was not measured."""


class TwoSwitches(Reason, code="two-switches"):
    """The emulated device is two switches and a trunk. tag_bytes: added to each frame on the trunk."""

    trunk_bps: int
    tag_bytes: int
    says = """Two switches, joined by a trunk of {trunk_bps}: every other port is on the second
        one.{tag_bytes:? Each frame is {tag_bytes:d} bytes longer on it (802.1ad).}"""


class VethPairs(Reason, code="veth-pairs"):
    """The device is this machine's Linux kernel behind veth pairs, which have no line rate."""

    kernel: str
    says = """Real frames through Linux {kernel} over veth pairs, which pass frames as fast as the CPU can:
        there is no line rate. The plan's `rate` only says what 100 % of a load or goal is."""


class RoutesAnnounced(Reason, code="routes-announced"):
    """The table that a speaker of the tester announced. took_ns: from the begin of all sessions to the
    last route in the device. held: routes that the device counts, its own among them; None: nobody can count
    them. Of the speaker's program and of those of the device, if it is on this machine: processor time and
    memory."""

    port: str
    routes: int
    routes_ipv6: int
    sessions: int
    took_ns: int
    held: int | None
    speaker_cpu_ns: int
    speaker_mib: int
    device_cpu_ns: int | None
    device_mib: int | None
    says = """`{port}` announced {routes:IPv4 route}{routes_ipv6:? and {routes_ipv6:IPv6 route}} in
        {sessions:session}.{held:? After {took_ns} the device counted {held:route}.} The speaker took
        {speaker_cpu_ns} of processor time and {speaker_mib} MiB{device_cpu_ns:?, the device's programs
        {device_cpu_ns} and {device_mib} MiB}."""


class LagFormed(Reason, code="lag-formed", is_detail=True):
    """A LAG that the tester's LACP formed. partner: the MAC address that the device's system has in LACPDUs.
    key: the partner's. took_ns: from the first LACPDU until all members collected and distributed, or were
    waited for no longer."""

    port: str
    members: int
    partner: str
    key: int
    took_ns: int
    says = """LACP formed the LAG `{port}` of {members:member} with partner {partner}, key {key:d}, in
        {took_ns}."""


class MembersLeftOut(Reason, code="lag-members-left-out"):
    """Members of a LAG of the tester that did not join in time: the case goes on without them. members: that
    carry its frames, of how many. hangs: of each other one why it does not."""

    port: str
    members: int
    of: int
    hangs: tuple[str, ...]
    says = """The LAG `{port}` carries frames on {members} of {of:member}, and its load is of these:
        {hangs}."""


class RoutesLeftOut(Reason, code="routes-left-out"):
    """Routes of an MRT file that a speaker of the tester does not announce. why: what they are."""

    port: str
    routes: int
    why: str
    says = """`{port}` does not announce {routes:route} of its file: {why}."""


class ConnectionTable(Reason, code="connection-table", is_detail=True):
    """The connection table of a service. most: entries that it holds. udp_s: how long one of UDP stays
    without a frame; answered_s: once both ends have sent."""

    most: int
    udp_s: int
    answered_s: int
    says = """Its connection table holds {most} entries. One of UDP stays {udp_s:d} s without a frame,
        {answered_s:d} s once it was answered."""


class LogUnread(Reason, code="log-unread"):
    """Nobody listens to the log group of a service, in a namespace of its own."""

    says = """Nobody reads the log group of the access list. The cost is that of the rule that logs every
        packet; no log is written."""


class InterruptsApart(Reason, code="interrupts-apart"):
    """The kernel counts the time of interrupts apart from that of threads, so what a core works for a frame
    is not known."""

    says = """The time of a frame is not measured: this kernel counts interrupts apart
        (CONFIG_IRQ_TIME_ACCOUNTING). Boot it with `tsc=noirqtime`."""


class WorksApart(Reason, code="works-apart"):
    """A program of its own does a part of the service, so what a core works for a frame is not all of it."""

    says = """The time of a frame is not measured: a program beside the router does a part of the service
        (softflowd), on the device's core. The device CPU is without it."""


class DeviceOnOwnCore(Reason, code="device-on-own-core"):
    """The device works on one core and the tester's workers on others."""

    device_core: int
    tester_cores: tuple[int, ...]

    def __str__(self) -> str:
        own = [str(core) for core in self.tester_cores]
        cores = f"core {own[0]}" if len(own) == 1 else f"cores {', '.join(own[:-1])} and {own[-1]}"
        return f"The device works on core {self.device_core}, the tester on {cores}."


class DeviceSharesCore(Reason, code="device-shares-core"):
    """The device and a worker of the tester share a core. worker: from 1, of all workers."""

    core: int
    worker: int
    workers: int
    says = """{workers:=1?The tester|Worker {worker:d} of the tester} and the device share core {core:d}, so
        the result is the limit of both together. Give the device a core that no worker has."""


class DeviceNotIsolated(Reason, code="device-not-isolated"):
    """The device's work could not be moved to a core of its own. detail: the system's message, if any."""

    cause: Literal["one-core", "only-root", "settings-unreachable", "not-steerable"]
    detail: str = ""

    def __str__(self) -> str:
        cause = {
            "one-core": "this machine has one core",
            "only-root": "only root of the machine may move its receive work to another core",
            "settings-unreachable": f"its interfaces' settings cannot be reached ({self.detail})",
            "not-steerable": f"its receive work cannot be steered to another core ({self.detail})",
        }[self.cause]
        return (
            f"The device is not isolated: {cause}. Its work is done on the sender's core, so its limit"
            " shows as a tester that cannot send faster, never as loss."
        )


class LeftoversEnded(Reason, code="leftovers-ended"):
    """Processes of devices that a killed run had left were ended before this lab was built."""

    processes: int
    says = """A run that was killed had left {processes:=1?a device's process|{processes:d} processes of
        devices}, ended before this lab was built."""


class VethLoop(Reason, code="veth-loop"):
    """A calibration joins the tester's ports by veth pairs. pairs: how many."""

    pairs: int = 1
    says = "{pairs:=1?One veth pair, from|{pairs:d} veth pairs, each from} tester port to tester port."


class UserCable(Reason, code="user-cable"):
    """A calibration joins these interfaces in pairs by the user's cables, an odd one by a loopback plug."""

    interfaces: tuple[str, ...]

    def __str__(self) -> str:
        names = [f"`{name}`" for name in self.interfaces]
        told = [f"cable between {one} and {two}" for one, two in zip(names[::2], names[1::2], strict=False)]
        told += [f"loopback plug in {names[-1]}"] if len(names) % 2 else []
        return f"The user's {', '.join(told)}."


class InterfaceWithoutLine(Reason, code="interface-without-line"):
    """An interface has no line of its own, so nothing is known to limit its rate."""

    port: str
    interface: str
    driver: str
    says = """Interface `{interface}`{driver:? (driver `{driver}`)} of `{port}` has no line rate of its own:
        the plan's `rate` is not enforced."""


class CardSetting(Reason, code="card-setting"):
    """A setting of a card disturbs a test. setting: its code; finding: its effect, a clause.

    effect: what suffers. command: changes the setting; None: no command does.
    """

    port: str
    interface: str
    setting: str
    effect: Literal["result", "latency", "capacity"]
    finding: str
    command: str | None
    says = "Interface `{interface}` of `{port}` {finding}.{command:? `{command}` changes that.}"


class HoldsDefaultRoute(Reason, code="holds-default-route"):
    """An interface under a port holds this machine's default route."""

    port: str
    interface: str
    says = """Interface `{interface}` of `{port}` holds this machine's default route: the test takes the
        machine off its network while it runs, and what the machine sends disturbs the test."""


class HasOwnAddress(Reason, code="has-own-address"):
    """An interface under a port has an address of this machine."""

    port: str
    interface: str
    address: str
    says = """Interface `{interface}` of `{port}` has the address {address} of this machine: what else uses
        it disturbs the test, and the test disturbs that."""


class AlreadyThere(Reason, code="configuration-there"):
    """A device had all of a case's configuration before it."""

    says = "The device had all of the configuration already: nothing was sent, and nothing is undone."


class NotUndone(Reason, code="configuration-not-undone"):
    """The configuration of a case is still on the device. what: the error. hint: what to do by hand.

    error_code: of the error; empty in runs stored before it was a field.
    """

    what: str
    hint: str
    error_code: str = ""

    def __str__(self) -> str:
        return " / ".join(self.in_lines.splitlines())

    @property
    def in_lines(self) -> str:
        """The same with the commands in lines of their own."""
        return f"A device still has the configuration of a case: {self.what}\n{self.hint}".strip()


class UndoneLater(Reason, code="configuration-undone-later", is_detail=True):
    """The undo at the end of a case failed, and a later one did not. what: the error, without commands."""

    what: str

    def __str__(self) -> str:
        what = self.what.removesuffix(".")
        return f"The undo at the end of the case failed: {what}. The configuration was undone later."


class AwaitsDevice(Reason, code="device-awaited"):
    """Another netdyno configures the device, whose end is waited for. what: who does."""

    host: str
    what: str

    def __str__(self) -> str:
        return f"{self.what.removesuffix('.')}. This run begins when that one ends; Ctrl-C ends the wait."


class DeviceInUse(Reason, code="device-in-use"):
    """A device that was only looked at is another run's at the moment. who: its process; empty: unknown."""

    host: str
    who: str
    says = """{host}: another netdyno uses this device{who:?: {who}|}. A run waits until it ends; what is
        shown here may be of its case."""


class VersionUnknown(Reason, code="not-understood"):
    """The version of the device's software is not understood: its texts may differ. driver: of the plan."""

    driver: str
    says = "The version of the device is not understood: `{driver}` may misread it."


class SecretInTemplate(Reason, code="secret-in-template"):
    """A line of a template seems to hold a secret. template: its name. line: from 1."""

    template: str
    line: int
    says = """Template {template}:{line:d} seems to hold a secret. A run stores its templates and settings as
        they are. Configure it on the device beforehand, and take it out of the template."""


class Restored(Reason, code="configuration-restored"):
    """What a killed run left on a device is undone. host: of the device. run: its folder, and its time."""

    host: str
    run: str
    says = "{host}: the configuration that {run} left is undone."


class NothingLeft(Reason, code="configuration-gone"):
    """A device has nothing of what a killed run configured. host: of it. run: its folder, and its time."""

    host: str
    run: str
    says = "{host}: nothing is left of the configuration of {run}, so nothing was sent."


class LockNotShared(Reason, code="lock-not-shared"):
    """The lock of a device keeps out this user's runs only. path: of the lock. why: what the system says."""

    host: str
    path: str
    why: str
    says = """{host}: other users of this machine do not see that it is in use: {path}: {why}. Make sure that
        no other user configures the device meanwhile."""


class UndoPending(Reason, code="undo-pending"):
    """A device still has the configuration of an earlier run. run: its folder; empty: unknown.

    obstacle: why a real run does not undo it, a clause, and what to do; empty: it does.
    """

    host: str
    run: str
    obstacle: str = ""
    says = """{host}: the configuration of {run:?the run {run}|an earlier run} is not undone yet. A real run
        {obstacle:?is refused: {obstacle}|undoes it first}; what is shown here holds for the device as it is
        now."""


class UndoUnknown(Reason, code="journal-damaged"):
    """The stored undo of a device that is looked at is damaged. what: the error. hint: what to do."""

    host: str
    what: str
    hint: str
    says = """{host}: a real run is refused: {what} To do: {hint}."""


class GatewayAbsent(Reason, code="gateway-absent"):
    """No interface of a device has the next hop of a link, with its configuration. link: of the plan."""

    link: str
    gateway: str
    says = """No interface of the device has the address {gateway} in its configuration, the `gateway` of
        {link}: nothing answers for it, and no frame of this link is forwarded."""


class UndoGoesOn(Reason, code="undo-goes-on"):
    """A signal came again while a device is configured: its undo is not cut short. seconds: the longest."""

    host: str
    seconds: int
    says = """{host}: the configuration of the case is undone before the run ends, in at most {seconds:d} s.
        Press Ctrl-C once more to leave the device as it is."""


class StillConfigured(Reason, code="still-configured"):
    """A device still has the configuration of a case. journal: the file with its undo.

    is_changed: others changed the device since, so that no run undoes it.
    """

    host: str
    journal: str
    is_changed: bool = False
    says = """{host} still has the configuration of a case{is_changed:?, and others changed the device since.
        Enter the commands of the message about it, or delete {journal} to keep the device as it is.|. The
        next `netdyno run`, of any plan, undoes it: the undo is in {journal}.}"""


REASONS: Codes = declared(globals())
