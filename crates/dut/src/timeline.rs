//! The events of a device still to come, and what past ones still do to it: links that are down, a reset under way.

use crate::spec::EventKind;
use std::collections::VecDeque;

/// What is to happen, and what has happened and lasts.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// In order of time.
    pub(crate) to_come: VecDeque<(u64, What)>,
    /// When the first of them happens.
    pub(crate) next: u64,
    /// How long a reset lasts, picoseconds.
    pub(crate) reset: u64,
    /// Until when the device does nothing.
    pub(crate) off_until: u64,
    pub(crate) down: Vec<bool>,
    /// Ports by which nothing leaves, though their links are up.
    pub(crate) mute: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// To one port, or to all.
    Event(EventKind, Option<usize>),
    /// The device has come back from a reset.
    Back,
}

impl Timeline {
    pub(crate) fn new(ports: usize, reset_ps: u64) -> Self {
        Self {
            to_come: VecDeque::new(),
            next: u64::MAX,
            reset: reset_ps,
            off_until: 0,
            down: vec![false; ports],
            mute: vec![false; ports],
        }
    }

    /// Whether what comes in on a port is lost.
    #[inline]
    pub(crate) fn is_deaf(&self, port: usize) -> bool {
        self.off_until > 0 || self.down[port]
    }

    /// Whether what leaves by it is.
    #[inline]
    pub(crate) fn is_down(&self, port: usize) -> bool {
        self.down[port] || self.mute[port]
    }

    pub(crate) fn put(&mut self, at: u64, what: What) {
        let place = self.to_come.partition_point(|other| other.0 <= at);
        self.to_come.insert(place, (at, what));
        self.next = self.to_come[0].0;
    }
}
