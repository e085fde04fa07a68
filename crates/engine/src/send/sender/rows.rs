//! Lanes beside each other that sent a frame each at one instant: noted once for all of them, and counted of each lane later, when
//! one look at it serves for many frames. A few lanes at a time, so that nobody waits for it.

use crate::send::shared_lags::{Kept, SharedLags};
use std::ops::Range;

/// Frames in shorter rows than this, on average, are counted one by one. With many lanes rows have to be longer: each look at some
/// lanes goes through the rows of all.
const LEAST_FRAMES: usize = 32;
const LONG_FRAMES: usize = 96;
/// Of more lanes than this it would go through too many.
const MOST_LANES: usize = 4096;
/// Lanes that are counted at a time, and how many frames of each, if they all send as much.
const LANES: usize = 8;
const DEPTH: usize = 32;
// Then there are no more rows in a round of turns than lanes.
const _: () = assert!(LEAST_FRAMES >= DEPTH);

/// One frame of each of `lanes`, all due at one instant, which left at once in this sample of time.
#[derive(Clone, Copy, Debug)]
struct Row {
    first: u16,
    end: u16,
    sample: u32,
    at_ps: u64,
    lag_ps: u64,
}

/// Rows, in order of time, that are not yet counted of all their lanes.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Row>,
    /// How many rows were noted before these, and are counted.
    forgotten: u64,
    /// For `LANES` lanes each, how many of all rows they are counted of.
    counted: Vec<u64>,
    /// Whose turn it is, and the frames noted since the last one had its.
    next: usize,
    frames: usize,
    /// The least that a row has to have.
    least: usize,
    /// Used anew each time: the rows that the lanes of a turn are in, and what one lane sent in a sample.
    some: Vec<Row>,
    lags: SharedLags,
}

impl Rows {
    /// Those of so many lanes.
    pub fn of(lanes: usize) -> Self {
        Self {
            rows: Vec::new(),
            forgotten: 0,
            counted: vec![0; lanes.div_ceil(LANES)],
            next: 0,
            frames: 0,
            least: match lanes {
                0..=MOST_LANES => (lanes / 8).clamp(LEAST_FRAMES, LONG_FRAMES),
                _ => usize::MAX,
            },
            some: Vec::new(),
            lags: SharedLags::default(),
        }
    }

    /// Notes a frame of each of `lanes`, which left at `at_ps` in sample `sample`, so much after its time.
    pub fn note(&mut self, lanes: Range<u16>, sample: u32, at_ps: u64, lag_ps: u64) {
        self.frames += lanes.len();
        self.rows.push(Row {
            first: lanes.start,
            end: lanes.end,
            sample,
            at_ps,
            lag_ps,
        });
    }

    /// Whether frames of these lanes, due at these times, are in rows that are worth noting, and no lane has several: those of one
    /// burst count together.
    pub fn are_rows(&self, times: &[u64], lanes: &[u16]) -> bool {
        let breaks = times
            .windows(2)
            .zip(lanes.windows(2))
            .map(|(times, lanes)| usize::from(!goes_on(times, lanes)));
        let rows = breaks.sum::<usize>() + 1;
        if rows.saturating_mul(self.least) > lanes.len() {
            return false;
        }
        let (mut times, mut lanes, mut is_once) = (times, lanes, true);
        while let Some(&first) = lanes.first() {
            let len = first_row(times, lanes);
            (times, lanes) = (&times[len..], &lanes[len..]);
            is_once &= !lanes.iter().any(|lane| (first..first + len as u16).contains(lane));
        }
        is_once
    }

    /// Calls `count` with the lanes whose turn it is, a sample of time, and what each of them sent in it.
    pub fn count_due(&mut self, mut count: impl FnMut(usize, u32, &SharedLags)) {
        while self.frames >= LANES * DEPTH {
            self.frames -= LANES * DEPTH;
            self.count(self.next, &mut count);
            self.next = (self.next + 1) % self.counted.len();
        }
        // So many are noted in two rounds of turns at most: the older half is counted of all lanes.
        if self.rows.len() >= 2 * LANES * self.counted.len() {
            let counted = self.counted.iter().copied().min().unwrap_or(self.forgotten);
            self.rows.drain(..(counted - self.forgotten) as usize);
            self.forgotten = counted;
        }
    }

    /// As [`Self::count_due`], with `lanes` and those that have their turn together with them.
    pub fn count_of(&mut self, lanes: &[u16], mut count: impl FnMut(usize, u32, &SharedLags)) {
        if self.rows.is_empty() {
            return;
        }
        for lane in lanes {
            self.count(usize::from(*lane) / LANES, &mut count);
        }
    }

    /// As [`Self::count_due`], with all lanes.
    pub fn count_all(&mut self, mut count: impl FnMut(usize, u32, &SharedLags)) {
        for lanes in 0..self.counted.len() {
            self.count(lanes, &mut count);
        }
        self.forgotten += self.rows.len() as u64;
        self.rows.clear();
    }

    #[inline]
    fn count(&mut self, lanes: usize, count: &mut impl FnMut(usize, u32, &SharedLags)) {
        let there = self.forgotten + self.rows.len() as u64;
        let from = std::mem::replace(&mut self.counted[lanes], there);
        if from < there {
            self.count_from((from - self.forgotten) as usize, lanes, count);
        }
    }

    fn count_from(&mut self, from: usize, lanes: usize, count: &mut impl FnMut(usize, u32, &SharedLags)) {
        let Self { rows, some, lags, .. } = self;
        let (first, end) = (lanes * LANES, (lanes + 1) * LANES);
        some.clear();
        some.extend(
            rows[from..]
                .iter()
                .filter(|row| usize::from(row.first) < end && usize::from(row.end) > first),
        );
        for rows in some.chunk_by(|one, next| one.sample == next.sample) {
            let is_whole = rows.iter().all(|row| holds(row, first) && holds(row, end - 1));
            let Some(Row { sample, .. }) = rows.first() else { continue };
            if is_whole {
                lags.keep(rows.iter().map(departure));
            }
            for lane in first..end {
                if !is_whole {
                    lags.keep_alone(rows.iter().filter(|row| holds(row, lane)).map(departure));
                }
                if !lags.kept.is_empty() {
                    count(lane, *sample, lags);
                }
            }
        }
    }
}

fn holds(row: &Row, lane: usize) -> bool {
    usize::from(row.first) <= lane && lane < usize::from(row.end)
}

/// What is counted of each lane of a row.
fn departure(row: &Row) -> Kept {
    Kept {
        at_ps: row.at_ps,
        latest_ps: row.lag_ps,
        rest_ps: row.lag_ps,
        frames: 1,
    }
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
#[inline(always)]
fn goes_on(times: &[u64], lanes: &[u16]) -> bool {
    (times[0] == times[1]) & (lanes[0].wrapping_add(1) == lanes[1])
}
