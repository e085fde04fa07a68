//! A worker that follows the lead of a trial on a core of its own (real time).

use super::coordination::{Coordination, TELL_PS};
use super::worker::Worker;
use crate::reason::Invalid;
use netdyno_io::drive::Node;
use netdyno_io::port::PortError;
use netdyno_io::reason::Reason;
use netdyno_io::time::Instant;
use std::sync::Arc;

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The lead has not called yet.
    Waiting,
    /// It has, and has not said when traffic begins. What comes in waits in the ports: without the start a test frame
    /// could not be distinguished from one of an earlier trial.
    Ready,
    Traffic,
    /// Receiving only.
    Sent,
    Done,
}

/// One worker of a trial beside the lead.
pub struct Follower {
    pub(super) worker: Worker,
    number: usize,
    coordination: Arc<Coordination>,
    stage: Stage,
    /// Moves of next hops to other addresses that it knows of.
    moves: usize,
    /// Test frames may depart until then: from the start of traffic, and in real time.
    length_ps: u64,
    until_ps: u64,
    sample_ps: u64,
    samples: usize,
    /// When it says next how far it has come.
    tell_ps: u64,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower")
            .field("number", &self.number)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

impl Follower {
    /// Follower `number`, counted from 0, of a trial whose test frames depart for `length_ps` at most.
    pub(super) fn new(
        number: usize,
        worker: Worker,
        coordination: Arc<Coordination>,
        length_ps: u64,
        sample_ps: u64,
        samples: usize,
    ) -> Self {
        Self {
            worker,
            number,
            coordination,
            stage: Stage::Waiting,
            moves: 0,
            length_ps,
            until_ps: u64::MAX,
            sample_ps,
            samples,
            tell_ps: 0,
        }
    }

    /// Gets ready if the lead has called.
    fn heed_call(&mut self) {
        let Some(call) = self.coordination.called() else {
            return;
        };
        for hop in &call.hops {
            self.worker.senders[hop.port].set_destination(hop.lane, hop.mac);
        }
        call.mappings.apply_to(&mut self.worker);
        self.worker.set_shifts(&call.shifts_ps);
        self.worker.note_counters();
        self.coordination.is_ready(self.number);
        self.stage = Stage::Ready;
    }

    fn begin(&mut self) {
        let Some(start_ps) = self.coordination.start() else { return };
        self.until_ps = start_ps + self.length_ps;
        self.worker.begin(start_ps, self.until_ps, self.sample_ps, self.samples);
        self.stage = Stage::Traffic;
    }

    fn round(&mut self, now: Instant) -> Result<(), PortError> {
        if self.stage == Stage::Waiting {
            self.heed_call();
        }
        if self.stage == Stage::Ready {
            self.begin();
        }
        if self.stage == Stage::Ready {
            if self.coordination.is_over() {
                self.stage = Stage::Done;
            }
            return Ok(());
        }
        if self.stage == Stage::Traffic {
            self.worker.turn(now.ps);
            for hop in self.coordination.moves(&mut self.moves) {
                self.worker.senders[hop.port].set_destination(hop.lane, hop.mac);
            }
            let is_halted = self.coordination.is_halted();
            if !is_halted {
                self.worker.send(now, Some(self.until_ps))?;
            }
            if is_halted || self.worker.is_done() || now.ps > self.until_ps {
                self.coordination.has_sent(self.number, self.worker.last_departure_ps());
                self.stage = Stage::Sent;
            }
        }
        // Asked before receiving: what had come by the end is then received at or after it.
        let until_ps = self.coordination.until_ps();
        let (coordination, worker) = (&self.coordination, &mut self.worker);
        worker.receive(now, until_ps.unwrap_or(u64::MAX), &mut |port, frame, at| {
            coordination.hear(port, at, frame)
        })?;
        if self.coordination.is_over() || until_ps.is_some_and(|until_ps| now.ps >= until_ps) {
            self.stage = Stage::Done;
        }
        Ok(())
    }
}

impl Node for Follower {
    fn next_wakeup(&self) -> Option<Instant> {
        // Who sends late is not to wait, see `run_real`; of all else it hears in the next round.
        let is_sending = self.stage == Stage::Traffic;
        is_sending.then(|| self.worker.next_departure(true)).flatten()
    }

    fn step(&mut self, now: Instant) {
        if self.stage == Stage::Done {
            return;
        }
        if let Err(error) = self.round(now) {
            self.coordination.fail(Reason::from(&error));
            self.coordination.has_sent(self.number, self.worker.last_departure_ps());
            self.stage = Stage::Done;
        }
        if now.ps < self.tell_ps && self.stage != Stage::Done {
            return;
        }
        self.tell_ps = now.ps + TELL_PS;
        for port in 0..self.worker.ports.len() {
            self.coordination.tell(self.number, port, self.worker.moved_on(port));
        }
    }

    fn finished(&self) -> bool {
        self.stage == Stage::Done
    }
}

impl Drop for Follower {
    /// A panic in its thread must not leave the lead waiting.
    fn drop(&mut self) {
        if self.stage != Stage::Done {
            self.coordination.fail(Invalid::WorkerStopped {}.into());
        }
    }
}
