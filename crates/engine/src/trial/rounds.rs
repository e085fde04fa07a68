//! One round of a trial: what is due is sent, what has arrived is received, and its stage is brought up to date.

use super::Trial;
use super::coordination::TELL_PS;
use super::phases::phase_at;
use super::stage::{ANSWER_PS, Stage};
use crate::reason::Invalid;
use netdyno_io::drive::Node;
use netdyno_io::port::PortError;
use netdyno_io::reason::Reason;
use netdyno_io::time::Instant;

/// Before the instant at which its traffic is to begin a trial sleeps until so long before it.
const SPIN_PS: u64 = 2_000_000_000;
/// While it waits to be given that instant it leaves its core to others, who are about to say it.
const NAP_PS: u64 = 5_000_000_000;
/// Answers (ARP, ND, echo) that wait on one port at most.
const MOST_ANSWERS: usize = 256;

impl Trial {
    /// Ends the trial in order: stop, drain, read.
    fn heed_cancel(&mut self, now: u64) {
        if self.cancelled || !self.progress.is_cancelled() {
            return;
        }
        self.cancelled = true;
        self.script.stop();
        match self.stage {
            Stage::New | Stage::Resolve { .. } | Stage::Open { .. } | Stage::Settle { .. } | Stage::Muster { .. } => {
                self.invalid.push(Invalid::Cancelled {}.into());
                self.end(now);
            }
            Stage::Traffic => {
                self.coordination.halt();
                self.halted_ps = Some(now);
            }
            Stage::Drain { .. } | Stage::Done => {}
        }
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
        let mut openings = matches!(self.stage, Stage::Open { .. }).then_some(&mut self.openings);
        // Ports to which frames came that are no test frames, and when the last one did.
        let mut strangers: Vec<(usize, u64)> = Vec::new();
        let spec = &self.spec;
        let mut hear = |port: usize, frame: &[u8], at: u64| {
            let head = spec.head(port);
            if let Some(openings) = &mut openings {
                openings.learn_from(head, frame);
            }
            let host = &mut hosts[head];
            let open = host.unanswered().count();
            match strangers.iter_mut().find(|it| it.0 == head) {
                Some((_, last)) => *last = at,
                None => strangers.push((head, at)),
            }
            if let Some(answer) = host.hear(frame, at) {
                heard.push((port, at, answer));
            }
            if host.unanswered().count() < open {
                *resolved_ps = at.max(*resolved_ps);
            }
        };
        self.worker.receive(now, until_ps, &mut hear)?;
        for other in self.coordination.heard() {
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

    fn tell(&mut self, now: u64) {
        // Of followers that end after the lead it does not hear the last: what is shown may lack that, no result does.
        if now >= self.tell_ps || self.finished {
            self.tell_ps = now + TELL_PS;
            for (index, others) in self.others.iter_mut().enumerate() {
                *others = self.coordination.moved_on(index);
            }
        }
        let (phase, at) = phase_at(&self.spec, self.longest, &self.times, self.stage, now);
        self.progress.at(phase, at.saturating_sub(self.times.began) / 1000);
        for index in 0..self.hosts.len() {
            let (own, others) = (self.worker.moved_on(index), self.others[index]);
            self.progress.port(index, std::array::from_fn(|place| own[place] + others[place]));
        }
        self.note_intervals(now);
    }
}

impl Node for Trial {
    fn next_wakeup(&self) -> Option<Instant> {
        let traffic = self.stage == Stage::Traffic;
        let stage_ps = match self.stage {
            Stage::Settle { until_ps } if self.awaited_ps().is_some() => {
                self.awaited_ps().map(|at| until_ps.max(at.saturating_sub(self.near_ps())))
            }
            Stage::Settle { .. } if self.is_uninformed() => Some(self.now_ps + NAP_PS),
            Stage::Traffic if self.awaited_ps().is_some() => self.awaited_ps().map(|at| at.saturating_sub(SPIN_PS)),
            Stage::New | Stage::Done => Some(0),
            Stage::Resolve { ask_ps } => Some(ask_ps.min(self.times.began + self.spec.resolve_ns * 1000)),
            Stage::Open { until_ps, .. } | Stage::Settle { until_ps } | Stage::Muster { until_ps } | Stage::Drain { until_ps } => {
                Some(until_ps)
            }
            Stage::Traffic => Some(self.times.traffic + self.duration_ps),
        };
        let departure_ps = self.worker.next_departure(traffic).map(|at| at.ps);
        let arrivals = self.worker.ports.iter().filter_map(|port| port.next_arrival()).map(|at| at.ps);
        let words = self.poll_ps.min(self.script.due_ps()).min(self.hello_ps);
        let words = Some(words).filter(|&ps| ps != u64::MAX);
        arrivals
            .chain(departure_ps)
            .chain(stage_ps)
            .chain(words)
            .min()
            .map(|ps| Instant { ps })
    }

    fn listening(&self) -> bool {
        // Far from the instant that it waits for, or while there is none yet, it listens now and then.
        !self.is_uninformed() && self.awaited_ps().is_none_or(|at| self.now_ps + SPIN_PS >= at)
    }

    fn is_urgent(&self) -> bool {
        self.awaited_ps().is_some()
    }

    fn step(&mut self, now: Instant) {
        self.now_ps = now.ps;
        if self.finished {
            return;
        }
        if !self.exact && self.stage == Stage::Traffic {
            self.worker.turn(now.ps);
        }
        self.heed_cancel(now.ps);
        let failed = self.round(now).err().map(|error| Reason::from(&error));
        let failures: Vec<Reason> = failed.into_iter().chain(self.coordination.failures()).collect();
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
