//! How late frames left: the departure each one carries, less the one the schedule intended for it.
//!
//! Latency is counted from the actual departure (service time). A tester that was late has offered another load than the
//! one intended, and what a user of the intended load would have waited (response time) is up to the lag more. So both
//! are kept, and how many frames were so late that the latencies beside them are not usable.

use super::block::BLOCK;
use super::late::Late;
use super::schedule::Schedule;
use super::shared_lags::{Kept, SharedLags, Sum, UNSEEN_PS};
use crate::observe::{Series, Timing};
use crate::result::Lag as Found;

/// Frames later than this are late at any load, ps.
const LATE_PS: u64 = 10_000_000;

/// Of the frames that left in a sample of time.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// The most that one was late.
    longest_ps: u64,
    /// The most that one left closer to those before it than they were due.
    closer_ps: u64,
    /// The most that left at once.
    bunch: u64,
}

/// Lags of one stream.
#[derive(Clone, Debug)]
pub struct Lag {
    timing: Timing,
    /// Frames later than this are late.
    limit_ps: u64,
    late: u64,
    /// When they left.
    periods: Late,
    /// Where samples lie in time.
    time: Series,
    samples: Vec<Sample>,
    /// How late the last frame left.
    rest_ps: u64,
    /// Whether each frame has a departure of its own (exact time).
    one_by_one: bool,
}

impl Lag {
    /// Of a worker that sends `own` of the `flows` flows of a stream with this schedule: late is what leaves over 10 us
    /// after its time, or over the time that as many of its frames take as are sent at once, if that is less.
    #[must_use]
    pub fn new(schedule: &Schedule, own: u64, flows: u64) -> Self {
        let all = u128::from(schedule.shortest_gap_ps()) * BLOCK as u128 * u128::from(flows);
        let at_once = all.checked_div(u128::from(own)).unwrap_or(0).try_into().unwrap_or(u64::MAX);
        Self {
            timing: Timing::new(),
            limit_ps: LATE_PS.min(at_once),
            late: 0,
            periods: Late::default(),
            time: Series::new(0, 1, 1),
            samples: vec![Sample::default()],
            rest_ps: 0,
            one_by_one: false,
        }
    }

    /// Counts in the samples of `series` from now on.
    pub fn begin(&mut self, series: Series) {
        self.samples = vec![Sample::default(); series.bins().len()];
        self.time = series;
    }

    /// Where frames wait for their line by exact times: `others_ps` is what a frame of each other stream of the port takes
    /// on it. All may be due at one instant, as streams of several rates are ever again, and then the last one leaves so
    /// much later though the port had every load that was intended.
    pub fn beside(&mut self, others_ps: u64) {
        self.limit_ps = self.limit_ps.max(others_ps);
        self.one_by_one = true;
    }

    /// Whether the last frame was sent late, by as much as is seen.
    #[inline]
    pub fn was_late(&self) -> bool {
        self.rest_ps >= UNSEEN_PS || self.periods.is_open()
    }

    /// `frames` frames left on time, after others that did.
    #[inline]
    pub fn record_on_time(&mut self, frames: u64) {
        self.timing.record_many(0, frames);
    }

    /// `frames` frames left at `at_ps`, the first `lag_ps` after its time and the last `rest_ps`: all count as late as the first.
    #[inline(always)]
    pub fn record(&mut self, at_ps: u64, lag_ps: u64, rest_ps: u64, frames: u64) {
        self.timing.record_many(lag_ps / 1000, frames);
        let before_ps = std::mem::replace(&mut self.rest_ps, rest_ps);
        if lag_ps.max(before_ps) >= UNSEEN_PS || self.periods.is_open() {
            if lag_ps <= self.limit_ps && self.time.holds(at_ps) && !self.periods.is_open() {
                // On time, as far as that matters.
                self.note_sample(at_ps, lag_ps, before_ps, frames);
            } else {
                self.note(at_ps, lag_ps, before_ps, frames);
            }
        }
    }

    /// What frames that left at `at_ps` say of their sample.
    #[inline(always)]
    fn note_sample(&mut self, at_ps: u64, lag_ps: u64, before_ps: u64, frames: u64) {
        if self.limit_ps == u64::MAX {
            return;
        }
        let sample = &mut self.samples[self.time.place(at_ps)];
        sample.longest_ps = sample.longest_ps.max(lag_ps);
        sample.closer_ps = sample.closer_ps.max(before_ps.saturating_sub(lag_ps));
        sample.bunch = sample.bunch.max(if self.one_by_one { 1 } else { frames });
    }

    /// Prefetches the bucket that [`Self::record_kept`] most likely counts in next.
    #[inline(always)]
    pub fn prefetch(&self, kept: &Kept) {
        self.timing.prefetch(kept.latest_ps / 1000);
    }

    /// As [`Self::record`], of several bursts one after the other.
    #[inline(never)]
    pub fn record_kept(&mut self, kept: &[Kept]) {
        for burst in kept {
            self.timing.record_many(burst.latest_ps / 1000, burst.frames);
            let before_ps = std::mem::replace(&mut self.rest_ps, burst.rest_ps);
            if burst.latest_ps.max(before_ps) >= UNSEEN_PS || self.periods.is_open() {
                self.note_here(burst.at_ps, burst.latest_ps, before_ps, burst.frames);
            }
        }
    }

    /// As [`Self::record_kept`], of bursts that other streams had a part in too.
    pub fn record_shared(&mut self, shared: &SharedLags) {
        match (&shared.sum, &shared.kept[..]) {
            (Some(sum), [first, .., last]) if self.is_summed_by(sum, first, last) => {
                self.timing.record_shared(shared.timing());
                self.note_sum(sum, first, last);
            }
            _ => self.record_kept(&shared.kept),
        }
    }

    /// Whether the sum of bursts from `first` to `last` says all that is recorded of them: they are of one sample, and all late
    /// or, behind others that were not, all on time.
    fn is_summed_by(&mut self, sum: &Sum, first: &Kept, last: &Kept) -> bool {
        let is_late = sum.least_ps > self.limit_ps;
        let is_on_time = sum.most_ps <= self.limit_ps && !self.periods.is_open();
        // The series is then at the sample of the first.
        self.time.place(first.at_ps);
        self.limit_ps >= UNSEEN_PS && (is_late || is_on_time) && self.time.holds(last.at_ps)
    }

    fn note_sum(&mut self, sum: &Sum, first: &Kept, last: &Kept) {
        let before_ps = std::mem::replace(&mut self.rest_ps, last.rest_ps);
        if first.latest_ps.max(before_ps) >= UNSEEN_PS {
            self.note_here(first.at_ps, first.latest_ps, before_ps, first.frames);
        }
        if let Some([longest_ps, closer_ps, frames]) = sum.seen {
            self.note_sample(first.at_ps, longest_ps, longest_ps + closer_ps, frames);
        }
        if let Some(behind) = sum.behind.filter(|_| sum.least_ps > self.limit_ps) {
            self.late += sum.frames - first.frames;
            self.periods.go_on(behind);
        }
    }

    /// As [`Self::note_here`]. A call a burst is cheaper than a longer loop around it.
    #[inline(never)]
    fn note(&mut self, at_ps: u64, lag_ps: u64, before_ps: u64, frames: u64) {
        self.note_here(at_ps, lag_ps, before_ps, frames);
    }

    /// Takes note of frames of which the first was `lag_ps` late and the one before it `before_ps`.
    #[inline(always)]
    fn note_here(&mut self, at_ps: u64, lag_ps: u64, before_ps: u64, frames: u64) {
        self.note_sample(at_ps, lag_ps, before_ps, frames);
        if lag_ps > self.limit_ps {
            self.late += frames;
            // Frames just before a period were a little late themselves.
            let before_ps = if self.periods.is_open() { before_ps } else { 0 };
            self.periods.late(at_ps, lag_ps, lag_ps.saturating_sub(before_ps), frames);
        } else if self.periods.is_open() {
            self.periods.on_time();
        }
    }

    /// Frames left at `departures`, which the schedule had at `intended`, counted from `start_ps`; the latest of them
    /// `most_ps` after its time.
    #[inline]
    pub fn record_each(&mut self, departures: &[u64], intended: &[u64], start_ps: u64, most_ps: u64) {
        if most_ps < UNSEEN_PS && !self.was_late() {
            self.record_on_time(departures.len() as u64);
            return;
        }
        for (departure, intended) in departures.iter().zip(intended) {
            let lag_ps = departure - (start_ps + intended);
            self.record(*departure, lag_ps, lag_ps, 1);
        }
    }

    /// The most that a frame was late which left in these samples, ns.
    #[must_use]
    pub fn longest_ns(&self, samples: std::ops::Range<usize>) -> u64 {
        let known = samples.filter_map(|index| self.samples.get(index));
        known.map(|sample| sample.longest_ps.div_ceil(1000)).max().unwrap_or(0)
    }

    /// Adds those of another worker.
    pub fn absorb(&mut self, other: &Self) {
        self.timing.absorb(&other.timing);
        self.late += other.late;
        self.periods.absorb(&other.periods);
        for (sample, more) in self.samples.iter_mut().zip(&other.samples) {
            sample.longest_ps = sample.longest_ps.max(more.longest_ps);
            sample.closer_ps = sample.closer_ps.max(more.closer_ps);
            sample.bunch = sample.bunch.max(more.bunch);
        }
        self.limit_ps = self.limit_ps.max(other.limit_ps);
    }

    /// Returns the lag found, dated from `start_ps` on; `None` if nothing was sent.
    #[must_use]
    pub fn finish(&self, start_ps: u64) -> Option<Found> {
        let lag = self.timing.finish()?;
        Some(Found {
            count: lag.count,
            min_ns: lag.min_ns,
            sum_ns: lag.sum_ns,
            max_ns: lag.max_ns,
            over: lag.over,
            histogram: lag.histogram,
            late: self.late,
            // Where nothing is late, what would be elsewhere.
            limit_ns: if self.limit_ps == u64::MAX { LATE_PS } else { self.limit_ps } / 1000,
            periods: self.periods.finish(start_ps),
            by_sample: self.by_sample(),
        })
    }

    /// What is known of each sample; empty if no frame was ever late.
    fn by_sample(&self) -> Vec<[u64; 3]> {
        if self.samples.iter().all(|sample| sample.longest_ps == 0) {
            return Vec::new();
        }
        let table = |sample: &Sample| [sample.longest_ps.div_ceil(1000), sample.closer_ps / 1000, sample.bunch];
        self.samples.iter().map(table).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Segment, SizeSpec};

    const MS: u64 = 1_000_000_000;

    /// Of a worker with so many of 8 flows.
    fn lag(bps: u64, own: u64) -> Lag {
        let segment = |from_bps, to_bps| Segment {
            name: "s".to_owned(),
            duration_ns: 1000,
            from_bps,
            to_bps,
        };
        let size = SizeSpec { size: 64, weight: 1 };
        Lag::new(&Schedule::new(&[segment(bps / 2, bps), segment(bps, bps)], &[size], &[0]), own, 8)
    }

    /// A frame of 64 bytes is 672 bits on the line: at 672 Mbit/s one comes each microsecond, and 128 in 128 us.
    #[test]
    fn late_is_ten_microseconds_or_a_burst_at_the_highest_load() {
        // Of two workers each sends every second frame: 128 of its own take twice as long.
        for (bps, own, limit_ns) in [(672_000_000, 8, 10_000), (67_200_000_000, 8, 1280), (67_200_000_000, 4, 2560)] {
            let mut lag = lag(bps, own);
            lag.begin(Series::new(MS, MS, 4));
            lag.record(MS, limit_ns * 1000, 0, 5);
            lag.record(2 * MS, limit_ns * 1000 + 1, 0, 2);
            lag.record(3 * MS, limit_ns * 1000, 0, 1);
            let found = lag.finish(0).expect("frames");
            assert_eq!((found.count, found.late, found.limit_ns), (8, 2, limit_ns));
            let dated: Vec<_> = found.periods.iter().map(|one| (one.until_ns, one.frames)).collect();
            assert_eq!(dated, [(2_000_000, 2)]);
            let (second, third) = ([limit_ns + 1, 0, 2], [limit_ns, 0, 1]);
            assert_eq!(found.by_sample, [[limit_ns, 0, 5], second, third, [0, 0, 0]]);
        }
    }

    #[test]
    fn lags_are_those_of_each_frame() {
        let mut lag = lag(672_000_000, 8);
        lag.record_each(&[100_000, 100_900], &[0, 900], 100_000, 0);
        lag.record_each(&[1_100_000, 1_103_000], &[1_000_000, 1_000_000], 100_000, 3000);
        let found = lag.finish(0).expect("frames");
        assert_eq!((found.count, found.min_ns, found.max_ns, found.sum_ns), (4, 0, 3, 3));
    }

    /// Bursts on time, late, and both, in one sample of time or two, behind frames that were late or not.
    #[test]
    fn lags_in_common_are_recorded_as_each_alone() {
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 20) % below
        };
        let mut summed = [0, 0];
        let mut shared = SharedLags::default();
        // Where 10 us is late, less than is seen, and where frames wait for their line one by one.
        for (limit_ps, others_ps) in [(LATE_PS, 0), (UNSEEN_PS / 2, 0), (LATE_PS, 1_000_000)] {
            let mut at_ps = MS;
            let (mut alone, mut together) = (lag(672_000_000, 8), lag(672_000_000, 8));
            for lag in [&mut alone, &mut together] {
                lag.begin(Series::new(MS, MS, 1 << 8));
                lag.limit_ps = limit_ps;
                if others_ps > 0 {
                    lag.beside(others_ps);
                }
            }
            for _ in 0..10_000 {
                let (least_ps, spread_ps) =
                    [(0, 500), (0, 2000), (0, 9_000_000), (9_999_000, 3000), (11_000_000, 1 << 40)][random(5) as usize];
                let bursts: Vec<Kept> = (0..random(6))
                    .map(|_| {
                        at_ps += random(10_000_000);
                        let latest_ps = least_ps + random(spread_ps);
                        let rest_ps = latest_ps - random(latest_ps + 1) * random(2);
                        let frames = 1 + random(3);
                        Kept {
                            at_ps,
                            latest_ps,
                            rest_ps,
                            frames,
                        }
                    })
                    .collect();
                shared.keep(bursts.iter().copied());
                if let (Some(sum), [first, .., last]) = (&shared.sum, &bursts[..]) {
                    summed[usize::from(together.is_summed_by(sum, first, last))] += 1;
                }
                together.record_shared(&shared);
                alone.record_kept(&bursts);
                assert_eq!((together.rest_ps, together.late), (alone.rest_ps, alone.late));
            }
            assert_eq!(together.finish(0), alone.finish(0));
        }
        assert!(summed.iter().all(|&count| count > 1000), "{summed:?}");
    }
}
