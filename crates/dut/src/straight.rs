//! The way through a device on which no frame waits for those of other ports: whole bursts at a time.

use crate::device::{Core, Device, Forwarder};
use crate::egress::{MEMBERS, Output, earliest};
use crate::flight::{self, Flight};
use crate::ingress::Lane;

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
    /// Passes on what is ready on its way straight to one output.
    pub(crate) fn switch_straight(&mut self, port: usize, out: usize, until: u64) {
        let first = self.inputs[port].first_lane;
        if !self.inputs[port].partner.single {
            return self.switch_group(port, out, until);
        }
        let mut ready = std::mem::take(&mut self.lanes[first].ready);
        self.send_on(out, ready.records_mut());
        ready.clear();
        self.lanes[first].ready = ready;
    }

    /// The same from a group, whose members' frames are to leave in order of time.
    fn switch_group(&mut self, port: usize, out: usize, until: u64) {
        let first = self.inputs[port].first_lane;
        let members = self.outputs[port].members.len();
        let mut merged = std::mem::take(&mut self.merged);
        merge(&mut self.lanes[first..first + members], until, &mut merged);
        self.send_on(out, &mut merged);
        merged.clear();
        self.merged = merged;
    }

    /// Frames leave the switching point in this order towards `out`, which has no faults.
    fn send_on(&mut self, out: usize, flights: &mut [Flight]) {
        let Self {
            lanes,
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
        let lanes = &mut lanes[inputs[out].first_lane..];
        if output.spread.single {
            match &mut lanes[0].shared {
                Some(shared) => shared.outbound.extend(flights.iter().copied()),
                None => output.members[0].enqueue_each(flights, pool),
            }
            return;
        }
        flights.iter().for_each(|flight| pool.fetch(flight.frame));
        for flight in flights {
            let member = output.spread.member(pool.frame(flight.frame));
            match &mut lanes[member].shared {
                Some(shared) => shared.outbound.push(*flight),
                None => output.members[member].enqueue(*flight, pool),
            }
        }
    }
}

/// Takes what is ready by `until` in all `lanes`, in order of time (at the same picosecond the lower lane first).
fn merge(lanes: &mut [Lane], until: u64, merged: &mut Vec<Flight>) {
    if let [one, other] = &mut *lanes {
        let due = |lane: &Lane| lane.ready.records().partition_point(|flight| flight.at <= until);
        let (from_one, from_other) = (due(one), due(other));
        let rows = (&one.ready.records()[..from_one], &other.ready.records()[..from_other]);
        merged.reserve(from_one + from_other);
        flight::merge(rows.0, rows.1, from_one + from_other, |_, _, flight| merged.push(flight));
        one.ready.skip(from_one);
        other.ready.skip(from_other);
    } else {
        let mut heads = [u64::MAX; MEMBERS];
        let heads = &mut heads[..lanes.len()];
        let head = |lane: &Lane| lane.ready.front().map_or(u64::MAX, |flight| flight.at);
        for (to, lane) in heads.iter_mut().zip(&*lanes) {
            *to = head(lane);
        }
        loop {
            let (member, t) = earliest(heads);
            if t > until {
                break;
            }
            let lane = &mut lanes[member];
            let Some(flight) = lane.ready.pop() else { break };
            heads[member] = head(lane);
            merged.push(flight);
        }
    }
    for lane in lanes {
        lane.ready.tidy();
    }
}
