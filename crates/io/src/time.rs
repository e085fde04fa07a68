//! Time, as every part of netdyno sees it: picoseconds since an arbitrary start.
//!
//! A byte takes 800 ps at 10 Gbit/s and 80 ps at 100 Gbit/s. In nanoseconds each stage of a path
//! would have to carry a remainder; in picoseconds every standard Ethernet rate is exact. A `u64`
//! of picoseconds lasts 213 days, which is longer than any run.

use std::ops::{Add, AddAssign, Sub};

/// A point in time, in picoseconds since an arbitrary start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Picoseconds since the start of this run's clock.
    pub ps: u64,
}

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    /// Picoseconds.
    pub ps: u64,
}

impl Instant {
    /// The start of the clock.
    pub const ZERO: Self = Self { ps: 0 };
    /// A time that never comes.
    pub const NEVER: Self = Self { ps: u64::MAX };

    /// `ns` nanoseconds after the start.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self { ps: ns * 1000 }
    }

    /// Time since `earlier`, zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration {
            ps: self.ps.saturating_sub(earlier.ps),
        }
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self { ps: 0 };

    /// `ns` nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self { ps: ns * 1000 }
    }

    /// `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self { ps: us * 1_000_000 }
    }

    /// `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self { ps: ms * 1_000_000_000 }
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        Self { ps: self.ps + by.ps }
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, by: Duration) {
        self.ps += by.ps;
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        Duration { ps: self.ps - earlier.ps }
    }
}
