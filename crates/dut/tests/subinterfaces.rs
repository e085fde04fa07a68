//! VLAN subinterfaces of a router: which frames belong to one, and what leaves by it.

use crate::common::{MAX_FRAME, Rig, Timed, mac, router, udp4, udp6};
use netdyno_dut::Device;
use netdyno_dut::spec::{DeviceSpec, DeviceTag, DeviceVlan, EventKind, Forwarding, Layer, Neighbour, Police, Route};
use netdyno_frame::arp::Arp;
use netdyno_frame::checksum::verify_frame;
use netdyno_frame::icmp::echo_reply;
use netdyno_frame::nd::Neighbour as Discovery;
use netdyno_frame::parse::Tag;
use netdyno_frame::spec::Mac;
use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::wire::pair;
use netdyno_io::time::Instant;

const MS: u64 = 1_000_000_000;
const WEST: [u8; 6] = [2, 0, 0, 0, 1, 0];
const EAST: [u8; 6] = [2, 0, 0, 0, 1, 1];
/// 802.1Q and 802.1ad.
const Q: u16 = 0x8100;
const AD: u16 = 0x88a8;

type Tags = &'static [(u16, u16)];

/// The subinterfaces of port `west`: 100.80.<number>.1/30 each, 17.<number>/16 behind its neighbour.
const VLANS: [Tags; 4] = [
    &[(10, Q)],
    &[(10, AD)],
    &[(7, AD), (10, Q)],
    &[(1, 0x9100), (2, 0x9200), (3, AD), (4, Q)],
];

fn vlan(tags: &[(u16, u16)], number: usize) -> DeviceVlan {
    DeviceVlan {
        tags: tags.iter().map(|(vid, tpid)| DeviceTag { vid: *vid, tpid: *tpid }).collect(),
        ipv4: Some(format!("100.80.{number}.1/30")),
        ipv6: Some(format!("2001:db8:80:{number}::1/64")),
        shape: None,
        queue: 64,
        priority: None,
        ospf: None,
    }
}

/// The router of `common`, with subinterfaces on its port `west`.
fn tagged_router(static_neighbours: bool) -> DeviceSpec {
    let mut spec = router(static_neighbours);
    let Forwarding::Router { routes, neighbours } = &mut spec.forwarding else {
        unreachable!()
    };
    for (number, tags) in VLANS.iter().enumerate() {
        spec.ports[0].vlans.push(vlan(tags, number));
        let via = [format!("100.80.{number}.2"), format!("2001:db8:80:{number}::2")];
        let prefixes = [format!("17.{number}.0.0/16"), format!("2001:db8:17:{number}::/64")];
        for (via, prefix) in via.into_iter().zip(prefixes) {
            if static_neighbours {
                let mac = "02:00:00:00:00:0a".to_owned();
                neighbours.push(Neighbour { ip: via.clone(), mac });
            }
            routes.push(Route { prefix, via });
        }
    }
    spec
}

/// `frame` with these tags, of this priority.
fn with_tags(frame: &[u8], tags: &[(u16, u16)], pcp: u16) -> Vec<u8> {
    let tags = tags
        .iter()
        .flat_map(|(vid, tpid)| [tpid.to_be_bytes(), (pcp << 13 | vid).to_be_bytes()].concat());
    [&frame[..12], &tags.collect::<Vec<u8>>(), &frame[12..]].concat()
}

fn to_east(size: usize) -> Vec<u8> {
    udp4(mac(10), WEST, [17, 0, 0, 1], [48, 0, 0, 1], 64, size)
}

fn to_vlan(number: u8, size: usize) -> Vec<u8> {
    udp4(mac(11), EAST, [48, 0, 0, 1], [17, number, 0, 1], 64, size)
}

/// The same a hop further.
fn routed(frame: &[u8], source: [u8; 6], destination: [u8; 6]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[..6].copy_from_slice(&destination);
    frame[6..12].copy_from_slice(&source);
    frame[22] -= 1;
    // RFC 1624 of a word that is 0x0100 less.
    let sum = u32::from(u16::from_be_bytes([frame[24], frame[25]])) + 0x0100;
    let sum = (sum & 0xffff) + (sum >> 16);
    frame[24..26].copy_from_slice(&(sum as u16).to_be_bytes());
    frame
}

fn timed(port: usize, at: u64, bytes: Vec<u8>) -> Timed {
    Timed { port, at, bytes }
}

/// What comes out of it, by port and time, of frames 1 ms apart.
fn pass(spec: DeviceSpec, frames: &[(usize, Vec<u8>)]) -> (Vec<(usize, Vec<u8>)>, Rig) {
    let sent: Vec<_> = (0..)
        .zip(frames)
        .map(|(number, (port, frame))| timed(*port, number * MS, frame.clone()))
        .collect();
    let mut rig = Rig::new(spec);
    let received = rig.run(&sent, MS / 10, 100 * MS);
    rig.assert_conserved();
    (received.into_iter().map(|frame| (frame.port, frame.bytes)).collect(), rig)
}

#[test]
fn tagged_frames_leave_an_untagged_port_without_tags() {
    for tags in VLANS {
        let plain = to_east(200);
        let (received, rig) = pass(tagged_router(true), &[(0, with_tags(&plain, tags, 5))]);
        assert_eq!(received, [(1, routed(&plain, EAST, mac(11)))], "{tags:?}");
        assert_eq!(rig.device.counters().unknown_vlan, 0);
    }
}

/// The least frame with a tag has 42 bytes of packet: without it, it is padded by 4.
#[test]
fn a_frame_that_loses_its_tags_is_padded_to_64_bytes() {
    let plain = to_east(60);
    assert_eq!(plain.len(), 56);
    let (received, _) = pass(tagged_router(true), &[(0, with_tags(&plain, VLANS[0], 0))]);
    let mut padded = routed(&plain, EAST, mac(11));
    padded.resize(60, 0);
    assert_eq!(received, [(1, padded)]);
}

#[test]
fn frames_to_a_subinterface_leave_with_its_tags_and_priority_0() {
    for (number, tags) in VLANS.iter().enumerate() {
        // A packet shorter than the least frame: its padding goes where the tags come.
        for (size, bytes) in [(200, 196), (64, 60), (60, 56)] {
            let mut plain = to_vlan(number as u8, size);
            let expected = with_tags(&routed(&plain, WEST, mac(10)), tags, 0);
            plain.resize(plain.len().max(60), 0xee);
            let (received, _) = pass(tagged_router(true), &[(1, plain)]);
            assert_eq!(expected.len(), bytes + 4 * tags.len());
            assert_eq!(received, [(0, expected)], "{tags:?}");
        }
    }
}

#[test]
fn frames_between_subinterfaces_change_their_tags() {
    for (from, tags) in VLANS.iter().enumerate() {
        for (to, others) in VLANS.iter().enumerate() {
            let plain = udp4(mac(10), WEST, [17, from as u8, 0, 1], [17, to as u8, 0, 1], 64, 100);
            let expected = with_tags(&routed(&plain, WEST, mac(10)), others, 0);
            let (received, _) = pass(tagged_router(true), &[(0, with_tags(&plain, tags, 7))]);
            assert_eq!(received, [(0, expected)], "{tags:?} to {others:?}");
        }
    }
}

#[test]
fn ipv6_packets_change_their_tags_too() {
    let plain = udp6(mac(10), WEST, "2001:db8:17:1::9", "2001:db8:17:2::9", 64, 120);
    let mut expected = plain.clone();
    expected[..12].copy_from_slice(&[mac(10), WEST].concat());
    expected[14 + 7] -= 1;
    let (received, _) = pass(tagged_router(true), &[(0, with_tags(&plain, VLANS[1], 0))]);
    assert_eq!(received, [(0, with_tags(&expected, VLANS[2], 0))]);
}

#[test]
fn frames_with_other_tags_are_dropped_and_counted() {
    let others: [&[(u16, u16)]; 7] = [
        &[(11, Q)],
        &[(10, 0x9100)],
        &[(7, AD)],
        &[(10, Q), (7, AD)],
        &[(10, Q), (10, Q)],
        &[(0, Q)],
        &[(10, Q); 9],
    ];
    let frames: Vec<_> = others.iter().map(|tags| (0, with_tags(&to_east(200), tags, 0))).collect();
    // The other port has no subinterfaces at all.
    let there = with_tags(&to_vlan(0, 200), VLANS[0], 0);
    // A TPID never heard of is a type that the router does not forward.
    let strange = with_tags(&to_east(200), &[(10, 0x1234)], 0);
    let (received, rig) = pass(tagged_router(true), &[&frames[..], &[(1, there), (0, strange)]].concat());
    assert_eq!(received, []);
    let counters = rig.device.counters();
    assert_eq!((counters.unknown_vlan, counters.malformed), (8, 1));
}

#[test]
fn untagged_frames_belong_to_the_port_itself() {
    let (received, rig) = pass(
        tagged_router(true),
        &[(0, to_east(64)), (1, udp4(mac(11), EAST, [48, 0, 0, 1], [16, 0, 0, 1], 64, 64))],
    );
    assert_eq!(received.len(), 2);
    assert!(received.iter().all(|(_, frame)| frame.len() == 60));
    let sent: u64 = rig.device.counters().ports[0].vlans.iter().map(|vlan| vlan.sent).sum();
    assert_eq!(sent, 0);
}

fn frame_tags(tags: &[(u16, u16)]) -> Vec<Tag> {
    tags.iter().map(|(vid, tpid)| Tag { tpid: *tpid, tci: *vid }).collect()
}

#[test]
fn arp_is_answered_on_the_right_tags_only() {
    for (number, tags) in VLANS.iter().enumerate() {
        for asked in 0..VLANS.len() {
            let ip = |host: u8| std::net::Ipv4Addr::new(100, 80, asked as u8, host);
            let request = Arp::request(&frame_tags(tags), Mac(mac(10)), ip(2), ip(1));
            let (received, _) = pass(tagged_router(false), &[(0, request.build())]);
            if number != asked {
                assert_eq!(received, [], "{asked} asked for on {tags:?}");
                continue;
            }
            let [(0, answer)] = &received[..] else { panic!("{received:?}") };
            assert_eq!(Arp::parse(answer).expect("ARP"), request.reply(Mac(WEST)));
        }
    }
}

#[test]
fn neighbour_solicitations_are_answered_on_the_right_tags_only() {
    for (number, tags) in VLANS.iter().enumerate() {
        let ip = |host: u16| std::net::Ipv6Addr::new(0x2001, 0xdb8, 0x80, 2, 0, 0, 0, host);
        let request = Discovery::solicitation(&frame_tags(tags), Mac(mac(10)), ip(2), ip(1));
        let (received, _) = pass(tagged_router(false), &[(0, request.build())]);
        if number != 2 {
            assert_eq!(received, []);
            continue;
        }
        let [(0, answer)] = &received[..] else { panic!("{received:?}") };
        assert_eq!(Discovery::parse(answer).expect("ND"), request.reply(Mac(WEST), true));
    }
}

#[test]
fn pings_are_answered_with_the_same_tags() {
    let mut ping = Vec::new();
    etherparse::PacketBuilder::ethernet2(mac(10), WEST)
        .ipv4([100, 80, 3, 2], [100, 80, 3, 1], 64)
        .icmpv4_echo_request(1, 2)
        .write(&mut ping, &[7; 40])
        .unwrap();
    let (received, _) = pass(tagged_router(false), &[(0, with_tags(&ping, VLANS[3], 6))]);
    assert!(echo_reply(&mut ping));
    assert_eq!(received, [(0, with_tags(&ping, VLANS[3], 0))]);
}

/// The request has the tags, an answer on another subinterface is not believed, and the frames that waited leave with the tags.
#[test]
fn a_neighbour_is_learned_on_its_own_subinterface_only() {
    let mut spec = tagged_router(false);
    spec.delay_ns = 0;
    let (us, them) = ("100.80.2.1".parse().unwrap(), "100.80.2.2".parse().unwrap());
    let request = Arp::request(&frame_tags(VLANS[2]), Mac(WEST), us, them);
    let answer = |tags: Tags| Arp {
        tags: frame_tags(tags),
        ..request.reply(Mac(mac(10)))
    };
    let waits = to_vlan(2, 64);
    let frames = [
        (1, waits.clone()),
        (0, answer(VLANS[1]).build()),
        (0, answer(VLANS[2]).build()),
        (1, waits.clone()),
    ];
    let (received, rig) = pass(spec, &frames);
    let frame = with_tags(&routed(&waits, WEST, mac(10)), VLANS[2], 0);
    let mut asks = request.build();
    // The padding of one without tags is kept.
    asks.resize(60 + 8, 0);
    assert_eq!(received, [(0, asks), (0, frame.clone()), (0, frame)]);
    assert!(rig.device.is_settled());
}

#[test]
fn a_link_that_goes_down_takes_the_neighbours_of_its_subinterfaces() {
    let spec = tagged_router(false);
    let (us, them) = ("100.80.0.1".parse().unwrap(), "100.80.0.2".parse().unwrap());
    let frame = |at: u64, number: usize| match number {
        0 => timed(0, at * MS, Arp::request(&frame_tags(VLANS[0]), Mac(mac(10)), them, us).build()),
        _ => timed(1, at * MS, to_vlan(0, 64)),
    };
    for (down, asks) in [(0, true), (1, false)] {
        let mut rig = Rig::new(spec.clone());
        let at = |ms: u64| Instant { ps: ms * MS };
        rig.device
            .set_events(&[(at(3), EventKind::LinkDown, Some(down)), (at(4), EventKind::LinkUp, Some(down))])
            .unwrap();
        let received = rig.run(&[frame(1, 0), frame(2, 1), frame(6, 1)], MS / 10, 10 * MS);
        rig.assert_conserved();
        assert_eq!(received.len(), 3, "an answer, a frame, and either a frame or a request");
        assert_eq!(Arp::parse(&received[2].bytes).is_some_and(|arp| arp.is_request()), asks);
    }
}

#[test]
fn a_frame_too_long_with_its_tags_is_dropped_as_malformed() {
    let longest = MAX_FRAME as usize + 4;
    let (received, rig) = pass(
        tagged_router(true),
        &[(1, to_vlan(0, longest - 4)), (1, to_vlan(0, longest - 3)), (1, to_vlan(3, longest))],
    );
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].1.len(), MAX_FRAME as usize);
    assert!(verify_frame(&received[0].1).is_good());
    assert_eq!(rig.device.counters().malformed, 2);
}

/// Frames of any bytes behind good addresses, tags and packets among them: none is lost without being counted.
#[test]
fn hostile_frames_are_all_accounted_for() {
    let mut state = 1_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut frames = Vec::new();
    for number in 0..20_000 {
        let tags = VLANS[random() as usize % VLANS.len()];
        let plain = match random() % 4 {
            0 => to_east(60 + random() as usize % 300),
            1 => to_vlan(random() as u8 % 4, 60 + random() as usize % 300),
            2 => udp6(
                mac(10),
                WEST,
                "2001:db8:17:1::9",
                "2001:db8:17:2::9",
                64,
                80 + random() as usize % 200,
            ),
            _ => Arp::request(&[], Mac(mac(10)), [100, 80, 1, 2].into(), [100, 80, 1, 1].into()).build(),
        };
        let mut frame = with_tags(&plain, &tags[..random() as usize % (tags.len() + 1)], 3);
        if random() % 2 == 0 {
            let at = random() as usize % frame.len();
            frame[at] = random() as u8;
        }
        if random() % 2 == 0 {
            frame.truncate(14 + random() as usize % frame.len());
        }
        frames.push(timed(random() as usize % 2, number * MS / 1000, frame));
    }
    for static_neighbours in [true, false] {
        let mut rig = Rig::new(tagged_router(static_neighbours));
        assert!(!rig.run(&frames, MS, 100 * MS).is_empty());
        rig.assert_conserved();
    }
}

#[test]
fn what_a_subinterface_cannot_be_is_refused_by_its_field() {
    type Change = Box<dyn Fn(&mut DeviceSpec)>;
    let change = |change: fn(&mut DeviceSpec)| -> Change { Box::new(change) };
    let shape = |rate_bps, burst_bytes| Police {
        rate_bps,
        layer: Layer::L2,
        burst_bytes,
        excess: None,
    };
    let shaped = |police: Police| -> Change { Box::new(move |spec| spec.ports[0].vlans[1].shape = Some(police.clone())) };
    let cases: Vec<(&str, &str, Change)> = vec![
        (
            "ports[0].vlans[1].tags",
            "0 tags",
            change(|spec| spec.ports[0].vlans[1].tags.clear()),
        ),
        (
            "ports[0].vlans[1].tags",
            "9 tags",
            change(|spec| spec.ports[0].vlans[1].tags = vec![DeviceTag { vid: 1, tpid: Q }; 9]),
        ),
        (
            "ports[0].vlans[1].tags",
            "VLAN 4096 with TPID 0x8100",
            change(|spec| {
                spec.ports[0].vlans[1].tags = vec![DeviceTag { vid: 4096, tpid: Q }];
            }),
        ),
        (
            "ports[0].vlans[1].tags",
            "TPID 0x0800",
            change(|spec| spec.ports[0].vlans[1].tags[0].tpid = 0x0800),
        ),
        (
            "ports[0].vlans[1].tags",
            "the same tags",
            change(|spec| spec.ports[0].vlans[1].tags = spec.ports[0].vlans[0].tags.clone()),
        ),
        (
            "ports[0].vlans[1].ipv4",
            "`here`",
            change(|spec| spec.ports[0].vlans[1].ipv4 = Some("here".to_owned())),
        ),
        (
            "ports[0].vlans[1].ipv6",
            "`100.80.9.1/30`",
            change(|spec| {
                spec.ports[0].vlans[1].ipv6 = Some("100.80.9.1/30".to_owned());
            }),
        ),
        (
            "ports[0].vlans[1]",
            "`ports[0].vlans[0]` overlap",
            change(|spec| {
                spec.ports[0].vlans[1].ipv4 = Some("100.80.0.9/24".to_owned());
            }),
        ),
        (
            "ports[0].vlans[3]",
            "`ports[1]` overlap",
            change(|spec| {
                spec.ports[0].vlans[3].ipv6 = Some("2001:db8:0:2::9/127".to_owned());
            }),
        ),
        ("ports[0].vlans[1].shape", "0 bit/s", shaped(shape(0, 9000))),
        ("ports[0].vlans[1].shape", "burst of 1600 bytes", shaped(shape(1, 1600))),
        (
            "ports[0].vlans",
            "only a router",
            change(|spec| spec.forwarding = Forwarding::CrossConnect { pairs: vec![(0, 1)] }),
        ),
        (
            "forwarding.neighbours[0]",
            "no port has a network",
            change(|spec| spec.ports[0].ipv4 = None),
        ),
        (
            "ports",
            "65541 VLAN subinterfaces",
            change(|spec| {
                let vlans = vec![spec.ports[0].vlans[0].clone(); 65_537];
                spec.ports[1].vlans = vlans;
            }),
        ),
    ];
    for (field, why, change) in cases {
        let mut spec = tagged_router(true);
        change(&mut spec);
        let ports = spec.ports.iter().map(|port| {
            let (_, theirs) = pair(&LinkSpec::new("tester", &port.name, port.rate_bps, MAX_FRAME)).unwrap();
            Box::new(theirs) as Box<dyn netdyno_io::port::Port>
        });
        let error = Device::new(spec.clone(), ports.collect(), MAX_FRAME).unwrap_err();
        assert_eq!(error.field, field, "{error}");
        assert!(error.why.contains(why), "{error}");
    }
}
