//! The counters of emulated devices at times of a trial in virtual time: what somebody who looks at them then would see.

use netdyno_dut::Device;
use netdyno_dut::spec::DeviceCounters;
use netdyno_io::time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// Readings of one trial at most: of longer ones the later ones are missing.
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
}

impl Readings {
    pub(crate) fn new(every_ns: u64) -> Self {
        Self {
            every: Duration {
                ps: every_ns.max(1).saturating_mul(1000),
            },
            next: None,
            found: Vec::new(),
        }
    }

    /// When the devices are to be read next, once that is known. A round ends there.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// All devices have been stepped to `now`. `began`: when traffic did, once it has.
    pub(crate) fn after(&mut self, now: Instant, began: Option<Instant>, is_over: bool, devices: &[Device]) {
        let Some(began) = began.filter(|&began| began <= now) else {
            return;
        };
        let is_due = self.next.is_none_or(|next| next <= now);
        if (is_due || is_over) && self.found.len() < MOST {
            self.found.push(Reading {
                at_ns: now.saturating_since(began).ps / 1000,
                devices: devices.iter().map(Device::counters).collect(),
            });
        }
        if is_due {
            let passed = now.saturating_since(began).ps / self.every.ps;
            let next = (passed + 1).saturating_mul(self.every.ps);
            self.next = (self.found.len() < MOST).then_some(Instant {
                ps: began.ps.saturating_add(next),
            });
        }
    }

    pub(crate) fn take(self) -> Vec<Reading> {
        self.found
    }
}
