//! The switching point: frames of all ports in order of time, and where each one goes.

use crate::bridge::Path;
use crate::device::{Device, Forwarder};
use crate::egress::earliest;
use crate::flight::Flight;
use crate::router::Verdict;
use crate::spec::LostAt;

/// How many frames before its turn a frame's bytes are asked for: some hundred nanoseconds.
const FETCHED_AHEAD: usize = 4;

impl Device {
    /// When something inside the device is due next, lines excepted.
    pub(crate) fn next_internal(&self) -> u64 {
        self.member_inputs.iter().fold(self.core.alarm, |next, member_input| {
            let shared = member_input.shared.as_ref().map_or(u64::MAX, |shared| {
                shared.next().min(shared.leaving.front().map_or(u64::MAX, |flight| flight.at))
            });
            next.min(member_input.ready.front().map_or(u64::MAX, |flight| flight.at))
                .min(shared)
        })
    }

    /// Advances servers and switching point in turn, never further apart than the delay.
    pub(crate) fn switch_shared_capacity(&mut self, until: u64) {
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
        let Self {
            member_inputs,
            outputs,
            pool,
            ..
        } = self;
        for member_input in member_inputs {
            let Some(shared) = &mut member_input.shared else { continue };
            let output = &mut outputs[member_input.port];
            // What faults will do to a line is known only up to `until`.
            let known = if output.impair.is_some() { until } else { u64::MAX };
            if output.spread.single {
                shared.serve::<false>(until, &mut member_input.ready, pool);
            } else {
                shared.serve::<true>(until, &mut member_input.ready, pool);
            }
            shared.leave(known, &mut output.members[member_input.member], pool);
        }
    }

    /// Switches all frames that reach the switching point by `until`.
    pub(crate) fn switch_until(&mut self, until: u64) {
        for port in 0..self.ports.len() {
            if let Some(out) = self.direct[port] {
                self.switch_direct(port, out, until);
            }
        }
        if self.direct.iter().all(Option::is_some) {
            return;
        }
        for (head, member_input) in self.heads.iter_mut().zip(&self.member_inputs) {
            *head = member_input.ready.front().map_or(u64::MAX, |flight| flight.at);
        }
        loop {
            let (first, t) = earliest(&self.heads);
            if self.core.alarm <= t.min(until) {
                self.depart_all();
                self.ring(self.core.alarm);
                continue;
            }
            if t > until {
                break;
            }
            self.switch_run(first, until);
        }
        self.depart_all();
        for member_input in &mut self.member_inputs {
            member_input.ready.tidy();
        }
    }

    /// Switches the frames of the input whose head is the first of all, up to the first that has to wait for others.
    fn switch_run(&mut self, first: usize, until: u64) {
        // At the same picosecond the lower input goes first.
        let others = self.heads.iter().enumerate().filter(|(index, _)| *index != first);
        let until = others.fold(until, |until, (index, head)| {
            until.min(head.saturating_sub(u64::from(index < first)))
        });
        let port = self.member_inputs[first].port;
        let mut ready = std::mem::take(&mut self.member_inputs[first].ready);
        while let Some(flight) = ready.front().filter(|flight| flight.at <= until && flight.at < self.core.alarm) {
            ready.skip(1);
            if let Some(ahead) = ready.records().get(FETCHED_AHEAD) {
                self.pool.fetch(ahead.frame);
            }
            self.switch(port, flight);
        }
        self.heads[first] = ready.front().map_or(u64::MAX, |flight| flight.at);
        self.member_inputs[first].ready = ready;
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
                    self.note_lost(port, flight, LostAt::Box);
                    return self.pool.give_back(flight.frame);
                }
            }
        } else if let Some(limits) = &mut core.limits {
            let on_card = limits.card_drops;
            match limits.admit(port, flight) {
                Some(done) => t = done,
                None => {
                    let place = if limits.card_drops > on_card { LostAt::Card } else { LostAt::Box };
                    self.note_lost(port, flight, place);
                    return self.pool.give_back(flight.frame);
                }
            }
        }
        let flight = Flight { at: t, ..flight };
        if let Some(agent) = &mut core.agent {
            agent.take(port, self.pool.frame(flight.frame));
        }
        let dropped = match &mut core.forwarder {
            Forwarder::CrossConnect(peers) => match peers[port] {
                Some(out) => return self.pass_on(port, out, flight),
                None => &mut core.count.no_route,
            },
            Forwarder::Bridge(bridge) => match bridge.forward(self.pool.frame(flight.frame), port, t) {
                Path::To(out) => return self.pass_on(port, out, flight),
                Path::Flood => {
                    self.depart_all();
                    return self.flood(port, flight);
                }
                Path::Filter => &mut core.count.filtered,
            },
            Forwarder::Router(router) => match router.forward(&mut self.pool.place(flight.frame), port) {
                Verdict::To(out) => {
                    if let Some(agent) = &mut core.agent {
                        agent.send(out, self.pool.frame(flight.frame));
                    }
                    return self.pass_on(port, out, flight);
                }
                Verdict::Tagged => return self.switch_tagged(port, flight),
                verdict => return self.settle(port, flight, verdict),
            },
        };
        *dropped += 1;
        self.pool.give_back(flight.frame);
    }

    /// What becomes of a frame that a router does not pass on. It came in on `interface`; an answer has its tags already.
    #[inline(never)]
    pub(crate) fn settle(&mut self, interface: usize, flight: Flight, verdict: Verdict) {
        let core = &mut self.core;
        let counted = match verdict {
            Verdict::Answer => {
                self.depart_all();
                let port = self.port_of(interface);
                if let Some(agent) = &mut self.core.agent {
                    agent.send(port, self.pool.frame(flight.frame));
                }
                return self.leave(port, flight);
            }
            Verdict::Wait(neighbour) => {
                self.depart_all();
                return self.wait(neighbour, flight);
            }
            Verdict::Heard(heard) => {
                core.count.consumed += 1;
                self.pool.give_back(flight.frame);
                self.depart_all();
                return self.heard(interface, *heard, flight.at);
            }
            Verdict::Query => {
                self.depart_all();
                return self.query(interface, flight);
            }
            Verdict::Hello => return self.hello(interface, flight),
            // It sends nothing: what is to leave before need not have left.
            Verdict::Update => return self.update(interface, flight),
            Verdict::NoRoute => &mut core.count.no_route,
            Verdict::Expired => &mut core.count.ttl_expired,
            Verdict::Malformed => &mut core.count.malformed,
            // The first two are not for here.
            Verdict::To(_) | Verdict::Tagged | Verdict::Consumed => &mut core.count.consumed,
        };
        *counted += 1;
        self.pool.give_back(flight.frame);
    }
}
