//! A load that goes up and down with a period, as a map of time.
//!
//! The load is `L * (1 + depth * w(t / T))` with a shape `w` of mean 0. So by `t` as much is offered as evenly by
//! `W(t) = t + depth * T * G(t / T)`, `G` the integral of `w`: a frame that is due evenly at `W(t)` departs at `t`. Periods begin
//! with each stretch of the schedule, and what is left of it behind the last whole one is even. Within a period the load is
//! constant in each of 1,024 steps, whose ends lie on the shape exactly (rounded down to the picosecond).

use crate::spec::{Shape, WaveSpec};

/// Steps of a period.
const STEPS: u64 = 1024;
/// Bits behind the point of the integral of a shape.
const POINT: u32 = 60;
const ONE: i128 = 1 << POINT;
/// Pi, rounded.
const PI: i128 = 3_622_009_729_038_561_421;

/// One kind of wave.
#[derive(Debug, PartialEq, Eq)]
pub struct Wave {
    period_ps: u64,
    depth_ppm: u64,
    /// When a frame is due evenly that departs with the beginning of each step, and at the end of the period.
    even: Box<[u64]>,
}

impl Wave {
    /// The wave of `spec`, whose period is from 1 us to 1 h and whose depth at most 1,000,000 ppm.
    pub fn new(spec: &WaveSpec) -> Self {
        let period_ps = spec.period_ns * 1000;
        let depth_ppm = u64::from(spec.depth_ppm);
        let mut even: Box<[u64]> = (0..=STEPS)
            .map(|step| {
                let bend = ((i128::from(period_ps) * integral(spec.shape, step)) >> 40) * i128::from(depth_ppm) / 1_000_000;
                (i128::from(begin(period_ps, step)) + (bend >> (POINT - 40))).clamp(0, period_ps.into()) as u64
            })
            .collect();
        // No step goes back where the load is nothing.
        for step in 1..even.len() {
            even[step] = even[step].max(even[step - 1]);
        }
        Self {
            period_ps,
            depth_ppm,
            even,
        }
    }

    /// When a frame departs that evenly would `even_ps` after the begin of its stretch, which is `duration_ps` long.
    #[inline]
    pub fn departure_ps(&self, even_ps: u64, duration_ps: u64) -> u64 {
        let into = even_ps % self.period_ps;
        let begin_ps = even_ps - into;
        if begin_ps + self.period_ps > duration_ps {
            return even_ps;
        }
        // The last step that begins at or before it: those without a load are empty.
        let step = self.even.partition_point(|&edge| edge <= into) - 1;
        let (from, until) = (self.even[step], self.even[step + 1]);
        let begun = begin(self.period_ps, step as u64);
        let length = begin(self.period_ps, step as u64 + 1) - begun;
        begin_ps + begun + (u128::from(into - from) * u128::from(length) / u128::from(until - from)) as u64
    }

    /// The load `t_ps` after the begin of a stretch of `duration_ps`, if it would be `bps` evenly.
    pub fn bps_at(&self, t_ps: u64, duration_ps: u64, bps: u64) -> u64 {
        let into = t_ps % self.period_ps;
        if t_ps - into + self.period_ps > duration_ps {
            return bps;
        }
        let step = (u128::from(into) * u128::from(STEPS) / u128::from(self.period_ps)) as u64;
        let length = begin(self.period_ps, step + 1) - begin(self.period_ps, step);
        let even = self.even[step as usize + 1] - self.even[step as usize];
        (u128::from(bps) * u128::from(even)).checked_div(length.into()).unwrap_or(0) as u64
    }

    /// The highest load of a wave around `bps`.
    pub fn highest_bps(&self, bps: u64) -> u64 {
        (u128::from(bps) * u128::from(1_000_000 + self.depth_ppm)).div_ceil(1_000_000) as u64
    }

    /// The lowest.
    pub fn lowest_bps(&self, bps: u64) -> u64 {
        (u128::from(bps) * u128::from(1_000_000 - self.depth_ppm) / 1_000_000) as u64
    }
}

/// Where step `step` begins in a period, ps.
fn begin(period_ps: u64, step: u64) -> u64 {
    (u128::from(period_ps) * u128::from(step) / u128::from(STEPS)) as u64
}

/// The integral of a shape from the begin of a period to that of step `step`, in periods; [`POINT`] bits behind the point.
fn integral(shape: Shape, step: u64) -> i128 {
    let (at, whole) = (i128::from(step), i128::from(STEPS));
    // In units of 1 / (4 * STEPS^2), which are 2^22.
    let squares = match shape {
        Shape::Sine if step.is_multiple_of(STEPS) => 0,
        // (1 - cos(2 pi s)) / (2 pi)
        Shape::Sine => return (ONE - cosine(2 * PI * at / whole)) * ONE / (2 * PI),
        Shape::Triangle if 4 * at <= whole => 8 * at * at,
        Shape::Triangle if 4 * at <= 3 * whole => 8 * at * whole - 8 * at * at - whole * whole,
        Shape::Triangle => 8 * (whole - at) * (whole - at),
        Shape::Square => 4 * whole * at.min(whole - at),
        Shape::Sawtooth => 4 * at * at - 4 * at * whole,
    };
    squares << (POINT - 22)
}

/// The cosine of an angle from 0 to 2 pi by its series, in whole numbers: the same on every machine.
fn cosine(angle: i128) -> i128 {
    let angle = angle.min(2 * PI - angle);
    let square = (angle * angle) >> POINT;
    let (mut term, mut sum) = (ONE, ONE);
    for number in 1..20 {
        term = -((term * square) >> POINT) / ((2 * number - 1) * 2 * number);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    const PERIOD_NS: u64 = 7_000_003;
    const SHAPES: [Shape; 4] = [Shape::Sine, Shape::Triangle, Shape::Square, Shape::Sawtooth];

    /// The shapes as textbooks have them.
    fn shape(shape: Shape, at: f64) -> f64 {
        match shape {
            Shape::Sine => (TAU * at).sin(),
            Shape::Triangle => (TAU * at).sin().asin() * 2.0 / (TAU / 2.0),
            Shape::Square => {
                if at < 0.5 {
                    1.0
                } else {
                    -1.0
                }
            }
            Shape::Sawtooth => 2.0 * at - 1.0,
        }
    }

    fn wave(shape: Shape, depth_ppm: u32) -> Wave {
        Wave::new(&WaveSpec {
            shape,
            period_ns: PERIOD_NS,
            depth_ppm,
        })
    }

    #[test]
    fn the_load_goes_up_and_down_as_its_shape() {
        for kind in SHAPES {
            for depth_ppm in [100_000, 1_000_000] {
                let wave = wave(kind, depth_ppm);
                for part in 0..1000 {
                    let at = (f64::from(part) + 0.5) / 1000.0;
                    let period_ps = PERIOD_NS * 1000;
                    let found = wave.bps_at((at * period_ps as f64) as u64, period_ps, 1_000_000_000) as f64 / 1e9;
                    let meant = 1.0 + f64::from(depth_ppm) / 1e6 * shape(kind, at);
                    // A step of a triangle or a sawtooth changes by 4 / 1024 at most, of a sine by 2 pi / 1024.
                    assert!((found - meant).abs() < 0.0035, "{kind:?} {depth_ppm} at {at}: {found}, {meant}");
                }
            }
        }
    }

    /// What is offered by the time of a departure is what was due: by the integral, in steps of its own.
    #[test]
    fn frames_depart_when_their_load_was_offered() {
        for kind in SHAPES {
            let wave = wave(kind, 750_000);
            let period_ps = PERIOD_NS * 1000;
            let (mut offered, mut t) = (0.0, 0_u64);
            for frame in 0..1000 {
                let even_ps = frame * period_ps / 1000;
                let departure_ps = wave.departure_ps(even_ps, period_ps);
                while t < departure_ps {
                    let next = departure_ps.min(t + period_ps / 50_000);
                    let middle = (t + next) as f64 / 2.0 / period_ps as f64;
                    offered += (1.0 + 0.75 * shape(kind, middle)) * (next - t) as f64;
                    t = next;
                }
                let off = (offered - even_ps as f64).abs() / period_ps as f64;
                assert!(off < 2e-5, "{kind:?} frame {frame}: {off}");
            }
        }
    }

    #[test]
    fn what_is_left_behind_the_last_period_is_even() {
        let wave = wave(Shape::Sine, 1_000_000);
        let period_ps = PERIOD_NS * 1000;
        for even_ps in [period_ps, period_ps + 1, period_ps * 3 / 2] {
            assert_eq!(wave.departure_ps(even_ps, 2 * period_ps - 1), even_ps);
        }
        assert_ne!(wave.departure_ps(period_ps * 3 / 2, 2 * period_ps), period_ps * 3 / 2);
        // Nothing departs while there is no load: the frame due in the middle of a square is the first of the next period.
        let square = self::wave(Shape::Square, 1_000_000);
        assert_eq!(square.departure_ps(period_ps - 1, 2 * period_ps), period_ps / 2 - 1);
        assert_eq!(square.departure_ps(period_ps, 2 * period_ps), period_ps);
    }

    #[test]
    fn the_cosine_is_that_of_floating_point() {
        for step in 0..=1000 {
            let angle = TAU * f64::from(step) / 1000.0;
            let found = cosine((angle * ONE as f64) as i128) as f64 / ONE as f64;
            assert!((found - angle.cos()).abs() < 1e-12, "{angle}");
        }
    }
}
