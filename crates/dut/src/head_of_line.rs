//! Head-of-line blocking (RFC 2889 section 5.5.3): a frame whose output has no room is not dropped, but waits at the head
//! of its input's queue, and all that came in behind it wait too, wherever they go.
//!
//! When a place at an output is free, the frame that came in first of those that wait for it has it. An input's queue is
//! full like any other: only a frame that leaves it makes room, so how many of those that came meanwhile are lost is known
//! when the next one does.

use crate::bridge::Path;
use crate::device::{Device, Forwarder};
use crate::flight::Flight;
use crate::ingress::{Head, MemberInput};
use crate::pool::Pool;

impl MemberInput {
    /// Loses what found no room by `t`, the frame at the head being there until then, and those that come at `t` if `also`.
    fn trim(&mut self, t: u64, also: bool, pool: &mut Pool) {
        let Some((_, behind)) = self.ready.records().split_first() else {
            return;
        };
        let come = 1 + behind.partition_point(|flight| flight.at < t || also && flight.at == t);
        if come > self.room {
            let lost = self.ready.remove(self.room.max(1)..come);
            self.drops += lost.len() as u64;
            lost.for_each(|flight| pool.give_back(flight.frame));
        }
    }

    /// Takes out the frame at the head, at `t`.
    fn advance(&mut self, t: u64) -> Option<Flight> {
        let flight = self.ready.pop()?;
        self.head = Head::default();
        if let Some(next) = self.ready.records_mut().first_mut() {
            self.head.came = Some(next.at);
            next.at = next.at.max(t);
        }
        Some(flight)
    }
}

impl Device {
    /// Switches all frames that can leave their inputs by `until`.
    pub(crate) fn switch_holding(&mut self, until: u64) {
        loop {
            let head = |(index, member_input): (usize, &MemberInput)| {
                let at = member_input.ready.front()?.at;
                Some((at, member_input.head.came.unwrap_or(at), index))
            };
            let first = self.member_inputs.iter().enumerate().filter_map(head).min();
            let t = first.map_or(u64::MAX, |(at, ..)| at);
            if self.core.alarm <= t.min(until) {
                self.ring(self.core.alarm);
                continue;
            }
            let Some((.., index)) = first.filter(|_| t <= until) else {
                break;
            };
            self.member_inputs[index].trim(t, false, &mut self.pool);
            self.switch_or_wait(index, t);
        }
        for member_input in &mut self.member_inputs {
            member_input.trim(until, true, &mut self.pool);
            member_input.ready.tidy();
        }
    }

    /// The frame at the head of an input goes on at `t`, or waits until its output has room.
    fn switch_or_wait(&mut self, index: usize, t: u64) {
        let (port, Some(flight)) = (self.member_inputs[index].port, self.member_inputs[index].ready.front()) else {
            return;
        };
        let out = match (self.member_inputs[index].head.out, &mut self.core.forwarder) {
            (Some(out), _) => Ok(out),
            (None, Forwarder::CrossConnect(peers)) => peers[port].ok_or(Path::Filter),
            (None, Forwarder::Bridge(bridge)) => match bridge.forward(self.pool.frame(flight.frame), port, t) {
                Path::To(out) => Ok(out),
                other => Err(other),
            },
            // Refused when the device was made.
            (None, Forwarder::Router(_)) => Err(Path::Filter),
        };
        if let Ok(out) = out {
            let output = &mut self.outputs[out];
            let reaches = output.leaves_at(flight, self.core.delay);
            if let Some(room_at) = output.members[0].full_at(reaches) {
                let member_input = &mut self.member_inputs[index];
                member_input.head.came.get_or_insert(t);
                member_input.head.out = Some(out);
                if let Some(head) = member_input.ready.records_mut().first_mut() {
                    head.at = t + (room_at - reaches);
                }
                return;
            }
        }
        let Some(flight) = self.member_inputs[index].advance(t) else {
            return;
        };
        match out {
            Ok(out) => self.leave(out, flight),
            Err(Path::Flood) => self.flood(port, flight),
            Err(_) => {
                self.core.count.filtered += 1;
                self.pool.give_back(flight.frame);
            }
        }
    }
}
