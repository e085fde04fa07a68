//! How far frames came out of order (RFC 4737), flow by flow: the sequence is that of a flow, for frames of different flows
//! may take different paths and keep their order all the same (RFC 4737's type-P), and only a flow's frames come to one worker.
//!
//! A frame is reordered if its number is below the next expected (section 3.3). Its extent is how many arrivals before it the
//! earliest one was that it should have preceded (section 4.2): that is the one that skipped it, so what must be remembered
//! are skips. It is n-reordered if the n arrivals right before it all have higher numbers (section 5.3).

use super::latency::Timing;
use crate::result;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Skips remembered, all streams together, and of one stream at least.
const REMEMBERED: usize = 1 << 18;
const LEAST: usize = 1 << 10;
/// The most of one stream.
const MOST: usize = 1 << 16;

/// n-reordering is counted up to this n.
pub const MOST_N: usize = 64;

/// Frames of a flow that were skipped.
#[derive(Clone, Debug)]
struct Skip {
    missing: Range<u32>,
    /// Which arrival of the flow skipped them, counted from 1.
    arrival: u32,
}

/// What is remembered of a flow that skipped frames.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// In order.
    skips: VecDeque<Skip>,
    /// Reordered frames, by number and arrival, both ascending: of those with a higher number than one behind them no
    /// question is asked.
    late: VecDeque<(u32, u32)>,
}

/// Reordering of one stream, as one worker saw it.
#[derive(Debug)]
pub struct Reordering {
    flows: HashMap<u32, Flow>,
    /// Whose the skips that are remembered are, the oldest first.
    order: VecDeque<u32>,
    room: usize,
    extents: Timing,
    /// Reordered frames whose skip is not remembered.
    unplaced: u64,
    /// How many were so often, and no more, reordered; at the most those that were that or more.
    exactly: [u64; MOST_N + 1],
}

impl Reordering {
    /// Of one of `streams` streams.
    #[must_use]
    pub fn new(streams: usize) -> Self {
        Self {
            flows: HashMap::new(),
            order: VecDeque::new(),
            room: (REMEMBERED / streams.max(1)).clamp(LEAST, MOST),
            extents: Timing::new(),
            unplaced: 0,
            exactly: [0; MOST_N + 1],
        }
    }

    /// The `arrival`-th frame that arrived of `flow`, counted from 1, skipped the frames `missing`.
    #[cold]
    pub fn skipped(&mut self, flow: u32, missing: Range<u32>, arrival: u32) {
        if self.order.len() == self.room
            && let Some(oldest) = self.order.pop_front()
            && let Some(state) = self.flows.get_mut(&oldest)
        {
            state.skips.pop_front();
            if state.skips.is_empty() {
                self.flows.remove(&oldest);
            }
        }
        self.order.push_back(flow);
        self.flows.entry(flow).or_default().skips.push_back(Skip { missing, arrival });
    }

    /// Notes that frame `sequence` of `flow`, its `arrival`-th to arrive, was overtaken.
    #[cold]
    pub fn record_overtaken(&mut self, flow: u32, sequence: u32, arrival: u32) {
        let Some(state) = self.flows.get_mut(&flow) else {
            self.unplaced += 1;
            return;
        };
        let place = state.skips.partition_point(|skip| skip.missing.end <= sequence);
        let skip = state.skips.get(place).filter(|skip| skip.missing.contains(&sequence));
        if let Some(skip) = skip {
            let extent = arrival.saturating_sub(skip.arrival);
            self.extents.record_many(u64::from(extent), 1);
            // Of the arrivals since then those with lower numbers are reordered themselves.
            let below = state.late.partition_point(|late| late.0 < sequence);
            let lower = below.checked_sub(1).map_or(0, |last| state.late[last].1);
            let n = extent.min(arrival.saturating_sub(lower + 1));
            self.exactly[(n as usize).min(MOST_N)] += 1;
        } else {
            self.unplaced += 1;
        }
        while state.late.back().is_some_and(|late| late.0 > sequence) {
            state.late.pop_back();
        }
        state.late.push_back((sequence, arrival));
        if state.late.len() > MOST_N + 1 {
            // So many came since that it decides no n that is counted.
            state.late.pop_front();
        }
    }

    /// Adds what another worker saw of the same stream.
    pub fn absorb(&mut self, other: &Self) {
        self.extents.absorb(&other.extents);
        self.unplaced += other.unplaced;
        for (count, more) in self.exactly.iter_mut().zip(&other.exactly) {
            *count += more;
        }
    }

    /// Returns the reordering found.
    #[must_use]
    pub fn finish(&self) -> result::Reordering {
        let extents = self.extents.finish().unwrap_or_default();
        let mut at_least: Vec<u64> = (1..=MOST_N).map(|n| self.exactly[n..].iter().sum()).collect();
        at_least.truncate(at_least.iter().take_while(|&&frames| frames > 0).count());
        result::Reordering {
            placed: extents.count,
            extent_sum: extents.sum_ns as u64,
            extent_max: extents.max_ns,
            extents: (extents.count > 0).then_some(extents.histogram),
            unplaced: self.unplaced,
            n_reordered: at_least,
        }
    }
}
