//! The longest time in which nothing of a stream arrived.
//!
//! A worker sees only the frames that come to its queue: what is silence to it may not be to the stream. But whenever all
//! are silent each of them is, so the silences of the stream are what those of its workers have in common. Each keeps its
//! longest ones; a silence of the stream that is longer than any a worker has forgotten is found for sure.

use std::cmp::Reverse;

/// Silences that are kept, the longest ones.
const KEPT: usize = 64;

/// When the frames of a stream arrived that came to one worker: the longest times between them.
#[derive(Clone, Debug, Default)]
pub struct Silences {
    /// Of the first frame and the last one, if there was any.
    ends: Option<(u64, u64)>,
    /// Each from an arrival to the next.
    kept: Vec<(u64, u64)>,
    /// None that is longer was forgotten, ps.
    floor_ps: u64,
}

impl Silences {
    /// A frame arrived. Arrivals ascend.
    #[inline]
    pub fn record_arrival(&mut self, at_ps: u64) {
        match &mut self.ends {
            Some((_, last)) => {
                let before = std::mem::replace(last, at_ps.max(*last));
                if at_ps.saturating_sub(before) > self.floor_ps {
                    self.keep(before, at_ps);
                }
            }
            None => self.ends = Some((at_ps, at_ps)),
        }
    }

    #[cold]
    fn keep(&mut self, from: u64, until: u64) {
        self.kept.push((from, until));
        if self.kept.len() > KEPT {
            // Of several as long the first one stays.
            let lengths = self.kept.iter().map(|&(from, until)| (until - from, Reverse(from)));
            if let Some((place, (length, _))) = lengths.enumerate().min_by_key(|(_, length)| *length) {
                self.kept.swap_remove(place);
                self.floor_ps = length;
            }
        }
    }

    /// Adds what came to another worker.
    pub fn absorb(&mut self, other: &Self) {
        let (Some(own), Some(others)) = (self.ends, other.ends) else {
            if self.ends.is_none() {
                *self = other.clone();
            }
            return;
        };
        let floor_ps = self.floor_ps.max(other.floor_ps);
        let mut common = Vec::new();
        for (from, until) in self.with_ends() {
            for (other_from, other_until) in other.with_ends() {
                let both = (from.max(other_from), until.min(other_until));
                // What begins or ends with the trial is not between two arrivals.
                let is_between = both.0 > 0 && both.1 < u64::MAX;
                if is_between && both.1.saturating_sub(both.0) > floor_ps {
                    common.push(both);
                }
            }
        }
        *self = Self {
            ends: Some((own.0.min(others.0), own.1.max(others.1))),
            kept: common,
            floor_ps,
        };
    }

    /// Those kept, and the time before the first arrival and after the last.
    fn with_ends(&self) -> impl Iterator<Item = (u64, u64)> {
        let outside = self.ends.map(|(first, last)| [(0, first), (last, u64::MAX)]);
        outside.into_iter().flatten().chain(self.kept.iter().copied())
    }

    /// From which arrival to which the longest lasted, the first of several as long; `None` if there were no two arrivals at
    /// different times, or what several workers kept does not tell.
    #[must_use]
    pub fn longest(&self) -> Option<(u64, u64)> {
        let mut longest: Option<(u64, u64)> = None;
        for &(from, until) in &self.kept {
            let is_longer = longest.is_none_or(|(first, last)| (until - from, first) > (last - first, from));
            if is_longer {
                longest = Some((from, until));
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The longest distance of neighbours among all arrivals, by sorting them.
    fn plainly(mut arrivals: Vec<u64>) -> Option<(u64, u64)> {
        arrivals.sort_unstable();
        let pairs = arrivals.windows(2).map(|pair| (pair[0], pair[1]));
        let longest = pairs.clone().map(|(from, until)| until - from).max().filter(|&length| length > 0)?;
        pairs.into_iter().find(|(from, until)| until - from == longest)
    }

    fn heard(arrivals: &[u64]) -> Silences {
        let mut silences = Silences::default();
        arrivals.iter().for_each(|&at| silences.record_arrival(at));
        silences
    }

    proptest! {
        #[test]
        fn silences_of_workers_are_that_of_all_their_arrivals(
            gaps in proptest::collection::vec((0_u64..100, 0_usize..3), 0..400),
            outage in proptest::option::of((0_usize..400, 1000_u64..2000)),
        ) {
            let (mut now, mut all, mut each) = (1, Vec::new(), vec![Vec::new(); 3]);
            for (number, (gap, worker)) in gaps.iter().enumerate() {
                now += gap + outage.filter(|(at, _)| *at == number).map_or(0, |(_, length)| length);
                all.push(now);
                each[*worker].push(now);
            }
            prop_assert_eq!(heard(&all).longest(), plainly(all.clone()));
            let mut merged = heard(&each[0]);
            each[1..].iter().for_each(|arrivals| merged.absorb(&heard(arrivals)));
            // Known or not known, but never wrong; an outage longer than what the workers forget is known.
            let found = merged.longest();
            prop_assert!(found.is_none() || found == plainly(all.clone()), "{:?}", found);
            if outage.is_some_and(|(at, _)| at > 0 && at < gaps.len()) {
                prop_assert_eq!(found, plainly(all));
            }
        }
    }
}
