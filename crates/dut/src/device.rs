//! The forwarding core: one pipeline for every kind of device, every decision made in order of time.
//!
//! ```text
//! arrival -> (group: far end's line) -> in_fps -> both_fps -> [switching point: box_fps, forwarding]
//!         -> delay, in order per egress -> faults -> both_fps -> member -> line -> departure
//! ```
//!
//! Queues are decided when a frame arrives at them (see `service.rs`), so a frame needs no events of its
//! own: it is handled once on its way to the switching point, and once behind it. The frames of all ports
//! pass the switching point in order of time (ties: the lower port, then the lower member). Only `both_fps`
//! makes a circle, since a frame that leaves by a port competes with those that come in there. The fixed
//! delay cuts it: what passes the switching point after `T` reaches an egress server after `T + delay`, so all
//! servers can be advanced to `T + delay` once everything up to `T` is switched.
//!
//! Where frames of different ports have nothing to do with each other at the switching point (a cross connect without a
//! common server and faults), they need not be merged there: see `direct.rs`.

use crate::adjacency::Adjacencies;
use crate::agent::Agent;
use crate::bridge::Bridge;
use crate::egress::{Delay, Output};
use crate::flight::{BURST, Flight};
use crate::ingress::{Input, MemberInput};
use crate::limits::Limits;
use crate::pool::Pool;
use crate::router::Router;
use crate::service::Server;
use crate::timeline::Timeline;
use netdyno_io::drive::Node;
use netdyno_io::port::Port;
use netdyno_io::reason::Reason;
use netdyno_io::time::Instant;

/// An emulated device.
pub struct Device {
    pub(crate) names: Vec<String>,
    pub(crate) ports: Vec<Box<dyn Port>>,
    /// A port that failed is not touched again.
    pub(crate) failed: Vec<Option<Reason>>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) member_inputs: Vec<MemberInput>,
    /// When the first frame of each member input reaches the switching point; valid while frames are switched.
    pub(crate) heads: Vec<u64>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) core: Core,
    /// The only output of an input whose frames need not wait for those of others: those of a cross connect without
    /// a common server or faults.
    pub(crate) direct: Vec<Option<usize>>,
    /// Frames of a group's members on their way there; what is left in it means nothing.
    pub(crate) merged: Vec<Flight>,
    /// Whether any port has `both_fps`.
    pub(crate) shared: bool,
    /// Whether inputs hold back frames that find no room at their output.
    pub(crate) head_of_line: bool,
    /// Everything that reaches the switching point by now has been switched.
    pub(crate) horizon: u64,
    pub(crate) pool: Pool,
    pub(crate) timeline: Timeline,
}

/// The switching point.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) server: Option<Server>,
    /// Other capacities of the box and its cards; `server` is then among them. Boxed: few devices have any.
    pub(crate) limits: Option<Box<Limits>>,
    pub(crate) forwarder: Forwarder,
    /// Boxed: few devices have one.
    pub(crate) agent: Option<Box<Agent>>,
    /// The same.
    pub(crate) adjacencies: Option<Box<Adjacencies>>,
    pub(crate) delay: Delay,
    /// When the device has to act by itself: a neighbour to ask, a held frame to let go.
    pub(crate) alarm: u64,
    pub(crate) count: Count,
}

/// How frames find their way. Boxed, so that telling which it is takes one load.
#[derive(Debug)]
pub(crate) enum Forwarder {
    /// The port at the other end, per port.
    CrossConnect(Box<[Option<usize>]>),
    Bridge(Box<Bridge>),
    Router(Box<Router>),
}

/// What the switching point counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) box_drops: u64,
    pub(crate) no_route: u64,
    pub(crate) ttl_expired: u64,
    pub(crate) malformed: u64,
    pub(crate) unknown_vlan: u64,
    pub(crate) flooded: u64,
    pub(crate) copies: u64,
    pub(crate) filtered: u64,
    pub(crate) consumed: u64,
    pub(crate) originated: u64,
    pub(crate) reset_drops: u64,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device")
            .field("ports", &self.names)
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

impl Node for Device {
    fn next_wakeup(&self) -> Option<Instant> {
        let arrivals = self.ports.iter().filter_map(|port| port.next_arrival()).map(|at| at.ps).min();
        let wake = arrivals.unwrap_or(u64::MAX).min(self.next_internal());
        let wake = self.outputs.iter().fold(wake, |wake, output| wake.min(output.next_start()));
        (wake != u64::MAX).then_some(Instant { ps: wake })
    }

    fn step(&mut self, now: Instant) {
        while self.timeline.next <= now.ps {
            let at = self.timeline.next;
            self.advance(Instant { ps: at });
            self.carry_out_events(at);
        }
        self.advance(now);
    }
}

impl Device {
    /// Whether it will say nothing of its own accord and change nothing in what passes, unless it is spoken to, something
    /// [happens](Self::next_event) to it, or a frame comes that goes another way than all those before it.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let asks_nobody = match &self.core.forwarder {
            Forwarder::Router(router) => router.neighbours.is_settled(),
            Forwarder::CrossConnect(_) | Forwarder::Bridge(_) => true,
        };
        asks_nobody
            && self.core.adjacencies.is_none()
            && self
                .outputs
                .iter()
                .all(|output| output.impair.as_ref().is_none_or(|impair| !impair.corrupts()))
    }

    /// Whether it passes on what neighbours say to each other (ARP, ND): all but routers do.
    #[must_use]
    pub fn relays(&self) -> bool {
        !matches!(self.core.forwarder, Forwarder::Router(_))
    }

    /// Whether no frame is in it or on its way to it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pool.taken() == 0 && self.ports.iter().all(|port| port.next_arrival().is_none())
    }

    /// Whether frames may leave it twice, late or never by a fault.
    #[must_use]
    pub fn has_faults(&self) -> bool {
        self.outputs.iter().any(|output| output.impair.is_some())
    }

    /// Frames it has sent of its own accord since its counters were reset.
    #[must_use]
    pub fn originated(&self) -> u64 {
        self.core.count.originated
    }

    /// When something happens to it next.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        Instant { ps: self.timeline.next }
    }

    /// Does all that is due by `now`, nothing happening to the device meanwhile.
    fn advance(&mut self, now: Instant) {
        for port in 0..self.ports.len() {
            self.receive(port, now);
        }
        if self.shared {
            self.switch_shared_capacity(now.ps);
        } else if self.head_of_line {
            self.switch_holding(now.ps);
        } else {
            self.switch_until(now.ps);
        }
        self.horizon = self.horizon.max(now.ps);
        for port in 0..self.ports.len() {
            self.transmit(port, now);
        }
    }

    fn receive(&mut self, port: usize, now: Instant) {
        let Self {
            ports,
            failed,
            inputs,
            member_inputs,
            pool,
            ..
        } = self;
        if failed[port].is_some() {
            return;
        }
        let (from, input) = (&mut ports[port], &mut inputs[port]);
        input.floor = input.floor.max(self.horizon);
        let deaf = self.timeline.is_deaf(port);
        // In virtual time all that has arrived must be seen before anything is decided. In real time a
        // bounded number, so that a flooded port does not keep the others waiting.
        let rounds = if from.info().has_exact_time() { usize::MAX } else { 4 };
        for _ in 0..rounds {
            let got = from.receive(now, BURST, &mut |burst| {
                if deaf {
                    input.down_drops += burst.len() as u64;
                } else {
                    input.arrive(burst, member_inputs, pool);
                }
            });
            match got {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => {
                    failed[port] = Some(Reason::from(&error));
                    return;
                }
            }
        }
    }

    fn transmit(&mut self, port: usize, now: Instant) {
        if self.failed[port].is_some() {
            return;
        }
        if self.timeline.is_down(port) {
            return self.outputs[port].spill(now.ps, &mut self.pool);
        }
        if let Err(error) = self.outputs[port].transmit(&mut *self.ports[port], now, &mut self.pool) {
            self.failed[port] = Some(Reason::from(&error));
        }
    }
}
