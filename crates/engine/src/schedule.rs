//! When frames depart: the load over time, inverted exactly.
//!
//! Frame k departs when the L1 bits of all frames before it have been offered. With a load that is
//! constant or linear in time, the bits offered by time t of a stretch of length T are
//! `B(t) = from*t + (to-from)*t^2/(2T)`, and a departure is the inverse of that, rounded down to the
//! picosecond. Nothing is rounded twice: what is left over when a stretch ends is carried into the next.
//!
//! Bits are counted in units of 1/(2*10^12) bit, so that `load * picoseconds` and the trapezium under a
//! ramp are both whole numbers.

use crate::spec::{Segment, SizeSpec};
use std::sync::Arc;

/// Preamble, SFD and inter-frame gap: what a frame takes on the line beyond its FCS-counted size.
pub const L1_OVERHEAD_BYTES: u64 = 20;

/// Units of load in one bit.
const UNITS_PER_BIT: u64 = 2_000_000_000_000;

/// Frames whose departures are computed at once, so that the square roots of a ramp run side by side.
pub const BLOCK: usize = 128;

/// Departures of a constant load that are computed side by side.
const SIDE: usize = 8;

/// One segment in picoseconds, with where it begins.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start_ps: u64,
    duration_ps: u64,
    from: u64,
    to: u64,
}

impl Stretch {
    /// Units of load offered by the whole stretch: the trapezium.
    fn units(&self) -> u128 {
        u128::from(self.from + self.to) * u128::from(self.duration_ps)
    }

    /// Units offered by `t` picoseconds into the stretch, rounded up: a frame has departed before `t`
    /// exactly if fewer than these were needed before it.
    fn units_by(&self, t: u64) -> u128 {
        let (t_wide, whole) = (u128::from(t), u128::from(self.duration_ps));
        let even = 2 * u128::from(self.from) * t_wide;
        let (quotient, rest) = (t_wide * t_wide / whole, t_wide * t_wide % whole);
        let rise = u128::from(self.from.abs_diff(self.to));
        let curve = rise * quotient;
        if self.to >= self.from {
            even + curve + (rise * rest).div_ceil(whole)
        } else {
            even - curve - rise * rest / whole
        }
    }

    /// The last picosecond by which at most `due` units have been offered, by bisection in 192 bits.
    /// Slow and plain; the fast path in [`Departures`] is checked against it.
    fn invert(&self, due: u128) -> u64 {
        let asked = mul_wide(due, self.duration_ps);
        let (mut low, mut high) = (0, self.duration_ps);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let inner = 2 * u128::from(self.from) * u128::from(self.duration_ps);
            let bend = u128::from(self.from.abs_diff(self.to)) * u128::from(middle);
            let inner = if self.to >= self.from { inner + bend } else { inner - bend };
            if mul_wide(inner, middle) <= asked {
                low = middle
            } else {
                high = middle - 1
            }
        }
        low
    }
}

/// `a * b` as (high, low), for comparing.
fn mul_wide(a: u128, b: u64) -> (u128, u128) {
    let low = (a & u128::from(u64::MAX)) * u128::from(b);
    let high = (a >> 64) * u128::from(b) + (low >> 64);
    (high >> 64, (high << 64) | (low & u128::from(u64::MAX)))
}

/// The load of one stream over time, and the sizes it is made of.
#[derive(Clone, Debug)]
pub struct Schedule {
    stretches: Arc<[Stretch]>,
    /// Size index of frame k, over and over.
    order: Arc<[u8]>,
    /// Units of load of one frame of each size.
    units: Arc<[u64]>,
}

impl Schedule {
    /// A schedule of `segments`, whose frames take their sizes in `order` (indices into `sizes`).
    #[must_use]
    pub fn new(segments: &[Segment], sizes: &[SizeSpec], order: &[u8]) -> Self {
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
        let units = sizes
            .iter()
            .map(|size| (u64::from(size.size) + L1_OVERHEAD_BYTES) * 8 * UNITS_PER_BIT)
            .collect();
        Self {
            stretches,
            order: order.into(),
            units,
        }
    }

    /// Length of all segments together.
    #[must_use]
    pub fn duration_ps(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.duration_ps).sum()
    }

    /// How many frames depart in all.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames_for(self.stretches.iter().map(Stretch::units).sum())
    }

    /// How many frames depart before `t_ps` from the start.
    #[must_use]
    pub fn frames_before(&self, t_ps: u64) -> u64 {
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
        let cycle = self.order.len() as u64;
        let units = |order: &[u8]| order.iter().map(|&size| u128::from(self.units[usize::from(size)])).sum::<u128>();
        let mut due = units(&self.order) * u128::from(number / cycle) + units(&self.order[..(number % cycle) as usize]);
        for stretch in self.stretches.iter() {
            if due < stretch.units() {
                return Some(stretch.start_ps + stretch.invert(due));
            }
            due -= stretch.units();
        }
        None
    }

    /// How many frames have less than `offered` units before them.
    fn frames_for(&self, offered: u128) -> u64 {
        let round: u128 = self.order.iter().map(|&size| u128::from(self.units[usize::from(size)])).sum();
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

    /// The departures from the beginning.
    #[must_use]
    pub fn departures(&self) -> Departures {
        let mut departures = Departures {
            schedule: self.clone(),
            place: 0,
            stretch: usize::MAX,
            pace: Pace::Done,
            times: [0; BLOCK],
            sizes: [0; BLOCK],
            head: 0,
            len: 0,
        };
        departures.enter(0, 0);
        departures.refill();
        departures
    }
}

/// Where the computation stands within the current stretch.
#[derive(Clone, Debug)]
enum Pace {
    /// Constant load: the next departure and the remainder of its division, carried.
    Even {
        next: u64,
        rest: u64,
        modulus: u64,
        /// Whole picoseconds and remainder of one frame of each size.
        steps: Arc<[(u64, u64)]>,
    },
    /// Linear load: units owed before the next frame, and the same times the duration, modulo 2^128.
    Ramp {
        due: u128,
        due_by_duration: u128,
        /// Units are shifted right by this before they become floating point.
        shift: u32,
    },
    /// The schedule has ended.
    Done,
}

/// The departures of a schedule, in order. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Departures {
    schedule: Schedule,
    /// Place in the order of sizes of the next frame to compute.
    place: usize,
    stretch: usize,
    pace: Pace,
    times: [u64; BLOCK],
    sizes: [u8; BLOCK],
    head: usize,
    len: usize,
}

impl Departures {
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

    /// Computed departures and size indices, at least one unless the schedule has ended.
    /// They stay until [`Self::advance`] goes past them, so frames that could not be sent stand here still.
    #[inline]
    #[must_use]
    pub fn block(&self) -> (&[u64], &[u8]) {
        (&self.times[self.head..self.len], &self.sizes[self.head..self.len])
    }

    /// Goes past `count` frames of the block.
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
                    self.pace = Pace::Done;
                    return;
                }
            }
            index += 1;
        };
        self.stretch = index;
        self.pace = if stretch.from == stretch.to {
            let modulus = 2 * stretch.from;
            Pace::Even {
                next: (due / u128::from(modulus)) as u64,
                rest: (due % u128::from(modulus)) as u64,
                modulus,
                steps: self.schedule.units.iter().map(|units| (units / modulus, units % modulus)).collect(),
            }
        } else {
            Pace::Ramp {
                due,
                due_by_duration: due.wrapping_mul(u128::from(stretch.duration_ps)),
                shift: 66_u32.saturating_sub(stretch.units().leading_zeros()),
            }
        };
    }

    #[inline(never)]
    fn refill(&mut self) {
        self.head = 0;
        self.len = 0;
        while self.len == 0 {
            let leave = match self.pace {
                Pace::Done => return,
                Pace::Even { .. } => self.fill_even(),
                Pace::Ramp { .. } => self.fill_ramp(),
            };
            if let Some(due) = leave {
                self.enter(self.stretch + 1, due);
            }
        }
    }

    /// Computes a block of a constant load. `Some(due)` when the stretch is over.
    fn fill_even(&mut self) -> Option<u128> {
        let stretch = self.schedule.stretches[self.stretch];
        let Pace::Even {
            next,
            rest,
            modulus,
            steps,
        } = &mut self.pace
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
                    (block[lane], kept[lane]) = (stretch.start_ps + times[lane], rests[lane]);
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

    /// Computes a block of a linear load. `Some(due)` when the stretch is over.
    fn fill_ramp(&mut self) -> Option<u128> {
        let stretch = self.schedule.stretches[self.stretch];
        let Pace::Ramp {
            due,
            due_by_duration,
            shift,
        } = &mut self.pace
        else {
            return None;
        };
        let end = stretch.units();
        let order = &self.schedule.order[..];
        // B(t)*2T = t*(2*from*T + (to-from)*t); modulo 2^128, as only its distance from the asked is used.
        let base = 2 * u128::from(stretch.from) * u128::from(stretch.duration_ps);
        let rise = (i128::from(stretch.to) - i128::from(stretch.from)) as u128;
        let from = stretch.from as f64;
        let bend = (stretch.to as f64 - from) / stretch.duration_ps as f64;
        let scale = (1_u128 << *shift) as f64;
        let mut owed = [0_f64; BLOCK];
        let mut exact = [0_u128; BLOCK];
        let mut dues = [0_u128; BLOCK];
        let step = |size: u8| {
            let units = u128::from(self.schedule.units[usize::from(size)]);
            (units, units * u128::from(stretch.duration_ps))
        };
        let first = step(order[0]);
        let (mut count, mut place) = (0, self.place);
        let (mut owing, mut owing_by_duration) = (*due, *due_by_duration);
        while count < BLOCK && owing < end {
            let size = order[place];
            place += 1;
            if place == order.len() {
                place = 0;
            }
            owed[count] = (owing >> *shift) as u64 as f64;
            exact[count] = owing_by_duration;
            dues[count] = owing;
            self.sizes[count] = size;
            count += 1;
            let (units, by_duration) = if order.len() == 1 { first } else { step(size) };
            owing += units;
            owing_by_duration = owing_by_duration.wrapping_add(by_duration);
        }
        (self.len, self.place) = (count, place);
        (*due, *due_by_duration) = (owing, owing_by_duration);
        let mut guess = [0_f64; BLOCK];
        for (guess, owed) in guess.iter_mut().zip(&owed) {
            let owed = owed * scale;
            // The stable form of the root; at the foot of a ramp from zero it is 0/0, which becomes 0.
            *guess = owed / (from + (from * from + bend * owed).max(0.0).sqrt());
        }
        for index in 0..self.len {
            let time = (guess[index] as u64).min(stretch.duration_ps);
            let wide = u128::from(time);
            let bent = rise.wrapping_mul(wide);
            let by = wide.wrapping_mul(base.wrapping_add(bent));
            let left = exact[index].wrapping_sub(by) as i128;
            // What is offered in the picosecond from here: base + rise * (2 * time + 1).
            let slope = base.wrapping_add(bent).wrapping_add(bent).wrapping_add(rise) as i128;
            let time = if left >= 0 && left < slope {
                time
            } else {
                correct(&stretch, time, left, slope, rise as i128, dues[index])
            };
            self.times[index] = stretch.start_ps + time;
        }
        (*due >= end).then(|| *due - end)
    }
}

/// `step` after `time`, both whole picoseconds and a rest below `modulus`.
#[inline]
fn after(time: (u64, u64), step: (u64, u64), modulus: u64) -> (u64, u64) {
    let rest = time.1 + step.1;
    let over = rest >= modulus;
    (time.0 + step.0 + u64::from(over), if over { rest - modulus } else { rest })
}

/// The exact departure from a guess that is off. `left` units (times the duration) are still owed at
/// `time`, `slope` more are offered in the picosecond after it.
#[cold]
fn correct(stretch: &Stretch, time: u64, left: i128, slope: i128, rise: i128, due: u128) -> u64 {
    let before = slope - 2 * rise;
    let after = slope + 2 * rise;
    if left < 0 && left + before >= 0 && time > 0 {
        time - 1
    } else if left >= slope && left - slope < after && time < stretch.duration_ps {
        time + 1
    } else {
        stretch.invert(due)
    }
}
