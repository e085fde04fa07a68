//! A trial: resolve and learn, settle, transmit by schedule, stop, drain, read (RFC 2544 section 23).

mod life;

use crate::error::SpecError;
use crate::host::Host;
use crate::progress::Progress;
use crate::receive::Receiver;
use crate::result::TrialResult;
use crate::spec::TrialSpec;
use crate::transmit::Sender;
use crate::{compile, report};
use netdyno_frame::parse::Tag;
use netdyno_io::drive::Node;
use netdyno_io::port::{Port, PortCounters, PortError};
use netdyno_io::time::Instant;
use std::net::IpAddr;
use std::sync::Arc;

/// Questions for a next hop are repeated this often.
const RETRY_PS: u64 = 250_000_000_000;
/// Learning frames of one port are this far apart.
const LEARNING_PS: u64 = 10_000_000;
/// What the schedule asked for and could not be sent in time is sent up to this long after its end.
pub(crate) const CATCH_UP_PS: u64 = 1_000_000_000;
/// In virtual time answers leave this long after the question came in. A question is seen up to two rounds after it came,
/// so that is how far time may advance in two of them: then answers find their place among frames not yet sent, whatever
/// the round.
pub const ANSWER_PS: u64 = 100_000_000;
/// Answers (ARP, ND, echo) that wait on one port at most.
const MOST_ANSWERS: usize = 256;
/// Bursts a port sends or receives in a round in real time before the others have their turn.
const BURSTS: usize = 4;

/// The stage a trial is in, with when it ends or began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not stepped yet.
    New,
    /// Waiting for next hops; the next questions are due at `ask_ps`.
    Resolve { ask_ps: u64 },
    /// Traffic starts at `until_ps`.
    Settle { until_ps: u64 },
    /// By schedule.
    Traffic,
    /// Receiving until `until_ps`.
    Drain { until_ps: u64 },
    /// Over.
    Done,
}

/// When the stages of a trial were, in picoseconds of the clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub began: u64,
    pub resolved: u64,
    pub traffic: u64,
    /// When sending stopped by schedule or by cancelling.
    pub stopped: u64,
    pub drain: u64,
    pub ended: u64,
}

/// A stream that waits for its next hop.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    pub port: usize,
    pub lane: usize,
    pub tags: Vec<Tag>,
    pub address: IpAddr,
}

/// A trial that cannot be, and the ports it was to run on.
pub struct Refused {
    /// Why.
    pub error: SpecError,
    /// As they were given.
    pub ports: Vec<Box<dyn Port>>,
}

impl std::fmt::Debug for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Refused").field(&self.error).finish()
    }
}

/// One trial on ports it owns for its time.
pub struct Trial {
    pub(crate) spec: TrialSpec,
    pub(crate) ports: Vec<Box<dyn Port>>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) receiver: Receiver,
    hops: Vec<Hop>,
    exact: bool,
    stage: Stage,
    pub(crate) times: Times,
    pub(crate) duration_ps: u64,
    pub(crate) invalid: Vec<String>,
    pub(crate) cancelled: bool,
    /// Whether traffic began at all.
    pub(crate) took_place: bool,
    progress: Arc<Progress>,
    /// What the ports had counted when traffic began: what they drop before says nothing of it.
    pub(crate) before: Vec<PortCounters>,
    /// Last round, to find the longest gap between two (real time).
    last_round_ps: u64,
    pub(crate) longest_gap_ps: u64,
    /// A round at or after the end has been: in the next one, what devices did in it has arrived.
    closing: bool,
    finished: bool,
    /// Whether the last port comes first in this round (real time): first and last turn by turn, so that no direction
    /// waits for the other more than the other for it.
    turned: bool,
    heard: Vec<(u64, Vec<u8>)>,
    /// When the next poll of a next hop is due.
    poll_ps: u64,
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trial")
            .field("stage", &self.stage)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

impl Trial {
    /// A trial of `spec` on `ports`, which are those of the spec in order.
    ///
    /// # Errors
    /// If the specification cannot be met: where and why; the ports come back with it.
    pub fn new(spec: TrialSpec, ports: Vec<Box<dyn Port>>) -> Result<Self, Refused> {
        let infos: Vec<_> = ports.iter().map(|port| port.info().clone()).collect();
        let (hosts, senders, receiver, hops) = match compile::trial(&spec, &infos) {
            Ok(parts) => parts,
            Err(error) => return Err(Refused { error, ports }),
        };
        let duration_ps = senders
            .iter()
            .flat_map(|sender| &sender.lanes)
            .map(|lane| lane.schedule().duration_ps())
            .max();
        let duration_ps = duration_ps.unwrap_or(0);
        let progress = Progress::new(
            report::phase_names(&spec),
            infos.iter().map(|info| info.name.clone()).collect(),
            spec.settle_ns + duration_ps / 1000 + spec.drain_ns,
        );
        Ok(Self {
            before: ports.iter().map(|port| port.counters()).collect(),
            exact: infos.iter().all(|info| info.exact_time),
            spec,
            ports,
            hosts,
            senders,
            receiver,
            hops,
            stage: Stage::New,
            times: Times::default(),
            duration_ps,
            invalid: Vec::new(),
            cancelled: false,
            took_place: false,
            progress: Arc::new(progress),
            last_round_ps: 0,
            longest_gap_ps: 0,
            closing: false,
            finished: false,
            turned: false,
            heard: Vec::new(),
            poll_ps: u64::MAX,
        })
    }

    /// To watch and to cancel the trial from another thread.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Readies the ports, which may take their time: before the first step, and not counted in any. A trial without one
    /// of its ports has finished, and is invalid.
    pub fn ready(&mut self) {
        if let Err(error) = self.ports.iter_mut().try_for_each(|port| port.ready()) {
            self.invalid.push(error.to_string());
            self.end(0);
            self.finished = true;
        }
    }

    /// What the trial found, once it has finished.
    #[must_use]
    pub fn result(&self) -> TrialResult {
        report::result(self)
    }

    /// Gives the ports back, for the next trial.
    #[must_use]
    pub fn into_ports(self) -> Vec<Box<dyn Port>> {
        self.ports
    }

    /// Ends the trial in order: stop, drain, read.
    fn heed_cancel(&mut self, now: u64) {
        if self.cancelled || !self.progress.is_cancelled() {
            return;
        }
        self.cancelled = true;
        match self.stage {
            Stage::New | Stage::Resolve { .. } | Stage::Settle { .. } => {
                self.invalid.push("cancelled before traffic began".to_owned());
                self.end(now);
            }
            Stage::Traffic => self.drain(now, now),
            Stage::Drain { .. } | Stage::Done => {}
        }
    }

    fn end(&mut self, at: u64) {
        // Stages that were not reached are empty ones, now.
        let times = &mut self.times;
        let missing: &mut [&mut u64] = match self.stage {
            Stage::New | Stage::Resolve { .. } => &mut [&mut times.resolved, &mut times.traffic, &mut times.stopped, &mut times.drain],
            Stage::Settle { .. } => &mut [&mut times.traffic, &mut times.stopped, &mut times.drain],
            Stage::Traffic => &mut [&mut times.stopped, &mut times.drain],
            Stage::Drain { .. } | Stage::Done => &mut [],
        };
        for time in missing {
            **time = at;
        }
        self.times.ended = at;
        self.stage = Stage::Done;
    }

    /// Whether every next hop has answered.
    fn all_answered(&self) -> bool {
        self.hosts.iter().all(|host| host.unanswered().next().is_none())
    }

    /// Goes through all stages that end at or before `now`.
    fn advance(&mut self, now: u64) {
        loop {
            match self.stage {
                Stage::New => {
                    self.times.began = now;
                    self.last_round_ps = now;
                    self.announce(now);
                    if self.all_answered() {
                        self.settle(now);
                    } else {
                        self.stage = Stage::Resolve { ask_ps: now };
                    }
                }
                Stage::Resolve { ask_ps } => {
                    let limit = self.times.began + self.spec.resolve_ns * 1000;
                    if self.all_answered() {
                        // Not at the answer itself: in virtual time that is over when it is seen.
                        self.settle(if self.exact { self.times.resolved + ANSWER_PS } else { now });
                    } else if now >= limit {
                        self.give_up(limit);
                    } else if now >= ask_ps {
                        for (host, sender) in self.hosts.iter().zip(&mut self.senders) {
                            for question in host.questions() {
                                sender.own(ask_ps, question);
                            }
                        }
                        self.stage = Stage::Resolve { ask_ps: ask_ps + RETRY_PS };
                        return;
                    } else {
                        return;
                    }
                }
                Stage::Settle { until_ps } if now >= until_ps => self.begin(if self.exact { until_ps } else { now }),
                Stage::Traffic => {
                    let end = self.times.traffic + self.duration_ps;
                    if now < end {
                        return;
                    }
                    if self.senders.iter().all(Sender::done) {
                        let last = self.senders.iter().map(|sender| sender.last_departure_ps).max().unwrap_or(0);
                        self.drain(end, end.max(last));
                    } else if now >= end + CATCH_UP_PS {
                        self.drain(end, end + CATCH_UP_PS);
                    } else {
                        return;
                    }
                }
                Stage::Drain { until_ps } if now >= until_ps && self.closing => {
                    self.end(until_ps);
                    self.finished = true;
                }
                Stage::Settle { .. } | Stage::Drain { .. } => return,
                Stage::Done => {
                    self.finished = true;
                    return;
                }
            }
        }
    }

    fn give_up(&mut self, at: u64) {
        for (host, port) in self.hosts.iter().zip(&self.ports) {
            for address in host.unanswered() {
                let name = &port.info().name;
                let waited = self.spec.resolve_ns / 1_000_000;
                self.invalid
                    .push(format!("next hop {address} did not answer on port `{name}` within {waited} ms"));
            }
        }
        self.end(at);
    }

    fn settle(&mut self, at: u64) {
        self.times.resolved = at;
        self.keep_next_hops(at);
        for hop in &self.hops {
            if let Some(mac) = self.hosts[hop.port].answer(&hop.tags, hop.address) {
                self.senders[hop.port].lanes[hop.lane].template.set_destination(mac);
            }
        }
        let mut learned = at;
        if self.spec.learn {
            for (port, frames) in compile::learning_frames(&self.spec, &self.senders, &self.hosts)
                .into_iter()
                .enumerate()
            {
                for (number, frame) in (0..).zip(frames) {
                    let due = at + number * LEARNING_PS;
                    learned = learned.max(due);
                    self.senders[port].own(due, frame);
                }
            }
        }
        self.stage = Stage::Settle {
            until_ps: learned + self.spec.settle_ns * 1000,
        };
    }

    fn begin(&mut self, at: u64) {
        self.times.traffic = at;
        let sample_ps = self.spec.sample_ns * 1000;
        let samples = (self.duration_ps + self.spec.drain_ns * 1000).div_ceil(sample_ps).max(1) as usize;
        for sender in &mut self.senders {
            sender.begin(at, sample_ps, samples);
        }
        self.receiver.begin(at, at + self.duration_ps + CATCH_UP_PS, sample_ps, samples);
        self.last_round_ps = at;
        self.before = self.ports.iter().map(|port| port.counters()).collect();
        self.took_place = true;
        self.stage = Stage::Traffic;
        self.progress
            .expect((at - self.times.began + self.duration_ps) / 1000 + self.spec.drain_ns);
    }

    fn drain(&mut self, stopped: u64, from: u64) {
        self.times.stopped = stopped;
        self.times.drain = from;
        self.stage = Stage::Drain {
            until_ps: from + self.spec.drain_ns * 1000,
        };
    }

    /// The port whose turn is at `place` of a round.
    fn in_turn(&self, place: usize) -> usize {
        if self.turned { self.ports.len() - 1 - place } else { place }
    }

    /// Sends what is due on every port.
    fn send(&mut self, now: Instant) -> Result<(), PortError> {
        let until_ps = (self.stage == Stage::Traffic).then_some(self.times.traffic + self.duration_ps + CATCH_UP_PS);
        let bursts = if self.exact { usize::MAX } else { BURSTS };
        for place in 0..self.ports.len() {
            let number = self.in_turn(place);
            let sender = &mut self.senders[number];
            sender.send(&mut *self.ports[number], now, until_ps, bursts)?;
            for lane in &sender.lanes {
                self.receiver.streams[lane.stream].sequences = lane.sequences();
            }
        }
        Ok(())
    }

    /// Receives what has arrived on every port, and puts what is to be answered in the queue.
    fn receive(&mut self, now: Instant) -> Result<(), PortError> {
        let until_ps = match self.stage {
            Stage::Drain { until_ps } => until_ps,
            Stage::Done => self.times.ended,
            _ => u64::MAX,
        };
        let bursts = if self.exact { usize::MAX } else { BURSTS };
        let answer_ps = if self.exact { ANSWER_PS } else { 0 };
        for place in 0..self.ports.len() {
            let number = self.in_turn(place);
            let port = &mut self.ports[number];
            let (receiver, host, heard) = (&mut self.receiver, &mut self.hosts[number], &mut self.heard);
            let resolved_ps = &mut self.times.resolved;
            let mut stranger_ps = None;
            for _ in 0..bursts {
                let lent = port.receive(now, 256, &mut |burst| {
                    receiver.take(number, burst, until_ps, &mut |frame, at| {
                        let open = host.unanswered().count();
                        stranger_ps = Some(at);
                        if let Some(answer) = host.hear(frame, at) {
                            heard.push((at, answer));
                        }
                        if host.unanswered().count() < open {
                            *resolved_ps = at.max(*resolved_ps);
                        }
                    });
                })?;
                if lent == 0 {
                    break;
                }
            }
            // Whoever asks more often than the port can answer is not answered each time: his questions must
            // neither fill the memory nor take the line from the traffic.
            let room = MOST_ANSWERS.saturating_sub(self.senders[number].answers_waiting());
            for (at, answer) in self.heard.drain(..).take(room) {
                self.senders[number].answer(at + answer_ps, answer);
            }
            if let Some(at) = stranger_ps {
                self.follow(number, at);
            }
        }
        Ok(())
    }

    fn round(&mut self, now: Instant) -> Result<(), PortError> {
        self.poll(now.ps);
        // Sending first settles when the traffic ended, and with it until when arrivals count.
        self.send(now)?;
        let before = self.stage;
        self.advance(now.ps);
        if before != self.stage {
            // Traffic that begins within this round is sent in it: the device must not be past its first frames.
            self.send(now)?;
            self.advance(now.ps);
        }
        self.receive(now)?;
        let before = self.stage;
        if matches!(before, Stage::Drain { until_ps } if now.ps >= until_ps) {
            self.closing = true;
        } else {
            self.advance(now.ps);
            if before != self.stage {
                self.send(now)?;
                self.advance(now.ps);
            }
        }
        Ok(())
    }

    fn tell(&self, now: u64) {
        let (phase, at) = report::phase_at(self, self.stage, now);
        self.progress.at(phase, at.saturating_sub(self.times.began) / 1000);
        for (index, (sender, arrivals)) in self.senders.iter().zip(&self.receiver.ports).enumerate() {
            self.progress
                .port(index, [sender.frames, sender.bytes, arrivals.frames, arrivals.bytes]);
        }
    }
}

impl Node for Trial {
    fn next_wakeup(&self) -> Option<Instant> {
        let traffic = self.stage == Stage::Traffic;
        let stage_ps = match self.stage {
            Stage::New | Stage::Done => Some(0),
            Stage::Resolve { ask_ps } => Some(ask_ps.min(self.times.began + self.spec.resolve_ns * 1000)),
            Stage::Settle { until_ps } | Stage::Drain { until_ps } => Some(until_ps),
            Stage::Traffic => Some(self.times.traffic + self.duration_ps),
        };
        let departures = self.senders.iter().filter_map(|sender| sender.next_departure(traffic));
        let arrivals = self.ports.iter().filter_map(|port| port.next_arrival()).map(|at| at.ps);
        let polls = Some(self.poll_ps).filter(|&ps| ps != u64::MAX);
        departures
            .chain(arrivals)
            .chain(stage_ps)
            .chain(polls)
            .min()
            .map(|ps| Instant { ps })
    }

    fn step(&mut self, now: Instant) {
        if self.finished {
            return;
        }
        if !self.exact && self.stage == Stage::Traffic {
            self.longest_gap_ps = self.longest_gap_ps.max(now.ps.saturating_sub(self.last_round_ps));
            self.last_round_ps = now.ps;
        }
        self.heed_cancel(now.ps);
        self.turned = !self.exact && !self.turned;
        if let Err(error) = self.round(now) {
            self.invalid.push(error.to_string());
            if self.stage == Stage::Traffic {
                self.times.stopped = now.ps;
                self.cancelled = true;
            }
            self.end(now.ps);
            self.finished = true;
        }
        self.tell(now.ps);
    }

    fn finished(&self) -> bool {
        self.finished
    }
}
