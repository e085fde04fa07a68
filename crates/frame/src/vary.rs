//! What a field is in flow `i`: the definition (slow, without state) that the hot path must agree with.

use crate::FrameError;
use crate::field::{Field, SlowList, Vary};
use std::collections::HashSet;

/// A field's values, as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Constant(u128),
    List(Vec<u128>),
    Step {
        start: u128,
        step: i64,
        count: u64,
    },
    Range(Range),
    Random(Random),
    /// Each value for so many flows, at least 2.
    Slow {
        every: u32,
        of: Box<Source>,
    },
}

/// `min + (first + step * i) mod size`, which is below 2^32; `step` is below `size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub min: u128,
    pub size: u64,
    pub first: u64,
    pub step: u64,
}

/// Uniform in `min..=min + span`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Random {
    pub key: u64,
    pub min: u128,
    pub span: u128,
}

/// Where in a stack a field stands and what fits it, for messages and for its random draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub header: usize,
    pub name: &'static str,
    pub field: &'static str,
    /// The largest value that fits.
    pub max: u128,
    /// Seed of the stream.
    pub seed: u64,
}

impl Place {
    fn error(&self, why: String, hint: &str) -> FrameError {
        FrameError::field(self.header, self.name, self.field, why, hint)
    }

    /// The random key of this place: not that of any other place or seed.
    fn key(&self) -> u64 {
        let place = self
            .field
            .bytes()
            .fold(self.header as u64, |hash, byte| mix(hash << 8 | u64::from(byte)));
        mix(self.seed ^ mix(place))
    }
}

impl Source {
    /// Compiles a field; `number` gives a value as a number, `show` as the plan writes it.
    pub fn new<T: Copy>(
        field: &Field<T>,
        place: &Place,
        number: impl Fn(T) -> u128,
        show: impl Fn(u128) -> String,
    ) -> Result<Self, FrameError> {
        let fit = |value: u128| {
            let message = || place.error(format!("{} does not fit", show(value)), &format!("at most {}", show(place.max)));
            if value <= place.max { Ok(value) } else { Err(message()) }
        };
        let list = |values: &[T]| {
            let values = values.iter().map(|value| fit(number(*value))).collect::<Result<Vec<_>, _>>()?;
            match values[..] {
                [] => Err(place.error("the list is empty".into(), "name at least one value")),
                [value] => Ok(Self::Constant(value)),
                _ => Ok(Self::List(values)),
            }
        };
        let slow = |every: u32, of: Self| match (every, &of) {
            (0, _) => Err(place.error("each value for 0 flows".into(), "`every` is 1 or more")),
            (1, _) | (_, Self::Constant(_)) => Ok(of),
            _ => Ok(Self::Slow { every, of: Box::new(of) }),
        };
        Ok(match field {
            Field::Constant(value) => Self::Constant(fit(number(*value))?),
            Field::Vary(Vary::List(values)) => list(values)?,
            Field::Slow(SlowList { list: values, every }) => slow(*every, list(values)?)?,
            Field::Vary(Vary::Step { start, step, count, every }) => {
                let (start, step, count) = (fit(number(*start))?, *step, *count);
                if count == 0 {
                    return Err(place.error("the step has a count of 0".into(), "count is how many values there are, at least 1"));
                }
                let end = if step < 0 { 0 } else { place.max };
                let room = start.abs_diff(end).checked_div(step.unsigned_abs().into()).unwrap_or(u128::MAX);
                if u128::from(count - 1) > room {
                    let why = format!("{count} steps of {step} from {} go beyond {}", show(start), show(end));
                    return Err(place.error(why, &format!("a count of at most {}", room + 1)));
                }
                if count == 1 || step == 0 {
                    Self::Constant(start)
                } else {
                    slow(*every, Self::Step { start, step, count })?
                }
            }
            Field::Vary(Vary::Range {
                min,
                max,
                step,
                start,
                every,
            }) => {
                let (min, max, start) = (fit(number(*min))?, fit(number(*max))?, fit(number(*start))?);
                if min > max {
                    let why = format!("a range from {} to {}: min is larger than max", show(min), show(max));
                    return Err(place.error(why, "swap min and max"));
                }
                if !(min..=max).contains(&start) {
                    let why = format!("start {} is outside the range", show(start));
                    return Err(place.error(why, &format!("from {} to {}", show(min), show(max))));
                }
                let size = u64::try_from(max - min).ok().filter(|span| *span < 1 << 32).map(|span| span + 1);
                let Some(size) = size else {
                    return Err(place.error("a range of more than 2^32 values".into(), "a smaller range, or `step`"));
                };
                let step = step.rem_euclid(size as i64) as u64;
                let first = (start - min) as u64;
                if step == 0 {
                    Self::Constant(start)
                } else {
                    slow(*every, Self::Range(Range { min, size, first, step }))?
                }
            }
            Field::Vary(Vary::Random { min, max, seed }) => {
                let (min, max) = (fit(number(*min))?, fit(number(*max))?);
                if min > max {
                    let why = format!("random from {} to {}: min is larger than max", show(min), show(max));
                    return Err(place.error(why, "swap min and max"));
                }
                let key = seed.map_or_else(|| place.key(), mix);
                if min == max {
                    Self::Constant(min)
                } else {
                    Self::Random(Random { key, min, span: max - min })
                }
            }
        })
    }

    /// The value in flow `flow`.
    pub fn value(&self, flow: u32) -> u128 {
        match self {
            Self::Constant(value) => *value,
            Self::List(values) => values[flow as usize % values.len()],
            Self::Step { start, step, count } => stepped(*start, *step, u64::from(flow) % count),
            Self::Range(range) => range.value(flow),
            Self::Random(random) => random.value(flow),
            Self::Slow { every, of } => of.value(flow / every),
        }
    }

    /// What takes its values, each for one flow.
    pub fn values(&self) -> &Self {
        match self {
            Self::Slow { of, .. } => of,
            source => source,
        }
    }

    /// How many flows it takes until the values come again in the same order; `None` if they never do.
    pub fn period(&self) -> Option<u64> {
        match self {
            Self::Constant(_) => Some(1),
            Self::List(values) => Some(values.len() as u64),
            Self::Step { count, .. } => Some(*count),
            Self::Range(range) => Some(range.period()),
            Self::Random(_) => None,
            Self::Slow { every, of } => of.period()?.checked_mul((*every).into()),
        }
    }

    /// How many values there are; `u64::MAX` for more than that.
    pub fn count(&self) -> u64 {
        match self {
            Self::Constant(_) => 1,
            Self::List(values) => values.iter().collect::<HashSet<_>>().len() as u64,
            Self::Step { count, .. } => *count,
            Self::Range(range) => range.period(),
            Self::Slow { of, .. } => of.count(),
            Self::Random(random) => u64::try_from(random.span).map_or(u64::MAX, |span| span.saturating_add(1)),
        }
    }

    /// The bits in which its values in flows 0 to `flows` - 1 may differ: none in which two of them do is missing.
    pub fn changing(&self, flows: u32) -> u128 {
        // All values between two numbers begin as both of them do.
        let up_to_highest = |bits: u128| bits.checked_ilog2().map_or(0, |highest| u128::MAX >> (127 - highest));
        match self {
            _ if flows <= 1 => 0,
            Self::Constant(_) => 0,
            Self::List(values) => {
                let met = values.iter().take(flows as usize);
                met.fold(0, |bits, value| bits | value ^ values[0])
            }
            Self::Step { start, step, count } => {
                let last = stepped(*start, *step, u64::from(flows).min(*count) - 1);
                // What is added ends with as many zeros as the step.
                up_to_highest(start ^ last) & u128::MAX << step.trailing_zeros()
            }
            Self::Range(range) => up_to_highest(range.min ^ (range.min + u128::from(range.size - 1))),
            Self::Slow { every, of } => of.changing(flows.div_ceil(*every)),
            Self::Random(random) => up_to_highest(random.min ^ (random.min + random.span)),
        }
    }

    /// The smallest and the largest value.
    pub fn range(&self) -> (u128, u128) {
        match self {
            Self::Constant(value) => (*value, *value),
            Self::List(values) => (
                values.iter().copied().min().unwrap_or_default(),
                values.iter().copied().max().unwrap_or_default(),
            ),
            Self::Step { start, step, count } => {
                let last = stepped(*start, *step, count - 1);
                (*start.min(&last), *start.max(&last))
            }
            Self::Range(range) => (range.min, range.min + u128::from(range.size - 1)),
            Self::Slow { of, .. } => of.range(),
            Self::Random(random) => (random.min, random.min + random.span),
        }
    }
}

/// Element `index` of a step, which is in range.
fn stepped(start: u128, step: i64, index: u64) -> u128 {
    start.wrapping_add_signed(i128::from(step) * i128::from(index))
}

impl Range {
    fn value(&self, index: u32) -> u128 {
        self.min + u128::from(self.place(index))
    }

    /// How far above the smallest value element `index` is.
    pub fn place(&self, index: u32) -> u64 {
        // Below 2^32 + 2^64.
        ((u128::from(self.first) + u128::from(self.step) * u128::from(index)) % u128::from(self.size)) as u64
    }

    /// How many values it has: then the first comes again.
    fn period(&self) -> u64 {
        let (mut divisor, mut rest) = (self.size, self.step);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        self.size / divisor
    }
}

impl Random {
    /// Draw `index`. Multiply-shift maps the hash to the range: no value is more than 2^-64 likelier than another
    /// (2^-128 for ranges beyond 64 bits).
    #[inline]
    pub fn value(&self, index: u32) -> u128 {
        match u64::try_from(self.span) {
            Ok(span) => self.min + u128::from(scale(hash(self.key, index), span)),
            Err(_) => self.min + wide_scale(wide_hash(self.key, index), self.span),
        }
    }
}

/// Steps of the Weyl sequence and the second factor of the hash: those of wyrand (Wang Yi, wyhash, public domain).
pub(crate) const WEYL: u64 = 0xa076_1d64_78bd_642f;
const FACTOR: u64 = 0xe703_7ed1_a0b4_28db;

/// Draw `index` of the sequence `key`: wyrand, entered at any place without walking there.
#[inline]
pub(crate) fn hash(key: u64, index: u32) -> u64 {
    finish_hash(key.wrapping_add(u64::from(index).wrapping_mul(WEYL)))
}

/// The [`hash`] of the draw at which the sequence has this state; that of the next draw is [`WEYL`] more.
#[inline]
pub(crate) fn finish_hash(state: u64) -> u64 {
    let product = u128::from(state) * u128::from(state ^ FACTOR);
    (product >> 64) as u64 ^ product as u64
}

/// Maps a uniform 64-bit `hash` to `0..=span`.
#[inline]
pub(crate) fn scale(hash: u64, span: u64) -> u64 {
    // hash * (span + 1) / 2^64, which cannot overflow even where span + 1 does.
    ((u128::from(hash) * u128::from(span) + u128::from(hash)) >> 64) as u64
}

/// Draws `indices` of the sequence `key`, mapped to `0..=span` and added to each of `values`: [`hash`] and [`scale`] in
/// products of 32 bits, which vector units have. In two loops, for the compiler makes one a chain of 64-bit products.
#[inline]
pub(crate) fn add_draws<const N: usize>(values: &mut [u32; N], indices: &[u32; N], key: u64, span: u32) {
    let halves = |word: u64| (word >> 32, word & 0xffff_ffff);
    let mut states = [0; N];
    let mut middles = [0; N];
    for ((state, middle), index) in states.iter_mut().zip(&mut middles).zip(indices) {
        let a = key.wrapping_add(u64::from(*index).wrapping_mul(WEYL));
        let ((a1, a0), (_, b0)) = (halves(a), halves(a ^ FACTOR));
        *state = a;
        *middle = a1 * b0 + ((a0 * b0) >> 32);
    }
    let many = u64::from(span) + 1;
    for ((value, a), middle) in values.iter_mut().zip(states).zip(middles) {
        let b = a ^ FACTOR;
        let ((a1, a0), (b1, _)) = (halves(a), halves(b));
        let (high, low) = halves(middle);
        let product_high = a1 * b1 + high + ((a0 * b1 + low) >> 32);
        *value += scale_half(product_high ^ a.wrapping_mul(b), many);
    }
}

/// As [`scale`], to below `many`, which is at most 2^32: in products of less than 64 bits, which vector units have.
#[inline]
fn scale_half(hash: u64, many: u64) -> u32 {
    let (high, low) = (hash >> 32, hash & 0xffff_ffff);
    // At most (2^32 - 1) * 2^32 + (2^32 - 1).
    ((high * many + ((low * many) >> 32)) >> 32) as u32
}

fn wide_hash(key: u64, index: u32) -> u128 {
    u128::from(hash(key, index)) << 64 | u128::from(hash(mix(key), index))
}

/// Maps a uniform 128-bit `hash` to `0..=span`: the high half of `hash * (span + 1)`.
fn wide_scale(hash: u128, span: u128) -> u128 {
    let low = |value: u128| value & u128::from(u64::MAX);
    let (a, b, c, d) = (hash >> 64, low(hash), span >> 64, low(span));
    let middle = ((b * d) >> 64) + low(a * d) + low(b * c);
    let high = a * c + ((a * d) >> 64) + ((b * c) >> 64) + (middle >> 64);
    let product_low = middle << 64 | low(b * d);
    // ... + hash, for the one in span + 1.
    high + u128::from(product_low.checked_add(hash).is_none())
}

/// A bijective mix of 64 bits (the finalizer of SplitMix64).
pub(crate) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mix_is_splitmix64() {
        // First outputs of Vigna's splitmix64.c from state 1234567 (the vector of the Java and Rosetta versions).
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
        assert_eq!(mix(1_234_567u64.wrapping_add(0x9e37_79b9_7f4a_7c15)), 3_203_168_211_198_807_973);
    }

    #[test]
    fn scaling_reaches_both_ends_and_no_further() {
        for span in [0, 1, 2, 254, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            assert_eq!(scale(0, span), 0);
            assert_eq!(scale(u64::MAX, span), span);
            assert_eq!(wide_scale(u128::MAX, u128::from(span) << 64), u128::from(span) << 64);
        }
        assert_eq!(wide_scale(u128::MAX, u128::MAX), u128::MAX);
        assert_eq!(wide_scale(1 << 127, (1 << 100) - 1), 1 << 99, "the middle of a power of two");
        assert_eq!(scale(1 << 63, 9), 5, "the middle of ten values");
    }
}
