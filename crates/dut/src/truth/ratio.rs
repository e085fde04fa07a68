//! Exact fractions of picoseconds.

/// Picoseconds in a second.
pub(crate) const SECOND: u128 = 1_000_000_000_000;

/// A positive fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    over: u128,
    under: u128,
}

impl Ratio {
    /// Returns the ratio in lowest terms, so that products stay far from 128 bits.
    pub(crate) fn new(over: u128, under: u128) -> Self {
        let (mut a, mut b) = (over, under);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self {
            over: over / a.max(1),
            under: under / a.max(1),
        }
    }

    pub(crate) fn floor(self) -> u128 {
        self.over / self.under
    }

    pub(crate) fn ceil(self) -> u128 {
        self.over.div_ceil(self.under)
    }

    /// `floor(self * count)`.
    pub(crate) fn times_floor(self, count: u128) -> u128 {
        self.over * count / self.under
    }

    /// `ceil(self * count)`.
    pub(crate) fn times_ceil(self, count: u128) -> u128 {
        (self.over * count).div_ceil(self.under)
    }

    /// `floor(whole / self)`: how often this fits.
    pub(crate) fn fits(self, whole: u128) -> u128 {
        whole * self.under / self.over
    }

    /// Returns the least count with `floor(self * count) >= whole`.
    pub(crate) fn reaches(self, whole: u128) -> u128 {
        (whole * self.under).div_ceil(self.over)
    }

    pub(crate) fn at_most(self, other: Self) -> bool {
        self.over * other.under <= other.over * self.under
    }

    /// Whether even `ceil(self)` is at most `other`.
    pub(crate) fn below(self, other: Self) -> bool {
        self.ceil() * other.under <= other.over
    }

    /// Returns numerator and denominator, in lowest terms.
    pub(crate) fn parts(self) -> (u128, u128) {
        (self.over, self.under)
    }

    /// Returns events per picosecond, scaled: `floor(scale / self)` and `ceil(scale / self)`.
    pub(crate) fn rate(self, scale: u128) -> (u128, u128) {
        (scale * self.under / self.over, (scale * self.under).div_ceil(self.over))
    }
}
