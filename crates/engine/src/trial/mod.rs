//! A trial: resolve and learn, settle, transmit by schedule, stop, drain, read (RFC 2544 section 23).

mod claims;
mod compile;
mod course;
mod follower;
mod life;
mod progress;
mod report;
mod script;
mod worker;

pub use claims::claims;
pub use compile::stream_seed;
pub use follower::Follower;
pub use progress::{PortSnapshot, Progress, Snapshot};
pub(crate) use script::Which;

use crate::error::SpecError;
use crate::host::Host;
use crate::result::TrialResult;
use crate::send::Sender;
use crate::spec::TrialSpec;
use course::{Answer, Course};
use netdyno_frame::parse::Tag;
use netdyno_io::drive::Node;
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::Instant;
use script::Script;
use std::net::IpAddr;
use std::sync::Arc;
use worker::Worker;

/// Questions for a next hop are repeated this often.
const RETRY_PS: u64 = 250_000_000_000;
/// Learning frames of one port are this far apart.
const LEARNING_PS: u64 = 10_000_000;
/// In virtual time answers leave this long after the question came in. A question is seen up to two rounds after it came,
/// so that is how far time may advance in two of them: then answers find their place among frames not yet sent, whatever
/// the round.
pub const ANSWER_PS: u64 = 100_000_000;
/// Answers (ARP, ND, echo) that wait on one port at most.
const MOST_ANSWERS: usize = 256;
/// In real time traffic begins so long after that is said: all workers know of it by then, and the first frame is not late by
/// what it takes to begin (10 us, which are 50 ppm of the rate of a trial of 200 ms).
pub const AHEAD_PS: u64 = 1_000_000_000;
/// Several workers are ready for traffic so long after the lead calls at the latest. Each has a core to itself, so one that is
/// not got no time for it at all.
const MUSTER_PS: u64 = 2_000_000_000_000;

/// The stage a trial is in, with when it ends or began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not stepped yet.
    New,
    /// Waiting for next hops; the next questions are due at `ask_ps`.
    Resolve { ask_ps: u64 },
    /// Traffic starts at `until_ps`.
    Settle { until_ps: u64 },
    /// Waiting until all workers are ready for traffic, until `until_ps` at most.
    Muster { until_ps: u64 },
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
    /// As they were given: the queues of each.
    pub ports: Vec<Vec<Box<dyn Port>>>,
}

impl std::fmt::Debug for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Refused").field(&self.error).finish()
    }
}

/// One trial on ports it owns for its time. It is its own first worker, which leads the [others](Self::followers).
pub struct Trial {
    pub(crate) spec: TrialSpec,
    pub(crate) hosts: Vec<Host>,
    pub(crate) worker: Worker,
    /// The others, before they are taken to their threads and after they came back.
    pub(crate) followers: Vec<Follower>,
    course: Arc<Course>,
    /// Flows of which more than one worker received frames.
    pub(crate) split_flows: u64,
    /// Whether there are no followers.
    is_alone: bool,
    hops: Vec<Hop>,
    exact: bool,
    stage: Stage,
    pub(crate) times: Times,
    pub(crate) duration_ps: u64,
    pub(crate) invalid: Vec<String>,
    pub(crate) cancelled: bool,
    /// When it was, if that was during traffic.
    halted_ps: Option<u64>,
    /// Whether traffic began at all.
    pub(crate) took_place: bool,
    progress: Arc<Progress>,
    /// A round at or after the end has been: in the next one, what devices did in it has arrived.
    closing: bool,
    finished: bool,
    /// Port, time and answer.
    heard: Vec<(usize, u64, Vec<u8>)>,
    /// Answers that were not sent.
    unanswered: u64,
    /// When the next poll of a next hop is due.
    poll_ps: u64,
    /// What is said beside the streams.
    script: Script,
    /// A frame of each flow below has arrived.
    flows_met: usize,
}

/// How a trial stands towards the devices.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Whether traffic is on and nothing else waits to be sent.
    pub is_by_schedule: bool,
    /// When the schedule ends, once traffic has begun.
    pub until: Instant,
    /// When the trial says something by itself next: asks a next hop, or what its spec has it say.
    pub next_word: Instant,
    /// Frames of its own (ARP, ND, learning) sent so far.
    pub own_frames: u64,
    /// Frames that came in and are no test frames.
    pub strangers: u64,
    /// Bytes sent, FCS counted.
    pub sent_bytes: u64,
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
        Self::with_queues(spec, ports.into_iter().map(|port| vec![port]).collect())
    }

    /// A trial of `spec` on `ports`, which are those of the spec in order, each as many queues as the trial is to have
    /// workers.
    ///
    /// # Errors
    /// As [`Self::new`]; and if the ports have not as many queues as each other, or follow the virtual clock and have
    /// more than one.
    pub fn with_queues(spec: TrialSpec, ports: Vec<Vec<Box<dyn Port>>>) -> Result<Self, Refused> {
        let refuse = |why: &str, ports| {
            let error = SpecError::new("ports", why, "give each port as many queues as there are workers");
            Err(Refused { error, ports })
        };
        let workers = ports.iter().map(Vec::len).min().unwrap_or(1);
        if workers == 0 || ports.iter().any(|queues| queues.len() != workers) {
            return refuse("not all have as many queues", ports);
        }
        let infos: Vec<_> = ports.iter().map(|queues| queues[0].info().clone()).collect();
        let exact = infos.iter().all(|info| info.exact_time);
        if exact && workers > 1 {
            return refuse("in virtual time there is one worker", ports);
        }
        let parts = match compile::trial(&spec, &infos, workers) {
            Ok(parts) => parts,
            Err(error) => return Err(Refused { error, ports }),
        };
        let duration_ps = parts.duration_ps();
        let progress = Progress::new(
            report::phase_names(&spec),
            infos.iter().map(|info| info.name.clone()).collect(),
            spec.settle_ns + duration_ps / 1000 + spec.drain_ns,
        );
        let course = Arc::new(Course::new(workers - 1, infos.len()));
        let (sample_ps, samples) = samples(&spec, duration_ps);
        let (worker, others, hosts, hops, script) = parts.workers(ports);
        let until_ps = duration_ps + spec.overtime_ns * 1000;
        let follow = |(number, worker)| Follower::new(number, worker, Arc::clone(&course), until_ps, sample_ps, samples);
        Ok(Self {
            followers: others.into_iter().enumerate().map(follow).collect(),
            exact,
            spec,
            hosts,
            worker,
            course,
            split_flows: 0,
            is_alone: workers == 1,
            hops,
            stage: Stage::New,
            times: Times::default(),
            duration_ps,
            invalid: Vec::new(),
            cancelled: false,
            halted_ps: None,
            took_place: false,
            progress: Arc::new(progress),
            closing: false,
            finished: false,
            heard: Vec::new(),
            unanswered: 0,
            poll_ps: u64::MAX,
            script,
            flows_met: 0,
        })
    }

    /// The workers beside the trial itself, each to be run on a thread of its own from its beginning to its end, and
    /// then [brought back](Self::rejoin).
    #[must_use]
    pub fn followers(&mut self) -> Vec<Follower> {
        std::mem::take(&mut self.followers)
    }

    /// Takes the followers back and adds up what they sent and received.
    pub fn rejoin(&mut self, followers: Vec<Follower>) {
        for follower in &followers {
            self.split_flows += self.worker.absorb(&follower.worker);
        }
        self.invalid.extend(self.course.failures());
        self.followers = followers;
    }

    /// All workers, the lead first.
    pub(crate) fn workers(&self) -> impl Iterator<Item = &Worker> {
        std::iter::once(&self.worker).chain(self.followers.iter().map(|follower| &follower.worker))
    }

    /// Frames that are no test frames and were not listened to or not answered.
    pub(crate) fn unheard(&self) -> u64 {
        self.unanswered + self.course.unheard()
    }

    /// To watch and to cancel the trial from another thread.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// When traffic began, once it has.
    #[must_use]
    pub fn began(&self) -> Option<Instant> {
        self.took_place.then_some(Instant { ps: self.times.traffic })
    }

    /// How it stands towards the devices, for whoever decides how far virtual time may advance in a round.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let worker = &self.worker;
        let waits = worker.senders.iter().any(Sender::has_plans);
        Standing {
            is_by_schedule: self.stage == Stage::Traffic && self.halted_ps.is_none() && !waits,
            until: Instant {
                ps: self.times.traffic + self.duration_ps,
            },
            next_word: Instant {
                ps: self.poll_ps.min(self.script.due_ps()),
            },
            own_frames: worker.senders.iter().map(|sender| sender.own_frames).sum(),
            strangers: worker.receiver.ports.iter().map(|port| port.foreign).sum(),
            sent_bytes: worker.senders.iter().map(|sender| sender.bytes).sum(),
        }
    }

    /// Whether a frame of every flow has arrived. Once it is so, it stays so.
    #[must_use]
    pub fn has_met_all_flows(&mut self) -> bool {
        let flows = &self.worker.receiver.flows;
        while self.flows_met < flows.len() && flows.received(self.flows_met) > 0 {
            self.flows_met += 1;
        }
        self.flows_met == flows.len()
    }

    /// Whether nothing is on its way to it.
    #[must_use]
    pub fn expects_nothing(&self) -> bool {
        self.worker.ports.iter().all(|port| port.next_arrival().is_none())
    }

    /// Readies the ports, which may take their time: before the first step, and not counted in any. A trial without one
    /// of its ports has finished, and is invalid.
    pub fn ready(&mut self) {
        let others = self.followers.iter_mut().flat_map(|follower| &mut follower.worker.ports);
        if let Err(error) = self.worker.ports.iter_mut().chain(others).try_for_each(|port| port.ready()) {
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

    /// Gives the ports back, for the next trial: the queues of each.
    #[must_use]
    pub fn into_ports(mut self) -> Vec<Vec<Box<dyn Port>>> {
        let mut ports: Vec<Vec<_>> = self.worker.ports.drain(..).map(|port| vec![port]).collect();
        for follower in &mut self.followers {
            for (queues, queue) in ports.iter_mut().zip(follower.worker.ports.drain(..)) {
                queues.push(queue);
            }
        }
        ports
    }

    /// Late frames leave until this long after the end of the schedule.
    fn overtime_ps(&self) -> u64 {
        self.spec.overtime_ns * 1000
    }

    /// Ends the trial in order: stop, drain, read.
    fn heed_cancel(&mut self, now: u64) {
        if self.cancelled || !self.progress.is_cancelled() {
            return;
        }
        self.cancelled = true;
        self.script.stop();
        match self.stage {
            Stage::New | Stage::Resolve { .. } | Stage::Settle { .. } | Stage::Muster { .. } => {
                self.invalid.push("cancelled before traffic began".to_owned());
                self.end(now);
            }
            Stage::Traffic => {
                self.course.halt();
                self.halted_ps = Some(now);
            }
            Stage::Drain { .. } | Stage::Done => {}
        }
    }

    fn end(&mut self, at: u64) {
        // In drain the followers know when it ends.
        if !matches!(self.stage, Stage::Drain { .. }) {
            self.course.end();
        }
        // Stages that were not reached are empty ones, now.
        let times = &mut self.times;
        let missing: &mut [&mut u64] = match self.stage {
            Stage::New | Stage::Resolve { .. } => &mut [&mut times.resolved, &mut times.traffic, &mut times.stopped, &mut times.drain],
            Stage::Settle { .. } | Stage::Muster { .. } => &mut [&mut times.traffic, &mut times.stopped, &mut times.drain],
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
                        for (host, sender) in self.hosts.iter().zip(&mut self.worker.senders) {
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
                Stage::Settle { until_ps } if now >= until_ps => {
                    if self.is_alone {
                        self.begin(if self.exact { until_ps } else { now + AHEAD_PS });
                    } else {
                        self.course.call(self.answers());
                        self.stage = Stage::Muster { until_ps: now + MUSTER_PS };
                    }
                }
                Stage::Muster { until_ps } => {
                    if self.course.not_ready().next().is_none() {
                        self.begin(now + AHEAD_PS);
                    } else if now >= until_ps {
                        self.not_mustered(until_ps);
                    } else {
                        return;
                    }
                }
                Stage::Traffic => {
                    let end = self.times.traffic + self.duration_ps;
                    let others = self.course.all_have_sent();
                    if let Some(halted) = self.halted_ps {
                        let Some(last) = others else { return };
                        self.drain(halted, halted.max(last));
                        continue;
                    }
                    if now < end {
                        return;
                    }
                    if let (true, Some(last)) = (self.worker.is_done(), others) {
                        self.drain(end, end.max(last).max(self.worker.last_departure_ps()));
                    } else if now >= end + self.overtime_ps() {
                        self.drain(end, end + self.overtime_ps());
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
        for (host, port) in self.hosts.iter().zip(&self.worker.ports) {
            for address in host.unanswered() {
                let name = &port.info().name;
                let waited = self.spec.resolve_ns / 1_000_000;
                self.invalid
                    .push(format!("next hop {address} did not answer on port `{name}` within {waited} ms"));
            }
        }
        self.end(at);
    }

    /// Workers are missing when traffic should begin. Their part of it would be sent in one burst, if at all.
    fn not_mustered(&mut self, at: u64) {
        let waited = MUSTER_PS / 1_000_000_000;
        for number in self.course.not_ready() {
            // Numbered as in the results, where the lead is the first.
            let worker = number + 2;
            self.invalid.push(format!(
                "worker {worker} of the tester was not ready for traffic within {waited} ms: its thread got no time on its core; keep \
                 other programs off it, or ask for fewer workers"
            ));
        }
        self.end(at);
    }

    fn settle(&mut self, at: u64) {
        self.times.resolved = at;
        self.keep_next_hops(at);
        if let Some(why) = self.two_ways() {
            self.invalid.push(why);
            return self.end(at);
        }
        for hop in self.answers() {
            self.worker.senders[hop.port].lanes[hop.lane].template.set_destination(hop.mac);
        }
        let mut learned = at;
        if self.spec.learn {
            for (port, frames) in compile::learning_frames(&self.spec, &self.worker.senders, &self.hosts)
                .into_iter()
                .enumerate()
            {
                for (number, frame) in (0..).zip(frames) {
                    let due = at + number * LEARNING_PS;
                    learned = learned.max(due);
                    self.worker.senders[port].own(due, frame);
                }
            }
        }
        let until_ps = learned + self.spec.settle_ns * 1000;
        self.script.begin(until_ps);
        self.stage = Stage::Settle { until_ps };
    }

    /// Why a stream has no one MAC address to go to: it is on several VLANs, where others answered.
    fn two_ways(&self) -> Option<String> {
        let answer = |hop: &Hop| self.hosts[hop.port].answer(&hop.tags, hop.address);
        self.hops.iter().zip(self.hops.iter().skip(1)).find_map(|(one, other)| {
            let (here, there) = (answer(one)?, answer(other)?);
            let same = (one.port, one.lane) == (other.port, other.lane);
            (same && here != there).then(|| {
                let stream = self.worker.senders[one.port].lanes[one.lane].stream;
                let on = |hop: &Hop| hop.tags.iter().map(|tag| tag.vid().to_string()).collect::<Vec<_>>().join(".");
                format!(
                    "stream `{}` is on VLAN {}, where its next hop is {here}, and on VLAN {}, where it is {there}: one stream goes to one \
                     MAC address; give each VLAN a stream of its own",
                    self.spec.streams[stream].name,
                    on(one),
                    on(other)
                )
            })
        })
    }

    /// The next hops that have answered.
    fn answers(&self) -> Vec<Answer> {
        let answer = |hop: &Hop| {
            let mac = self.hosts[hop.port].answer(&hop.tags, hop.address)?;
            let (port, lane) = (hop.port, hop.lane);
            Some(Answer { port, lane, mac })
        };
        self.hops.iter().filter_map(answer).collect()
    }

    fn begin(&mut self, at: u64) {
        self.times.traffic = at;
        self.script.begin(at);
        let (sample_ps, samples) = samples(&self.spec, self.duration_ps);
        self.worker.note_counters();
        self.worker
            .begin(at, at + self.duration_ps + self.overtime_ps(), sample_ps, samples);
        // Last: from now on the others may send.
        self.course.begin(at);
        self.took_place = true;
        self.stage = Stage::Traffic;
        self.progress
            .expect((at - self.times.began + self.duration_ps) / 1000 + self.spec.drain_ns);
    }

    fn drain(&mut self, stopped: u64, from: u64) {
        self.times.stopped = stopped;
        self.times.drain = from;
        let until_ps = from + self.spec.drain_ns * 1000;
        self.course.drain(until_ps);
        self.stage = Stage::Drain { until_ps };
    }

    /// Sends what is due on every port.
    fn send(&mut self, now: Instant) -> Result<(), PortError> {
        self.say(now.ps);
        let is_on = self.stage == Stage::Traffic && self.halted_ps.is_none();
        let until_ps = is_on.then_some(self.times.traffic + self.duration_ps + self.overtime_ps());
        self.worker.send(now, until_ps)
    }

    /// Receives what has arrived on every port, and puts what is to be answered in the queue.
    fn receive(&mut self, now: Instant) -> Result<(), PortError> {
        let until_ps = match self.stage {
            Stage::Drain { until_ps } => until_ps,
            Stage::Done => self.times.ended,
            _ => u64::MAX,
        };
        let answer_ps = if self.exact { ANSWER_PS } else { 0 };
        let (hosts, heard, resolved_ps) = (&mut self.hosts, &mut self.heard, &mut self.times.resolved);
        // Ports to which frames came that are no test frames, and when the last one did.
        let mut strangers: Vec<(usize, u64)> = Vec::new();
        let mut hear = |port: usize, frame: &[u8], at: u64| {
            let host = &mut hosts[port];
            let open = host.unanswered().count();
            match strangers.iter_mut().find(|it| it.0 == port) {
                Some((_, last)) => *last = at,
                None => strangers.push((port, at)),
            }
            if let Some(answer) = host.hear(frame, at) {
                heard.push((port, at, answer));
            }
            if host.unanswered().count() < open {
                *resolved_ps = at.max(*resolved_ps);
            }
        };
        self.worker.receive(now, until_ps, &mut hear)?;
        for other in self.course.heard() {
            hear(other.port, &other.frame, other.at_ps);
        }
        // Whoever asks more often than the port can answer is not answered each time: his questions must
        // neither fill the memory nor take the line from the traffic.
        for (port, at, answer) in self.heard.drain(..) {
            let sender = &mut self.worker.senders[port];
            if sender.answers_waiting() < MOST_ANSWERS {
                sender.answer(at + answer_ps, answer);
            } else {
                self.unanswered += 1;
            }
        }
        for (port, at) in strangers {
            self.follow(port, at);
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
        for index in 0..self.hosts.len() {
            let (own, others) = (self.worker.moved_on(index), self.course.moved_on(index));
            self.progress.port(index, std::array::from_fn(|place| own[place] + others[place]));
        }
    }
}

/// Length and number of the samples of a trial.
fn samples(spec: &TrialSpec, duration_ps: u64) -> (u64, usize) {
    let sample_ps = spec.sample_ns * 1000;
    let samples = (duration_ps + spec.drain_ns * 1000).div_ceil(sample_ps).max(1);
    (sample_ps, samples as usize)
}

impl Node for Trial {
    fn next_wakeup(&self) -> Option<Instant> {
        let traffic = self.stage == Stage::Traffic;
        let stage_ps = match self.stage {
            Stage::New | Stage::Done => Some(0),
            Stage::Resolve { ask_ps } => Some(ask_ps.min(self.times.began + self.spec.resolve_ns * 1000)),
            Stage::Settle { until_ps } | Stage::Muster { until_ps } | Stage::Drain { until_ps } => Some(until_ps),
            Stage::Traffic => Some(self.times.traffic + self.duration_ps),
        };
        let departures = self.worker.senders.iter().filter_map(|sender| sender.next_departure(traffic));
        let arrivals = self.worker.ports.iter().filter_map(|port| port.next_arrival()).map(|at| at.ps);
        let words = self.poll_ps.min(self.script.due_ps());
        let words = Some(words).filter(|&ps| ps != u64::MAX);
        departures
            .chain(arrivals)
            .chain(stage_ps)
            .chain(words)
            .min()
            .map(|ps| Instant { ps })
    }

    fn step(&mut self, now: Instant) {
        if self.finished {
            return;
        }
        if !self.exact && self.stage == Stage::Traffic {
            self.worker.turn(now.ps);
        }
        self.heed_cancel(now.ps);
        let failed = self.round(now).err().map(|error| error.to_string());
        let failures: Vec<String> = failed.into_iter().chain(self.course.failures()).collect();
        if !failures.is_empty() {
            self.invalid.extend(failures);
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
