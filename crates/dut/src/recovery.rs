//! A port that has to recover from an overload: for some time after its queue was full it loses frames it has room for.

use crate::service::Server;
use crate::spec::Recovery;

/// What an overload left behind.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Picoseconds.
    lasts: u64,
    every: u64,
    /// It has recovered from here on.
    until: u64,
    /// Frames since the overload began.
    count: u64,
    /// Frames lost while recovering.
    pub(crate) drops: u64,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Taken in; served at this time.
    Served(u64),
    /// The queue was full.
    Full,
    /// Lost for an earlier one that found it full.
    LostRecovering,
}

impl Memory {
    /// `None` if it lasts longer than a day, or every 0th frame were to be lost.
    pub(crate) fn new(recovery: Recovery) -> Option<Self> {
        const DAY_NS: u64 = 86_400_000_000_000;
        (recovery.every > 0 && recovery.for_ns <= DAY_NS).then(|| Self {
            lasts: recovery.for_ns * 1000,
            every: recovery.every,
            until: 0,
            count: 0,
            drops: 0,
        })
    }

    /// A frame arrives in front of `server` at `t`.
    pub(crate) fn offer(&mut self, server: &mut Server, t: u64) -> Fate {
        let recovering = t < self.until;
        self.count = if recovering { self.count + 1 } else { 0 };
        if recovering && self.count.is_multiple_of(self.every) {
            self.drops += 1;
            return Fate::LostRecovering;
        }
        match server.admit(t) {
            Some(done) => Fate::Served(done),
            None => {
                self.until = t + self.lasts;
                Fate::Full
            }
        }
    }

    /// A reset: nothing is remembered.
    pub(crate) fn clear(&mut self) {
        (self.until, self.count) = (0, 0);
    }
}
