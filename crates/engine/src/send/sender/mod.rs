//! The sending side of one port: its streams merged by departure, its line used by one frame at a time.

mod burst;
mod many;
mod rows;
mod tally;

use super::block::BLOCK;
use super::lane::Lane;
use super::load::{AT_ONCE_FRAMES, AT_ONCE_PS, Load, room, shortest_at_once_ps};
use super::own::{Kind, Own, What, Which};
use super::pace::{Leave, Pace};
use crate::observe::Series;
use crate::result::CatchUp;
use many::Many;
use netdyno_frame::spec::Mac;
use netdyno_frame::tuple::FourTuple;
use netdyno_io::port::{MIN_SLOT_BYTES, Port, PortError, PortInfo, WIRE_OVERHEAD_BYTES};
use netdyno_io::time::Instant;
use std::collections::VecDeque;

/// Bytes of the FCS, which no slot holds and every count does.
const FCS_BYTES: u64 = netdyno_frame::FCS_BYTES as u64;

/// Own frames a port sends in a round of real time before the streams have their turn: neighbours wait for their answers
/// less long than a sender that is behind its schedule may need, and whoever floods it with questions must not stop it.
const OWN_A_ROUND: usize = 16;

/// Of more streams than this the load is not computed anew in each round,
const FEW: usize = 16;
/// but once in so much time for each of them, which is some twenty times what it takes; ps.
const LOAD_PS: u64 = 4_000_000;

/// The sending side of one port.
#[derive(Debug)]
pub struct Sender {
    /// The streams it sends.
    pub lanes: Vec<Lane>,
    /// Which of them is the only one with anything to send, if there is one.
    only: Option<usize>,
    /// What is known of several, if there are.
    many: Option<Box<Many>>,
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
    /// Whether the peer's ring was full after the end of the schedule: what is left then the peer has not taken in time.
    was_refused: bool,
    /// How long the peer's ring had been full before traffic, ns.
    pub pressed_before_ns: u64,
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
    /// Whether probes of any stream hold other departures than frames have.
    is_shifted: bool,
    /// The load it had come to when that was last computed, and when: of many streams that takes its time.
    load: Option<(u64, Load)>,
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
        if info.has_exact_time() {
            // Of drawn times, or at the crest of a wave, any number may be due while the line is busy, and all wait for it.
            let is_drawn = lanes.iter().any(|lane| lane.schedule.is_drawn());
            let waits = is_drawn || line_bps == 0 && lanes.iter().any(|lane| lane.schedule.arrival.is_some());
            let all_ps: u64 = lanes.iter().map(Lane::longest_ps).sum();
            for lane in &mut lanes {
                lane.others_frame_ps = all_ps - lane.longest_ps();
                lane.lag.beside(if waits { u64::MAX } else { lane.others_frame_ps });
            }
        }
        // All streams may have a frame due at one instant.
        let rounds = (lanes.len() as u64).div_ceil(AT_ONCE_FRAMES).max(1);
        let limit_ps = shortest_at_once_ps(lanes.iter().map(|lane| lane.part(None)));
        let limit_ps = limit_ps.saturating_mul(rounds).min(AT_ONCE_PS.max(limit_ps));
        let mut sending = (0..lanes.len()).filter(|&lane| lanes[lane].departures.peek() != u64::MAX);
        let (first, second) = (sending.next(), sending.next());
        Self {
            only: first.filter(|_| second.is_none()),
            many: second.map(|_| Box::new(Many::new(&mut lanes))),
            has_parts: lanes.iter().any(|lane| (1..lane.flows).contains(&lane.own_flows)),
            own: VecDeque::new(),
            answers: 0,
            own_frames: 0,
            said: Vec::new(),
            exact: info.has_exact_time(),
            rate_bps: info.rate_bps,
            line_bps,
            bursts_bps: lanes.iter().map(|lane| lane.schedule.bursts_bps()).max().unwrap_or(0),
            waits: bursts_ps > 0,
            pace: Pace::new(percent, room(line_bps, lowest), limit_ps),
            start_ps: u64::MAX,
            free_ps: 0,
            was_refused: false,
            pressed_before_ns: 0,
            last_departure_ps: 0,
            latest_ps: 0,
            burst_ps: 0,
            frames: 0,
            bytes: 0,
            tx: Series::new(0, 1, 1),
            tx_bytes: Series::new(0, 1, 1),
            at: [0; BLOCK],
            is_shifted: false,
            load: None,
            lanes,
        }
    }

    /// How it made up for pauses; nobody keeps it from sending in virtual time.
    #[must_use]
    pub fn catch_up(&self) -> Option<&CatchUp> {
        (!self.exact).then(|| self.pace.catch_up())
    }

    /// Adds what another worker sent on the same port.
    pub fn absorb(&mut self, other: &Self) {
        for (lane, other) in self.lanes.iter_mut().zip(&other.lanes) {
            lane.absorb(other);
        }
        self.was_refused |= other.was_refused;
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
            lane.lag.begin(series.clone());
        }
        if let Some(many) = &mut self.many {
            many.begin(&mut self.lanes);
        }
    }

    /// What is added to the departures that probes hold, per stream of the trial (real time).
    pub fn set_shifts(&mut self, shifts_ps: &[i64]) {
        for lane in &mut self.lanes {
            lane.shift_ps = shifts_ps.get(lane.stream).copied().unwrap_or(0);
        }
        self.is_shifted = self.lanes.iter().any(|lane| lane.shift_ps != 0);
    }

    /// Puts down with each lane all that was sent of it: before anybody looks.
    pub fn settle(&mut self) {
        if let Some(many) = &mut self.many {
            many.settle(&mut self.lanes);
        }
    }

    /// The frames of lane `lane` go to `mac` from now on.
    pub fn set_destination(&mut self, lane: usize, mac: Mac) {
        self.lanes[lane].template.set_destination(mac);
        self.renew(lane);
    }

    /// The flows of stream `stream` have these addresses and ports from now on.
    pub fn set_tuples(&mut self, stream: usize, tuples: &[FourTuple]) {
        if let Some(lane) = self.lanes.iter().position(|lane| lane.stream == stream) {
            self.lanes[lane].template.set_tuples(tuples);
            self.renew(lane);
        }
    }

    fn renew(&mut self, lane: usize) {
        if let Some(many) = &mut self.many {
            many.renew(lane, &self.lanes[lane]);
        }
    }

    /// Calls `tell` with the streams whose highest sequence of any flow has changed since this was last called, and one more
    /// than that.
    pub fn tell_sequences(&mut self, mut tell: impl FnMut(usize, u32)) {
        match (self.only, &mut self.many) {
            (Some(only), _) => tell(self.lanes[only].stream, self.lanes[only].sequences()),
            (None, Some(many)) => many.changed(&self.lanes).for_each(|(stream, sequences)| tell(stream, sequences)),
            (None, None) => {}
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

    /// Whether every frame of every stream has been sent, or was refused.
    #[must_use]
    pub fn done(&self) -> bool {
        self.was_refused || self.next_test().is_none()
    }

    /// When the next frame should depart, if `traffic` is on or an own frame waits.
    #[must_use]
    pub fn next_departure(&self, traffic: bool) -> Option<u64> {
        let own = self.own.front().map(|frame| frame.at_ps);
        let test = traffic.then(|| self.next_test()).flatten();
        let next = own.into_iter().chain(test).min()?;
        Some(if self.exact { next.max(self.free_ps) } else { next })
    }

    #[inline(always)]
    fn next_test(&self) -> Option<u64> {
        let next = match (self.only, &self.many) {
            (Some(only), _) => self.lanes[only].departures.peek(),
            (None, Some(many)) => many.merged.peek(),
            (None, None) => u64::MAX,
        };
        // Before traffic begins there is no time to add it to.
        (next != u64::MAX).then(|| self.start_ps.saturating_add(next))
    }

    /// Sends what is due at or before `now`: own frames and, up to `until_ps`, test frames, in real time as many as a round
    /// hands over. Stops early when the port has no room. In real time, what is late leaves no faster than it may.
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
        // Most rounds come before a frame is due. Nothing is owed then.
        if before > now.ps && self.own.front().is_none_or(|own| own.at_ps > now.ps) {
            return Ok(());
        }
        let on_line_ps = self.next_on_line(before);
        let load = (&self.lanes, &self.many, self.only, &mut self.load);
        let (line_bps, bursts_bps, start_ps) = (self.line_bps, self.bursts_bps, self.start_ps);
        let mut leave = self.pace.leave(now.ps, before, on_line_ps, || {
            let (lanes, many, only, last) = load;
            if let Some((at_ps, load)) = last
                && now.ps - *at_ps < LOAD_PS * lanes.len() as u64
                && lanes.len() > FEW
            {
                return *load;
            }
            let next_ps = |number: usize| match many {
                Some(many) => many.next_ps(number, &lanes[number]),
                None => only.filter(|&only| only == number).map(|_| before - start_ps),
            };
            let parts = lanes.iter().enumerate().map(|(number, lane)| lane.part(next_ps(number)));
            let load = Load::of(parts, line_bps, bursts_bps, before - start_ps, now.ps - start_ps);
            *last = Some((now.ps, load));
            load
        });
        leave.frames = leave.frames.min(AT_ONCE_FRAMES);
        self.send_due(port, now, leave, until_ps)?;
        let next = self.next_test().unwrap_or(u64::MAX);
        let (on_line_ps, sent) = (self.next_on_line(next), self.frames - self.own_frames - sent);
        self.pace.sent(now.ps, before, next, on_line_ps, sent);
        Ok(())
    }

    /// When the line should come to the next test frame, which is due at `next`.
    #[inline(always)]
    fn next_on_line(&self, next: u64) -> u64 {
        if !self.waits || next == u64::MAX {
            return next;
        }
        self.next_on_line_of_bursts(next)
    }

    #[cold]
    fn next_on_line_of_bursts(&self, next: u64) -> u64 {
        match (self.only, &self.many) {
            (Some(only), _) => next + self.lanes[only].wait_ps(self.lanes[only].walk.number()),
            (None, Some(many)) => self.start_ps + many.next_on_line(&self.lanes),
            (None, None) => next,
        }
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
            // In real time, what is late beyond all catching up stays unsent.
            if let Some(until_ps) = until_ps.filter(|&until_ps| (self.exact || now.ps <= until_ps) && !self.was_refused) {
                let bound = leave.until_ps.min(until_ps).min(own_at.saturating_sub(1));
                if self
                    .next_test()
                    .is_some_and(|at| (if self.exact { at.max(self.free_ps) } else { at }) <= bound)
                    && leave.frames > 0
                {
                    // In real time, each burst says when it departs itself: the ports and bursts that had their turn
                    // before it in this round took their time, and that is no latency of a device.
                    let departure = if self.exact { now } else { port.time(now) };
                    if !self.exact && departure.ps > until_ps {
                        return Ok(());
                    }
                    if !self.burst(port, departure, bound, &mut leave.frames)? && !has_moved(port, room_ps) {
                        self.was_refused = self.was_refused || self.is_refused(port, departure);
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

    /// Whether a port without room is behind its schedule because its peer does not read: overtime is for what pauses of the
    /// tester left, and what a full ring has no room for at the end was not taken in time.
    #[cold]
    fn is_refused(&self, port: &dyn Port, at: Instant) -> bool {
        let (true, Some(next)) = (!self.exact, self.next_test()) else {
            return false;
        };
        let end = self.lanes.iter().map(|lane| lane.schedule.duration_ps()).max().unwrap_or(0);
        let end = self.start_ps.saturating_add(end);
        let full_ns = port.counters().back_pressure.map_or(0, |pressed| pressed.full_ns);
        at.ps > end && full_ns.saturating_sub(self.pressed_before_ns) > end.saturating_sub(next) / 1000
    }

    /// Does the first of what is to be done beside the streams; a frame departs at `at`. Whether there was room.
    #[cold]
    fn act(&mut self, port: &mut dyn Port, now: Instant, at: u64) -> Result<bool, PortError> {
        match self.own.front().map(|own| &own.what) {
            None => return Ok(false),
            Some(&What::Redirect { lane }) => {
                if let Some(mac) = self.lanes[lane].moves_to.take() {
                    self.set_destination(lane, mac);
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
}

/// Whether the port takes frames from another time on than it did: one that had no room may yet have some now.
fn has_moved(port: &dyn Port, room_ps: u64) -> bool {
    port.room_from().ps > room_ps
}
