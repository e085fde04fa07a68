//! A trial: resolve and learn, settle, transmit by schedule, stop, drain, read (RFC 2544 section 23).

mod claims;
mod compile;
mod coordination;
mod follower;
mod intervals;
mod life;
mod opening;
mod phases;
mod progress;
mod results;
mod rounds;
mod script;
mod stage;
mod stages;
mod worker;

pub use claims::claims;
pub use compile::stream_seed;
pub use follower::Follower;
pub use progress::{IntervalSnapshot, PortSnapshot, Progress, Snapshot, StreamSnapshot};
pub use stage::{AHEAD_PS, ANSWER_PS};

use crate::error::SpecError;
use crate::host::Host;
use crate::send::Sender;
use crate::spec::TrialSpec;
use coordination::Coordination;
use netdyno_io::port::Port;
use netdyno_io::reason::Reason;
use netdyno_io::time::Instant;
use opening::Openings;
use script::Script;
use stage::{Hop, Stage, Times};
use std::sync::Arc;
use worker::Worker;

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
    spec: TrialSpec,
    hosts: Vec<Host>,
    worker: Worker,
    /// The others, before they are taken to their threads and after they came back.
    followers: Vec<Follower>,
    coordination: Arc<Coordination>,
    /// Flows of which more than one worker received frames.
    split_flows: u64,
    /// Whether there are no followers.
    is_alone: bool,
    hops: Vec<Hop>,
    exact: bool,
    stage: Stage,
    times: Times,
    duration_ps: u64,
    /// The stream whose schedule names the phases of traffic.
    longest: usize,
    invalid: Vec<Reason>,
    cancelled: bool,
    /// When it was, if that was during traffic.
    halted_ps: Option<u64>,
    /// Whether traffic began at all.
    took_place: bool,
    progress: Arc<Progress>,
    /// A round at or after the end has been: in the next one, what devices did in it has arrived.
    closing: bool,
    finished: bool,
    /// Port, time and answer.
    heard: Vec<(usize, u64, Vec<u8>)>,
    /// Answers that were not sent.
    unanswered: u64,
    /// When the next poll of a next hop is due, and the next hello.
    poll_ps: u64,
    hello_ps: u64,
    /// When it looks next how far the followers have come, and what they had moved then by port.
    tell_ps: u64,
    others: Vec<[u64; 4]>,
    /// The interval that is noted next, and when.
    interval: usize,
    interval_ps: u64,
    /// What is said beside the streams.
    script: Script,
    /// What is opened before traffic.
    openings: Openings,
    /// A frame of each flow below has arrived.
    flows_met: usize,
    /// When it was stepped last.
    now_ps: u64,
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
        let exact = infos.iter().all(|info| info.has_exact_time());
        if exact && workers > 1 {
            return refuse("in virtual time there is one worker", ports);
        }
        let parts = match compile::trial(&spec, &infos, workers) {
            Ok(parts) => parts,
            Err(error) => return Err(Refused { error, ports }),
        };
        let duration_ps = parts.duration_ps();
        let longest = phases::longest(&spec);
        let progress = Progress::new(
            phases::phase_names(&spec, longest),
            infos.iter().map(|info| info.name.clone()).collect(),
            spec.settle_ns + duration_ps / 1000 + spec.drain_ns,
        );
        let coordination = Arc::new(Coordination::new(workers - 1, infos.len()));
        let (sample_ps, samples) = stage::samples(&spec, duration_ps);
        let (worker, others, hosts, hops, script) = parts.workers(ports);
        let openings = Openings::new(&spec, &worker.senders);
        let until_ps = duration_ps + spec.overtime_ns * 1000;
        let follow = |(number, worker)| Follower::new(number, worker, Arc::clone(&coordination), until_ps, sample_ps, samples);
        Ok(Self {
            followers: others.into_iter().enumerate().map(follow).collect(),
            exact,
            spec,
            hosts,
            worker,
            coordination,
            split_flows: 0,
            is_alone: workers == 1,
            hops,
            stage: Stage::New,
            times: Times::default(),
            duration_ps,
            longest,
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
            hello_ps: u64::MAX,
            tell_ps: 0,
            others: vec![[0; 4]; infos.len()],
            interval: 0,
            interval_ps: u64::MAX,
            openings,
            script,
            flows_met: 0,
            now_ps: 0,
        })
    }

    /// The workers beside the trial itself, each to be run on a thread of its own from its beginning to its end, and
    /// then [brought back](Self::rejoin).
    #[must_use]
    pub fn followers(&mut self) -> Vec<Follower> {
        std::mem::take(&mut self.followers)
    }

    /// Takes the followers back and adds up what they sent and received.
    pub fn rejoin(&mut self, mut followers: Vec<Follower>) {
        // Each is judged by its own limit, and in order of time, before it is added up.
        self.worker.settle();
        for follower in &mut followers {
            follower.worker.settle();
            self.split_flows += self.worker.absorb(&follower.worker);
        }
        self.invalid.extend(self.coordination.failures());
        self.followers = followers;
    }

    /// All workers, the lead first.
    fn workers(&self) -> impl Iterator<Item = &Worker> {
        std::iter::once(&self.worker).chain(self.followers.iter().map(|follower| &follower.worker))
    }

    /// Frames that are no test frames and were not listened to or not answered.
    fn unheard(&self) -> u64 {
        self.unanswered + self.coordination.unheard()
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
                ps: self.poll_ps.min(self.script.due_ps()).min(self.hello_ps),
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
            self.invalid.push(Reason::from(&error));
            self.end(0);
            self.finished = true;
        }
    }

    /// The processes at the other ends of its ports, each once.
    #[must_use]
    pub fn peers(&self) -> Vec<u32> {
        let mut found: Vec<_> = self.worker.ports.iter().filter_map(|port| port.peer()).collect();
        found.sort_unstable();
        found.dedup();
        found
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
}
