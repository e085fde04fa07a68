//! The times between one arrival of a stream and the next.

use super::latency::Timing;
use crate::result;

/// Times between arrivals, of one worker.
#[derive(Debug)]
pub struct Spacing {
    last_ps: Option<u64>,
    timing: Timing,
    /// Whether other workers received frames of the stream too: what came between is not known then.
    is_split: bool,
}

impl Spacing {
    /// Nothing has arrived.
    #[must_use]
    pub fn new() -> Self {
        Self {
            last_ps: None,
            timing: Timing::new(),
            is_split: false,
        }
    }

    /// A frame arrived.
    #[inline]
    pub fn record_arrival(&mut self, arrival_ps: u64) {
        if let Some(last_ps) = self.last_ps.replace(arrival_ps) {
            self.timing.record(last_ps, arrival_ps);
        }
    }

    /// Adds what another worker received.
    pub fn absorb(&mut self, other: &Self) {
        self.is_split |= other.is_split || self.last_ps.is_some() && other.last_ps.is_some();
        self.timing.absorb(&other.timing);
        self.last_ps = self.last_ps.or(other.last_ps);
    }

    /// Returns the times found, if they are all of them.
    #[must_use]
    pub fn finish(&self) -> Option<result::Latency> {
        self.timing.finish().filter(|_| !self.is_split)
    }
}
