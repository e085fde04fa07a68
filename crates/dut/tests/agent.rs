//! What a router's SNMP agent answers, byte by byte, and what a query costs.

use crate::common::{Rig, Timed, mac, router, udp4};
use netdyno_dut::spec::{AgentSpec, DeviceSpec, DeviceTag, DeviceVlan, EventKind};
use netdyno_frame::checksum::verify_frame;

const QUANTUM: u64 = 1_000_000;
const MS: u64 = 1_000_000_000;
const SECOND: u64 = 1000 * MS;
const WEST: [u8; 6] = [2, 0, 0, 0, 1, 0];
/// sysUpTime.0, ifInOctets.1, ifOutUcastPkts.2 as SNMP encodes their names.
const NAMES: [&[u8]; 3] = [
    b"\x06\x08\x2b\x06\x01\x02\x01\x01\x03\x00",
    b"\x06\x0a\x2b\x06\x01\x02\x01\x02\x02\x01\x0a\x01",
    b"\x06\x0a\x2b\x06\x01\x02\x01\x02\x02\x01\x11\x02",
];

/// One length byte: nothing here is longer than 127.
fn wrap(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    assert!(value.len() < 128);
    [&[tag, value.len() as u8][..], &value].concat()
}

/// GET of these names by request 0x0102.
fn get(version: u8, community: &[u8], names: &[&[u8]]) -> Vec<u8> {
    let bindings: Vec<u8> = names.iter().flat_map(|name| wrap(0x30, &[name, b"\x05\x00"])).collect();
    let request = wrap(0xa0, &[b"\x02\x02\x01\x02\x02\x01\x00\x02\x01\x00", &wrap(0x30, &[&bindings])]);
    wrap(0x30, &[&[2, 1, version], &wrap(4, &[community]), &request])
}

fn response(version: u8, status: &[u8], bindings: &[(&[u8], &[u8])]) -> Vec<u8> {
    let bindings: Vec<u8> = bindings.iter().flat_map(|(name, value)| wrap(0x30, &[name, value])).collect();
    let response = wrap(0xa2, &[b"\x02\x02\x01\x02", status, &wrap(0x30, &[&bindings])]);
    wrap(0x30, &[&[2, 1, version], b"\x04\x06public", &response])
}

fn query(at: u64, message: &[u8]) -> Timed {
    let mut bytes = Vec::new();
    etherparse::PacketBuilder::ethernet2(mac(0x0a), WEST)
        .ipv4([100, 64, 0, 2], [100, 64, 0, 1], 1)
        .udp(40_000, 161)
        .write(&mut bytes, message)
        .unwrap();
    Timed { port: 0, at, bytes }
}

fn asked() -> DeviceSpec {
    let mut spec = router(true);
    spec.agent = Some(AgentSpec {
        community: "public".to_owned(),
    });
    spec
}

/// The UDP payloads of what comes back to the one who asked.
fn answers(spec: DeviceSpec, frames: &[Timed], until: u64) -> (Vec<Vec<u8>>, Rig) {
    let mut rig = Rig::new(spec);
    let received = rig.run(frames, QUANTUM, until);
    rig.assert_conserved();
    let back = received.iter().filter(|frame| frame.port == 0);
    let payload = |frame: &Timed| {
        assert!(verify_frame(&frame.bytes).is_good(), "checksums");
        let packet = etherparse::SlicedPacket::from_ethernet(&frame.bytes).expect("a packet");
        let Some(etherparse::TransportSlice::Udp(udp)) = packet.transport else {
            panic!("no datagram")
        };
        assert_eq!((udp.source_port(), udp.destination_port()), (161, 40_000));
        assert_eq!(frame.bytes[..12], [mac(0x0a), WEST].concat());
        udp.payload().to_vec()
    };
    (back.map(payload).collect(), rig)
}

#[test]
fn it_tells_its_own_counters() {
    // 300 frames of 128 bytes from west to east, a query of 92 bytes without FCS behind them after 2.345 s.
    let mut frames: Vec<_> = (0..300)
        .map(|number| Timed {
            port: 0,
            at: number * MS,
            bytes: udp4(mac(0x0a), WEST, [16, 0, 0, 1], [48, 0, 0, 1], 64, 128),
        })
        .collect();
    let asks = get(1, b"public", &NAMES);
    frames.push(query(2345 * MS, &asks));
    let octets = 300 * 128 + frames[300].bytes.len() as u32 + 4;
    let (found, rig) = answers(asked(), &frames, 3 * SECOND);
    let octets = octets.to_be_bytes();
    let expected = response(
        1,
        b"\x02\x01\x00\x02\x01\x00",
        &[
            (NAMES[0], &[0x43, 2, 0, 234]), // hundredths; the first bit of 234 would be a sign
            // 38,400 and the query: two bytes, and a zero before the first bit.
            (NAMES[1], &[&[0x41, 3][..], &octets[1..]].concat()),
            (NAMES[2], &[0x41, 2, 0x01, 0x2c]),
        ],
    );
    assert_eq!(found, [expected]);
    assert_eq!(rig.device.counters().consumed, 1);
}

#[test]
fn what_it_has_not_it_says_so() {
    let unknown: &[u8] = b"\x06\x08\x2b\x06\x01\x02\x01\x01\x01\x00";
    let beyond: &[u8] = b"\x06\x0a\x2b\x06\x01\x02\x01\x02\x02\x01\x0a\x03";
    let frames = [
        query(0, &get(1, b"public", &[NAMES[0], unknown, beyond])),
        query(MS, &get(0, b"public", &[NAMES[0], unknown, beyond])),
    ];
    let (found, _) = answers(asked(), &frames, SECOND);
    let ok: &[u8] = b"\x02\x01\x00\x02\x01\x00";
    let second = response(1, ok, &[(NAMES[0], &[0x43, 1, 0]), (unknown, &[0x81, 0]), (beyond, &[0x81, 0])]);
    // noSuchName, of the second.
    let first = response(
        0,
        b"\x02\x01\x02\x02\x01\x02",
        &[(NAMES[0], &[5, 0]), (unknown, &[5, 0]), (beyond, &[5, 0])],
    );
    assert_eq!(found, [second, first]);
}

#[test]
fn who_does_not_know_the_community_or_makes_no_sense_is_not_answered() {
    let good = get(1, b"public", &NAMES);
    let mut frames = vec![query(0, &get(1, b"private", &NAMES)), query(0, &get(3, b"public", &NAMES))];
    // Cut anywhere, with every byte wrong once: nothing of it may hurt.
    frames.extend((0..good.len()).map(|length| query(0, &good[..length])));
    for (index, frame) in frames.iter_mut().enumerate() {
        frame.at = index as u64 * MS;
    }
    let (found, rig) = answers(asked(), &frames, SECOND);
    assert_eq!(found, [[]; 0]);
    assert_eq!(rig.device.counters().consumed, frames.len() as u64);
    let broken = (0..good.len()).flat_map(|at| [0x00, 0x7f, 0x80, 0x81, 0x84, 0xff].map(|value| (at, value)));
    let frames: Vec<_> = (0..)
        .zip(broken)
        .map(|(number, (at, value))| {
            let mut message = good.clone();
            message[at] = value;
            query(number * MS, &message)
        })
        .collect();
    answers(asked(), &frames, SECOND);
    let (found, _) = answers(router(true), &[query(0, &good)], SECOND);
    assert_eq!(found, [[]; 0], "it has no agent");
}

#[test]
fn a_query_takes_its_processor_so_much_longer() {
    // 100 us a frame; the query 400 us, and the frame behind it waits for that.
    let mut spec = asked();
    spec.ports[0].in_fps = Some((10_000, 1));
    spec.ports[0].query_ns = 300_000;
    let frame = |at| Timed {
        port: 0,
        at,
        bytes: udp4(mac(0x0a), WEST, [16, 0, 0, 1], [48, 0, 0, 1], 64, 64),
    };
    let mut rig = Rig::new(spec);
    let ask = query(0, &get(1, b"public", &NAMES[..1]));
    let bits = (ask.bytes.len() as u64 + 12) * 8;
    let received = rig.run(&[ask, frame(MS / 1000)], QUANTUM, SECOND);
    let (line, us) = (bits * 100, 1_000_000);
    let east: Vec<_> = received.iter().filter(|frame| frame.port == 1).map(|frame| frame.at).collect();
    // Its last bit in, 400 us and 100 us of service, 5 us of delay, its last bit out.
    assert_eq!(east, [line + 500 * us + 5 * us + 57_600]);
}

#[test]
fn a_reset_starts_its_clock_and_counters_again() {
    let mut spec = asked();
    spec.reset_ns = 1_000_000;
    let mut rig = Rig::new(spec);
    let at = netdyno_io::time::Instant { ps: SECOND };
    rig.device.set_events(&[(at, EventKind::Reset, None)]).unwrap();
    let received = rig.run(&[query(1500 * MS, &get(1, b"public", &NAMES))], QUANTUM, 2 * SECOND);
    let bytes = &received.iter().find(|frame| frame.port == 0).expect("answered").bytes;
    // 499 ms since the reset was over; only the query came in since.
    assert_eq!(bytes.windows(3).filter(|it| *it == [0x43, 1, 49]).count(), 1);
    assert_eq!(bytes.windows(3).filter(|it| *it == [0x41, 1, 0]).count(), 1);
}

#[test]
fn a_query_on_a_subinterface_is_answered_with_its_tags() {
    let mut spec = asked();
    spec.ports[0].vlans = vec![DeviceVlan {
        tags: vec![DeviceTag { vid: 7, tpid: 0x88a8 }],
        ipv4: Some("100.80.0.1/30".to_owned()),
        ipv6: None,
        shape: None,
        queue: 64,
        priority: None,
        ospf: None,
    }];
    let mut asks = query(0, &get(1, b"public", &NAMES[..1]));
    asks.bytes.splice(12..12, [0x88, 0xa8, 0xe0, 7]);
    let mut rig = Rig::new(spec);
    let received = rig.run(&[asks], QUANTUM, SECOND);
    rig.assert_conserved();
    assert_eq!(received.len(), 1);
    assert_eq!((received[0].port, &received[0].bytes[12..18]), (0, &[0x88, 0xa8, 0, 7, 8, 0][..]));
    assert!(verify_frame(&received[0].bytes).is_good());
}
