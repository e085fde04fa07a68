//! What happens to a device while frames pass, against numbers worked out on paper.
//!
//! 64 bytes at 10 Gbit/s: frame `k` departs at 67.2 k ns, is in 57.6 ns later, and 5 us later begins to leave. So by 50 us
//! frames 0 to 743 are in and 0 to 668 have begun to leave; by 70 us 0 to 1040 and 0 to 966.

use crate::common::{Rig, TEN_GIGABIT, Timed, back_to_back, bridge, cross_connect, mac, router, udp4};
use netdyno_dut::spec::{DeviceSpec, EventKind, Recovery};
use netdyno_io::time::Instant;
use std::collections::VecDeque;

const MICROSECOND: u64 = 1_000_000;
const FRAMES: u64 = 1488;

type Event = (u64, EventKind, Option<usize>);

fn numbered(frames: &mut [Timed]) {
    for (number, frame) in frames.iter_mut().enumerate() {
        frame.bytes[42..46].copy_from_slice(&(number as u32).to_be_bytes());
    }
}

fn number(frame: &Timed) -> u32 {
    u32::from_be_bytes(frame.bytes[42..46].try_into().unwrap())
}

/// A rig to which these things happen, at microseconds.
fn rig(spec: DeviceSpec, events: &[Event]) -> Rig {
    let mut rig = Rig::new(spec);
    let ps = |us: u64| Instant { ps: us * MICROSECOND };
    let events: Vec<_> = events.iter().map(|(at, kind, port)| (ps(*at), *kind, *port)).collect();
    rig.device.set_events(&events).unwrap();
    rig
}

/// The numbers of the frames that come out, whatever the steps.
fn passed(spec: &DeviceSpec, events: &[Event]) -> (Vec<u32>, netdyno_dut::spec::DeviceCounters) {
    let mut frames = back_to_back(
        0,
        &udp4(mac(10), mac(11), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64),
        FRAMES,
        TEN_GIGABIT,
    );
    numbered(&mut frames);
    let outcome = |quantum: u64| {
        let mut rig = rig(spec.clone(), events);
        let received = rig.run(&frames, quantum, 10_000 * MICROSECOND);
        rig.assert_conserved();
        assert_eq!(rig.device.counters().held, 0);
        (received.iter().map(number).collect::<Vec<_>>(), rig.device.counters())
    };
    let found = outcome(1);
    assert_eq!(found, outcome(7 * MICROSECOND));
    assert_eq!(found, outcome(10_000 * MICROSECOND));
    found
}

fn all_but(lost: std::ops::RangeInclusive<u32>) -> Vec<u32> {
    (0..FRAMES as u32).filter(|number| !lost.contains(number)).collect()
}

#[test]
fn a_reset_loses_what_the_device_holds_and_what_comes_until_it_is_back() {
    let mut spec = cross_connect();
    spec.reset_ns = 20_000;
    let (numbers, counters) = passed(&spec, &[(50, EventKind::Reset, None)]);
    assert_eq!(numbers, all_but(669..=1040));
    assert_eq!((counters.reset_drops, counters.ports[0].down_drops), (743 - 668, 1040 - 743));
}

#[test]
fn a_second_reset_begins_anew() {
    let mut spec = cross_connect();
    spec.reset_ns = 20_000;
    let twice = [(50, EventKind::Reset, None), (60, EventKind::Reset, None)];
    // By 80 us frames up to (80,000 - 57.6) / 67.2 = 1189.6 are in.
    assert_eq!(passed(&spec, &twice).0, all_but(669..=1189));
}

#[test]
fn nothing_passes_a_link_that_is_down_either_way() {
    let spec = cross_connect();
    let on = |port| [(50, EventKind::LinkDown, Some(port)), (70, EventKind::LinkUp, Some(port))];
    let (numbers, counters) = passed(&spec, &on(1));
    assert_eq!(numbers, all_but(669..=966), "what was to leave meanwhile");
    assert_eq!(counters.ports[1].down_drops, 966 - 668);
    let (numbers, counters) = passed(&spec, &on(0));
    assert_eq!(numbers, all_but(744..=1040), "what came in meanwhile");
    assert_eq!(counters.ports[0].down_drops, 1040 - 743);
}

#[test]
fn nothing_leaves_by_a_port_that_is_mute_and_all_comes_in() {
    let spec = cross_connect();
    let on = |port| [(50, EventKind::Mute, Some(port)), (70, EventKind::Unmute, Some(port))];
    let (numbers, counters) = passed(&spec, &on(1));
    assert_eq!(numbers, all_but(669..=966), "what was to leave meanwhile");
    assert_eq!(counters.ports[1].down_drops, 966 - 668);
    assert_eq!(passed(&spec, &on(0)).0.len() as u64, FRAMES, "frames come in by a mute port");
}

/// All kinds of devices and queues lose all they hold, and nothing is forgotten of.
#[test]
fn a_reset_empties_every_queue() {
    let mut shared = router(true);
    shared.ports.iter_mut().for_each(|port| port.both_fps = Some((1_000_000, 1)));
    let mut slow = cross_connect();
    (slow.ports[0].in_fps, slow.ports[1].rate_bps) = (Some((5_000_000, 1)), 1_000_000_000);
    for spec in [shared, slow] {
        let template = if spec.ports[0].ipv4.is_some() {
            [2, 0, 0, 0, 1, 0]
        } else {
            mac(11)
        };
        let frames = back_to_back(0, &udp4(mac(10), template, [16, 0, 0, 1], [48, 0, 0, 1], 64, 64), 1000, TEN_GIGABIT);
        let mut rig = rig(spec, &[(60, EventKind::Reset, None)]);
        let received = rig.run(&frames, MICROSECOND, 61 * MICROSECOND);
        // What has begun by then is on the wire still.
        assert!(received.len() < 1000);
        // 60 us after the first arrival at least 800 are in; they lay in queues of 1024.
        let counters = rig.device.counters();
        assert!(counters.reset_drops > 500, "{counters:?}");
        rig.run(&[], MICROSECOND, 5_000 * MICROSECOND);
        rig.assert_conserved();
        assert_eq!(rig.device.counters().held, 0);
    }
}

#[test]
fn a_bridge_that_forgets_floods_until_it_has_learned_again() {
    let frame = |port: usize, at: u64| Timed {
        port,
        at: at * MICROSECOND,
        bytes: udp4(mac(10 + port as u8), mac(11 - port as u8), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64),
    };
    // East speaks first, then west three times, then east again, then west.
    let frames = [frame(1, 0), frame(0, 20), frame(0, 40), frame(0, 60), frame(1, 80), frame(0, 100)];
    let flooded = |events: &[Event]| {
        let mut rig = rig(bridge(3), events);
        rig.run(&frames, MICROSECOND, 1000 * MICROSECOND);
        rig.device.counters().flooded
    };
    assert_eq!(flooded(&[]), 1, "who spoke first is not answered yet");
    assert_eq!(
        flooded(&[(50, EventKind::Forget, None)]),
        2,
        "the third of west; then east speaks to west"
    );
    assert_eq!(flooded(&[(50, EventKind::LinkDown, Some(1)), (55, EventKind::LinkUp, Some(1))]), 2);
    assert_eq!(flooded(&[(50, EventKind::LinkDown, Some(0)), (55, EventKind::LinkUp, Some(0))]), 1);
    assert_eq!(flooded(&[(50, EventKind::Mute, Some(1)), (55, EventKind::Unmute, Some(1))]), 1);
}

#[test]
fn a_router_that_was_reset_asks_for_its_neighbours_again() {
    let asked = |fixed: bool| {
        let to_router = udp4(mac(10), [2, 0, 0, 0, 1, 0], [16, 0, 0, 1], [48, 0, 0, 1], 64, 64);
        let frames = [0, 100].map(|at| Timed {
            port: 0,
            at: at * MICROSECOND,
            bytes: to_router.clone(),
        });
        let mut rig = rig(router(fixed), &[(50, EventKind::Reset, None)]);
        rig.run(&frames, MICROSECOND, 1000 * MICROSECOND);
        rig.device.counters().originated
    };
    assert_eq!((asked(false), asked(true)), (2, 0));
}

#[test]
fn there_must_be_such_a_port() {
    let mut rig = Rig::new(cross_connect());
    let error = rig.device.set_events(&[(Instant::ZERO, EventKind::LinkDown, Some(2))]).unwrap_err();
    assert!(error.to_string().contains("there is no port 2"), "{error}");
}

/// An overload and then half of what the port can do, against the definition, frame by frame: for 300 us after the last
/// frame that found 10 waiting, every third one is lost.
#[test]
fn a_port_that_was_overloaded_loses_some_for_a_time() {
    let mut spec = cross_connect();
    (spec.ports[0].in_fps, spec.ports[0].in_queue) = (Some((1_000_000, 1)), 10);
    spec.ports[0].recovery = Some(Recovery { for_ns: 300_000, every: 3 });
    let template = udp4(mac(10), mac(11), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64);
    let mut frames = back_to_back(0, &template, FRAMES, TEN_GIGABIT);
    frames.extend((0..400).map(|k| Timed {
        port: 0,
        at: (100 + 2 * k) * MICROSECOND,
        bytes: template.clone(),
    }));
    numbered(&mut frames);
    // When each of those that are waiting or being served will be done.
    let mut inside: VecDeque<u64> = VecDeque::new();
    let (mut weary_until, mut since, mut expected, mut last_lost) = (0, 0, Vec::new(), 0);
    for (number, frame) in frames.iter().enumerate() {
        let t = frame.at + 57_600;
        while inside.front().is_some_and(|done| *done <= t) {
            inside.pop_front();
        }
        since = if t < weary_until { since + 1 } else { 0 };
        if t < weary_until && since % 3 == 0 {
            last_lost = t;
        } else if inside.len() > 10 {
            weary_until = t + 300 * MICROSECOND;
            last_lost = t;
        } else {
            inside.push_back(inside.back().copied().unwrap_or(0).max(t) + MICROSECOND);
            expected.push(number as u32);
        }
    }
    let mut rig = Rig::new(spec);
    let received: Vec<u32> = rig.run(&frames, 10 * MICROSECOND, 3_000 * MICROSECOND).iter().map(number).collect();
    rig.assert_conserved();
    assert_eq!(received, expected);
    // The load fell at 100 us: 300 us later, less up to three frames of 2 us, the last one is lost (RFC 2544, 26.5).
    assert!((390..=400).contains(&(last_lost / MICROSECOND)), "{last_lost}");
    assert!(rig.device.counters().ports[0].weary_drops > 40);
}
