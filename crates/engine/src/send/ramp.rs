//! Departures of a linear load: the root of a quadratic, rounded down to the picosecond, many side by side.
//!
//! With `rise = to - from` and a stretch of length `T`, `2*from*t + rise*t^2/T` units have been offered by `t`. So frame
//! k, before which `d` units are due, departs at
//!
//! ```text
//! t = d / (from + sqrt(from^2 + rise/T * d)),
//! ```
//!
//! the form of the root that cancels nothing while the load rises. It is computed in floating point, with a bound on its
//! error: where no whole picosecond lies within that bound, rounding down is certain (Ziv's test). The few others are
//! decided in whole numbers.
//!
//! # The bound
//!
//! Each operation of IEEE 754 rounds to nearest and is off by a factor `1 + e`, `|e| <= u = 2^-53`; no operation here
//! over- or underflows, as all that is not 0 lies between 2^-60 and 2^130. First order in `u`; what is left out is below
//! 100 `u^2` and drowns in the slack below.
//!
//! - `d` is the sum of what the first frame of the block waits for (one rounding) and a number of bytes below 2^24 times
//!   2^16 * 5^12, which has 52 bits and is exact; the sum rounds: 2u.
//! - `from`, `rise` and `T` are below 2^52 and exact (else no result is taken for certain), `rise/T` is off by u,
//!   `rise/T * d` by 4u and `from^2` by u.
//! - Rising load: the sum under the root is off by 5u, the root by 2.5u + u, with `from` added by 4.5u, and the quotient
//!   by 2u + 4.5u + u = 7.5u. We take 10u.
//! - Falling load: `from^2` exceeds `|rise|/T * d`, so the difference under the root is off by at most 6u * from^2, and
//!   the computed root `r` by 6u * from^2 / r + u * r. The denominator is at least `from`, which is at least `r`: with the
//!   rounding of the sum it is off by at most (6 * from/r + 2)u of itself, and the quotient by (6 * from/r + 5)u. We take
//!   16u * from/r.
//!
//! The distance from the computed time to the nearest whole number is exact. If it exceeds the bound, which then is below
//! one half, the whole numbers on both sides of the computed time are those on both sides of the departure.
//!
//! A block has one bound, that of its last frame: times grow, and with a falling load roots shrink, also as computed,
//! because rounding is monotonic.

use super::block::BLOCK;
use super::stretch::{Stretch, UNITS_PER_BIT};

// The x87 keeps more digits than it shows: sums would round twice.
#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!("departures are computed with the rounding of IEEE 754, which on x86 takes SSE2");

/// Units of load in one byte.
pub const UNITS_PER_BYTE: u64 = 8 * UNITS_PER_BIT;

/// The unit of rounding, 2^-53.
const U: f64 = f64::EPSILON / 2.0;

/// From here on, 2^52, floating-point numbers are whole.
const WHOLE: f64 = 1.0 / f64::EPSILON;

/// The departures, from the start of the schedule, of the frames of a block that depart within `stretch`: before the
/// first of the block `due` units are owed, and before each one `ahead` bytes more. Returns how many; what lies in
/// `times` behind them means nothing.
pub fn departures(stretch: &Stretch, due: u128, ahead: &[u32; BLOCK], times: &mut [u64; BLOCK]) -> usize {
    let owed = |ahead: u32| due + u128::from(UNITS_PER_BYTE) * u128::from(ahead);
    let end = stretch.units();
    let count = if owed(ahead[BLOCK - 1]) < end {
        BLOCK
    } else {
        ahead.partition_point(|&ahead| owed(ahead) < end)
    };
    if count == 0 {
        return 0;
    }
    let (from, first) = (stretch.from as f64, due as f64);
    let bend = (stretch.to as f64 - from) / stretch.duration_ps as f64;
    let mut roots = [0_f64; BLOCK];
    let mut guesses = [0_f64; BLOCK];
    for ((&ahead, root), guess) in ahead.iter().zip(&mut roots).zip(&mut guesses) {
        let owed = first + f64::from(ahead) * UNITS_PER_BYTE as f64;
        *root = (from * from + bend * owed).max(0.0).sqrt();
        // At the foot of a ramp from zero this is 0/0, which becomes 0.
        *guess = (owed / (from + *root)).max(0.0);
    }
    let bound = bound(stretch, guesses[count - 1], roots[count - 1]);
    let mut doubt = 0;
    for (&guess, time) in guesses.iter().zip(&mut *times) {
        let nearest = Nearest::of(guess);
        doubt |= u64::from(nearest.is_within(bound));
        *time = stretch.start_ps.wrapping_add(nearest.floor());
    }
    if doubt != 0 {
        for ((&guess, time), &ahead) in guesses[..count].iter().zip(times).zip(ahead) {
            if Nearest::of(guess).is_within(bound) {
                *time = stretch.start_ps + decide(stretch, guess as u64, owed(ahead));
            }
        }
    }
    count
}

/// As [`departures`], of one frame before which `due` units are owed: from the begin of `stretch`.
pub fn departure(stretch: &Stretch, due: u128) -> u64 {
    let (from, owed) = (stretch.from as f64, due as f64);
    let bend = (stretch.to as f64 - from) / stretch.duration_ps as f64;
    let root = (from * from + bend * owed).max(0.0).sqrt();
    decide(stretch, (owed / (from + root)).max(0.0) as u64, due)
}

/// The whole number nearest to one below [`WHOLE`]; without the conversions that most processors do one by one.
struct Nearest {
    bits: u64,
    beyond: f64,
}

impl Nearest {
    #[inline]
    fn of(value: f64) -> Self {
        // Where the numbers are so great that they have no fraction, and their bits count up.
        let shifted = value + WHOLE;
        Self {
            bits: shifted.to_bits(),
            beyond: value - (shifted - WHOLE),
        }
    }

    /// Whether the value is at most `bound` off it.
    #[inline]
    fn is_within(&self, bound: f64) -> bool {
        self.beyond.abs() <= bound
    }

    /// The value rounded down.
    #[inline]
    fn floor(&self) -> u64 {
        self.bits.wrapping_sub(WHOLE.to_bits()).wrapping_sub(u64::from(self.beyond < 0.0))
    }
}

/// How far the times of a block may be off whose last frame has `guess` as its time and `root` as its root.
fn bound(stretch: &Stretch, guess: f64, root: f64) -> f64 {
    if stretch.from.max(stretch.to).max(stretch.duration_ps) >= WHOLE as u64 {
        f64::INFINITY
    } else if stretch.from < stretch.to {
        10.0 * U * guess
    } else {
        16.0 * U * guess * (stretch.from as f64 / root)
    }
}

/// The exact departure of a frame before which `due` units are owed, in whole numbers, from a `guess` of it.
#[inline(never)]
fn decide(stretch: &Stretch, guess: u64, due: u128) -> u64 {
    let time = guess.min(stretch.duration_ps);
    // Units offered, times the duration: t*(2*from*T + rise*t). All modulo 2^128, as only differences matter.
    let base = 2 * u128::from(stretch.from) * u128::from(stretch.duration_ps);
    let rise = (i128::from(stretch.to) - i128::from(stretch.from)) as u128;
    let wide = u128::from(time);
    let bent = rise.wrapping_mul(wide);
    let by = wide.wrapping_mul(base.wrapping_add(bent));
    let left = due.wrapping_mul(u128::from(stretch.duration_ps)).wrapping_sub(by) as i128;
    // What is offered in the picosecond from here: base + rise * (2 * time + 1).
    let slope = base.wrapping_add(bent).wrapping_add(bent).wrapping_add(rise) as i128;
    if left >= 0 && left < slope {
        time
    } else {
        correct(stretch, time, left, slope, rise as i128, due)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sizes on the line of the frames of a block, over and over, as bytes before each of them.
    fn ahead(sizes: &[u32]) -> [u32; BLOCK] {
        let mut sum = 0;
        let mut sizes = sizes.iter().cycle();
        std::array::from_fn(|_| {
            let before = sum;
            sum += sizes.next().expect("sizes");
            before
        })
    }

    /// All departures of a block against the bisection in 192 bits.
    fn check(stretch: &Stretch, due: u128, ahead: &[u32; BLOCK]) {
        let mut times = [0; BLOCK];
        let count = departures(stretch, due, ahead, &mut times);
        for (index, &ahead) in ahead.iter().enumerate() {
            let owed = due + u128::from(ahead) * u128::from(UNITS_PER_BYTE);
            assert_eq!(owed < stretch.units(), index < count);
            if index < count {
                assert_eq!(times[index], stretch.start_ps + stretch.bisect(owed), "{stretch:?}, {owed} units");
            }
        }
    }

    fn rates() -> impl Strategy<Value = (u64, u64)> {
        let rate = || prop_oneof![Just(0), Just(672), Just(100_000_000_000), 0..400_000_000_000_u64, 0..1_000_000_u64];
        (rate(), rate()).prop_filter("a ramp", |(from, to)| from != to)
    }

    /// Microseconds, the 120 s of a long ramp, and beyond what floating point decides.
    fn durations() -> impl Strategy<Value = u64> {
        prop_oneof![
            1_000_u64..2_000_000,
            1_000_000_u64..1_000_000_000_000,
            Just(120_000_000_000_000),
            1_000_000_000_000..100_000_000_000_000_000_u64
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn departures_are_those_of_the_bisection(
            (from, to) in rates(),
            duration_ps in durations(),
            start_ps in 0..1_000_000_000_000_u64,
            part in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0, 0.0..1e-6, 0.999_999..1.0],
            sizes in proptest::collection::vec(84_u32..9_238, 1..5),
        ) {
            let stretch = Stretch { start_ps, duration_ps, from, to };
            let due = (stretch.units() as f64 * part) as u128;
            check(&stretch, due, &ahead(&sizes));
        }

        /// One unit decides between one picosecond and the next, at the place where it does.
        #[test]
        fn a_time_that_is_all_but_whole_is_rounded_down_rightly(
            (from, to) in rates(),
            duration_ps in durations(),
            part in 0.0..1.0,
        ) {
            let stretch = Stretch { start_ps: 0, duration_ps, from, to };
            let at = (duration_ps as f64 * part) as u64;
            let units = stretch.units_by(at.min(duration_ps));
            for due in [units.saturating_sub(1), units, units + 1] {
                check(&stretch, due, &[0; BLOCK]);
            }
        }
    }

    /// Few frames need whole numbers to decide, even after two minutes.
    #[test]
    fn floating_point_decides_most_departures() {
        for (duration_ps, most) in [(300_000_000_000, 0.001), (120_000_000_000_000, 0.3)] {
            let stretch = Stretch {
                start_ps: 0,
                duration_ps,
                from: 0,
                to: 100_000_000_000,
            };
            let share = 2.0 * bound(&stretch, duration_ps as f64, stretch.to as f64);
            assert!(share < most, "{share} of the last frames of {duration_ps} ps");
        }
    }
}
