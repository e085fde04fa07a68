//! Trials, one after another, on the same ports and devices.

use crate::error::{Refusal, SessionError};
use crate::open::{self, Opened};
use crate::readings::{Reading, Readings};
use crate::spacing::{self, Spacing};
use crate::spec::{ClockKind, Event, SessionSpec};
use crate::stride::Stride;
use crate::threads::{self, Places};
use netdyno_dut::Device;
use netdyno_dut::spec::{AdjacencyCounters, DeviceCounters, EventKind};
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::{Destination, TesterPortSpec, TrialSpec};
use netdyno_engine::{ANSWER_PS, Progress, Trial, claims};
use netdyno_frame::spec::Header;
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::PortInfo;
use netdyno_io::process::ProcessWatch;
use netdyno_io::reason::Reason;
use netdyno_io::time::{Clock, Duration, Instant};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The least that virtual time advances in a round on a lab of 10 Gbit/s: some 480 frames of 64 bytes, or 26 of 1514, each
/// way. Enough that a round's own cost is small beside theirs; no more, so that they stay near on their way.
const QUANTUM: Duration = Duration::from_us(32);
/// The most that it may advance.
const LONGEST_QUANTUM: Duration = Duration { ps: ANSWER_PS / 2 };
/// Slots hold at least this much: the longest frame an emulated device makes is an ND message of 86 bytes.
const LEAST_FRAME: u32 = 124;
/// A real device says more of its own accord (LLDP, routing), and what it forwards may grow by tags; what
/// does not fit a slot would count as dropped by the tester, and clear the device of what it lost.
const LEAST_REAL_FRAME: u32 = 1518;
/// Bytes of the FCS, which sizes count and slots do not hold.
const FCS_BYTES: u32 = 4;

/// What a trial found, and what the emulated devices counted meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The tester's view.
    pub trial: TrialResult,
    /// The devices' own, in the order of the session.
    pub devices: Vec<DeviceCounters>,
    /// How what came in was spaced, for each port and each of its queues, where the session asks for it; empty if it does
    /// for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spacing: Vec<Vec<Spacing>>,
    /// The devices' counters meanwhile, where the session asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Reading>,
    /// What came of the adjacencies of each device, at its end; empty if none has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjacencies: Vec<Vec<AdjacencyCounters>>,
    /// Readings that were due before the last one, and that there was no room for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub readings_left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A lab with its ports open. Tables that devices have learned are kept from trial to trial.
pub struct Session {
    spec: SessionSpec,
    /// The least that virtual time advances in a round.
    quantum: Duration,
    /// Whether that is also the most, idle time excepted.
    is_told: bool,
    clock: Option<Clock>,
    /// In real time.
    places: Option<Places>,
    /// Virtual time reached so far.
    now: Instant,
    /// Rounds of the last trial in virtual time.
    rounds: u64,
    opened: Option<Opened>,
    /// What the ports turned out to be when they were opened last.
    ports: Vec<PortInfo>,
    trial: Option<Trial>,
    /// The flows of that trial.
    flows: Flows,
    /// Those of the last trial in which frames of each came through the devices, which are the same since.
    met: Option<Flows>,
    /// What is to happen while it runs.
    events: Vec<Event>,
}

/// What decides where the frames of a trial go.
#[derive(Debug, Default, PartialEq)]
struct Flows {
    /// Of what is drawn in their headers.
    seed: u64,
    ports: Vec<TesterPortSpec>,
    /// Port, headers and destination of each stream.
    streams: Vec<(usize, Vec<Header>, Destination)>,
    /// Its number of flows, and which they are if they were picked.
    flows: Vec<(u32, Vec<u32>)>,
}

impl Flows {
    fn of(trial: &TrialSpec) -> Self {
        let streams = trial.streams.iter();
        Self {
            seed: trial.seed,
            ports: trial.ports.clone(),
            flows: streams.clone().map(|one| (one.flows, one.pick.clone())).collect(),
            streams: streams
                .map(|one| (one.tx_port, one.headers.clone(), one.destination.clone()))
                .collect(),
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("spec", &self.spec)
            .field("trial", &self.trial)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Opens the ports and builds the devices of `spec`.
    ///
    /// # Errors
    /// If a port, link or device cannot be had: which one and why.
    pub fn open(mut spec: SessionSpec) -> Result<Self, SessionError> {
        open::check(&spec)?;
        let places = threads::places(&spec)?;
        let clock = (spec.clock == ClockKind::Real).then(Clock::start);
        spec.max_frame = spec.max_frame.max(if clock.is_some() { LEAST_REAL_FRAME } else { LEAST_FRAME });
        spec.max_frame = spec.max_frame.saturating_add(open::longest_tags(&spec));
        let opened = open::open(&spec, clock, &threads::placement(places.as_ref()))?;
        Ok(Self {
            quantum: quantum(&spec),
            is_told: false,
            spec,
            clock,
            places,
            now: Instant::ZERO,
            rounds: 0,
            ports: infos(&opened),
            opened: Some(opened),
            trial: None,
            flows: Flows::default(),
            met: None,
            events: Vec::new(),
        })
    }

    /// Returns the tester's opened ports, in the order of the spec.
    #[must_use]
    pub fn ports(&self) -> &[PortInfo] {
        &self.ports
    }

    /// The clock of a session in real time.
    #[must_use]
    pub fn clock(&self) -> Option<Clock> {
        self.clock
    }

    /// Sets how far virtual time advances in a round that is not idle, instead of what the session finds best. No result
    /// depends on it: it is kept below the time a tester takes to answer, or answers would depart later than they are due.
    pub fn set_quantum(&mut self, quantum: Duration) {
        (self.quantum, self.is_told) = (quantum.min(LONGEST_QUANTUM), true);
    }

    /// Returns how many rounds the last trial in virtual time took.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Readies a trial, to be [run](Self::run) next; the answer is to watch and cancel it with.
    ///
    /// # Errors
    /// If the trial's specification does not fit the session: where and why.
    pub fn prepare(&mut self, trial: TrialSpec) -> Result<Arc<Progress>, SessionError> {
        if let Some(unused) = self.trial.take() {
            self.give_back(unused);
        }
        self.events.clear();
        let sizes = trial.streams.iter().flat_map(|stream| &stream.sizes).map(|size| size.size);
        let longest = sizes.max().unwrap_or(0).saturating_sub(FCS_BYTES);
        // Not opened anew for these: the ports could turn out to be others than was reported.
        if longest > self.spec.max_frame {
            let too_long = Refusal::FrameTooLong {
                bytes: u64::from(longest + FCS_BYTES),
                most_bytes: u64::from(self.spec.max_frame + FCS_BYTES),
            };
            return Err(SessionError::from(too_long).hint("say `max_frame`, without FCS, when opening it"));
        }
        // After a trial that ended in an error.
        if self.opened.is_none() {
            let opened = open::open(&self.spec, self.clock, &threads::placement(self.places.as_ref()))?;
            self.ports = infos(&opened);
            self.opened = Some(opened);
            self.met = None;
        }
        let Some(opened) = &mut self.opened else {
            return Err(Refusal::Closed {}.into());
        };
        // In virtual time ports share nothing with anybody.
        if self.clock.is_some() {
            let ports = opened.ports.iter_mut().zip(claims(&trial));
            let mut queues = ports.flat_map(|(queues, claims)| queues.iter_mut().map(move |queue| (queue, claims.clone())));
            if let Err(error) = queues.try_for_each(|(queue, claims)| queue.claim(&claims)) {
                self.opened = None;
                return Err(error.into());
            }
        }
        self.flows = Flows::of(&trial);
        match Trial::with_queues(trial, std::mem::take(&mut opened.ports)) {
            Ok(trial) => {
                let progress = trial.progress();
                self.trial = Some(trial);
                Ok(progress)
            }
            Err(refused) => {
                opened.ports = refused.ports;
                Err(refused.error.into())
            }
        }
    }

    /// What is to happen to the emulated devices while the trial that was prepared runs. In virtual time only: in real time
    /// whoever built the lab does it.
    ///
    /// # Errors
    /// If an event cannot be: which one and why.
    pub fn expect(&mut self, events: Vec<Event>) -> Result<(), SessionError> {
        if self.clock.is_some() && !events.is_empty() {
            return Err(SessionError::spec("events of a trial are for emulated devices in virtual time"));
        }
        for (number, event) in events.iter().enumerate() {
            if event.port.is_some_and(|port| port >= self.spec.ports.len()) {
                return Err(SessionError::spec(format!(
                    "events[{number}]: there is no port {}",
                    event.port.unwrap_or(0)
                )));
            }
        }
        self.events = events;
        Ok(())
    }

    /// Runs the trial that was prepared, to its end.
    ///
    /// # Errors
    /// If none was, or a thread could not be pinned or panicked.
    pub fn run(&mut self) -> Result<Outcome, SessionError> {
        let Some(mut trial) = self.trial.take() else {
            return Err(Refusal::NoTrial {}.into());
        };
        let Some(mut opened) = self.opened.take() else {
            return Err(Refusal::Closed {}.into());
        };
        opened.devices.iter_mut().for_each(Device::reset_counters);
        opened.seen.iter().flatten().for_each(|seen| _ = spacing::take(seen));
        trial.ready();
        let watched: Vec<_> = trial.peers().into_iter().filter_map(ProcessWatch::begin).collect();
        // On an error the ports are dropped with the trial, and opened anew for the next one.
        let (mut healths, mut readings, mut readings_left_out) = (Vec::new(), Vec::new(), 0);
        match (self.clock, &self.places) {
            (Some(clock), Some(places)) => healths = threads::run(&mut trial, &mut opened.devices, clock, places)?,
            _ => {
                let events = std::mem::take(&mut self.events);
                let happens = to_devices(&self.spec, &events);
                // How often a limited port had no room is how often it was asked.
                let is_told = self.is_told || self.spec.ports.iter().any(|port| port.limit.is_some());
                let stride = if is_told {
                    Stride::always(self.quantum)
                } else {
                    let relays = !self.spec.loops.is_empty() || opened.devices.iter().any(Device::relays);
                    let has_met = self.met.as_ref() == Some(&self.flows);
                    Stride::new(self.quantum, self.spec.ports.len(), relays, has_met)
                };
                let asked = self.spec.read_devices_ns.map(Readings::new);
                let ended = run_in_virtual_time(&mut trial, &mut opened.devices, happens, self.now, stride, asked);
                (self.now, self.rounds) = (ended.0, ended.1);
                (readings, readings_left_out) = ended.2.map(Readings::take).unwrap_or_default();
                if trial.has_met_all_flows() {
                    self.met = Some(std::mem::take(&mut self.flows));
                }
            }
        }
        let mut result = trial.result();
        result.health.peers = watched.into_iter().filter_map(ProcessWatch::end).collect();
        if let Some(places) = &self.places {
            let health = &mut result.health;
            for ((worker, thread), &core) in health.workers.iter_mut().zip(&healths).zip(&places.workers) {
                worker.core = core;
                worker.core_share_ppm = Some((thread.cpu_share() * 1e6) as u32);
            }
            health.core_share_ppm = health.workers.iter().filter_map(|worker| worker.core_share_ppm).min();
            (health.threads, health.cores) = (places.threads(), places.cores);
        }
        for (device, spec) in opened.devices.iter().zip(&self.spec.devices) {
            let failed = |(port, why): (&str, &Reason)| {
                let failed = Refusal::DevicePort {
                    device: spec.name.clone(),
                    port: port.to_owned(),
                    cause: why.code.to_string(),
                    why: why.text.clone(),
                };
                failed.into()
            };
            result.invalid.extend(device.failures().map(failed));
        }
        let devices = opened.devices.iter().map(Device::counters).collect();
        let mut adjacencies: Vec<_> = opened.devices.iter().map(Device::adjacencies).collect();
        if adjacencies.iter().all(Vec::is_empty) {
            adjacencies.clear();
        }
        let mut spacing: Vec<Vec<_>> = opened
            .seen
            .iter()
            .map(|queues| queues.iter().map(spacing::take).collect())
            .collect();
        if spacing.iter().all(Vec::is_empty) {
            spacing.clear();
        }
        self.opened = Some(opened);
        self.give_back(trial);
        Ok(Outcome {
            trial: result,
            devices,
            spacing,
            readings,
            adjacencies,
            readings_left_out,
        })
    }

    fn give_back(&mut self, trial: Trial) {
        if let Some(opened) = &mut self.opened {
            opened.ports = trial.into_ports();
        }
    }
}

/// What each port is; its queues are alike.
fn infos(opened: &Opened) -> Vec<PortInfo> {
    opened
        .ports
        .iter()
        .filter_map(|queues| Some(queues.first()?.info().clone()))
        .collect()
}

/// The quantum of a lab: that of 10 Gbit/s, less on faster links, so that as many frames are under way.
fn quantum(spec: &SessionSpec) -> Duration {
    const RATE_BPS: u64 = 10_000_000_000;
    let fastest = spec.links.iter().map(|link| link.rate_bps).max().unwrap_or(0);
    let times = (fastest / RATE_BPS).max(1);
    Duration { ps: QUANTUM.ps / times }
}

/// An event of a device: ns from the begin of traffic, what, and its port if it is of one.
type Happens = (u64, EventKind, Option<usize>);

/// What is to happen to each device.
fn to_devices(spec: &SessionSpec, events: &[Event]) -> Vec<Vec<Happens>> {
    let mut all = vec![Vec::new(); spec.devices.len()];
    for event in events {
        match event.port {
            None => all.iter_mut().for_each(|its| its.push((event.at_ns, event.kind, None))),
            Some(port) => {
                for link in spec.links.iter().filter(|link| link.port == port) {
                    all[link.device].push((event.at_ns, event.kind, Some(link.device_port)));
                }
            }
        }
    }
    all
}

fn run_in_virtual_time(
    trial: &mut Trial,
    devices: &mut [Device],
    happens: Vec<Vec<Happens>>,
    start: Instant,
    stride: Stride,
    readings: Option<Readings>,
) -> (Instant, u64, Option<Readings>) {
    // Links that an earlier trial took down are up again.
    hand_over(devices, start, vec![Vec::new(); happens.len()]);
    let happens = Some(happens).filter(|happens| happens.iter().any(|its| !its.is_empty()));
    let quantum = stride.length();
    let mut lab = Lab {
        stride,
        trial,
        devices,
        happens,
        rounds: 0,
        now: start,
        readings,
        has_begun: false,
    };
    let end = run_virtual(&mut [&mut lab], start, quantum, Instant::NEVER, &|| false);
    (end, lab.rounds, lab.readings)
}

/// The trial and the devices, which learn what happens to them once it is known when traffic begins.
struct Lab<'a> {
    trial: &'a mut Trial,
    devices: &'a mut [Device],
    happens: Option<Vec<Vec<Happens>>>,
    stride: Stride,
    rounds: u64,
    now: Instant,
    readings: Option<Readings>,
    /// Whether the devices know that traffic begins.
    has_begun: bool,
}

impl Lab<'_> {
    /// When the devices are to be read next.
    fn next_reading(&self) -> Option<Instant> {
        self.readings.as_ref().and_then(Readings::next)
    }
}

fn hand_over(devices: &mut [Device], begin: Instant, happens: Vec<Vec<Happens>>) {
    for (device, its) in devices.iter_mut().zip(happens) {
        let at = |ns: u64| Instant {
            ps: begin.ps.saturating_add(ns.saturating_mul(1000)),
        };
        let its: Vec<_> = its.into_iter().map(|(ns, kind, port)| (at(ns), kind, port)).collect();
        let known = device.set_events(&its);
        debug_assert!(known.is_ok(), "ports of links are the device's: {known:?}");
    }
}

impl Node for Lab<'_> {
    fn next_wakeup(&self) -> Option<Instant> {
        let devices = self.devices.iter().filter_map(Node::next_wakeup);
        let all = self.trial.next_wakeup().into_iter().chain(devices);
        all.chain(self.next_reading()).min()
    }

    fn step(&mut self, now: Instant) {
        self.rounds += 1;
        self.stride.before(self.trial, self.devices);
        self.trial.step(now);
        // The devices are not past the begin yet: it lies in this round.
        if self.happens.is_some()
            && let Some(begin) = self.trial.began()
        {
            hand_over(self.devices, begin, self.happens.take().unwrap_or_default());
        }
        if let Some(begin) = self.trial.began().filter(|_| !self.has_begun) {
            let until = self.trial.standing().until;
            self.devices.iter_mut().for_each(|device| device.begin_adjacencies(begin, until));
            self.has_begun = true;
        }
        self.devices.iter_mut().for_each(|device| device.step(now));
        self.stride.after(now, self.trial, self.devices);
        self.now = now;
        if let Some(readings) = &mut self.readings {
            readings.after(now, self.trial.began(), self.trial.finished(), self.devices);
        }
    }

    fn stride(&self) -> Option<Duration> {
        let length = self.stride.length();
        Some(
            self.next_reading()
                .map_or(length, |next| length.min(next.saturating_since(self.now))),
        )
    }

    fn finished(&self) -> bool {
        self.trial.finished()
    }
}
