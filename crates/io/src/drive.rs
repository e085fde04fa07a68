//! Who calls whom, and when: the same nodes run in virtual and in real time.

use crate::port::PortError;
use crate::time::{Clock, Duration, Instant, sleep, thread_cpu_time};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// A thing that acts when told the time: a trial, an emulated device.
pub trait Node: Send {
    /// When it next has something to do by itself. Arrivals count. `None`: only if something comes in.
    fn next_wakeup(&self) -> Option<Instant>;
    /// Does everything that is due at or before `now`, in order of time, with exact times on what it sends.
    fn step(&mut self, now: Instant);
    /// Whether it has ended. A device never ends by itself.
    fn finished(&self) -> bool {
        false
    }
    /// Whether frames may come in before the next wake-up. In real time no port says when, so a node that
    /// listens is never put to sleep; one that does not may be.
    fn listening(&self) -> bool {
        true
    }
    /// Whether it waits for an instant that it must not be late for: while it sleeps until then, and until it says no again, its
    /// thread has a real-time priority, where that is allowed.
    fn is_urgent(&self) -> bool {
        false
    }
    /// How far virtual time may advance in the next round, if the node knows it may be further than the time it was given.
    fn stride(&self) -> Option<Duration> {
        None
    }
}

/// Rounds at the limit itself before `run_virtual` gives up on nodes that are never done with it.
const ROUNDS_AT_LIMIT: u32 = 100_000;

/// Runs `nodes` in virtual time until the first of them has finished, nothing more happens up to and
/// including `limit`, or `cancelled` says so (asked once a round). Returns the time reached.
///
/// Time advances by at least `quantum` a round, or the [stride](Node::stride) of the first node, so that nodes work in bursts,
/// and jumps over idle time to the earliest wake-up. Because frames carry exact times, no result depends on `quantum`,
/// as long as it is shorter than what any node takes to answer: a node handles what arrived by `now` in
/// order of arrival, and stamps what it sends itself.
pub fn run_virtual(
    nodes: &mut [&mut dyn Node],
    start: Instant,
    quantum: Duration,
    limit: Instant,
    cancelled: &dyn Fn() -> bool,
) -> Instant {
    let mut now = start;
    let mut rounds_left = ROUNDS_AT_LIMIT;
    while now <= limit && rounds_left > 0 && !cancelled() {
        for node in nodes.iter_mut() {
            node.step(now);
        }
        if nodes.first().is_none_or(|node| node.finished()) {
            break;
        }
        let wake = nodes.iter().filter_map(|node| node.next_wakeup()).min().unwrap_or(Instant::NEVER);
        if wake > limit || wake == Instant::NEVER {
            return limit;
        }
        rounds_left -= u32::from(now == limit);
        // What is due between the last quantum and the limit is still done: so the limit cuts off at the
        // same frame whatever the quantum.
        let stride = nodes.first().and_then(|node| node.stride()).unwrap_or(quantum);
        now.ps = wake.ps.max(now.ps.saturating_add(stride.ps)).min(limit.ps);
    }
    now
}

/// How a node was driven in real time. Its thread's health: a starved tester is no evidence against a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadHealth {
    /// Calls of `step`.
    pub rounds: u64,
    /// Longest time from one round to the next, or from the end of a deliberate sleep, planned, to the round after it.
    pub longest_gap: Duration,
    /// From the first round to the end.
    pub elapsed: Duration,
    /// Processor time the thread used.
    pub cpu_time: Duration,
    /// Time it slept on purpose.
    pub slept: Duration,
    /// The sum of all times from one round to the next, as in `longest_gap`, of over a millisecond.
    pub late: Duration,
}

impl ThreadHealth {
    /// Returns the share of the core the thread got while it wanted it: 1 when never interrupted; sleep is not wanted time.
    #[must_use]
    pub fn cpu_share(&self) -> f64 {
        let wanted = self.elapsed.ps.saturating_sub(self.slept.ps);
        if wanted == 0 {
            1.0
        } else {
            (self.cpu_time.ps as f64 / wanted as f64).min(1.0)
        }
    }
}

/// A node that does not listen sleeps if it is due later than this.
const WORTH_SLEEPING: Duration = Duration::from_ms(1);
/// How long before it is due it is woken: a sleep ends some 60 us late.
const WAKE_EARLY: Duration = Duration::from_us(200);
/// The longest sleep at a time, so that `stop` is seen.
const LONGEST_SLEEP: Duration = Duration::from_ms(20);

/// Runs `node` in real time on this thread until it has finished, `stop` is set or `limit` is reached.
///
/// Spins, since a wake-up by the kernel is far later than a frame may be; sleeps only while the node is
/// not listening and is due in more than a millisecond.
pub fn run_real(node: &mut dyn Node, clock: &Clock, stop: &AtomicBool, limit: Instant) -> ThreadHealth {
    drive(node, clock, stop, limit, &[])
}

/// A node that is due sooner is not put to sleep: a sleep ends some 60 us late.
const WORTH_WAITING: Duration = Duration::from_us(20);
/// A thread that begins its next round later than this was preempted.
const LATE: Duration = Duration::from_ms(1);
/// The longest wait for frames at a time: a preemption is noticed with this accuracy.
const LONGEST_WAIT: Duration = Duration::from_ms(1);

/// As [`run_real`], for a node whose frames all come in by `sockets`: sleeps until a frame comes or the node is due.
///
/// For a core that the node shares with the sender of the frames. Measured through a path of 10 Gbit/s on two shared cores: a round
/// trip takes 78 us in the median and 183 us in the 99th percentile, spinning 66 us and 5.5 ms. It takes 4 % of a core, not all.
pub fn run_waiting(node: &mut dyn Node, clock: &Clock, stop: &AtomicBool, limit: Instant, sockets: &[RawFd]) -> ThreadHealth {
    drive(node, clock, stop, limit, sockets)
}

/// Sleeps until a frame comes in by one of `sockets`, `length` at most.
fn wait_for_frames(sockets: &[RawFd], length: Duration) {
    let mut asked: Vec<libc::pollfd> = sockets
        .iter()
        .map(|&fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let timeout = libc::timespec {
        tv_sec: 0,
        tv_nsec: (length.ps / 1000).min(999_999_999) as i64,
    };
    // SAFETY: `asked` and `timeout` are valid for their lengths; without a mask no signal is blocked.
    unsafe {
        libc::ppoll(
            asked.as_mut_ptr(),
            asked.len() as libc::nfds_t,
            &raw const timeout,
            std::ptr::null(),
        )
    };
}

fn drive(node: &mut dyn Node, clock: &Clock, stop: &AtomicBool, limit: Instant, sockets: &[RawFd]) -> ThreadHealth {
    let cpu_before = thread_cpu_time();
    let first = clock.now();
    let mut health = ThreadHealth::default();
    let keeps_its_core = keeps_its_core();
    let mut is_first = false;
    let mut last = first;
    let mut now = first;
    while now < limit && !stop.load(Ordering::Relaxed) {
        let gap = now.saturating_since(last);
        health.longest_gap = health.longest_gap.max(gap);
        if gap > LATE {
            health.late += gap;
        }
        health.rounds += 1;
        last = now;
        node.step(now);
        if node.finished() {
            break;
        }
        if is_first && !node.is_urgent() {
            is_first = false;
            end_real_time();
        }
        let ahead = node.next_wakeup().unwrap_or(Instant::NEVER).min(limit).saturating_since(now);
        if ahead > WORTH_WAITING && !sockets.is_empty() {
            let length = ahead.min(LONGEST_WAIT);
            let asleep = clock.now();
            wait_for_frames(sockets, length);
            now = clock.now().max(last);
            let slept = now.saturating_since(asleep);
            // A sleep ends late as a rule; by more than this it had no core.
            let is_late = now.saturating_since(asleep + length) > LATE;
            health.slept += if is_late { length } else { slept };
            last = now.min(asleep + length);
        } else if ahead > WORTH_SLEEPING && !node.listening() {
            if !is_first && !keeps_its_core && node.is_urgent() {
                is_first = begin_real_time();
            }
            let length = (ahead - WAKE_EARLY).min(LONGEST_SLEEP);
            let asleep = clock.now();
            sleep(length);
            now = clock.now().max(last);
            health.slept += now.saturating_since(asleep);
            // Only waking later than planned is a gap.
            last = now.min(asleep + length);
        } else {
            // Who is late does not wait: the hint costs tens of nanoseconds.
            if keeps_its_core {
                std::thread::yield_now();
            } else if ahead > Duration::ZERO {
                std::hint::spin_loop();
            }
            now = clock.now().max(last);
        }
    }
    if is_first {
        end_real_time();
    }
    health.elapsed = clock.now().saturating_since(first);
    health.cpu_time = thread_cpu_time() - cpu_before;
    health
}

/// The priority of a thread that keeps a schedule: beside a thread of the usual one it has nine tenths of the core. Measured beside
/// a process that runs in turns of 100 ms: share of the core 0.74 without, 0.86 at -5, 0.94 at -10, 0.99 at -20; the longest gap
/// 8 ms without, 4 ms from -10 on. At -20 the kernel's own threads and the part of netdyno that hears Ctrl-C would hardly run.
const NICE: i32 = -10;

/// The cores this thread may run on, in order.
///
/// # Errors
/// If the system does not say.
pub fn available_cores() -> Result<Vec<usize>, PortError> {
    // SAFETY: an all-zero set is a valid, empty one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid for writes of its size; 0 is the calling thread.
    let answer = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    if answer != 0 {
        let source = std::io::Error::last_os_error();
        return Err(PortError::system(
            "asking which cores this thread may use (sched_getaffinity)",
            source,
        ));
    }
    let most = libc::CPU_SETSIZE as usize;
    // SAFETY: `core` is below CPU_SETSIZE, the number of bits in the set.
    Ok((0..most).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect())
}

/// Keeps this thread on one core.
///
/// # Errors
/// If the thread may not run there; the message lists where it may.
pub fn pin_to_core(core: usize) -> Result<(), PortError> {
    let available = available_cores()?;
    let refused = |source| {
        let what = format!("pinning a thread to core {core} (available: {available:?})");
        PortError::with_hint(
            what,
            source,
            Some("name one of the available cores, or none: the system then chooses"),
        )
    };
    if core >= libc::CPU_SETSIZE as usize {
        return Err(refused(std::io::Error::from_raw_os_error(libc::EINVAL)));
    }
    // SAFETY: an all-zero set is a valid, empty one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `core` is below CPU_SETSIZE, the number of bits in the set.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: `set` is valid for reads of its size; 0 is the calling thread.
    let answer = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    if answer == 0 {
        Ok(())
    } else {
        Err(refused(std::io::Error::last_os_error()))
    }
}

/// Whether no other thread of this one's priority runs on its core before it gives way (`chrt -f`, `chrt -r`): neither the far end
/// of a ring nor the part of netdyno that hears Ctrl-C.
fn keeps_its_core() -> bool {
    // SAFETY: takes and returns numbers; 0 is the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    matches!(policy & !libc::SCHED_RESET_ON_FORK, libc::SCHED_FIFO | libc::SCHED_RR)
}

/// Has this thread run before all that have no real-time priority. Whether that is allowed (`CAP_SYS_NICE`).
fn begin_real_time() -> bool {
    set_policy(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Gives the thread its usual priority back.
fn end_real_time() {
    set_policy(libc::SCHED_OTHER, 0);
}

fn set_policy(policy: i32, priority: i32) -> bool {
    // SAFETY: an all-zero value is a valid one; some systems have more in it than the priority.
    let mut wanted: libc::sched_param = unsafe { std::mem::zeroed() };
    wanted.sched_priority = priority;
    // SAFETY: `wanted` is valid for reads; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, policy, &raw const wanted) == 0 }
}

/// Has the scheduler prefer this thread to those without a priority of their own.
///
/// Left alone where somebody gave the process a priority, and where the process has no right to one (`CAP_SYS_NICE`).
pub fn prefer_this_thread() {
    // SAFETY: takes and returns numbers; 0 is the calling thread.
    if unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) } == 0 {
        // SAFETY: as above.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    }
}
