//! The two kinds of queue a device is made of, both exact and both decided at the moment of arrival.
//!
//! A first-come first-served queue with deterministic service needs no events: when a frame arrives, the
//! instant it will be done is known. Exact times are rational picoseconds; what leaves a server is stamped
//! with the first whole picosecond at or after the exact instant (what leaves a line, with the last one at or
//! before it, because that is how the wire counts). Arrivals are whole picoseconds, so
//! comparing them with rounded-up instants is the same as comparing them with the exact ones.
//!
//! **Boundary:** what happens at exactly `t` comes before an arrival at `t`: a service that ends at `t` has
//! freed its place, a frame whose transmission starts at `t` no longer waits.

use crate::ring::Ring;
use crate::spec::FrameRate;

/// Picoseconds in a second.
const SECOND: u128 = 1_000_000_000_000;

/// A server that takes the same time for each frame, with a finite queue (D/D/1/K+1).
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Service time, whole picoseconds and the rest as a fraction of the rate's frames.
    service: (u64, u64),
    /// `queue` service times, likewise.
    backlog: (u64, u64),
    /// The rate's frames less the rest of the service time: from here on adding that rest carries.
    to_carry: u64,
    /// When the last admitted frame will be done.
    free: (u64, u64),
}

impl Server {
    /// `rate` frames per second; `queue` frames wait, not counting the one in service.
    /// `None` if the rate is zero or beyond what a `u64` of picoseconds can tell.
    pub(crate) fn new(rate: FrameRate, queue: u32) -> Option<Self> {
        let (frames, seconds) = rate;
        if frames == 0 || seconds == 0 {
            return None;
        }
        let split = |count: u128| {
            let total = SECOND.checked_mul(u128::from(seconds))?.checked_mul(count)?;
            let whole = u64::try_from(total / u128::from(frames)).ok()?;
            // Sums of two instants must not overflow either.
            (whole < u64::MAX / 4).then_some((whole, (total % u128::from(frames)) as u64))
        };
        let service = split(1)?;
        Some(Self {
            service,
            to_carry: frames - service.1,
            backlog: split(u128::from(queue))?,
            free: (0, 0),
        })
    }

    /// A frame arrives at `t`: when it will be done, or `None` if it finds the queue full.
    ///
    /// With equal service times, completions of a busy period are one service apart, so `queue + 1` frames
    /// are in the system at `t` exactly if the last completion lies more than `queue` services after `t`.
    #[inline]
    pub(crate) fn admit(&mut self, t: u64) -> Option<u64> {
        if self.free > (t + self.backlog.0, self.backlog.1) {
            return None;
        }
        let (start, carried) = if self.free.0 < t { (t, 0) } else { self.free };
        let mut whole = start + self.service.0;
        // Both parts are below the rate's frames, which may be as large as u64 allows: compare, do not add.
        let part = if carried >= self.to_carry {
            whole += 1;
            carried - self.to_carry
        } else {
            carried + self.service.1
        };
        self.free = (whole, part);
        Some(whole + u64::from(part > 0))
    }
}

/// A line: serializes frames of any size one after another, with a finite queue in front.
#[derive(Debug)]
pub(crate) struct Line {
    /// Picoseconds a byte, whole and the rest in units of 1/`den`.
    byte: (u64, u64),
    den: u64,
    queue: usize,
    /// When the line will be free.
    free: (u64, u64),
    /// Starts of the frames that wait, as far as they have not been forgotten yet.
    starts: Ring<u64>,
}

/// When a frame has the line, floored to picoseconds as `netdyno_io`'s wire does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The first bit of the preamble leaves.
    pub(crate) start: u64,
    /// The last bit of the FCS is out: a gap before the line is free.
    pub(crate) last_bit: u64,
}

/// Preamble 8, FCS 4 and gap 12 bytes, beyond those in a slot; shorter frames are padded to 60.
#[inline]
pub(crate) fn wire_bytes(len: u16) -> u64 {
    u64::from(len).max(netdyno_io::port::MIN_SLOT_BYTES) + netdyno_io::port::WIRE_OVERHEAD_BYTES
}

/// The gap between frames in bytes (IEEE 802.3, clause 4.4.2: 96 bit times).
const GAP_BYTES: u64 = 12;

impl Line {
    /// `rate_bps` is the L1 rate; `queue` frames wait, not counting the one on the line.
    pub(crate) fn new(rate_bps: u64, queue: u32) -> Option<Self> {
        const BITS: u64 = 8 * SECOND as u64;
        if rate_bps == 0 {
            return None;
        }
        Some(Self {
            byte: (BITS / rate_bps, BITS % rate_bps),
            den: rate_bps,
            queue: queue as usize,
            free: (0, 0),
            starts: Ring::with_room(16),
        })
    }

    /// A frame that takes `wire_bytes` (preamble and gap counted) arrives at `t`.
    #[inline(always)]
    pub(crate) fn admit(&mut self, t: u64, wire_bytes: u64) -> Option<Passage> {
        while self.starts.front().is_some_and(|start| start <= t) {
            self.starts.pop();
        }
        // The first whole picosecond at which it is free; `t` is whole, so this compares exactly.
        let free = self.free.0 + u64::from(self.free.1 > 0);
        let busy = free > t;
        if busy && self.starts.len() >= self.queue {
            return None;
        }
        let begin = if busy { self.free } else { (t, 0) };
        if busy {
            self.starts.push(free);
        }
        self.free = self.after(begin, wire_bytes);
        Some(Passage {
            start: begin.0,
            last_bit: self.after(begin, wire_bytes - GAP_BYTES).0,
        })
    }

    /// Nothing starts between `t` and `until`. The caller then gives each frame that had not begun by `t`
    /// its place again, in order, with [`Self::again`].
    pub(crate) fn pause(&mut self, t: u64, until: u64) {
        while self.starts.front().is_some_and(|start| start <= t) {
            self.starts.pop();
        }
        // Frames wait back to back, so the first of them would have begun when the one on the line ends.
        if let Some(first) = self.starts.front() {
            self.free = (first, 0);
        }
        self.starts.clear();
        self.free = self.free.max((until, 0));
    }

    /// Gives a frame that had been admitted its place again, after a pause; it was to start at `start`.
    pub(crate) fn again(&mut self, start: u64, wire_bytes: u64) -> u64 {
        let begin = self.free.max((start, 0));
        self.free = self.after(begin, wire_bytes);
        self.starts.push(begin.0 + u64::from(begin.1 > 0));
        begin.0
    }

    /// `bytes` later than `begin`.
    #[inline]
    fn after(&self, begin: (u64, u64), bytes: u64) -> (u64, u64) {
        let whole = begin.0 + self.byte.0 * bytes;
        if self.byte.1 == 0 {
            return (whole, begin.1);
        }
        // Only for rates that do not divide 8e12: none of the standard ones.
        let part = u128::from(begin.1) + u128::from(self.byte.1) * u128::from(bytes);
        (whole + (part / u128::from(self.den)) as u64, (part % u128::from(self.den)) as u64)
    }
}
