//! The OSPF neighbours of a router: it says hello on their interfaces, hears theirs, and notes which hellos it lost and where.
//!
//! Hellos are frames like others. Those of a neighbour pass what is in front of the switching point; the router's own leave
//! through the shaper and the queues of their interface. Nothing here is on the way of other frames, but where one is dropped.

use crate::flight::Flight;
use crate::pool::Pool;
use crate::spec::LostAt;
use crate::tags::Stack;
use netdyno_frame::hello::{Neighbour, is_to_routers};
use netdyno_frame::spec::Mac;
use std::net::Ipv4Addr;

/// Hellos that are noted as lost on one line, or at one input.
const MOST_LOST: usize = 100_000;

/// The neighbours of a router.
#[derive(Debug)]
pub(crate) struct Adjacencies {
    pub(crate) each: Vec<Adjacency>,
    /// When the hellos began and when they end; `u64::MAX`: they are not on.
    pub(crate) began: u64,
    pub(crate) until: u64,
    /// Lost at the switching point.
    pub(crate) lost: Vec<Lost>,
}

/// A neighbour on one interface.
#[derive(Debug)]
pub(crate) struct Adjacency {
    pub(crate) end: Neighbour,
    pub(crate) interface: usize,
    pub(crate) port: usize,
    pub(crate) tags: Stack,
    pub(crate) mac: Mac,
    pub(crate) address: Ipv4Addr,
}

/// A hello that was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) at: u64,
    /// The port that it came in on or was to leave by, and its tags there.
    pub(crate) port: usize,
    pub(crate) tags: Stack,
    pub(crate) place: LostAt,
}

/// Notes of lost hellos; `None` where nobody has a neighbour.
pub(crate) type Notes = Option<Box<Vec<Lost>>>;

/// Notes that `frame` was lost, if it is a hello.
#[cold]
pub(crate) fn note(notes: &mut Vec<Lost>, port: usize, at: u64, frame: &[u8], place: LostAt) {
    if !is_to_routers(frame) || notes.len() >= MOST_LOST {
        return;
    }
    if let Some(tags) = Stack::of(frame) {
        notes.push(Lost { at, port, tags, place });
    }
}

impl Adjacencies {
    /// `None` if there are none.
    pub(crate) fn new(each: Vec<Adjacency>) -> Option<Box<Self>> {
        let adjacencies = Self {
            each,
            began: u64::MAX,
            until: u64::MAX,
            lost: Vec::new(),
        };
        (!adjacencies.each.is_empty()).then(|| Box::new(adjacencies))
    }

    /// When a hello is due or a neighbour is given up next, all that comes until then being known.
    pub(crate) fn next(&self) -> u64 {
        let due = |one: &Adjacency| one.end.next_hello().min(one.end.expires().saturating_add(1));
        self.each.iter().map(due).min().unwrap_or(u64::MAX).min(self.until)
    }

    /// The number of a neighbour whose hello is due at `t`.
    pub(crate) fn due(&self, t: u64) -> Option<usize> {
        self.each.iter().position(|one| one.end.next_hello() <= t)
    }

    /// Its neighbours behind `port`, or all, are gone at `t`; it says nothing before `until`.
    pub(crate) fn kill(&mut self, port: Option<usize>, t: u64, until: u64) {
        let of_port = self.each.iter_mut().filter(|one| port.is_none_or(|port| one.port == port));
        of_port.for_each(|one| one.end.kill(t, until));
    }
}

/// Notes a frame that is lost in front of a line.
#[cold]
pub(crate) fn note_on_line(notes: &mut Notes, port: usize, flight: Flight, pool: &Pool, place: LostAt) {
    if let Some(notes) = notes {
        note(notes, port, flight.at, pool.frame(flight.frame), place);
    }
}
