//! Time, as every part of netdyno sees it: picoseconds since an arbitrary start.
//!
//! A byte takes 800 ps at 10 Gbit/s and 80 ps at 100 Gbit/s. In nanoseconds each stage of a path
//! would have to carry a remainder; in picoseconds every standard Ethernet rate is exact. A `u64`
//! of picoseconds lasts 213 days, which is longer than any run.

use std::ops::{Add, AddAssign, Sub};
use std::sync::OnceLock;

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

    /// `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self { ps: s * 1_000_000_000_000 }
    }

    /// Returns the time in seconds, for people; a result is never computed from it.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.ps as f64 / 1e12
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

impl AddAssign for Duration {
    fn add_assign(&mut self, by: Self) {
        self.ps += by.ps;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, less: Self) -> Self {
        Self { ps: self.ps - less.ps }
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        Duration { ps: self.ps - earlier.ps }
    }
}

/// A running clock: real time since it was started, read in a few nanoseconds.
///
/// Reads the processor's time stamp counter where that is invariant and the kernel itself keeps time by
/// it (so the cores agree), calibrated against `CLOCK_MONOTONIC_RAW`; else asks the kernel each time.
/// Copies read the same time, in any thread. It never goes back within a thread that stays on its core;
/// between cores it is as good as the kernel's own clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: Source,
    /// Counter ticks or nanoseconds when it was started.
    start: u64,
}

/// Where a [`Clock`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The time stamp counter; picoseconds a tick, as a multiple of 2^-32.
    Counter { ps_per_tick: u64 },
    /// `CLOCK_MONOTONIC_RAW`.
    Kernel,
}

impl Clock {
    /// Starts a clock at zero. The first in a process takes 50 ms to calibrate.
    #[must_use]
    pub fn start() -> Self {
        match calibrated() {
            Some(ps_per_tick) => Self {
                source: Source::Counter { ps_per_tick },
                start: ticks(),
            },
            None => Self::start_on_kernel(),
        }
    }

    fn start_on_kernel() -> Self {
        Self {
            source: Source::Kernel,
            start: read_ns(libc::CLOCK_MONOTONIC_RAW),
        }
    }

    /// Time since it was started.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Instant {
        match self.source {
            Source::Counter { ps_per_tick } => {
                let elapsed = u128::from(ticks().saturating_sub(self.start));
                Instant {
                    ps: ((elapsed * u128::from(ps_per_tick)) >> 32) as u64,
                }
            }
            Source::Kernel => Instant::from_ns(read_ns(libc::CLOCK_MONOTONIC_RAW).saturating_sub(self.start)),
        }
    }

    /// Time since it was started, read when every load before it in the program has been done: a processor may read
    /// its counter while it still waits for a line of memory, which the time is said to be later than.
    #[inline]
    #[must_use]
    pub fn now_after_loads(&self) -> Instant {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has the instruction, and it touches nothing.
        unsafe {
            core::arch::x86_64::_mm_lfence();
        }
        // The kernel's clock is read in order by itself (vdso).
        self.now()
    }

    /// Returns what the clock reads: `tsc` or `clock_monotonic_raw`.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self.source {
            Source::Counter { .. } => "tsc",
            Source::Kernel => "clock_monotonic_raw",
        }
    }

    /// Returns ticks of [`ticks`] in a second, to state costs in ticks per frame.
    #[must_use]
    pub fn ticks_per_second(&self) -> f64 {
        match self.source {
            Source::Counter { ps_per_tick } => 1e12 / (ps_per_tick as f64 / 4_294_967_296.0),
            Source::Kernel => 1e9,
        }
    }
}

/// The processor's time stamp counter; nanoseconds where there is none.
#[inline]
#[must_use]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the counter, and Linux lets processes read it.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    read_ns(libc::CLOCK_MONOTONIC_RAW)
}

/// Returns the processor time this thread has used. Against elapsed time it is the thread's share of its core.
#[must_use]
pub fn thread_cpu_time() -> Duration {
    Duration::from_ns(read_ns(libc::CLOCK_THREAD_CPUTIME_ID))
}

/// Waits about this long without using the processor; wakes some 60 us late, at times milliseconds.
#[allow(clippy::disallowed_methods)] // the one place that waits
pub fn sleep(length: Duration) {
    std::thread::sleep(std::time::Duration::from_nanos(length.ps / 1000));
}

/// `CLOCK_MONOTONIC_RAW` in nanoseconds: what every other clock here is held against.
pub(crate) fn kernel_ns() -> u64 {
    read_ns(libc::CLOCK_MONOTONIC_RAW)
}

fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes; the clocks used here exist on every Linux since 2.6.28.
    let answer = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(answer, 0, "clock_gettime({clock})");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The counter and the kernel's clock at the same moment, as nearly as can be had.
#[derive(Clone, Copy)]
struct Anchor {
    ticks: u64,
    ns: u64,
}

impl Anchor {
    /// The closest of 32 tries: one undisturbed reading takes some 50 ns, and its middle is taken.
    fn read() -> Self {
        let reading = || {
            let before = ticks();
            let ns = read_ns(libc::CLOCK_MONOTONIC_RAW);
            let width = ticks().saturating_sub(before);
            (
                width,
                Self {
                    ticks: before + width / 2,
                    ns,
                },
            )
        };
        (0..32)
            .map(|_| reading())
            .min_by_key(|(width, _)| *width)
            .expect("there were tries")
            .1
    }
}

/// Picoseconds a tick times 2^32, or `None` where the counter cannot be trusted.
///
/// Measured from the first call in this process until now, so later clocks are calibrated better:
/// about 1 ppm at first (50 ns in 50 ms), 1 ppb after a minute.
fn calibrated() -> Option<u64> {
    static FIRST: OnceLock<Option<Anchor>> = OnceLock::new();
    const SHORTEST: u64 = 50_000_000;
    let first = (*FIRST.get_or_init(|| counter_keeps_time().then(Anchor::read)))?;
    let mut now = Anchor::read();
    if now.ns - first.ns < SHORTEST {
        sleep(Duration::from_ns(SHORTEST - (now.ns - first.ns)));
        now = Anchor::read();
    }
    let ps = u128::from(now.ns - first.ns) * 1000;
    let ticks = u128::from(now.ticks.saturating_sub(first.ticks));
    u64::try_from((ps << 32).checked_div(ticks)?).ok()
}

/// Whether the counter runs at one rate in all states and the kernel has found the cores' counters to agree.
fn counter_keeps_time() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::__cpuid;
        // AMD APM volume 3 E.4.8 and Intel SDM volume 3 18.17.1: leaf 8000_0007h, EDX bit 8, TscInvariant.
        let invariant = __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
        let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        invariant && source.is_ok_and(|name| name.trim() == "tsc")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `clock` between two readings of the kernel's, which bound when it was read.
    fn between(clock: &Clock) -> (u64, Instant, u64) {
        let before = read_ns(libc::CLOCK_MONOTONIC_RAW);
        let now = clock.now();
        (before, now, read_ns(libc::CLOCK_MONOTONIC_RAW))
    }

    #[test]
    fn agrees_with_the_kernels_clock_to_50_ppm() {
        for clock in [Clock::start(), Clock::start_on_kernel()] {
            let (before_first, first, after_first) = between(&clock);
            sleep(Duration::from_ms(100));
            let (before_second, second, after_second) = between(&clock);
            let elapsed = (second - first).ps as f64 / 1000.0;
            let (least, most) = ((before_second - after_first) as f64, (after_second - before_first) as f64);
            assert!(
                elapsed >= least * (1.0 - 50e-6) && elapsed <= most * (1.0 + 50e-6),
                "{elapsed} ns of {least}..{most}"
            );
        }
    }

    #[test]
    fn never_goes_back() {
        let clock = Clock::start();
        let mut last = clock.now();
        for _ in 0..200_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn sleeping_takes_time_but_no_processor() {
        let (clock, cpu) = (Clock::start(), thread_cpu_time());
        sleep(Duration::from_ms(30));
        assert!(clock.now() >= Instant::from_ns(30_000_000 - 10_000));
        assert!((thread_cpu_time() - cpu) < Duration::from_ms(15));
    }
}
