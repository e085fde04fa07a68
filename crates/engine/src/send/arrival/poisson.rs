//! Departures at the instants of a Poisson process, as many of them in each stretch of the load as depart evenly.
//!
//! Given how many events a Poisson process has in a time, they are that many independent uniform draws from it, in order
//! (Feller, An Introduction to Probability Theory, vol. 2, I.3); where the load rises, uniform in what is offered. So many
//! cannot be sorted at once: a stretch is cut into leaves of equal load with some hundred frames each. How many each leaf has
//! is drawn by halving: of n frames as many are in the left half as n fair coins show heads, which are the bits of n/64 random
//! numbers. All is whole numbers from a seed: any machine draws the same, from any frame on.

use crate::send::ramp;
use crate::send::stretch::{Stretch, mul_wide};
use netdyno_frame::chance::draw;

/// Frames of a leaf, at most on average, of half a thousand million or less in a stretch.
const LEAF: u64 = 512;
/// Halvings of a stretch, at most: its leaves take 8 MB.
const MOST_BITS: u32 = 20;

/// The departures of a schedule, stretch by stretch.
#[derive(Debug, PartialEq, Eq)]
pub struct Poisson {
    stretches: Box<[Leaves]>,
}

/// One stretch in leaves.
#[derive(Debug, PartialEq, Eq)]
struct Leaves {
    seed: u64,
    /// There are two to the power of so many.
    bits: u32,
    /// The number of the first frame of each leaf, counted over the schedule, and that behind the last.
    firsts: Box<[u64]>,
}

impl Poisson {
    /// Draws from `seed` for stretches with so many frames each.
    pub fn new(seed: u64, frames: impl Iterator<Item = u64>) -> Self {
        let mut first = 0;
        let leaves = |(number, frames): (u64, u64)| {
            let bits = frames.div_ceil(LEAF).next_power_of_two().ilog2().min(MOST_BITS);
            let seed = draw(seed, number);
            let mut firsts = Vec::with_capacity((1 << bits) + 1);
            split(seed, 1, frames, bits, &mut |count| {
                firsts.push(first);
                first += count;
            });
            firsts.push(first);
            Leaves {
                seed,
                bits,
                firsts: firsts.into(),
            }
        };
        Self {
            stretches: (0..).zip(frames).map(leaves).collect(),
        }
    }

    /// When frame `number` departs; `None` if there are not so many.
    pub fn departure_ps(&self, stretches: &[Stretch], number: u64) -> Option<u64> {
        let mut draw = Draw::default();
        self.seek(&mut draw, number);
        self.next(&mut draw, stretches)
    }

    /// Goes to frame `number`, or behind the last.
    pub fn seek(&self, draw: &mut Draw, number: u64) {
        draw.stretch = self.stretches.partition_point(|leaves| leaves.end() <= number);
        let Some(leaves) = self.stretches.get(draw.stretch) else { return };
        draw.leaf = leaves.firsts.partition_point(|&first| first <= number) - 1;
        draw.at = (number - leaves.firsts[draw.leaf]) as usize;
        leaves.draw(draw.leaf, &mut draw.places);
    }

    /// The departure of the frame that `draw` is at, which then is at the next.
    #[inline]
    pub fn next(&self, draw: &mut Draw, stretches: &[Stretch]) -> Option<u64> {
        while draw.at >= draw.places.len() {
            let leaves = self.stretches.get(draw.stretch)?;
            draw.leaf += 1;
            if draw.leaf >> leaves.bits > 0 {
                (draw.stretch, draw.leaf) = (draw.stretch + 1, 0);
            }
            draw.at = 0;
            self.stretches.get(draw.stretch)?.draw(draw.leaf, &mut draw.places);
        }
        let place = draw.places[draw.at];
        draw.at += 1;
        Some(departure_ps(stretches.get(draw.stretch)?, place))
    }
}

impl Leaves {
    /// The number behind its last frame.
    fn end(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// Where the frames of leaf `leaf` are in the stretch, in parts of 2^64, in order.
    fn draw(&self, leaf: usize, places: &mut Vec<u64>) {
        let count = self.firsts[leaf + 1] - self.firsts[leaf];
        // Nodes have numbers as in a heap: those of leaves are behind those of all that are halved.
        let seed = draw(self.seed, (1 << self.bits) + leaf as u64);
        let begin = (leaf as u64).checked_shl(64 - self.bits).unwrap_or(0);
        places.clear();
        places.extend((0..count).map(|number| begin | (draw(seed, number) >> self.bits)));
        places.sort_unstable();
    }
}

/// Halves `frames` frames of node `node` again and again, `bits` times, and calls `leaf` with how many each leaf has.
fn split(seed: u64, node: u64, frames: u64, bits: u32, leaf: &mut impl FnMut(u64)) {
    if bits == 0 {
        leaf(frames);
        return;
    }
    let seed_of_node = draw(seed, node);
    let whole: u64 = (0..frames / 64).map(|word| u64::from(draw(seed_of_node, word).count_ones())).sum();
    let rest = draw(seed_of_node, frames / 64) & ((1 << (frames % 64)) - 1);
    let left = whole + u64::from(rest.count_ones());
    split(seed, 2 * node, left, bits - 1, leaf);
    split(seed, 2 * node + 1, frames - left, bits - 1, leaf);
}

/// The time at which `place` parts of 2^64 of what `stretch` offers have been offered, from the start of the schedule.
#[inline]
fn departure_ps(stretch: &Stretch, place: u64) -> u64 {
    let part = |of: u64| ((u128::from(of) * u128::from(place)) >> 64) as u64;
    if stretch.from == stretch.to {
        return stretch.start_ps + part(stretch.duration_ps);
    }
    let (high, low) = mul_wide(stretch.units(), place);
    stretch.start_ps + ramp::departure(stretch, (high << 64) | (low >> 64))
}

/// A place in the departures.
#[derive(Clone, Debug, Default)]
pub struct Draw {
    stretch: usize,
    leaf: usize,
    /// Places of the frames of the leaf, and the next of them.
    places: Vec<u64>,
    at: usize,
}
