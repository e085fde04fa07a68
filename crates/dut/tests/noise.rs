//! Faults that come by time, and devices that are strange: against their definition, frame by frame.

use crate::common::{Rig, SLOT_64, TEN_GIGABIT, Timed, back_to_back, cross_connect, mac, udp4};
use netdyno_dut::spec::{DeviceSpec, Fault, Impairment, When};

const MICROSECOND: u64 = 1_000_000;
const FRAMES: u64 = 4000;

fn with(fault: Fault, when: When) -> DeviceSpec {
    let mut spec = cross_connect();
    spec.impairments = vec![Impairment {
        port: Some(1),
        fault,
        when,
    }];
    spec.ports[1].out_queue = 4096;
    spec
}

fn frames(count: u64, load_bps: u64) -> Vec<Timed> {
    let mut frames = back_to_back(0, &udp4(mac(10), mac(11), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64), count, load_bps);
    for (number, frame) in frames.iter_mut().enumerate() {
        frame.bytes[42..46].copy_from_slice(&(number as u32).to_be_bytes());
    }
    frames
}

/// Of each frame when its last bit is in at the tester, if it comes; the same whatever the steps.
fn arrivals(spec: &DeviceSpec, frames: &[Timed]) -> Vec<Option<u64>> {
    let outcome = |quantum: u64| {
        let mut rig = Rig::new(spec.clone());
        let received = rig.run(frames, quantum, 100_000 * MICROSECOND);
        rig.assert_conserved();
        let mut arrivals = vec![None; frames.len()];
        for frame in received {
            arrivals[u32::from_be_bytes(frame.bytes[42..46].try_into().unwrap()) as usize] = Some(frame.at);
        }
        arrivals
    };
    let found = outcome(1);
    assert_eq!(found, outcome(13 * MICROSECOND));
    assert_eq!(found, outcome(100_000 * MICROSECOND));
    found
}

/// A frame reaches the egress point 57.6 ns and 5 us after its departure.
fn at_egress(frame: &Timed) -> u64 {
    frame.at + 57_600 + 5 * MICROSECOND
}

#[test]
fn a_window_is_lost_whole_or_not_at_all() {
    let frames = frames(FRAMES, TEN_GIGABIT);
    let hit = |seed: u64| {
        let when = When::Window {
            window_ns: 2_000,
            parts: 1,
            of: 4,
            seed,
        };
        let arrivals = arrivals(&with(Fault::Lose, when), &frames);
        let mut windows = std::collections::BTreeMap::new();
        for (frame, arrival) in frames.iter().zip(arrivals) {
            let lost = *windows.entry(at_egress(frame) / (2 * MICROSECOND)).or_insert(arrival.is_none());
            assert_eq!(lost, arrival.is_none());
        }
        windows.into_values().collect::<Vec<_>>()
    };
    let one = hit(1);
    // 4000 frames last 268.8 us. Of 135 windows 34 are hit on average, give or take 5; three times that is wide.
    let count = one.iter().filter(|hit| **hit).count();
    assert!(one.len() >= 134 && (19..=49).contains(&count), "{count} of {}", one.len());
    assert_ne!(one, hit(2));
}

#[test]
fn a_period_is_lost_from_its_begin_to_its_end() {
    let frames = frames(FRAMES, TEN_GIGABIT);
    let when = When::Period {
        every_ns: 50_000,
        first_ns: 20_000,
        for_ns: 7_000,
    };
    for (frame, arrival) in frames.iter().zip(arrivals(&with(Fault::Lose, when), &frames)) {
        let at = at_egress(frame);
        let lost = (0..6).any(|n| (20 + 50 * n..27 + 50 * n).contains(&(at / MICROSECOND)));
        assert_eq!(arrival.is_none(), lost, "{at}");
    }
}

/// The line pauses for 10 us from 20 us on every 50 us: what comes meanwhile leaves back to back at its end.
#[test]
fn line_paused_in_real_time_holds_its_frames() {
    let load = TEN_GIGABIT / 2;
    let frames = frames(2000, load);
    let when = When::Period {
        every_ns: 50_000,
        first_ns: 20_000,
        for_ns: 0,
    };
    let spec = with(Fault::Stall { for_ns: 10_000 }, when);
    let mut free = 0;
    for (frame, arrival) in frames.iter().zip(arrivals(&spec, &frames)) {
        let mut begin = free.max(at_egress(frame));
        // A pause at the very moment at which a frame begins comes after it.
        if begin > 20 * MICROSECOND && (begin - 20 * MICROSECOND - 1) % (50 * MICROSECOND) < 10 * MICROSECOND - 1 {
            begin = (begin - 20 * MICROSECOND) / (50 * MICROSECOND) * 50 * MICROSECOND + 30 * MICROSECOND;
        }
        free = begin + SLOT_64;
        assert_eq!(arrival, Some(begin + 57_600));
    }
    let mut rig = Rig::new(spec);
    rig.run(&frames, MICROSECOND, 400 * MICROSECOND);
    assert_eq!(rig.device.counters().injected["stall"], 8, "at 20, 70, ... 370 us");
}

/// A pause in each window that is hit, on a device that is idle but for a frame now and then.
#[test]
fn stalls_of_windows_come_with_their_chance() {
    let stalls = |parts: u64| {
        let when = When::Window {
            window_ns: 1_000,
            parts,
            of: 1000,
            seed: 7,
        };
        let mut rig = Rig::new(with(Fault::Stall { for_ns: 100 }, when));
        rig.run(&frames(2, 1_000_000), MICROSECOND, 50_000 * MICROSECOND);
        rig.run(&frames(1, TEN_GIGABIT), MICROSECOND, 50_100 * MICROSECOND);
        rig.device.counters().injected.get("stall").copied().unwrap_or(0)
    };
    assert_eq!(stalls(0), 0);
    // 50,000 windows: 500 on average, give or take 22.
    assert!((430..=570).contains(&stalls(10)), "{}", stalls(10));
}

#[test]
fn a_device_that_falls_asleep_loses_at_low_loads_and_not_at_high_ones() {
    let when = When::AfterIdle {
        idle_ns: 10_000,
        frames: 2,
    };
    let spec = with(Fault::Lose, when);
    let lost = |load_bps: u64| {
        let arrivals = arrivals(&spec, &frames(500, load_bps));
        arrivals.iter().filter(|arrival| arrival.is_none()).count()
    };
    // A frame of 672 bits every 20 us, every 9 us, and at line rate.
    assert_eq!(lost(33_600_000), 500);
    assert_eq!(lost(74_666_667), 2);
    assert_eq!(lost(TEN_GIGABIT), 2);
}

#[test]
fn a_frame_that_is_held_comes_later_by_just_that() {
    let frames = frames(100, TEN_GIGABIT / 10);
    let spec = with(Fault::Hold { for_ns: 3_000_000 }, When::Every { every: 40, first: 5 });
    for (number, (frame, arrival)) in frames.iter().zip(arrivals(&spec, &frames)).enumerate() {
        let late = if [5, 45, 85].contains(&number) { 3_000 * MICROSECOND } else { 0 };
        assert_eq!(arrival, Some(at_egress(frame) + 57_600 + late));
    }
}
