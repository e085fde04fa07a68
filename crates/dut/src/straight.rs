//! The way through a device on which no frame waits for those of other ports: whole bursts at a time.

use crate::device::{Core, Device, Forwarder};
use crate::egress::{MEMBERS, Output, earliest};
use crate::flight::{self, Flight};
use crate::ingress::MemberInput;

/// Where all that comes in on a port goes, per port, if nothing on that way depends on what comes in elsewhere before it is
/// behind the switching point.
pub(crate) fn outs(core: &Core, outputs: &[Output], holding: bool) -> Vec<Option<usize>> {
    let out_of = |port: usize| match &core.forwarder {
        Forwarder::CrossConnect(peers) if core.server.is_none() && core.limits.is_none() && !holding => {
            peers[port].filter(|out| outputs[*out].impair.is_none())
        }
        _ => None,
    };
    (0..outputs.len()).map(out_of).collect()
}

impl Device {
    /// Passes on the frames that are ready and go straight to one output.
    pub(crate) fn switch_straight(&mut self, port: usize, out: usize, until: u64) {
        let first = self.inputs[port].first_input;
        if !self.inputs[port].partner.single {
            return self.switch_lag(port, out, until);
        }
        let mut ready = std::mem::take(&mut self.member_inputs[first].ready);
        self.send_on(out, ready.records_mut());
        ready.clear();
        self.member_inputs[first].ready = ready;
    }

    /// The same from a LAG, whose members' frames are to leave in order of time.
    fn switch_lag(&mut self, port: usize, out: usize, until: u64) {
        let first = self.inputs[port].first_input;
        let members = self.outputs[port].members.len();
        let mut merged = std::mem::take(&mut self.merged);
        merge(&mut self.member_inputs[first..first + members], until, &mut merged);
        self.send_on(out, &mut merged);
        merged.clear();
        self.merged = merged;
    }

    /// Frames leave the switching point in this order towards `out`, which has no faults.
    fn send_on(&mut self, out: usize, flights: &mut [Flight]) {
        let Self {
            member_inputs,
            inputs,
            outputs,
            pool,
            core,
            ..
        } = self;
        let output = &mut outputs[out];
        for flight in &mut *flights {
            *flight = output.delay(*flight, core.delay);
        }
        let member_inputs = &mut member_inputs[inputs[out].first_input..];
        if output.spread.single {
            match &mut member_inputs[0].shared {
                Some(shared) => shared.outbound.extend(flights.iter().copied()),
                None => output.members[0].enqueue_each(flights, pool),
            }
            return;
        }
        flights.iter().for_each(|flight| pool.fetch(flight.frame));
        for flight in flights {
            let member = output.spread.member(pool.frame(flight.frame));
            match &mut member_inputs[member].shared {
                Some(shared) => shared.outbound.push(*flight),
                None => output.members[member].enqueue(*flight, pool),
            }
        }
    }
}

/// Takes what is ready by `until` in all member inputs, in order of time (at the same picosecond the lower member input first).
fn merge(member_inputs: &mut [MemberInput], until: u64, merged: &mut Vec<Flight>) {
    if let [one, other] = &mut *member_inputs {
        let due = |member_input: &MemberInput| member_input.ready.records().partition_point(|flight| flight.at <= until);
        let (from_one, from_other) = (due(one), due(other));
        let rows = (&one.ready.records()[..from_one], &other.ready.records()[..from_other]);
        merged.reserve(from_one + from_other);
        flight::merge(rows.0, rows.1, from_one + from_other, |_, _, flight| merged.push(flight));
        one.ready.skip(from_one);
        other.ready.skip(from_other);
    } else {
        let mut heads = [u64::MAX; MEMBERS];
        let heads = &mut heads[..member_inputs.len()];
        let head = |member_input: &MemberInput| member_input.ready.front().map_or(u64::MAX, |flight| flight.at);
        for (to, member_input) in heads.iter_mut().zip(&*member_inputs) {
            *to = head(member_input);
        }
        loop {
            let (member, t) = earliest(heads);
            if t > until {
                break;
            }
            let member_input = &mut member_inputs[member];
            let Some(flight) = member_input.ready.pop() else { break };
            heads[member] = head(member_input);
            merged.push(flight);
        }
    }
    for member_input in member_inputs {
        member_input.ready.tidy();
    }
}
