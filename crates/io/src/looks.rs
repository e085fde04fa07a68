//! How long a ring may have been full: the time before those looks at it that found so much come that there may have been
//! no room for more. Frames that a peer dropped for want of room came in that time, whoever counted them.

use crate::time::Instant;

/// Spans that are kept of a trial; of more, close neighbours are joined.
const MOST_SPANS: usize = 256;

/// A time in which a ring may have been full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// After the last look that found room.
    pub from: Instant,
    /// When the last full look had ended.
    pub until: Instant,
}

/// Adds up the time before full looks, never less than it was, each moment once.
#[derive(Clone, Debug, Default)]
pub struct FullTime {
    /// When the ring was looked at last, and the last time before that moment: of several looks of one round, which all
    /// carry the time it began, any may be the one that tells of the time before.
    last: Instant,
    before: Instant,
    /// What was before is added already.
    added_to: Instant,
    total_ps: u64,
    /// Since [`Self::begin`].
    spans: Vec<Span>,
}

impl FullTime {
    /// A look, by a caller to whom it is `now` or somewhat later.
    #[inline]
    pub fn look(&mut self, now: Instant) {
        if now > self.last {
            self.before = self.last;
            self.last = now;
        }
    }

    /// Notes that the last look found the ring full, at `end`, which is not before its time.
    pub fn full(&mut self, end: Instant) {
        let from = self.before.max(self.added_to);
        self.total_ps += end.saturating_since(from).ps;
        self.added_to = self.added_to.max(end);
        match self.spans.last_mut() {
            Some(last) if from <= last.until => last.until = last.until.max(end),
            _ => self.keep(Span { from, until: end }),
        }
    }

    fn keep(&mut self, span: Span) {
        self.spans.push(span);
        if self.spans.len() > MOST_SPANS {
            self.make_room();
        }
    }

    /// Joins the half of all neighbours that are the closest; of those that are equally close, two by two.
    fn make_room(&mut self) {
        let apart = |pair: &[Span]| pair[1].from.saturating_since(pair[0].until).ps;
        let mut gaps: Vec<u64> = self.spans.windows(2).map(apart).collect();
        let middle = gaps.len() / 2;
        let median = *gaps.select_nth_unstable(middle).1;
        let mut joined: Vec<Span> = Vec::with_capacity(MOST_SPANS);
        let mut has_joined = false;
        for &span in &self.spans {
            let gap = joined.last().map(|last| apart(&[*last, span]));
            has_joined = gap.is_some_and(|gap| gap < median || (gap == median && !has_joined));
            match joined.last_mut() {
                Some(last) if has_joined => last.until = span.until,
                _ => joined.push(span),
            }
        }
        self.spans = joined;
    }

    /// A trial begins: only spans from now on are kept.
    pub fn begin(&mut self) {
        self.spans.clear();
    }

    /// The times before full looks, in order, none within another. Where there were too many, neighbours are one.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The sum, ns.
    #[must_use]
    pub fn ns(&self) -> u64 {
        self.total_ps.div_ceil(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at the times given, in us, the full ones with when they ended.
    fn total(looks: &[(u64, Option<u64>)]) -> u64 {
        let mut time = FullTime::default();
        for &(now, full) in looks {
            time.look(Instant::from_ns(now * 1000));
            if let Some(end) = full {
                time.full(Instant::from_ns(end * 1000));
            }
        }
        time.ns() / 1000
    }

    #[test]
    fn the_time_before_full_looks_is_counted_and_no_other() {
        assert_eq!(total(&[(10, None), (30, None), (100, None)]), 0);
        assert_eq!(total(&[(10, None), (30, Some(30)), (100, None)]), 20);
        assert_eq!(total(&[(10, None), (30, None), (100, Some(103)), (110, None)]), 73);
    }

    #[test]
    fn who_always_finds_it_full_has_been_full_all_the_time() {
        assert_eq!(total(&[(10, None), (30, Some(33)), (40, Some(41)), (90, Some(95))]), 85);
    }

    /// The first look of a round may be at what was known already, the second at what came meanwhile.
    #[test]
    fn looks_of_one_round_tell_of_the_time_before_it_once() {
        assert_eq!(total(&[(10, None), (30, None), (30, Some(34))]), 24);
        assert_eq!(total(&[(10, None), (30, Some(34)), (30, Some(37)), (50, None)]), 27);
    }

    /// The times given, in us.
    fn spans(looks: &[(u64, Option<u64>)]) -> Vec<(u64, u64)> {
        let mut time = FullTime::default();
        for &(now, full) in looks {
            time.look(Instant::from_ns(now * 1000));
            if let Some(end) = full {
                time.full(Instant::from_ns(end * 1000));
            }
        }
        let us = |at: Instant| at.ps / 1_000_000;
        time.spans().iter().map(|span| (us(span.from), us(span.until))).collect()
    }

    #[test]
    fn each_time_before_full_looks_is_dated() {
        assert_eq!(spans(&[(10, None), (30, None)]), []);
        assert_eq!(
            spans(&[(10, None), (30, Some(33)), (40, Some(41)), (60, None), (90, Some(95))]),
            [(10, 41), (60, 95)]
        );
    }

    /// Of many times more than there is room for, none is dropped, and what was between two of them may be in one.
    #[test]
    fn too_many_times_are_joined_with_their_neighbours() {
        let looks: Vec<_> = (1..=4000_u64).map(|at| (at * 10, (at % 2 == 0).then_some(at * 10 + 1))).collect();
        let found = spans(&looks);
        assert!(found.len() <= MOST_SPANS && found.len() > MOST_SPANS / 4, "{}", found.len());
        assert!(
            (2..=4000_u64)
                .step_by(2)
                .all(|at| found.iter().any(|&(from, until)| from <= at * 10 - 10 && at * 10 < until))
        );
        assert!(found.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    /// A thousand times 1 us apart, then three that are far apart: the three stay what they are.
    #[test]
    fn the_closest_times_are_joined_first() {
        let mut looks: Vec<_> = (1..=2000_u64).map(|at| (at, (at % 2 == 0).then_some(at))).collect();
        for at in [10_000, 20_000, 30_000] {
            looks.extend([(at, None), (at + 5, Some(at + 6))]);
        }
        let found = spans(&looks);
        assert_eq!(found[found.len() - 3..], [(10_000, 10_006), (20_000, 20_006), (30_000, 30_006)]);
        assert_eq!((found[0].0, found[found.len() - 4].1), (1, 2000));
    }

    #[test]
    fn a_trial_has_its_own_times() {
        let mut time = FullTime::default();
        time.look(Instant::from_ns(10));
        time.full(Instant::from_ns(20));
        time.begin();
        assert_eq!((time.spans(), time.ns()), (&[][..], 20));
    }
}
