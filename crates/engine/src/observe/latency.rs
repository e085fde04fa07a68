//! One-way latency of one stream: HDR histogram, extremes and sum.

use super::histogram::{self, LONGEST_NS};
use super::places::Places;
use crate::result::{Interval, Latency};
use netdyno_frame::side_by_side::WIDTH;

/// Three significant digits: values with the same 11 leading bits are counted together.
const LEADING_BITS: u32 = 11;
/// Bits of the longest latency: what is longer by so much that it has more is only counted as such.
const MOST_BITS: u32 = LONGEST_NS.ilog2() + 1;
/// Places of values with a given number of bits.
const HALF: usize = 1 << (LEADING_BITS - 1);
const PLACES: usize = HALF * (MOST_BITS - LEADING_BITS + 2) as usize;

/// Latencies of one stream, in nanoseconds rounded down.
///
/// Counted in places of its own, which are those of the HDR histogram it becomes in the end: there a value costs
/// a handful of instructions. What each frame changes beside its place lies in one line of the cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Timing {
    places: Places<PLACES>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
    over: u64,
    negative: u64,
}

/// Latencies that several streams have in common: looked at once, recorded of each.
#[derive(Debug, Default)]
pub struct SharedTiming {
    /// Places one after the other, and how many came there.
    places: Vec<(u32, u32)>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
}

impl SharedTiming {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.places.clear();
        (self.min_ns, self.max_ns, self.sum_ns) = (u64::MAX, 0, 0);
    }

    /// `count` frames took `ns` each.
    #[inline]
    pub fn count(&mut self, ns: u64, count: u32) {
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.sum_ns += u128::from(ns) * u128::from(count);
        let place = place(ns) as u32;
        match self.places.last_mut() {
            Some((last, counted)) if *last == place => *counted += count,
            _ => self.places.push((place, count)),
        }
    }
}

/// The place of `ns`: itself below 2^11, else its 11 leading bits, with as many places again for each further bit.
#[inline]
fn place(ns: u64) -> usize {
    let shift = (ns | 1).ilog2().saturating_sub(LEADING_BITS - 1);
    shift as usize * HALF + (ns >> shift) as usize
}

/// The least value in a place.
fn value(place: usize) -> u64 {
    let shift = (place / HALF).saturating_sub(1);
    ((place - shift * HALF) as u64) << shift
}

impl Timing {
    /// Nothing timed yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            places: Places::new(),
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
            over: 0,
            negative: 0,
        }
    }

    /// A frame departed at `departure_ps` and had arrived at `arrival_ps`.
    #[inline]
    pub fn record(&mut self, departure_ps: u64, arrival_ps: u64) {
        match arrival_ps.checked_sub(departure_ps) {
            Some(taken) => self.record_many(taken / 1000, 1),
            None => self.negative += 1,
        }
    }

    /// `count` frames took `ns` each.
    #[inline(always)]
    pub fn record_many(&mut self, ns: u64, count: u64) {
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.sum_ns += u128::from(ns) * u128::from(count);
        self.count(ns, count);
    }

    /// As [`Self::record_many`], of all that is in `shared`.
    #[inline(always)]
    pub fn record_shared(&mut self, shared: &SharedTiming) {
        self.min_ns = self.min_ns.min(shared.min_ns);
        self.max_ns = self.max_ns.max(shared.max_ns);
        self.sum_ns += shared.sum_ns;
        for &(place, count) in &shared.places {
            if !self.places.add(place as usize, count.into()) {
                self.over += u64::from(count);
            }
        }
    }

    /// Puts `count` of `ns` in their place.
    #[inline(always)]
    fn count(&mut self, ns: u64, count: u64) {
        if !self.places.add(place(ns), count) {
            self.over += count;
        }
    }

    /// Prefetches the bucket of `ns`, which is recorded soon.
    #[inline(always)]
    pub fn prefetch(&self, ns: u64) {
        self.places.prefetch(place(ns));
    }

    /// Frames departed at `departures` and had arrived at `arrivals`.
    #[inline]
    pub fn record_each(&mut self, departures: &[u64], arrivals: &[u64]) {
        let (mut low, mut high, mut sum, mut negative) = (u64::MAX, 0, 0_u128, 0);
        let mut sum_ns = 0_u64;
        for (&departure, &arrival) in departures.iter().zip(arrivals) {
            let Some(taken) = arrival.checked_sub(departure) else {
                negative += 1;
                continue;
            };
            let ns = taken / 1000;
            (low, high) = (low.min(ns), high.max(ns));
            // A u64 of picoseconds has fewer nanoseconds than a thousandth of what a u64 holds.
            sum_ns += ns;
            if sum_ns >= 1 << 62 {
                sum += u128::from(std::mem::take(&mut sum_ns));
            }
            self.count(ns, 1);
        }
        self.min_ns = self.min_ns.min(low);
        self.max_ns = self.max_ns.max(high);
        self.sum_ns += sum + u128::from(sum_ns);
        self.negative += negative;
    }

    /// As [`Self::record_each`], of the first `count` places; the others repeat the first.
    #[inline(always)]
    pub fn record_side_by_side(&mut self, departures: &[u64; WIDTH], arrivals: &[u64; WIDTH], count: usize) {
        let (mut low, mut high, mut wrong) = (u64::MAX, 0, 0);
        let mut taken = [0; WIDTH];
        for ((taken, &departure), &arrival) in taken.iter_mut().zip(departures).zip(arrivals) {
            *taken = arrival.wrapping_sub(departure);
            wrong |= u64::from(arrival < departure);
            (low, high) = (low.min(*taken), high.max(*taken));
        }
        if wrong != 0 || high >= 8 << 32 {
            self.record_each(&departures[..count], &arrivals[..count]);
            return;
        }
        // Thousandths of what has 35 bits, in 32 bits: rounding down twice is rounding down once.
        let thousandth = |ps: u64| u64::from((ps / 8) as u32 / 125);
        let sum = taken.iter().map(|&ps| thousandth(ps)).sum::<u64>() - (WIDTH - count) as u64 * thousandth(taken[0]);
        let (low, high) = (thousandth(low), thousandth(high));
        self.min_ns = self.min_ns.min(low);
        self.max_ns = self.max_ns.max(high);
        self.sum_ns += u128::from(sum);
        // Places ascend with time, so most often there is but one.
        if place(low) == place(high) {
            self.count(low, count as u64);
        } else {
            taken[..count].iter().for_each(|&ps| self.count(thousandth(ps), 1));
        }
    }

    /// Adds those of another.
    pub fn absorb(&mut self, other: &Self) {
        for (place, count) in other.places.counted() {
            self.places.add(place, count);
        }
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
        self.over += other.over;
        self.negative += other.negative;
    }

    /// What was counted: the least value of each place with some, and how many.
    fn counted(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.places.counted().map(|(place, count)| (value(place), count))
    }

    /// The longest so far, ns.
    pub fn longest_ns(&self) -> u64 {
        self.max_ns
    }

    /// What was counted, by place.
    pub fn places(&self) -> Vec<(usize, u64)> {
        self.places.counted().collect()
    }

    /// Those that were counted between `before` and `now`, of which the former holds no place that the latter does not.
    pub fn interval(&self, now: &[(usize, u64)], before: &[(usize, u64)]) -> Interval {
        let mut earlier = before.iter().copied().peekable();
        let moved: Vec<(usize, u64)> = now
            .iter()
            .map(|&(place, count)| (place, count - earlier.next_if(|one| one.0 == place).map_or(0, |one| one.1)))
            .filter(|&(_, count)| count > 0)
            .collect();
        let count: u64 = moved.iter().map(|&(_, count)| count).sum();
        // A place stands for its upper end, as in percentiles of histograms; no value is above the greatest.
        let end = |place| (value(place + 1) - 1).min(self.max_ns);
        let percentile = |share: u64| {
            let mut left = u64::max(1, (count * share).div_ceil(100));
            let is_there = |one: &&(usize, u64)| {
                let here = one.1 >= left;
                left = left.saturating_sub(one.1);
                here
            };
            moved.iter().find(is_there).map_or(0, |one| end(one.0))
        };
        Interval {
            count,
            p50_ns: percentile(50),
            p99_ns: percentile(99),
            max_ns: moved.last().map_or(0, |one| end(one.0)),
        }
    }

    /// Returns the latency found; `None` if no frame was timed, not even a negative one.
    #[must_use]
    pub fn finish(&self) -> Option<Latency> {
        let count = self.counted().map(|(_, count)| count).sum::<u64>() + self.over;
        if count == 0 && self.negative == 0 {
            return None;
        }
        Some(Latency {
            count,
            min_ns: if count == 0 { 0 } else { self.min_ns },
            sum_ns: self.sum_ns,
            max_ns: self.max_ns,
            over: self.over,
            negative: self.negative,
            histogram: histogram::write(self.counted()),
        })
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

    /// Latencies of every magnitude, as the histogram's own recording counts them.
    #[test]
    fn the_histogram_is_that_of_hdrhistogram_itself() {
        let mut direct = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).expect("bounds");
        let mut timing = Timing::new();
        let (mut over, mut sum, mut state) = (0, 0_u128, 1_u64);
        let edges = (0..36).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let spread = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 20) >> (state % 44)
        });
        for ns in edges.chain(spread.take(20_000)).chain([0, 2047, 2048, 10_000_000_000]) {
            timing.record(5, 5 + ns * 1000 + ns % 1000);
            over += u64::from(direct.record(ns).is_err());
            sum += u128::from(ns);
        }
        assert_eq!(
            (timing.finish().expect("timed").over, timing.sum_ns, timing.negative),
            (over, sum, 0)
        );
        // Nothing of one is in the next: large, empty, small, large.
        let (mut small, mut empty) = (Timing::new(), Timing::new());
        let mut direct_small = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).expect("bounds");
        small.record(1000, 8000);
        direct_small.record(7).expect("within");
        empty.record(2, 1);
        let nothing = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).expect("bounds");
        for (timing, histogram) in [(&timing, &direct), (&empty, &nothing), (&small, &direct_small), (&timing, &direct)] {
            let mut bytes = Vec::new();
            V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("a vector");
            assert!(timing.finish().expect("timed").histogram == STANDARD.encode(&bytes));
        }
    }

    #[test]
    fn what_arrives_before_it_departs_is_counted_apart() {
        let mut timing = Timing::new();
        timing.record_each(&[10_000, 20_000], &[9_999, 23_999]);
        let found = timing.finish().expect("timed");
        assert_eq!(
            (found.count, found.min_ns, found.max_ns, found.sum_ns, found.negative),
            (1, 3, 3, 3, 1)
        );
    }

    /// Lanes side by side, against one frame after the other: near each other and not, short and long, and wrong.
    #[test]
    fn frames_side_by_side_are_recorded_as_each_alone() {
        let mut state = 1_u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 16
        };
        let (mut lanes, mut each) = (Timing::new(), Timing::new());
        for round in 0..20_000 {
            let departures = std::array::from_fn(|_| random() >> 8);
            let (near, spread) = (random() >> (random() % 48), 1 + (random() >> (random() % 48)));
            let mut arrivals = departures.map(|departure| departure + near + random() % spread);
            if round % 100 == 0 {
                arrivals[round % WIDTH] = departures[round % WIDTH] / 2;
            }
            let count = 1 + random() as usize % WIDTH;
            let mut repeated = (departures, arrivals);
            repeated.0[count..].fill(departures[0]);
            repeated.1[count..].fill(arrivals[0]);
            lanes.record_side_by_side(&repeated.0, &repeated.1, count);
            for (&departure, &arrival) in departures.iter().zip(&arrivals).take(count) {
                each.record(departure, arrival);
            }
        }
        let all = |timing: &Timing| {
            let numbers = [timing.min_ns, timing.max_ns, timing.over, timing.negative];
            (timing.counted().collect::<Vec<_>>(), numbers, timing.sum_ns)
        };
        assert_eq!(all(&lanes), all(&each));
        assert!(lanes.negative > 0 && lanes.over > 0);
    }
}
