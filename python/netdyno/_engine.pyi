"""The native part of netdyno: JSON in, JSON out. See docs/interfaces.md for the shapes."""

class EngineError(Exception):
    """The engine could not do what it was asked to: where and why, a sentence."""

    code: str
    """Which kind of error it is: one of `reasons`."""
    fields: dict[str, bool | int | str]
    """What it is about, by name."""
    hint: str | None
    """What to do about it."""

class Session:
    """A lab with its ports open. Runs one trial at a time, in a thread of its own."""

    def __init__(self, session_json: str) -> None:
        """Opens the ports and builds the emulated devices of a SessionSpec."""

    def ports(self) -> str:
        """What each port turned out to be: PortInfo, in the order of the spec. Not while a trial runs."""

    def start(self, trial_json: str, events_json: str | None = None) -> None:
        """Starts a trial (a TrialSpec), in which these Events happen, and returns at once."""

    def snapshot(self) -> str:
        """Where the trial stands: phase, elapsed_ns, total_ns and counters per port."""

    def clock_ps(self) -> int:
        """What the session's clock reads, ps. In real time only."""

    def begin(self, begin_json: str) -> None:
        """Tells a trial that waits when its traffic begins: a Begin. Only the first word counts."""

    def wait(self, timeout_s: float) -> bool:
        """Waits until the trial is done or the time is over; whether it is done."""

    def cancel(self) -> None:
        """Ends the trial in order: stop, drain, read. Its result holds what was measured."""

    def result(self) -> str:
        """What the last trial found: {"trial": TrialResult, "devices": [DeviceCounters]}. Waits for it."""

    def close(self) -> None:
        """Stops what runs and closes the ports."""

class Server:
    """An emulated device in real time on ports that lead out of this process, until it is stopped."""

    def __init__(self, serve_json: str) -> None:
        """Opens the ports of a ServeSpec and begins."""

    def served(self) -> str:
        """How the device fares: {"device": DeviceCounters, "spilled": [frames], "failures": [...], ...}."""

    def stop(self) -> str:
        """Ends it in order and closes its ports; how it fared."""

class Taps:
    """TAP interfaces on the VLANs of an interface, whose control frames a thread carries to and fro."""

    def __init__(self, taps_json: str) -> None:
        """Makes the TAPs of a TapsSpec and begins. The interface is one of the calling thread's namespace."""

    def carried(self) -> str:
        """Frames that were carried so far: {"up", "down", "dropped"}."""

    def close(self) -> None:
        """Ends: the TAPs are gone. Safe to call twice."""

def truth(device_json: str, session_json: str, trial_json: str) -> str:
    """What a perfect tester finds when it runs the trial on the emulated device."""

def frames(trial_json: str, stream: int, first: int, count: int) -> str:
    """Frames of a stream as they would be sent, without FCS: [{"at_ps", "frame": hex}]; fewer at its end."""

def watch(core: int, seconds: float) -> str:
    """What a core is like to a loop that only reads the clock: machine::Watch, JSON."""

def bounce(first: int, second: int, rounds: int) -> str:
    """What lies between two cores, by a cache line that goes to and fro: machine::Bounce, JSON."""

def reasons() -> str:
    """The codes of all reasons, JSON: [{"code", "fields": [names], "meaning"}]."""

def version() -> str:
    """The engine's version."""

def level() -> str:
    """The processor it was built for: a level of the x86-64 psABI, or the architecture."""
