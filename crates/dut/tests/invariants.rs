//! What holds for every device and every input: results do not depend on how far time jumps, every frame is
//! accounted for, order is kept where nothing was configured to break it, and no bytes make a device panic.

use crate::common::{Rig, Timed, bridge, cross_connect, mac, router, udp4};
use netdyno_dut::spec::{
    BitRate, Card, Class, ClassPolice, DevicePortSpec, DeviceSpec, EventKind, Excess, Fault, FilterRule, Hash, Haste, Impairment, Layer,
    Police, Recovery, Trunk, When,
};
use netdyno_io::time::Instant;
use proptest::prelude::*;

const MICROSECOND: u64 = 1_000_000;
const UNTIL: u64 = 400_000 * MICROSECOND;

/// What the frames of a case are made of.
#[derive(Clone, Debug)]
pub struct Frame {
    port: usize,
    gap: u64,
    size: usize,
    flow: u8,
}

pub fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let size = prop_oneof![Just(64usize), Just(64), 65..200usize, Just(1514)];
    let gap = prop_oneof![Just(0u64), 0..200_000u64, Just(3 * MICROSECOND)];
    let frame = (0..2usize, gap, size, 0..8u8).prop_map(|(port, gap, size, flow)| Frame { port, gap, size, flow });
    prop::collection::vec(frame, 1..400)
}

pub fn timed(frames: &[Frame], spec: &DeviceSpec) -> Vec<Timed> {
    let routed = spec.ports[0].ipv4.is_some();
    let mut at = [0; 2];
    let mut sequence = [0u32; 2];
    let build = |frame: &Frame| {
        let port = frame.port;
        at[port] += frame.gap;
        let destination = if routed {
            [2, 0, 0, 0, 1, port as u8]
        } else {
            mac(11 - port as u8)
        };
        let (from, to) = if port == 0 { (16, 48) } else { (48, 16) };
        let mut bytes = udp4(
            mac(10 + port as u8),
            destination,
            [from, 0, 0, frame.flow],
            [to, 0, 0, frame.flow ^ 1],
            64,
            frame.size,
        );
        // A number in the payload, to see order; the UDP checksum is of no interest here.
        if !routed {
            // A router would not take a header whose checksum is wrong.
            bytes[15] = frame.flow << 2;
        }
        bytes[42..46].copy_from_slice(&sequence[port].to_be_bytes());
        sequence[port] += 1;
        Timed { port, at: at[port], bytes }
    };
    frames.iter().map(build).collect()
}

fn fault() -> impl Strategy<Value = Impairment> {
    let fault = prop_oneof![
        Just(Fault::Lose),
        Just(Fault::Duplicate),
        (1..6u32).prop_map(|by| Fault::Reorder { by }),
        Just(Fault::Corrupt),
        (1..30_000u64).prop_map(|for_ns| Fault::Stall { for_ns }),
        (1..90_000u64).prop_map(|for_ns| Fault::Hold { for_ns }),
    ];
    let when = prop_oneof![
        (1..20u64, 0..20u64).prop_map(|(every, first)| When::Every { every, first }),
        prop::collection::vec(0..200u64, 0..6).prop_map(When::Frames),
        (0..3u64, any::<u64>()).prop_map(|(parts, seed)| When::Chance { parts, of: 10, seed }),
        (100..9_000u64, 0..3u64, any::<u64>()).prop_map(|(window_ns, parts, seed)| When::Window {
            window_ns,
            parts,
            of: 10,
            seed
        }),
        (10_000..90_000u64, 0..50_000u64, 0..9_000u64).prop_map(|(every_ns, first_ns, for_ns)| When::Period {
            every_ns,
            first_ns,
            for_ns
        }),
        (0..5_000u64, 0..3u64).prop_map(|(idle_ns, frames)| When::AfterIdle { idle_ns, frames }),
    ];
    (prop::option::of(0..2usize), fault, when).prop_map(|(port, fault, when)| Impairment { port, fault, when })
}

/// A device of any kind with small queues and odd rates, so that everything happens often.
pub fn devices(faults: bool) -> impl Strategy<Value = DeviceSpec> {
    let rate = || prop::option::of((500_000..20_000_000u64, 1..4u64));
    let queue = || prop_oneof![Just(0u32), 1..20u32, Just(1000)];
    let port = move || {
        (
            rate(),
            rate(),
            queue(),
            queue(),
            queue(),
            prop_oneof![4 => 1..4u32, 1 => 4..12u32],
            prop_oneof![Just(10_000_000_000u64), Just(3_000_000_000), Just(1_234_567_891)],
        )
    };
    let impairments = prop::collection::vec(fault(), 0..if faults { 3 } else { 1 });
    (0..4u8, port(), port(), rate(), queue(), 1_000..9_000u64, 0..1_000u64, impairments).prop_map(
        move |(kind, west, east, box_fps, box_queue, delay_ns, delay_per_byte_ps, impairments)| {
            let mut spec = match kind {
                0 => cross_connect(),
                1 => bridge(2),
                2 => router(false),
                _ => router(true),
            };
            for (port, (in_fps, both_fps, in_queue, out_queue, partner_queue, members, rate_bps)) in spec.ports.iter_mut().zip([west, east])
            {
                (port.in_fps, port.both_fps, port.in_queue, port.out_queue) = (in_fps, both_fps, in_queue, out_queue);
                (port.partner_queue, port.members, port.rate_bps) = (partner_queue, members, rate_bps);
                (port.hash, port.partner_hash) = (Hash::SrcDstIp, Hash::DstIp);
            }
            (spec.box_fps, spec.box_queue, spec.delay_ns, spec.delay_per_byte_ps) = (box_fps, box_queue, delay_ns, delay_per_byte_ps);
            if faults {
                spec.impairments = impairments;
            }
            spec
        },
    )
}

/// What few devices have: capacities beyond plain ones, and a memory of overloads.
fn extras(devices: impl Strategy<Value = DeviceSpec>) -> impl Strategy<Value = DeviceSpec> {
    let bits = || {
        prop::option::of((500_000_000..9_000_000_000u64, any::<bool>()).prop_map(|(rate_bps, l1)| BitRate {
            rate_bps,
            layer: if l1 { Layer::L1 } else { Layer::L2 },
        }))
    };
    let fps = || prop::option::of((500_000..20_000_000u64, 1..4u64));
    let haste = prop::option::of((0..20_000u64, (900_000..20_000_000u64, 1..4u64)));
    let card = (prop::sample::subsequence(vec![0usize, 1], 0..=2), fps(), bits(), 0..9u32);
    let card = card.prop_map(|(ports, in_fps, in_bits, in_queue)| Card {
        ports,
        in_fps,
        in_bits,
        in_queue,
    });
    let recovery = prop::option::of((0..90_000u64, 1..4u64).prop_map(|(for_ns, every)| Recovery { for_ns, every }));
    let filter = prop::option::of((0..900u64, 0..9_000u64));
    (
        devices,
        haste,
        bits(),
        prop::collection::vec(card, 0..2),
        recovery,
        0..90_000u64,
        filter,
    )
        .prop_map(|(mut spec, haste, box_bits, cards, recovery, reset_ns, filter)| {
            (spec.box_bits, spec.cards, spec.reset_ns) = (box_bits, cards, reset_ns);
            spec.box_haste = haste
                .filter(|_| spec.box_fps.is_some())
                .map(|(behind_ns, fps)| Haste { behind_ns, fps });
            spec.ports[0].recovery = recovery.filter(|_| spec.ports[0].in_fps.is_some());
            if filter.is_some() && spec.ports[0].in_fps.is_some() {
                spec.ports[0].recovery = None;
                (spec.ports[0].filter_ns, spec.ports[0].group_ns) = filter.unwrap_or_default();
                spec.ports[0].filter = [(false, "16.0.0.3/32"), (true, "16.0.0.0/29"), (true, "100.64.0.0/10")]
                    .map(|(permit, src)| FilterRule {
                        permit,
                        src: Some(src.to_owned()),
                        dst: None,
                    })
                    .to_vec();
            }
            spec
        })
}

/// Queues by class, shapers and policers. Flows 0 to 7 of a case have DSCPs 0 to 7.
fn classed(devices: impl Strategy<Value = DeviceSpec>) -> impl Strategy<Value = DeviceSpec> {
    let bucket = || {
        let excess = prop::option::of((100_000_000..4_000_000_000u64, 64..9_000u64));
        (500_000_000..9_000_000_000u64, 1700..9_000u64, any::<bool>(), excess).prop_map(|(rate_bps, burst_bytes, l1, excess)| Police {
            rate_bps,
            layer: if l1 { Layer::L1 } else { Layer::L2 },
            burst_bytes,
            excess: excess.map(|(rate_bps, burst_bytes)| Excess { rate_bps, burst_bytes }),
        })
    };
    let shape = move || prop::option::of(bucket().prop_map(|police| Police { excess: None, ..police }));
    let class = (0..3u8, 1..9u32, 0..20u32, shape(), prop::collection::vec(0..8u8, 0..3));
    let class = class.prop_map(|(priority, weight, queue, shape, dscp)| Class {
        name: String::new(),
        dscp,
        pcp: Vec::new(),
        priority,
        weight,
        queue,
        shape,
    });
    let policer = (bucket(), prop::collection::vec(0..8u8, 0..3));
    let policer = policer.prop_map(|(police, dscp)| ClassPolice {
        dscp,
        pcp: Vec::new(),
        police,
    });
    let classes = (prop::collection::vec(class, 0..4), shape());
    let police = (prop::option::of(bucket()), prop::collection::vec(policer, 0..3));
    let trunk = prop::option::of((1_000_000_000..12_000_000_000u64, 0..9u32, 0..30u32, prop::option::of(0..30u32)));
    (devices, classes, police, trunk).prop_map(|(mut spec, classes, police, trunk)| {
        (spec.ports[1].classes, spec.ports[1].shape) = classes;
        (spec.ports[0].police, spec.ports[0].police_classes) = police;
        spec.trunk = trunk.map(|(rate_bps, more_bytes, queue, resume)| Trunk {
            near: vec![0],
            rate_bps,
            more_bytes,
            queue,
            resume: resume.map(|resume| resume.min(queue)),
        });
        // Of what it goes with: capacities in front of the switching point are none.
        let plain = spec.box_fps.is_none() && spec.box_bits.is_none() && spec.trunk.is_none() && spec.cards.is_empty();
        let port = |port: &DevicePortSpec| {
            port.members == 1 && port.both_fps.is_none() && port.classes.is_empty() && port.shape.is_none() && port.filter.is_empty()
        };
        spec.head_of_line = plain && spec.ports.iter().all(port) && spec.ports[0].ipv4.is_none();
        spec
    })
}

fn events() -> impl Strategy<Value = Vec<(Instant, EventKind, Option<usize>)>> {
    let kind = prop_oneof![
        Just(EventKind::Reset),
        Just(EventKind::LinkDown),
        Just(EventKind::LinkUp),
        Just(EventKind::Forget)
    ];
    let event = (0..300 * MICROSECOND, kind, prop::option::of(0..2usize));
    prop::collection::vec(event.prop_map(|(ps, kind, port)| (Instant { ps }, kind, port)), 0..5)
}

/// Whether each pause may begin before the one before has ended: of such a line nothing ever leaves.
fn may_pause_for_ever(impairment: &Impairment) -> bool {
    let Fault::Stall { for_ns } = impairment.fault else { return false };
    match impairment.when {
        When::Period { every_ns, .. } => for_ns >= every_ns,
        When::Window { window_ns, parts, .. } => parts > 0 && for_ns >= window_ns,
        _ => false,
    }
}

fn flow_and_sequence(frame: &Timed) -> Option<([u8; 8], u32)> {
    let bytes = frame.bytes.get(26..46)?;
    (frame.bytes[12..14] == [8, 0]).then(|| {
        (
            bytes[..8].try_into().unwrap(),
            u32::from_be_bytes(bytes[16..20].try_into().unwrap()),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn how_far_time_jumps_does_not_matter(
        spec in prop_oneof![devices(true).boxed(), extras(devices(true)).boxed(), classed(extras(devices(true))).boxed()],
        frames in frames(),
        events in events(),
        coarse in 1..40 * MICROSECOND,
    ) {
        let frames = timed(&frames, &spec);
        let outcome = |quantum: u64| {
            let mut rig = Rig::new(spec.clone());
            rig.device.set_events(&events).unwrap();
            let received = rig.run(&frames, quantum, UNTIL);
            rig.assert_conserved();
            (received, rig.device.counters())
        };
        let fine = outcome(1);
        prop_assert_eq!(&fine, &outcome(coarse));
        prop_assert_eq!(&fine, &outcome(UNTIL));
        let waiting = spec.ports[0].ipv4.is_some() || spec.impairments.iter().any(may_pause_for_ever);
        prop_assert!(waiting || fine.1.held == 0, "all is out in the end, but what waits for a neighbour or a line");
    }

    #[test]
    fn every_flow_stays_in_order_and_nothing_comes_twice(spec in classed(extras(devices(false))), frames in frames()) {
        let frames = timed(&frames, &spec);
        let mut rig = Rig::new(spec);
        let received = rig.run(&frames, 10 * MICROSECOND, UNTIL);
        let mut last = std::collections::HashMap::new();
        for (flow, sequence) in received.iter().filter_map(flow_and_sequence) {
            let before = last.insert(flow, sequence);
            prop_assert!(before.is_none_or(|before| before < sequence), "{:?} after {:?}", sequence, before);
        }
    }

    #[test]
    fn no_bytes_are_too_hostile(kind in 0..3u8, frames in prop::collection::vec((0..2usize, hostile()), 1..60)) {
        let mut spec = match kind {
            0 => bridge(3),
            1 => router(false),
            _ => router(true),
        };
        spec.impairments = vec![Impairment { port: None, fault: Fault::Corrupt, when: When::Every { every: 2, first: 0 } }];
        spec.ports.iter_mut().for_each(|port| (port.members, port.hash) = (2, Hash::L3L4));
        let frames: Vec<_> = frames.into_iter().enumerate().map(|(index, (port, bytes))| Timed { port, at: index as u64, bytes }).collect();
        let mut rig = Rig::new(spec);
        rig.run(&frames, 10 * MICROSECOND, 5_000_000 * MICROSECOND);
        rig.assert_conserved();
    }
}

/// Bytes that begin like something a device takes an interest in, and go on anyhow.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![
        Just(vec![0x08, 0x00, 0x45]),
        Just(vec![0x08, 0x00, 0x4f]),
        Just(vec![0x08, 0x06, 0, 1, 8, 0, 6, 4, 0]),
        Just(vec![0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 58, 255]),
        Just(vec![0x81, 0x00, 0, 1, 0x88, 0xa8, 0, 2, 0x08, 0x00]),
        prop::collection::vec(any::<u8>(), 0..3),
    ];
    let destination = prop_oneof![
        Just(vec![2, 0, 0, 0, 1, 0]),
        Just(vec![2, 0, 0, 0, 1, 1]),
        Just(vec![0xff; 6]),
        Just(vec![0x33, 0x33, 0, 0, 0, 1]),
    ];
    (
        destination,
        prop::collection::vec(any::<u8>(), 6),
        kind,
        prop::collection::vec(any::<u8>(), 2..120),
    )
        .prop_map(|(destination, source, kind, rest)| {
            let mut bytes = destination;
            bytes.extend(source);
            bytes.extend(kind);
            bytes.extend(rest);
            // A valid header checksum, so that the rest is looked at.
            if bytes.len() >= 34 && bytes[12..15] == [8, 0, 0x45] {
                bytes[24..26].fill(0);
                let sum: u32 = bytes[14..34]
                    .chunks(2)
                    .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
                    .sum();
                let folded = (sum & 0xffff) + (sum >> 16);
                let checksum = !(((folded & 0xffff) + (folded >> 16)) as u16);
                bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
            }
            bytes.resize(bytes.len().max(16), 0);
            bytes
        })
}
