//! A trial as seen from another thread while it runs: plain counters, no locks.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Where a trial stands. Written by the trial, read by anyone.
#[derive(Debug)]
pub struct Progress {
    phases: Vec<String>,
    ports: Vec<(String, [AtomicU64; 4])>,
    phase: AtomicUsize,
    elapsed_ns: AtomicU64,
    total_ns: AtomicU64,
    cancelled: AtomicBool,
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
        }
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
