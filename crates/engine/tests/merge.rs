//! Several streams on one port: frame by frame what a slow reference says, which knows nothing of windows, bursts and blocks.

use crate::hand;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_engine::{Schedule, Trial, stream_seed};
use netdyno_frame::mix;
use netdyno_frame::template::Template;
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::time::Instant;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const LINE_BPS: u64 = 10_000_000_000;
/// Bytes of a slot.
const ROOM: usize = 1536;

/// Departures and bytes of all frames that were sent.
type Frames = Vec<(u64, Vec<u8>)>;

/// A port that keeps what it is given. Every third time it takes no more than so many frames.
struct Keeper {
    info: PortInfo,
    takes: usize,
    times: usize,
    kept: Arc<Mutex<Frames>>,
}

impl Port for Keeper {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let mut at = Vec::new();
        let frames = hand::lend(now, limit, ROOM, &mut |burst| {
            let wrote = fill(burst);
            at.extend(burst.slots()[..wrote].iter().map(|slot| slot.at.ps));
            wrote
        });
        self.times += 1;
        let most = if self.times.is_multiple_of(3) { self.takes } else { usize::MAX };
        let taken = frames.len().min(most);
        let sent = at.into_iter().zip(frames).take(taken);
        self.kept.lock().expect("not poisoned").extend(sent);
        Ok(taken)
    }

    fn receive(&mut self, _: Instant, _: usize, _: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        Ok(0)
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

/// What a trial sends by exact time or in real time, in rounds of 10 us of a clock set by hand; and what it found.
fn run(spec: &TrialSpec, exact: bool, takes: usize) -> (Frames, TrialResult) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let info = PortInfo {
        name: "west".to_owned(),
        backend: "kept".to_owned(),
        rate_bps: LINE_BPS,
        max_frame: 1514,
        time: if exact { Timestamps::Exact } else { Timestamps::Software },
        detail: String::new(),
    };
    let east = PortInfo {
        name: "east".to_owned(),
        ..info.clone()
    };
    let port = |info, kept: &Arc<Mutex<Frames>>| -> Box<dyn Port> {
        Box::new(Keeper {
            info,
            takes,
            times: 0,
            kept: Arc::clone(kept),
        })
    };
    let mut trial = Trial::new(spec.clone(), vec![port(info, &kept), port(east, &Arc::default())]).expect("fits");
    let mut now = Instant::ZERO;
    while !trial.finished() {
        trial.step(now);
        now.ps += 10_000_000;
    }
    let found = trial.result();
    (std::mem::take(&mut kept.lock().expect("not poisoned")), found)
}

/// What it should have sent: all frames by time, of one time those of the first stream first, each when it is due and the
/// line is free; or when `found` says, in real time.
fn reference(spec: &TrialSpec, found: &[(u64, Vec<u8>)], exact: bool) -> Frames {
    let mut all = Vec::new();
    let mut templates = Vec::new();
    let mut first_flow = 0;
    for (index, stream) in spec.streams.iter().enumerate() {
        let sizes: Vec<u32> = stream.sizes.iter().map(|size| size.size).collect();
        let order = mix::order(&stream.sizes.iter().map(|size| size.weight).collect::<Vec<_>>());
        let schedule = Schedule::new(&stream.schedule, &stream.sizes, &order);
        // In real time a line that is there spaces the frames of a burst itself.
        let schedule = if exact {
            schedule.in_bursts(stream.burst, LINE_BPS)
        } else {
            schedule.in_bursts_at_once(stream.burst, LINE_BPS)
        };
        let due = (0..).map_while(|number| schedule.departure_ps(number).map(|at| (at, index, number)));
        all.extend(due.map(|(at, index, number)| (at, index, number, order[number as usize % order.len()])));
        let mut template = Template::new(&stream.headers, &sizes, stream.flows, stream_seed(spec.seed, index)).expect("fits");
        template.set_first_flow(first_flow);
        first_flow += stream.flows;
        templates.push((template, sizes));
    }
    all.sort_by_key(|&(at, index, number, _)| (at, index, number));
    let start_ps = found.first().map_or(0, |first| first.0 - all[0].0);
    let mut free_ps = 0;
    all.iter()
        .enumerate()
        .map(|(place, &(due_ps, index, number, size))| {
            let (template, sizes) = &templates[index];
            let at = if exact {
                (start_ps + due_ps).max(free_ps)
            } else {
                found.get(place).map_or(0, |frame| frame.0)
            };
            let bits = u64::from(sizes[usize::from(size)] + 20) * 8;
            free_ps = at + bits * 1_000_000_000_000 / LINE_BPS;
            let flows = u64::from(template.flows());
            (at, template.frame((number % flows) as u32, number / flows, usize::from(size), at))
        })
        .collect()
}

/// Headers of streams that vary in nothing, in random addresses, in their VLAN and addresses of a list, or in IPv6.
fn headers(kind: usize, index: usize) -> Value {
    let random = |net: usize| json!({"random": {"min": format!("{net}.0.0.1"), "max": format!("{net}.255.255.254")}});
    let ethernet = json!({"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"});
    let udp = json!({"type": "udp", "sport": 1025, "dport": 12});
    match kind {
        0 => json!([ethernet, {"type": "ipv4", "src": "16.0.0.1", "dst": format!("48.0.{}.1", index % 256)}, udp]),
        1 => json!([ethernet, {"type": "ipv4", "src": random(16), "dst": random(48)}, udp]),
        2 => json!([ethernet, {"type": "vlan", "vid": 1 + index % 4094}, {"type": "ipv4", "src": random(16), "dst": random(48)}, udp]),
        3 => json!([ethernet, {"type": "ipv4", "src": {"list": ["10.0.0.1", "10.0.0.2", "10.0.0.3"]}, "dst": random(48)}, udp]),
        _ => json!([ethernet, {"type": "ipv6", "src": "2001:db8::1", "dst": "2001:db8::2"}, udp]),
    }
}

fn segments() -> impl Strategy<Value = Value> {
    let bps = || prop_oneof![1 => Just(0), 3 => Just(40_000_000), 3 => 1_000_000..200_000_000_u64];
    let segment = (10_000_u64..400_000, bps(), bps(), any::<bool>()).prop_map(|(duration_ns, from_bps, to, is_level)| {
        json!({"name": "s", "duration_ns": duration_ns, "from_bps": from_bps, "to_bps": if is_level { from_bps } else { to }})
    });
    proptest::collection::vec(segment, 1..4).prop_map(Value::Array)
}

/// Streams that are alike or all different, on a port that sends them.
fn trial() -> impl Strategy<Value = TrialSpec> {
    let sizes = prop_oneof![
        3 => Just(json!([{"size": 84, "weight": 1}])),
        1 => Just(json!([{"size": 84, "weight": 7}, {"size": 594, "weight": 4}, {"size": 1518, "weight": 1}])),
    ];
    let stream = (
        segments(),
        sizes,
        0_usize..5,
        prop_oneof![Just(1_u32), 2_u32..9, 30_u32..3000],
        prop_oneof![6 => Just(1), 2 => 2_u32..40, 1 => 100_u32..300],
    );
    let count = prop_oneof![1_usize..5, 5_usize..40, Just(255)];
    (count, any::<bool>(), proptest::collection::vec(stream, 40)).prop_map(|(count, are_alike, drawn)| {
        let streams: Vec<Value> = (0..count)
            .map(|index| {
                let (schedule, sizes, kind, flows, burst) = &drawn[if are_alike { 0 } else { index % drawn.len() }];
                json!({
                    "name": format!("s{index}"), "tx_port": 0, "rx_port": 1, "headers": headers(*kind, index),
                    "destination": "written", "sizes": sizes, "flows": flows, "burst": burst, "schedule": schedule,
                })
            })
            .collect();
        serde_json::from_value(json!({
            "seed": 1, "streams": streams,
            "ports": [{"mac": "02:00:00:00:00:01", "line_bps": LINE_BPS}, {"mac": "02:00:00:00:00:02", "line_bps": LINE_BPS}],
            "settle_ns": 0, "drain_ns": 100_000, "sample_ns": 100_000,
        }))
        .expect("a trial")
    })
}

fn check(spec: &TrialSpec, exact: bool, takes: usize) -> Result<(), TestCaseError> {
    let (sent, found) = run(spec, exact, takes);
    let expected = reference(spec, &sent, exact);
    for (place, (sent, expected)) in sent.iter().zip(&expected).enumerate() {
        prop_assert_eq!(sent, expected, "frame {}", place);
    }
    let unsent: u64 = found.streams.iter().map(|stream| stream.intended - stream.offered).sum();
    prop_assert_eq!(sent.len() as u64 + unsent, expected.len() as u64);
    let counted = |count: fn(&netdyno_engine::result::StreamResult) -> u64| found.streams.iter().map(count).sum::<u64>();
    prop_assert_eq!(counted(|stream| stream.offered), sent.len() as u64);
    prop_assert_eq!(counted(|stream| stream.tx.iter().sum()), sent.len() as u64);
    prop_assert_eq!(counted(|stream| stream.lag.as_ref().map_or(0, |lag| lag.count)), sent.len() as u64);
    let bytes: u64 = sent.iter().map(|(_, frame)| frame.len() as u64 + 4).sum();
    prop_assert_eq!(counted(|stream| stream.offered_bytes), bytes);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn streams_leave_as_the_reference_says_in_virtual_time(spec in trial()) {
        check(&spec, true, usize::MAX)?;
    }

    #[test]
    fn streams_leave_as_the_reference_says_in_real_time(spec in trial(), takes in prop_oneof![Just(usize::MAX), 1_usize..40]) {
        check(&spec, false, takes)?;
    }
}

/// Thousands of streams that are due at the same instants, and as many whose loads all differ.
#[test]
fn thousands_of_streams_leave_in_order() {
    for step in [0, 7_000] {
        let streams: Vec<Value> = (0..4096_u64)
            .map(|index| {
                let bps = 672 * 1000 + index * step;
                json!({
                    "name": format!("s{index}"), "tx_port": 0, "rx_port": 1, "headers": headers(2, index as usize),
                    "destination": "written", "sizes": [{"size": 68, "weight": 1}], "flows": 3,
                    "schedule": [{"name": "s", "duration_ns": 2_500_000, "from_bps": bps, "to_bps": bps}],
                })
            })
            .collect();
        let spec: TrialSpec = serde_json::from_value(json!({
            "seed": 1, "streams": streams, "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
            "settle_ns": 0, "drain_ns": 100_000, "sample_ns": 1_000_000,
        }))
        .expect("a trial");
        check(&spec, true, usize::MAX).expect("as the reference");
    }
}

/// Streams beside each other that leave together, of which some begin a sequence of their flows at each frame, at every third or
/// later, on a port that takes all or at times only some: of each stream how late its frames left, and in which sample of time.
#[test]
fn streams_that_leave_together_are_counted_as_each_alone() {
    for (flows, takes) in [([1, 1], 50), ([64, 64], 1000), ([3, 1000], 50), ([1000, 64], 1000)] {
        let streams: Vec<Value> = (0..300_usize)
            .map(|index| {
                // One of them is slower, so rows end beside it.
                let bps = if index == 200 { 672 * 20_000 } else { 672 * 30_000 };
                json!({
                    "name": format!("s{index}"), "tx_port": 0, "rx_port": 1, "headers": headers(1, index),
                    "destination": "written", "sizes": [{"size": 64, "weight": 1}], "flows": flows[index % 3 / 2],
                    "schedule": [{"name": "s", "duration_ns": 10_030_000, "from_bps": bps, "to_bps": bps}],
                })
            })
            .collect();
        let spec: TrialSpec = serde_json::from_value(json!({
            "seed": 1, "streams": streams,
            "ports": [{"mac": "02:00:00:00:00:01", "line_bps": LINE_BPS}, {"mac": "02:00:00:00:00:02", "line_bps": LINE_BPS}],
            "settle_ns": 0, "drain_ns": 100_000, "sample_ns": 100_000,
        }))
        .expect("a trial");
        let (sent, found) = run(&spec, false, takes);
        let mut due: Vec<(u64, usize)> = Vec::new();
        for (index, stream) in spec.streams.iter().enumerate() {
            let schedule = Schedule::new(&stream.schedule, &stream.sizes, &[0]);
            due.extend((0..).map_while(|number| Some((schedule.departure_ps(number)?, index))));
        }
        due.sort_unstable();
        assert_eq!(sent.len(), due.len());
        // The clock of the rounds begins at 0, as the trial does.
        let start_ps = found.phases.iter().find(|phase| phase.name == "s").expect("traffic").start_ns * 1000;
        let mut lags = vec![(0, 0, 0); spec.streams.len()];
        let mut befores = vec![0; spec.streams.len()];
        let mut samples = vec![vec![0; found.streams[0].tx.len()]; spec.streams.len()];
        let mut by_sample = vec![vec![[0; 3]; found.streams[0].tx.len()]; spec.streams.len()];
        for ((at_ps, _), (due_ps, index)) in sent.iter().zip(&due) {
            let lag_ps = at_ps - start_ps - due_ps;
            let lag_ns = lag_ps / 1000;
            let (count, sum_ns, max_ns) = lags[*index];
            lags[*index] = (count + 1, sum_ns + u128::from(lag_ns), lag_ns.max(max_ns));
            let sample = ((at_ps - start_ps) / 100_000_000) as usize;
            samples[*index][sample] += 1;
            // Below a nanosecond nothing is noted of a frame, unless the one before it was later.
            let before_ps = std::mem::replace(&mut befores[*index], lag_ps);
            if lag_ps.max(before_ps) >= 1000 {
                let [longest, closer, bunch] = &mut by_sample[*index][sample];
                *longest = lag_ps.div_ceil(1000).max(*longest);
                *closer = (before_ps.saturating_sub(lag_ps) / 1000).max(*closer);
                *bunch = 1;
            }
        }
        for (index, stream) in found.streams.iter().enumerate() {
            let lag = stream.lag.as_ref().expect("frames");
            assert_eq!((lag.count, lag.sum_ns, lag.max_ns), lags[index], "stream {index} of {flows:?}");
            assert_eq!(stream.tx, samples[index], "stream {index} of {flows:?}");
            assert_eq!(lag.by_sample, by_sample[index], "stream {index} of {flows:?}");
        }
    }
}

/// Of 40 equal streams each has two frames due in every round, which leave at once.
#[test]
fn frames_of_a_stream_that_leave_at_once_are_one_bunch() {
    let bps = 672 * 200_000;
    let stream = |index| {
        json!({
            "name": format!("s{index}"), "tx_port": 0, "rx_port": 1, "headers": headers(1, index),
            "destination": "written", "sizes": [{"size": 64, "weight": 1}], "flows": 1000,
            "schedule": [{"name": "s", "duration_ns": 1_000_000, "from_bps": bps, "to_bps": bps}],
        })
    };
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1, "streams": (0..40).map(stream).collect::<Vec<_>>(),
        "ports": [{"mac": "02:00:00:00:00:01", "line_bps": LINE_BPS}, {"mac": "02:00:00:00:00:02", "line_bps": LINE_BPS}],
        "settle_ns": 0, "drain_ns": 100_000, "sample_ns": 100_000,
    }))
    .expect("a trial");
    let (_, found) = run(&spec, false, usize::MAX);
    for stream in &found.streams {
        let lag = stream.lag.as_ref().expect("frames");
        assert_eq!(lag.by_sample.iter().map(|[.., bunch]| *bunch).max(), Some(2), "{}", stream.name);
    }
}
