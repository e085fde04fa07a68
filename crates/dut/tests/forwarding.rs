//! What comes out for what goes in: literal frames through each kind of device.

use crate::common::{LAST_BIT_64, Rig, Timed, bridge, cross_connect, mac, router, udp4, udp6};
use netdyno_dut::spec::DeviceSpec;
use netdyno_frame::arp::Arp;
use netdyno_frame::icmp::echo_target;
use netdyno_frame::nd::Neighbour;
use netdyno_frame::spec::Mac;

const QUANTUM: u64 = 1_000_000;
const MILLISECOND: u64 = 1_000_000_000;
const SECOND: u64 = 1000 * MILLISECOND;
/// The router's ports.
const WEST: [u8; 6] = [2, 0, 0, 0, 1, 0];
const EAST: [u8; 6] = [2, 0, 0, 0, 1, 1];

fn one(port: usize, bytes: Vec<u8>) -> Timed {
    Timed { port, at: 0, bytes }
}

/// What comes back for one frame within a millisecond.
fn through(spec: DeviceSpec, frame: Vec<u8>) -> (Vec<Timed>, Rig) {
    let mut rig = Rig::new(spec);
    let received = rig.run(&[one(0, frame)], QUANTUM, MILLISECOND);
    rig.assert_conserved();
    (received, rig)
}

#[test]
fn a_cross_connect_changes_nothing_and_takes_its_time() {
    let frame = udp4(mac(1), mac(2), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64);
    let (received, _) = through(cross_connect(), frame.clone());
    // Last bit in, 5 us, last bit out.
    let at = LAST_BIT_64 + 5_000_000 + LAST_BIT_64;
    assert_eq!(received, [Timed { port: 1, at, bytes: frame }]);
}

#[test]
fn the_delay_per_byte_counts_the_fcs() {
    let mut spec = cross_connect();
    spec.delay_per_byte_ps = 1000;
    let frame = udp4(mac(1), mac(2), [16, 0, 0, 1], [48, 0, 0, 1], 64, 1514);
    let (received, _) = through(spec, frame);
    // (1514 + 8) bytes at 800 ps, twice; 5 us; 1514 ns.
    assert_eq!(received[0].at, 2 * 1522 * 800 + 5_000_000 + 1_514_000);
}

#[test]
fn a_router_takes_one_hop_and_new_addresses() {
    let frame = udp4(mac(0x0a), WEST, [16, 1, 2, 3], [48, 9, 8, 7], 64, 64);
    let expected = udp4(EAST, mac(0x0b), [16, 1, 2, 3], [48, 9, 8, 7], 63, 64);
    assert_eq!(through(router(true), frame).0[0].bytes, expected);
    // The header checksum passes 0xffff and 0x0000 on its way: all TTLs, compared with a checksum computed afresh.
    for ttl in 2..=255 {
        let frame = udp4(mac(0x0a), WEST, [16, 0, 0, 1], [48, 0, 0, 1], ttl, 128);
        let expected = udp4(EAST, mac(0x0b), [16, 0, 0, 1], [48, 0, 0, 1], ttl - 1, 128);
        assert_eq!(through(router(true), frame).0[0].bytes, expected, "TTL {ttl}");
    }
}

#[test]
fn ipv6_likewise() {
    let frame = udp6(mac(0x0a), WEST, "2001:db8:16::1", "2001:db8:48::1", 64, 78);
    let expected = udp6(EAST, mac(0x0b), "2001:db8:16::1", "2001:db8:48::1", 63, 78);
    let (received, _) = through(router(true), frame);
    assert_eq!((received[0].port, &received[0].bytes), (1, &expected));
}

#[test]
fn what_a_router_drops_it_counts() {
    let good = udp4(mac(0x0a), WEST, [16, 1, 2, 3], [48, 9, 8, 7], 64, 64);
    let counted = |frame: &[u8]| {
        let (received, rig) = through(router(true), frame.to_vec());
        assert!(received.is_empty(), "{received:?}");
        let counters = rig.device.counters();
        (counters.no_route, counters.ttl_expired, counters.malformed)
    };
    let changed = |at: usize, value: u8| {
        let mut frame = good.clone();
        frame[at] = value;
        frame
    };
    let sent = |destination: [u8; 4], ttl: u8| udp4(mac(0x0a), WEST, [16, 1, 2, 3], destination, ttl, 64);
    assert_eq!(counted(&sent([99, 0, 0, 1], 64)), (1, 0, 0), "no route");
    assert_eq!(counted(&sent([224, 0, 0, 5], 64)), (1, 0, 0), "a group");
    assert_eq!(counted(&sent([48, 0, 0, 1], 1)), (0, 1, 0), "TTL 1");
    assert_eq!(counted(&sent([48, 0, 0, 1], 0)), (0, 1, 0), "TTL 0");
    assert_eq!(counted(&changed(14, 0x55)), (0, 0, 1), "version 5");
    assert_eq!(counted(&changed(14, 0x44)), (0, 0, 1), "header of 16 bytes");
    assert_eq!(counted(&changed(16, 0xff)), (0, 0, 1), "longer than the frame");
    assert_eq!(counted(&changed(24, good[24] ^ 1)), (0, 0, 1), "header checksum");
    assert_eq!(counted(&changed(5, 0x77)), (0, 0, 1), "somebody else's frame");
    assert_eq!(counted(&changed(12, 0x88)), (0, 0, 1), "some other protocol");
    assert_eq!(counted(&good[..20]), (0, 0, 1), "cut off");
    let six = udp6(mac(0x0a), WEST, "2001:db8:16::1", "2001:db8:48::1", 1, 78);
    assert_eq!(counted(&six), (0, 1, 0), "hop limit 1");
    let six = udp6(mac(0x0a), WEST, "2001:db8:16::1", "fe80::1", 64, 78);
    assert_eq!(counted(&six), (1, 0, 0), "link-local addresses are not routed");
}

#[test]
fn the_unknown_neighbour_is_asked_for_and_the_frames_wait() {
    let mut rig = Rig::new(router(false));
    let frame = |last: u8| udp4(mac(0x0a), WEST, [16, 0, 0, 1], [48, 0, 0, last], 64, 64);
    let asked = rig.run(
        &[
            one(0, frame(1)),
            Timed {
                at: 1000,
                ..one(0, frame(2))
            },
        ],
        QUANTUM,
        MILLISECOND,
    );
    rig.assert_conserved();
    assert_eq!(asked.len(), 1, "one request for two frames");
    let request = Arp::parse(&asked[0].bytes).unwrap();
    assert_eq!(asked[0].port, 1);
    assert_eq!(asked[0].bytes[..6], [0xff; 6]);
    assert_eq!(
        (request.sender_ip, request.target_ip),
        ([100, 64, 1, 1].into(), [100, 64, 1, 2].into())
    );
    assert_eq!(request.sender_mac, Mac(EAST));
    let reply = Timed {
        at: rig.now,
        ..one(1, request.reply(Mac(mac(0x0b))).build())
    };
    let received = rig.run(&[reply], QUANTUM, 2 * MILLISECOND);
    let bytes: Vec<_> = received.iter().map(|frame| frame.bytes.clone()).collect();
    let forwarded = |last: u8| udp4(EAST, mac(0x0b), [16, 0, 0, 1], [48, 0, 0, last], 63, 64);
    assert_eq!(bytes, [forwarded(1), forwarded(2)], "in order, once the answer is there");
    rig.assert_conserved();
    assert_eq!(rig.device.counters().held, 0);
}

#[test]
fn silent_neighbours_are_asked_three_times() {
    let mut rig = Rig::new(router(false));
    let frame = udp4(mac(0x0a), WEST, [16, 0, 0, 1], [48, 0, 0, 1], 64, 64);
    let received = rig.run(&[one(0, frame)], QUANTUM, 10 * SECOND);
    let at: Vec<u64> = received.iter().map(|frame| (frame.at - received[0].at) / SECOND).collect();
    assert_eq!(at, [0, 1, 2], "three requests a second apart (RFC 4861, section 10)");
    assert_eq!(rig.device.counters().no_route, 1);
    rig.assert_conserved();
}

#[test]
fn a_router_answers_for_its_addresses_and_learns_who_asked() {
    let mut rig = Rig::new(router(false));
    let asker: std::net::Ipv4Addr = [100, 64, 0, 2].into();
    let request = Arp::request(&[], Mac(mac(0x0a)), asker, [100, 64, 0, 1].into());
    let received = rig.run(&[one(0, request.build())], QUANTUM, MILLISECOND);
    assert_eq!(received.len(), 1);
    assert_eq!(Arp::parse(&received[0].bytes), Some(request.reply(Mac(WEST))));
    // Whoever asked is known now: no request for a frame to it.
    let back = Timed {
        at: rig.now,
        ..one(1, udp4(mac(0x0b), EAST, [48, 0, 0, 1], [16, 0, 0, 1], 64, 64))
    };
    let received = rig.run(&[back], QUANTUM, 2 * MILLISECOND);
    assert_eq!(received[0].bytes, udp4(WEST, mac(0x0a), [48, 0, 0, 1], [16, 0, 0, 1], 63, 64));
    // For somebody else's address it has no answer.
    let other = Timed {
        at: rig.now,
        ..one(0, Arp::request(&[], Mac(mac(0x0a)), asker, [100, 64, 0, 3].into()).build())
    };
    assert!(rig.run(&[other], QUANTUM, 3 * MILLISECOND).is_empty());
    rig.assert_conserved();
}

#[test]
fn neighbour_discovery_both_ways() {
    let mut rig = Rig::new(router(false));
    let frame = udp6(mac(0x0a), WEST, "2001:db8:16::1", "2001:db8:48::1", 64, 78);
    let asked = rig.run(&[one(0, frame)], QUANTUM, MILLISECOND);
    let solicitation = Neighbour::parse(&asked[0].bytes).unwrap();
    assert_eq!(solicitation.target, "2001:db8:0:2::2".parse::<std::net::Ipv6Addr>().unwrap());
    assert_eq!(asked[0].bytes[..6], [0x33, 0x33, 0xff, 0, 0, 2]);
    let answer = Timed {
        at: rig.now,
        ..one(1, solicitation.reply(Mac(mac(0x0b)), false).build())
    };
    let received = rig.run(&[answer], QUANTUM, 2 * MILLISECOND);
    assert_eq!(received[0].bytes, udp6(EAST, mac(0x0b), "2001:db8:16::1", "2001:db8:48::1", 63, 78));
    let (source, target) = ("2001:db8:0:1::2".parse().unwrap(), "2001:db8:0:1::1".parse().unwrap());
    let question = Neighbour::solicitation(&[], Mac(mac(0x0a)), source, target);
    let received = rig.run(
        &[Timed {
            at: rig.now,
            ..one(0, question.build())
        }],
        QUANTUM,
        3 * MILLISECOND,
    );
    assert_eq!(Neighbour::parse(&received[0].bytes), Some(question.reply(Mac(WEST), true)));
    rig.assert_conserved();
}

#[test]
fn a_router_answers_pings() {
    let mut ping = Vec::new();
    etherparse::PacketBuilder::ethernet2(mac(0x0a), WEST)
        .ipv4([100, 64, 0, 2], [100, 64, 1, 1], 64)
        .icmpv4_echo_request(7, 9)
        .write(&mut ping, &[5; 32])
        .unwrap();
    assert!(echo_target(&ping).is_some());
    let (received, rig) = through(router(true), ping);
    let mut pong = Vec::new();
    etherparse::PacketBuilder::ethernet2(WEST, mac(0x0a))
        .ipv4([100, 64, 1, 1], [100, 64, 0, 2], 64)
        .icmpv4_echo_reply(7, 9)
        .write(&mut pong, &[5; 32])
        .unwrap();
    assert_eq!(
        (received[0].port, &received[0].bytes),
        (0, &pong),
        "whichever of its addresses is asked"
    );
    assert_eq!(rig.device.counters().consumed, 0);
}

#[test]
fn a_bridge_floods_what_it_does_not_know_and_passes_tags() {
    let mut rig = Rig::new(bridge(4));
    let mut tagged = udp4(mac(1), mac(2), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64);
    tagged.splice(12..12, [0x81, 0, 0, 10]);
    let received = rig.run(&[one(0, tagged.clone())], QUANTUM, MILLISECOND);
    let ports: Vec<_> = received.iter().map(|frame| frame.port).collect();
    assert_eq!(ports, [1, 2, 3]);
    assert!(received.iter().all(|frame| frame.bytes == tagged));
    let back = udp4(mac(2), mac(1), [48, 0, 0, 1], [16, 0, 0, 1], 64, 64);
    let received = rig.run(
        &[Timed {
            at: rig.now,
            ..one(2, back)
        }],
        QUANTUM,
        2 * MILLISECOND,
    );
    assert_eq!(received.iter().map(|frame| frame.port).collect::<Vec<_>>(), [0], "it is known now");
    let counters = rig.device.counters();
    assert_eq!((counters.flooded, counters.copies), (1, 2));
    rig.assert_conserved();
}
