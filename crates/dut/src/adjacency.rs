//! The OSPF neighbours of a router: it says hello on their interfaces, hears theirs, and notes which hellos it lost and where.
//!
//! Hellos are frames like others. Those of a neighbour pass what is in front of the switching point; the router's own leave
//! through the shaper and the queues of their interface. Nothing here is on the way of other frames, but where one is dropped.

use crate::device::{Device, Forwarder};
use crate::flight::Flight;
use crate::pool::Pool;
use crate::spec::{AdjacencyCounters, LostAt, LostHello};
use crate::tags::Stack;
use netdyno_frame::hello::{Change, Hello, Neighbour, NeighbourSpec, is_to_routers};
use netdyno_frame::spec::Mac;
use netdyno_io::time::Instant;
use std::net::Ipv4Addr;

/// Hellos that are noted as lost on one line, or at one input.
const MOST_LOST: usize = 100_000;

/// The neighbours of a router.
#[derive(Debug)]
pub(crate) struct Adjacencies {
    each: Vec<Adjacency>,
    /// When the hellos began and when they end; `u64::MAX`: they are not on.
    began: u64,
    until: u64,
    /// Lost at the switching point.
    lost: Vec<Lost>,
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
    at: u64,
    /// The port that it came in on or was to leave by, and its tags there.
    port: usize,
    tags: Stack,
    place: LostAt,
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
    fn due(&self, t: u64) -> Option<usize> {
        self.each.iter().position(|one| one.end.next_hello() <= t)
    }

    /// Its neighbours behind `port`, or all, are gone at `t`; it says nothing before `until`.
    pub(crate) fn kill(&mut self, port: Option<usize>, t: u64, until: u64) {
        let of_port = self.each.iter_mut().filter(|one| port.is_none_or(|port| one.port == port));
        of_port.for_each(|one| one.end.kill(t, until));
    }
}

impl Device {
    /// The neighbours were all heard at `begin`; hellos are said and heard, and what comes of them is noted, until `end`.
    pub fn begin_adjacencies(&mut self, begin: Instant, end: Instant) {
        let Some(adjacencies) = &mut self.core.adjacencies else { return };
        adjacencies.each.iter_mut().for_each(|one| one.end.begin(begin.ps));
        (adjacencies.began, adjacencies.until) = (begin.ps, end.ps);
        adjacencies.lost.clear();
        let outputs = self.outputs.iter_mut().flat_map(|output| &mut output.members);
        outputs.filter_map(|member| member.lost.as_mut()).for_each(|lost| lost.clear());
        let inputs = self.member_inputs.iter_mut().filter_map(|input| input.lost.as_mut());
        inputs.for_each(|lost| lost.clear());
        self.set_alarm();
    }

    /// A hello reached the router by an interface.
    #[cold]
    pub(crate) fn hello(&mut self, interface: usize, flight: Flight) {
        self.core.count.consumed += 1;
        let hello = Hello::read(&self.pool.frame(flight.frame)[crate::header::ETHERNET..]);
        self.pool.give_back(flight.frame);
        let mut each = self.core.adjacencies.iter_mut().flat_map(|adjacencies| &mut adjacencies.each);
        let one = each.find(|one| one.interface == interface);
        if let (Some(one), Some(hello)) = (one, hello) {
            one.end.hear(flight.at, &hello);
            self.set_alarm();
        }
    }

    /// Says the hellos that are due at `t`, and gives up who was not heard in time before.
    pub(crate) fn say_hello(&mut self, t: u64) {
        while let Some(adjacencies) = &mut self.core.adjacencies {
            if adjacencies.until <= t {
                adjacencies.until = u64::MAX;
                adjacencies.each.iter_mut().for_each(|one| one.end.stop(t));
                return;
            }
            // What comes at `t` itself is not known yet.
            let known = t.saturating_sub(1);
            let Some(number) = adjacencies.due(t) else {
                return adjacencies.each.iter_mut().for_each(|one| one.end.advance(known));
            };
            let one = &mut adjacencies.each[number];
            let frame = one.end.say(known, &[], one.mac, one.address);
            let interface = one.interface;
            self.originate(interface, &frame, t);
        }
    }

    /// A frame is lost at the switching point, on its way in from `port`.
    #[cold]
    pub(crate) fn note_lost(&mut self, port: usize, flight: Flight, place: LostAt) {
        if let Some(adjacencies) = &mut self.core.adjacencies {
            note(&mut adjacencies.lost, port, flight.at, self.pool.frame(flight.frame), place);
        }
    }

    /// What came of each adjacency since [`Self::begin_adjacencies`], in the order of the ports and their subinterfaces.
    #[must_use]
    pub fn adjacencies(&self) -> Vec<AdjacencyCounters> {
        let Some(adjacencies) = &self.core.adjacencies else {
            return Vec::new();
        };
        let since = |at: u64| at.saturating_sub(adjacencies.began);
        let members = self.outputs.iter().flat_map(|output| &output.members);
        let out = members.filter_map(|member| member.lost.as_ref()).flat_map(|lost| lost.iter());
        let inputs = self.member_inputs.iter().filter_map(|input| input.lost.as_ref());
        let into = inputs.flat_map(|lost| lost.iter()).chain(&adjacencies.lost);
        let noted: Vec<(&Lost, bool)> = out.map(|lost| (lost, true)).chain(into.map(|lost| (lost, false))).collect();
        let of = |one: &Adjacency| {
            let own = noted.iter().filter(|(lost, _)| lost.port == one.port && lost.tags == one.tags);
            let mut lost: Vec<LostHello> = own
                .map(|(lost, is_own)| LostHello {
                    at_ps: since(lost.at),
                    is_own: *is_own,
                    place: lost.place,
                })
                .collect();
            lost.sort_by_key(|lost| lost.at_ps);
            AdjacencyCounters {
                port: one.port,
                tags: one.tags.to_spec(),
                changes: one
                    .end
                    .changes()
                    .iter()
                    .map(|change| Change {
                        at_ps: since(change.at_ps),
                        ..*change
                    })
                    .collect(),
                lost,
            }
        };
        adjacencies.each.iter().map(of).collect()
    }
}

/// The neighbours of a router as its ports and their subinterfaces have them. `spec`: of each interface, in the order of the router's.
pub(crate) fn adjacencies(
    forwarder: &Forwarder,
    specs: impl Iterator<Item = Option<NeighbourSpec>>,
) -> Result<Option<Box<Adjacencies>>, usize> {
    let mut each = Vec::new();
    for (interface, spec) in specs.enumerate() {
        let Some(spec) = spec else { continue };
        let Forwarder::Router(router) = forwarder else {
            return Err(interface);
        };
        let (port, tags, mac, address) = router.interface(interface);
        let address = address.filter(|_| spec.has_sound_times()).ok_or(interface)?;
        each.push(Adjacency {
            end: Neighbour::new(spec),
            interface,
            port,
            tags,
            mac,
            address: address.0,
        });
    }
    Ok(Adjacencies::new(each))
}

/// Notes a frame that is lost in front of a line.
#[cold]
pub(crate) fn note_on_line(notes: &mut Notes, port: usize, flight: Flight, pool: &Pool, place: LostAt) {
    if let Some(notes) = notes {
        note(notes, port, flight.at, pool.frame(flight.frame), place);
    }
}
