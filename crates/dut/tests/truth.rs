//! The closed forms against the simulation, exact, for every device class.

use crate::common;
use crate::common::{LAST_BIT_64, Rig, SLOT_64, TEN_GIGABIT, back_to_back, bridge, cross_connect, mac, router, udp4};
use netdyno_dut::spec::{DeviceSpec, DeviceTag, DeviceVlan, Fault, Hash, Impairment, When};
use netdyno_dut::truth::{Departures, Expected, Flow, Offered, expect, frames_offered, zero_loss_load};
use proptest::prelude::*;

const MICROSECOND: u64 = 1_000_000;

fn stream(load_bps: u64, frames: u64, size: u32) -> Offered {
    Offered {
        in_port: 0,
        out_port: 1,
        size,
        departures: Departures::Constant { load_bps, frames },
        flow: Some(Flow {
            in_member: 0,
            out_member: 0,
        }),
    }
}

fn frame(spec: &DeviceSpec, port: usize, size: u32) -> Vec<u8> {
    let routed = spec.ports[0].ipv4.is_some();
    let destination = if routed {
        [2, 0, 0, 0, 1, port as u8]
    } else {
        mac(11 - port as u8)
    };
    let (from, to) = if port == 0 { (16, 48) } else { (48, 16) };
    udp4(mac(10 + port as u8), destination, [from, 0, 0, 1], [to, 0, 0, 1], 64, size as usize)
}

/// What a perfect tester does find: numbers each frame, sends, and looks at what comes.
fn measure(spec: &DeviceSpec, offered: &Offered) -> Expected {
    let template = frame(spec, offered.in_port, offered.size);
    let mut frames = match &offered.departures {
        Departures::Constant { load_bps, frames } => back_to_back(offered.in_port, &template, *frames, *load_bps),
        Departures::At(at) => at
            .iter()
            .map(|at| common::Timed {
                port: offered.in_port,
                at: *at,
                bytes: template.clone(),
            })
            .collect(),
    };
    let count = frames.len() as u64;
    for (index, frame) in frames.iter_mut().enumerate() {
        frame.bytes[42..50].copy_from_slice(&(index as u64).to_be_bytes());
        frame.bytes[40..42].fill(0);
        let (header, checksum) = (etherparse::UdpHeader::from_slice(&frame.bytes[34..]).unwrap().0, &frame.bytes[42..]);
        let addresses = etherparse::Ipv4Header::from_slice(&frame.bytes[14..]).unwrap().0;
        let checksum = header.calc_checksum_ipv4(&addresses, checksum).unwrap();
        frame.bytes[40..42].copy_from_slice(&checksum.to_be_bytes());
    }
    let mut rig = Rig::new(spec.clone());
    let end = frames.last().map_or(0, |frame| frame.at) + 300_000 * MICROSECOND;
    let received = rig.run(&frames, 10 * MICROSECOND, end);
    rig.assert_conserved();
    let mut found = Expected {
        offered: count,
        received: 0,
        lost: 0,
        duplicates: 0,
        out_of_order: 0,
        corrupted: 0,
        latency_min_ps: None,
        latency_max_ps: None,
    };
    let mut seen = vec![false; frames.len()];
    let mut next = 0;
    for arrived in received.iter().filter(|arrived| arrived.port == offered.out_port) {
        if !is_sound(&arrived.bytes) {
            found.corrupted += 1;
            continue;
        }
        let sequence = u64::from_be_bytes(arrived.bytes[42..50].try_into().unwrap());
        if std::mem::replace(&mut seen[sequence as usize], true) {
            found.duplicates += 1;
            continue;
        }
        found.received += 1;
        found.out_of_order += u64::from(sequence < next);
        next = next.max(sequence + 1);
        let latency = arrived.at - frames[sequence as usize].at;
        found.latency_min_ps = Some(found.latency_min_ps.map_or(latency, |least| least.min(latency)));
        found.latency_max_ps = Some(found.latency_max_ps.map_or(latency, |most| most.max(latency)));
    }
    found.lost = count - found.received - found.corrupted;
    found
}

/// Both checksums, by etherparse.
fn is_sound(frame: &[u8]) -> bool {
    let Ok((ip, rest)) = etherparse::Ipv4Header::from_slice(&frame[14..]) else {
        return false;
    };
    let Ok((udp, payload)) = etherparse::UdpHeader::from_slice(rest) else {
        return false;
    };
    let length = usize::from(udp.length).wrapping_sub(8);
    ip.header_checksum == ip.calc_header_checksum()
        && payload.len() >= length
        && udp
            .calc_checksum_ipv4(&ip, &payload[..length])
            .is_ok_and(|checksum| checksum == udp.checksum)
}

/// Counts must agree; times as far as the closed form knows them.
fn assert_true(spec: &DeviceSpec, offered: &Offered) -> Expected {
    let expected = expect(spec, std::slice::from_ref(offered)).unwrap().remove(0);
    let mut found = measure(spec, offered);
    if expected.latency_min_ps.is_none() {
        (found.latency_min_ps, found.latency_max_ps) = (None, None);
    }
    assert_eq!(expected, found, "{spec:#?}");
    expected
}

/// A capacity of one frame a microsecond, a queue of 512, and 14.88 million a second for a second:
/// by the last arrival, 67.2 ns before the second is over, 999,999 are done, one is served and 512 wait.
#[test]
fn the_numbers_worked_out_on_paper() {
    let mut spec = cross_connect();
    spec.ports[0].in_fps = Some((1_000_000, 1));
    spec.ports[0].in_queue = 512;
    let second = stream(TEN_GIGABIT, frames_offered(TEN_GIGABIT, 64, 1_000_000_000), 64);
    let found = expect(&spec, &[second]).unwrap().remove(0);
    // 10^10 / 672 = 14,880,952.38: one more has begun.
    assert_eq!(found.offered, 14_880_953);
    assert_eq!(found.received, 999_999 + 1 + 512);
    assert_eq!(found.latency_min_ps, Some(LAST_BIT_64 + 1_000_000 + 5_000_000 + LAST_BIT_64));
}

#[test]
fn every_class_without_a_limit_passes_all() {
    for spec in [cross_connect(), bridge(2), router(true)] {
        for size in [64, 65, 1514] {
            for load in [TEN_GIGABIT, 3_333_333_333, 1] {
                let frames = if load == 1 { 2 } else { 2000 };
                let found = if load == 1 {
                    expect(&spec, &[stream(load, frames, size)]).unwrap().remove(0)
                } else {
                    assert_true(&spec, &stream(load, frames, size))
                };
                assert_eq!(found.lost, 0);
            }
        }
    }
}

#[test]
fn the_port_the_box_and_the_line() {
    for load in [TEN_GIGABIT, 7_000_000_000, 6_720_000_000, 6_719_999_999, 6_720_000_001] {
        for queue in [0, 1, 7, 100] {
            for rate in [(10_000_000, 1), (31_415_927, 3), (9_999_999, 1)] {
                let mut port = cross_connect();
                (port.ports[0].in_fps, port.ports[0].in_queue) = (Some(rate), queue);
                assert_true(&port, &stream(load, 5000, 64));
                let mut whole = router(true);
                (whole.box_fps, whole.box_queue) = (Some(rate), queue);
                assert_true(&whole, &stream(load, 5000, 64));
            }
        }
    }
    for queue in [0, 1, 7, 100] {
        let mut line = cross_connect();
        (line.ports[1].rate_bps, line.ports[1].out_queue) = (1_000_000_000, queue);
        assert_true(&line, &stream(TEN_GIGABIT, 5000, 64));
        assert_true(&line, &stream(2_000_000_000, 5000, 777));
    }
}

#[test]
fn one_direction_of_a_port_that_shares() {
    let mut spec = router(true);
    for port in &mut spec.ports {
        (port.both_fps, port.in_queue) = (Some((12_345_678, 1)), 64);
    }
    let found = assert_true(&spec, &stream(TEN_GIGABIT, 20_000, 64));
    assert!(found.lost > 0);
    assert_eq!(assert_true(&spec, &stream(8_000_000_000, 20_000, 64)).lost, 0);
}

/// The single flow of the article over 2 x 10 Gbit/s: it enters on member 1 and is held to that member's line.
#[test]
fn a_single_flow_gets_one_member_of_a_group() {
    let mut spec = router(true);
    for port in &mut spec.ports {
        (port.members, port.hash, port.partner_hash, port.partner_queue) = (2, Hash::SrcDstIp, Hash::DstIp, 100);
    }
    let ends = (([16, 0, 0, 1].into(), 1025), ([48, 0, 0, 1].into(), 12));
    let flow = Flow::of(&spec, 0, 1, ends.0, ends.1).unwrap();
    assert_eq!(
        flow,
        Flow {
            in_member: 1,
            out_member: 0
        }
    );
    let single = Offered {
        flow: Some(flow),
        ..stream(2 * TEN_GIGABIT, 4000, 64)
    };
    let found = assert_true(&spec, &single);
    // Every 33.6 ns one arrives, every 67.2 ns one goes on: 1999 begun and done, and 101 inside.
    assert_eq!(found.received, 3999 / 2 + 101);
    let mut rig = Rig::new(spec.clone());
    rig.run(
        &back_to_back(0, &frame(&spec, 0, 64), 10, TEN_GIGABIT),
        MICROSECOND,
        100 * MICROSECOND,
    );
    let counters = rig.device.counters();
    assert_eq!(
        (&counters.ports[0].member_rx[..], &counters.ports[1].member_tx[..]),
        (&[0, 10][..], &[10, 0][..])
    );
    let mut rig = Rig::new(spec.clone());
    rig.run(
        &back_to_back(1, &frame(&spec, 1, 64), 10, TEN_GIGABIT),
        MICROSECOND,
        100 * MICROSECOND,
    );
    let counters = rig.device.counters();
    assert_eq!(
        (&counters.ports[1].member_rx[..], &counters.ports[0].member_tx[..]),
        (&[0, 10][..], &[10, 0][..])
    );
}

#[test]
fn every_fault_is_found_and_only_those() {
    let whens = [
        When::Every { every: 10, first: 3 },
        When::Frames(vec![0, 5, 17, 400, 999_999]),
        When::Chance {
            parts: 1,
            of: 100,
            seed: 42,
        },
    ];
    for (fault, when) in [Fault::Lose, Fault::Duplicate, Fault::Corrupt, Fault::Reorder { by: 3 }]
        .into_iter()
        .flat_map(|fault| whens.iter().map(move |when| (fault, when)))
    {
        for mut spec in [cross_connect(), router(true)] {
            spec.impairments = vec![Impairment {
                port: Some(1),
                fault,
                when: when.clone(),
            }];
            let offered = stream(5_000_000_000, 2000, 64);
            match expect(&spec, std::slice::from_ref(&offered)) {
                Ok(expected) => {
                    assert_true(&spec, &offered);
                    assert!(expected[0].lost + expected[0].duplicates + expected[0].corrupted + expected[0].out_of_order > 0);
                }
                Err(refused) => assert!(matches!((fault, when), (Fault::Reorder { .. }, When::Chance { .. })), "{refused}"),
            }
        }
    }
}

#[test]
fn both_directions_below_what_is_shared() {
    let mut spec = cross_connect();
    spec.box_fps = Some((20_000_000, 1));
    let back = Offered {
        in_port: 1,
        out_port: 0,
        ..stream(6_000_000_000, 1000, 64)
    };
    let found = expect(&spec, &[stream(6_000_000_000, 1000, 64), back.clone()]).unwrap();
    assert_eq!(found.iter().map(|one| one.lost).collect::<Vec<_>>(), [0, 0]);
    let refused = expect(&spec, &[stream(TEN_GIGABIT, 1000, 64), back]).unwrap_err();
    assert_eq!(refused.why, "2 streams share box_fps at or above its capacity");
}

/// A queue of 100 lets a short trial pass more than the capacity: the highest load without loss follows
/// from the formula, and the simulation loses at the next bit per second but not at this one.
#[test]
fn the_highest_load_without_loss() {
    let mut spec = cross_connect();
    (spec.ports[0].in_fps, spec.ports[0].in_queue) = (Some((10_000_000, 1)), 100);
    let duration_ns = 100_000;
    let load = zero_loss_load(&spec, &stream(1, 1, 64), duration_ns, TEN_GIGABIT).unwrap();
    assert!(load > 6_720_000_000, "{load}");
    for (load, loses) in [(load, false), (load + 1, true)] {
        let frames = frames_offered(load, 64, duration_ns);
        assert_eq!(assert_true(&spec, &stream(load, frames, 64)).lost > 0, loses, "{load}");
    }
}

#[test]
fn what_has_no_closed_form_is_refused() {
    let why = |spec: &DeviceSpec, offered: Offered| expect(spec, &[offered]).unwrap_err().why;
    let mut two = cross_connect();
    (two.ports[0].in_fps, two.box_fps) = (Some((10_000_000, 1)), Some((9_000_000, 1)));
    assert_eq!(
        why(&two, stream(TEN_GIGABIT, 1000, 64)),
        "box_fps is a second bottleneck behind in_fps of west/0"
    );
    let mut group = cross_connect();
    group.ports[0].members = 2;
    let many = Offered {
        flow: None,
        ..stream(2 * TEN_GIGABIT, 1000, 64)
    };
    assert_eq!(
        why(&group, many),
        "many flows over the members of `west` at more than one member's rate"
    );
    let mut stall = cross_connect();
    stall.impairments = vec![Impairment {
        port: None,
        fault: Fault::Stall { for_ns: 1 },
        when: When::Frames(vec![1]),
    }];
    assert!(why(&stall, stream(TEN_GIGABIT, 1000, 64)).contains("stalled"));
    let mut tagged = router(true);
    tagged.ports[1].vlans = vec![DeviceVlan {
        tags: vec![DeviceTag { vid: 1, tpid: 0x8100 }],
        ipv4: None,
        ipv6: None,
        shape: None,
        queue: 64,
        priority: None,
        ospf: None,
    }];
    assert!(why(&tagged, stream(TEN_GIGABIT, 1000, 64)).contains("VLAN subinterfaces"));
    assert!(why(&cross_connect(), stream(TEN_GIGABIT + 1, 1, 64)).contains("do not fit"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn any_rate_queue_load_and_length(
        numerator in 1_000_000..60_000_000u64, denominator in 1..5u64, queue in 0..40u32, size in 64..200u32,
        load in 500_000_000..=TEN_GIGABIT, frames in 0..1500u64, place in 0..4,
    ) {
        let mut spec = cross_connect();
        let rate = Some((numerator, denominator));
        match place {
            0 => (spec.ports[0].in_fps, spec.ports[0].in_queue) = (rate, queue),
            1 => (spec.box_fps, spec.box_queue) = (rate, queue),
            2 => (spec.ports[0].both_fps, spec.ports[0].in_queue) = (rate, queue),
            _ => (spec.ports[1].rate_bps, spec.ports[1].out_queue) = (1_000_000_000, queue),
        }
        assert_true(&spec, &stream(load, frames, size));
    }

    #[test]
    fn departures_one_by_one(gaps in prop::collection::vec(0..300_000u64, 1..500), numerator in 1_000_000..20_000_000u64, queue in 0..20u32) {
        let mut spec = cross_connect();
        (spec.ports[0].in_fps, spec.ports[0].in_queue) = (Some((numerator, 1)), queue);
        let at = gaps.iter().scan(0, |at, gap| {
            *at += SLOT_64 + gap;
            Some(*at)
        });
        assert_true(&spec, &Offered { departures: Departures::At(at.collect()), ..stream(1, 1, 64) });
    }
}
