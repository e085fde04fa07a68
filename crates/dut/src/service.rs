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

    /// What it was serving is gone.
    pub(crate) fn clear(&mut self) {
        self.free = (0, 0);
    }

    /// A frame arrives at `t`: when it will be done, or `None` if it finds the queue full.
    ///
    /// With equal service times, completions of a busy period are one service apart, so `queue + 1` frames
    /// are in the system at `t` exactly if the last completion lies more than `queue` services after `t`.
    #[inline]
    pub(crate) fn admit(&mut self, t: u64) -> Option<u64> {
        let (admitted, done) = self.offer(t);
        admitted.then_some(done)
    }

    /// Whether a frame that arrives at `t` has to wait.
    pub(crate) fn is_busy(&self, t: u64) -> bool {
        self.free > (t, 0)
    }

    /// Serves a frame that arrives at `t` and takes `more` picoseconds longer than others, however many wait: when its
    /// service begins, rounded up, and when it will be done. Who may wait is for the caller to know.
    pub(crate) fn serve(&mut self, t: u64, more: u64) -> (u64, u64) {
        let begin = self.free.max((t, 0));
        let over = begin.1 >= self.to_carry;
        let rest = if over { begin.1 - self.to_carry } else { begin.1 + self.service.1 };
        self.free = (begin.0 + self.service.0 + more + u64::from(over), rest);
        (begin.0 + u64::from(begin.1 > 0), self.free.0 + u64::from(rest > 0))
    }

    /// The same as [`Self::admit`] without a branch: whether it is admitted, and when it will be done if so.
    #[inline(always)]
    pub(crate) fn offer(&mut self, t: u64) -> (bool, u64) {
        let (free, part) = self.free;
        let full_from = t + self.backlog.0;
        let admitted = !((free > full_from) | ((free == full_from) & (part > self.backlog.1)));
        let carried = if free < t { 0 } else { part };
        // Both parts are below the rate's frames, which may be as large as u64 allows: compare, do not add.
        let over = carried >= self.to_carry;
        let rest = if over {
            carried - self.to_carry
        } else {
            carried.wrapping_add(self.service.1)
        };
        let whole = free.max(t) + self.service.0 + u64::from(over);
        self.free = if admitted { (whole, rest) } else { self.free };
        (admitted, whole + u64::from(rest > 0))
    }
}

/// A line: serializes frames of any size one after another. Who waits for it is for its owner to know.
#[derive(Debug)]
pub(crate) struct Line {
    /// Picoseconds a byte, whole and the rest in units of 1/`den`.
    byte: (u64, u64),
    den: u64,
    /// When the line will be free.
    free: (u64, u64),
}

/// When a frame has the line, floored to picoseconds as `netdyno_io`'s wire does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The first bit of the preamble leaves.
    pub(crate) start: u64,
    /// It does so within the picosecond after `start`, not at `start` itself.
    pub(crate) late: bool,
    /// The last bit of the FCS is out: a gap before the line is free.
    pub(crate) last_bit: u64,
}

/// Returns the bytes on the wire: preamble 8, FCS 4 and gap 12 beyond the slot; short frames are padded to 60.
#[inline]
pub(crate) fn wire_bytes(len: u16) -> u64 {
    u64::from(len).max(netdyno_io::port::MIN_SLOT_BYTES) + netdyno_io::port::WIRE_OVERHEAD_BYTES
}

/// The gap between frames in bytes (IEEE 802.3, clause 4.4.2: 96 bit times).
const GAP_BYTES: u64 = 12;

impl Line {
    /// `rate_bps` is the L1 rate.
    pub(crate) fn new(rate_bps: u64) -> Option<Self> {
        const BITS: u64 = 8 * SECOND as u64;
        if rate_bps == 0 {
            return None;
        }
        Some(Self {
            byte: (BITS / rate_bps, BITS % rate_bps),
            den: rate_bps,
            free: (0, 0),
        })
    }

    /// The first whole picosecond at which the line is free. What arrives at whole picoseconds waits exactly if it
    /// arrives before this.
    #[inline(always)]
    pub(crate) fn free(&self) -> u64 {
        self.free.0 + u64::from(self.free.1 > 0)
    }

    /// Carries a frame that arrives at `t` and takes `wire_bytes` (preamble and gap counted), as soon as it is free.
    #[inline(always)]
    pub(crate) fn carry(&mut self, t: u64, wire_bytes: u64) -> Passage {
        let begin = self.free.max((t, 0));
        self.free = self.after(begin, wire_bytes);
        Passage {
            start: begin.0,
            late: begin.1 > 0,
            last_bit: self.after(begin, wire_bytes - GAP_BYTES).0,
        }
    }

    /// Carries `frames` as [`Self::carry`] does one after another: of each, `arrival` says when it arrives and the bytes it takes.
    #[inline(always)]
    pub(crate) fn carry_each<T>(
        &mut self,
        frames: impl Iterator<Item = T>,
        arrival: impl Fn(&T) -> (u64, u64),
        mut put: impl FnMut(T, Passage),
    ) {
        let (byte, part) = self.byte;
        if part > 0 {
            return frames.for_each(|frame| {
                let (t, bytes) = arrival(&frame);
                put(frame, self.carry(t, bytes));
            });
        }
        // At all standard rates: no part is ever carried.
        let mut free = self.free.0;
        for frame in frames {
            let (t, bytes) = arrival(&frame);
            let start = free.max(t);
            free = start + byte * bytes;
            let passage = Passage {
                start,
                late: false,
                last_bit: free - byte * GAP_BYTES,
            };
            put(frame, passage);
        }
        self.free.0 = free;
    }

    /// What it was carrying is gone.
    pub(crate) fn clear(&mut self) {
        self.free = (0, 0);
    }

    /// Nothing starts before `until`. The caller then lets the line [carry](Self::carry) again, in order, what had
    /// not begun; the first of that was to begin at `first`.
    pub(crate) fn pause(&mut self, first: Option<u64>, until: u64) {
        // Frames wait back to back, so the first of them would have begun when the one on the line ends.
        if let Some(first) = first {
            self.free = (first, 0);
        }
        self.free = self.free.max((until, 0));
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_are_carried_together_as_one_by_one(
            rate_bps in prop::sample::select(vec![10_000_000_000, 1_000_000_000, 11_000_000_000, 7, 999_999_937]),
            busy in 0..2000_u64,
            frames in prop::collection::vec((0..200_000_u64, 60..1515_u16), 0..50),
        ) {
            let line = || {
                let mut line = Line::new(rate_bps).expect("a rate");
                line.carry(busy, 84);
                line
            };
            let mut frames = frames;
            frames.sort_unstable();
            let (mut together, mut single, mut passages) = (line(), line(), Vec::new());
            together.carry_each(frames.iter(), |(t, len)| (*t, wire_bytes(*len)), |_, passage| passages.push(passage));
            let expected: Vec<_> = frames.iter().map(|(t, len)| single.carry(*t, wire_bytes(*len))).collect();
            prop_assert_eq!(passages, expected);
            prop_assert_eq!(together.free, single.free);
        }
    }
}
