//! Pauses of a line at fixed times, whether frames come or not: of a router whose processor is taken away.

use crate::chance::hits;
use crate::spec::{Fault, Impairment, When};

/// Windows looked at in one go, in search of the next that is hit.
const SEARCHED: u64 = 1 << 16;

/// A row of pauses.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    rhythm: Rhythm,
    /// Of each pause, picoseconds.
    length: u64,
    /// The next one to report.
    next: u64,
}

#[derive(Clone, Debug)]
enum Rhythm {
    /// Pause `n` begins at `first + n * every`.
    Period { first: u64, every: u64 },
    /// Window `n`, which begins at `n * window`, is hit or not.
    Window { window: u64, parts: u64, of: u64, seed: u64 },
}

impl Pauses {
    /// Returns the pauses of egress port `port`.
    pub(crate) fn of(all: &[Impairment], port: usize) -> Vec<Self> {
        let ours = all.iter().filter(|impairment| impairment.port.is_none_or(|at| at == port));
        ours.filter_map(|impairment| Self::new(impairment.fault, &impairment.when))
            .collect()
    }

    /// `None` if the fault is no pause, or comes with frames.
    pub(crate) fn new(fault: Fault, when: &When) -> Option<Self> {
        let Fault::Stall { for_ns } = fault else { return None };
        let rhythm = match *when {
            When::Period { every_ns, first_ns, .. } => Rhythm::Period {
                first: first_ns.saturating_mul(1000),
                every: every_ns.saturating_mul(1000),
            },
            When::Window { parts: 0, .. } => return None,
            When::Window {
                window_ns,
                parts,
                of,
                seed,
            } => Rhythm::Window {
                window: window_ns.saturating_mul(1000),
                parts,
                of,
                seed,
            },
            When::Every { .. } | When::Frames(_) | When::Chance { .. } | When::AfterIdle { .. } => return None,
        };
        Some(Self {
            rhythm,
            length: for_ns.saturating_mul(1000),
            next: 0,
        })
    }

    /// When the next pause begins, and how long it lasts. One of no length is none: only later is more known.
    pub(crate) fn next(&mut self) -> (u64, u64) {
        let from = self.next;
        match self.rhythm {
            Rhythm::Period { first, every } => {
                self.next += 1;
                (first.saturating_add(from.saturating_mul(every)), self.length)
            }
            Rhythm::Window { window, parts, of, seed } => {
                let searched = from..from.saturating_add(SEARCHED);
                let hit = searched.clone().find(|index| hits(seed, *index, parts, of));
                self.next = hit.map_or(searched.end, |index| index + 1);
                let at = hit.unwrap_or(searched.end).saturating_mul(window);
                (at, if hit.is_some() { self.length } else { 0 })
            }
        }
    }
}
