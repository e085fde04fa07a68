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
//! common server and faults), they need not be merged there: see `straight.rs`.

use crate::agent::Agent;
use crate::bridge::{Bridge, Path};
use crate::egress::{BURST, Delay, Held, Output, earliest};
use crate::flight::Flight;
use crate::happen::Course;
use crate::impair::{self, HOLD_PS};
use crate::ingress::{Input, Lane};
use crate::limits::Limits;
use crate::pool::Pool;
use crate::router::{Router, Verdict};
use crate::service::Server;
use netdyno_io::drive::Node;
use netdyno_io::port::Port;
use netdyno_io::time::Instant;

/// How many frames before its turn a frame's bytes are asked for: some hundred nanoseconds.
const FETCHED_AHEAD: usize = 4;

/// An emulated device.
pub struct Device {
    pub(crate) names: Vec<String>,
    pub(crate) ports: Vec<Box<dyn Port>>,
    /// A port that failed is not touched again.
    pub(crate) failed: Vec<Option<String>>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) lanes: Vec<Lane>,
    /// When the first frame of each lane reaches the switching point; valid while frames are switched.
    pub(crate) heads: Vec<u64>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) core: Core,
    /// The only output of an input whose frames need not wait for those of others: those of a cross connect without
    /// a common server or faults.
    pub(crate) straight: Vec<Option<usize>>,
    /// Frames of a group's members on their way there; empty in between.
    pub(crate) merged: Vec<Flight>,
    /// Whether any port has `both_fps`.
    pub(crate) shared: bool,
    /// Whether inputs hold back frames that find no room at their output.
    pub(crate) holding: bool,
    /// Everything that reaches the switching point by now has been switched.
    pub(crate) horizon: u64,
    pub(crate) pool: Pool,
    pub(crate) course: Course,
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
        while self.course.next <= now.ps {
            let at = self.course.next;
            self.advance(Instant { ps: at });
            self.happen(at);
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
        Instant { ps: self.course.next }
    }

    /// Does all that is due by `now`, nothing happening to the device meanwhile.
    fn advance(&mut self, now: Instant) {
        for port in 0..self.ports.len() {
            self.receive(port, now);
        }
        if self.shared {
            self.switch_shared(now.ps);
        } else if self.holding {
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
            lanes,
            pool,
            ..
        } = self;
        if failed[port].is_some() {
            return;
        }
        let (from, input) = (&mut ports[port], &mut inputs[port]);
        input.floor = input.floor.max(self.horizon);
        let deaf = self.course.is_deaf(port);
        // In virtual time all that has arrived must be seen before anything is decided. In real time a
        // bounded number, so that a flooded port does not keep the others waiting.
        let rounds = if from.info().exact_time { usize::MAX } else { 4 };
        for _ in 0..rounds {
            let got = from.receive(now, BURST, &mut |burst| {
                if deaf {
                    input.down_drops += burst.len() as u64;
                } else {
                    input.arrive(burst, lanes, pool);
                }
            });
            match got {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => {
                    failed[port] = Some(error.to_string());
                    return;
                }
            }
        }
    }

    fn transmit(&mut self, port: usize, now: Instant) {
        if self.failed[port].is_some() {
            return;
        }
        if self.course.is_down(port) {
            return self.outputs[port].spill(now.ps, &mut self.pool);
        }
        if let Err(error) = self.outputs[port].transmit(&mut *self.ports[port], now, &mut self.pool) {
            self.failed[port] = Some(error.to_string());
        }
    }

    /// When something inside the device is due next, lines excepted.
    fn next_internal(&self) -> u64 {
        self.lanes.iter().fold(self.core.alarm, |next, lane| {
            let shared = lane.shared.as_ref().map_or(u64::MAX, |shared| {
                shared.next().min(shared.leaving.front().map_or(u64::MAX, |flight| flight.at))
            });
            next.min(lane.ready.front().map_or(u64::MAX, |flight| flight.at)).min(shared)
        })
    }

    /// Advances servers and switching point in turn, never further apart than the delay.
    fn switch_shared(&mut self, until: u64) {
        loop {
            // Nothing happens before the next event, so idle time is jumped over.
            let idle_until = self.next_internal().saturating_sub(1).max(self.horizon);
            let next = idle_until.saturating_add(self.core.delay.fixed).min(until);
            self.serve(next);
            self.switch_until(next);
            self.horizon = self.horizon.max(next);
            if next >= until {
                return;
            }
        }
    }

    fn serve(&mut self, until: u64) {
        let Self { lanes, outputs, pool, .. } = self;
        for lane in lanes {
            let Some(shared) = &mut lane.shared else { continue };
            let output = &mut outputs[lane.port];
            // What faults will do to a line is known only up to `until`.
            let known = if output.impair.is_some() { until } else { u64::MAX };
            if output.spread.single {
                shared.serve::<false>(until, &mut lane.ready, pool);
            } else {
                shared.serve::<true>(until, &mut lane.ready, pool);
            }
            shared.leave(known, &mut output.members[lane.member], pool);
        }
    }

    /// Switches all frames that reach the switching point by `until`.
    fn switch_until(&mut self, until: u64) {
        for port in 0..self.ports.len() {
            if let Some(out) = self.straight[port] {
                self.switch_straight(port, out, until);
            }
        }
        if self.straight.iter().all(Option::is_some) {
            return;
        }
        for (head, lane) in self.heads.iter_mut().zip(&self.lanes) {
            *head = lane.ready.front().map_or(u64::MAX, |flight| flight.at);
        }
        loop {
            let (first, t) = earliest(&self.heads);
            if self.core.alarm <= t.min(until) {
                self.ring(self.core.alarm);
                continue;
            }
            if t > until {
                break;
            }
            let lane = &mut self.lanes[first];
            let (port, Some(flight)) = (lane.port, lane.ready.pop()) else {
                break;
            };
            let waiting = lane.ready.records();
            self.heads[first] = waiting.first().map_or(u64::MAX, |flight| flight.at);
            if let Some(ahead) = waiting.get(FETCHED_AHEAD) {
                self.pool.fetch(ahead.frame);
            }
            self.switch(port, flight);
        }
        for lane in &mut self.lanes {
            lane.ready.tidy();
        }
    }

    #[inline(always)]
    fn switch(&mut self, port: usize, flight: Flight) {
        let core = &mut self.core;
        let mut t = flight.at;
        if let Some(server) = &mut core.server {
            match server.admit(t) {
                Some(done) => t = done,
                None => {
                    core.count.box_drops += 1;
                    return self.pool.give_back(flight.frame);
                }
            }
        } else if let Some(limits) = &mut core.limits {
            match limits.admit(port, flight) {
                Some(done) => t = done,
                None => return self.pool.give_back(flight.frame),
            }
        }
        let flight = Flight { at: t, ..flight };
        if let Some(agent) = &mut core.agent {
            agent.take(port, self.pool.frame(flight.frame));
        }
        let dropped = match &mut core.forwarder {
            Forwarder::CrossConnect(peers) => match peers[port] {
                Some(out) => return self.pass(port, out, flight),
                None => &mut core.count.no_route,
            },
            Forwarder::Bridge(bridge) => match bridge.forward(self.pool.frame(flight.frame), port, t) {
                Path::To(out) => return self.pass(port, out, flight),
                Path::Flood => return self.flood(port, flight),
                Path::Filter => &mut core.count.filtered,
            },
            Forwarder::Router(router) => match router.forward(self.pool.frame_mut(flight.frame), port) {
                Verdict::To(out) => {
                    if let Some(agent) = &mut core.agent {
                        agent.send(out, self.pool.frame(flight.frame));
                    }
                    return self.pass(port, out, flight);
                }
                Verdict::Answer => {
                    if let Some(agent) = &mut core.agent {
                        agent.send(port, self.pool.frame(flight.frame));
                    }
                    return self.leave(port, flight);
                }
                Verdict::Wait(neighbour) => return self.wait(neighbour, flight),
                Verdict::Heard(heard) => {
                    core.count.consumed += 1;
                    self.pool.give_back(flight.frame);
                    return self.heard(port, *heard, t);
                }
                Verdict::Query => return self.query(port, flight),
                Verdict::Update => return self.update(port, flight),
                Verdict::Consumed => &mut core.count.consumed,
                Verdict::NoRoute => &mut core.count.no_route,
                Verdict::Expired => &mut core.count.ttl_expired,
                Verdict::Malformed => &mut core.count.malformed,
            },
        };
        *dropped += 1;
        self.pool.give_back(flight.frame);
    }

    /// To all ports but one.
    #[cold]
    pub(crate) fn flood(&mut self, port: usize, flight: Flight) {
        let others: Vec<usize> = (0..self.ports.len()).filter(|out| *out != port).collect();
        let Some((last, before)) = others.split_last() else {
            self.core.count.filtered += 1;
            return self.pool.give_back(flight.frame);
        };
        self.core.count.flooded += 1;
        self.core.count.copies += before.len() as u64;
        for out in before {
            let frame = self.pool.duplicate(flight.frame);
            self.pass(port, *out, Flight { frame, ..flight });
        }
        self.pass(port, *last, flight);
    }

    /// A frame that came in on `port` leaves the switching point at `flight.at` towards `out`.
    #[inline(always)]
    fn pass(&mut self, port: usize, out: usize, mut flight: Flight) {
        if let Some(limits) = &mut self.core.limits {
            match limits.cross(port, out, flight) {
                Some(across) => flight.at = across,
                None => return self.pool.give_back(flight.frame),
            }
        }
        self.leave(out, flight);
    }

    /// A frame leaves the switching point at `flight.at` towards `out`.
    #[inline(always)]
    pub(crate) fn leave(&mut self, out: usize, flight: Flight) {
        let output = &mut self.outputs[out];
        let flight = output.delay(flight, self.core.delay);
        if output.impair.is_some() {
            return self.impair(out, flight);
        }
        self.depart(out, flight);
    }

    #[cold]
    fn impair(&mut self, out: usize, flight: Flight) {
        let Some(hit) = self.outputs[out].impair.as_mut().map(|impair| impair.next(flight.at)) else {
            return;
        };
        if hit.lose {
            return self.pool.give_back(flight.frame);
        }
        if let Some(draw) = hit.corrupt {
            impair::flip(self.pool.frame_mut(flight.frame), draw);
        }
        if hit.stall > 0 {
            for member in &mut self.outputs[out].members {
                member.pause(flight.at, hit.stall);
            }
        }
        for copy in 0..=hit.duplicates {
            // The original goes last: until then its bytes are copied from.
            let frame = if copy == hit.duplicates {
                flight.frame
            } else {
                self.pool.duplicate(flight.frame)
            };
            let flight = Flight { frame, ..flight };
            if hit.hold > 0 {
                self.keep(out, flight, hit.hold);
                continue;
            }
            if hit.reorder == 0 {
                self.depart(out, flight);
                continue;
            }
            // Let go at the switching point, behind which the delay comes once more.
            let until = flight.at.saturating_add(HOLD_PS).saturating_sub(self.core.delay.fixed);
            let left = hit.reorder;
            self.outputs[out].held.push(Held { left, until, flight });
            self.core.alarm = self.core.alarm.min(until);
        }
        if hit.reorder == 0 && hit.hold == 0 {
            self.overtaken(out, flight.at);
        }
    }

    /// A frame leaves the delay so much later than it would.
    fn keep(&mut self, out: usize, flight: Flight, hold: u64) {
        let at = flight.at.saturating_add(hold);
        let kept = &mut self.outputs[out].kept;
        let place = kept.partition_point(|other| other.at <= at);
        kept.insert(place, Flight { at, ..flight });
        self.core.alarm = self.core.alarm.min(at.saturating_sub(self.core.delay.fixed));
    }

    /// A frame has passed those held back: lets go which have been passed often enough.
    fn overtaken(&mut self, out: usize, at: u64) {
        let held = std::mem::take(&mut self.outputs[out].held);
        for mut frame in held {
            frame.left -= 1;
            if frame.left == 0 {
                self.depart(out, Flight { at, ..frame.flight });
            } else {
                self.outputs[out].held.push(frame);
            }
        }
    }

    /// Behind delay and faults: the choice of a member, then its shared server or its line.
    #[inline(always)]
    pub(crate) fn depart(&mut self, out: usize, flight: Flight) {
        let output = &mut self.outputs[out];
        let member = if output.spread.single {
            0
        } else {
            output.spread.member(self.pool.frame(flight.frame))
        };
        if self.shared
            && let Some(shared) = &mut self.lanes[self.inputs[out].first_lane + member].shared
        {
            return shared.outbound.push(flight);
        }
        output.members[member].enqueue(flight, &mut self.pool);
    }
}
