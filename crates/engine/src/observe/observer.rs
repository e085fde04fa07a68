//! What is observed of a stream beyond counts: when frames were lost, how far they came out of order, how latency varies, how
//! far apart they arrived, what became of each flow.
//!
//! Each observation is asked for by the trial ([`Observe`]). A receiver that is asked for none does not know of them: which
//! it is is decided once a burst.

use super::by_flow::ByFlow;
use super::flows::Flows;
use super::ledger::{Ledger, Pages};
use super::losses::Losses;
use super::reordering::Reordering;
use super::silence::Silences;
use super::spacing::Spacing;
use super::variation::Variation;
use crate::result;
use crate::spec::Observe;
use netdyno_frame::probe::Probe;
use std::sync::{Arc, Mutex};

/// The most gaps of a stream that are kept.
pub const MOST_GAPS: u32 = 10_000;

/// What one worker observes of the frames of one stream that come to it.
#[derive(Debug)]
pub struct Observer {
    /// The number of the stream's first flow, and how many flows it has.
    first_flow: u32,
    flows: u64,
    timed_from_ns: u64,
    /// Only frames that departed from then on are timed.
    timed_from_ps: u64,
    arrived: Option<(Pages, Silences)>,
    order: Option<Reordering>,
    variation: Option<Variation>,
    spacing: Option<Spacing>,
    by_flow: Option<ByFlow>,
}

impl Observer {
    /// What is `asked` of one of `streams` streams, whose flows have the numbers from `first_flow` on. `ledger` is that of the
    /// stream, which its workers share, if gaps are asked.
    #[must_use]
    pub fn new(asked: &Observe, streams: usize, first_flow: u32, flows: u32, ledger: Option<&Arc<Mutex<Ledger>>>) -> Self {
        Self {
            first_flow,
            flows: u64::from(flows),
            timed_from_ns: asked.timed_from_ns,
            timed_from_ps: 0,
            arrived: ledger.map(|ledger| (Pages::new(ledger), Silences::default())),
            order: asked.order.then(|| Reordering::new(streams)),
            variation: asked.variation.then(|| Variation::new(streams)),
            spacing: asked.spacing.then(Spacing::new),
            by_flow: asked.by_flow.then(|| ByFlow::new(first_flow, flows)),
        }
    }

    /// Starts to observe: traffic begins at `start_ps`.
    pub fn begin(&mut self, start_ps: u64) {
        self.timed_from_ps = start_ps + self.timed_from_ns * 1000;
    }

    /// Whether the latency of a frame with this departure counts.
    #[inline]
    #[must_use]
    pub fn times(&self, departure_ps: u64) -> bool {
        departure_ps >= self.timed_from_ps
    }

    /// A frame came that is later than all of its flow before it, where `expected` was next.
    #[inline]
    pub fn came_next(&mut self, flows: &Flows, probe: Probe, expected: u32) {
        if let Some(order) = self.order.as_mut().filter(|_| probe.sequence > expected) {
            order.skipped(probe.flow, expected..probe.sequence, flows.received(probe.flow as usize));
        }
    }

    /// A frame came that a later one of its flow overtook.
    #[inline]
    pub fn came_late(&mut self, flows: &Flows, probe: Probe) {
        if let Some(order) = &mut self.order {
            order.record_overtaken(probe.flow, probe.sequence, flows.received(probe.flow as usize));
        }
    }

    /// A frame arrived intact at port `port`, which is the intended one or of its LAG, for the first time.
    #[inline]
    pub fn record_arrival(&mut self, probe: Probe, arrival_ps: u64, port: usize) {
        let number = u64::from(probe.sequence) * self.flows + u64::from(probe.flow - self.first_flow);
        if let Some((pages, silences)) = &mut self.arrived {
            pages.mark_arrived(number);
            silences.record_arrival(arrival_ps);
        }
        if let Some(spacing) = &mut self.spacing {
            spacing.record_arrival(arrival_ps);
        }
        if let Some(by_flow) = &mut self.by_flow {
            by_flow.record_arrival(probe, port);
        }
        if let Some(variation) = self.variation.as_mut().filter(|_| probe.departure_ps >= self.timed_from_ps) {
            variation.record_arrival(number, arrival_ps as i64 - probe.departure_ps as i64);
        }
    }

    /// A frame arrived at port `port`, and not at the intended one.
    #[inline]
    pub fn record_elsewhere(&mut self, probe: Probe, port: usize) {
        if let Some(by_flow) = &mut self.by_flow {
            by_flow.record_elsewhere(probe, port);
        }
    }

    /// Hands over what other workers wait for. To be called now and then, frames or not.
    pub fn tend(&mut self) {
        if let Some((pages, _)) = &mut self.arrived {
            pages.tend();
        }
    }

    /// Adds what another worker observed of the same stream.
    pub fn absorb(&mut self, other: &Self) {
        if let (Some((pages, silences)), Some((more, others))) = (&mut self.arrived, &other.arrived) {
            pages.absorb(more);
            silences.absorb(others);
        }
        if let (Some(order), Some(more)) = (&mut self.order, &other.order) {
            order.absorb(more);
        }
        if let (Some(variation), Some(more)) = (&mut self.variation, &other.variation) {
            variation.absorb(more);
        }
        if let (Some(spacing), Some(more)) = (&mut self.spacing, &other.spacing) {
            spacing.absorb(more);
        }
        if let (Some(by_flow), Some(more)) = (&mut self.by_flow, &other.by_flow) {
            by_flow.absorb(more);
        }
    }

    /// The frames that were sent and did not arrive intact, counted in order of departure. All below `low` were sent, of
    /// those from there on below `high` the ones that `is_sent` says. `None` if that was not asked.
    #[must_use]
    pub fn losses(&self, low: u64, high: u64, is_sent: impl Fn(u64) -> bool) -> Option<Losses> {
        self.arrived.as_ref().map(|(pages, _)| pages.finish(low, high, is_sent))
    }

    /// The longest time in which nothing of the stream arrived between two frames that did, if that is known: the arrival
    /// before and the one after.
    #[must_use]
    pub fn silence(&self) -> Option<(u64, u64)> {
        self.arrived.as_ref().and_then(|(_, silences)| silences.longest())
    }

    /// How far frames came out of order, if that was asked.
    #[must_use]
    pub fn order(&self) -> Option<result::Reordering> {
        self.order.as_ref().map(Reordering::finish)
    }

    /// How latency varies from frame to frame; `None` if that was not asked, or no two neighbours arrived.
    #[must_use]
    pub fn variation(&self) -> Option<result::Variation> {
        self.variation.as_ref().and_then(Variation::finish)
    }

    /// Times between arrivals; `None` if that was not asked, fewer than two arrived or they came to several workers.
    #[must_use]
    pub fn spacing(&self) -> Option<result::Latency> {
        self.spacing.as_ref().and_then(Spacing::finish)
    }

    /// What became of each flow, if that was asked. Traffic began at `traffic_ps`; `sent` has the frames of each flow, counted
    /// from the first of the stream.
    #[must_use]
    pub fn by_flow(&self, traffic_ps: u64, sent: impl Fn(u32) -> u64) -> Option<result::FlowCounts> {
        self.by_flow.as_ref().map(|by_flow| by_flow.finish(traffic_ps, sent))
    }
}
