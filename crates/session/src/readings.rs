//! The counters of emulated devices at times of a trial in virtual time: what somebody who looks at them then would see.

use netdyno_dut::Device;
use netdyno_dut::spec::DeviceCounters;
use netdyno_io::time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// Readings of one trial, at most: the first ones, and the last one.
const MOST: usize = 20_000;

/// The counters of all devices at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// From the begin of traffic.
    pub at_ns: u64,
    /// In the order of the session.
    pub devices: Vec<DeviceCounters>,
}

/// Reads the devices at equal distances from the begin of traffic, and once at the end.
#[derive(Debug)]
pub(crate) struct Readings {
    every: Duration,
    next: Option<Instant>,
    found: Vec<Reading>,
    left_out: u64,
}

impl Readings {
    pub(crate) fn new(every_ns: u64) -> Self {
        Self {
            every: Duration {
                ps: every_ns.max(1).saturating_mul(1000),
            },
            next: None,
            found: Vec::new(),
            left_out: 0,
        }
    }

    /// When the devices are to be read next, once that is known. A round ends there. `None` when only the end is left.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// All devices have been stepped to `now`. `began`: when traffic did, once it has.
    pub(crate) fn after(&mut self, now: Instant, began: Option<Instant>, is_over: bool, devices: &[Device]) {
        let Some(began) = began.filter(|&began| began <= now) else {
            return;
        };
        let passed = now.saturating_since(began).ps;
        // The balance of a trial needs its last reading: there is always room for it.
        let has_room = self.found.len() < MOST - 1;
        let is_due = has_room && self.next.is_none_or(|next| next <= now);
        if is_due || is_over {
            self.left_out = if has_room { 0 } else { self.due_before(passed) };
            self.found.push(Reading {
                at_ns: passed / 1000,
                devices: devices.iter().map(Device::counters).collect(),
            });
        }
        if is_due {
            let next = (passed / self.every.ps + 1).saturating_mul(self.every.ps);
            self.next = (self.found.len() < MOST - 1).then_some(Instant {
                ps: began.ps.saturating_add(next),
            });
        }
    }

    /// How many readings are due between the last one and a time, ps from the begin of traffic, without those two.
    fn due_before(&self, passed: u64) -> u64 {
        let last = self.found.last().map_or(0, |one| one.at_ns.saturating_mul(1000));
        (passed.div_ceil(self.every.ps)).saturating_sub(last / self.every.ps + 1)
    }

    /// The readings, and how many that were due are not among them.
    pub(crate) fn take(self) -> (Vec<Reading>, u64) {
        (self.found, self.left_out)
    }
}
