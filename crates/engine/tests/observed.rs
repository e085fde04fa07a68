//! What is observed beyond counts, on a way on which the fate of every frame is known: against a list of all frames, looked
//! through plainly, and against the examples of the standards.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use netdyno_engine::Trial;
use netdyno_engine::result::{FlowCounts, Gap, Interval, Reordering, Silence, StreamResult, TrialResult};
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::probe::find;
use netdyno_io::drive::run_virtual;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Slot, Timestamps};
use netdyno_io::time::{Duration, Instant};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// L1 bits of a 64-byte frame.
const BITS_64: u64 = 672;
/// Frames are a microsecond apart.
const APART_NS: u64 = 1000;
const ROOM: usize = 64;

/// What becomes of a frame, by its number in its stream: how long each copy of it takes, ps, and whether it comes broken.
type Fate = Box<dyn FnMut(u64) -> (Vec<u64>, bool) + Send>;

/// A frame that arrived: its number, departure and arrival, ps from the start of traffic.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    number: u64,
    departed: u64,
    arrived: u64,
}

struct Way {
    fate: Fate,
    flows: u64,
    /// Frames on their way, by arrival and order of sending.
    frames: BTreeMap<(u64, u64), Vec<u8>>,
    sent: u64,
    /// Intact frames in order of arrival, copies with them.
    log: Vec<Arrival>,
}

/// One end of it, in virtual time: the west sends, the east receives.
struct End {
    info: PortInfo,
    way: Arc<Mutex<Way>>,
}

impl Port for End {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let mut memory = vec![0; ROOM * limit];
        let slot = |index: usize| Slot {
            offset: (index * ROOM) as u32,
            len: ROOM as u32,
            at: now,
        };
        let mut slots: Vec<Slot> = (0..limit).map(slot).collect();
        let wrote = fill(&mut Burst::new(&mut memory, &mut slots));
        let way = &mut *self.way.lock().unwrap();
        for slot in &slots[..wrote] {
            let frame = &memory[slot.offset as usize..][..slot.len as usize];
            let (probe, at) = find(frame, &mut 0).expect("a test frame");
            assert_eq!(probe.departure_ps, slot.at.ps);
            let number = u64::from(probe.sequence) * way.flows + u64::from(probe.flow);
            let (delays, is_broken) = (way.fate)(number);
            for delay in delays {
                let mut frame = frame.to_vec();
                // The destination port of UDP: the probe stays readable.
                frame[at - 5] ^= u8::from(is_broken);
                way.frames.insert((slot.at.ps + delay, way.sent), frame);
                way.sent += 1;
            }
        }
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        if self.info.name == "west" {
            return Ok(0);
        }
        let way = &mut *self.way.lock().unwrap();
        let (mut memory, mut slots) = (Vec::new(), Vec::new());
        while let Some(entry) = way
            .frames
            .first_entry()
            .filter(|entry| entry.key().0 <= now.ps && slots.len() < limit)
        {
            let ((ps, _), frame) = entry.remove_entry();
            let (probe, at) = find(&frame, &mut 0).expect("a test frame");
            if frame[at - 5] == 12 {
                way.log.push(Arrival {
                    number: u64::from(probe.sequence) * way.flows + u64::from(probe.flow),
                    departed: probe.departure_ps,
                    arrived: ps,
                });
            }
            slots.push(Slot {
                offset: memory.len() as u32,
                len: frame.len() as u32,
                at: Instant { ps },
            });
            memory.extend(frame);
        }
        if !slots.is_empty() {
            read(&mut Burst::new(&mut memory, &mut slots));
        }
        Ok(slots.len())
    }

    fn next_arrival(&self) -> Option<Instant> {
        let way = self.way.lock().unwrap();
        let first = way.frames.first_key_value().filter(|_| self.info.name == "east");
        first.map(|((ps, _), _)| Instant { ps: *ps })
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

/// A trial of so many frames, one a microsecond, of which `observe` is asked; and all that arrived intact.
fn run(observe: Value, frames: u64, flows: u32, fate: Fate) -> (TrialResult, Vec<Arrival>) {
    let bps = BITS_64 * 1_000_000_000 / APART_NS;
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1,
        "streams": [{
            "name": "west-east", "tx_port": 0, "rx_port": 1,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "peer", "sizes": [{"size": 64, "weight": 1}], "flows": flows,
            "schedule": [{"name": "traffic", "duration_ns": frames * APART_NS, "from_bps": bps, "to_bps": bps}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 0, "drain_ns": 100_000_000, "sample_ns": 100_000_000, "observe": observe,
    }))
    .expect("a trial");
    let way = Arc::new(Mutex::new(Way {
        fate,
        flows: u64::from(flows),
        frames: BTreeMap::new(),
        sent: 0,
        log: Vec::new(),
    }));
    let end = |name: &str| -> Box<dyn Port> {
        Box::new(End {
            info: PortInfo {
                name: name.to_owned(),
                backend: "way".to_owned(),
                rate_bps: 0,
                max_frame: 60,
                time: Timestamps::Exact,
                detail: String::new(),
            },
            way: Arc::clone(&way),
        })
    };
    let mut trial = Trial::new(spec, vec![end("west"), end("east")]).expect("fits");
    run_virtual(&mut [&mut trial], Instant::ZERO, Duration::from_us(30), Instant::NEVER, &|| false);
    let log = std::mem::take(&mut way.lock().unwrap().log);
    (trial.result(), log)
}

fn stream(observe: Value, frames: u64, flows: u32, fate: impl FnMut(u64) -> (Vec<u64>, bool) + Send + 'static) -> StreamResult {
    let (mut found, _) = run(observe, frames, flows, Box::new(fate));
    assert_eq!(found.invalid, []);
    assert_eq!(found.streams[0].offered, frames);
    found.streams.remove(0)
}

const DELAY: u64 = 5_000_000;

fn arrives() -> (Vec<u64>, bool) {
    (vec![DELAY], false)
}

/// A hundred frames that are lost together are of a hundred flows, and one gap.
#[test]
fn frames_lost_together_of_several_flows_are_one_gap() {
    for flows in [1, 7, 65_536] {
        let found = stream(json!({"gaps": 10}), 2000, flows, |number| match number {
            500..600 | 1990..2000 => (Vec::new(), false),
            // One comes broken: it did not arrive either.
            700 => (vec![DELAY], true),
            _ => arrives(),
        });
        let gap = |first: u64, last: u64| Gap {
            first,
            last,
            frames: last - first + 1,
            first_ns: first * APART_NS,
            last_ns: last * APART_NS,
        };
        let gaps = found.gaps.expect("asked");
        assert_eq!(gaps.gaps, [gap(500, 599), gap(700, 700), gap(1990, 1999)], "{flows} flows");
        assert_eq!((gaps.further, gaps.further_frames), (0, 0));
        assert_eq!((found.lost, found.corrupted, found.first_loss_ns), (110, 1, Some(500_000)));
        // Frame 499 came 5 us after its microsecond, frame 600 too; those behind frame 1989 are between no two arrivals.
        let silence = Silence {
            from_ns: 504_000,
            until_ns: 605_000,
        };
        assert_eq!(found.silence, Some(silence));
    }
}

/// Every fourth frame is lost of the first 400, and of the last 40.
#[test]
fn the_first_gaps_and_the_last_are_dated_and_the_others_counted() {
    let lossy = |number: u64| match number {
        0..400 | 9960..10_000 if number.is_multiple_of(4) => (Vec::new(), false),
        _ => arrives(),
    };
    let found = stream(json!({"gaps": 3}), 10_000, 3, lossy).gaps.expect("asked");
    let firsts: Vec<u64> = found.gaps.iter().map(|gap| gap.first).collect();
    assert_eq!((firsts, found.further, found.further_frames), (vec![0, 4, 9996], 107, 107));
    let bridged = stream(json!({"gaps": 3, "bridge": 3}), 10_000, 3, lossy).gaps.expect("asked");
    let events: Vec<_> = bridged.gaps.iter().map(|gap| (gap.first, gap.last, gap.frames)).collect();
    assert_eq!((events, bridged.further), (vec![(0, 396, 100), (9960, 9996, 10)], 0));
}

/// A frame that comes much later than those behind it is not missing.
#[test]
fn late_frames_are_no_gap() {
    let found = stream(json!({"gaps": 3}), 30_000, 2, |number| match number {
        17 => (vec![20_000_000_000], false),
        _ => arrives(),
    });
    assert_eq!((found.out_of_order, found.gaps.expect("asked").gaps.len()), (1, 0));
}

/// The order of arrival, of one flow: numbers from 1 on, as RFC 4737 has them.
fn in_order_of(arrivals: &'static [u64]) -> Reordering {
    let delay = |number: u64| {
        let place = arrivals.iter().position(|&at| at == number + 1).expect("each arrives") as u64;
        (vec![(100 + place - number) * APART_NS * 1000], false)
    };
    stream(json!({"order": true}), arrivals.len() as u64, 1, delay)
        .order
        .expect("asked")
}

/// RFC 4737 section 7: the examples. In the first 4, 5 and 6 are reordered, late by 4, 5 and 6 arrivals, and only 4 is
/// n-reordered, up to n = 4; in the second, frame 4 has an extent of 4.
#[test]
fn extents_and_n_reordering_are_those_of_rfc_4737() {
    let found = in_order_of(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]);
    assert_eq!((found.placed, found.unplaced), (3, 0));
    assert_eq!((found.extent_max, found.extent_sum), (6, 4 + 5 + 6));
    assert_eq!(found.n_reordered, [1, 1, 1, 1]);
    let found = in_order_of(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]);
    assert_eq!((found.placed, found.extent_max, found.n_reordered), (1, 4, vec![1, 1, 1, 1]));
    let in_order = in_order_of(&[1, 2, 3]);
    assert_eq!(in_order, Reordering::default());
}

/// Latency is 5 us before the second half and 7 us in it.
#[test]
fn only_frames_from_a_time_on_are_timed() {
    for from in [0, 500, 2000] {
        let observe = json!({"timed_from_ns": from * APART_NS, "variation": true});
        let found = stream(observe, 1000, 10, |number| {
            let slow = u64::from(number >= 500) * 2_000_000;
            (vec![DELAY + slow], false)
        });
        assert_eq!((found.received, found.lost), (1000, 0));
        let (latency, variation) = (found.latency, found.variation);
        match from {
            2000 => assert_eq!((latency, variation), (None, None)),
            _ => {
                let (latency, variation) = (latency.expect("timed"), variation.expect("pairs"));
                let (least, step) = if from == 0 { (5000, 2000) } else { (7000, 0) };
                assert_eq!((latency.count, latency.min_ns, latency.max_ns), (1000 - from, least, 7000));
                assert_eq!((variation.pairs, variation.min_ns, variation.max_ns), (999 - from, 0, step));
                assert_eq!(variation.sum_ns, i128::from(step));
            }
        }
    }
}

/// By the arrivals of each interval, whatever the rounds: none in the second half of the traffic, and the last ones behind it.
#[test]
fn latency_by_interval_is_that_of_its_arrivals() {
    const INTERVAL_PS: u64 = 100_000_000;
    let delay = |number: u64| {
        let late = u64::from(number == 400) * 700_000_000;
        // Below 2048 ns each nanosecond has a place of its own.
        let ways = vec![(1000 + number * 7 % 900) * 1000 + late];
        (if (500..900).contains(&number) { Vec::new() } else { ways }, false)
    };
    for observe in [
        json!({"interval_ns": INTERVAL_PS / 1000}),
        json!({"interval_ns": INTERVAL_PS / 1000, "gaps": 9}),
    ] {
        let (found, log) = run(observe, 1000, 3, Box::new(delay));
        let mut expected = Vec::new();
        for number in 0..12 {
            let is_here = |one: &&Arrival| one.arrived / INTERVAL_PS == number;
            let mut times: Vec<u64> = log.iter().filter(is_here).map(|one| (one.arrived - one.departed) / 1000).collect();
            times.sort_unstable();
            let rank = |share: usize| times.get((times.len() * share).div_ceil(100).wrapping_sub(1)).copied().unwrap_or(0);
            expected.push(Interval {
                count: times.len() as u64,
                p50_ns: rank(50),
                p99_ns: rank(99),
                max_ns: rank(100),
            });
        }
        assert_eq!(expected.iter().map(|one| one.count).sum::<u64>(), 600);
        // Of the frame that came 700 us late the place has three digits.
        let late = expected.iter_mut().find(|one| one.max_ns > 700_000).expect("the late one");
        let most = found.streams[0].intervals.iter().map(|one| one.max_ns).max().expect("intervals");
        assert!(most.abs_diff(late.max_ns) < 512);
        late.max_ns = most;
        late.p99_ns = if late.p99_ns > 700_000 { most } else { late.p99_ns };
        let while_frames = expected.iter().rposition(|one| one.count > 0).expect("frames") + 1;
        assert_eq!(found.streams[0].intervals, expected[..while_frames]);
    }
}

/// Of ten flows, 100 frames each: flow 3 loses every fourth frame, flow 4 all from its 50th on, flow 5 all. Flow 6 comes
/// broken, flow 7 twice, flow 8 out of order.
#[test]
fn frames_of_each_flow_are_counted_and_the_last_that_arrived_is_dated() {
    let found = stream(json!({"by_flow": true}), 1000, 10, |number| match (number % 10, number / 10) {
        (3, sequence) if sequence % 4 == 3 => (Vec::new(), false),
        (4, 50..) | (5, _) => (Vec::new(), false),
        (6, _) => (vec![DELAY], true),
        (7, _) => (vec![DELAY, 2 * DELAY], false),
        // The last but one arrives after the last.
        (8, 98) => (vec![DELAY + 20_000_000], false),
        _ => arrives(),
    });
    let last_ns = [990, 991, 992, 983, 494, -1, -1, 997, 998, 999];
    let expected = FlowCounts {
        sent: vec![100; 10],
        received: vec![100, 100, 100, 75, 50, 0, 0, 100, 100, 100],
        elsewhere: vec![0; 10],
        last_ns: last_ns.iter().map(|&us: &i64| if us < 0 { us } else { us * 1000 }).collect(),
        port: last_ns.iter().map(|&us| if us < 0 { -1 } else { 1 }).collect(),
        moved: vec![0; 10],
    };
    assert_eq!(found.by_flow, Some(expected));
    assert_eq!(
        (found.received, found.corrupted, found.duplicates, found.out_of_order),
        (725, 100, 100, 1)
    );
}

#[test]
fn nothing_is_observed_that_was_not_asked() {
    let found = stream(json!({}), 100, 3, |_| arrives());
    assert!(found.gaps.is_none() && found.silence.is_none() && found.order.is_none() && found.variation.is_none());
    assert!(found.by_flow.is_none());
}

#[test]
fn too_many_gaps_are_refused() {
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1, "streams": [], "ports": [], "settle_ns": 0, "drain_ns": 0, "sample_ns": 1, "observe": {"gaps": 10_001},
    }))
    .expect("a trial");
    let error = Trial::new(spec, Vec::new()).expect_err("too many").error;
    assert_eq!(error.place, "observe.gaps");
}

#[test]
fn too_many_flows_to_be_counted_one_by_one_are_refused() {
    let stream = |flows: u64| json!({"name": "s", "tx_port": 0, "rx_port": 0, "headers": [], "destination": "peer", "sizes": [], "flows": flows, "schedule": []});
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1, "streams": [stream(1 << 20), stream(1)], "ports": [], "settle_ns": 0, "drain_ns": 0, "sample_ns": 1,
        "observe": {"by_flow": true},
    }))
    .expect("a trial");
    let error = Trial::new(spec, Vec::new()).expect_err("too many").error;
    assert_eq!(error.place, "observe.by_flow");
}

/// All that is found by looking through a list of the frames that arrived, those of each number once.
#[derive(Debug, PartialEq)]
struct Plain {
    gaps: Vec<(u64, u64)>,
    silence: u64,
    extents: Vec<u64>,
    n_reordered: Vec<u64>,
    /// Differences of latency, ps.
    differences: Vec<i64>,
}

fn plainly(log: &[Arrival], frames: u64, flows: u64) -> Plain {
    let mut seen = std::collections::HashSet::new();
    let log: Vec<Arrival> = log.iter().copied().filter(|arrival| seen.insert(arrival.number)).collect();
    let mut gaps: Vec<(u64, u64)> = Vec::new();
    for number in (0..frames).filter(|number| !seen.contains(number)) {
        match gaps.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => gaps.push((number, number)),
        }
    }
    let mut by_flow: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    log.iter()
        .for_each(|arrival| by_flow.entry(arrival.number % flows).or_default().push(arrival.number));
    let (mut extents, mut n_reordered) = (Vec::new(), Vec::new());
    for numbers in by_flow.values() {
        for (place, number) in numbers.iter().enumerate() {
            let Some(first) = numbers[..place].iter().position(|before| before > number) else {
                continue;
            };
            extents.push((place - first) as u64);
            let n = numbers[..place].iter().rev().take_while(|before| *before > number).count();
            n_reordered.resize(n_reordered.len().max(n), 0);
            n_reordered[..n].iter_mut().for_each(|count| *count += 1);
        }
    }
    extents.sort_unstable();
    let delays: BTreeMap<u64, i64> = log.iter().map(|it| (it.number, it.arrived as i64 - it.departed as i64)).collect();
    let before = |number: &u64| number.checked_sub(1).and_then(|before| delays.get(&before));
    let differences = delays
        .iter()
        .filter_map(|(number, delay)| before(number).map(|before| delay - before));
    Plain {
        gaps,
        silence: log.windows(2).map(|pair| pair[1].arrived - pair[0].arrived).max().unwrap_or(0),
        extents,
        n_reordered,
        differences: differences.collect(),
    }
}

fn decoded(histogram: Option<&String>) -> Vec<(u64, u64)> {
    let Some(text) = histogram else { return Vec::new() };
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).expect("base64");
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).expect("a histogram");
    histogram
        .iter_recorded()
        .map(|it| (it.value_iterated_to(), it.count_at_value()))
        .collect()
}

/// The histogram of these values, as the package makes it.
fn counted(values: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 10_000_000_000, 3).expect("bounds");
    values.for_each(|value| histogram.record(value).expect("in range"));
    histogram
        .iter_recorded()
        .map(|it| (it.value_iterated_to(), it.count_at_value()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Frames that are lost alone and together, that overtake each other a little and a lot, and come twice.
    #[test]
    fn everything_is_what_a_list_of_all_frames_says(
        frames in 2_u64..3000,
        flows in prop_oneof![Just(1_u32), 2_u32..50, 1000_u32..1100, Just(70_000_u32)],
        one_in in 2_u64..300,
        outage in proptest::option::of((0_u64..3000, 1_u64..500)),
        spread_ps in prop_oneof![Just(1_u64), 1_u64..900_000, 1_000_000_u64..50_000_000],
        seed in any::<u64>(),
    ) {
        let mut state = seed | 1;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let fate = move |number: u64| {
            let mut delay = || DELAY + random(spread_ps);
            let mut delays = vec![delay()];
            if random(one_in) == 0 || outage.is_some_and(|(from, length)| (from..from + length).contains(&number)) {
                delays.clear();
            } else if random(20) == 0 {
                delays.push(DELAY + random(spread_ps));
            }
            (delays, false)
        };
        let observe = json!({"gaps": 10_000, "order": true, "variation": true});
        let (found, log) = run(observe, frames, flows, Box::new(fate));
        let stream = &found.streams[0];
        let plain = plainly(&log, frames, u64::from(flows));
        prop_assert_eq!(&found.invalid, &[]);

        let gaps = stream.gaps.as_ref().expect("asked");
        let runs: Vec<_> = gaps.gaps.iter().map(|gap| (gap.first, gap.last)).collect();
        prop_assert_eq!(&runs, &plain.gaps);
        prop_assert_eq!(gaps.gaps.iter().map(|gap| gap.frames).sum::<u64>() as i64, stream.lost);
        for gap in &gaps.gaps {
            prop_assert_eq!((gap.first_ns, gap.last_ns), (gap.first * APART_NS, gap.last * APART_NS));
        }
        // Both ends are rounded down to nanoseconds.
        let silence = stream.silence.as_ref().map_or(0, |silence| silence.until_ns - silence.from_ns);
        prop_assert!(silence.abs_diff(plain.silence / 1000) <= 1, "{} {}", silence, plain.silence);

        let order = stream.order.as_ref().expect("asked");
        prop_assert_eq!(stream.out_of_order, plain.extents.len() as u64);
        prop_assert_eq!((order.placed, order.unplaced), (stream.out_of_order, 0));
        prop_assert_eq!(order.extent_max, plain.extents.last().copied().unwrap_or(0));
        prop_assert_eq!(order.extent_sum, plain.extents.iter().sum::<u64>());
        prop_assert_eq!(decoded(order.extents.as_ref()), counted(plain.extents.iter().copied()));
        prop_assert_eq!(&order.n_reordered, &plain.n_reordered[..plain.n_reordered.len().min(64)]);

        let ns: Vec<i64> = plain.differences.iter().map(|ps| ps / 1000).collect();
        match &stream.variation {
            None => prop_assert!(ns.is_empty()),
            Some(found) => {
                prop_assert_eq!((found.pairs, found.over), (ns.len() as u64, 0));
                prop_assert_eq!(Some(found.min_ns), ns.iter().min().copied());
                prop_assert_eq!(Some(found.max_ns), ns.iter().max().copied());
                prop_assert_eq!(found.sum_ns, ns.iter().map(|&ns| i128::from(ns)).sum::<i128>());
                let (above, below) = (ns.iter().filter(|ns| **ns >= 0), ns.iter().filter(|ns| **ns < 0));
                prop_assert_eq!(decoded(found.above.as_ref()), counted(above.map(|ns| ns.unsigned_abs())));
                prop_assert_eq!(decoded(found.below.as_ref()), counted(below.map(|ns| ns.unsigned_abs())));
            }
        }
    }
}
