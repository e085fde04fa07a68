//! Mixes of frame sizes: the named ones, and the order in which sizes are sent.
//!
//! "IMIX" is not one thing; a mix is named together with who used it, and its exact sizes are printed.

/// A mix with a name. Sizes count the FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Its name in a plan.
    pub name: &'static str,
    /// Size in bytes (FCS counted) and weight.
    pub parts: &'static [(u32, u32)],
    /// Whose mix it is.
    pub source: &'static str,
}

/// The named mixes.
pub const MIXES: &[Mix] = &[
    Mix {
        name: "imix/trex",
        parts: &[(64, 28), (594, 16), (1518, 4)],
        source: "T-Rex stl/imix.py: 60, 590, 1514 and FCS",
    },
    Mix {
        name: "imix/bench",
        parts: &[(68, 28), (590, 16), (1514, 4)],
        source: "T-Rex stl/bench.py size=imix",
    },
    Mix {
        name: "imix/csit",
        parts: &[(64, 28), (570, 16), (1518, 4)],
        source: "FD.io CSIT IMIX",
    },
];

/// The mix called `name`.
#[must_use]
pub fn named(name: &str) -> Option<&'static Mix> {
    MIXES.iter().find(|mix| mix.name == name)
}

impl Mix {
    /// Bytes of one cycle and frames of one cycle: their ratio is the average size, exactly.
    #[must_use]
    pub fn totals(&self) -> (u64, u64) {
        totals(self.parts)
    }

    /// The average size in bytes, FCS counted.
    #[must_use]
    pub fn average(&self) -> f64 {
        let (bytes, frames) = self.totals();
        bytes as f64 / frames as f64
    }
}

/// Bytes and frames of one cycle of `parts` (size, weight).
#[must_use]
pub fn totals(parts: &[(u32, u32)]) -> (u64, u64) {
    parts.iter().fold((0, 0), |(bytes, frames), &(size, weight)| {
        (bytes + u64::from(size) * u64::from(weight), frames + u64::from(weight))
    })
}

/// The longest cycle [`order`] makes.
pub const LONGEST_CYCLE: u64 = 1 << 20;
/// The most sizes of a mix.
pub const MOST_SIZES: usize = 4096;
/// Frames of a cycle times sizes: with 256 sizes and fewer the cycle may be the longest.
const MOST_WORK: u64 = LONGEST_CYCLE * 256;

/// The order in which sizes are sent: indices into `weights`, one cycle.
///
/// Weights are exact over a cycle (whose length is their sum, reduced by their greatest common divisor) and
/// every size is spread as evenly as it can be (smooth weighted round robin: in any stretch of a cycle a size
/// is less than one frame away from its share, for two sizes; a few for many). A weight of 0 is never sent.
/// Empty if all weights are 0, there are more than [`MOST_SIZES`], or the cycle would be longer than [`LONGEST_CYCLE`] (with
/// many sizes: so long that it takes more than some tenths of a second to work out).
#[must_use]
pub fn order(weights: &[u32]) -> Vec<u16> {
    let divisor = weights.iter().fold(0, |a, &b| gcd(a, b));
    if divisor == 0 || weights.len() > MOST_SIZES {
        return Vec::new();
    }
    let weights: Vec<i64> = weights.iter().map(|weight| i64::from(weight / divisor)).collect();
    let cycle: i64 = weights.iter().sum();
    if cycle as u64 > LONGEST_CYCLE || cycle as u64 * weights.len() as u64 > MOST_WORK {
        return Vec::new();
    }
    let mut credit = vec![0i64; weights.len()];
    (0..cycle)
        .map(|_| {
            for (credit, weight) in credit.iter_mut().zip(&weights) {
                *credit += weight;
            }
            // The first of those with the most credit, so that the order does not depend on anything else.
            let mut chosen = 0;
            for index in 1..credit.len() {
                if credit[index] > credit[chosen] {
                    chosen = index;
                }
            }
            credit[chosen] -= cycle;
            chosen as u16
        })
        .collect()
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_the_published_ones() {
        // Frames and bytes of a cycle of 48; the averages are those that T-Rex and CSIT work out to with the FCS.
        let expected = [
            ("imix/trex", 17_368, "361.8333"),
            ("imix/bench", 17_400, "362.5000"),
            ("imix/csit", 16_984, "353.8333"),
        ];
        for (name, bytes, average) in expected {
            let mix = named(name).expect(name);
            assert_eq!(mix.totals(), (bytes, 48));
            assert_eq!(format!("{:.4}", mix.average()), average);
        }
        assert_eq!(named("imix"), None, "which one?");
    }

    #[test]
    fn weights_are_exact_and_reduced() {
        for weights in [&[28, 16, 4][..], &[7, 4, 1], &[1], &[5, 5], &[0, 3, 0, 6], &[1, 1000], &[58, 33, 9]] {
            let order = order(weights);
            let divisor = weights.iter().fold(0, |a, &b| gcd(a, b));
            for (index, weight) in weights.iter().enumerate() {
                let sent = order.iter().filter(|chosen| usize::from(**chosen) == index).count();
                assert_eq!(sent, (weight / divisor) as usize, "{weights:?}");
            }
        }
        assert_eq!(order(&[28, 16, 4]), order(&[7, 4, 1]));
        assert_eq!(order(&[]), []);
        assert_eq!(order(&[0, 0]), []);
        assert_eq!(order(&[u32::MAX, 1]), [], "a cycle too long");
    }

    #[test]
    fn each_of_many_sizes_is_sent_as_often_as_it_weighs() {
        let mut sent = vec![0_u32; MOST_SIZES];
        let weights: Vec<u32> = (0..MOST_SIZES as u32).map(|size| 1 + size % 3).collect();
        order(&weights).into_iter().for_each(|size| sent[usize::from(size)] += 1);
        assert_eq!(sent, weights);
        assert_eq!(order(&vec![1; MOST_SIZES + 1]), []);
        assert_eq!(order(&(100..1100).collect::<Vec<_>>()), [], "1,000 sizes in a cycle of 599,500");
    }

    #[test]
    fn the_order_of_7_4_1_is_spread_evenly() {
        // Worked out by hand: the weight is added to each credit, the richest (of equals the first) is sent and pays 12:
        // 7 4 1 | 2 8 2 | 9 0 3 | 4 4 4 | -1 8 5 | 6 0 6 | 1 4 7 | 8 8 -4 | 3 12 -3 | 10 4 -2 | 5 8 -1 | 12 0 0
        assert_eq!(order(&[7, 4, 1]), [0, 1, 0, 0, 1, 0, 2, 0, 1, 0, 1, 0]);
        assert_eq!(order(&[3, 1]), [0, 0, 1, 0]);
    }

    #[test]
    fn no_size_runs_far_ahead_of_its_share() {
        for weights in [&[28u32, 16, 4][..], &[58, 33, 9], &[1, 1, 1, 1], &[900, 90, 9, 1]] {
            let order = order(weights);
            let total = f64::from(weights.iter().sum::<u32>());
            for (index, weight) in weights.iter().enumerate() {
                let mut sent = 0.0;
                for (place, chosen) in order.iter().enumerate() {
                    sent += f64::from(u8::from(usize::from(*chosen) == index));
                    let share = (place + 1) as f64 * f64::from(*weight) / total;
                    assert!(
                        (sent - share).abs() < weights.len() as f64 / 2.0,
                        "{weights:?}: {sent} of {share} after {place}"
                    );
                }
            }
        }
    }
}
