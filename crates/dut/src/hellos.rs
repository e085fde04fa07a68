//! What a router does with hellos: it says its own, hears those of its neighbours, and counts what came of each adjacency.

use crate::adjacency::{Adjacencies, Adjacency, Lost, note};
use crate::device::{Device, Forwarder};
use crate::flight::Flight;
use crate::spec::{AdjacencyCounters, LostAt, LostHello};
use netdyno_frame::hello::{Change, Hello, Neighbour, NeighbourSpec};
use netdyno_io::time::Instant;

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
