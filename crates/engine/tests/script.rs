//! What a port says beside its streams at times of its own, and what comes back to its UDP ports.

use crate::common::{self, Far, MS, Script, TESTER, stream};
use netdyno_engine::Trial;
use netdyno_engine::result::{SaidResult, TrialResult};
use netdyno_frame::arp::Arp;
use netdyno_frame::spec::Mac;
use netdyno_io::backend::{LinkSpec, wire};
use netdyno_io::time::Duration;
use serde_json::{Value, json};

const ROUTER: Mac = Mac([2, 0, 0, 0, 0, 0x0a]);
/// A 64-byte frame, its preamble and its gap at 10 Gbit/s, ps.
const SLOT: u64 = 67_200;
/// Of a message of 1000 bytes without FCS.
const LONG: u64 = 1024 * 800;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A frame of 1000 bytes of an unknown type, with four bytes of a number behind its type.
fn long(number: u32) -> Vec<u8> {
    let mut frame = [&ROUTER.0[..], &TESTER.0, &[0x88, 0xb5], &number.to_be_bytes()].concat();
    frame.resize(1000, 0x5a);
    frame
}

fn run_script(messages: Value, per_second: u64, duration_ms: u64, quantum_us: u64) -> (TrialResult, Far) {
    let mut stream = stream("it", json!("written"), per_second, 1);
    stream["schedule"][0]["duration_ns"] = json!(duration_ms * 1_000_000);
    let spec = common::trial(json!({ "messages": messages }), &[stream]);
    common::run(spec, Duration::from_us(quantum_us), false, Vec::new(), Box::new(|_, _| Vec::new()))
}

/// A message of 1000 bytes at the begin of traffic and each millisecond after it, and one before it.
fn regular() -> Value {
    json!([
        {"at_ns": 0, "every_ns": 1_000_000, "count": 3, "frame": hex(&long(7)), "number_at": 14},
        {"at_ns": -400_000, "frame": hex(&long(99))},
    ])
}

#[test]
fn a_message_is_the_first_frame_of_its_time_and_the_others_wait_for_it() {
    for quantum in [1, 32, 1000] {
        // Two thirds of the line: what waits for a message has caught up long before the next one.
        let (found, far) = run_script(regular(), 10_000_000, 3, quantum);
        let said: Vec<_> = found.said.iter().map(|said| (said.message, said.number, said.at_ns)).collect();
        assert_eq!(said, [(1, 0, -400_000), (0, 0, 0), (0, 1, 1_000_000), (0, 2, 2_000_000)]);
        let frames: Vec<_> = far.heard.iter().map(|(_, frame)| frame.clone()).collect();
        assert_eq!(frames, [long(99), long(7), long(8), long(9)]);
        // It settles for a millisecond; a frame is known by its last bit, LONG less the gap after it began.
        let heard: Vec<_> = far.heard.iter().map(|(at, _)| at - (LONG - 12 * 800)).collect();
        assert_eq!(heard, [6 * MS / 10, MS, 2 * MS, 3 * MS]);
        let expected: Vec<u64> = (0..30_000_u64)
            .scan(0, |free, number| {
                // A frame each 100 ns, and each millisecond the line is not free for so long.
                let due = number * 100_000;
                *free = (*free).max(due / MS * MS + LONG).max(due);
                let departs = *free;
                *free += SLOT;
                Some(MS + departs)
            })
            .collect();
        assert_eq!(far.tests.iter().map(|test| test.0).collect::<Vec<_>>(), expected);
        let (stream, port) = (&found.streams[0], &found.ports[0]);
        assert_eq!((stream.offered, found.health.unsent), (30_000, 0));
        assert_eq!((port.own_frames, port.tx_frames), (4, 30_004));
        assert_eq!(found.health.latest_departure_ns, LONG / 1000);
    }
}

#[test]
fn a_full_line_is_behind_by_what_was_said() {
    let messages = json!([{"at_ns": 0, "every_ns": 1_000_000, "count": 3, "frame": hex(&long(7))}]);
    let (found, far) = run_script(messages, 14_880_952, 3, 32);
    assert_eq!(found.health.latest_departure_ns, 3 * LONG / 1000);
    let (last, _, _) = far.tests.last().expect("sent");
    let number = found.streams[0].offered - 1;
    assert_eq!(found.health.unsent, 0);
    // Due at 14,880,952 a second, of which the line can do 14,880,952.38: once behind, frames stand back to back.
    assert_eq!(*last, MS + 3 * LONG + number * SLOT);
}

#[test]
fn a_next_hop_gets_what_is_said_to_it() {
    let answering: Script = Box::new(|_, frame| {
        let asked = Arp::parse(frame).filter(|arp| arp.is_request() && arp.target_ip.octets() == [192, 0, 2, 1]);
        asked.map(|arp| arp.reply(ROUTER).build()).into_iter().collect()
    });
    let mut frame = long(7);
    frame[..6].fill(0);
    let port = json!({"ipv4": "192.0.2.2/30", "messages": [{"at_ns": 0, "frame": hex(&frame), "to": "192.0.2.1"}]});
    let spec = common::trial(port, &[stream("it", json!("written"), 10, 1)]);
    let (found, far) = common::run(spec, Duration::from_us(32), false, Vec::new(), answering);
    assert_eq!(found.invalid, []);
    let heard = far.heard.iter().filter(|(_, frame)| frame.len() == 1000);
    assert_eq!(heard.map(|(_, frame)| frame.clone()).collect::<Vec<_>>(), [long(7)]);
    assert_eq!(
        found.said,
        [SaidResult {
            message: 0,
            number: 0,
            at_ns: 0
        }]
    );
}

/// A datagram from 192.0.2.1:161, built by etherparse.
fn datagram(to: [u8; 4], port: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    etherparse::PacketBuilder::ethernet2(ROUTER.0, TESTER.0)
        .ipv4([192, 0, 2, 1], to, 64)
        .udp(161, port)
        .write(&mut frame, payload)
        .expect("a frame");
    frame
}

#[test]
fn what_comes_to_its_ports_is_kept_and_nothing_else() {
    const OWN: [u8; 4] = [192, 0, 2, 2];
    let mut damaged = datagram(OWN, 40_000, b"damaged");
    damaged[44] ^= 1;
    // As a kernel leaves it to a card: the sum of 192.0.2.1, 192.0.2.2, protocol 17 and the length, 8 and 7.
    let mut begun = datagram(OWN, 40_000, b"to card");
    begun[40..42].copy_from_slice(&(2 * (0xc000_u32 + 0x0200) + 1 + 2 + 17 + 15 - 0xffff).to_be_bytes()[2..]);
    let mut fragment = datagram(OWN, 40_000, b"fragment");
    fragment[20] = 0x20;
    let mut strangers = datagram(OWN, 40_000, b"another's");
    strangers[5] = 0x33;
    let says = [
        datagram(OWN, 40_000, b"first"),
        datagram(OWN, 40_001, b"other port"),
        datagram([192, 0, 2, 3], 40_000, b"other address"),
        damaged,
        begun,
        fragment,
        strangers,
        datagram(OWN, 520, b""),
        datagram(OWN, 40_000, &[0xa5; 1400]),
    ];
    let says = (1..).map(|number| MS + number * 100 * common::US).zip(says).collect();
    let port = json!({"ipv4": "192.0.2.2/30", "listens": [40_000, 520]});
    let spec = common::trial(port, &[stream("it", json!("written"), 10_000, 1)]);
    let (found, _) = common::run(spec, Duration::from_us(32), false, says, Box::new(|_, _| Vec::new()));
    let heard: Vec<_> = found
        .heard
        .iter()
        .map(|it| (it.port, it.from.as_str(), it.from_port, it.to_port, it.payload.as_str()))
        .collect();
    let whole = "a5".repeat(1400);
    assert_eq!(
        heard,
        [
            (0, "192.0.2.1", 161, 40_000, "6669727374"),
            (0, "192.0.2.1", 161, 40_000, "746f2063617264"),
            (0, "192.0.2.1", 161, 520, ""),
            (0, "192.0.2.1", 161, 40_000, whole.as_str()),
        ]
    );
    // Its last bit came 100 us after traffic began and 60 bytes, preamble and FCS (57.6 ns) later.
    assert_eq!(found.heard[0].at_ns, 100_057);
    assert_eq!((found.heard_damaged, found.heard_beyond, found.ports[0].foreign), (1, 0, 9));
}

#[test]
fn what_comes_to_networks_behind_it_is_kept_as_well() {
    let says = [
        datagram([192, 0, 2, 128], 40_000, b"first"),
        datagram([192, 0, 2, 255], 40_000, b"last"),
        datagram([192, 0, 2, 127], 40_000, b"below"),
        datagram([192, 0, 3, 128], 40_000, b"above"),
        datagram([198, 51, 100, 7], 40_000, b"host"),
        datagram([198, 51, 100, 7], 40_001, b"other port"),
    ];
    let says = (1..).map(|number| MS + number * 100 * common::US).zip(says).collect();
    let port = json!({"listens": [40_000], "behind": ["192.0.2.128/25", "198.51.100.7/32"]});
    let spec = common::trial(port, &[stream("it", json!("written"), 10_000, 1)]);
    let (found, _) = common::run(spec, Duration::from_us(32), false, says, Box::new(|_, _| Vec::new()));
    let heard: Vec<_> = found.heard.iter().map(|it| it.payload.clone()).collect();
    assert_eq!(heard, [hex(b"first"), hex(b"last"), hex(b"host")]);
    for wrong in [
        "192.0.2.0",
        "192.0.2.0/33",
        "192.0.2.0/0",
        "192.0.2.1/24",
        "2001:db8::/32",
        "net/24",
    ] {
        let spec = common::trial(json!({"behind": [wrong]}), &[stream("it", json!("written"), 10, 1)]);
        let (near, _far) = wire::pair(&LinkSpec::new("west", "far", 10_000_000_000, 1518)).expect("a cable");
        let refused = Trial::new(serde_json::from_value(spec).expect("a trial"), vec![Box::new(near)]).expect_err(wrong);
        assert!(refused.error.to_string().contains(wrong), "{}", refused.error);
    }
}

#[test]
fn of_a_flood_so_many_are_kept() {
    // 60,000 datagrams, a microsecond apart.
    let says = (0..60_000)
        .map(|number| (MS + number * common::US, datagram([192, 0, 2, 2], 40_000, b"x")))
        .collect();
    let port = json!({"ipv4": "192.0.2.2/30", "listens": [40_000]});
    let spec = common::trial(port, &[stream("it", json!("written"), 10_000, 1)]);
    let (found, _) = common::run(spec, Duration::from_us(32), false, says, Box::new(|_, _| Vec::new()));
    assert_eq!((found.heard.len(), found.heard_beyond), (50_000, 10_000));
}

#[test]
fn what_cannot_be_said_is_refused_with_its_place() {
    let frame = hex(&long(1));
    let cases = [
        (json!({"at_ns": 0, "frame": "abc"}), "frame", "hexadecimal"),
        (json!({"at_ns": 0, "frame": "00"}), "frame", "1 bytes"),
        (json!({"at_ns": 0, "frame": "00".repeat(1600)}), "frame", "1600 bytes"),
        (json!({"at_ns": -1_000_001, "frame": frame}), "at_ns", "settles for 1000000 ns"),
        (json!({"at_ns": i64::MIN, "frame": frame}), "at_ns", "before traffic"),
        (json!({"at_ns": i64::MAX, "frame": frame}), "at_ns", "31 days"),
        (
            json!({"at_ns": -1, "every_ns": 1_000_000, "count": 2, "frame": frame}),
            "at_ns",
            "before traffic",
        ),
        (json!({"at_ns": 0, "count": 0, "frame": frame}), "every_ns", "0 frames"),
        (json!({"at_ns": 0, "count": 2, "frame": frame}), "every_ns", "every 0 ns"),
        (json!({"at_ns": 0, "frame": frame, "number_at": 997}), "number_at", "behind the end"),
        (json!({"at_ns": 0, "frame": frame, "to": "router"}), "to", "`router`"),
        (json!({"at_ns": 0, "frame": frame, "to": "192.0.2.1"}), "to", "no IPv4 address"),
    ];
    for (message, field, why) in cases {
        let spec = common::trial(json!({"messages": [message]}), &[stream("it", json!("written"), 10, 1)]);
        let (near, _far) = wire::pair(&LinkSpec::new("west", "far", 10_000_000_000, 1518)).expect("a cable");
        let refused = Trial::new(serde_json::from_value(spec).expect("a trial"), vec![Box::new(near)]).expect_err(why);
        assert_eq!(refused.error.place, format!("ports[0].messages[0].{field}"));
        assert!(refused.error.to_string().contains(why), "{}", refused.error);
    }
    let often = json!({"at_ns": 0, "every_ns": 1_000_000, "count": 60_000, "frame": frame});
    let spec = common::trial(json!({"messages": [often, often]}), &[stream("it", json!("written"), 10, 1)]);
    let (near, _far) = wire::pair(&LinkSpec::new("west", "far", 10_000_000_000, 1518)).expect("a cable");
    let refused = Trial::new(serde_json::from_value(spec).expect("a trial"), vec![Box::new(near)]).expect_err("too many");
    assert!(refused.error.to_string().contains("120000 frames"), "{}", refused.error);
}
