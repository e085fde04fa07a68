//! When frames depart: the load over time, inverted exactly.
//!
//! Frame k departs when the L1 bits of all frames before it have been offered. With a load that is
//! constant or linear in time, the bits offered by time t of a stretch of length T are
//! `B(t) = from*t + (to-from)*t^2/(2T)`, and a departure is the inverse of that, rounded down to the
//! picosecond. Nothing is rounded twice: what is left over when a stretch ends is carried into the next.
//!
//! In bursts of n, frame k departs with frame n*floor(k/n), later by what the frames between take on the line. So the mean
//! is the load, over ramps too, no frame departs later than without bursts, and as many depart in all. A burst that begins
//! before a stretch ends takes the frames it has left from the next one, however long that is silent or low: less than a
//! burst departs before its stretch.
//!
//! With arrivals of another kind (`arrival/`) the frames of each stretch are as many, and depart at other times within it.
//!
//! Bits are counted in units of 1/(2*10^12) bit, so that `load * picoseconds` and the trapezium under a
//! ramp are both whole numbers.

use super::arrival::{Arrival, Poisson, Wave};
use super::bursts::Bursts;
use super::stretch::{Stretch, UNITS_PER_BIT};
use crate::spec::{ArrivalSpec, Segment, SizeSpec};
use std::sync::Arc;

/// Preamble, SFD and inter-frame gap: what a frame takes on the line beyond its FCS-counted size.
pub const L1_OVERHEAD_BYTES: u64 = 20;

/// The load of one stream over time, and the sizes it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub(super) stretches: Arc<[Stretch]>,
    /// Size index of frame k, over and over.
    pub(super) order: Arc<[u16]>,
    /// Units of load of one frame of each size.
    pub(super) units: Arc<[u64]>,
    /// Bytes on the line of the frames of the order before each place, and of all.
    ahead: Arc<[u64]>,
    /// If frames depart in bursts.
    pub(super) bursts: Option<Bursts>,
    /// How they arrive, if not evenly.
    pub(super) arrival: Option<Arrival>,
}

impl Schedule {
    /// A schedule of `segments`, whose frames take their sizes in `order` (indices into `sizes`).
    #[must_use]
    pub fn new(segments: &[Segment], sizes: &[SizeSpec], order: &[u16]) -> Self {
        let mut start_ps = 0;
        let stretches = segments
            .iter()
            .map(|segment| {
                let stretch = Stretch {
                    start_ps,
                    duration_ps: segment.duration_ns * 1000,
                    from: segment.from_bps,
                    to: segment.to_bps,
                };
                start_ps += stretch.duration_ps;
                stretch
            })
            .collect();
        let bytes = |size: &SizeSpec| u64::from(size.size) + L1_OVERHEAD_BYTES;
        let mut ahead = vec![0];
        for &size in order {
            ahead.push(ahead.last().unwrap_or(&0) + bytes(&sizes[usize::from(size)]));
        }
        Self {
            stretches,
            order: order.into(),
            units: sizes.iter().map(|size| bytes(size) * 8 * UNITS_PER_BIT).collect(),
            ahead: ahead.into(),
            bursts: None,
            arrival: None,
        }
    }

    /// The same with frames that arrive as `arrival` says. What is drawn is drawn from `seed`.
    #[must_use]
    pub fn arriving(mut self, arrival: &ArrivalSpec, seed: u64) -> Self {
        self.arrival = match arrival {
            ArrivalSpec::Constant => None,
            ArrivalSpec::Wave(wave) => Some(Arrival::Wave(Wave::new(wave).into())),
            ArrivalSpec::Poisson => {
                let (mut offered, mut before) = (0, 0);
                let frames = self.stretches.iter().map(|stretch| {
                    offered += stretch.units();
                    let by = self.frames_for(offered);
                    by - std::mem::replace(&mut before, by)
                });
                Some(Arrival::Poisson(Poisson::new(seed, frames).into()))
            }
        };
        self
    }

    /// Whether frames may be due while the line has no time for them, though it carries the load.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(self.arrival, Some(Arrival::Poisson(_)))
    }

    /// The same in bursts of `frames` frames, back to back on a line of `line_bps` L1 bits per second, which no load exceeds.
    #[must_use]
    pub fn in_bursts(mut self, frames: u32, line_bps: u64) -> Self {
        self.bursts = (frames > 1).then_some(Bursts {
            frames: u64::from(frames),
            frame_ps: 0,
            line_bps,
        });
        self
    }

    /// As [`Self::in_bursts`], for a port that spaces frames itself: all of a burst depart at the time of the first, and wait
    /// for the line.
    #[must_use]
    pub fn in_bursts_at_once(mut self, frames: u32, line_bps: u64) -> Self {
        self.bursts = (frames > 1).then_some(Bursts {
            frames: u64::from(frames),
            frame_ps: self.gap_ps(line_bps),
            line_bps: 0,
        });
        self
    }

    /// How long frame `number` waits for the line behind the frames of its burst; ps, 0 unless they are handed over at once.
    #[inline]
    #[must_use]
    pub(super) fn wait_ps(&self, number: u64) -> u64 {
        match self.bursts {
            Some(Bursts { frames, frame_ps, .. }) if frame_ps > 0 => number % frames * frame_ps,
            _ => 0,
        }
    }

    /// How many frames are in a burst; 1 if there are none.
    #[must_use]
    pub(super) fn burst_frames(&self) -> u64 {
        self.bursts.map_or(1, |bursts| bursts.frames)
    }

    /// How far bursts are apart at a load of `bps`; ps, 0 if there are none.
    #[must_use]
    pub(super) fn step_ps(&self, bps: u64) -> u64 {
        self.bursts.map_or(0, |bursts| self.gap_ps(bps).saturating_mul(bursts.frames))
    }

    /// The line of the bursts whose frames do not depart at once, L1 bits per second; 0 if there are none.
    #[must_use]
    pub(super) fn bursts_bps(&self) -> u64 {
        self.bursts.map_or(0, |bursts| bursts.line_bps)
    }

    /// The shortest time in which more than `frames` frames fall due at a load of `bps`, from the first of a burst on; ps,
    /// `u64::MAX` without a load.
    #[must_use]
    pub(super) fn time_of_ps(&self, frames: u64, bps: u64) -> u64 {
        match self.bursts {
            Some(bursts) if bursts.line_bps > 0 => {
                let within = (frames % bursts.frames) * self.gap_ps(bursts.line_bps);
                self.step_ps(bps).saturating_mul(frames / bursts.frames).saturating_add(within)
            }
            _ => self.gap_ps(bps).saturating_mul(frames),
        }
    }

    /// How long the line takes for a burst that is handed over at once; ps, 0 if none is.
    #[must_use]
    pub(super) fn burst_ps(&self) -> u64 {
        self.bursts.map_or(0, |bursts| bursts.frames * bursts.frame_ps)
    }

    /// Returns the length of all segments together, ps.
    #[must_use]
    pub fn duration_ps(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.duration_ps).sum()
    }

    /// The time from one frame to the next at the highest load, of sizes on average; ps, `u64::MAX` without a load.
    #[must_use]
    pub(super) fn shortest_gap_ps(&self) -> u64 {
        self.gap_ps(self.highest_bps())
    }

    /// The highest load, L1 bits per second.
    #[must_use]
    pub(crate) fn highest_bps(&self) -> u64 {
        let highest = self.stretches.iter().map(|stretch| stretch.from.max(stretch.to)).max().unwrap_or(0);
        self.highest_around(highest)
    }

    /// The highest that a load of `bps` comes to.
    fn highest_around(&self, bps: u64) -> u64 {
        match &self.arrival {
            Some(Arrival::Wave(wave)) => wave.highest_bps(bps),
            _ => bps,
        }
    }

    /// The lowest load but silence, L1 bits per second; that of a ramp from nothing is 0.
    #[must_use]
    pub(super) fn lowest_bps(&self) -> u64 {
        let loads = self.stretches.iter().filter(|stretch| stretch.from.max(stretch.to) > 0);
        let lowest = loads.map(|stretch| stretch.from.min(stretch.to)).min().unwrap_or(0);
        match &self.arrival {
            Some(Arrival::Wave(wave)) => wave.lowest_bps(lowest),
            _ => lowest,
        }
    }

    /// The load `t_ps` from the start, L1 bits per second; behind the end that at the end.
    #[must_use]
    pub(super) fn bps_at(&self, t_ps: u64) -> u64 {
        // Of finite bursts there are thousands of stretches.
        let begun = self.stretches.partition_point(|stretch| stretch.start_ps <= t_ps);
        let Some(stretch) = self.stretches[..begun].last() else { return 0 };
        let even = stretch.bps_at(t_ps);
        match &self.arrival {
            Some(Arrival::Wave(wave)) => wave.bps_at(t_ps - stretch.start_ps, stretch.duration_ps, even),
            _ => even,
        }
    }

    /// The highest load between two times from the start, both included, L1 bits per second; 0 behind the end.
    #[must_use]
    pub(super) fn highest_bps_within(&self, from_ps: u64, until_ps: u64) -> u64 {
        let ended = self
            .stretches
            .partition_point(|stretch| stretch.start_ps + stretch.duration_ps <= from_ps);
        let within = self.stretches[ended..].iter().take_while(|stretch| stretch.start_ps <= until_ps);
        let highest = within.map(|stretch| stretch.bps_at(from_ps).max(stretch.bps_at(until_ps))).max();
        self.highest_around(highest.unwrap_or(0))
    }

    /// The time from one frame to the next at a load of `bps`, of sizes on average; ps, `u64::MAX` without a load.
    pub(super) fn gap_ps(&self, bps: u64) -> u64 {
        let frames = self.order.len() as u64;
        let round = self.units_from(0, frames);
        let gap = round.checked_div(2 * u128::from(bps) * u128::from(frames));
        gap.map_or(u64::MAX, |gap| gap.try_into().unwrap_or(u64::MAX))
    }

    /// How many frames depart in all.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames_for(self.stretches.iter().map(Stretch::units).sum())
    }

    /// How many frames depart before `t_ps` from the start.
    #[must_use]
    pub fn frames_before(&self, t_ps: u64) -> u64 {
        let evenly = self.frames_before_evenly(t_ps);
        let (mut low, mut high) = match (&self.arrival, self.bursts, evenly.checked_sub(1)) {
            (Some(_), ..) => (0, self.frames()),
            // All of those have departed, and maybe more of the burst of the last one.
            (None, Some(bursts), Some(last)) => (evenly, ((last / bursts.frames + 1) * bursts.frames).min(self.frames())),
            _ => return evenly,
        };
        while low < high {
            let middle = low + (high - low) / 2;
            if self.departure_ps(middle).is_some_and(|at| at < t_ps) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// As [`Self::frames_before`], without bursts.
    fn frames_before_evenly(&self, t_ps: u64) -> u64 {
        let offered = self
            .stretches
            .iter()
            .filter(|stretch| stretch.duration_ps > 0 && stretch.start_ps < t_ps)
            .map(|stretch| stretch.units_by((t_ps - stretch.start_ps).min(stretch.duration_ps)))
            .sum();
        self.frames_for(offered)
    }

    /// When frame `number`, counted from 0, departs; `None` if the schedule ends before.
    #[must_use]
    pub fn departure_ps(&self, number: u64) -> Option<u64> {
        let at = self.alone_ps(number)?;
        let Some(bursts) = self.bursts else { return Some(at) };
        let first = number - number % bursts.frames;
        let place = (first % self.order.len() as u64) as usize;
        Some(self.alone_ps(first)? + bursts.line_ps(self.units_from(place, number - first)))
    }

    /// As [`Self::departure_ps`], or for drawn times when it would depart evenly: what serves where many are asked of it.
    pub(super) fn about_ps(&self, number: u64) -> Option<u64> {
        if self.is_drawn() {
            self.evenly_ps(number)
        } else {
            self.departure_ps(number)
        }
    }

    /// As [`Self::departure_ps`], without bursts.
    fn alone_ps(&self, number: u64) -> Option<u64> {
        match &self.arrival {
            Some(Arrival::Poisson(poisson)) => poisson.departure_ps(&self.stretches, number),
            _ => self.evenly_ps(number),
        }
    }

    /// As [`Self::alone_ps`], without draws.
    fn evenly_ps(&self, number: u64) -> Option<u64> {
        let mut due = self.units_from(0, number);
        for stretch in self.stretches.iter() {
            if due < stretch.units() {
                let even = stretch.invert(due);
                return Some(
                    stretch.start_ps
                        + match &self.arrival {
                            Some(Arrival::Wave(wave)) => wave.departure_ps(even, stretch.duration_ps),
                            _ => even,
                        },
                );
            }
            due -= stretch.units();
        }
        None
    }

    /// Returns the units of load of `count` frames from place `place` of the order on.
    pub(super) fn units_from(&self, place: usize, count: u64) -> u128 {
        if let [each] = self.units[..] {
            return u128::from(each) * u128::from(count);
        }
        let cycle = self.order.len() as u64;
        let by = |number: u64| {
            u128::from(self.ahead[cycle as usize]) * u128::from(number / cycle) + u128::from(self.ahead[(number % cycle) as usize])
        };
        (by(place as u64 + count) - by(place as u64)) * u128::from(8 * UNITS_PER_BIT)
    }

    /// How many frames have less than `offered` units before them.
    fn frames_for(&self, offered: u128) -> u64 {
        let round = self.units_from(0, self.order.len() as u64);
        let mut frames = (offered / round) as u64 * self.order.len() as u64;
        let mut left = offered % round;
        for &size in self.order.iter() {
            if left == 0 {
                break;
            }
            frames += 1;
            left = left.saturating_sub(u128::from(self.units[usize::from(size)]));
        }
        frames
    }
}
