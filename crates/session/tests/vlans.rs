//! A router with VLAN subinterfaces on one side: a stream each way for each of them, and shapers that some streams exceed.

use crate::common::*;
use netdyno_io::time::Duration;
use netdyno_session::Outcome;
use serde_json::{Value, json};

const VLANS: usize = 205;
/// 64-byte frames from the untagged side are 68 there.
const UNTAGGED: u32 = 64;
const TAGGED: u32 = 68;
/// A frame each 20 us: 205 streams of up to 92 bytes with preamble and gap fill 75 % of the line.
const GAP_NS: u64 = 20_000;
const DURATION_US: u64 = 10_000;
const FRAMES: u64 = DURATION_US * 1000 / GAP_NS;
/// The subinterface whose shaper is exceeded, and what waits for it.
const SHAPED: usize = 77;
const QUEUE: u64 = 20;
/// Its bucket holds the longest frame of the session, 24 frames of 68 bytes, and regains one each 100 us.
const BURST: u64 = 1632;
const REGAINS_NS: u64 = 100_000;

/// The tags of a VLAN: one, or two of different kinds.
fn tags(number: usize) -> Value {
    match number % 3 {
        0 => json!([{"vid": 1000 + number, "tpid": 0x88a8}, {"vid": 1}]),
        _ => json!([{"vid": 1 + number}]),
    }
}

fn depth(number: usize) -> u32 {
    if number.is_multiple_of(3) { 2 } else { 1 }
}

fn address(number: usize, host: u8) -> String {
    format!("100.80.{number}.{host}")
}

fn router() -> Value {
    let mut device = device(json!({"kind": "router", "routes": []}));
    let vlan = |number: usize| {
        // No other stream exceeds its own: 28.8 Mbit/s at most.
        let (rate_bps, queue) = match number {
            SHAPED => (u64::from(TAGGED) * 8 * 1_000_000_000 / REGAINS_NS, QUEUE),
            _ => (1_000_000_000, 64),
        };
        json!({
            "tags": tags(number),
            "ipv4": format!("{}/24", address(number, 1)),
            "shape": {"rate_bps": rate_bps, "layer": "l2", "burst_bytes": BURST},
            "queue": queue,
        })
    };
    device["ports"][0]["vlans"] = (0..VLANS).map(vlan).collect();
    device
}

/// A stream of a VLAN, and the one against it.
fn streams(number: usize) -> [Value; 2] {
    let more = 4 * depth(number);
    [false, true].map(|east| {
        let (host, far) = (address(number, 2), "198.18.0.6".to_owned());
        let (from, to) = if east { (far, host) } else { (host, far) };
        let gateway = if east { "198.18.0.5".to_owned() } else { address(number, 1) };
        let src = format!("02:00:00:00:00:0{}", 1 + u8::from(east));
        let mut headers = vec![json!({"type": "ethernet", "src": src, "dst": "02:00:00:00:00:00"})];
        if !east {
            let tag = |tag: &Value| {
                let mut tag = tag.clone();
                tag["type"] = json!("vlan");
                tag["pcp"] = json!(3);
                tag
            };
            headers.extend(tags(number).as_array().expect("a list").iter().map(tag));
        }
        headers.push(json!({"type": "ipv4", "src": from, "dst": to}));
        headers.push(json!({"type": "udp", "sport": 1025, "dport": 12}));
        let bytes = if east { UNTAGGED } else { UNTAGGED + more };
        let bps = u64::from(bytes + 20) * 8 * 1_000_000_000 / GAP_NS;
        json!({
            "name": format!("{number}-{}", if east { "down" } else { "up" }),
            "tx_port": usize::from(east),
            "rx_port": usize::from(!east),
            "headers": headers,
            "destination": {"gateway": gateway},
            "sizes": size(bytes),
            "flows": 1,
            "schedule": constant(DURATION_US, bps),
        })
    })
}

fn measure(quantum_ns: Option<u64>) -> Outcome {
    let streams: Vec<Value> = (0..VLANS).flat_map(streams).collect();
    let mut trial = trial(&streams);
    let vlan = |number: usize| json!({"tags": tags(number), "ipv4": format!("{}/24", address(number, 2))});
    trial["ports"][0]["vlans"] = (0..VLANS).map(vlan).collect();
    let mut session = open(session("virtual", "wire", router()));
    if let Some(ns) = quantum_ns {
        session.set_quantum(Duration::from_ns(ns));
    }
    run_on(&mut session, trial)
}

/// By the last of 500 frames, 9.98 ms after the first, the bucket has given the 24 frames that it held and the 99 that it
/// regained, and 20 wait.
///
/// Frames with one tag and with two take turns: in one of those with two, nine words where the probe of one with one tag is
/// sum up like a probe.
#[test]
fn streams_on_205_vlans_lose_only_what_their_shaper_drops() {
    let outcome = measure(None);
    healthy(&outcome.trial);
    let passes = 24 + (FRAMES - 1) * GAP_NS / REGAINS_NS + QUEUE;
    for (index, stream) in outcome.trial.streams.iter().enumerate() {
        let received = if index == 2 * SHAPED + 1 { passes } else { FRAMES };
        assert_eq!(
            (stream.offered, stream.received, stream.lost, stream.out_of_order),
            (FRAMES, received, (FRAMES - received) as i64, 0),
            "{}",
            stream.name
        );
    }
    let device = &outcome.devices[0];
    assert_eq!((device.unknown_vlan, device.malformed, device.no_route), (0, 0, 0));
    let vlans = &device.ports[0].vlans;
    assert_eq!(vlans.len(), VLANS);
    for (number, vlan) in vlans.iter().enumerate() {
        let dropped = if number == SHAPED { FRAMES - passes } else { 0 };
        // The router has answered an ARP request, too.
        assert_eq!(vlan.dropped, dropped, "{number}");
        assert!(vlan.sent >= FRAMES - dropped, "{number}: {}", vlan.sent);
        assert_eq!(json!(vlan.tags)[0]["vid"], tags(number)[0]["vid"]);
    }
    assert_eq!(device.ports[0].out_drops, FRAMES - passes);
    for quantum_ns in [7_000, 32_000] {
        assert!(measure(Some(quantum_ns)) == outcome, "in rounds of {quantum_ns} ns");
    }
}
