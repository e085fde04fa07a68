//! What the machine does to whoever measures on it: time taken away, clocks that disagree, lines that travel.
//!
//! Nothing here is on the path of a frame. A calibration asks before and after it measures, so that a figure can be distinguished
//! from the state the machine was in: the host of a virtual machine moves its processors about, and what lies between
//! two of them is ten times as far a minute later, with nothing inside to see it by.

use crate::drive::pin_to_core;
use crate::port::PortError;
use crate::time::{Clock, Duration, Instant, kernel_ns, thread_cpu_time};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A pause that is not the work of the loop itself: reading the clock takes some 20 ns.
const PAUSE: Duration = Duration::from_us(10);
/// A pause long enough to fill a queue.
const LONG_PAUSE: Duration = Duration::from_ms(1);
/// Nobody watches a core for longer than an hour.
const LONGEST_S: f64 = 3600.0;
/// Two cores that do not answer each other for this long are given up on.
const PATIENCE: Duration = Duration::from_secs(2);

/// What one core was like to a loop that only read the clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The core.
    pub core: usize,
    /// How long it was watched.
    pub elapsed_ns: u64,
    /// The longest time between two readings.
    pub longest_gap_ns: u64,
    /// Pauses of at least 10 us, how many and how long together.
    pub pauses: u64,
    /// Their sum.
    pub paused_ns: u64,
    /// Pauses of at least 1 ms.
    pub long_pauses: u64,
    /// Share of the core the thread had, in parts per million.
    pub core_share_ppm: u32,
    /// What the clock reads: `tsc` or `clock_monotonic_raw`.
    pub clock: String,
    /// Its ticks in a second, rounded.
    pub ticks_per_second: u64,
    /// The least step between two readings that differ, ps.
    pub resolution_ps: u64,
    /// What one reading costs, ns.
    pub read_ns: f64,
    /// Readings that were earlier than the one before.
    pub backwards: u64,
    /// How much faster it ran than `CLOCK_MONOTONIC_RAW` meanwhile, in parts per million.
    pub drift_ppm: f64,
    /// How exactly that is known: both clocks cannot be read at the same moment.
    pub drift_within_ppm: f64,
}

/// The NUMA node of `cores`; `None` if it is unknown, they are on several, or there are none.
#[must_use]
pub fn numa_node(cores: &[usize]) -> Option<u32> {
    let node = |core: &usize| {
        let entries = std::fs::read_dir(format!("/sys/devices/system/cpu/cpu{core}")).ok()?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter_map(|name| name.strip_prefix("node")?.parse().ok()).next()
    };
    let mut nodes = cores.iter().map(node);
    let first = nodes.next()??;
    nodes.all(|node| node == Some(first)).then_some(first)
}

/// Spins on `core` for `seconds` and returns the interruptions seen.
///
/// # Errors
/// If the thread may not run there or cannot be started.
pub fn watch(core: usize, seconds: f64) -> Result<Watch, PortError> {
    // Not a number and below zero are no time at all; the cast holds at the longest there is.
    let length = Duration {
        ps: (seconds.clamp(0.0, LONGEST_S) * 1e12) as u64,
    };
    on_its_own("netdyno-watch", move || {
        pin_to_core(core)?;
        Ok(watch_here(core, length))
    })
}

fn watch_here(core: usize, length: Duration) -> Watch {
    let clock = Clock::start();
    let mut found = Watch {
        core,
        clock: clock.source().to_owned(),
        ticks_per_second: clock.ticks_per_second().round() as u64,
        read_ns: read_ns(&clock),
        ..Watch::default()
    };
    let (from, cpu) = (Paired::read(&clock), thread_cpu_time());
    let first = clock.now();
    let (end, mut last, mut resolution) = (first + length, first, Duration { ps: u64::MAX });
    while last < end {
        let now = clock.now();
        if now < last {
            found.backwards += 1;
        } else if now > last {
            let step = now - last;
            resolution = resolution.min(step);
            found.longest_gap_ns = found.longest_gap_ns.max(step.ps / 1000);
            if step >= PAUSE {
                found.pauses += 1;
                found.paused_ns += step.ps / 1000;
                found.long_pauses += u64::from(step >= LONG_PAUSE);
            }
        }
        last = now;
    }
    let (to, cpu) = (Paired::read(&clock), thread_cpu_time() - cpu);
    found.elapsed_ns = last.saturating_since(first).ps / 1000;
    found.core_share_ppm = ((u128::from(cpu.ps) * 1_000_000 / u128::from((to.own - from.own).ps.max(1))) as u32).min(1_000_000);
    found.resolution_ps = resolution.ps;
    (found.drift_ppm, found.drift_within_ppm) = from.drift_to(&to);
    found
}

/// What one reading of `clock` costs: the least of several rounds, each of many readings.
fn read_ns(clock: &Clock) -> f64 {
    const READINGS: u64 = 1000;
    let round = || {
        let before = clock.now();
        (1..READINGS).for_each(|_| _ = std::hint::black_box(clock.now()));
        clock.now().saturating_since(before).ps
    };
    let least = (0..8).map(|_| round()).min().unwrap_or(0);
    least as f64 / 1000.0 / READINGS as f64
}

/// A clock and the kernel's raw one at the same moment, as nearly as can be had.
#[derive(Clone, Copy, Debug)]
struct Paired {
    own: Instant,
    /// The kernel's clock before and after it was read.
    kernel_ns: [u64; 2],
}

impl Paired {
    /// The closest of 32 tries.
    fn read(clock: &Clock) -> Self {
        let reading = || {
            let before = kernel_ns();
            let own = clock.now();
            Self {
                own,
                kernel_ns: [before, kernel_ns()],
            }
        };
        let tries = (0..32).map(|_| reading());
        tries.min_by_key(Self::width).expect("there were tries")
    }

    fn width(&self) -> u64 {
        self.kernel_ns[1] - self.kernel_ns[0]
    }

    /// How much faster the clock ran than the kernel's from here to `later`, and within what, in parts per million.
    fn drift_to(&self, later: &Self) -> (f64, f64) {
        let middle = |it: &Self| (it.kernel_ns[0] + it.kernel_ns[1]) as f64 / 2.0;
        let kernel = middle(later) - middle(self);
        if kernel <= 0.0 {
            return (0.0, f64::INFINITY);
        }
        let own = later.own.saturating_since(self.own).ps as f64 / 1000.0;
        let within = (self.width() + later.width()) as f64 / 2.0;
        ((own / kernel - 1.0) * 1e6, within / kernel * 1e6)
    }
}

/// What lies between two cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounce {
    /// The cores.
    pub cores: [usize; 2],
    /// Round trips made.
    pub rounds: u64,
    /// One way, half a round trip: the least, the median and the 99th percentile, ns.
    pub min_ns: f64,
    /// The median.
    pub median_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
    /// How far the second core's clock is ahead of the first one's, at least and at most, ns: what it said lies between
    /// the question and the answer in every round. At least above at most: they do not run alike.
    pub offset_low_ns: f64,
    /// At most.
    pub offset_high_ns: f64,
}

/// A cache line alone; two, since neighbours are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line {
    number: AtomicU64,
    /// When the number before was seen, on the clock of the one that answers, ps.
    seen_ps: AtomicU64,
}

/// Sends a cache line to and fro between two cores, `rounds` times.
///
/// # Errors
/// If they are the same core, a thread may not run on one of them, or one does not answer.
pub fn bounce(cores: [usize; 2], rounds: u32) -> Result<Bounce, PortError> {
    if cores[0] == cores[1] {
        return Err(PortError::Unfit {
            port: "bounce".to_owned(),
            why: format!("core {} cannot be its own partner: name two cores", cores[0]),
        });
    }
    let clock = Clock::start();
    let (ask, answer, over) = (Line::default(), Line::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let far = scope.spawn(|| {
            let pinned = pin_to_core(cores[1]);
            if pinned.is_err() {
                over.store(true, Ordering::Release);
            }
            pinned.map(|()| echo(&ask, &answer, &over, &clock))
        });
        let near = scope.spawn(|| {
            let pinned = pin_to_core(cores[0]);
            let trips = pinned.map(|()| question(&ask, &answer, &over, &clock, rounds));
            over.store(true, Ordering::Release);
            trips
        });
        let trips = near.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        far.join().unwrap_or(Ok(()))?;
        summary(cores, &trips)
    })
}

/// When the question went out, when the other saw it by its clock, when the answer came.
type Trip = (Instant, Instant, Instant);

fn echo(ask: &Line, answer: &Line, over: &AtomicBool, clock: &Clock) {
    let mut expected = 1;
    while !over.load(Ordering::Relaxed) {
        // Acquire keeps the compiler from reading the time before, the fence the processor.
        if ask.number.load(Ordering::Acquire) == expected {
            answer.seen_ps.store(clock.now_after_loads().ps, Ordering::Relaxed);
            answer.number.store(expected, Ordering::Release);
            expected += 1;
        }
        std::hint::spin_loop();
    }
}

fn question(ask: &Line, answer: &Line, over: &AtomicBool, clock: &Clock, rounds: u32) -> Vec<Trip> {
    let mut trips = Vec::with_capacity(rounds as usize);
    for number in 1..=u64::from(rounds) {
        let out = clock.now();
        ask.number.store(number, Ordering::Release);
        let mut spins = 0u32;
        while answer.number.load(Ordering::Acquire) != number {
            std::hint::spin_loop();
            spins = spins.wrapping_add(1);
            // The clock is not read each time: that would be part of what is measured.
            if spins.is_multiple_of(1 << 16) && (over.load(Ordering::Relaxed) || clock.now().saturating_since(out) > PATIENCE) {
                return trips;
            }
        }
        let back = clock.now_after_loads();
        let seen = Instant {
            ps: answer.seen_ps.load(Ordering::Relaxed),
        };
        trips.push((out, seen, back));
    }
    trips
}

fn summary(cores: [usize; 2], trips: &[Trip]) -> Result<Bounce, PortError> {
    let mut ways: Vec<u64> = trips.iter().map(|(out, _, back)| back.saturating_since(*out).ps / 2).collect();
    ways.sort_unstable();
    let Some(last) = ways.len().checked_sub(1) else {
        return Err(PortError::Unfit {
            port: "bounce".to_owned(),
            why: format!(
                "core {} did not answer core {} within {} s",
                cores[1],
                cores[0],
                PATIENCE.as_secs_f64()
            ),
        });
    };
    let ns = |ps: u64| ps as f64 / 1000.0;
    let apart = |a: Instant, b: Instant| (a.ps as f64 - b.ps as f64) / 1000.0;
    Ok(Bounce {
        cores,
        rounds: trips.len() as u64,
        min_ns: ns(ways[0]),
        median_ns: ns(ways[last / 2]),
        p99_ns: ns(ways[last * 99 / 100]),
        offset_low_ns: trips
            .iter()
            .map(|(_, seen, back)| apart(*seen, *back))
            .fold(f64::NEG_INFINITY, f64::max),
        offset_high_ns: trips.iter().map(|(out, seen, _)| apart(*seen, *out)).fold(f64::INFINITY, f64::min),
    })
}

/// Runs `work` on a thread of its own: pinning the caller's would outlast the question.
fn on_its_own<T: Send>(name: &str, work: impl FnOnce() -> Result<T, PortError> + Send) -> Result<T, PortError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work);
        let thread = thread.map_err(|source| PortError::system(format!("starting the thread {name}"), source))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::available_cores;

    #[test]
    fn numa_node_of_no_or_unknown_cores_is_none() {
        let cores = available_cores().expect("the system says");
        assert_eq!(numa_node(&[]), None);
        assert_eq!(numa_node(&[usize::MAX]), None);
        assert_eq!(numa_node(&[cores[0], usize::MAX]), None);
        assert_eq!(numa_node(&[cores[0], cores[0]]), numa_node(&cores[..1]));
    }

    #[test]
    fn a_watch_says_what_it_saw() {
        let core = available_cores().expect("the system says")[0];
        let seen = watch(core, 0.1).expect("an available core");
        assert!(seen.elapsed_ns >= 100_000_000);
        assert!(seen.longest_gap_ns > 0 && seen.longest_gap_ns <= seen.elapsed_ns);
        assert!(seen.paused_ns <= seen.elapsed_ns && seen.long_pauses <= seen.pauses);
        assert!(seen.pauses == 0 || seen.longest_gap_ns >= 10_000);
        assert!(seen.resolution_ps > 0 && seen.read_ns > 0.0 && seen.core_share_ppm > 0);
        assert_eq!(seen.backwards, 0);
        // The clock was calibrated against the very clock it is compared with: to 50 ppm at worst (see time.rs).
        assert!(seen.drift_ppm.abs() <= 50.0 + seen.drift_within_ppm, "{seen:?}");
    }

    #[test]
    fn two_cores_answer_each_other() {
        let cores = available_cores().expect("the system says");
        let &[first, second, ..] = &cores[..] else {
            eprintln!("skipped: this machine has one core");
            return;
        };
        let found = bounce([first, second], 2000).expect("both are available");
        assert!((1..=2000).contains(&found.rounds));
        assert!(
            0.0 < found.min_ns && found.min_ns <= found.median_ns && found.median_ns <= found.p99_ns,
            "{found:?}"
        );
        // In every round the bounds are a round trip apart, so together no more than the shortest. All are rounded.
        assert!(found.offset_high_ns - found.offset_low_ns <= 2.0 * found.min_ns + 0.1, "{found:?}");
        // And they do not cross by more than the steps of a coarse counter: they did, by up to 200 ns, when the counter
        // was read before the other's line had come (see `now_after_loads`).
        assert!(found.offset_low_ns <= found.offset_high_ns + 50.0, "{found:?}");
    }

    #[test]
    fn a_core_does_not_answer_itself_and_a_missing_one_is_named() {
        let core = available_cores().expect("the system says")[0];
        let alone = bounce([core, core], 10).expect_err("one core");
        assert!(alone.to_string().contains("its own partner"), "{alone}");
        let missing = bounce([core, 4000], 10).expect_err("no such core");
        assert!(missing.to_string().contains("core 4000"), "{missing}");
        assert!(watch(4000, 0.001).is_err());
    }
}
