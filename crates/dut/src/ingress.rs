//! From the line to the switching point: the far end of a group, the ingress server, the shared server.

use crate::flight::Flight;
use crate::lag::Spread;
use crate::pool::Pool;
use crate::ring::Ring;
use crate::service::{Line, Server, wire_bytes};
use netdyno_io::port::Burst;

/// What a port takes in, and how it is spread over lanes.
#[derive(Debug)]
pub(crate) struct Input {
    /// Index of its first member among all lanes.
    pub(crate) first_lane: usize,
    /// How the far end picks a member.
    pub(crate) partner: Spread,
    /// The far end's lines, one a member; none for a plain port, whose wire is the line itself.
    pub(crate) partner_lines: Vec<Line>,
    /// Nothing arrives before this: what has been decided stays decided, and frames stay in order.
    pub(crate) floor: u64,
    pub(crate) max_frame: usize,
    pub(crate) partner_drops: u64,
    pub(crate) malformed: u64,
}

/// One member of a port on its way in, and its shared server, which frames also pass on their way out.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) port: usize,
    pub(crate) member: usize,
    pub(crate) server: Option<Server>,
    /// Boxed: lanes without it stay small.
    pub(crate) shared: Option<Box<Shared>>,
    /// Frames by the time they reach the switching point.
    pub(crate) ready: Ring<Flight>,
    pub(crate) rx_frames: u64,
    /// Frames that found the queue of `server` full.
    pub(crate) drops: u64,
}

/// Capacity for both directions of a port, first come first served (`both_fps`). At the same picosecond a
/// frame on its way out goes first.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) server: Server,
    pub(crate) inbound: Ring<Flight>,
    pub(crate) outbound: Ring<Flight>,
    /// Served on their way out, by the time they reach the line.
    pub(crate) leaving: Ring<Flight>,
    pub(crate) drops: u64,
}

impl Input {
    /// Frames have arrived from the line.
    pub(crate) fn arrive(&mut self, burst: &Burst<'_>, lanes: &mut [Lane], pool: &mut Pool) {
        let lanes = &mut lanes[self.first_lane..];
        if self.partner_lines.is_empty() {
            let lane = &mut lanes[0];
            self.fit(burst, |_, frame, at| lane.arrive(frame, at, pool));
            return;
        }
        self.fit(burst, |input, frame, at| {
            let member = input.partner.member(frame);
            match input.partner_lines[member].admit(at, wire_bytes(frame.len() as u16)) {
                Some(passage) => lanes[member].arrive(frame, passage.last_bit, pool),
                None => input.partner_drops += 1,
            }
        });
    }

    /// Gives the frames of a burst that the device takes at all, and when they have arrived, to `take`.
    #[inline(always)]
    fn fit(&mut self, burst: &Burst<'_>, mut take: impl FnMut(&mut Self, &[u8], u64)) {
        let lengths = crate::header::ETHERNET..=self.max_frame;
        let mut floor = self.floor;
        for (index, slot) in burst.slots().iter().enumerate() {
            let frame = burst.frame(index);
            floor = floor.max(slot.at.ps);
            if lengths.contains(&frame.len()) {
                take(self, frame, floor);
            } else {
                self.malformed += 1;
            }
        }
        self.floor = floor;
    }
}

impl Lane {
    /// A frame has arrived from its line at `at`.
    #[inline(always)]
    fn arrive(&mut self, frame: &[u8], mut at: u64, pool: &mut Pool) {
        self.rx_frames += 1;
        if let Some(server) = &mut self.server {
            match server.admit(at) {
                Some(done) => at = done,
                None => {
                    self.drops += 1;
                    return;
                }
            }
        }
        let flight = Flight {
            at,
            slot: pool.store(frame),
            len: frame.len() as u16,
        };
        match &mut self.shared {
            Some(shared) => shared.inbound.push(flight),
            None => self.ready.push(flight),
        }
    }
}

impl Shared {
    /// When the next frame reaches the server.
    pub(crate) fn next(&self) -> u64 {
        let at = |ring: &Ring<Flight>| ring.front().map_or(u64::MAX, |flight| flight.at);
        at(&self.inbound).min(at(&self.outbound))
    }

    /// Serves all that arrive by `until`, in order of time. Frames inward go to `ready`.
    pub(crate) fn serve(&mut self, until: u64, ready: &mut Ring<Flight>, pool: &mut Pool) {
        let at = |ring: &Ring<Flight>| ring.front().map_or(u64::MAX, |flight| flight.at);
        let (mut inward, mut outward) = (at(&self.inbound), at(&self.outbound));
        while inward.min(outward) <= until {
            let (from, head, to) = if outward <= inward {
                (&mut self.outbound, &mut outward, &mut self.leaving)
            } else {
                (&mut self.inbound, &mut inward, &mut *ready)
            };
            let Some(flight) = from.pop() else { break };
            *head = at(from);
            match self.server.admit(flight.at) {
                Some(done) => to.push(Flight { at: done, ..flight }),
                None => {
                    self.drops += 1;
                    pool.give_back(flight.slot, flight.len);
                }
            }
        }
        self.inbound.rewind();
        self.outbound.rewind();
    }
}
