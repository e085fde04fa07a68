//! What became of each flow: how many of its frames arrived where, and when the last of those departed. With a route for each
//! flow this is loss-derived convergence of each route (RFC 6413 section 5.1.2). With a port for each member of a LAG it shows
//! to which member the device's hash sends each flow.

use crate::result::FlowCounts;
use netdyno_frame::probe::Probe;

/// The most flows of a trial that are counted one by one: 24 bytes each in each worker, and six numbers in the result.
pub const MOST_COUNTED: u64 = 1 << 20;

/// Of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// Distinct frames that arrived intact at the intended port.
    received: u32,
    /// Frames that arrived at another port.
    elsewhere: u32,
    /// The latest departure of all these.
    last_ps: u64,
    /// The port at which that one arrived.
    port: u16,
    /// Frames that arrived at another port than the latest one before them.
    moved: u32,
}

impl Counted {
    fn is_none(&self) -> bool {
        self.received | self.elsewhere == 0
    }
}

/// The flows of one stream, as one worker counts them.
#[derive(Debug)]
pub struct ByFlow {
    first_flow: u32,
    flows: Vec<Counted>,
}

impl ByFlow {
    /// So many flows, whose numbers begin with `first_flow`.
    #[must_use]
    pub fn new(first_flow: u32, flows: u32) -> Self {
        Self {
            first_flow,
            flows: vec![Counted::default(); flows as usize],
        }
    }

    /// A frame arrived intact at port `port`, which is the intended one or of its LAG, for the first time.
    #[inline]
    pub fn record_arrival(&mut self, probe: Probe, port: usize) {
        let flow = self.look_at(probe, port);
        flow.received = flow.received.saturating_add(1);
    }

    /// A frame arrived at port `port`, where it should not.
    #[inline]
    pub fn record_elsewhere(&mut self, probe: Probe, port: usize) {
        let flow = self.look_at(probe, port);
        // The device may make copies: no number of the probe bounds them.
        flow.elsewhere = flow.elsewhere.saturating_add(1);
    }

    /// The flow of a frame that arrived at port `port`.
    #[inline]
    fn look_at(&mut self, probe: Probe, port: usize) -> &mut Counted {
        let flow = &mut self.flows[(probe.flow - self.first_flow) as usize];
        let port = port as u16;
        if port != flow.port && !flow.is_none() {
            flow.moved = flow.moved.saturating_add(1);
        }
        if probe.departure_ps >= flow.last_ps {
            (flow.last_ps, flow.port) = (probe.departure_ps, port);
        }
        flow
    }

    /// Adds what another worker counted.
    pub fn absorb(&mut self, other: &Self) {
        for (flow, more) in self.flows.iter_mut().zip(&other.flows) {
            let has_both = !flow.is_none() && !more.is_none();
            flow.moved = flow
                .moved
                .saturating_add(more.moved)
                .saturating_add(u32::from(has_both && flow.port != more.port));
            if flow.is_none() || !more.is_none() && more.last_ps >= flow.last_ps {
                flow.port = more.port;
            }
            flow.received = flow.received.saturating_add(more.received);
            flow.elsewhere = flow.elsewhere.saturating_add(more.elsewhere);
            flow.last_ps = flow.last_ps.max(more.last_ps);
        }
    }

    /// The counts, of which `sent` has the frames sent by flow, counted from the first of the stream. Traffic began at
    /// `traffic_ps`.
    #[must_use]
    pub fn finish(&self, traffic_ps: u64, sent: impl Fn(u32) -> u64) -> FlowCounts {
        let last_ns = |flow: &Counted| match flow.is_none() {
            true => -1,
            false => (flow.last_ps.saturating_sub(traffic_ps) / 1000) as i64,
        };
        let port = |flow: &Counted| if flow.is_none() { -1 } else { i32::from(flow.port) };
        FlowCounts {
            sent: (0..self.flows.len() as u32).map(sent).collect(),
            received: self.flows.iter().map(|flow| flow.received).collect(),
            elsewhere: self.flows.iter().map(|flow| flow.elsewhere).collect(),
            last_ns: self.flows.iter().map(last_ns).collect(),
            port: self.flows.iter().map(port).collect(),
            moved: self.flows.iter().map(|flow| flow.moved).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(flow: u32, departure_ps: u64) -> Probe {
        Probe {
            flow,
            sequence: 0,
            departure_ps,
        }
    }

    #[test]
    fn counts_of_workers_are_added_and_the_last_departure_is_that_of_all() {
        let (mut lead, mut other) = (ByFlow::new(10, 3), ByFlow::new(10, 3));
        lead.record_arrival(probe(10, 5_000_000), 3);
        lead.record_arrival(probe(10, 9_000_000), 2);
        // It was overtaken.
        lead.record_arrival(probe(10, 7_000_000), 3);
        other.record_arrival(probe(10, 8_000_000), 3);
        other.record_elsewhere(probe(12, 5_000_000), 0);
        lead.absorb(&other);
        let expected = FlowCounts {
            sent: vec![100, 101, 102],
            received: vec![4, 0, 0],
            elsewhere: vec![0, 0, 1],
            last_ns: vec![4000, -1, 0],
            port: vec![2, -1, 0],
            moved: vec![3, 0, 0],
        };
        assert_eq!(lead.finish(5_000_000, |flow| 100 + u64::from(flow)), expected);
    }
}
