//! Who calls whom, and when: the same nodes run in virtual and in real time.

use crate::time::{Duration, Instant};

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
}

/// Runs `nodes` in virtual time until the first of them has finished or `limit` is reached.
///
/// Time advances by at least `quantum` a round, so that nodes work in bursts, and jumps over idle
/// time to the earliest wake-up. Because frames carry exact times, no result depends on `quantum`:
/// a node handles what arrived by `now` in order of arrival, and stamps what it sends itself.
pub fn run_virtual(
    nodes: &mut [&mut dyn Node],
    start: Instant,
    quantum: Duration,
    limit: Instant,
    cancelled: &dyn Fn() -> bool,
) -> Instant {
    let mut now = start;
    while now <= limit && !cancelled() {
        for node in nodes.iter_mut() {
            node.step(now);
        }
        if nodes[0].finished() {
            break;
        }
        let wake = nodes.iter().filter_map(|node| node.next_wakeup()).min().unwrap_or(Instant::NEVER);
        now = Instant {
            ps: wake.ps.max(now.ps.saturating_add(quantum.ps)),
        };
    }
    now
}
