//! How the test frames that come in at a port are spaced: as they left by what they say themselves, and as they arrived.
//!
//! A calibration asks for it on the receiving port of a loopback. Nothing is stored but sums, so a trial may be of any
//! length; a lock is taken once a burst, which nobody else wants before the trial is over.

use netdyno_frame::probe;
use netdyno_io::claim::Claim;
use netdyno_io::looks::Span;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo};
use netdyno_io::time::{Clock, Instant};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// Spacing of the test frames of one port in one trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spacing {
    /// Test frames seen.
    pub frames: u64,
    /// By the departure that each frame carries: the burst it left in was handed over then.
    pub departures: Gaps,
    /// By the time the port found it.
    pub arrivals: Gaps,
}

/// Times of frames that follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    /// The earliest time, ps of the session's clock.
    pub first_ps: u64,
    /// The latest.
    pub last_ps: u64,
    /// Frames earlier than the one before them; their gap counts in nothing here.
    pub backwards: u64,
    /// Sum of the squares of the gaps, ps^2. Their sum is `last - first` unless the first frame was not the earliest.
    pub squares_ps2: u128,
    /// The longest gap, ps.
    pub longest_ps: u64,
    /// Groups of frames of the same time: they went, or were found, together.
    pub bursts: u64,
    /// Frames of the longest of them.
    pub longest_burst: u64,
    /// Frames of the one that is on.
    #[serde(skip)]
    running: u64,
}

impl Gaps {
    fn add(&mut self, at: u64) {
        if self.bursts == 0 {
            (self.first_ps, self.last_ps, self.bursts, self.running) = (at, at, 1, 1);
        } else if at == self.last_ps {
            self.running += 1;
        } else if let Some(gap) = at.checked_sub(self.last_ps) {
            self.squares_ps2 += u128::from(gap) * u128::from(gap);
            self.longest_ps = self.longest_ps.max(gap);
            (self.last_ps, self.running) = (at, 1);
            self.bursts += 1;
        } else {
            // Queues that two threads send to: the other's burst came first.
            self.first_ps = self.first_ps.min(at);
            self.backwards += 1;
            return;
        }
        self.longest_burst = self.longest_burst.max(self.running);
    }
}

/// What a [`Spaced`] port has seen, for whoever opened it.
pub type Seen = Arc<Mutex<Spacing>>;

/// A port that also notes how what it receives is spaced.
pub struct Spaced {
    port: Box<dyn Port>,
    seen: Seen,
    /// Where the probe was in the frame before.
    hint: u32,
}

impl Spaced {
    /// `port`, noted in the second.
    pub fn new(port: Box<dyn Port>) -> (Self, Seen) {
        let seen = Seen::default();
        let own = Arc::clone(&seen);
        (Self { port, seen: own, hint: 0 }, seen)
    }
}

impl Port for Spaced {
    fn info(&self) -> &PortInfo {
        self.port.info()
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        self.port.transmit(now, limit, fill)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let (seen, hint) = (&self.seen, &mut self.hint);
        self.port.receive(now, limit, &mut |burst| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            for index in 0..burst.len() {
                if let Some((found, _)) = probe::find(burst.frame(index), hint) {
                    seen.frames += 1;
                    seen.departures.add(found.departure_ps);
                    seen.arrivals.add(burst.slots()[index].at.ps);
                }
            }
            drop(seen);
            read(burst);
        })
    }

    fn ready(&mut self) -> Result<(), PortError> {
        self.port.ready()
    }

    fn full_spans(&self) -> &[Span] {
        self.port.full_spans()
    }

    fn next_arrival(&self) -> Option<Instant> {
        self.port.next_arrival()
    }

    fn claim(&mut self, claims: &[Claim]) -> Result<(), PortError> {
        self.port.claim(claims)
    }

    fn room_from(&self) -> Instant {
        self.port.room_from()
    }

    fn use_clock(&mut self, clock: Clock) {
        self.port.use_clock(clock);
    }

    fn time(&self, now: Instant) -> Instant {
        self.port.time(now)
    }

    fn peer(&self) -> Option<u32> {
        self.port.peer()
    }

    fn counters(&self) -> PortCounters {
        self.port.counters()
    }
}

/// Returns the spacing noted since the last call.
pub fn take(seen: &Seen) -> Spacing {
    std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_between_bursts_and_within_them_zero() {
        let mut gaps = Gaps::default();
        [10, 10, 10, 30, 9, 50, 50].into_iter().for_each(|at| gaps.add(at));
        let expected = Gaps {
            first_ps: 9,
            last_ps: 50,
            backwards: 1,
            squares_ps2: 20 * 20 * 2,
            longest_ps: 20,
            bursts: 3,
            longest_burst: 3,
            running: 2,
        };
        assert_eq!(gaps, expected);
    }
}
