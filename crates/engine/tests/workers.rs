//! Several workers send what one sends. Stepped by hand, so that every run is the same.

use crate::hand;
use netdyno_engine::Trial;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::probe::find;
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::time::Instant;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Bytes of a slot.
const ROOM: usize = 1514;

/// The queue of a frame that is lost.
const NOWHERE: usize = usize::MAX;

/// Frames on their way to each of two ports, by queue, and all that were ever sent.
#[derive(Default)]
struct Between {
    queues: [Vec<Vec<Vec<u8>>>; 2],
    sent: Vec<Vec<u8>>,
}

/// A queue of a port, in real time; what it sends arrives at the queue of the other port that `route` says.
struct Queue {
    info: PortInfo,
    port: usize,
    queue: usize,
    route: fn(own: usize, frame: &[u8]) -> usize,
    /// Every third time it takes no more frames than this.
    takes: usize,
    times: usize,
    between: Arc<Mutex<Between>>,
}

impl Port for Queue {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let frames = hand::lend(now, limit, ROOM, fill);
        self.times += 1;
        let taken = if self.times.is_multiple_of(3) {
            frames.len().min(self.takes)
        } else {
            frames.len()
        };
        let between = &mut *self.between.lock().expect("not poisoned");
        for frame in frames.into_iter().take(taken) {
            between.sent.push(frame.clone());
            let to = &mut between.queues[1 - self.port];
            let (queue, queues) = ((self.route)(self.queue, &frame), to.len());
            if queue != NOWHERE {
                to[queue % queues].push(frame);
            }
        }
        Ok(taken)
    }

    fn receive(&mut self, now: Instant, _: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let frames = std::mem::take(&mut self.between.lock().expect("not poisoned").queues[self.port][self.queue]);
        Ok(hand::hand(now, &frames, read))
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

/// What a trial of so many workers finds, and every frame it sent.
fn run(spec: &TrialSpec, workers: usize, takes: usize, route: fn(usize, &[u8]) -> usize) -> (TrialResult, Vec<Vec<u8>>) {
    run_until(spec, workers, takes, route, u64::MAX)
}

/// As [`run`], cancelled at `until_ps`.
fn run_until(
    spec: &TrialSpec,
    workers: usize,
    takes: usize,
    route: fn(usize, &[u8]) -> usize,
    until_ps: u64,
) -> (TrialResult, Vec<Vec<u8>>) {
    let between = Arc::new(Mutex::new(Between {
        queues: std::array::from_fn(|_| vec![Vec::new(); workers]),
        sent: Vec::new(),
    }));
    let queue = |port: usize, queue: usize| -> Box<dyn Port> {
        Box::new(Queue {
            info: PortInfo {
                name: ["west", "east"][port].to_owned(),
                backend: "between".to_owned(),
                rate_bps: 0,
                max_frame: ROOM as u32,
                time: Timestamps::Software,
                detail: String::new(),
            },
            port,
            queue,
            route,
            takes,
            times: 0,
            between: Arc::clone(&between),
        })
    };
    let ports = (0..2).map(|port| (0..workers).map(|number| queue(port, number)).collect());
    let mut trial = Trial::with_queues(spec.clone(), ports.collect()).expect("fits");
    let mut followers = trial.followers();
    assert_eq!(followers.len(), workers - 1);
    let mut now = Instant::ZERO;
    while !(trial.finished() && followers.iter().all(Node::finished)) {
        trial.step(now);
        followers.iter_mut().for_each(|follower| follower.step(now));
        now.ps += 20_000_000;
        if now.ps >= until_ps {
            trial.progress().cancel();
        }
        assert!(now < Instant::from_ns(10_000_000_000), "it never ends");
    }
    trial.rejoin(followers);
    let sent = std::mem::take(&mut between.lock().expect("not poisoned").sent);
    (trial.result(), sent)
}

/// Every frame that was sent, by stream and number in it: its bytes but for when it departed, and the check of that.
fn by_number(frames: &[Vec<u8>]) -> BTreeMap<(u32, u32), Vec<u8>> {
    let mut found = BTreeMap::new();
    for frame in frames {
        let mut hint = 0;
        let (probe, at) = find(frame, &mut hint).expect("a test frame");
        let mut bytes = frame.clone();
        bytes[at..at + 2].fill(0);
        bytes[at + 10..at + 18].fill(0);
        assert!(found.insert((probe.flow, probe.sequence), bytes).is_none(), "sent twice");
    }
    found
}

fn random(net: u8) -> Value {
    json!({"random": {"min": format!("{net}.0.0.1"), "max": format!("{net}.255.255.254")}})
}

fn streams(seed: u64, flows: [u32; 2], sizes: &[(u32, u32)], schedule: &[(u64, u64, u64)]) -> TrialSpec {
    let sizes: Vec<Value> = sizes.iter().map(|(size, weight)| json!({"size": size, "weight": weight})).collect();
    let segment = |&(duration_us, from, to): &(u64, u64, u64)| json!({"name": "s", "duration_ns": duration_us * 1000, "from_bps": from * 1_000_000, "to_bps": to * 1_000_000});
    let schedule: Vec<Value> = schedule.iter().map(segment).collect();
    let stream = |name: &str, from: usize, flows: u32| {
        json!({
            "name": name, "tx_port": from, "rx_port": 1 - from,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "vlan", "vid": {"list": [5, 6, 7]}},
                {"type": "ipv4", "src": random(16), "dst": random(48)},
                {"type": "udp", "sport": {"step": {"start": 1024, "step": 3, "count": 50}}, "dport": 12},
            ],
            "destination": "peer", "sizes": sizes, "flows": flows, "schedule": schedule,
        })
    };
    serde_json::from_value(json!({
        "seed": seed,
        "streams": [stream("one", 0, flows[0]), stream("two", 0, flows[1]), stream("back", 1, flows[0])],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 100_000, "drain_ns": 1_000_000, "sample_ns": 1_000_000,
    }))
    .expect("a trial")
}

/// Counts that are the same whoever did the work.
fn counts(found: &TrialResult) -> Vec<[u64; 9]> {
    let stream = found.streams.iter();
    stream
        .map(|it| {
            let flags = u64::from(it.first_loss_ns.is_some());
            [
                it.intended,
                it.offered,
                it.offered_bytes,
                it.received,
                it.received_bytes,
                it.duplicates + it.corrupted + it.elsewhere + it.out_of_order,
                it.flows_received,
                it.lost as u64,
                flags,
            ]
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Same seed, same frames, byte by byte: random, stepped and listed fields, mixes, ramps and pauses, and ports that take
    /// only a part of a burst. What is received adds up, and no flow is taken for one that wandered.
    #[test]
    fn several_workers_send_the_frames_of_one(
        seed in any::<u64>(),
        workers in 2_usize..5,
        flows in [prop_oneof![1_u32..4, 1_u32..2000], prop_oneof![1_u32..4, 1_u32..2000]],
        sizes in proptest::collection::vec((96_u32..1400, 1_u32..6), 1..4),
        schedule in proptest::collection::vec((100_u64..2000, 0_u64..900, 1_u64..900), 1..4),
        takes in prop_oneof![Just(usize::MAX), 1_usize..100],
    ) {
        let spec = streams(seed, flows, &sizes, &schedule);
        let stays = |own: usize, _: &[u8]| own;
        let (one, sent_by_one) = run(&spec, 1, takes, stays);
        let (several, sent_by_several) = run(&spec, workers, takes, stays);
        prop_assert_eq!(by_number(&sent_by_several), by_number(&sent_by_one));
        prop_assert_eq!(counts(&several), counts(&one));
        prop_assert_eq!(&several.invalid, &one.invalid);
        prop_assert_eq!((several.health.unsent, several.health.split_flows), (0, 0));
        prop_assert!(several.streams.iter().all(|stream| stream.lost == 0));
    }
}

/// As many streams as a port may have to send in turn: what one worker sends of them is held against a slow reference in
/// `merge.rs`.
#[test]
fn two_workers_send_the_frames_of_one_of_any_number_of_streams() {
    for count in [1, 2, 16, 255, 4096_u64] {
        let stream = |index: u64| {
            json!({
                "name": format!("s{index}"), "tx_port": 0, "rx_port": 1,
                "headers": [
                    {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                    {"type": "vlan", "vid": 1 + index % 4094},
                    {"type": "ipv4", "src": random(16), "dst": random(48)},
                    {"type": "udp", "sport": 1025, "dport": 12},
                ],
                "destination": "peer", "sizes": [{"size": 68, "weight": 1}], "flows": 1 + index % 5,
                "schedule": [{"name": "s", "duration_ns": 5_000_000, "from_bps": 0, "to_bps": 2_000_000_000 / count + index % 3 * 50_000}],
            })
        };
        let spec: TrialSpec = serde_json::from_value(json!({
            "seed": 1, "streams": (0..count).map(stream).collect::<Vec<_>>(),
            "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
            "settle_ns": 100_000, "drain_ns": 1_000_000, "sample_ns": 1_000_000,
        }))
        .expect("a trial");
        let (one, sent_by_one) = run(&spec, 1, usize::MAX, |own, _| own);
        let (two, sent_by_two) = run(&spec, 2, usize::MAX, |own, _| own);
        assert!(sent_by_one.len() > 4000, "{count} streams: {}", sent_by_one.len());
        assert!(by_number(&sent_by_two) == by_number(&sent_by_one), "{count} streams");
        assert_eq!(counts(&two), counts(&one), "{count} streams");
    }
}

#[test]
fn flows_on_several_queues_are_counted_as_split_and_their_frames_once() {
    let spec = streams(1, [10, 1], &[(96, 1)], &[(5000, 100, 100)]);
    // By the lowest byte of the sequence: frames of a flow take turns.
    let (found, _) = run(&spec, 2, usize::MAX, |_, frame| {
        let mut hint = 0;
        find(frame, &mut hint).map_or(0, |(probe, _)| probe.sequence as usize)
    });
    assert_eq!(found.health.split_flows, 21);
    for stream in &found.streams {
        assert_eq!((stream.lost, stream.received), (0, stream.offered));
    }
}

/// A flow is lost from its fourth frame on: when that was due is known to the nanosecond, whoever sent it.
#[test]
fn loss_from_any_sender_is_found() {
    let spec = streams(1, [50, 1], &[(96, 1)], &[(5000, 100, 100)]);
    for workers in [1, 2, 3] {
        let (found, _) = run(&spec, workers, usize::MAX, |own, frame| {
            let mut hint = 0;
            let is_lost = find(frame, &mut hint).is_some_and(|(probe, _)| probe.flow == 7 && probe.sequence >= 3);
            if is_lost { NOWHERE } else { own }
        });
        let stream = &found.streams[0];
        // Frame 3 * 50 + 7 of 928 bits on the line, at 100 Mbit/s.
        assert_eq!(stream.first_loss_ns, Some(157 * 9280), "{workers} workers");
        // 5 ms of them, of flow 7 every 50th: frames 7, 57, ..., 507.
        assert_eq!((stream.offered, stream.lost), (539, 11 - 3), "{workers} workers");
    }
}

/// Each flow to a queue of its own choice. A frame in fifty is lost, and of every eleven times eight frames of a flow the
/// fourth: of all flows at once.
fn lossy(own: usize, frame: &[u8]) -> usize {
    let Some((probe, _)) = find(frame, &mut 0) else { return own };
    let hash = |word: u32| word.wrapping_mul(2_654_435_761) >> 7;
    let is_lost = hash(probe.sequence ^ hash(probe.flow)).is_multiple_of(50) || probe.sequence / 8 % 11 == 3;
    if is_lost { NOWHERE } else { hash(probe.flow) as usize }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// What is lost is dated as by one worker, whichever of them sent it and whichever would have received it; and of a trial
    /// that was cancelled nothing counts as lost that nobody sent.
    #[test]
    fn gaps_of_several_workers_are_those_of_one(
        seed in any::<u64>(),
        workers in 2_usize..5,
        flows in [prop_oneof![1_u32..4, 1_u32..2000], prop_oneof![1_u32..4, 1_u32..2000]],
        schedule in proptest::collection::vec((100_u64..2000, 0_u64..900, 1_u64..900), 1..4),
        takes in prop_oneof![Just(usize::MAX), 1_usize..100],
        cancel_us in 100_u64..3000,
    ) {
        let mut spec = streams(seed, flows, &[(96, 1)], &schedule);
        spec.observe.gaps = 10_000;
        spec.observe.by_flow = true;
        let one = run(&spec, 1, takes, lossy);
        let several = run(&spec, workers, takes, lossy);
        let cancelled = run_until(&spec, workers, takes, lossy, cancel_us * 1_000_000);
        let gaps = |found: &TrialResult| found.streams.iter().map(|stream| stream.gaps.clone()).collect::<Vec<_>>();
        prop_assert_eq!(gaps(&several.0), gaps(&one.0));
        for (found, sent) in [&one, &several, &cancelled] {
            let mut missing = vec![Vec::new(); 3];
            for frame in sent.iter().filter(|frame| lossy(0, frame) == NOWHERE) {
                let (probe, _) = find(frame, &mut 0).expect("a test frame");
                let first_flows = [0, flows[0], flows[0] + flows[1], 2 * flows[0] + flows[1]];
                let stream = first_flows.iter().rposition(|&first| first <= probe.flow).expect("one begins at 0");
                let flows = u64::from(first_flows[stream + 1] - first_flows[stream]);
                missing[stream].push(u64::from(probe.sequence) * flows + u64::from(probe.flow - first_flows[stream]));
            }
            for (stream, missing) in found.streams.iter().zip(&mut missing) {
                missing.sort_unstable();
                let gaps = stream.gaps.as_ref().expect("asked");
                let dated: Vec<u64> = gaps.gaps.iter().flat_map(|gap| gap.first..=gap.last).collect();
                prop_assert_eq!((&dated, gaps.further), (&*missing, 0), "{}", stream.name);
                prop_assert_eq!(stream.lost, missing.len() as i64);
            }
            let (mut by_flow, first_flows) = (BTreeMap::new(), [0, flows[0], flows[0] + flows[1]]);
            for frame in sent {
                let (probe, _) = find(frame, &mut 0).expect("a test frame");
                let (sent, received) = by_flow.entry(probe.flow).or_insert((0, 0));
                *sent += 1;
                *received += u32::from(lossy(0, frame) != NOWHERE);
            }
            for (stream, first) in found.streams.iter().zip(first_flows) {
                let counts = stream.by_flow.as_ref().expect("asked");
                for (flow, pair) in (first..).zip(counts.sent.iter().copied().zip(counts.received.iter().copied())) {
                    prop_assert_eq!(pair, by_flow.get(&flow).copied().unwrap_or((0, 0)), "flow {}", flow);
                }
            }
        }
    }
}
