//! Queues by class, shapers and policers against what they are by definition.

use crate::common::{Rig, TEN_GIGABIT, Timed, back_to_back, cross_connect, mac, udp4};
use netdyno_dut::spec::{Class, ClassPolice, DeviceCounters, DeviceSpec, Excess, HashStages, Layer, Police, Trunk};
use netdyno_dut::truth::{Departures, Offered, expect};
use proptest::prelude::*;

const MICROSECOND: u64 = 1_000_000;
const GIGABIT: u64 = 1_000_000_000;
/// A byte at 1 Gbit/s.
const BYTE: u64 = 8_000;

fn bucket(rate_bps: u64, burst_bytes: u64) -> Police {
    Police {
        rate_bps,
        layer: Layer::L2,
        burst_bytes,
        excess: None,
    }
}

fn class(dscp: &[u8], priority: u8, weight: u32, queue: u32) -> Class {
    Class {
        name: format!("{dscp:?}"),
        dscp: dscp.to_vec(),
        pcp: Vec::new(),
        priority,
        weight,
        queue,
        shape: None,
    }
}

/// West at 10 Gbit/s, east at 1 with these classes.
fn narrow(classes: Vec<Class>) -> DeviceSpec {
    let mut spec = cross_connect();
    (spec.ports[1].rate_bps, spec.ports[1].classes) = (GIGABIT, classes);
    spec
}

fn frame(size: usize, dscp: u8, number: usize) -> Vec<u8> {
    let mut frame = udp4(mac(10), mac(11), [16, 0, 0, 1], [48, 0, 0, 1], 64, size);
    frame[15] = dscp << 2;
    frame[42..46].copy_from_slice(&(number as u32).to_be_bytes());
    frame
}

/// Frames back to back at a load, of these sizes and DSCPs over and over.
fn cycle(kinds: &[(usize, u8)], count: usize, load_bps: u64) -> Vec<Timed> {
    let mut at = 0;
    (0..count)
        .map(|number| {
            let (size, dscp) = kinds[number % kinds.len()];
            let timed = Timed {
                port: 0,
                at,
                bytes: frame(size, dscp, number),
            };
            at += (size as u64 + 20) * 8 * 1_000_000_000_000 / load_bps;
            timed
        })
        .collect()
}

/// When the first bit of each frame leaves the device, if it does.
fn starts(spec: &DeviceSpec, frames: &[Timed]) -> (Vec<Option<u64>>, DeviceCounters) {
    let outcome = |quantum: u64| {
        let mut rig = Rig::new(spec.clone());
        let received = rig.run(frames, quantum, 1_000_000 * MICROSECOND);
        rig.assert_conserved();
        let mut starts = vec![None; frames.len()];
        for arrived in received {
            let number = u32::from_be_bytes(arrived.bytes[42..46].try_into().unwrap());
            // Preamble, SFD, frame and FCS; the gap is behind it.
            let on_wire = (arrived.bytes.len().max(60) as u64 + 12) * 8_000_000_000_000 / spec.ports[1].rate_bps;
            starts[number as usize] = Some(arrived.at - on_wire);
        }
        (starts, rig.device.counters())
    };
    let found = outcome(1);
    assert_eq!(found, outcome(9 * MICROSECOND));
    assert_eq!(found, outcome(1_000_000 * MICROSECOND));
    found
}

/// When a frame reaches the queues: its last bit is in 8 bytes after its own, and the delay is 5 us.
fn reaches(frame: &Timed) -> u64 {
    frame.at + (frame.bytes.len().max(60) as u64 + 12) * 800 + 5 * MICROSECOND
}

fn of_class<'a, T>(frames: &'a [Timed], found: &'a [T], dscp: u8) -> impl Iterator<Item = (&'a Timed, &'a T)> {
    frames.iter().zip(found).filter(move |(frame, _)| frame.bytes[15] >> 2 == dscp)
}

/// One voice frame of 64 bytes in 20 of 512: at 10 Gbit/s 78 Mbit/s of voice into a line of 1 Gbit/s that is ten times
/// overloaded. Voice waits for the frame on the line at most (532 bytes), and loses nothing.
#[test]
fn strict_priority_waits_for_one_frame_at_most() {
    let spec = narrow(vec![class(&[46], 0, 1, 4), class(&[], 1, 1, 50)]);
    let mut kinds = vec![(512, 0); 20];
    kinds[7] = (64, 46);
    let frames = cycle(&kinds, 8000, TEN_GIGABIT);
    let (starts, counters) = starts(&spec, &frames);
    for (frame, start) in of_class(&frames, &starts, 46) {
        let wait = start.expect("no voice is lost") - reaches(frame);
        assert!(wait < 532 * BYTE, "{wait}");
    }
    let lost = of_class(&frames, &starts, 0).filter(|(_, start)| start.is_none()).count() as u64;
    assert_eq!(counters.ports[1].class_drops, [0, lost]);
    assert_eq!(counters.ports[1].out_drops, lost);
    assert!(lost > 6000);
}

/// Weights 1, 2 and 4: 1/7, 2/7 and 4/7 of the bytes, FCS counted, whatever the sizes.
#[test]
fn weights_share_the_bytes() {
    let spec = narrow(vec![class(&[10], 3, 1, 50), class(&[20], 3, 2, 50), class(&[], 3, 4, 50)]);
    let frames = cycle(
        &[(1518, 10), (64, 20), (512, 0), (64, 20), (64, 20), (64, 20), (512, 0)],
        40_000,
        TEN_GIGABIT,
    );
    let (starts, _) = starts(&spec, &frames);
    // While all three are backlogged.
    let until = reaches(&frames[39_999]);
    let bytes = |dscp: u8| -> f64 {
        let sent = of_class(&frames, &starts, dscp).filter(|(_, start)| start.is_some_and(|at| at < until));
        sent.map(|(frame, _)| frame.bytes.len() as f64 + 4.0).sum()
    };
    let all = bytes(10) + bytes(20) + bytes(0);
    for (dscp, share) in [(10, 1.0 / 7.0), (20, 2.0 / 7.0), (0, 4.0 / 7.0)] {
        assert!(
            (bytes(dscp) / all / share - 1.0).abs() < 0.01,
            "{dscp}: {} of {share}",
            bytes(dscp) / all
        );
    }
}

/// A class that was empty has its turn behind those that were not, wherever the last turn ended (Shreedhar and Varghese
/// 1995, *ActiveList*): of two that wait for tokens the first one to come goes first, on a port that had nothing to send.
#[test]
fn of_an_idle_line_who_comes_first_goes_first() {
    let mut spec = narrow(vec![class(&[10], 1, 1, 4), class(&[], 1, 1, 4)]);
    spec.ports[1].shape = Some(bucket(10_000_000, 2000));
    for (first, second) in [(10, 0), (0, 10)] {
        let timed = |at: u64, size, dscp, number| Timed {
            port: 0,
            at: at * MICROSECOND,
            bytes: frame(size, dscp, number),
        };
        // 1518 bytes leave 482 of 2000, and 10 Mbit/s bring 1.25 bytes a microsecond.
        let frames = [timed(0, 1518, 10, 0), timed(100, 1000, first, 1), timed(150, 1000, second, 2)];
        let (starts, _) = starts(&spec, &frames);
        let begin = reaches(&frames[0]);
        let full = |bytes: u64| Some(begin + (bytes + 1518 - 2000) * 800_000);
        assert_eq!(starts, [Some(begin), full(1000), full(2000)], "{first} before {second}");
    }
}

/// A class that may have 200 Mbit/s, under a port that may have 600: the other gets 400.
#[test]
fn shapers_of_classes_stand_under_that_of_the_port() {
    let mut spec = narrow(vec![class(&[46], 0, 1, 40), class(&[], 1, 1, 40)]);
    spec.ports[1].classes[0].shape = Some(bucket(200_000_000, 2000));
    spec.ports[1].shape = Some(bucket(600_000_000, 2000));
    let frames = cycle(&[(256, 46), (512, 0)], 30_000, TEN_GIGABIT);
    let (starts, _) = starts(&spec, &frames);
    let (from, until) = (reaches(&frames[0]), reaches(&frames[29_999]));
    for (dscp, rate) in [(46, 200e6), (0, 400e6)] {
        let sent = of_class(&frames, &starts, dscp).filter(|(_, start)| start.is_some_and(|at| at < until));
        let bits: f64 = sent.map(|(frame, _)| (frame.bytes.len() as f64 + 4.0) * 8.0).sum();
        let found = bits / ((until - from) as f64 * 1e-12);
        // 18 ms; 2000 bytes at first are 0.9 Mbit/s of that.
        assert!((found / rate - 1.0).abs() < 0.02, "{dscp}: {found} of {rate}");
    }
}

/// 20 Mbit/s of class and 1 of excess: what passes of 40 is their sum; of the committed rate alone nothing is in excess.
#[test]
fn a_policer_of_two_rates_passes_their_sum() {
    let mut spec = cross_connect();
    spec.ports[0].police = Some(Police {
        excess: Some(Excess {
            rate_bps: 500_000_000,
            burst_bytes: 3000,
        }),
        ..bucket(GIGABIT, 3000)
    });
    let run = |load_bps: u64| {
        let frames = cycle(&[(512, 0)], 20_000, load_bps);
        let (starts, counters) = starts(&spec, &frames);
        let span = (frames[19_999].at - frames[0].at) as f64 * 1e-12;
        let passed = starts.iter().filter(|start| start.is_some()).count() as f64;
        (passed * 4096.0 / span, counters.ports[0].excess as f64 * 4096.0 / span)
    };
    // Loads are those of L1, 532 bytes a frame.
    let (passed, excess) = run(4 * GIGABIT);
    assert!((passed / 1.5e9 - 1.0).abs() < 0.005, "{passed}");
    assert!((excess / 0.5e9 - 1.0).abs() < 0.01, "{excess}");
    let (passed, excess) = run(GIGABIT);
    assert!((passed * 532.0 / 512.0 / 1e9 - 1.0).abs() < 0.001, "{passed}");
    assert_eq!(excess, 0.0);
}

#[test]
fn a_policer_of_a_class_stands_under_that_of_the_port() {
    let mut spec = cross_connect();
    spec.ports[0].police = Some(bucket(GIGABIT, 3000));
    spec.ports[0].police_classes = vec![ClassPolice {
        dscp: vec![46],
        pcp: Vec::new(),
        police: bucket(100_000_000, 3000),
    }];
    let frames = cycle(&[(512, 46), (512, 0)], 20_000, 4 * GIGABIT);
    let (starts, _) = starts(&spec, &frames);
    let span = frames[19_999].at as f64 * 1e-12;
    let rate = |dscp: u8| of_class(&frames, &starts, dscp).filter(|(_, start)| start.is_some()).count() as f64 * 4096.0 / span;
    assert!(rate(46) <= 100e6 * 1.02 && rate(46) > 50e6, "{}", rate(46));
    assert!((rate(46) + rate(0) - 1e9).abs() < 0.005 * 1e9, "{}", rate(46) + rate(0));
}

/// Two 10 Gbit/s ports of frames that are a tag longer on a trunk of 20: of `n` bytes on a line `n / (n + 4)` get through.
#[test]
fn a_trunk_with_a_tag_more_is_as_the_closed_form_has_it() {
    let mut spec = cross_connect();
    spec.trunk = Some(Trunk {
        near: vec![0],
        rate_bps: TEN_GIGABIT,
        more_bytes: 4,
        queue: 20,
        resume: None,
    });
    let frames = cycle(&[(64, 0)], 20_000, TEN_GIGABIT);
    let offered = Offered {
        in_port: 0,
        out_port: 1,
        size: 64,
        departures: Departures::Constant {
            load_bps: TEN_GIGABIT,
            frames: 20_000,
        },
        flow: None,
    };
    let (starts, counters) = starts(&spec, &frames);
    let received = starts.iter().filter(|start| start.is_some()).count() as u64;
    assert_eq!(received, expect(&spec, &[offered]).unwrap()[0].received);
    assert_eq!(counters.trunk_drops, 20_000 - received);
    // 84 of 88 bytes, and the 21 that it held at the end.
    assert!((received as i64 - (20_000 * 84 / 88 + 21)).abs() <= 1, "{received}");
}

/// Twice what the trunk takes, so frame `k` comes `k / 2` services after the first and `k / 2 + 1` have begun, rounded down.
#[test]
fn a_trunk_whose_queue_was_full_drops_until_it_is_shorter() {
    let mut spec = cross_connect();
    spec.trunk = Some(Trunk {
        near: vec![0],
        rate_bps: TEN_GIGABIT / 2,
        more_bytes: 0,
        queue: 20,
        resume: Some(12),
    });
    let (starts, counters) = starts(&spec, &cycle(&[(64, 0)], 100, TEN_GIGABIT));
    let lost: Vec<usize> = (0..100).filter(|frame| starts[*frame].is_none()).collect();
    // Frame 41 finds 41 - 21 = 20 waiting, frame 56 the first to find 41 - 29 = 12. It and the 14 behind it are taken, and frame
    // 71 finds 56 - 36 = 20. Half are lost.
    assert_eq!(lost, (41..56).chain(71..86).collect::<Vec<_>>());
    assert_eq!(counters.trunk_drops, lost.len() as u64);
}

/// The definition, with a bucket for each class and the port, at 1 Gbit/s: whenever the line is free, of all frames that are
/// there the first of the class that goes first, as soon as its buckets hold its bits.
fn by_definition(spec: &DeviceSpec, frames: &[Timed]) -> Vec<Option<u64>> {
    struct Tokens(Option<(u128, u128, u128, u64)>);
    impl Tokens {
        fn new(shape: Option<&Police>) -> Self {
            // Rate, depth and contents in bits times 10^12, and since when.
            Self(shape.map(|shape| {
                let depth = u128::from(shape.burst_bytes) * 8_000_000_000_000;
                (u128::from(shape.rate_bps), depth, depth, 0)
            }))
        }
        fn ready(&self, bits: u128) -> u64 {
            let Some((rate, _, held, since)) = self.0 else { return 0 };
            since + (bits * 1_000_000_000_000).saturating_sub(held).div_ceil(rate) as u64
        }
        fn take(&mut self, at: u64, bits: u128) {
            if let Some((rate, depth, held, since)) = &mut self.0 {
                *held = (*held + *rate * u128::from(at - *since)).min(*depth) - bits * 1_000_000_000_000;
                *since = at;
            }
        }
    }
    let port = &spec.ports[1];
    let mut classes: Vec<Tokens> = port.classes.iter().map(|class| Tokens::new(class.shape.as_ref())).collect();
    let mut whole = Tokens::new(port.shape.as_ref());
    let class_of = |frame: &Timed| {
        let dscp = frame.bytes[15] >> 2;
        port.classes
            .iter()
            .position(|class| class.dscp.contains(&dscp))
            .unwrap_or(port.classes.len() - 1)
    };
    let bits = |frame: &Timed| (frame.bytes.len() as u128 + 4) * 8;
    let mut starts = vec![None; frames.len()];
    let mut waiting: Vec<usize> = Vec::new();
    let (mut next, mut free) = (0, 0);
    loop {
        // The earliest time at which a frame of those that will have come by then may begin, tried one by one.
        let mut best: Option<(u64, u8, usize)> = None;
        let mut times: Vec<u64> = vec![free];
        times.extend(frames.iter().map(reaches));
        for frame in frames {
            times.push(classes[class_of(frame)].ready(bits(frame)));
            times.push(whole.ready(bits(frame)));
        }
        times.retain(|time| *time >= free);
        times.sort_unstable();
        'times: for time in times {
            let there: Vec<usize> = waiting
                .iter()
                .copied()
                .chain((next..frames.len()).filter(|index| reaches(&frames[*index]) <= time))
                .collect();
            let mut firsts: Vec<(u8, usize)> = Vec::new();
            for (number, class) in port.classes.iter().enumerate() {
                let first = there.iter().find(|index| class_of(&frames[**index]) == number);
                if let Some(first) = first.filter(|index| classes[number].ready(bits(&frames[**index])) <= time) {
                    firsts.push((class.priority, *first));
                }
            }
            firsts.sort_unstable();
            if let Some((priority, index)) = firsts.first()
                && whole.ready(bits(&frames[*index])) <= time
            {
                best = Some((time, *priority, *index));
                break 'times;
            }
        }
        let Some((at, _, index)) = best else { return starts };
        while next < frames.len() && reaches(&frames[next]) <= at {
            waiting.push(next);
            next += 1;
        }
        waiting.retain(|other| *other != index);
        starts[index] = Some(at);
        classes[class_of(&frames[index])].take(at, bits(&frames[index]));
        whole.take(at, bits(&frames[index]));
        free = at + (frames[index].bytes.len() as u64 + 24) * BYTE;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn priorities_and_shapers_are_as_defined(
        shapes in prop::collection::vec(prop::option::of((50_000_000..900_000_000u64, 1700..6000u64)), 4),
        kinds in prop::collection::vec((0..3usize, 64..1500usize, 0..4_000_000u64), 1..40),
    ) {
        let dscps = [46, 34, 0];
        let shape = |index: usize| shapes[index].map(|(rate, burst)| bucket(rate, burst));
        let mut spec = narrow((0..3).map(|index| Class { shape: shape(index), ..class(&[dscps[index]], index as u8, 1, 100) }).collect());
        spec.ports[1].shape = shape(3);
        let mut at = 0;
        let frames: Vec<Timed> = kinds.iter().enumerate().map(|(number, (class, size, gap))| {
            // Odd picoseconds, so that nothing happens at once.
            let timed = Timed { port: 0, at, bytes: frame(*size, dscps[*class], number) };
            at += (*size as u64 + 20) * 800 + gap * 2 + 1;
            timed
        }).collect();
        prop_assert_eq!(starts(&spec, &frames).0, by_definition(&spec, &frames));
    }

    /// On an idle line frames bypass the queues unless something is shaped. A shaper faster than the line must change nothing.
    #[test]
    fn a_shaper_faster_than_the_line_changes_nothing(
        classes in prop::collection::vec((0..2u8, 1..4u32, 0..6u32), 3),
        kinds in prop::collection::vec((0..3usize, 64..300usize, 0..3usize), 1..200),
    ) {
        let dscps = [46, 34, 0];
        let class_of = |(index, &(priority, weight, queue)): (usize, &(u8, u32, u32))| class(&[dscps[index]], priority, weight, queue);
        let spec = narrow(classes.iter().enumerate().map(class_of).collect());
        let mut shaped = spec.clone();
        shaped.ports[1].shape = Some(bucket(100 * GIGABIT, 1_000_000));
        let mut at = 0;
        let frames: Vec<Timed> = kinds.iter().enumerate().map(|(number, (class, size, load))| {
            let timed = Timed { port: 0, at, bytes: frame(*size, dscps[*class], number) };
            // A tenth of the line, all of it to the picosecond, and as fast as it can come.
            at += (*size as u64 + 20) * [10 * BYTE, BYTE, 800][*load];
            timed
        }).collect();
        prop_assert_eq!(starts(&spec, &frames).0, starts(&shaped, &frames).0);
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_field() {
    let refused = |change: fn(&mut DeviceSpec)| {
        let mut spec = narrow(vec![class(&[], 0, 1, 1)]);
        change(&mut spec);
        let ports = spec.ports.iter().map(|port| {
            let link = netdyno_io::backend::LinkSpec::new("tester", &port.name, port.rate_bps, 1600);
            Box::new(netdyno_io::backend::wire::pair(&link).unwrap().1) as Box<dyn netdyno_io::port::Port>
        });
        let ports = ports.collect();
        netdyno_dut::Device::new(spec, ports, 1600).unwrap_err().to_string()
    };
    assert!(refused(|spec| spec.ports[1].classes[0].dscp = vec![64]).contains("a DSCP is 0 to 63"));
    assert!(refused(|spec| spec.ports[1].classes[0].weight = 0).contains("classes[0].weight"));
    assert!(refused(|spec| spec.ports[1].classes[0].priority = 16).contains("classes[0].priority"));
    assert!(refused(|spec| spec.ports[1].shape = Some(bucket(1, 1500))).contains("ports[1].shape"));
    let trunk = |spec: &mut DeviceSpec| {
        spec.trunk = Some(Trunk {
            near: vec![0],
            rate_bps: TEN_GIGABIT,
            more_bytes: 0,
            queue: 4,
            resume: Some(5),
        });
    };
    assert!(refused(trunk).contains("trunk.resume"));
    // One member is not shared by two switches.
    assert!(refused(|spec| spec.ports[1].stages = Some(HashStages { switches: 2, rotate: 0 })).contains("stages.switches"));
    assert!(refused(|spec| spec.ports[1].stages = Some(HashStages { switches: 1, rotate: 8 })).contains("stages.rotate"));
    assert!(
        refused(|spec| spec.ports[0].police_classes = vec![ClassPolice {
            dscp: vec![],
            pcp: vec![8],
            police: bucket(1, 1)
        }])
        .contains("police_classes")
    );
    let frames = back_to_back(0, &frame(64, 0, 0), 1, GIGABIT);
    assert!(starts(&narrow(vec![class(&[], 0, 1, 1)]), &frames).0[0].is_some());
}
