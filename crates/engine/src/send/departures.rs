//! The departures of a schedule one after the other, computed in blocks.

use super::arrival::{Arrival, Draw};
use super::block::BLOCK;
use super::bursts::{Gather, after, divide};
use super::flow_runs::{FlowRuns, Walk};
use super::ramp::{self, UNITS_PER_BYTE};
use super::schedule::Schedule;
use std::sync::Arc;

/// Frames that nobody wants are computed all the same if they are fewer.
const WORTH_SKIPPING: u64 = BLOCK as u64 / 2;

/// Frames that are copied one by one: of so few the calls that copy many take longer.
const SHORT_RUN: usize = 8;

/// Departures of a constant load that are computed side by side.
const SIDE: usize = 8;

/// Where the computation stands within the current stretch.
#[derive(Clone, Debug)]
enum Cursor {
    /// Constant load: the next departure and the remainder of its division, carried.
    Even {
        next: u64,
        rest: u64,
        modulus: u64,
        /// Whole picoseconds and remainder of one frame of each size.
        steps: Arc<[(u64, u64)]>,
    },
    /// Linear load: units owed before the next frame.
    Ramp {
        due: u128,
        /// Bytes on the line of one frame of each size.
        bytes: Arc<[u32]>,
    },
    /// Drawn times, whatever the load.
    Drawn(Draw),
    /// The schedule has ended.
    Done,
}

impl Schedule {
    /// The departures from the beginning.
    #[must_use]
    pub fn departures(&self) -> Departures {
        Departures::new(self.clone(), None)
    }

    /// Returns the departures of the frames of `flow_runs`.
    #[must_use]
    pub(super) fn departures_of(&self, flow_runs: FlowRuns) -> Departures {
        Departures::new(self.clone(), (!flow_runs.is_all()).then(|| Walk::new(flow_runs)))
    }
}

/// The departures of a schedule, in order. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Departures {
    schedule: Schedule,
    /// Place in the order of sizes of the next frame to compute.
    place: usize,
    stretch: usize,
    cursor: Cursor,
    gather: Option<Gather>,
    /// Where only some frames are wanted: at the next of them.
    wanted: Option<Walk>,
    /// Number of the next frame to compute, if only some are wanted.
    number: u64,
    times: [u64; BLOCK],
    sizes: [u16; BLOCK],
    head: usize,
    len: usize,
}

impl Departures {
    /// Those of `schedule`, from the beginning: of all frames, or of those `wanted` goes through.
    pub(super) fn new(schedule: Schedule, wanted: Option<Walk>) -> Self {
        let mut departures = Self {
            gather: schedule.bursts.map(|bursts| Gather::new(bursts, &schedule.units)),
            schedule,
            place: 0,
            stretch: usize::MAX,
            cursor: Cursor::Done,
            wanted,
            number: 0,
            times: [0; BLOCK],
            sizes: [0; BLOCK],
            head: 0,
            len: 0,
        };
        if let Some(Arrival::Poisson(poisson)) = &departures.schedule.arrival {
            let mut draw = Draw::default();
            poisson.seek(&mut draw, 0);
            departures.cursor = Cursor::Drawn(draw);
        } else {
            departures.enter(0, 0);
        }
        departures.refill();
        departures
    }

    /// Returns departures of no frame.
    pub(super) fn none() -> Self {
        Self::new(Schedule::new(&[], &[], &[]), None)
    }

    /// The next departure in picoseconds from the start, or `u64::MAX` when there is none.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> u64 {
        if self.head < self.len { self.times[self.head] } else { u64::MAX }
    }

    /// The size index of the next frame. Only if there is one.
    #[inline]
    #[must_use]
    pub fn peek_size(&self) -> usize {
        usize::from(self.sizes[self.head])
    }

    /// Returns computed departures and size indices, at least one unless the schedule has ended.
    /// They stay until [`Self::advance`] goes past them, so frames that could not be sent stand here still.
    #[inline]
    #[must_use]
    pub fn block(&self) -> (&[u64], &[u16]) {
        (&self.times[self.head..self.len], &self.sizes[self.head..self.len])
    }

    /// Skips `count` frames of the block.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.head += count;
        if self.head >= self.len {
            self.refill();
        }
    }

    /// Begins stretch `index` with `due` units owed before the next frame, skipping silent ones.
    fn enter(&mut self, mut index: usize, mut due: u128) {
        let stretch = loop {
            match self.schedule.stretches.get(index) {
                Some(stretch) if stretch.units() > due => break *stretch,
                Some(stretch) => due -= stretch.units(),
                None => {
                    self.cursor = Cursor::Done;
                    return;
                }
            }
            index += 1;
        };
        self.stretch = index;
        self.cursor = if stretch.from == stretch.to {
            let modulus = 2 * stretch.from;
            Cursor::Even {
                next: (due / u128::from(modulus)) as u64,
                rest: (due % u128::from(modulus)) as u64,
                modulus,
                steps: self.schedule.units.iter().map(|units| (units / modulus, units % modulus)).collect(),
            }
        } else {
            Cursor::Ramp {
                due,
                bytes: self.schedule.units.iter().map(|units| (units / UNITS_PER_BYTE) as u32).collect(),
            }
        };
    }

    #[inline(never)]
    fn refill(&mut self) {
        self.head = 0;
        self.len = 0;
        while self.len == 0 {
            self.skip();
            let leave = match self.cursor {
                Cursor::Done => return,
                Cursor::Even { .. } => self.fill_even(),
                Cursor::Ramp { .. } => self.fill_ramp(),
                Cursor::Drawn(_) => self.fill_drawn(),
            };
            if let Some(Arrival::Wave(wave)) = &self.schedule.arrival {
                let stretch = self.schedule.stretches[self.stretch];
                for time in &mut self.times[..self.len] {
                    *time = stretch.start_ps + wave.departure_ps(*time - stretch.start_ps, stretch.duration_ps);
                }
            }
            if let Some(due) = leave {
                self.enter(self.stretch + 1, due);
            }
            if let Some(gather) = &mut self.gather {
                gather.gather(&mut self.times[..self.len], &self.sizes);
            }
            self.select();
        }
    }

    /// Goes past frames that are not wanted, if they are so many that this is less work than their departures.
    fn skip(&mut self) {
        let Some(wanted) = &self.wanted else { return };
        // Of a burst the first frame must be known.
        let into = self.gather.as_ref().map_or(0, |gather| wanted.number() % gather.frames);
        let count = (wanted.number() - into).saturating_sub(self.number);
        if count < WORTH_SKIPPING {
            return;
        }
        let units = self.schedule.units_from(self.place, count);
        let stretch = self.schedule.stretches.get(self.stretch).copied();
        let left = match (&mut self.cursor, stretch) {
            (Cursor::Drawn(draw), _) => {
                if let Some(Arrival::Poisson(poisson)) = &self.schedule.arrival {
                    poisson.seek(draw, self.number + count);
                }
                None
            }
            (Cursor::Even { next, rest, modulus, .. }, Some(stretch)) => {
                let (more, left) = divide(units + u128::from(*rest), *modulus);
                *rest = left;
                // Beyond the end of the stretch it may be any time: what is due behind that end is kept.
                let at = u128::from(*next) + more;
                *next = at.min(u128::from(stretch.duration_ps)) as u64;
                at.checked_sub(u128::from(stretch.duration_ps))
                    .map(|over| over * u128::from(*modulus) + u128::from(*rest))
            }
            (Cursor::Ramp { due, .. }, Some(stretch)) => {
                *due += units;
                due.checked_sub(stretch.units())
            }
            _ => return,
        };
        self.number += count;
        if let Some(gather) = &mut self.gather {
            gather.place = 0;
        }
        self.place = ((self.place as u64 + count) % self.schedule.order.len() as u64) as usize;
        if let Some(due) = left {
            self.enter(self.stretch + 1, due);
        }
    }

    /// Of the frames just computed keeps those that are wanted.
    fn select(&mut self) {
        let Some(wanted) = &mut self.wanted else { return };
        let (first, behind) = (self.number, self.number + self.len as u64);
        let mut kept = 0;
        while wanted.number() < behind {
            let from = (wanted.number() - first) as usize;
            let count = wanted.left().min(behind - wanted.number()) as usize;
            if from == kept {
                // Most often: a run that begins with the block stands where it belongs.
            } else if count < SHORT_RUN {
                for place in 0..count {
                    self.times[kept + place] = self.times[from + place];
                    self.sizes[kept + place] = self.sizes[from + place];
                }
            } else {
                self.times.copy_within(from..from + count, kept);
                self.sizes.copy_within(from..from + count, kept);
            }
            kept += count;
            wanted.pass(count as u64);
        }
        self.number = behind;
        self.len = kept;
    }

    /// Computes a block of a constant load. `Some(due)` when the stretch is over.
    fn fill_even(&mut self) -> Option<u128> {
        let stretch = self.schedule.stretches[self.stretch];
        let Cursor::Even {
            next,
            rest,
            modulus,
            steps,
        } = &mut self.cursor
        else {
            return None;
        };
        if let ([(whole, part)], 1) = (&steps[..], self.schedule.order.len()) {
            // One size: `SIDE` departures side by side, each followed by the one `SIDE` frames later.
            let (mut times, mut rests) = ([0; SIDE], [0; SIDE]);
            let (mut time, mut carried) = (*next, *rest);
            for lane in 0..SIDE {
                (times[lane], rests[lane]) = (time, carried);
                (time, carried) = after((time, carried), (*whole, *part), *modulus);
            }
            let far = (SIDE as u64 * whole + SIDE as u64 * part / *modulus, SIDE as u64 * part % *modulus);
            let mut all_rests = [0; BLOCK];
            for (block, kept) in self.times.chunks_exact_mut(SIDE).zip(all_rests.chunks_exact_mut(SIDE)) {
                for lane in 0..SIDE {
                    (block[lane], kept[lane]) = (stretch.start_ps.saturating_add(times[lane]), rests[lane]);
                    (times[lane], rests[lane]) = after((times[lane], rests[lane]), far, *modulus);
                }
            }
            self.sizes = [0; BLOCK];
            let end = stretch.start_ps + stretch.duration_ps;
            self.len = self.times.partition_point(|&time| time < end);
            (*next, *rest) = match self.times.get(self.len) {
                Some(time) => (time - stretch.start_ps, all_rests[self.len]),
                None => (times[0], rests[0]),
            };
        } else {
            let order = &self.schedule.order[..];
            while self.len < BLOCK && *next < stretch.duration_ps {
                let size = order[self.place];
                self.place += 1;
                if self.place == order.len() {
                    self.place = 0;
                }
                self.times[self.len] = stretch.start_ps + *next;
                self.sizes[self.len] = size;
                self.len += 1;
                let (whole, part) = steps[usize::from(size)];
                *rest += part;
                let over = u64::from(*rest >= *modulus);
                *rest -= over * *modulus;
                *next += whole + over;
            }
        }
        (*next >= stretch.duration_ps).then(|| u128::from(*next - stretch.duration_ps) * u128::from(*modulus) + u128::from(*rest))
    }

    /// Takes a block of drawn times.
    fn fill_drawn(&mut self) -> Option<u128> {
        let (Cursor::Drawn(draw), Some(Arrival::Poisson(poisson))) = (&mut self.cursor, &self.schedule.arrival) else {
            return None;
        };
        let order = &self.schedule.order[..];
        while self.len < BLOCK {
            let Some(time) = poisson.next(draw, &self.schedule.stretches) else {
                self.cursor = Cursor::Done;
                break;
            };
            (self.times[self.len], self.sizes[self.len]) = (time, order[self.place]);
            self.len += 1;
            self.place += 1;
            if self.place == order.len() {
                self.place = 0;
            }
        }
        None
    }

    /// Computes a block of a linear load. `Some(due)` when the stretch is over.
    fn fill_ramp(&mut self) -> Option<u128> {
        let stretch = self.schedule.stretches[self.stretch];
        let Cursor::Ramp { due, bytes } = &mut self.cursor else {
            return None;
        };
        // What the frames before each one of the block take, beginning with the first of the block.
        let mut ahead = [0_u32; BLOCK];
        let all = if let [each] = bytes[..] {
            for (index, ahead) in (0..).zip(&mut ahead) {
                *ahead = index * each;
            }
            BLOCK as u32 * each
        } else {
            let order = &self.schedule.order[..];
            let mut sum = 0;
            for (ahead, size) in ahead.iter_mut().zip(&mut self.sizes) {
                (*ahead, *size) = (sum, order[self.place]);
                sum += bytes[usize::from(*size)];
                self.place += 1;
                if self.place == order.len() {
                    self.place = 0;
                }
            }
            sum
        };
        self.len = ramp::departures(&stretch, *due, &ahead, &mut self.times);
        *due += u128::from(UNITS_PER_BYTE) * u128::from(ahead.get(self.len).copied().unwrap_or(all));
        // Back over the frames that are left to the next stretch.
        let cycle = self.schedule.order.len();
        self.place = (self.place + cycle * BLOCK - (BLOCK - self.len)) % cycle;
        due.checked_sub(stretch.units())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::flow_runs::deal;
    use crate::spec::{ArrivalSpec, Segment, Shape, SizeSpec, WaveSpec};
    use proptest::prelude::*;

    fn segments() -> impl Strategy<Value = Vec<Segment>> {
        let rate = || prop_oneof![Just(0), Just(10_000_000_000), 1_000_000..40_000_000_000_u64];
        let segment = (1_000_u64..300_000, rate(), rate(), any::<bool>()).prop_map(|(duration_ns, from_bps, to, level)| Segment {
            name: "s".to_owned(),
            duration_ns,
            from_bps,
            to_bps: if level { from_bps } else { to },
        });
        proptest::collection::vec(segment, 1..5)
    }

    fn arrivals() -> impl Strategy<Value = ArrivalSpec> {
        let wave = |(shape, period_ns, depth_ppm)| {
            ArrivalSpec::Wave(WaveSpec {
                shape,
                period_ns,
                depth_ppm,
            })
        };
        let shape = prop_oneof![Just(Shape::Sine), Just(Shape::Triangle), Just(Shape::Square), Just(Shape::Sawtooth)];
        let waves = (shape, 1_000_u64..100_000, 0_u32..=1_000_000).prop_map(wave);
        prop_oneof![Just(ArrivalSpec::Constant), Just(ArrivalSpec::Poisson), waves]
    }

    /// Time and size of every frame, in order.
    fn all_of(mut departures: Departures) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| {
            let next = (departures.peek() != u64::MAX).then(|| (departures.peek(), departures.peek_size()))?;
            departures.advance(1);
            Some(next)
        })
        .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// What several workers send, and when, is what one sends: frame by frame, over steps, pauses and ramps.
        #[test]
        fn the_departures_of_all_shares_are_those_of_one_worker(
            segments in segments(),
            sizes in proptest::collection::vec((64_u32..1519, 1_u32..8), 1..4),
            flows in prop_oneof![1_u32..10, 1_u32..600, 1_u32..100_000],
            workers in 1_usize..6,
            burst in prop_oneof![Just(1_u32), 2_u32..40, 100_u32..1000],
            arrival in arrivals(),
        ) {
            let sizes: Vec<SizeSpec> = sizes.into_iter().map(|(size, weight)| SizeSpec { size, weight }).collect();
            let weights: Vec<u32> = sizes.iter().map(|size| size.weight).collect();
            let schedule = Schedule::new(&segments, &sizes, &netdyno_frame::mix::order(&weights)).arriving(&arrival, 7);
            let burst = if arrival == ArrivalSpec::Poisson { 1 } else { burst };
            let schedule = schedule.in_bursts(burst, 40_000_000_000);
            let one = all_of(schedule.departures());
            let mut seen = vec![false; one.len()];
            for flow_runs in deal(flows, one.len() as u64, &mut vec![0; workers]).into_iter().flatten() {
                let mut walk = Walk::new(flow_runs);
                for found in all_of(schedule.departures_of(flow_runs)) {
                    let number = walk.number() as usize;
                    prop_assert_eq!(Some(&found), one.get(number), "frame {}", number);
                    prop_assert!(!std::mem::replace(&mut seen[number], true));
                    walk.pass(1);
                }
            }
            prop_assert!(seen.iter().all(|seen| *seen));
        }
    }
}
