//! Latency of one stream by intervals of time: of what arrived in each.

use super::latency::Timing;
use crate::result::Interval;

/// The intervals of one stream.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// What was counted when the last one ended, by place.
    before: Vec<(usize, u64)>,
    /// Those that ended.
    found: Vec<Interval>,
}

impl Intervals {
    /// An interval ends: all that `timing` has and had not before arrived in it.
    pub fn end(&mut self, timing: &Timing) {
        let counted = timing.places();
        self.found.push(timing.interval(&counted, &self.before));
        self.before = counted;
    }

    /// The interval with number `number`, if it has ended.
    pub fn get(&self, number: usize) -> Option<&Interval> {
        self.found.get(number)
    }

    /// All that ended, and the last one, if frames arrived in it.
    pub fn finish(&self, timing: &Timing) -> Vec<Interval> {
        let last = timing.interval(&timing.places(), &self.before);
        self.found.iter().cloned().chain((last.count > 0).then_some(last)).collect()
    }
}
