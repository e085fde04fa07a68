//! A trial as seen from another thread while it runs: plain counters without locks, and intervals that have ended.

use crate::result::Interval;
use crate::spec::Begin;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, TryLockError};

/// Intervals that are kept for whoever looks seldom: of 10 ms those of more than half a second.
const MOST_INTERVALS: usize = 64;

/// Where a trial stands. Written by the trial, read by anyone.
#[derive(Debug)]
pub struct Progress {
    phases: Vec<String>,
    ports: Vec<(String, [AtomicU64; 4])>,
    phase: AtomicUsize,
    elapsed_ns: AtomicU64,
    total_ns: AtomicU64,
    cancelled: AtomicBool,
    begin: OnceLock<Begin>,
    /// Tried to lock by the trial once an interval.
    intervals: Mutex<VecDeque<IntervalSnapshot>>,
}

/// A snapshot of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The phase it is in: `resolve`, `settle`, a segment's name, `drain`, `done`.
    pub phase: String,
    /// Since its beginning.
    pub elapsed_ns: u64,
    /// What it will take in all, as far as known.
    pub total_ns: u64,
    /// Per tester port.
    pub ports: Vec<PortSnapshot>,
    /// The last intervals that ended, if the trial was asked for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<IntervalSnapshot>,
}

/// An interval of traffic that has ended, and what has arrived of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalSnapshot {
    /// From 0.
    pub number: u64,
    /// Per stream, in the order of the trial.
    pub streams: Vec<StreamSnapshot>,
}

/// A stream in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamSnapshot {
    /// Frames sent.
    pub sent: u64,
    /// Frames that arrived of those.
    pub received: u64,
    /// By how much the latest one was sent late.
    pub late_ns: u64,
    /// Latency of those that arrived.
    pub latency: Interval,
}

/// Counters of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortSnapshot {
    /// Name.
    pub name: String,
    /// Frames sent.
    pub tx_frames: u64,
    /// Bytes sent, FCS counted.
    pub tx_bytes: u64,
    /// Frames received.
    pub rx_frames: u64,
    /// Bytes received, FCS counted.
    pub rx_bytes: u64,
}

impl Progress {
    /// Of a trial with these phases and ports.
    #[must_use]
    pub fn new(phases: Vec<String>, ports: Vec<String>, total_ns: u64) -> Self {
        Self {
            phases,
            ports: ports.into_iter().map(|name| (name, Default::default())).collect(),
            phase: AtomicUsize::new(0),
            elapsed_ns: AtomicU64::new(0),
            total_ns: AtomicU64::new(total_ns),
            cancelled: AtomicBool::new(false),
            begin: OnceLock::new(),
            intervals: Mutex::default(),
        }
    }

    /// Asks the trial to end in order: stop, drain, read.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Tells a trial that waits when its traffic begins. Only the first word counts.
    pub fn begin(&self, begin: Begin) {
        let _ = self.begin.set(begin);
    }

    /// When traffic is to begin, once that is known.
    pub(super) fn begin_at(&self) -> Option<&Begin> {
        self.begin.get()
    }

    /// Where it stands now. Counters of one port may be a round apart from each other.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.phases.get(self.phase.load(Ordering::Relaxed)).cloned().unwrap_or_default(),
            elapsed_ns: self.elapsed_ns.load(Ordering::Relaxed),
            total_ns: self.total_ns.load(Ordering::Relaxed),
            ports: self
                .ports
                .iter()
                .map(|(name, counters)| {
                    let [tx_frames, tx_bytes, rx_frames, rx_bytes] = counters.each_ref().map(|it| it.load(Ordering::Relaxed));
                    PortSnapshot {
                        name: name.clone(),
                        tx_frames,
                        tx_bytes,
                        rx_frames,
                        rx_bytes,
                    }
                })
                .collect(),
            intervals: self
                .intervals
                .lock()
                .map_or_else(|_| Vec::new(), |known| known.iter().cloned().collect()),
        }
    }

    /// Adds an interval; false if a reader holds the lock, since a trial never waits.
    pub(super) fn note(&self, interval: IntervalSnapshot) -> bool {
        let mut known = match self.intervals.try_lock() {
            Ok(known) => known,
            Err(TryLockError::Poisoned(known)) => known.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        while known.len() >= MOST_INTERVALS {
            known.pop_front();
        }
        known.push_back(interval);
        true
    }

    pub(super) fn at(&self, phase: usize, elapsed_ns: u64) {
        self.phase.store(phase, Ordering::Relaxed);
        self.elapsed_ns.store(elapsed_ns, Ordering::Relaxed);
    }

    pub(super) fn expect(&self, total_ns: u64) {
        self.total_ns.store(total_ns, Ordering::Relaxed);
    }

    pub(super) fn port(&self, index: usize, counters: [u64; 4]) {
        for (cell, value) in self.ports[index].1.iter().zip(counters) {
            cell.store(value, Ordering::Relaxed);
        }
    }
}
