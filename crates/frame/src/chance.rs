//! Chance from a seed: what is drawn depends on the seed and a number alone.

/// Returns output `index` (from 0) of SplitMix64 (Steele, Lea, Flood 2014) seeded with `seed`.
#[inline]
#[must_use]
pub fn draw(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add((index.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation's first outputs for seed 1234567 (also in Rosetta Code and many test suites).
    #[test]
    fn splitmix64_is_the_published_one() {
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
        ];
        for (index, value) in published.into_iter().enumerate() {
            assert_eq!(draw(1_234_567, index as u64), value);
        }
    }
}
