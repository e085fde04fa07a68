//! Hostile input for tests: mutations of what is right, guided by what the code makes of them, for a bounded time.
//!
//! A target says what it did with an input as a number, its *behaviour*: which branches it took, as far as the outside
//! can tell. An input of a new behaviour is kept and mutated further. This needs no instrumented build, so that the
//! targets are ordinary tests: `FUZZ_SECONDS` is how long each runs, `FUZZ_SEED` where the random numbers begin.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// Seconds a target runs if nobody says.
const SECONDS: u64 = 2;
/// Longest input, bytes: a jumbo frame and more.
const LONGEST: usize = 10_240;
/// Most inputs kept.
const MOST_KEPT: usize = 4096;
/// Inputs between two looks at the clock.
const BETWEEN_LOOKS: u64 = 64;

/// Random numbers by splitmix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Begins at `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }
}

/// Bytes that lengths, flags and counters break at.
const EDGES: [u8; 10] = [0x00, 0x01, 0x04, 0x05, 0x0f, 0x40, 0x45, 0x7f, 0x80, 0xff];

/// Changes `input` in one to four places; `other` is one to take pieces of.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let len = input.len();
        let at = random.below(len + 1).min(len.saturating_sub(1));
        match random.below(8) {
            0 if len > 0 => input[at] ^= 1 << random.below(8),
            1 if len > 0 => input[at] = EDGES[random.below(EDGES.len())],
            2 if len > 0 => input[at] = random.number() as u8,
            // A word by a little, as off-by-one lengths are.
            3 if at + 1 < len => {
                let word = u16::from_be_bytes([input[at], input[at + 1]]);
                let near = word.wrapping_add(random.below(17) as u16).wrapping_sub(8);
                input[at..at + 2].copy_from_slice(&near.to_be_bytes());
            }
            4 => input.truncate(at),
            5 if !other.is_empty() => {
                let from = random.below(other.len());
                let piece = &other[from..(from + 1 + random.below(40)).min(other.len())];
                let end = (at + piece.len()).min(input.len());
                input[at.min(end)..end].copy_from_slice(&piece[..end - at.min(end)]);
            }
            6 => {
                let piece: Vec<u8> = input[at.min(len)..(at + random.below(33)).min(len)].to_vec();
                let place = random.below(len + 1);
                input.splice(place..place, piece);
            }
            _ => input.extend((0..random.below(65)).map(|_| 0_u8)),
        }
        input.truncate(LONGEST);
    }
}

/// Gives `target` inputs made of `corpus` until its time is over; prints how many, and of how many behaviours.
///
/// # Panics
/// If the target does. The input is printed before: make it a test of its own.
pub fn fuzz(name: &str, corpus: &[Vec<u8>], mut target: impl FnMut(&[u8]) -> u64) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let time = Duration::from_secs(asked("FUZZ_SECONDS").unwrap_or(SECONDS));
    #[allow(clippy::disallowed_methods)] // a budget of a test; nothing under test reads it
    let begin = Instant::now();
    let go_on = |runs: u64| !runs.is_multiple_of(BETWEEN_LOOKS) || begin.elapsed() < time;
    explore(name, corpus, asked("FUZZ_SEED").unwrap_or(1), &mut target, go_on);
}

/// As [`fuzz`], from `seed`, while `go_on` says so of the number of inputs so far.
fn explore(name: &str, corpus: &[Vec<u8>], seed: u64, target: &mut dyn FnMut(&[u8]) -> u64, go_on: impl Fn(u64) -> bool) {
    let mut random = Random::new(seed);
    let mut kept: Vec<Vec<u8>> = corpus.to_vec();
    if kept.is_empty() {
        kept.push(Vec::new());
    }
    let (mut seen, mut runs) = (HashSet::new(), 0);
    let seeds = kept.len() as u64;
    while runs < seeds || go_on(runs) {
        // What is right comes first, as it is.
        let input = if runs < seeds {
            kept[runs as usize].clone()
        } else {
            let (one, other) = (random.below(kept.len()), random.below(kept.len()));
            let mut input = kept[one].clone();
            mutate(&mut input, &kept[other], &mut random);
            input
        };
        match catch_unwind(AssertUnwindSafe(|| target(&input))) {
            Ok(behaviour) => {
                if seen.insert(behaviour) && runs >= seeds && kept.len() < MOST_KEPT {
                    kept.push(input);
                }
            }
            Err(panic) => {
                let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
                println!("FUZZ {name}: input {runs} of seed {seed} fails, {} bytes: {hex}", input.len());
                resume_unwind(panic);
            }
        }
        runs += 1;
    }
    println!("FUZZ {name}: {runs} inputs of seed {seed}, {} behaviours", seen.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three bytes in a row that must be right, each known by a behaviour of its own: by chance alone one in 2^24.
    #[test]
    fn what_is_hidden_behind_three_checks_is_found() {
        let mut hidden = |input: &[u8]| {
            let right = input.iter().zip(b"\x81\x37\xdd").take_while(|(byte, right)| byte == right).count();
            assert!(right < 3, "found");
            right as u64
        };
        let mut search = || explore("hidden", &[vec![0; 3]], 1, &mut hidden, |runs| runs < 2_000_000);
        assert!(catch_unwind(AssertUnwindSafe(&mut search)).is_err());
    }
}
