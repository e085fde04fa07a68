//! Workers that are away, when traffic begins or while others come to be heard: nothing they count is lost with that.
//! Stepped by hand.

use crate::hand;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_engine::{Follower, Invalid, Trial};
use netdyno_frame::arp::Arp;
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::time::Instant;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const ROOM: usize = 128;
/// Time between two steps.
const STEP_PS: u64 = 50_000_000;
/// Settling, and 10,000 frames of 64 bytes in 10 ms: 500 a worker's step, one of two workers.
const SETTLE_PS: u64 = 1_000_000_000;
const FRAMES: u64 = 10_000;

/// What waits for one queue of the receiving port: what finds no room is dropped and counted.
struct Ring {
    frames: VecDeque<Vec<u8>>,
    room: usize,
    dropped: u64,
}

type Rings = Arc<Mutex<Vec<Ring>>>;
/// What is done while a worker looks into its queue.
type Meanwhile = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// A queue of the sending port, or of the receiving one. All frames arrive at the last queue of that.
struct Queue {
    info: PortInfo,
    /// Of the receiving port: which one it is.
    own: Option<usize>,
    rings: Rings,
    meanwhile: Meanwhile,
}

impl Port for Queue {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let frames = hand::lend(now, limit, ROOM, fill);
        let rings = &mut *self.rings.lock().expect("not poisoned");
        let ring = rings.last_mut().expect("a queue");
        let wrote = frames.len();
        for frame in frames {
            if ring.frames.len() < ring.room {
                ring.frames.push_back(frame);
            } else {
                ring.dropped += 1;
            }
        }
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let Some(own) = self.own else { return Ok(0) };
        if own > 0 {
            let meanwhile = self.meanwhile.lock().expect("not poisoned").take();
            if let Some(meanwhile) = meanwhile {
                meanwhile();
            }
        }
        let mut frames = Vec::new();
        {
            let rings = &mut *self.rings.lock().expect("not poisoned");
            let waiting = &mut rings[own].frames;
            let count = waiting.len().min(limit);
            frames.extend(waiting.drain(..count));
        }
        Ok(hand::hand(now, &frames, read))
    }

    fn counters(&self) -> PortCounters {
        let rings = self.rings.lock().expect("not poisoned");
        PortCounters {
            rx_dropped: self.own.map_or(0, |own| rings[own].dropped),
            ..PortCounters::default()
        }
    }
}

/// A trial of two workers whose test frames all come to the second one's queue, which holds `room`; what that one does while
/// it looks there is to be filled in.
fn trial(room: usize) -> (Trial, Follower, Rings, Meanwhile) {
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1,
        "streams": [{
            "name": "one", "tx_port": 0, "rx_port": 1,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1025, "dport": {"step": {"start": 1, "step": 1, "count": 1000}}},
            ],
            "destination": "peer", "sizes": [{"size": 64, "weight": 1}], "flows": 1000,
            "schedule": [{"name": "s", "duration_ns": 10_000_000, "from_bps": 672_000_000, "to_bps": 672_000_000}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02", "ipv4": "198.18.0.6"}],
        "settle_ns": SETTLE_PS / 1000, "drain_ns": 1_000_000, "sample_ns": 1_000_000,
    }))
    .expect("a trial");
    let ring = || Ring {
        frames: VecDeque::new(),
        room,
        dropped: 0,
    };
    let (rings, meanwhile): (Rings, Meanwhile) = (Arc::new(Mutex::new(vec![ring(), ring()])), Arc::default());
    let queue = |name: &str, own: Option<usize>| -> Box<dyn Port> {
        Box::new(Queue {
            info: PortInfo {
                name: name.to_owned(),
                backend: "rings".to_owned(),
                rate_bps: 0,
                max_frame: ROOM as u32,
                time: Timestamps::Software,
                detail: String::new(),
            },
            own,
            rings: Arc::clone(&rings),
            meanwhile: Arc::clone(&meanwhile),
        })
    };
    let ports = vec![
        (0..2).map(|_| queue("west", None)).collect(),
        (0..2).map(|number| queue("east", Some(number))).collect(),
    ];
    let mut trial = Trial::with_queues(spec, ports).expect("fits");
    let follower = trial.followers().pop().expect("one beside the lead");
    (trial, follower, rings, meanwhile)
}

/// Steps both from `now` to the end, but the follower only when `is_there` says so.
fn finish(trial: &Mutex<Trial>, mut follower: Follower, mut now: u64, is_there: impl Fn(u64) -> bool) -> TrialResult {
    while !(trial.lock().expect("not poisoned").finished() && follower.finished()) {
        let at = Instant { ps: now };
        // Only then locked: what the follower does may step the lead.
        trial.lock().expect("not poisoned").step(at);
        if is_there(now) {
            follower.step(at);
        }
        now += STEP_PS;
        assert!(now < 10_000_000_000_000, "it never ends");
    }
    let mut trial = trial.lock().expect("not poisoned");
    trial.rejoin(vec![follower]);
    trial.result()
}

/// A worker is taken off its core between looking whether traffic has begun and looking for frames: those it then finds
/// are of this trial.
#[test]
fn frames_that_come_before_a_worker_knows_of_the_start_are_counted() {
    let (trial, mut follower, _, meanwhile) = trial(usize::MAX);
    let trial = Arc::new(Mutex::new(trial));
    let mut now = 0;
    while now < SETTLE_PS {
        let at = Instant { ps: now };
        trial.lock().expect("not poisoned").step(at);
        follower.step(at);
        now += STEP_PS;
    }
    // The lead goes on for 5 ms while the follower is on its way into its queue.
    let lead = Arc::clone(&trial);
    *meanwhile.lock().expect("not poisoned") = Some(Box::new(move || {
        for step in 0..100 {
            let ps = now + step * STEP_PS;
            lead.lock().expect("not poisoned").step(Instant { ps });
        }
    }));
    follower.step(Instant { ps: now });
    let found = finish(&trial, follower, now + 100 * STEP_PS, |_| true);
    assert_eq!(found.invalid, []);
    let (stale, stream) = (found.ports[1].stale, &found.streams[0]);
    assert_eq!((stale, stream.offered, stream.received), (0, FRAMES, FRAMES));
}

/// A worker is away from before traffic begins until 3 ms into it, and its queue overflows: what it drops meanwhile is the
/// tester's own.
#[test]
fn frames_dropped_before_a_worker_starts_are_reported() {
    for away_from in [SETTLE_PS - STEP_PS, SETTLE_PS, SETTLE_PS + STEP_PS, SETTLE_PS + 2 * STEP_PS] {
        let (trial, follower, rings, _) = trial(600);
        let found = finish(&Mutex::new(trial), follower, 0, |now| {
            now < away_from || now >= away_from + 4_000_000_000
        });
        assert_eq!(found.invalid, []);
        let (stale, stream) = (found.ports[1].stale, &found.streams[0]);
        let dropped = rings.lock().expect("not poisoned")[1].dropped;
        assert_eq!((stale, stream.lost as u64), (0, found.health.rx_dropped), "away from {away_from}");
        assert_eq!((stream.offered, stream.lost as u64), (FRAMES, dropped), "away from {away_from}");
        // Once it is ready, traffic does begin without it, and its part is late.
        assert_eq!(dropped > 0, away_from > SETTLE_PS, "away from {away_from}");
    }
}

#[test]
fn a_worker_that_never_comes_makes_the_trial_invalid() {
    let (trial, follower, rings, _) = trial(usize::MAX);
    let trial = Mutex::new(trial);
    let mut now = 0;
    while !trial.lock().expect("not poisoned").finished() {
        trial.lock().expect("not poisoned").step(Instant { ps: now });
        now += STEP_PS;
        assert!(now < 10_000_000_000_000, "it never ends");
    }
    assert!(rings.lock().expect("not poisoned")[1].frames.is_empty(), "no frame was sent");
    let found = finish(&trial, follower, now, |_| true);
    assert_eq!(found.streams[0].offered, 0);
    let (worker, waited_ms) = (2, 2000);
    assert_eq!(found.invalid, [Invalid::WorkerNotReady { worker, waited_ms }.into()]);
}

/// A thousand questions come to the second worker at once. 256 wait for the lead; the others are dropped, and counted.
#[test]
fn questions_without_a_receiver_are_counted() {
    let (trial, follower, rings, _) = trial(usize::MAX);
    let asker = "02:00:00:00:00:0b".parse().expect("an address");
    let address = |text: &str| text.parse().expect("an address");
    let question = Arp::request(&[], asker, address("198.18.0.5"), address("198.18.0.6")).build();
    let flood = std::iter::repeat_n(question, 1000);
    rings.lock().expect("not poisoned")[1].frames.extend(flood);
    let found = finish(&Mutex::new(trial), follower, 0, |_| true);
    assert_eq!(found.invalid, []);
    assert_eq!((found.health.unheard, found.ports[1].own_frames), (1000 - 256, 256));
    assert_eq!(found.streams[0].lost, 0);
}
