//! From the switching point to the line: crossing between cards, delay, faults, and the choice of a member.

use crate::device::Device;
use crate::egress::Held;
use crate::flight::Flight;
use crate::impair::{self, HOLD_PS};

impl Device {
    /// Sends a frame to all ports but `port`.
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
    pub(crate) fn pass(&mut self, port: usize, out: usize, mut flight: Flight) {
        if let Some(limits) = &mut self.core.limits {
            match limits.cross(port, out, flight) {
                Some(across) => flight.at = across,
                None => return self.pool.give_back(flight.frame),
            }
        }
        self.leave(out, flight);
    }

    /// As [`Self::pass`], but the frame may stay with its output until [`Self::depart_all`], together with those behind it.
    #[inline(always)]
    pub(crate) fn pass_on(&mut self, port: usize, out: usize, flight: Flight) {
        let output = &mut self.outputs[out];
        if self.core.limits.is_some() || output.impair.is_some() {
            return self.pass(port, out, flight);
        }
        let flight = output.delay(flight, self.core.delay);
        output.leaving.push(flight);
    }

    /// Frames that stayed with their outputs depart.
    pub(crate) fn depart_all(&mut self) {
        for out in 0..self.outputs.len() {
            if self.outputs[out].leaving.is_empty() {
                continue;
            }
            let mut leaving = std::mem::take(&mut self.outputs[out].leaving);
            self.depart_each(out, &leaving);
            leaving.clear();
            self.outputs[out].leaving = leaving;
        }
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
            impair::flip(self.pool.place(flight.frame).all(), draw);
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

    /// Sends a frame on after delay and faults: chooses a member, then its shared server or its line.
    #[inline(always)]
    pub(crate) fn depart(&mut self, out: usize, flight: Flight) {
        let output = &mut self.outputs[out];
        let member = if output.spread.single {
            0
        } else {
            output.spread.member(self.pool.frame(flight.frame))
        };
        if self.shared
            && let Some(shared) = &mut self.member_inputs[self.inputs[out].first_input + member].shared
        {
            return shared.outbound.push(flight);
        }
        output.members[member].enqueue(flight, &mut self.pool);
    }
}
