//! Whether an impairment hits a frame, from a seed.
//!
//! The upper 64 bits of `draw * of` decide, and it is a hit if they are below `parts`.

use netdyno_frame::chance::draw;

/// Whether number `index` is hit, with chance `parts` in `of`.
#[inline]
pub(crate) fn hits(seed: u64, index: u64, parts: u64, of: u64) -> bool {
    ((u128::from(draw(seed, index)) * u128::from(of)) >> 64) < u128::from(parts)
}
