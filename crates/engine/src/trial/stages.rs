//! How a trial goes from stage to stage.

use super::Trial;
use super::compile::learning_frames;
use super::coordination::{Answer, Call};
use super::opening::{ROUNDS_PS, WAIT_PS};
use super::stage::{ANSWER_PS, Hop, Stage, ahead_ps, samples};
use crate::reason::Invalid;

/// Questions for a next hop are repeated this often.
const RETRY_PS: u64 = 250_000_000_000;
/// Learning frames of one port are this far apart.
const LEARNING_PS: u64 = 10_000_000;
/// Several workers are ready for traffic so long after the lead calls at the latest. Each has a core to itself, so one that is
/// not got no time for it at all.
const MUSTER_PS: u64 = 2_000_000_000_000;
/// Traffic that is to begin at an instant is prepared so long before it.
const NEAR_PS: u64 = 50_000_000_000;

impl Trial {
    pub(super) fn end(&mut self, at: u64) {
        // In drain the followers know when it ends.
        if !matches!(self.stage, Stage::Drain { .. }) {
            self.coordination.end();
        }
        // Stages that were not reached are empty ones, now.
        let times = &mut self.times;
        let missing: &mut [&mut u64] = match self.stage {
            Stage::New | Stage::Resolve { .. } => &mut [&mut times.resolved, &mut times.traffic, &mut times.stopped, &mut times.drain],
            Stage::Open { .. } | Stage::Settle { .. } | Stage::Muster { .. } => {
                &mut [&mut times.traffic, &mut times.stopped, &mut times.drain]
            }
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
    pub(super) fn advance(&mut self, now: u64) {
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
                Stage::Open { round, until_ps } if now >= until_ps => self.opened(round, until_ps),
                Stage::Settle { until_ps } if now >= until_ps => {
                    if self.spec.waits && !self.is_near(now) {
                        return;
                    }
                    if self.is_alone {
                        self.begin(if self.exact { until_ps } else { now + self.ahead_ps() });
                    } else {
                        let begin = self.progress.begin_at().filter(|_| self.spec.waits);
                        self.coordination.call(Call {
                            hops: self.answers(),
                            mappings: self.openings.mappings(),
                            shifts_ps: begin.map_or_else(Vec::new, |begin| begin.shifts_ps.clone()),
                        });
                        self.stage = Stage::Muster { until_ps: now + MUSTER_PS };
                    }
                }
                Stage::Muster { until_ps } => {
                    if self.coordination.not_ready().next().is_none() {
                        self.begin(now + self.ahead_ps());
                    } else if now >= until_ps {
                        self.not_mustered(until_ps);
                    } else {
                        return;
                    }
                }
                Stage::Traffic => {
                    let end = self.times.traffic + self.duration_ps;
                    let others = self.coordination.all_have_sent();
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
                Stage::Open { .. } | Stage::Settle { .. } | Stage::Drain { .. } => return,
                Stage::Done => {
                    self.finished = true;
                    return;
                }
            }
        }
    }

    fn give_up(&mut self, at: u64) {
        for (host, port) in self.hosts.iter().zip(&self.worker.ports) {
            let why = host.silences(&port.info().name, self.spec.resolve_ns / 1_000_000);
            self.invalid.extend(why.into_iter().map(Into::into));
        }
        self.end(at);
    }

    /// Workers are missing when traffic should begin. Their part of it would be sent in one burst, if at all.
    fn not_mustered(&mut self, at: u64) {
        let waited_ms = MUSTER_PS / 1_000_000_000;
        for number in self.coordination.not_ready() {
            // Numbered as in the results, where the lead is the first.
            let worker = number as u64 + 2;
            self.invalid.push(Invalid::WorkerNotReady { worker, waited_ms }.into());
        }
        self.end(at);
    }

    fn settle(&mut self, at: u64) {
        self.times.resolved = at;
        self.keep_next_hops(at);
        if let Some(why) = self.two_ways() {
            self.invalid.push(why.into());
            return self.end(at);
        }
        for hop in self.answers() {
            self.worker.senders[hop.port].set_destination(hop.lane, hop.mac);
        }
        let mut learned = at;
        if self.spec.learn {
            for (port, frames) in learning_frames(&self.spec, &self.worker.senders, &self.hosts)
                .into_iter()
                .enumerate()
            {
                if self.spec.ports[port].remote {
                    continue;
                }
                for (number, frame) in (0..).zip(frames) {
                    let due = at + number * LEARNING_PS;
                    learned = learned.max(due);
                    self.worker.senders[port].own(due, frame);
                }
            }
        }
        if self.openings.is_empty() {
            self.wait(learned);
        } else {
            self.open(0, learned);
        }
    }

    /// Opens the flows that have not come through.
    fn open(&mut self, round: usize, at: u64) {
        let mut due = vec![at; self.worker.ports.len()];
        let frames: Vec<_> = self.openings.frames(&self.spec, &self.worker.senders).collect();
        for (port, frame) in frames {
            due[port] += ROUNDS_PS[round];
            self.worker.senders[port].own(due[port], frame);
        }
        let last = due.into_iter().max().unwrap_or(at);
        self.stage = Stage::Open {
            round,
            until_ps: last + WAIT_PS,
        };
    }

    /// A round of opening flows is over.
    fn opened(&mut self, round: usize, at: u64) {
        if !self.openings.are_done() && round + 1 < ROUNDS_PS.len() {
            return self.open(round + 1, at);
        }
        let faults = self.openings.faults(&self.spec);
        if !faults.is_empty() {
            self.invalid.extend(faults.into_iter().map(Into::into));
            return self.end(at);
        }
        self.openings.mappings().apply_to(&mut self.worker);
        self.wait(at);
    }

    /// Traffic begins when it has settled from `at` on.
    fn wait(&mut self, at: u64) {
        let until_ps = at + self.spec.settle_ns * 1000;
        self.script.begin(if self.exact { until_ps } else { until_ps + self.ahead_ps() });
        self.stage = Stage::Settle { until_ps };
    }

    /// Why a stream has no one MAC address to go to: it is on several VLANs, where others answered.
    fn two_ways(&self) -> Option<Invalid> {
        let answer = |hop: &Hop| self.hosts[self.spec.head(hop.port)].answer(&hop.tags, hop.address);
        self.hops.iter().zip(self.hops.iter().skip(1)).find_map(|(one, other)| {
            let (here, there) = (answer(one)?, answer(other)?);
            let same = (one.port, one.lane) == (other.port, other.lane);
            (same && here != there).then(|| {
                let stream = self.worker.senders[one.port].lanes[one.lane].stream;
                let on = |hop: &Hop| hop.tags.iter().map(|tag| tag.vid().to_string()).collect::<Vec<_>>().join(".");
                Invalid::NextHopsDiffer {
                    stream: self.spec.streams[stream].name.clone(),
                    vlan: on(one),
                    mac: here.to_string(),
                    other_vlan: on(other),
                    other_mac: there.to_string(),
                }
            })
        })
    }

    /// The next hops that have answered.
    fn answers(&self) -> Vec<Answer> {
        let answer = |hop: &Hop| {
            let mac = self.hosts[self.spec.head(hop.port)].answer(&hop.tags, hop.address)?;
            let (port, lane) = (hop.port, hop.lane);
            Some(Answer { port, lane, mac })
        };
        self.hops.iter().filter_map(answer).collect()
    }

    fn ahead_ps(&self) -> u64 {
        ahead_ps(self.spec.streams.len(), samples(&self.spec, self.duration_ps).1, self.is_alone)
    }

    /// Whether the instant that a trial waits for is so near that its traffic is to be prepared.
    fn is_near(&self, now: u64) -> bool {
        self.progress.begin_at().is_some_and(|begin| now + self.near_ps() >= begin.at_ps)
    }

    /// Traffic that begins at an instant is prepared so long before it.
    pub(super) fn near_ps(&self) -> u64 {
        self.ahead_ps().max(NEAR_PS)
    }

    /// Whether it settles and does not know when traffic is to begin.
    pub(super) fn is_uninformed(&self) -> bool {
        self.spec.waits && matches!(self.stage, Stage::Settle { .. }) && self.progress.begin_at().is_none()
    }

    /// The instant at which traffic is to begin, while it is waited for.
    pub(super) fn awaited_ps(&self) -> Option<u64> {
        let waits = matches!(self.stage, Stage::Settle { .. } | Stage::Traffic) && self.worker.began_late_ps().is_none();
        let begin = self.progress.begin_at().filter(|_| self.spec.waits && waits)?;
        (self.now_ps < begin.at_ps).then_some(begin.at_ps)
    }

    fn begin(&mut self, at: u64) {
        let at = match self.progress.begin_at().filter(|_| self.spec.waits).cloned() {
            Some(begin) => {
                // What is prepared this late begins late, and would be made up for in a burst.
                if begin.at_ps < at {
                    let late_us = (at - begin.at_ps) / 1_000_000;
                    self.invalid.push(Invalid::BeginMissed { late_us }.into());
                    return self.end(at);
                }
                self.worker.set_shifts(&begin.shifts_ps);
                begin.at_ps
            }
            None => at,
        };
        self.times.traffic = at;
        self.script.begin(at);
        let until = at + self.duration_ps;
        self.hosts.iter_mut().for_each(|host| host.adjacent.begin(at, until));
        self.plan_hellos();
        let (sample_ps, samples) = samples(&self.spec, self.duration_ps);
        self.worker.note_counters();
        self.worker
            .begin(at, at + self.duration_ps + self.overtime_ps(), sample_ps, samples);
        self.begin_intervals(at);
        // Last: from now on the others may send.
        self.coordination.begin(at);
        self.took_place = true;
        self.stage = Stage::Traffic;
        self.progress
            .expect((at - self.times.began + self.duration_ps) / 1000 + self.spec.drain_ns);
    }

    fn drain(&mut self, stopped: u64, from: u64) {
        self.times.stopped = stopped;
        self.times.drain = from;
        // Of other hosts it is not known when their last frame left.
        let is_spread = self.spec.ports.iter().any(|port| port.remote);
        let overtime_ps = if is_spread { self.overtime_ps() } else { 0 };
        let until_ps = from + overtime_ps + self.spec.drain_ns * 1000;
        self.coordination.drain(until_ps);
        self.stage = Stage::Drain { until_ps };
    }
}
