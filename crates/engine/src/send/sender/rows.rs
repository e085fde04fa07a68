//! Lanes beside each other that sent a frame each at one instant: noted once for all of them, and counted of each lane some time
//! later, when one look at it serves for many frames.

use crate::send::lag::Kept;
use std::ops::Range;

/// Of frames in shorter rows than this on average, each is counted by itself.
const LEAST_FRAMES: usize = 32;
/// Rows that are kept, for each so many lanes.
const LANES: usize = 64;
const ROWS: usize = 32;

/// One frame of each of `lanes`, due at one instant, which left at once.
#[derive(Clone, Debug)]
struct Row {
    lanes: Range<u16>,
    left: Kept,
}

/// The rows that are not counted yet, in order of time: all of one sample of it.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Row>,
    most: usize,
    /// The departures of those that some lanes are in, and of one of these.
    some: Vec<Row>,
    kept: Vec<Kept>,
}

impl Rows {
    /// Room for those of so many lanes.
    pub fn of(lanes: usize) -> Self {
        Self {
            rows: Vec::new(),
            most: ROWS * lanes.div_ceil(LANES),
            some: Vec::new(),
            kept: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.most
    }

    /// Notes frames of `lanes`, one of each, that left at `at_ps`, so much after their time.
    pub fn note(&mut self, lanes: Range<u16>, at_ps: u64, lag_ps: u64) {
        let left = Kept {
            at_ps,
            latest_ps: lag_ps,
            rest_ps: lag_ps,
            frames: 1,
        };
        self.rows.push(Row { lanes, left });
    }

    /// Calls `count` with each lane that is in them and its departures, and forgets them.
    pub fn take(&mut self, mut count: impl FnMut(usize, &[Kept])) {
        let from = self.rows.iter().map(|row| usize::from(row.lanes.start)).min().unwrap_or(0);
        let to = self.rows.iter().map(|row| usize::from(row.lanes.end)).max().unwrap_or(0);
        for first in (from..to).step_by(LANES) {
            let end = (first + LANES).min(to);
            let is_there = |row: &&Row| usize::from(row.lanes.start) < end && usize::from(row.lanes.end) > first;
            self.some.clear();
            self.some.extend(self.rows.iter().filter(is_there).cloned());
            let is_whole = self.some.iter().all(|row| holds(row, first) && holds(row, end - 1));
            self.kept.clear();
            self.kept.extend(self.some.iter().map(|row| row.left));
            for lane in first..end {
                if !is_whole {
                    self.kept.clear();
                    self.kept
                        .extend(self.some.iter().filter(|row| holds(row, lane)).map(|row| row.left));
                }
                if !self.kept.is_empty() {
                    count(lane, &self.kept);
                }
            }
        }
        self.rows.clear();
    }
}

fn holds(row: &Row, lane: usize) -> bool {
    (usize::from(row.lanes.start)..usize::from(row.lanes.end)).contains(&lane)
}

/// Whether frames of these lanes, due at these times, are in rows that are worth noting.
pub fn are_rows(times: &[u64], lanes: &[u16]) -> bool {
    let breaks = times
        .windows(2)
        .zip(lanes.windows(2))
        .map(|(times, lanes)| usize::from(!goes_on(times, lanes)));
    (breaks.sum::<usize>() + 1) * LEAST_FRAMES <= lanes.len()
}

/// How many frames are in the first row.
pub fn first_row(times: &[u64], lanes: &[u16]) -> usize {
    let ended = times
        .windows(2)
        .zip(lanes.windows(2))
        .position(|(times, lanes)| !goes_on(times, lanes));
    ended.map_or(lanes.len(), |last| last + 1)
}

/// Whether of two frames the second goes on with the row of the first.
fn goes_on(times: &[u64], lanes: &[u16]) -> bool {
    (times[0] == times[1]) & (lanes[0].wrapping_add(1) == lanes[1])
}
