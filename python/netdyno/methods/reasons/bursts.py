"""Reasons of searches over the length of a burst, and of the buffer it shows."""

from __future__ import annotations

from fractions import Fraction

from netdyno.values.reason import Codes, Reason, declared


class SearchesEnded(Reason, code="searches-ended"):
    """Searches over the length of a burst ended, as one showed nothing. done: how many were complete."""

    done: int
    searches: int
    cause: Reason
    says = "{done:?{done} of {searches} searches done: then }{cause}"


class BurstsUnsent(Reason, code="bursts-unsent"):
    """The tester could not send bursts of a length. short: why."""

    short: Reason
    says = "the tester could not send longer bursts: {short}"


class BurstCopied(Reason, code="burst-copied"):
    """No frame of a burst was lost, and some came more than once, which no full buffer does."""

    sent: int
    copies: int
    says = "of a burst of {sent:frame} none was lost, and {copies} came twice"


class NoBurstLimit(Reason, code="no-burst-limit"):
    """The longest burst tried passed."""

    longest_ns: int
    says = "the longest burst tried, {longest_ns}, passed: the limit is above. Use a longer `longest`"


class NoBurstPassed(Reason, code="no-burst-passed"):
    """Not even the shortest burst passed: one step, of each sending port."""

    says = "not even the shortest burst passed"


class BufferAtMost(Reason, code="buffer-at-most"):
    """A corrected buffer time is an upper bound, as the throughput may be higher. bound: why."""

    bound: Reason
    says = "at most this, corrected, RFC 9004 section 6.4: the throughput may be higher ({bound})"


class BufferUnknown(Reason, code="buffer-unknown"):
    """The corrected buffer time is only known to be at most this. bound: why."""

    most_ns: Fraction
    bound: Reason
    says = "the corrected buffer time is at most {most_ns:at most}: {bound}"


class Unsteady(Reason, code="unsteady"):
    """The frames that a port held differ between searches. deviation: standard deviation over the mean."""

    port: str
    deviation: Fraction
    says = "at `{port}`, the frames held deviate by {deviation:%}: unstable (RFC 8239 section 1.2: 10 %)"


REASONS: Codes = declared(globals())
