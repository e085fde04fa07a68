//! How latency varies from one frame of a stream to the next: IPDV(i) = D(i) - D(i-1) (RFC 3393, RFC 5481 section 4.1,
//! RFC 8219 section 7.3.2).
//!
//! Neighbours are frames that the stream sent one after the other, of whatever flows, in whatever order they arrive. Frames
//! whose neighbour is lost have no difference to it.

use super::latency::Timing;
use crate::result;

/// Frames remembered, all streams together: a frame finds its neighbour if fewer than its stream's share of them were sent
/// between that one and the latest.
const REMEMBERED: usize = 1 << 18;
/// Of one stream at least, and at most.
const LEAST: usize = 1 << 10;
const MOST: usize = 1 << 16;

/// The number of no frame.
const NONE: u64 = u64::MAX / 2;

/// Differences between neighbours, of one worker.
#[derive(Debug)]
pub struct Variation {
    /// Number and latency, ps, of frames that arrived, at their number modulo the length, a power of two.
    recent: Vec<(u64, i64)>,
    /// Differences that are not negative, and the others without their sign.
    above: Timing,
    below: Timing,
}

impl Variation {
    /// Of one of `streams` streams.
    #[must_use]
    pub fn new(streams: usize) -> Self {
        let share = (REMEMBERED / streams.max(1)).clamp(LEAST, MOST);
        Self {
            recent: vec![(NONE, 0); 1 << share.ilog2()],
            above: Timing::new(),
            below: Timing::new(),
        }
    }

    /// Notes that frame `number` of the stream arrived after `delay_ps`.
    #[inline]
    pub fn record_arrival(&mut self, number: u64, delay_ps: i64) {
        let last = self.recent.len() - 1;
        let at = |number: u64| number as usize & last;
        let (before, behind) = (number.wrapping_sub(1), number + 1);
        let (found, delay) = self.recent[at(before)];
        let (later, later_delay) = self.recent[at(behind)];
        self.recent[at(number)] = (number, delay_ps);
        if found == before {
            self.record(delay_ps - delay);
        }
        if later == behind {
            self.record(later_delay - delay_ps);
        }
    }

    /// Rounded towards zero, to nanoseconds.
    #[inline]
    fn record(&mut self, ps: i64) {
        let ns = ps.unsigned_abs() / 1000;
        let side = if ps >= 0 || ns == 0 { &mut self.above } else { &mut self.below };
        side.record_many(ns, 1);
    }

    /// Adds those of another worker. Neighbours of which each had one are no pair of either.
    pub fn absorb(&mut self, other: &Self) {
        self.above.absorb(&other.above);
        self.below.absorb(&other.below);
    }

    /// Returns the variation found; `None` without a pair.
    #[must_use]
    pub fn finish(&self) -> Option<result::Variation> {
        let (above, below) = (self.above.finish(), self.below.finish());
        let sides = || above.iter().chain(&below);
        let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let sum = |side: &Option<result::Latency>| side.as_ref().map_or(0, |side| side.sum_ns as i128);
        let (least, most) = match (&above, &below) {
            (Some(above), Some(below)) => (-signed(below.max_ns), signed(above.max_ns)),
            (Some(above), None) => (signed(above.min_ns), signed(above.max_ns)),
            (None, Some(below)) => (-signed(below.max_ns), -signed(below.min_ns)),
            (None, None) => return None,
        };
        Some(result::Variation {
            pairs: sides().map(|side| side.count).sum(),
            min_ns: least,
            max_ns: most,
            sum_ns: sum(&above) - sum(&below),
            over: sides().map(|side| side.over).sum(),
            above: above.as_ref().map(|side| side.histogram.clone()),
            below: below.as_ref().map(|side| side.histogram.clone()),
        })
    }
}
