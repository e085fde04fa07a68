//! How the full ring of a peer holds a sender back: for how long, and whether its reader went on reading meanwhile.
//!
//! Nothing here is called while the ring has room.

use crate::time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// A reader whose index does not move for so long has stopped.
const STOP: Duration = Duration::from_us(100);

/// How a peer's full ring held this end back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackPressure {
    /// Frames that the ring has room for; 0 before there was a peer.
    pub ring: u32,
    /// How long the ring was full, ns: the time between two looks in a row that found it so.
    pub full_ns: u64,
    /// How often its reader stopped while it was full: the reader's index did not move for 100 us or more.
    pub stops: u64,
    /// How long these stops took together at most, ns: each until the look that saw the reader move again.
    pub stopped_ns: u64,
}

impl BackPressure {
    /// Returns what was added since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            ring: self.ring,
            full_ns: self.full_ns.saturating_sub(before.full_ns),
            stops: self.stops.saturating_sub(before.stops),
            stopped_ns: self.stopped_ns.saturating_sub(before.stopped_ns),
        }
    }

    /// Adds what another ring did, or an earlier one of the same queue: the smaller of the rings counts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            ring: match (self.ring, other.ring) {
                (0, ring) | (ring, 0) => ring,
                (one, another) => one.min(another),
            },
            full_ns: self.full_ns + other.full_ns,
            stops: self.stops + other.stops,
            stopped_ns: self.stopped_ns + other.stopped_ns,
        }
    }
}

/// Adds up the looks of one sender at its ring.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pressure {
    /// Whether the last look found no room, when that was, and the reader's index then.
    is_full: bool,
    last: Instant,
    index: u16,
    /// Since when the reader has that index, and how much of that is counted as a stop already.
    since: Instant,
    counted: Duration,
    full_ps: u64,
    stops: u64,
    stopped_ps: u64,
}

impl Pressure {
    /// A look at `now` at a ring whose reader is at `index`.
    #[inline]
    pub fn look(&mut self, now: Instant, index: u16, is_full: bool) {
        if self.is_full || is_full {
            self.add(now, index, is_full);
        }
    }

    #[cold]
    fn add(&mut self, now: Instant, index: u16, is_full: bool) {
        if self.is_full {
            let still = now.saturating_since(self.since);
            if still >= STOP {
                self.stops += u64::from(self.counted == Duration::ZERO);
                self.stopped_ps += still.ps - self.counted.ps;
                self.counted = still;
            }
            if is_full {
                self.full_ps += now.saturating_since(self.last).ps;
            }
        }
        if !self.is_full || index != self.index {
            (self.index, self.since, self.counted) = (index, now, Duration::ZERO);
        }
        (self.is_full, self.last) = (is_full, now.max(self.last));
    }

    /// The sums, of a ring with room for so many frames.
    #[must_use]
    pub const fn sums(&self, ring: u32) -> BackPressure {
        BackPressure {
            ring,
            full_ns: self.full_ps / 1000,
            stops: self.stops,
            stopped_ns: self.stopped_ps.div_ceil(1000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks: time in us, the reader's index, whether the ring was full. Time full, stops, time stopped, in us.
    fn sums(looks: &[(u64, u16, bool)]) -> (u64, u64, u64) {
        let mut pressure = Pressure::default();
        for &(at_us, index, is_full) in looks {
            pressure.look(Instant::from_ns(at_us * 1000), index, is_full);
        }
        let sums = pressure.sums(8);
        (sums.full_ns / 1000, sums.stops, sums.stopped_ns / 1000)
    }

    #[test]
    fn a_ring_with_room_counts_nothing() {
        assert_eq!(sums(&[(10, 0, false), (900, 4, false), (2000, 9, false)]), (0, 0, 0));
    }

    #[test]
    fn full_is_the_time_between_full_looks_only() {
        // From 10 to 60 for certain; when between 60 and 90 room was made is not known.
        assert_eq!(sums(&[(10, 0, true), (40, 0, true), (60, 0, true), (90, 1, false)]), (50, 0, 0));
    }

    #[test]
    fn a_reader_that_moves_in_time_does_not_stop() {
        let slow: Vec<_> = (0..100).map(|step| (step * 99, step as u16, true)).collect();
        assert_eq!(sums(&slow), (99 * 99, 0, 0));
    }

    #[test]
    fn a_stop_is_one_however_often_it_is_looked_at() {
        let looks = [
            (0, 7, true),
            (60, 7, true),
            (100, 7, true),
            (150, 7, true),
            (430, 7, true),
            (431, 8, true),
        ];
        assert_eq!(sums(&looks), (431, 1, 431));
    }

    #[test]
    fn a_stop_lasts_until_the_look_that_sees_room() {
        assert_eq!(sums(&[(0, 7, true), (50, 7, true), (160, 9, false)]), (50, 1, 160));
        // And the next one is another.
        let twice = [(0, 7, true), (160, 9, false), (300, 9, true), (400, 9, true), (410, 10, false)];
        assert_eq!(sums(&twice), (100, 2, 160 + 110));
    }

    #[test]
    fn sums_since_and_of_several_rings() {
        let one = BackPressure {
            ring: 4096,
            full_ns: 100,
            stops: 3,
            stopped_ns: 50,
        };
        let both = one.and(BackPressure { ring: 1024, ..one });
        assert_eq!((both.ring, both.full_ns, both.stops, both.stopped_ns), (1024, 200, 6, 100));
        assert_eq!(both.since(&one), BackPressure { ring: 1024, ..one });
        assert_eq!(one.and(BackPressure::default()), one);
    }
}
