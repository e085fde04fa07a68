"""What a calibration proved for one case: a plain value that verdicts and reports read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fractions import Fraction


@dataclass(frozen=True)
class Proven:
    """The tester's own limits with the ports, frames and directions of one case.

    Measured with the ports looped back on each other and no device between them, with the case's own
    frames: the same sizes, flows and header stack, in the directions the case sends in. What was not
    measured is None.
    """

    id: str
    """Of the calibration it comes from."""
    made_at: datetime
    """When that was made, UTC."""
    max_fps: Fraction | None
    """The highest load at which no frame was lost, frames a second of each direction (of a mix: of
    average size). Where both directions send, both did. None: not found, or not measured."""
    line_fps: Fraction | None = None
    """What the line carries, frames a second of each direction, where hardware enforces one; else None."""
    latency_floor_ns: int | None = None
    """Median latency at a low load: what every latency contains that is not the device's."""
    latency_noise_ns: int | None = None
    """99.9th percentile of the same latencies less their median."""
    rate_error_ppm: Fraction | None = None
    """Greatest deviation of the rate sent from the rate asked for, over loads of up to 90 % of `max_fps`."""
    expired: str | None = None
    """Why it holds no longer, a clause: `the kernel is now 6.1.0, it was 5.10.0`. None: it holds."""

    @property
    def holds(self) -> bool:
        """Whether a verdict may rest on it."""
        return self.expired is None and self.max_fps is not None

    def to_json(self) -> str:
        """As text, fractions exact."""
        return json.dumps(asdict(self), default=_plain)

    @classmethod
    def from_json(cls, text: str) -> Proven:
        """Reads what `to_json` wrote. Raises ValueError if it is something else."""
        try:
            table = json.loads(text)
            made_at = datetime.fromisoformat(table["made_at"])
            rates = {name: _fraction(table[name]) for name in ("max_fps", "line_fps", "rate_error_ppm")}
            found = cls(**{**table, **rates, "made_at": made_at})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not what a calibration proved: {error!r}") from error
        times = (found.latency_floor_ns, found.latency_noise_ns)
        texts = (found.id, found.expired or "")
        if made_at.tzinfo is None or not all(isinstance(text, str) for text in texts):
            raise ValueError("a calibration without a time zone or a name")
        if not all(isinstance(time, int | None) for time in times):
            raise ValueError("a latency that is no whole number of nanoseconds")
        return found


def _plain(value: object) -> str:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else str(value)


def _fraction(text: object) -> Fraction | None:
    try:
        return None if text is None else Fraction(str(text))
    except ZeroDivisionError as error:
        raise ValueError(f"`{text}` is no number") from error
