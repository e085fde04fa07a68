//! What a router learns by RIP version 2 (RFC 2453), and from whom; what an update costs.

use crate::common::{Rig, Timed, mac, router, udp4};
use netdyno_dut::spec::{DeviceSpec, EventKind, Route};
use netdyno_io::time::Instant;

const QUANTUM: u64 = 1_000_000;
const MS: u64 = 1_000_000_000;
const SECOND: u64 = 1000 * MS;
const WEST: [u8; 6] = [2, 0, 0, 0, 1, 0];
const EAST: [u8; 6] = [2, 0, 0, 0, 1, 1];
/// Where 224.0.0.9 is on Ethernet (RFC 1112 section 6.4).
const ROUTERS: [u8; 6] = [0x01, 0, 0x5e, 0, 0, 9];
/// 192.0.2.0/24 and 198.51.100.128/25 as a message has them (RFC 2453 section 4), without the metric's last byte.
const NETS: [[u8; 19]; 2] = [
    [0, 2, 0, 0, 192, 0, 2, 0, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 2, 0, 0, 198, 51, 100, 128, 255, 255, 255, 128, 0, 0, 0, 0, 0, 0, 0],
];
const HEAD: [u8; 4] = [2, 2, 0, 0];

fn message(metric: u8) -> Vec<u8> {
    let nets = NETS.iter().flat_map(|net| [&net[..], &[metric]].concat());
    HEAD.into_iter().chain(nets).collect()
}

/// From a neighbour on the west port, whose addresses these are, and its UDP port.
fn from(at: u64, source: [u8; 4], port: u16, message: &[u8]) -> Timed {
    let mut bytes = Vec::new();
    etherparse::PacketBuilder::ethernet2(mac(0x0a), ROUTERS)
        .ipv4(source, [224, 0, 0, 9], 1)
        .udp(port, 520)
        .write(&mut bytes, message)
        .unwrap();
    Timed { port: 0, at, bytes }
}

fn update(at: u64, message: &[u8]) -> Timed {
    from(at, [100, 64, 0, 2], 520, message)
}

/// To this host, from the east.
fn to(at: u64, host: [u8; 4]) -> Timed {
    Timed {
        port: 1,
        at,
        bytes: udp4(mac(0x0b), EAST, [48, 0, 0, 1], host, 64, 64),
    }
}

fn listening() -> DeviceSpec {
    let mut spec = router(true);
    spec.rip = true;
    spec
}

/// The ports these frames leave by, in order of time, and when.
fn left(rig: &mut Rig, frames: &[Timed], quantum: u64, until: u64) -> Vec<(usize, u64)> {
    let mut received: Vec<_> = rig.run(frames, quantum, until).iter().map(|frame| (frame.port, frame.at)).collect();
    received.sort_by_key(|frame| frame.1);
    rig.assert_conserved();
    received
}

fn ports(spec: DeviceSpec, frames: &[Timed], until: u64) -> Vec<usize> {
    left(&mut Rig::new(spec), frames, QUANTUM, until)
        .iter()
        .map(|frame| frame.0)
        .collect()
}

#[test]
fn an_update_makes_ways_and_takes_them_away() {
    let hosts = [[192, 0, 2, 1], [198, 51, 100, 129], [198, 51, 100, 1]];
    let probes = |at: u64| hosts.map(|host| to(at + u64::from(host[3]) * MS, host));
    let mut frames = probes(0).to_vec();
    frames.push(update(SECOND, &message(7)));
    frames.extend(probes(2 * SECOND));
    frames.push(update(3 * SECOND, &message(16)));
    frames.extend(probes(4 * SECOND));
    frames.push(update(5 * SECOND, &message(7)));
    frames.extend(probes(6 * SECOND));
    frames.sort_by_key(|frame| (frame.port, frame.at));
    let mut found = Vec::new();
    for quantum in [1_000, QUANTUM, 100 * MS] {
        let mut rig = Rig::new(listening());
        found.push(left(&mut rig, &frames, quantum, 7 * SECOND));
        let counters = rig.device.counters();
        // Three before any update, one each time that is in neither network, and two in state B.
        assert_eq!((counters.consumed, counters.no_route), (3, 3 + 1 + 3 + 1));
    }
    // The half /25 was not told of: of three hosts two are reached.
    let seconds: Vec<_> = found[0].iter().map(|(port, at)| (*port, at / SECOND)).collect();
    assert_eq!(seconds, [(0, 2), (0, 2), (0, 6), (0, 6)]);
    assert!(found.iter().all(|one| *one == found[0]), "no quantum decides");
}

#[test]
fn a_longer_prefix_is_gone_and_the_shorter_one_is_there_again() {
    let mut spec = listening();
    let netdyno_dut::spec::Forwarding::Router { routes, .. } = &mut spec.forwarding else {
        panic!("a router")
    };
    let via = |prefix: &str| Route {
        prefix: prefix.to_owned(),
        via: "100.64.1.2".to_owned(),
    };
    // Back to the east, but for what is learned; the second is configured, and stays.
    routes.extend([via("192.0.0.0/8"), via("198.51.100.128/25")]);
    let host = [192, 0, 2, 77];
    let frames = [
        to(0, host),
        update(SECOND, &message(1)),
        to(2 * SECOND, host),
        to(2 * SECOND + MS, [198, 51, 100, 200]),
        update(3 * SECOND, &message(16)),
        to(4 * SECOND, host),
    ];
    assert_eq!(ports(spec, &frames, 5 * SECOND), [1, 0, 1, 1]);
}

#[test]
fn who_is_not_believed() {
    let good = message(7);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    // Of one network alone, so that nothing of the message holds.
    let one = |at: usize, bytes: &[u8]| with(at, bytes)[..24].to_vec();
    let mut strangers = vec![
        from(0, [100, 64, 0, 2], 1025, &good),
        from(0, [100, 64, 0, 6], 520, &good),
        from(0, [100, 64, 0, 1], 520, &good),
        update(0, &with(0, &[1])),          // a request
        update(0, &with(1, &[1])),          // version 1
        update(0, &one(4, &[0, 3])),        // another family
        update(0, &one(20, &[0, 0, 0, 0])), // metrics that cannot be
        update(0, &one(20, &[0, 0, 0, 17])),
        update(0, &one(20, &[1, 0, 0, 7])),
        update(0, &one(12, &[255, 0, 255, 0])),                                    // no mask
        update(0, &one(8, &[192, 0, 2, 1])),                                       // a host of the network
        update(0, &one(8, &[224, 0, 2, 0])),                                       // a group
        update(0, &[&HEAD[..], &[255, 255, 0, 2], &[0; 16], &good[4..]].concat()), // a password nobody agreed on
    ];
    let mut damaged = update(0, &good);
    let last = damaged.bytes.len() - 1;
    damaged.bytes[last] ^= 1;
    strangers.push(damaged);
    for stranger in strangers {
        let shown = stranger.bytes.clone();
        let frames = [stranger, to(SECOND, [192, 0, 2, 1])];
        assert_eq!(ports(listening(), &frames, 2 * SECOND), [0; 0], "{shown:02x?}");
    }
    // One who hears nobody.
    let frames = [update(0, &good), to(SECOND, [192, 0, 2, 1])];
    assert_eq!(ports(router(true), &frames, 2 * SECOND), [0; 0]);
    assert_eq!(ports(listening(), &frames, 2 * SECOND), [0]);
}

#[test]
fn malformed_updates_change_nothing() {
    let good = update(0, &message(7)).bytes;
    let cut = (14..good.len()).map(|length| good[..length].to_vec());
    let broken = (0..good.len()).flat_map(|at| {
        let good = &good;
        [0x00, 0x7f, 0x80, 0xff].map(move |value| {
            let mut bytes = good.clone();
            bytes[at] = value;
            bytes
        })
    });
    let frames: Vec<_> = (0..)
        .zip(cut.chain(broken))
        .map(|(number, bytes)| Timed {
            port: 0,
            at: number * MS,
            bytes,
        })
        .collect();
    Rig::new(listening()).run(&frames, QUANTUM, SECOND);
}

#[test]
fn shorter_route_wins_and_only_its_sender_withdraws_it() {
    let west = update;
    let east = |at: u64, metric: u8| {
        let mut frame = from(at, [100, 64, 1, 2], 520, &message(metric));
        frame.port = 1;
        frame
    };
    let host = [192, 0, 2, 1];
    let frames = [
        west(0, &message(7)),
        east(SECOND, 7), // no better
        to(2 * SECOND, host),
        east(3 * SECOND, 6),
        to(4 * SECOND, host),
        west(5 * SECOND, &message(16)), // no longer his
        to(6 * SECOND, host),
        east(7 * SECOND, 16),
        to(8 * SECOND, host),
    ];
    assert_eq!(ports(listening(), &frames, 9 * SECOND), [0, 1, 1]);
}

#[test]
fn routes_without_an_update_expire_after_180_s() {
    let host = [192, 0, 2, 1];
    let told = |at| update(at, &message(7));
    let frames = [told(0), to(179 * SECOND, host), to(181 * SECOND, host)];
    assert_eq!(ports(listening(), &frames, 190 * SECOND), [0]);
    let frames = [told(0), told(30 * SECOND), to(181 * SECOND, host), to(211 * SECOND, host)];
    assert_eq!(ports(listening(), &frames, 220 * SECOND), [0]);
}

#[test]
fn a_reset_and_a_link_that_goes_down_take_what_was_learned() {
    for (kind, port) in [
        (EventKind::Reset, None),
        (EventKind::LinkDown, Some(0)),
        (EventKind::LinkDown, Some(1)),
    ] {
        let mut rig = Rig::new(listening());
        let at = |ps| Instant { ps };
        let events = [(at(SECOND), kind, port), (at(2 * SECOND), EventKind::LinkUp, port)];
        rig.device.set_events(&events[..if port.is_some() { 2 } else { 1 }]).unwrap();
        let found = rig.run(&[update(0, &message(7)), to(3 * SECOND, [192, 0, 2, 1])], QUANTUM, 4 * SECOND);
        let reached = found.iter().filter(|frame| frame.port == 0 && frame.bytes.len() == 60).count();
        assert_eq!(reached, usize::from(port == Some(1)), "{kind:?} {port:?}");
    }
}

#[test]
fn what_passes_through_to_the_same_udp_ports_costs_nothing_more() {
    for to in [520, 161] {
        let mut spec = listening();
        spec.ports[0].in_fps = Some((10_000, 1));
        (spec.ports[0].route_ns, spec.ports[0].query_ns) = (150_000, 150_000);
        let mut bytes = Vec::new();
        etherparse::PacketBuilder::ethernet2(mac(0x0a), WEST)
            .ipv4([16, 0, 0, 1], [48, 0, 0, 1], 64)
            .udp(520, to)
            .write(&mut bytes, &message(7))
            .unwrap();
        let bits = bytes.len() as u64 * 8;
        let found = left(&mut Rig::new(spec), &[Timed { port: 0, at: 0, bytes }], QUANTUM, SECOND);
        // Its last bit in, 100 us of service, 5 us of delay, its last bit out: 12 bytes of preamble and FCS each time.
        assert_eq!(found, [(1, (bits + 96) * 100 * 2 + 105_000_000)]);
    }
}

#[test]
fn router_named_by_others_is_no_neighbour() {
    // 25 routes that cannot be reached, each through another host of a network of 62: none of them is asked for or kept.
    let mut spec = listening();
    spec.ports[0].ipv4 = Some("100.64.0.1/26".to_owned());
    let told = (2..27).flat_map(|host| [&[0, 2, 0, 0, 192, 0, host, 0, 255, 255, 255, 0, 100, 64, 0, host, 0, 0, 0, 16][..]].concat());
    let mut rig = Rig::new(spec);
    let message: Vec<u8> = HEAD.into_iter().chain(told).collect();
    left(&mut rig, &[update(0, &message)], QUANTUM, SECOND);
    assert_eq!((rig.device.counters().consumed, rig.device.counters().originated), (1, 0));
}

#[test]
fn an_update_takes_its_processor_longer_for_each_route() {
    // 100 us a frame and 150 us a route: the frame behind it waits for 400 us.
    let mut spec = listening();
    spec.ports[0].in_fps = Some((10_000, 1));
    spec.ports[0].route_ns = 150_000;
    let told = update(0, &message(7));
    let bits = (told.bytes.len() as u64 + 12) * 8;
    let frame = Timed {
        port: 0,
        at: MS / 1000,
        bytes: udp4(mac(0x0a), WEST, [16, 0, 0, 1], [48, 0, 0, 1], 64, 64),
    };
    let (line, us) = (bits * 100, 1_000_000);
    let found = left(&mut Rig::new(spec), &[told, frame], QUANTUM, SECOND);
    // Its last bit in, 400 us and 100 us of service, 5 us of delay, its last bit out.
    assert_eq!(found, [(1, line + 500 * us + 5 * us + 57_600)]);
}
