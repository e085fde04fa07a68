//! One segment of a schedule: a load that is constant or linear in time, and its exact inverse.

/// Units of load in one bit.
pub const UNITS_PER_BIT: u64 = 2_000_000_000_000;

/// One segment in picoseconds, with where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub start_ps: u64,
    pub duration_ps: u64,
    pub from: u64,
    pub to: u64,
}

impl Stretch {
    /// Units of load offered by the whole stretch: the trapezium.
    pub fn units(&self) -> u128 {
        u128::from(self.from + self.to) * u128::from(self.duration_ps)
    }

    /// The load `t_ps` from the start of the schedule, of times before and behind the stretch that at its beginning and end.
    pub fn bps_at(&self, t_ps: u64) -> u64 {
        let into = u128::from(t_ps.saturating_sub(self.start_ps).min(self.duration_ps));
        let bend = (u128::from(self.from.abs_diff(self.to)) * into).checked_div(u128::from(self.duration_ps));
        let bend = bend.unwrap_or(0) as u64;
        if self.to >= self.from { self.from + bend } else { self.from - bend }
    }

    /// Units offered by `t` picoseconds into the stretch, rounded up: a frame has departed before `t`
    /// exactly if fewer than these were needed before it.
    pub fn units_by(&self, t: u64) -> u128 {
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

    /// The last picosecond by which at most `due` units have been offered. Of a constant load that is a division: who sends
    /// late asks for it of each stream, over and over.
    pub fn invert(&self, due: u128) -> u64 {
        if self.from == self.to {
            let even = due.checked_div(2 * u128::from(self.from));
            return even.map_or(self.duration_ps, |t| t.min(self.duration_ps.into()) as u64);
        }
        self.bisect(due)
    }

    /// As [`Self::invert`], by bisection in 192 bits. Slow and plain; the fast paths here and in `ramp.rs` are checked against it.
    pub(super) fn bisect(&self, due: u128) -> u64 {
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

/// `a * b` as (high, low).
pub fn mul_wide(a: u128, b: u64) -> (u128, u128) {
    let low = (a & u128::from(u64::MAX)) * u128::from(b);
    let high = (a >> 64) * u128::from(b) + (low >> 64);
    (high >> 64, (high << 64) | (low & u128::from(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any constant load, that of no frame and one beyond all that is offered included.
        #[test]
        fn a_constant_load_inverts_as_by_bisection(
            bps in prop_oneof![Just(0), 1_u64..=20, any::<u64>().prop_map(|bps| bps >> 8)],
            duration_ps in 0_u64..1 << 62,
            share in 0_u64..=1_001,
        ) {
            let stretch = Stretch { start_ps: 7, duration_ps, from: bps, to: bps };
            let due = stretch.units() / 1_000 * u128::from(share) + u128::from(share);
            prop_assert_eq!(stretch.invert(due), stretch.bisect(due));
        }
    }
}
