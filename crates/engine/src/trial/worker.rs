//! One worker of a trial: a thread that sends its share of the streams and receives what comes to its queue of each port.

use crate::receive::Receiver;
use crate::result::WorkerHealth;
use crate::send::Sender;
use netdyno_io::port::{Port, PortCounters, PortError};
use netdyno_io::time::Instant;

/// Bursts a port receives in a round in real time before the others have their turn.
const BURSTS: usize = 4;

/// How traffic kept a worker busy (real time).
#[derive(Clone, Copy, Debug, Default)]
struct Effort {
    rounds: u64,
    last_ps: u64,
    longest_gap_ps: u64,
    /// Time from the beginning of each round that moved a frame to that of the next.
    busy_ps: u64,
    /// Frames moved in these.
    frames: u64,
    /// All frames moved when the last round began.
    moved: u64,
    /// When traffic was to begin, and how long after that its first round began.
    start_ps: u64,
    late_ps: Option<u64>,
}

/// Ports, or a queue of each, with what is sent to them and received from them.
pub struct Worker {
    pub ports: Vec<Box<dyn Port>>,
    pub senders: Vec<Sender>,
    pub receiver: Receiver,
    /// Whether it sends all of every stream.
    is_alone: bool,
    exact: bool,
    /// Whether the last port comes first in this round (real time): first and last turn by turn, so that no direction
    /// waits for the other more than the other for it.
    turned: bool,
    /// What the ports had counted when traffic began: what they drop before says nothing of it.
    before: Vec<PortCounters>,
    effort: Effort,
}

impl Worker {
    /// A worker on these ports, which sends all of every stream if it `is_alone`.
    #[must_use]
    pub fn new(ports: Vec<Box<dyn Port>>, senders: Vec<Sender>, receiver: Receiver, is_alone: bool) -> Self {
        Self {
            before: ports.iter().map(|port| port.counters()).collect(),
            exact: ports.iter().all(|port| port.info().has_exact_time()),
            ports,
            senders,
            receiver,
            is_alone,
            turned: false,
            effort: Effort::default(),
        }
    }

    /// What the ports drop from now on counts. To be called before any worker sends a test frame.
    pub fn note_counters(&mut self) {
        self.before = self.ports.iter().map(|port| port.counters()).collect();
        for (sender, before) in self.senders.iter_mut().zip(&self.before) {
            sender.pressed_before_ns = before.back_pressure.map_or(0, |pressed| pressed.full_ns);
        }
    }

    /// Traffic departs from `start_ps` to `until_ps` and is counted in `samples` samples of `sample_ps`.
    pub fn begin(&mut self, start_ps: u64, until_ps: u64, sample_ps: u64, samples: usize) {
        for sender in &mut self.senders {
            sender.begin(start_ps, sample_ps, samples);
        }
        self.receiver.begin(start_ps, until_ps, sample_ps, samples);
        for lane in self.senders.iter().flat_map(|sender| &sender.lanes) {
            // How far other workers and hosts have come is not known here: what is never sent is no frame of this trial.
            if !self.is_alone || lane.is_remote {
                self.receiver.expect(lane.stream, lane.sequences_in_all());
            }
        }
        self.effort = Effort {
            last_ps: start_ps,
            moved: self.moved(),
            start_ps,
            ..Effort::default()
        };
    }

    /// A round of traffic begins (real time).
    pub fn turn(&mut self, now: u64) {
        let moved = self.moved();
        let effort = &mut self.effort;
        let gap = now.saturating_sub(effort.last_ps);
        effort.rounds += 1;
        effort.longest_gap_ps = effort.longest_gap_ps.max(gap);
        if moved > effort.moved {
            effort.busy_ps += gap;
            effort.frames += moved - effort.moved;
        }
        if effort.late_ps.is_none() && now >= effort.start_ps {
            effort.late_ps = Some(now - effort.start_ps);
        }
        (effort.moved, effort.last_ps) = (moved, now.max(effort.last_ps));
    }

    /// Frames sent and received.
    fn moved(&self) -> u64 {
        let sent = self.senders.iter().map(|sender| sender.frames);
        let received = self.receiver.ports.iter().map(|port| port.frames);
        sent.chain(received).sum()
    }

    /// Sends what is due at or before `now` on every port: own frames and, up to `until_ps`, test frames.
    ///
    /// # Errors
    /// If a port is gone or the system refuses.
    pub fn send(&mut self, now: Instant, until_ps: Option<u64>) -> Result<(), PortError> {
        for place in 0..self.ports.len() {
            let number = self.in_turn(place);
            let sender = &mut self.senders[number];
            sender.send(&mut *self.ports[number], now, until_ps)?;
            if self.is_alone {
                let receiver = &mut self.receiver;
                sender.tell_sequences(|stream, sequences| receiver.expect(stream, sequences));
            }
        }
        Ok(())
    }

    /// When the next frame departs; with `traffic` the test frames count.
    #[must_use]
    pub fn next_departure(&self, traffic: bool) -> Option<Instant> {
        let departures = self.senders.iter().filter_map(|sender| sender.next_departure(traffic));
        departures.min().map(|ps| Instant { ps })
    }

    /// Receives what has arrived on every port. Frames later than `until_ps` do not count. `foreign` is called with
    /// the port, what is not a test frame, and when it arrived.
    ///
    /// # Errors
    /// If a port is gone or the system refuses.
    pub fn receive(&mut self, now: Instant, until_ps: u64, foreign: &mut dyn FnMut(usize, &[u8], u64)) -> Result<(), PortError> {
        let bursts = if self.exact { usize::MAX } else { BURSTS };
        for place in 0..self.ports.len() {
            let number = self.in_turn(place);
            let (port, receiver) = (&mut self.ports[number], &mut self.receiver);
            for _ in 0..bursts {
                let lent = port.receive(now, 256, &mut |burst| {
                    receiver.take(number, burst, until_ps, &mut |frame, at| foreign(number, frame, at));
                })?;
                if lent == 0 {
                    break;
                }
            }
        }
        self.turned = !self.exact && !self.turned;
        self.receiver.tend();
        Ok(())
    }

    /// The port whose turn is at `place` of a round.
    fn in_turn(&self, place: usize) -> usize {
        if self.turned { self.ports.len() - 1 - place } else { place }
    }

    /// Whether every frame of its share has been sent.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.senders.iter().all(Sender::done)
    }

    /// Returns the departure of the last test frame; 0 if there was none.
    #[must_use]
    pub fn last_departure_ps(&self) -> u64 {
        self.senders.iter().map(|sender| sender.last_departure_ps).max().unwrap_or(0)
    }

    /// Frames and bytes sent and received on port `index`.
    #[must_use]
    pub fn moved_on(&self, index: usize) -> [u64; 4] {
        let (sender, arrivals) = (&self.senders[index], &self.receiver.ports[index]);
        [sender.frames, sender.bytes, arrivals.frames, arrivals.bytes]
    }

    /// Returns what port `index` itself has counted since traffic began.
    #[must_use]
    pub fn counted(&self, index: usize) -> PortCounters {
        self.ports[index].counters().since(&self.before[index])
    }

    /// One of the counts of [`Self::counted`], of each port.
    fn of_each(&self, count: impl Fn(PortCounters) -> u64) -> Vec<u64> {
        (0..self.ports.len()).map(|index| count(self.counted(index))).collect()
    }

    /// How it fared; `None` in virtual time.
    #[must_use]
    pub fn health(&self) -> Option<WorkerHealth> {
        (!self.exact).then_some(WorkerHealth {
            core: None,
            core_share_ppm: None,
            rounds: self.effort.rounds,
            longest_gap_ns: self.effort.longest_gap_ps / 1000,
            frames: self.effort.frames,
            busy_ns: self.effort.busy_ps / 1000,
            tx_frames: self.of_each(|counted| counted.tx_frames),
            rx_frames: self.of_each(|counted| counted.rx_frames),
        })
    }

    /// What is added to the departures that probes hold, per stream.
    pub fn set_shifts(&mut self, shifts_ps: &[i64]) {
        self.senders.iter_mut().for_each(|sender| sender.set_shifts(shifts_ps));
    }

    /// How long after the begin of traffic its first round was; `None` before it.
    #[must_use]
    pub fn began_late_ps(&self) -> Option<u64> {
        self.effort.late_ps
    }

    /// The longest time between two rounds of traffic.
    #[must_use]
    pub fn longest_gap_ps(&self) -> u64 {
        self.effort.longest_gap_ps
    }

    /// Puts down with each stream all that was sent and received of it.
    pub fn settle(&mut self) {
        self.senders.iter_mut().for_each(Sender::settle);
        self.receiver.settle();
    }

    /// Adds what another worker sent and received. Returns how many flows both received frames of.
    pub fn absorb(&mut self, other: &Self) -> u64 {
        for (sender, more) in self.senders.iter_mut().zip(&other.senders) {
            sender.absorb(more);
        }
        self.receiver.absorb(&other.receiver)
    }
}
