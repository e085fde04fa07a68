//! How the full ring of a peer holds a sender back: for how long, and whether its reader went on reading meanwhile.
//!
//! A sender looks when the room it knows of is used up: at a ring that a reader empties in time once in a ring of frames.

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
    /// How long the reader had frames to read and was seen to read them, ns: its index moved, and was looked at, within 100 us
    /// each time. However often the sender was elsewhere, that is not in it.
    pub busy_ns: u64,
    /// What it read in that time: `taken / busy_ns` is what it can do. Slots of the ring, of which a long frame has several.
    pub taken: u64,
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
            busy_ns: self.busy_ns.saturating_sub(before.busy_ns),
            taken: self.taken.saturating_sub(before.taken),
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
            busy_ns: self.busy_ns + other.busy_ns,
            taken: self.taken + other.taken,
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
    /// Slots that were unread at the last look, and since when the reader was seen to be busy with its index as it is: `None` if
    /// it may have had nothing to read, or the last look is too long ago.
    unread: u16,
    busy_since: Option<Instant>,
    busy_ps: u64,
    taken: u64,
}

impl Pressure {
    /// A look at `now` at a ring whose reader is at `index` and has so many slots to read.
    #[inline]
    pub fn look(&mut self, now: Instant, index: u16, unread: u16, is_full: bool) {
        if self.is_full || is_full || self.busy_since.is_some() {
            self.read(now, index, unread, is_full);
            self.add(now, index, is_full);
        }
    }

    /// Adds up what the reader did since the last look. What it read was there already then, or it may have waited for more.
    #[cold]
    fn read(&mut self, now: Instant, index: u16, unread: u16, is_full: bool) {
        let moved = index.wrapping_sub(self.index);
        let was_busy = moved < self.unread && now.saturating_since(self.last) < STOP;
        match self.busy_since.filter(|_| was_busy) {
            Some(since) if moved > 0 => {
                let took = now.saturating_since(since);
                if took < STOP {
                    (self.busy_ps, self.taken) = (self.busy_ps + took.ps, self.taken + u64::from(moved));
                }
                self.busy_since = Some(now);
            }
            Some(_) => {}
            None => self.busy_since = is_full.then_some(now),
        }
        self.unread = unread;
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
            busy_ns: self.busy_ps / 1000,
            taken: self.taken,
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
            pressure.look(Instant::from_ns(at_us * 1000), index, 8, is_full);
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
            busy_ns: 20,
            taken: 4,
        };
        let both = one.and(BackPressure { ring: 1024, ..one });
        assert_eq!((both.ring, both.full_ns, both.stops, both.stopped_ns), (1024, 200, 6, 100));
        assert_eq!((both.busy_ns, both.taken), (40, 8));
        assert_eq!(both.since(&one), BackPressure { ring: 1024, ..one });
        assert_eq!(one.and(BackPressure::default()), one);
    }

    /// Looks: time in us, the reader's index, slots to read then, whether the ring was full. Time busy in us, and slots read.
    fn busy(looks: &[(u64, u16, u16, bool)]) -> (u64, u64) {
        let mut pressure = Pressure::default();
        for &(at_us, index, unread, is_full) in looks {
            pressure.look(Instant::from_ns(at_us * 1000), index, unread, is_full);
        }
        let sums = pressure.sums(8);
        (sums.busy_ns / 1000, sums.taken)
    }

    #[test]
    fn a_reader_is_busy_from_a_full_ring_on() {
        // Before the ring was full it may have waited for frames.
        assert_eq!(
            busy(&[(0, 0, 4, false), (10, 2, 8, true), (30, 3, 7, false), (50, 5, 8, true)]),
            (40, 3)
        );
        // Looks that see nothing move are in the time until one does.
        assert_eq!(
            busy(&[(0, 0, 8, true), (10, 0, 8, true), (40, 0, 8, true), (60, 1, 7, false)]),
            (60, 1)
        );
        // The last one has not come yet.
        assert_eq!(busy(&[(0, 0, 8, true), (10, 1, 7, false), (40, 1, 8, true)]), (10, 1));
    }

    #[test]
    fn a_sender_that_was_elsewhere_does_not_make_a_reader_slow() {
        // 100 us without a look: what the reader did then is not known.
        assert_eq!(
            busy(&[(0, 0, 8, true), (10, 1, 8, true), (110, 2, 8, true), (120, 3, 8, true)]),
            (20, 2)
        );
    }

    #[test]
    fn a_reader_that_may_have_had_nothing_to_read_is_not_busy() {
        // It read all of the eight there were, and may have waited. Busy again from the next full ring on.
        assert_eq!(
            busy(&[(0, 0, 8, true), (50, 8, 2, false), (60, 9, 8, false), (70, 9, 8, true)]),
            (0, 0)
        );
        assert_eq!(
            busy(&[(0, 0, 8, true), (50, 8, 0, false), (60, 8, 8, true), (70, 9, 7, false)]),
            (10, 1)
        );
    }

    #[test]
    fn a_reader_that_stopped_was_not_seen_to_read() {
        let looks: Vec<_> = (0..40).map(|step| (step * 10, u16::from(step >= 15), 8, true)).collect();
        // Its index moved after 150 us, and never again.
        assert_eq!(busy(&looks), (0, 0));
    }

    #[test]
    fn what_a_reader_can_do_is_seen_however_seldom_the_sender_runs() {
        // One slot in 20 us; the sender is there for 100 of each 1000 us, and then looks each 5 us.
        let mut looks = Vec::new();
        for turn in 0..50_u64 {
            for step in 0..20 {
                let at_us = turn * 1000 + step * 5;
                let index = (turn * 5 + step / 4) as u16;
                looks.push((at_us, index, 8, step % 4 != 0));
            }
        }
        // Of each turn 15 us from the first full look on, and three times 20 us.
        assert_eq!(busy(&looks), (50 * 75, 50 * 4));
    }
}
