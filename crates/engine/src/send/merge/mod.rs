//! The departures of several streams in one order: by time and, of one time, the lowest lane first.
//!
//! Lanes whose frames are all due at the same times, as equal streams are, are merged as one group. Those of different ones
//! are merged a window of time at once: what each group has due in it is gathered group by group, dealt into as many
//! buckets of equal time as there are frames, and put right within each bucket, which most often holds one. So a frame costs
//! the same however many groups there are, but for a look at each one's next departure in each window.

mod ahead;
mod frames;
mod groups;

use super::block::BLOCK;
use super::lane::Lane;
use frames::{Frames, MOST_FRAMES, SOME};
use groups::Groups;

/// The departures of several lanes.
#[derive(Debug)]
pub struct Merged {
    /// Those at hand, and how many of them have passed.
    frames: Frames,
    head: usize,
    /// Those behind them, each of a group of lanes, as far as they are merged. The first of them and so many lanes of its group
    /// have passed.
    groups: Groups,
    passed: (usize, usize),
}

impl Merged {
    /// Those of `lanes`, from their beginning.
    pub fn new(lanes: &mut [Lane]) -> Self {
        let mut merged = Self {
            frames: Frames::with_room(BLOCK + MOST_FRAMES),
            head: 0,
            groups: Groups::new(lanes),
            passed: (0, 0),
        };
        merged.refill(lanes);
        merged
    }

    /// The next departure in picoseconds from the start, or `u64::MAX` when there is none.
    #[inline]
    pub fn peek(&self) -> u64 {
        self.block().0.first().copied().unwrap_or(u64::MAX)
    }

    /// Times, lanes and size indices of the next frames, a burst at least unless all schedules end before. They stay until
    /// [`Self::advance`] goes past them.
    #[inline]
    pub fn block(&self) -> (&[u64], &[u16], &[u16]) {
        let left = self.head..self.frames.count;
        (
            &self.frames.times[left.clone()],
            &self.frames.lanes[left.clone()],
            &self.frames.sizes[left],
        )
    }

    /// The first lane of each group and when its next frame is due that is not merged, if there is one.
    pub fn behind(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.groups.behind()
    }

    /// Skips `count` frames of the block.
    #[inline]
    pub fn advance(&mut self, count: usize, lanes: &mut [Lane]) {
        self.head += count;
        if self.frames.count - self.head < BLOCK {
            self.refill(lanes);
        }
    }

    /// Goes on until there is a burst, if there are as many frames.
    #[inline(never)]
    fn refill(&mut self, lanes: &mut [Lane]) {
        self.frames.drop_first(self.head);
        self.head = 0;
        loop {
            self.spread();
            if self.frames.count >= BLOCK {
                return;
            }
            self.passed = (0, 0);
            if !self.groups.merge(lanes) {
                return;
            }
        }
    }

    /// Whether all lanes depart together: then their frames are one of each in turn.
    pub fn takes_turns(&self) -> bool {
        self.groups.is_one()
    }

    /// Gives each of `LANES` lanes that depart together its frame, as far as there is room.
    fn spread_few<const LANES: usize>(&mut self) {
        let (merged, frames) = (self.groups.merged(), &mut self.frames);
        let (from, to) = (self.passed.0, frames.count);
        let entries = (merged.count - from).min((frames.times.len() - to) / LANES);
        let to = to..to + entries * LANES;
        let from = from..from + entries;
        let numbers = std::array::from_fn(|lane| lane as u16);
        frames.lanes[to.clone()].as_chunks_mut::<LANES>().0.fill(numbers);
        for (to, &time) in frames.times[to.clone()]
            .as_chunks_mut::<LANES>()
            .0
            .iter_mut()
            .zip(&merged.times[from.clone()])
        {
            *to = [time; LANES];
        }
        for (to, &size) in frames.sizes[to].as_chunks_mut::<LANES>().0.iter_mut().zip(&merged.sizes[from]) {
            *to = [size; LANES];
        }
        frames.count += entries * LANES;
        self.passed.0 += entries;
    }

    /// Gives each lane of a group its frame, as far as there is room.
    fn spread(&mut self) {
        if self.groups.is_one() {
            match self.groups.lanes_of(0).len() {
                2 => return self.spread_few::<2>(),
                3 => return self.spread_few::<3>(),
                4 => return self.spread_few::<4>(),
                _ => {}
            }
        }
        let (merged, frames) = (self.groups.merged(), &mut self.frames);
        let (mut entry, mut lane) = self.passed;
        let room = frames.times.len();
        while entry < merged.count && frames.count < room {
            let of = self.groups.lanes_of(merged.lanes[entry]);
            let count = (of.len() - lane).min(room - frames.count);
            let to = frames.count..frames.count + count;
            let (times, lanes, sizes) = (&mut frames.times[to.clone()], &mut frames.lanes[to.clone()], &mut frames.sizes[to]);
            if count < SOME {
                // Filling has its price, too.
                for place in 0..count {
                    (times[place], sizes[place]) = (merged.times[entry], merged.sizes[entry]);
                    lanes[place] = (of.start + lane + place) as u16;
                }
            } else {
                times.fill(merged.times[entry]);
                sizes.fill(merged.sizes[entry]);
                for (to, number) in lanes.iter_mut().zip(of.start + lane..) {
                    *to = number as u16;
                }
            }
            frames.count += count;
            lane += count;
            if lane == of.len() {
                (entry, lane) = (entry + 1, 0);
            }
        }
        self.passed = (entry, lane);
    }
}
