"""The reasons of verdicts on connections. Rates are bits of payload a second, shares of time or of a path."""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import counted
from netdyno.values.number import bits, duration, part, rate
from netdyno.values.reason import Codes, declared
from netdyno.verdict.saying import VerdictReason


class PathUnclear(VerdictReason, code="tcp-limit-unclear"):
    """Nothing that was looked at limits the connections. of_path: of what full frames took; None: unknown."""

    of_path: Fraction | None

    def say(self, where: str = "") -> str:
        share = "" if self.of_path is None else f" at {part(self.of_path)} of what the path passes"
        return (
            f"Limit not clear{where}: neither path, programs, windows, buffers nor losses explain the"
            f" rate{share}. Try more streams, or a longer test"
        )


class PathUnknown(VerdictReason, code="tcp-path-unknown"):
    """No frame of the tester's own showed what the path passes."""

    says = """Limit not judged{where}: the tester's own frames show nothing of the path. The trials in the
        report show why"""


class PathOfServer(VerdictReason, code="tcp-path-of-server"):
    """A server on another host was at an end, which takes no frames of the tester's own."""

    servers: tuple[str, ...]
    says = """Limit not judged{where}: {servers:names} receives no test frames, so what the path passes is
        unknown. A port of this machine at that end would show it"""


class FullFramesLost(VerdictReason, code="tcp-full-frames-lost"):
    """Connections opened and carried nothing: no frame of full size arrives, and nothing says so to the
    sender (RFC 2923 section 2.1). lost: own frames of that size. smaller: a size to try."""

    size: int
    lost: int
    retransmitted: int
    smaller: int
    says = """Loss limit{where}: connections open, but frames of {size:d} B do not arrive. All
        {lost:test frame} were lost, and TCP sent {retransmitted:segment} again in vain. Nothing reports a
        smaller MTU: try `size: {smaller:d}B`"""


class PathFull(VerdictReason, code="tcp-path-full"):
    """The connections carry what full frames do. what: `Line rate`, `Shaper limit`; passed_pps: frames of
    full size that the path passes; queue_ns: how long they wait when more come; figure: the cap, as text."""

    what: str
    of_path: Fraction
    passed_pps: Fraction
    size: int
    queue_ns: int | None
    figure: str = ""

    def say(self, where: str = "") -> str:
        waits = (
            ""
            if self.queue_ns is None or self.queue_ns <= 0
            else f", and more wait {duration(self.queue_ns)}"
        )
        cap = f" {self.figure}." if self.figure else ""
        return (
            f"{self.what}{where}:{cap} TCP fills {part(self.of_path)} of what the path passes: test frames of"
            f" {self.size} B pass at {rate(self.passed_pps, 'pps')}{waits}"
        )


class LineFull(VerdictReason, code="tcp-line-full"):
    """The connections fill the line. payload_bps: what they carry; most_bps: on a full line."""

    share: Fraction
    payload_bps: Fraction
    most_bps: Fraction

    def say(self, where: str = "") -> str:
        return (
            f"Line rate{where}: TCP fills {part(min(self.share, Fraction(1)))} of the line, with"
            f" {rate(self.payload_bps, 'bit/s')} of payload of at most {rate(self.most_bps, 'bit/s')}"
        )


class LicenceFull(VerdictReason, code="tcp-licence-full"):
    """The frames of TCP both ways fill a declared licence. both_bps: their bits, FCS counted."""

    share: Fraction
    both_bps: Fraction
    licence_bps: int

    def say(self, where: str = "") -> str:
        return (
            f"Licence limit{where}: the licence is for {bits(self.licence_bps)}. TCP's frames both ways take"
            f" {rate(self.both_bps, 'bit/s')}, {part(min(self.share, Fraction(1)))} of it"
        )


class FramesFull(VerdictReason, code="tcp-frames-full"):
    """The device passes so many frames a second, whatever their size and direction. both_pps: of TCP both
    ways; data_pps: those with payload; passed_pps: own frames of all streams."""

    both_pps: Fraction
    data_pps: Fraction
    passed_pps: Fraction
    retransmitted: int
    says = """Device limit{where}: it took in {both_pps} both ways, {data_pps} of them with payload. Test
        frames pass at {passed_pps} and no faster. TCP sent {retransmitted:segment} again"""


class TesterBusy(VerdictReason, code="tcp-tester-busy"):
    """A program of the tester wanted a core all the time, or waited for one. end: `sending`, `receiving`.

    host: the generator host that it ran on; empty: there is one, or it is this one.
    """

    end: str
    ran: Fraction
    waited: Fraction
    host: str = ""

    def say(self, where: str = "") -> str:
        whose = f", CPU of host `{self.host}`" if self.host else ""
        what = "Free cores there, or use a faster host" if self.host else "Free cores, or use a faster tester"
        return (
            f"Tester limit{where}{whose}: the {self.end} program ran for {part(self.ran)} of the time, and"
            f" waited for a core for {part(self.waited)}. {what}"
        )


class WindowSmall(VerdictReason, code="tcp-receive-window"):
    """The sender waited for the receiver's window. share: of the time in which it had something to send."""

    share: Fraction
    rtt_ns: int
    says = """Receive window limit{where}: the sender waited for the receiver's window in {share:.1%} of its
        time. At an RTT of {rtt_ns} more needs a larger `window`, or more streams"""


class BufferSmall(VerdictReason, code="tcp-send-buffer"):
    """The sender's buffer was too small. share: of the time in which it had something to send."""

    share: Fraction
    rtt_ns: int
    says = """Send buffer limit{where}: the sender's buffer was full in {share:.1%} of its time. At an RTT of
        {rtt_ns} more needs a larger `window`, or more streams"""


class PathLoses(VerdictReason, code="tcp-path-loses"):
    """The path loses frames at half of what it passes: these are no losses of overload."""

    lost: int
    of: int
    retransmitted: int
    says = """Loss limit{where}: the path lost {lost} of {of:test frame} at half of what it passes, and TCP
        sent {retransmitted:segment} again. Look for errors on its links"""


class PathPolices(VerdictReason, code="tcp-policer"):
    """The path drops what is too much at once and lets nothing wait: a policer."""

    of_path: Fraction
    passed_pps: Fraction
    size: int
    retransmitted: int

    def say(self, where: str = "") -> str:
        most = bits(self.passed_pps * 8 * self.size, (3, 1, 0))
        return (
            f"Policer limit{where}: beyond {most} (L2) test frames of {self.size} B are dropped without"
            f" waiting. TCP used {part(self.of_path)} of that and sent"
            f" {counted(self.retransmitted, 'segment')} again"
        )


class DeviceDropped(VerdictReason, code="tcp-device-dropped"):
    """The device's own counters say that it dropped frames of the connections. what: `Device limit`, or that
    of its policer."""

    dropped: int
    counters: tuple[str, ...]
    retransmitted: int
    of_path: Fraction | None
    what: str = "Device limit"
    says = """{what}{where}: the device's own counters have {dropped:dropped frame} ({counters:names}), and
        TCP sent {retransmitted:segment} again"""


class DeviceBusy(VerdictReason, code="tcp-device-busy"):
    """A processor of the device had hardly any time left. name, subject: as its driver calls them."""

    subject: str
    name: str
    busy: Fraction
    of_path: Fraction | None
    says = "Device limit{where}: {name} of {subject} was busy for {busy:.1%} of the time, as the device says"


class DeviceFull(VerdictReason, code="tcp-device-full"):
    """The device passes no more frames of full size, at no figure of a shaper."""

    of_path: Fraction
    passed_pps: Fraction
    size: int
    retransmitted: int
    says = """Device limit{where}: test frames of {size:d} B pass at {passed_pps} and no faster. TCP used
        {of_path:.1%} of that and sent {retransmitted:segment} again"""


REASONS: Codes = declared(globals())
