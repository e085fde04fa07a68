//! A trial in real time by a clock that the test sets: what leaves in each round, also of a tester that was preempted.

use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_engine::{AHEAD_PS, Trial};
use netdyno_io::backend::null::NullPort;
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo};
use netdyno_io::time::Instant;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Picoseconds.
pub const US: u64 = 1_000_000;
pub const MS: u64 = 1_000 * US;
/// L1 bits of a 64-byte frame.
pub const BITS_64: u64 = 672;

/// 64-byte frames, so many a second for 200 ms.
pub fn spec(per_second: u64) -> Value {
    let bps = BITS_64 * per_second;
    json!({
        "seed": 1,
        "streams": [{
            "name": "west-east", "tx_port": 0, "rx_port": 1,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "written", "sizes": [{"size": 64, "weight": 1}], "flows": 1,
            "schedule": [{"name": "traffic", "duration_ns": 200_000_000, "from_bps": bps, "to_bps": bps}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 0, "drain_ns": 1_000_000, "sample_ns": 100_000_000,
    })
}

/// A card: a ring of frames of 64 bytes, which its line takes out of it at 10 Gbit/s.
pub struct Card {
    taken: NullPort,
    info: PortInfo,
    ring: u64,
    /// When its line has sent all that is in the ring.
    free_ps: u64,
}

impl Card {
    /// 84 bytes at 10 Gbit/s.
    const FRAME_PS: u64 = 67_200;

    /// One with a ring of 1024 frames.
    pub fn open(name: &str) -> Box<dyn Port> {
        Self::with_ring(name, 1024)
    }

    pub fn with_ring(name: &str, ring: u64) -> Box<dyn Port> {
        let taken = NullPort::open(name, 60).expect("opens");
        let info = PortInfo {
            rate_bps: 10_000_000_000,
            ..taken.info().clone()
        };
        Box::new(Self {
            taken,
            info,
            ring,
            free_ps: 0,
        })
    }
}

impl Port for Card {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        self.free_ps = self.free_ps.max(now.ps);
        let room = self.ring - (self.free_ps - now.ps).div_ceil(Self::FRAME_PS);
        let taken = self.taken.transmit(now, limit.min(room as usize), fill)?;
        self.free_ps += taken as u64 * Self::FRAME_PS;
        Ok(taken)
    }

    fn receive(&mut self, _: Instant, _: usize, _: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        Ok(0)
    }

    fn counters(&self) -> PortCounters {
        self.taken.counters()
    }
}

/// A port that takes everything.
pub fn sink(name: &str) -> Box<dyn Port> {
    Box::new(NullPort::open(name, 60).expect("opens"))
}

/// Runs the trial, over ports that take everything, by a clock that goes on by 10 us a round, but jumps from `from` over
/// `away` once. The frames of each round with its time since the traffic began, and the result.
pub fn run(spec: Value, from: u64, away: u64) -> (Vec<(u64, u64)>, TrialResult) {
    run_over(vec![sink("west"), sink("east")], 10 * US, spec, from, away)
}

/// As [`run`], over these ports, by a clock that goes on by `round` ps.
pub fn run_over(ports: Vec<Box<dyn Port>>, round: u64, spec: Value, from: u64, away: u64) -> (Vec<(u64, u64)>, TrialResult) {
    run_queues(ports.into_iter().map(|port| vec![port]).collect(), round, spec, from, away)
}

/// As [`run`], by so many workers, each of which has a round each `round` ps.
pub fn run_workers(workers: usize, round: u64, spec: Value, from: u64, away: u64) -> (Vec<(u64, u64)>, TrialResult) {
    let queues = |name| (0..workers).map(|_| sink(name)).collect();
    run_queues(vec![queues("west"), queues("east")], round, spec, from, away)
}

/// A queue of a port that counts what it has sent at once: workers beside the lead say it only now and then.
struct Counted(Box<dyn Port>, Arc<AtomicU64>);

impl Port for Counted {
    fn info(&self) -> &PortInfo {
        self.0.info()
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let taken = self.0.transmit(now, limit, fill)?;
        self.1.fetch_add(taken as u64, Ordering::Relaxed);
        Ok(taken)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        self.0.receive(now, limit, read)
    }

    fn counters(&self) -> PortCounters {
        self.0.counters()
    }
}

fn run_queues(mut ports: Vec<Vec<Box<dyn Port>>>, round: u64, spec: Value, from: u64, away: u64) -> (Vec<(u64, u64)>, TrialResult) {
    let spec: TrialSpec = serde_json::from_value(spec).expect("a trial");
    let all = Arc::new(AtomicU64::new(0));
    let count = |queue| Box::new(Counted(queue, Arc::clone(&all))) as Box<dyn Port>;
    ports[0] = std::mem::take(&mut ports[0]).into_iter().map(count).collect();
    let mut trial = Trial::with_queues(spec, ports).expect("fits");
    let (progress, mut followers) = (trial.progress(), trial.followers());
    // Followers are ready a round after they are called.
    let begin = AHEAD_PS + if followers.is_empty() { 0 } else { round };
    let (mut now, mut before, mut rounds) = (Instant::ZERO, 0, Vec::new());
    while !(trial.finished() && followers.iter().all(Node::finished)) {
        followers.iter_mut().for_each(|follower| follower.step(now));
        trial.step(now);
        let sent = all.load(Ordering::Relaxed);
        let since = now.ps.checked_sub(begin);
        rounds.extend(since.map(|since| (since, sent - before)));
        before = sent;
        now.ps += if since == Some(from) { away } else { round };
    }
    // Each step of the lead is behind those of the followers here, so it knows all in the end.
    assert_eq!(progress.snapshot().ports[0].tx_frames, all.load(Ordering::Relaxed));
    trial.rejoin(followers);
    (rounds, trial.result())
}

/// What had left in all by the end of each round from `from` on.
pub fn sums(rounds: &[(u64, u64)], from: u64) -> Vec<u64> {
    let after = rounds.iter().filter(|(at, _)| *at >= from);
    after
        .scan(0, |sum, (_, frames)| {
            *sum += frames;
            Some(*sum)
        })
        .collect()
}
