//! One stream at the port that sends it: where it stands, and what was sent of it.

use super::departures::Departures;
use super::flow_runs::{FlowRuns, Walk};
use super::lag::Lag;
use super::load::Part;
use super::schedule::Schedule;
use crate::observe::Series;
use netdyno_frame::spec::Mac;
use netdyno_frame::template::{Cursor, Slots, Template};
use netdyno_io::port::{Burst, PortInfo, WIRE_OVERHEAD_BYTES};
use netdyno_io::time::Instant;
use std::ops::Range;

/// Bytes of the FCS, which no slot holds and every count does.
const FCS_BYTES: u64 = netdyno_frame::FCS_BYTES as u64;

/// A stream as its sending port sees it.
#[derive(Debug)]
pub struct Lane {
    /// Index of the stream in the trial.
    pub stream: usize,
    /// What its frames look like.
    pub template: Template,
    pub(super) cursor: Cursor,
    /// Whether the cursor goes through its frames by itself. Else it is to be set at each run of flows.
    goes_on: bool,
    /// At the first frame that was not sent.
    pub(super) walk: Walk,
    /// At the first frame that was not written.
    pub(super) ahead: Walk,
    pub(super) schedule: Schedule,
    pub(super) departures: Departures,
    /// Per size: frame size, FCS counted.
    pub(super) sizes: Vec<u64>,
    /// Per size: time on the line, in picoseconds rounded down; 0 on a port without a rate.
    pub(super) line_ps: Vec<u64>,
    /// How long the line may be busy with bursts that other streams hand over at once, ps.
    pub(super) others_wait_ps: u64,
    /// How long it is with a frame (or burst) of each of them (exact time only), ps.
    pub(super) others_frame_ps: u64,
    pub(super) flows: u64,
    /// How many of them are in its share of the stream, if it has any.
    pub(super) own_flows: u64,
    /// Where other workers came to in their shares of it, when all is over.
    others: Vec<Walk>,
    /// Frames sent.
    pub offered: u64,
    /// Bytes sent, FCS counted.
    pub offered_bytes: u64,
    /// Frames sent per sample.
    pub tx: Series,
    /// How late they left.
    pub lag: Lag,
    /// Where its frames will go, while a change of it waits.
    pub(super) moves_to: Option<Mac>,
    /// Another host sends it: here it is known by name and schedule alone.
    pub is_remote: bool,
    /// What is added to the departures that its probes hold, ps.
    pub(super) shift_ps: i64,
}

impl Lane {
    /// A stream that sends the frames of `template` that are in `share`, if it has any, by `schedule` on a port of kind
    /// `info`.
    #[must_use]
    pub fn new(stream: usize, template: Template, schedule: Schedule, sizes: &[u32], flow_runs: Option<FlowRuns>, info: &PortInfo) -> Self {
        let line_ps = sizes
            .iter()
            .map(|&size| {
                let bits = u64::from(size).max(64) * 8 + (WIRE_OVERHEAD_BYTES - FCS_BYTES) * 8;
                bits.checked_mul(1_000_000_000_000)
                    .and_then(|scaled| scaled.checked_div(info.rate_bps))
                    .unwrap_or(0)
            })
            .collect();
        let share = flow_runs.unwrap_or(FlowRuns::all(template.flows()));
        let (walk, neighbours) = (Walk::new(share), share.neighbours());
        let goes_on = neighbours.is_some();
        let mut cursor = neighbours.map_or_else(|| template.cursor(), |flows| template.cursor_over(flows));
        template.seek(&mut cursor, walk.number());
        let flows = u64::from(template.flows());
        let own_flows = flow_runs.map_or(0, |flow_runs| u64::from(flow_runs.count()));
        Self {
            stream,
            cursor,
            goes_on,
            walk,
            ahead: walk,
            others_wait_ps: 0,
            others_frame_ps: 0,
            flows,
            template,
            own_flows,
            others: Vec::new(),
            lag: Lag::new(&schedule, own_flows, flows),
            moves_to: None,
            is_remote: false,
            shift_ps: 0,
            departures: flow_runs.map_or_else(Departures::none, |flow_runs| schedule.departures_of(flow_runs)),
            schedule,
            sizes: sizes.iter().map(|&size| u64::from(size)).collect(),
            line_ps,
            offered: 0,
            offered_bytes: 0,
            tx: Series::new(0, 1, 1),
        }
    }

    /// One more than the highest sequence number sent in any flow, by a worker that sends all of the stream.
    #[must_use]
    pub fn sequences(&self) -> u32 {
        self.offered.div_ceil(self.flows) as u32
    }

    /// As [`Self::sequences`], when all workers have sent everything.
    #[must_use]
    pub fn sequences_in_all(&self) -> u32 {
        self.schedule.frames().div_ceil(self.flows) as u32
    }

    /// How many frames of flow `flow`, counted from the first of the stream, were sent.
    #[must_use]
    pub fn sent(&self, flow: u32) -> u64 {
        let mut walks = (self.own_flows > 0).then_some(&self.walk).into_iter().chain(&self.others);
        walks.find_map(|walk| walk.passed(flow)).unwrap_or(0)
    }

    /// Of the numbers of its frames, counted in order of departure: all below the first were sent, by whichever worker, and
    /// none from the second on.
    #[must_use]
    pub fn sent_between(&self) -> (u64, u64) {
        let walks = (self.own_flows > 0).then_some(&self.walk).into_iter().chain(&self.others);
        let (low, high) = walks.fold((u64::MAX, 0), |(low, high), walk| (low.min(walk.number()), high.max(walk.number())));
        (low.min(high), high)
    }

    /// Adds what another worker sent of the same stream.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.offered += other.offered;
        self.offered_bytes += other.offered_bytes;
        self.tx.absorb(&other.tx);
        self.lag.absorb(&other.lag);
        self.others.extend((other.own_flows > 0).then_some(other.walk));
    }

    /// Writes the next frames into `places` of `burst`, of `sizes` and departing at `at`.
    pub(super) fn deal(&mut self, burst: &mut Burst<'_>, places: &[u8], sizes: &[u16], at: &[u64]) {
        let mut first = 0;
        while first < at.len() {
            let run = self.together(at.len() - first);
            let frames = first..first + run;
            let (places, at) = (&places[frames.clone()], &at[frames.clone()]);
            self.template
                .write_burst(&mut self.cursor, &sizes[frames], at, &mut Dealt { burst, places, at });
            first += run;
            self.go_on(run as u64);
        }
    }

    /// How many of the next `most` frames the cursor goes through by itself.
    #[inline]
    fn together(&self, most: usize) -> usize {
        if self.goes_on {
            most
        } else {
            self.ahead.left().min(most as u64) as usize
        }
    }

    /// Goes past `count` frames that were written, no more than are [together](Self::together).
    #[inline]
    fn go_on(&mut self, count: u64) {
        if self.goes_on {
            self.ahead.advance(count);
        } else if self.ahead.pass(count) {
            self.template.seek(&mut self.cursor, self.ahead.number());
        }
    }

    /// Writes the first `at.len()` frames of the block into `burst`, departing at `at`.
    pub(super) fn write(&mut self, burst: &mut Burst<'_>, at: &[u64]) {
        let mut first = 0;
        while first < at.len() {
            let run = self.together(at.len() - first);
            let (sizes, at) = (&self.departures.block().1[first..][..run], &at[first..][..run]);
            self.template
                .write_burst(&mut self.cursor, sizes, at, &mut Lent { burst, first, at });
            first += run;
            self.go_on(run as u64);
        }
    }

    /// Goes on to the next frame, one having been written.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.go_on(1);
    }

    /// Goes back to the first frame that was not sent.
    pub(super) fn back(&mut self) {
        self.ahead = self.walk;
        self.template.seek(&mut self.cursor, self.walk.number());
    }

    /// Whether its frames depart at the same times as those of `other`, no two of them at one.
    pub(super) fn departs_with(&self, other: &Self) -> bool {
        let same = (self.own_flows, self.flows, self.walk) == (other.own_flows, other.flows, other.walk);
        same && self.schedule.burst_ps() == 0 && self.schedule == other.schedule
    }

    /// How long its frame `number` waits for the line behind others that are handed over at once with it, at most: so much
    /// later than it says it may leave without being late (in real time), ps.
    #[inline]
    pub(super) fn wait_ps(&self, number: u64) -> u64 {
        self.others_wait_ps + self.schedule.wait_ps(number)
    }

    /// The most its line takes for what it has due at one instant: a frame, or all of a burst; ps, 0 if it never sends.
    pub(super) fn longest_ps(&self) -> u64 {
        let frame_ps = self.line_ps.iter().max().copied().unwrap_or(0);
        if self.schedule.frames() == 0 {
            0
        } else {
            frame_ps * self.schedule.burst_frames()
        }
    }

    /// Returns the lane's part of the load of its port, if its next frame is due at `next_ps`.
    pub(super) fn part(&self, next_ps: Option<u64>) -> Part<'_> {
        Part {
            schedule: &self.schedule,
            own: self.own_flows,
            flows: self.flows,
            next_ps,
        }
    }

    /// Returns the lane's load over time.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }
}

/// A burst that a template fills.
pub(super) struct Lent<'a, 'b> {
    pub burst: &'a mut Burst<'b>,
    /// The place of its first frame in the burst.
    pub first: usize,
    pub at: &'a [u64],
}

/// Places here and there in a burst, for the frames of a template.
struct Dealt<'a, 'b> {
    burst: &'a mut Burst<'b>,
    places: &'a [u8],
    at: &'a [u64],
}

impl Slots for Dealt<'_, '_> {
    #[inline]
    fn each(&mut self, frames: Range<usize>, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        let departures = self.at[frames.clone()].iter().map(|&ps| Instant { ps });
        let mut place = 0;
        self.burst.fill_at(&self.places[frames], departures, |slot| {
            place += 1;
            write(place - 1, slot)
        });
    }

    #[inline]
    fn remembers(&self) -> bool {
        self.burst.keeps_tails()
    }

    #[inline]
    fn each_head(&mut self, frames: Range<usize>, head: usize, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        let departures = self.at[frames.clone()].iter().map(|&ps| Instant { ps });
        let mut place = 0;
        self.burst.fill_heads_at(&self.places[frames], head, departures, |slot| {
            place += 1;
            write(place - 1, slot)
        });
    }
}

impl Slots for Lent<'_, '_> {
    #[inline]
    fn each(&mut self, frames: Range<usize>, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        let departures = self.at[frames.clone()].iter().map(|&ps| Instant { ps });
        let mut place = 0;
        self.burst.fill(self.first + frames.start, departures, |slot| {
            place += 1;
            write(place - 1, slot)
        });
    }

    #[inline]
    fn remembers(&self) -> bool {
        self.burst.keeps_tails()
    }

    #[inline]
    fn each_head(&mut self, frames: Range<usize>, head: usize, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        let departures = self.at[frames.clone()].iter().map(|&ps| Instant { ps });
        let mut place = 0;
        self.burst.fill_heads(self.first + frames.start, head, departures, |slot| {
            place += 1;
            write(place - 1, slot)
        });
    }
}
