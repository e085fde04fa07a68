//! The way through a device on which no frame waits for those of other ports: whole bursts at a time.

use crate::aggregation::MEMBERS;
use crate::device::{Core, Device, Forwarder};
use crate::egress::Output;
use crate::flight::{self, BURST, Flight};
use crate::ingress::MemberInput;
use crate::pool::Pool;

/// Where all that comes in on a port goes, per port, if nothing on that way depends on what comes in elsewhere before it is
/// behind the switching point.
pub(crate) fn outs(core: &Core, outputs: &[Output], head_of_line: bool) -> Vec<Option<usize>> {
    let out_of = |port: usize| match &core.forwarder {
        Forwarder::CrossConnect(peers) if core.server.is_none() && core.limits.is_none() && !head_of_line => {
            peers[port].filter(|out| outputs[*out].impair.is_none())
        }
        _ => None,
    };
    (0..outputs.len()).map(out_of).collect()
}

impl Device {
    /// Passes on the frames that are ready and go straight to one output.
    pub(crate) fn switch_direct(&mut self, port: usize, out: usize, until: u64) {
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
        let count = merge(&mut self.member_inputs[first..first + members], until, &mut merged);
        self.send_on(out, &mut merged[..count]);
        self.merged = merged;
    }

    /// Frames leave the switching point in this order towards `out`, which has no faults.
    fn send_on(&mut self, out: usize, flights: &mut [Flight]) {
        let (output, delay) = (&mut self.outputs[out], self.core.delay);
        for flight in &mut *flights {
            *flight = output.delay(*flight, delay);
        }
        self.depart_each(out, flights);
    }

    /// Frames are through the delay, in this order, of an output without faults: each goes to its member's shared server or line.
    pub(crate) fn depart_each(&mut self, out: usize, flights: &[Flight]) {
        let Self {
            member_inputs,
            inputs,
            outputs,
            pool,
            ..
        } = self;
        let Output {
            spread,
            members,
            by_member,
            ..
        } = &mut outputs[out];
        let member_inputs = &mut member_inputs[inputs[out].first_input..];
        let count = members.len();
        let mut depart = |member: usize, run: &[Flight], pool: &mut Pool| match &mut member_inputs[member].shared {
            Some(shared) => shared.outbound.extend(run.iter().copied()),
            None => members[member].enqueue_each(run, pool),
        };
        if spread.single {
            return depart(0, flights, pool);
        }
        for flights in flights.chunks(BURST) {
            flights.iter().for_each(|flight| pool.fetch(flight.frame));
            by_member.sort(flights, |flight| spread.member(pool.frame(flight.frame)));
            by_member.runs(count, |member, run| depart(member, run, pool));
        }
    }
}

/// Takes what is ready by `until` in all member inputs to the front of `merged`, in order of time (at the same picosecond the lower
/// member input first); how many frames that are.
fn merge(member_inputs: &mut [MemberInput], until: u64, merged: &mut Vec<Flight>) -> usize {
    let mut rows: [&[Flight]; MEMBERS] = [&[]; MEMBERS];
    let mut counts = [0; MEMBERS];
    for ((row, count), member_input) in rows.iter_mut().zip(&mut counts).zip(&*member_inputs) {
        let ready = member_input.ready.records();
        *count = match ready.last() {
            Some(last) if last.at > until => ready.partition_point(|flight| flight.at <= until),
            _ => ready.len(),
        };
        *row = &ready[..*count];
    }
    let count = counts.iter().sum();
    if count == 0 {
        return 0;
    }
    if merged.len() < count {
        merged.resize(count, Flight::default());
    }
    flight::merge(&rows[..member_inputs.len()], &mut merged[..count], |_, _| ());
    for (member_input, count) in member_inputs.iter_mut().zip(counts) {
        member_input.ready.skip(count);
        member_input.ready.tidy();
    }
    count
}
