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

    /// The last picosecond by which at most `due` units have been offered, by bisection in 192 bits.
    /// Slow and plain; the fast path in `departures.rs` is checked against it.
    pub fn invert(&self, due: u128) -> u64 {
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

/// `a * b` as (high, low), for comparing.
fn mul_wide(a: u128, b: u64) -> (u128, u128) {
    let low = (a & u128::from(u64::MAX)) * u128::from(b);
    let high = (a >> 64) * u128::from(b) + (low >> 64);
    (high >> 64, (high << 64) | (low & u128::from(u64::MAX)))
}
