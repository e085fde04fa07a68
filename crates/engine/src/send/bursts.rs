//! Frames that depart in bursts: how they are spaced, and how a schedule's departures are gathered into them.

use std::sync::Arc;

/// Frames that depart together, back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// How many; more than one.
    pub frames: u64,
    /// Where the port spaces them itself: how long its line takes for one of them, of sizes on average; 0 elsewhere.
    pub frame_ps: u64,
    /// Their line, L1 bits per second; 0 where the port spaces them itself and is handed them at once.
    pub line_bps: u64,
}

impl Bursts {
    /// Time on the line of so many units of load, rounded down.
    pub fn line_ps(&self, units: u128) -> u64 {
        units.checked_div(2 * u128::from(self.line_bps)).unwrap_or(0) as u64
    }
}

/// Gathers frames into bursts, in order.
#[derive(Clone, Debug)]
pub struct Gather {
    /// Frames of a burst.
    pub frames: u64,
    /// Whole picoseconds and remainder of one frame of each size on the line.
    steps: Arc<[(u64, u64)]>,
    modulus: u64,
    /// The number in its burst of the next frame.
    pub place: u64,
    /// When the burst began, and how far the line has come since, with the remainder carried.
    start: u64,
    since: (u64, u64),
}

impl Gather {
    /// At the first frame of a schedule in `bursts`; `units` are those of a frame of each size.
    pub fn new(bursts: Bursts, units: &[u64]) -> Self {
        let modulus = 2 * bursts.line_bps;
        let step = |units: &u64| (units.checked_div(modulus).unwrap_or(0), units.checked_rem(modulus).unwrap_or(0));
        Self {
            frames: bursts.frames,
            steps: units.iter().map(step).collect(),
            modulus: modulus.max(1),
            place: 0,
            start: 0,
            since: (0, 0),
        }
    }

    /// From when frames of these sizes would depart one by one to when they do in bursts.
    pub fn gather(&mut self, times: &mut [u64], sizes: &[u16]) {
        for (time, &size) in times.iter_mut().zip(sizes) {
            if self.place == 0 {
                (self.start, self.since) = (*time, (0, 0));
            }
            *time = self.start + self.since.0;
            self.since = after(self.since, self.steps[usize::from(size)], self.modulus);
            self.place += 1;
            if self.place == self.frames {
                self.place = 0;
            }
        }
    }
}

/// Whole picoseconds and the rest of so many units.
#[inline]
pub fn divide(units: u128, modulus: u64) -> (u128, u64) {
    match u64::try_from(units) {
        // Those of some hundred frames are, and one division does for both.
        Ok(units) => ((units / modulus).into(), units % modulus),
        Err(_) => (units / u128::from(modulus), (units % u128::from(modulus)) as u64),
    }
}

/// `step` after `time`, both whole picoseconds and a rest below `modulus`.
#[inline]
pub fn after(time: (u64, u64), step: (u64, u64), modulus: u64) -> (u64, u64) {
    let rest = time.1 + step.1;
    let over = rest >= modulus;
    (time.0 + step.0 + u64::from(over), if over { rest - modulus } else { rest })
}
