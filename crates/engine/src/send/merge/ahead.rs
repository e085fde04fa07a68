//! The next departures of each group of lanes, close together.

use super::frames::MOST_FRAMES;
use crate::send::block::BLOCK;
use crate::send::lane::Lane;
use std::ops::Range;

/// The least that are kept of a group: if one sends more than others, a window ends with the last of them.
const LEAST: usize = 32;
/// Departures in a line of the cache.
const LINE: usize = 8;

/// The next departures of each group: those that its first lane has computed ahead fill two dozen lines of the cache.
#[derive(Debug)]
pub struct Ahead {
    /// How many there are of each group at most.
    pub depth: usize,
    /// In times, where the first begins: at a line of the cache.
    skip: usize,
    times: Vec<u64>,
    sizes: Vec<u16>,
    /// Of each group, the first that is left and the end of them.
    left: Vec<(u8, u8)>,
}

impl Ahead {
    pub fn new(of: &[Range<usize>], lanes: &mut [Lane]) -> Self {
        let depth = (MOST_FRAMES / of.len().max(1)).next_power_of_two().clamp(LEAST, BLOCK);
        let times = vec![0; of.len() * depth + LINE];
        let mut ahead = Self {
            depth,
            skip: times.as_ptr().align_offset(LINE * size_of::<u64>()).min(LINE),
            times,
            sizes: vec![0; of.len() * depth],
            left: vec![(0, 0); of.len()],
        };
        for (number, group) in of.iter().enumerate() {
            ahead.provide(number, 1, &mut lanes[group.start]);
        }
        ahead
    }

    /// Times and size indices of the next frames of a group: at least one unless its schedule has ended.
    #[inline]
    pub fn of(&self, group: usize) -> (&[u64], &[u16]) {
        let (from, to) = self.left[group];
        let (first, from, to) = (group * self.depth, usize::from(from), usize::from(to));
        (&self.times[self.skip + first..][from..to], &self.sizes[first..][from..to])
    }

    pub fn peek(&self, group: usize) -> u64 {
        self.of(group).0.first().copied().unwrap_or(u64::MAX)
    }

    /// Sees to it that there are `count` of group `number`, whose first lane is `lane`, if it has as many.
    #[inline]
    pub fn provide(&mut self, number: usize, count: usize, lane: &mut Lane) {
        let (from, to) = self.left[number];
        if usize::from(to - from) < count {
            self.fill(number, lane);
        }
    }

    #[inline(never)]
    fn fill(&mut self, number: usize, lane: &mut Lane) {
        let (from, to) = self.left[number];
        let first = number * self.depth;
        let times = &mut self.times[self.skip + first..][..self.depth];
        let sizes = &mut self.sizes[first..][..self.depth];
        times.copy_within(usize::from(from)..usize::from(to), 0);
        sizes.copy_within(usize::from(from)..usize::from(to), 0);
        let mut known = usize::from(to - from);
        while known < self.depth && lane.departures.peek() != u64::MAX {
            let (more, kinds) = lane.departures.block();
            let len = more.len().min(self.depth - known);
            times[known..][..len].copy_from_slice(&more[..len]);
            sizes[known..][..len].copy_from_slice(&kinds[..len]);
            known += len;
            lane.departures.advance(len);
        }
        self.left[number] = (0, known as u8);
    }

    /// Goes past the next frame of a group: its size index, and when the one behind it is due.
    #[inline]
    pub fn take(&mut self, number: usize, lane: &mut Lane) -> (u16, u64) {
        let size = self.sizes[number * self.depth + usize::from(self.left[number].0)];
        self.advance(number, 1, lane);
        (size, self.peek(number))
    }

    /// Goes past `count` of them.
    #[inline]
    pub fn advance(&mut self, number: usize, count: usize, lane: &mut Lane) {
        self.left[number].0 += count as u8;
        self.provide(number, 1, lane);
    }
}
