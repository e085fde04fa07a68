//! When frames were sent late, in memory that does not grow: what a device then lost may be the doing of the tester's burst.

use crate::result::LatePeriod;

/// Periods that are kept; more are joined, two by two.
const MOST: usize = 256;

/// Frames that were sent late one after the other, until one was on time again; or several such periods, joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// When the first late frame was due.
    from_ps: u64,
    /// When the last one left.
    until_ps: u64,
    /// The most that a frame was late.
    longest_ps: u64,
    /// By how much frames were sent later than the one before them, summed: what was due in so much time came in bunches.
    sum_ps: u64,
    /// How often one did.
    times: u64,
    /// Frames that were sent late.
    frames: u64,
}

impl Period {
    /// `frames` frames left at `at_ps`, the first of them `lag_ps` after its time: `more_ps` later than the one before it.
    #[inline(always)]
    pub fn of(at_ps: u64, lag_ps: u64, more_ps: u64, frames: u64) -> Self {
        Self {
            from_ps: at_ps.saturating_sub(lag_ps),
            until_ps: at_ps,
            longest_ps: lag_ps,
            sum_ps: more_ps,
            times: u64::from(more_ps > 0),
            frames,
        }
    }

    #[inline(always)]
    pub fn join(&mut self, next: &Self) {
        self.from_ps = self.from_ps.min(next.from_ps);
        self.until_ps = self.until_ps.max(next.until_ps);
        self.longest_ps = self.longest_ps.max(next.longest_ps);
        self.sum_ps = self.sum_ps.saturating_add(next.sum_ps);
        self.times += next.times;
        self.frames += next.frames;
    }
}

/// The late periods of one stream on one worker; of several workers, beside each other.
#[derive(Clone, Debug, Default)]
pub struct Late {
    ended: Vec<Period>,
    open: Option<Period>,
}

impl Late {
    /// Whether the last frame was sent late.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// `frames` frames left at `at_ps`, the first of them `lag_ps` after its time: `more_ps` later than the one before it.
    pub fn late(&mut self, at_ps: u64, lag_ps: u64, more_ps: u64, frames: u64) {
        self.go_on(Period::of(at_ps, lag_ps, more_ps, frames));
    }

    /// The frames of `now` were sent late, after others or not.
    #[inline(always)]
    pub fn go_on(&mut self, now: Period) {
        match &mut self.open {
            None => self.open = Some(now),
            Some(open) => open.join(&now),
        }
    }

    /// A frame left on time.
    pub fn on_time(&mut self) {
        if let Some(open) = self.open.take() {
            self.ended.push(open);
            self.make_room();
        }
    }

    /// Adds those of another worker: at the same time two of them are late by themselves.
    pub fn absorb(&mut self, other: &Self) {
        self.ended.extend(self.open.take());
        self.ended.extend(other.ended.iter().chain(&other.open));
        self.ended.sort_by_key(|period| period.from_ps);
        self.make_room();
    }

    /// Joins neighbours, two by two, until no more are kept than there is room for.
    fn make_room(&mut self) {
        while self.ended.len() > MOST {
            let mut joined: Vec<Period> = Vec::with_capacity(MOST);
            for pair in self.ended.chunks(2) {
                let mut first = pair[0];
                pair[1..].iter().for_each(|next| first.join(next));
                joined.push(first);
            }
            self.ended = joined;
        }
    }

    /// Returns the periods in order of time, counted from `start_ps`.
    #[must_use]
    pub fn finish(&self, start_ps: u64) -> Vec<LatePeriod> {
        let ns = |ps: u64| ps.saturating_sub(start_ps) / 1000;
        let periods = self.ended.iter().chain(&self.open);
        periods
            .map(|period| LatePeriod {
                from_ns: ns(period.from_ps),
                // Rounded up: the period is no shorter than that.
                until_ns: period.until_ps.saturating_sub(start_ps).div_ceil(1000),
                longest_ns: period.longest_ps.div_ceil(1000),
                sum_ns: period.sum_ps.div_ceil(1000),
                times: period.times,
                frames: period.frames,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    #[test]
    fn a_period_lasts_from_the_first_late_frame_to_the_last() {
        let mut late = Late::default();
        late.late(500 * US, 100 * US, 100 * US, 3);
        late.late(510 * US, 80 * US, 10 * US, 1);
        late.on_time();
        late.on_time();
        late.late(900 * US, 20 * US, 20 * US, 1);
        let found: Vec<_> = late
            .finish(100 * US)
            .iter()
            .map(|one| (one.from_ns, one.until_ns, one.longest_ns, one.sum_ns, one.times, one.frames))
            .collect();
        // From 70 us late to 80: a bunch came after that as well.
        assert_eq!(
            found,
            [(300_000, 410_000, 100_000, 110_000, 2, 4), (780_000, 800_000, 20_000, 20_000, 1, 1)]
        );
    }

    /// Of ten times as many as there is room for, none is dropped: what each was late is in the sum.
    #[test]
    fn when_there_is_no_more_room_neighbours_are_joined() {
        let mut late = Late::default();
        let many = 10 * MOST as u64;
        for number in 1..=many {
            late.late(number * 100 * US, (10 + number % 7) * US, (10 + number % 7) * US, 2);
            late.on_time();
        }
        let found = late.finish(0);
        assert!(found.len() <= MOST && found.len() > MOST / 4, "{}", found.len());
        assert!(found.windows(2).all(|pair| pair[0].until_ns < pair[1].from_ns));
        assert_eq!(found.iter().map(|one| one.times).sum::<u64>(), many);
        assert_eq!(found.iter().map(|one| one.frames).sum::<u64>(), 2 * many);
        let each: u64 = (1..=many).map(|number| (10 + number % 7) * 1000).sum();
        assert_eq!(found.iter().map(|one| one.sum_ns).sum::<u64>(), each);
        assert_eq!((found[0].from_ns, found[found.len() - 1].until_ns), (89_000, many * 100_000));
    }

    #[test]
    fn periods_of_two_workers_stand_beside_each_other() {
        let (mut one, mut other) = (Late::default(), Late::default());
        one.late(300 * US, 50 * US, 50 * US, 1);
        other.late(280 * US, 20 * US, 20 * US, 1);
        other.on_time();
        other.late(900 * US, 30 * US, 30 * US, 1);
        one.absorb(&other);
        let found: Vec<_> = one.finish(0).iter().map(|one| (one.from_ns, one.until_ns)).collect();
        assert_eq!(found, [(250_000, 300_000), (260_000, 280_000), (870_000, 900_000)]);
    }
}
