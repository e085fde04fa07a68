//! The sending side of one port: its streams merged by departure, its line used by one frame at a time.

use super::departures::{BLOCK, Departures};
use super::lag::Lag;
use super::load::{AT_ONCE_FRAMES, Load, Part, room, shortest_at_once_ps};
use super::pace::{Leave, Pace};
use super::schedule::Schedule;
use super::share::{Share, Walk};
use crate::observe::Series;
use crate::result::CatchUp;
use crate::trial::Which;
use netdyno_frame::spec::Mac;
use netdyno_frame::template::{Cursor, Slots, Template};
use netdyno_io::port::{Burst, MIN_SLOT_BYTES, Port, PortError, PortInfo, WIRE_OVERHEAD_BYTES};
use netdyno_io::time::Instant;
use std::collections::VecDeque;
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
    cursor: Cursor,
    /// At the first frame that was not sent.
    walk: Walk,
    /// At the first frame that was not written.
    ahead: Walk,
    schedule: Schedule,
    departures: Departures,
    /// Per size: frame size, FCS counted.
    sizes: Vec<u64>,
    /// Per size: time on the line, in picoseconds rounded down; 0 on a port without a rate.
    line_ps: Vec<u64>,
    /// How long the line may be busy with bursts that other streams hand over at once, ps.
    others_wait_ps: u64,
    /// How long it is with a frame (or burst) of each of them (exact time only), ps.
    others_frame_ps: u64,
    flows: u64,
    /// How many of them are in its share of the stream, if it has any.
    own_flows: u64,
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
    /// In the burst that is counted: frames, and how late the latest of them left.
    burst: (u64, u64),
    /// Where its frames will go, while a change of it waits.
    moves_to: Option<Mac>,
}

impl Lane {
    /// A stream that sends the frames of `template` that are in `share`, if it has any, by `schedule` on a port of kind
    /// `info`.
    #[must_use]
    pub fn new(stream: usize, template: Template, schedule: Schedule, sizes: &[u32], share: Option<Share>, info: &PortInfo) -> Self {
        let line_ps = sizes
            .iter()
            .map(|&size| {
                let bits = u64::from(size).max(64) * 8 + (WIRE_OVERHEAD_BYTES - FCS_BYTES) * 8;
                bits.checked_mul(1_000_000_000_000)
                    .and_then(|scaled| scaled.checked_div(info.rate_bps))
                    .unwrap_or(0)
            })
            .collect();
        let walk = Walk::new(share.unwrap_or(Share::all(template.flows())));
        let mut cursor = template.cursor();
        template.seek(&mut cursor, walk.number());
        let flows = u64::from(template.flows());
        let own_flows = share.map_or(0, |share| u64::from(share.count()));
        Self {
            stream,
            cursor,
            walk,
            ahead: walk,
            others_wait_ps: 0,
            others_frame_ps: 0,
            flows,
            template,
            own_flows,
            others: Vec::new(),
            lag: Lag::new(&schedule, own_flows, flows),
            burst: (0, 0),
            moves_to: None,
            departures: share.map_or_else(Departures::none, |share| schedule.departures_of(share)),
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
    fn absorb(&mut self, other: &Self) {
        self.offered += other.offered;
        self.offered_bytes += other.offered_bytes;
        self.tx.absorb(&other.tx);
        self.lag.absorb(&other.lag);
        self.others.extend((other.own_flows > 0).then_some(other.walk));
    }

    /// Writes the first `at.len()` frames of the block into `burst`, departing at `at`.
    fn write(&mut self, burst: &mut Burst<'_>, at: &[u64]) {
        let (template, cursor, sizes) = (&self.template, &mut self.cursor, self.departures.block().1);
        let mut first = 0;
        while first < at.len() {
            let run = self.ahead.left().min((at.len() - first) as u64) as usize;
            let (sizes, at) = (&sizes[first..][..run], &at[first..][..run]);
            template.write_burst(cursor, sizes, at, &mut Lent { burst, first, at });
            first += run;
            if self.ahead.pass(run as u64) {
                template.seek(cursor, self.ahead.number());
            }
        }
    }

    /// Goes past a frame just written.
    #[inline]
    fn pass(&mut self) {
        if self.ahead.pass(1) {
            self.template.seek(&mut self.cursor, self.ahead.number());
        }
    }

    /// Goes back to the first frame that was not sent.
    fn back(&mut self) {
        self.ahead = self.walk;
        self.template.seek(&mut self.cursor, self.walk.number());
    }

    /// How long its frame `number` waits for the line behind others that are handed over at once with it, at most: so much
    /// later than it says it may leave without being late (by the clock), ps.
    #[inline]
    fn wait_ps(&self, number: u64) -> u64 {
        self.others_wait_ps + self.schedule.wait_ps(number)
    }

    /// The most its line takes for what it has due at one instant: a frame, or all of a burst; ps, 0 if it never sends.
    fn longest_ps(&self) -> u64 {
        let frame_ps = self.line_ps.iter().max().copied().unwrap_or(0);
        if self.schedule.frames() == 0 {
            0
        } else {
            frame_ps * self.schedule.burst_frames()
        }
    }

    /// Its part of the load of its port.
    fn part(&self) -> Part<'_> {
        let next_ps = self.departures.peek();
        Part {
            schedule: &self.schedule,
            own: self.own_flows,
            flows: self.flows,
            next_ps: (next_ps != u64::MAX).then_some(next_ps),
        }
    }

    /// Its load over time.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }
}

/// Own frames a port sends in a round by the clock before the streams have their turn: neighbours wait for their answers
/// less long than a sender that is behind its schedule may need, and whoever floods it with questions must not stop it.
const OWN_A_ROUND: usize = 16;

/// What a frame of the tester's own is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// ARP, ND, learning.
    Plain,
    /// It answers another.
    Answer,
    /// Said by the script of the trial.
    Message(Which),
}

/// What a port does beside its streams, and when it is due.
#[derive(Debug)]
struct Own {
    at_ps: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    /// Sends a frame of the tester's own (ARP, ND, learning, echo reply).
    Frame { bytes: Vec<u8>, kind: Kind },
    /// From now on the frames of a lane go where it moves to.
    Redirect { lane: usize },
}

/// The sending side of one port.
#[derive(Debug)]
pub struct Sender {
    /// The streams it sends.
    pub lanes: Vec<Lane>,
    /// Which of them is the only one with anything to send, if there is one.
    only: Option<usize>,
    /// Whether it sends no more than a part of some stream.
    has_parts: bool,
    own: VecDeque<Own>,
    /// How many of them are answers.
    answers: usize,
    /// Own frames sent.
    pub own_frames: u64,
    /// Messages among them, and when they left.
    pub said: Vec<(Which, u64)>,
    exact: bool,
    rate_bps: u64,
    /// Its line, as far as anybody knows it and it carries what is sent; else 0.
    line_bps: u64,
    /// The line at whose rate it spaces bursts itself; 0 without any.
    bursts_bps: u64,
    /// Whether frames are handed over in bursts at once, so that some wait for their line.
    waits: bool,
    /// How it makes up for pauses of the tester.
    pace: Pace,
    /// Start of traffic; lanes count from here.
    start_ps: u64,
    /// When the line is free again (exact time only).
    free_ps: u64,
    /// Departure of the last test frame.
    pub last_departure_ps: u64,
    /// The most a frame departed after its time.
    pub latest_ps: u64,
    /// The most one of the burst did that was written last (exact time only).
    burst_ps: u64,
    /// Frames sent, test and own.
    pub frames: u64,
    /// Their bytes, FCS counted.
    pub bytes: u64,
    /// Test frames per sample.
    pub tx: Series,
    /// Their bytes per sample.
    pub tx_bytes: Series,
    at: [u64; BLOCK],
    lane_of: [u8; BLOCK],
    /// Places in the lanes' blocks while a burst is merged.
    places: Vec<usize>,
}

impl Sender {
    /// The sending side of a port of kind `info`, for `lanes`. After a pause it catches up at `percent` of its load, and no
    /// faster than its line: `line_bps`, where the port does not know it; 0 is unknown.
    #[must_use]
    pub fn new(mut lanes: Vec<Lane>, info: &PortInfo, percent: u32, line_bps: u64) -> Self {
        let highest: u64 = lanes.iter().map(|lane| lane.schedule.highest_bps()).sum();
        let lowest: u64 = lanes.iter().map(|lane| lane.schedule.lowest_bps()).sum();
        let line = match (info.rate_bps, line_bps) {
            (0, declared) => declared,
            (known, _) => known,
        };
        // A line that is said to carry less than is sent is none.
        let line_bps = if line >= highest { line } else { 0 };
        let bursts_ps: u64 = lanes.iter().map(|lane| lane.schedule.burst_ps()).sum();
        for lane in &mut lanes {
            lane.others_wait_ps = bursts_ps - lane.schedule.burst_ps();
        }
        if info.exact_time {
            let all_ps: u64 = lanes.iter().map(Lane::longest_ps).sum();
            for lane in &mut lanes {
                lane.others_frame_ps = all_ps - lane.longest_ps();
                lane.lag.beside(lane.others_frame_ps);
            }
        }
        let limit_ps = shortest_at_once_ps(lanes.iter().map(Lane::part));
        let mut sending = (0..lanes.len()).filter(|&lane| lanes[lane].departures.peek() != u64::MAX);
        Self {
            only: sending.next().filter(|_| sending.next().is_none()),
            places: vec![0; lanes.len()],
            has_parts: lanes.iter().any(|lane| (1..lane.flows).contains(&lane.own_flows)),
            own: VecDeque::new(),
            answers: 0,
            own_frames: 0,
            said: Vec::new(),
            exact: info.exact_time,
            rate_bps: info.rate_bps,
            line_bps,
            bursts_bps: lanes.iter().map(|lane| lane.schedule.bursts_bps()).max().unwrap_or(0),
            waits: bursts_ps > 0,
            pace: Pace::new(percent, room(line_bps, lowest), limit_ps),
            start_ps: u64::MAX,
            free_ps: 0,
            last_departure_ps: 0,
            latest_ps: 0,
            burst_ps: 0,
            frames: 0,
            bytes: 0,
            tx: Series::new(0, 1, 1),
            tx_bytes: Series::new(0, 1, 1),
            at: [0; BLOCK],
            lane_of: [0; BLOCK],
            lanes,
        }
    }

    /// How it made up for pauses; nobody keeps it from sending in virtual time.
    #[must_use]
    pub fn catch_up(&self) -> Option<&CatchUp> {
        (!self.exact).then(|| self.pace.found())
    }

    /// Adds what another worker sent on the same port.
    pub fn absorb(&mut self, other: &Self) {
        for (lane, other) in self.lanes.iter_mut().zip(&other.lanes) {
            lane.absorb(other);
        }
        self.last_departure_ps = self.last_departure_ps.max(other.last_departure_ps);
        self.latest_ps = self.latest_ps.max(other.latest_ps);
        self.pace.absorb(&other.pace);
        self.own_frames += other.own_frames;
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.tx.absorb(&other.tx);
        self.tx_bytes.absorb(&other.tx_bytes);
    }

    /// Traffic starts at `start_ps`, counted in `samples` samples of `sample_ps`.
    pub fn begin(&mut self, start_ps: u64, sample_ps: u64, samples: usize) {
        let series = Series::new(start_ps, sample_ps, samples);
        self.start_ps = start_ps;
        self.tx = series.clone();
        self.tx_bytes = series.clone();
        for lane in &mut self.lanes {
            lane.tx = series.clone();
        }
    }

    /// Sends `bytes` at `at_ps`, or as soon after it as the line is free. Own frames go in order of time.
    pub fn own(&mut self, at_ps: u64, bytes: Vec<u8>) {
        self.queue(at_ps, bytes, Kind::Plain);
    }

    /// As [`Self::own`], of a frame that answers another.
    pub fn answer(&mut self, at_ps: u64, bytes: Vec<u8>) {
        self.queue(at_ps, bytes, Kind::Answer);
    }

    /// As [`Self::own`], of a message of the script.
    pub fn say(&mut self, at_ps: u64, which: Which, bytes: Vec<u8>) {
        self.queue(at_ps, bytes, Kind::Message(which));
    }

    fn queue(&mut self, at_ps: u64, mut bytes: Vec<u8>, kind: Kind) {
        // Short frames are padded here: not every port does it.
        bytes.resize(bytes.len().max(MIN_SLOT_BYTES as usize), 0);
        self.answers += usize::from(kind == Kind::Answer);
        self.plan(at_ps, What::Frame { bytes, kind });
    }

    /// The frames of lane `lane` that depart at or after `at_ps` go to `mac`. A change of the lane that waits already keeps
    /// its time and takes this address: of two boxes that quarrel about one, no more than the last word waits.
    pub fn redirect(&mut self, at_ps: u64, lane: usize, mac: Mac) {
        if self.lanes[lane].moves_to.replace(mac).is_none() {
            self.plan(at_ps, What::Redirect { lane });
        }
    }

    fn plan(&mut self, at_ps: u64, what: What) {
        let place = self.own.partition_point(|own| own.at_ps <= at_ps);
        self.own.insert(place, Own { at_ps, what });
    }

    /// Whether anything beside the streams waits for its time.
    #[must_use]
    pub fn has_plans(&self) -> bool {
        !self.own.is_empty()
    }

    /// Answers that wait to be sent.
    #[must_use]
    pub fn answers_waiting(&self) -> usize {
        self.answers
    }

    /// Whether every frame of every stream has been sent.
    #[must_use]
    pub fn done(&self) -> bool {
        self.lanes.iter().all(|lane| lane.departures.peek() == u64::MAX)
    }

    /// When the next frame should depart, if `traffic` is on or an own frame waits.
    #[must_use]
    pub fn next_departure(&self, traffic: bool) -> Option<u64> {
        let own = self.own.front().map(|frame| frame.at_ps);
        let test = traffic.then(|| self.next_test()).flatten();
        let next = own.into_iter().chain(test).min()?;
        Some(if self.exact { next.max(self.free_ps) } else { next })
    }

    fn next_test(&self) -> Option<u64> {
        let next = self.lanes.iter().map(|lane| lane.departures.peek()).min()?;
        (next != u64::MAX).then(|| self.start_ps + next)
    }

    /// Sends what is due at or before `now`: own frames and, up to `until_ps`, test frames, by the clock as many as a round
    /// hands over. Stops early when the port has no room. By the clock, what is late leaves no faster than it may.
    ///
    /// # Errors
    /// If the port is gone or the system refuses.
    pub fn send(&mut self, port: &mut dyn Port, now: Instant, until_ps: Option<u64>) -> Result<(), PortError> {
        if self.exact || until_ps.is_none() {
            let all = Leave {
                until_ps: now.ps,
                frames: u64::MAX,
            };
            return self.send_due(port, now, all, until_ps);
        }
        let (before, sent) = (self.next_test().unwrap_or(u64::MAX), self.frames - self.own_frames);
        let on_line_ps = self.next_on_line(before);
        let (lanes, line_bps, bursts_bps, start_ps) = (&self.lanes, self.line_bps, self.bursts_bps, self.start_ps);
        let mut leave = self.pace.leave(now.ps, before, on_line_ps, || {
            let parts = lanes.iter().map(Lane::part);
            Load::of(parts, line_bps, bursts_bps, before - start_ps, now.ps - start_ps)
        });
        leave.frames = leave.frames.min(AT_ONCE_FRAMES);
        self.send_due(port, now, leave, until_ps)?;
        let next = self.next_test().unwrap_or(u64::MAX);
        let (on_line_ps, sent) = (self.next_on_line(next), self.frames - self.own_frames - sent);
        self.pace.sent(now.ps, before, next, on_line_ps, sent);
        Ok(())
    }

    /// When the line should come to the next test frame, which is due at `next`.
    fn next_on_line(&self, next: u64) -> u64 {
        if !self.waits || next == u64::MAX {
            return next;
        }
        let more = self.lanes.iter().filter(|lane| lane.departures.peek() != u64::MAX);
        more.map(|lane| self.start_ps + lane.departures.peek() + lane.wait_ps(lane.walk.number()))
            .min()
            .unwrap_or(next)
    }

    /// As [`Self::send`], with the test frames that may `leave`.
    fn send_due(&mut self, port: &mut dyn Port, now: Instant, mut leave: Leave, until_ps: Option<u64>) -> Result<(), PortError> {
        let mut own_at = u64::MAX;
        if !self.exact {
            for _ in 0..OWN_A_ROUND {
                if self.own.front().is_none_or(|own| own.at_ps > now.ps) {
                    break;
                }
                if !self.act(port, now, now.ps)? {
                    return Ok(());
                }
            }
        }
        loop {
            let room_ps = port.room_from().ps;
            self.free_ps = self.free_ps.max(room_ps);
            if self.exact {
                own_at = self.own.front().map_or(u64::MAX, |own| own.at_ps);
            }
            // By the clock, what is late beyond all catching up stays unsent.
            if let Some(until_ps) = until_ps.filter(|&until_ps| self.exact || now.ps <= until_ps) {
                let bound = leave.until_ps.min(until_ps).min(own_at.saturating_sub(1));
                if self
                    .next_test()
                    .is_some_and(|at| (if self.exact { at.max(self.free_ps) } else { at }) <= bound)
                    && leave.frames > 0
                {
                    // By the clock, each burst says when it departs itself: the ports and bursts that had their turn
                    // before it in this round took their time, and that is no latency of a device.
                    let departure = if self.exact { now } else { port.time(now) };
                    if (!self.exact && departure.ps > until_ps)
                        || !self.burst(port, departure, bound, &mut leave.frames)? && !has_moved(port, room_ps)
                    {
                        return Ok(());
                    }
                    continue;
                }
            }
            let at = own_at.max(self.free_ps);
            if at > now.ps || !self.act(port, now, at)? && !has_moved(port, room_ps) {
                return Ok(());
            }
        }
    }

    /// Does the first of what is to be done beside the streams; a frame departs at `at`. Whether there was room.
    #[cold]
    fn act(&mut self, port: &mut dyn Port, now: Instant, at: u64) -> Result<bool, PortError> {
        match self.own.front().map(|own| &own.what) {
            None => return Ok(false),
            Some(&What::Redirect { lane }) => {
                let lane = &mut self.lanes[lane];
                if let Some(mac) = lane.moves_to.take() {
                    lane.template.set_destination(mac);
                }
            }
            Some(What::Frame { bytes, kind }) => {
                let taken = port.transmit(now, 1, &mut |burst| {
                    let room = burst.frame_mut(0);
                    room[..bytes.len()].copy_from_slice(bytes);
                    burst.set(0, bytes.len(), Instant { ps: at });
                    1
                })?;
                if taken == 0 {
                    return Ok(false);
                }
                let on_line = bytes.len() as u64 + WIRE_OVERHEAD_BYTES;
                let busy_ps = (on_line * 8_000_000_000_000).checked_div(self.rate_bps).unwrap_or(0);
                self.free_ps = at + busy_ps;
                if self.exact && (at >= self.start_ps || matches!(kind, Kind::Message(_))) {
                    // What it says of its own goes before a test frame, as another stream's frame does; before the first
                    // one of all, too.
                    for lane in &mut self.lanes {
                        lane.lag.beside(lane.others_frame_ps + busy_ps);
                    }
                }
                self.frames += 1;
                self.own_frames += 1;
                self.bytes += bytes.len() as u64 + FCS_BYTES;
                match *kind {
                    Kind::Plain => {}
                    Kind::Answer => self.answers -= 1,
                    Kind::Message(which) => self.said.push((which, at)),
                }
            }
        }
        self.own.pop_front();
        Ok(true)
    }

    /// Sends one burst of the test frames due at or before `bound`, of which no more than `left` may leave. Whether all written
    /// were taken.
    fn burst(&mut self, port: &mut dyn Port, now: Instant, bound: u64, left: &mut u64) -> Result<bool, PortError> {
        let mut written = 0;
        // No more slots than frames: a port has work with each one it lends.
        let latest = bound - self.start_ps;
        let ready: usize = self.lanes.iter().map(|lane| due(lane.departures.block().0, latest)).sum();
        let most = (ready.min(BLOCK) as u64).min(*left) as usize;
        let taken = port.transmit(now, most, &mut |burst| {
            written = match self.only {
                Some(only) => self.write_one(only, burst, now, bound),
                None => self.write_merged(burst, now, bound),
            };
            written
        })?;
        // A round is one of so many bursts, which takes its time however short they are. But those of a part of a stream are
        // short as such, and would never be as many frames.
        let counted = if self.has_parts && taken == most { taken } else { BLOCK };
        *left = left.saturating_sub(counted as u64);
        if taken > 0 {
            self.account(taken);
        }
        if taken < written {
            // The others stay due.
            self.lanes.iter_mut().for_each(Lane::back);
        }
        Ok(taken == written && written > 0)
    }

    /// Writes frames of the only stream, all of whose slots are for frames due at or before `bound`. How many.
    fn write_one(&mut self, only: usize, burst: &mut Burst<'_>, now: Instant, bound: u64) -> usize {
        let lane = &mut self.lanes[only];
        let (times, sizes) = lane.departures.block();
        let room = burst.len().min(times.len());
        let mut count = 0;
        let spacing = match lane.line_ps[..] {
            [line_ps] => line_ps,
            _ => u64::MAX,
        };
        if self.exact && self.start_ps + times[0] >= self.free_ps && are_apart(&times[..room], spacing) {
            // Nobody has to wait for the line.
            self.burst_ps = 0;
            for (at, time) in self.at.iter_mut().zip(&times[..room]) {
                *at = self.start_ps + time;
            }
            count = room;
        } else if self.exact {
            let mut free = self.free_ps;
            let mut latest = 0;
            while count < room {
                let intended = self.start_ps + times[count];
                let at = intended.max(free);
                if at > bound {
                    break;
                }
                latest = latest.max(at - intended);
                self.at[count] = at;
                free = at + lane.line_ps[usize::from(sizes[count])];
                count += 1;
            }
            self.burst_ps = latest;
            self.latest_ps = self.latest_ps.max(latest);
        } else {
            count = room;
            self.at[..count].fill(now.ps);
            let on_line_ps = self.start_ps + times[0] + lane.wait_ps(lane.ahead.number());
            self.latest_ps = self.latest_ps.max(now.ps.saturating_sub(on_line_ps));
        }
        lane.write(burst, &self.at[..count]);
        count
    }

    /// Writes frames of several streams in order of departure. How many.
    fn write_merged(&mut self, burst: &mut Burst<'_>, now: Instant, bound: u64) -> usize {
        let mut free = self.free_ps;
        self.places.fill(0);
        let mut count = 0;
        while count < burst.len().min(BLOCK) {
            let (mut chosen, mut earliest) = (usize::MAX, u64::MAX);
            for (number, lane) in self.lanes.iter().enumerate() {
                match lane.departures.block().0.get(self.places[number]) {
                    Some(&time) if time < earliest => (chosen, earliest) = (number, time),
                    // This block is used up, and what follows it may come first: the burst ends here.
                    None if self.places[number] > 0 => return count,
                    _ => {}
                }
            }
            let intended = self.start_ps.saturating_add(earliest);
            let at = if self.exact { intended.max(free) } else { now.ps };
            if intended.max(if self.exact { at } else { 0 }) > bound || chosen == usize::MAX {
                break;
            }
            let lane = &mut self.lanes[chosen];
            let on_line_ps = intended + lane.wait_ps(lane.ahead.number());
            self.latest_ps = self.latest_ps.max(at.saturating_sub(on_line_ps));
            let size = lane.departures.block().1[self.places[chosen]];
            let len = lane.template.write(&mut lane.cursor, usize::from(size), at, burst.frame_mut(count));
            lane.pass();
            burst.set(count, len, Instant { ps: at });
            self.at[count] = at;
            self.lane_of[count] = chosen as u8;
            self.places[chosen] += 1;
            free = at + lane.line_ps[usize::from(size)];
            count += 1;
        }
        count
    }

    /// Counts the `taken` frames of a burst and goes past them.
    fn account(&mut self, taken: usize) {
        let (first, last) = (self.at[0], self.at[taken - 1]);
        let start_ps = self.start_ps;
        self.last_departure_ps = last;
        self.frames += taken as u64;
        if let Some(lane) = self.only.and_then(|only| self.lanes.get_mut(only)) {
            let (times, sizes) = lane.departures.block();
            let (times, sizes) = (&times[..taken], &sizes[..taken]);
            if self.exact {
                lane.lag.record_each(&self.at[..taken], times, start_ps, self.burst_ps);
            } else {
                // All have the departure of their burst: each counts as late as the first of them.
                let on_line_ps = start_ps + times[0] + lane.wait_ps(lane.walk.number());
                lane.lag.record(first.saturating_sub(on_line_ps), taken as u64);
            }
            let bytes = match lane.sizes[..] {
                [size] => size * taken as u64,
                ref table => sizes.iter().map(|&size| table[usize::from(size)]).sum(),
            };
            self.free_ps = last + lane.line_ps[usize::from(sizes[taken - 1])];
            self.tx.add(first, 0);
            if self.tx.holds(last) {
                self.tx.add(first, taken as u64);
                self.tx_bytes.add(first, bytes);
                lane.tx.add(first, taken as u64);
            } else {
                for (&at, &size) in self.at[..taken].iter().zip(sizes) {
                    self.tx.add(at, 1);
                    self.tx_bytes.add(at, lane.sizes[usize::from(size)]);
                    lane.tx.add(at, 1);
                }
            }
            lane.offered += taken as u64;
            lane.offered_bytes += bytes;
            self.bytes += bytes;
            lane.walk.advance(taken as u64);
            lane.departures.advance(taken);
            return;
        }
        for index in 0..taken {
            let lane = &mut self.lanes[usize::from(self.lane_of[index])];
            let (at, size) = (self.at[index], lane.departures.peek_size());
            let lag_ps = at.saturating_sub(start_ps + lane.departures.peek() + lane.wait_ps(lane.walk.number()));
            if self.exact && lag_ps > 0 {
                lane.lag.record(lag_ps, 1);
            } else {
                lane.burst = (lane.burst.0 + 1, lane.burst.1.max(lag_ps));
            }
            self.tx.add(at, 1);
            self.tx_bytes.add(at, lane.sizes[size]);
            lane.tx.add(at, 1);
            lane.offered += 1;
            lane.offered_bytes += lane.sizes[size];
            self.bytes += lane.sizes[size];
            self.free_ps = at + lane.line_ps[size];
            lane.walk.pass(1);
            lane.departures.advance(1);
        }
        for lane in self.lanes.iter_mut().filter(|lane| lane.burst.0 > 0) {
            let (frames, lag_ps) = std::mem::take(&mut lane.burst);
            lane.lag.record(lag_ps, frames);
        }
    }
}

/// Whether the port takes frames from another time on than it did: one that had no room may yet have some now.
fn has_moved(port: &dyn Port, room_ps: u64) -> bool {
    port.room_from().ps > room_ps
}

/// How many of `times`, which ascend, are not after `bound`.
#[inline]
fn due(times: &[u64], bound: u64) -> usize {
    match times.last() {
        Some(&last) if last <= bound => times.len(),
        // Of so few, counting side by side is faster than bisecting.
        _ => times.iter().map(|&time| usize::from(time <= bound)).sum(),
    }
}

/// Whether each of `times` is at least `spacing` after the one before it.
#[inline]
fn are_apart(times: &[u64], spacing: u64) -> bool {
    let too_near = times.iter().zip(&times[1..]).map(|(one, next)| u64::from(next - one < spacing));
    too_near.sum::<u64>() == 0
}

/// A burst that a template fills.
struct Lent<'a, 'b> {
    burst: &'a mut Burst<'b>,
    /// The place of its first frame in the burst.
    first: usize,
    at: &'a [u64],
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
}
