//! Frames that come in or leave by a subinterface of a router.
//!
//! A router looks at packets, not at tags: the MAC addresses of a frame are moved up to its packet, behind its tags, so that what
//! begins there is a frame without tags; and it gets the tags of the interface that it leaves by.

use crate::device::{Device, Forwarder};
use crate::flight::{Flight, Frame};
use crate::router::Verdict;
use crate::tags::TAGS_AT;
use netdyno_io::tail::{Place, Tail};

impl Device {
    /// A frame reaches a router with subinterfaces.
    #[inline(never)]
    pub(crate) fn switch_tagged(&mut self, port: usize, flight: Flight) {
        let Forwarder::Router(router) = &mut self.core.forwarder else {
            return;
        };
        let frame = self.pool.frame_mut(flight.frame);
        let Some((interface, tags)) = router.enter(frame, port) else {
            self.core.count.unknown_vlan += 1;
            return self.pool.give_back(flight.frame);
        };
        if tags > 0 {
            frame.copy_within(..TAGS_AT, tags);
        }
        let mut unknown = Tail::NONE;
        let verdict = router.forward_untagged(&mut Place::new(&mut frame[tags..], &mut unknown), interface);
        // Where it is for the router itself, it stays there without tags.
        let leaves_by = match verdict {
            Verdict::To(out) => out,
            Verdict::Answer => interface,
            Verdict::Wait(_) | Verdict::Query | Verdict::Update | Verdict::Hello => port,
            verdict => return self.settle(interface, flight, verdict),
        };
        let Some(frame) = self.dress(flight.frame, tags, leaves_by) else {
            return;
        };
        let flight = Flight { frame, ..flight };
        let Verdict::To(out) = verdict else {
            return self.settle(interface, flight, verdict);
        };
        let out = self.port_of(out);
        if let Some(agent) = &mut self.core.agent {
            agent.send(out, self.pool.frame(frame));
        }
        self.pass_on(port, out, flight);
    }

    /// Gives `frame`, which from byte `tags` on is one without tags, the tags of the interface that it leaves by. `None`: it
    /// is too long with them, and dropped.
    #[inline]
    pub(crate) fn dress(&mut self, frame: Frame, tags: usize, interface: usize) -> Option<Frame> {
        let dressed = match &mut self.core.forwarder {
            Forwarder::Router(router) => router.dress(&mut self.pool, frame, tags, interface),
            Forwarder::CrossConnect(_) | Forwarder::Bridge(_) => Some(frame),
        };
        if dressed.is_none() {
            self.core.count.malformed += 1;
            self.pool.give_back(frame);
        }
        dressed
    }

    /// The port of a router's interface.
    #[inline]
    pub(crate) fn port_of(&self, interface: usize) -> usize {
        match &self.core.forwarder {
            Forwarder::Router(router) => router.port_of(interface),
            Forwarder::CrossConnect(_) | Forwarder::Bridge(_) => interface,
        }
    }
}
