//! OSPF adjacencies on VLANs under load: what a shaper or an input that drops frames does to hellos, to the picosecond by hand.

use crate::common::*;
use netdyno_dut::spec::LostAt;
use netdyno_io::time::Duration;
use netdyno_session::Outcome;
use serde_json::{Value, json};

/// Picoseconds in a microsecond.
const US: u64 = 1_000_000;
/// A frame of 64 bytes each 20 us, which has a tag more where it is shaped.
const GAP_NS: u64 = 20_000;
const TAGGED: u64 = 68;
/// The bucket holds 24 of those, and regains one each 100 us: a fifth of what comes.
const BURST: u64 = 24 * TAGGED;
const RATE_BPS: u64 = TAGGED * 8 * 10_000;
const QUEUE: u64 = 20;
/// From the router's processing to the queues.
const DELAY_PS: u64 = 5 * US;
/// Until the last bit of a hello that lists its neighbour is in, tag, preamble, SFD and FCS with it, at 10 Gbit/s.
const HELLO_PS: u64 = (14 + 4 + 20 + 24 + 20 + 4 + 4 + 8) * 800;
/// The same of one that lists nobody.
const ALONE_PS: u64 = HELLO_PS - 4 * 800;

/// One end: a hello each millisecond from `first_us` on, dead after four.
fn end(own: &str, other: &str, first_us: u64) -> Value {
    json!({
        "router_id": own, "neighbour_id": other, "area": "0.0.0.0", "prefix_len": 30,
        "hello_ns": 1_000_000, "dead_ns": 4_000_000, "first_ns": first_us * 1000, "hello_s": 10, "dead_s": 40,
    })
}

/// VLANs 100 and 101 in front of port 0, of which the first is shaped.
fn router() -> Value {
    let mut device = device(json!({"kind": "router", "routes": []}));
    let vlan = |number: u64| {
        let shape = json!({"rate_bps": RATE_BPS, "layer": "l2", "burst_bytes": BURST});
        json!({
            "tags": [{"vid": 100 + number}],
            "ipv4": format!("100.80.{number}.1/30"),
            "shape": if number == 0 { shape } else { Value::Null },
            "queue": QUEUE,
            "ospf": end("100.80.0.1", &format!("100.80.{number}.2"), 1500),
        })
    };
    device["ports"][0]["vlans"] = (0..2).map(vlan).collect();
    device
}

fn stream(number: u64, to_branch: bool, (on_us, off_us): (u64, u64)) -> Value {
    let bytes = if to_branch { TAGGED - 4 } else { TAGGED };
    let (host, core) = (format!("100.80.{number}.2"), "198.18.0.6".to_owned());
    let (from, to) = if to_branch { (core, host) } else { (host, core) };
    let src = format!("02:00:00:00:00:0{}", 1 + u8::from(to_branch));
    let mut headers = vec![json!({"type": "ethernet", "src": src, "dst": "02:00:00:00:00:00"})];
    if !to_branch {
        headers.push(json!({"type": "vlan", "vid": 100 + number}));
    }
    headers.push(json!({"type": "ipv4", "src": from, "dst": to}));
    headers.push(json!({"type": "udp", "sport": 1025, "dport": 12}));
    let gateway = if to_branch {
        "198.18.0.5".to_owned()
    } else {
        format!("100.80.{number}.1")
    };
    json!({
        "name": number.to_string(),
        "tx_port": usize::from(to_branch),
        "rx_port": usize::from(!to_branch),
        "headers": headers,
        "destination": {"gateway": gateway},
        "sizes": size(bytes as u32),
        "flows": 1,
        "schedule": loaded(bytes, on_us, off_us),
    })
}

/// For so many microseconds a frame each 20 us, then for so many none.
fn loaded(bytes: u64, on_us: u64, off_us: u64) -> Value {
    let bps = (bytes + 20) * 8 * 1_000_000_000 / GAP_NS;
    json!([
        {"name": "on", "duration_ns": on_us * 1000, "from_bps": bps, "to_bps": bps},
        {"name": "off", "duration_ns": off_us * 1000, "from_bps": 0, "to_bps": 0},
    ])
}

/// Streams to both VLANs, or from both, and the tester's hellos from `first_us` on.
fn measure(device: &Value, to_branch: bool, load_us: (u64, u64), first_us: u64) -> Outcome {
    let streams: Vec<Value> = (0..2).map(|number| stream(number, to_branch, load_us)).collect();
    let mut trial = trial(&streams);
    let vlan = |number: u64| {
        json!({
            "tags": [{"vid": 100 + number}],
            "ipv4": format!("100.80.{number}.2"),
            "gateway": format!("100.80.{number}.1"),
            "ospf": end(&format!("100.80.{number}.2"), "100.80.0.1", first_us),
        })
    };
    trial["ports"][0]["vlans"] = (0..2).map(vlan).collect();
    let run = |quantum_ns: Option<u64>| {
        let mut session = open(session("virtual", "wire", device.clone()));
        if let Some(ns) = quantum_ns {
            session.set_quantum(Duration::from_ns(ns));
        }
        // Twice: a trial does not depend on what became of the neighbours in the one before it.
        let first = run_on(&mut session, trial.clone());
        let second = run_on(&mut session, trial.clone());
        assert!((&first.adjacencies, &first.trial.adjacencies) == (&second.adjacencies, &second.trial.adjacencies));
        first
    };
    let outcome = run(None);
    assert_eq!(outcome.trial.invalid, []);
    for quantum_ns in [7_000, 50_000] {
        let other = run(Some(quantum_ns));
        assert_eq!(other.adjacencies, outcome.adjacencies, "in rounds of {quantum_ns} ns");
        assert_eq!(other.trial.adjacencies, outcome.trial.adjacencies, "in rounds of {quantum_ns} ns");
    }
    outcome
}

/// When each adjacency went down and came up, at the tester's end and at the router's, ps.
fn changes(outcome: &Outcome) -> [Vec<Vec<(u64, bool)>>; 2] {
    let plain = |changes: &[netdyno_frame::hello::Change]| changes.iter().map(|one| (one.at_ps, one.is_up)).collect();
    [
        outcome.trial.adjacencies.iter().map(|one| plain(&one.changes)).collect(),
        outcome.adjacencies[0].iter().map(|one| plain(&one.changes)).collect(),
    ]
}

/// Hellos that the router lost on VLAN 100.
fn lost(outcome: &Outcome) -> Vec<(u64, bool, LostAt)> {
    outcome.adjacencies[0][0]
        .lost
        .iter()
        .map(|one| (one.at_ps, one.is_own, one.place))
        .collect()
}

/// From about 1.1 ms on the queue of the shaper is full: a frame leaves each 100 us, at the instant at which another arrives. No hello
/// of the router finds room: the tester gives it up 4 ms after traffic began. Its hello of 4.7 ms lists the router no more, and so
/// the router, too, knows. The other VLAN has as much traffic and no shaper.
///
/// At 5 ms the load ends. The hello of 5.5 ms finds 15 frames that wait, the last of which leaves at 4985 + 5 + 0.0576 us + 19.2 times
/// 100 us; then it waits for its own 90 bytes. The tester's next hello, of 7.7 ms, brings the router's end up as well.
#[test]
fn a_full_shaper_queue_breaks_an_adjacency_at_the_dead_interval() {
    let outcome = measure(&router(), true, (5000, 7000), 700);
    let bits_ps = (90_u64 * 8 * 1_000_000_000_000).div_ceil(RATE_BPS);
    let last_ps = 4985 * US + 20 * US + 57_600 + 19 * 100 * US;
    let up_ps = last_ps + bits_ps + HELLO_PS;
    let tester = vec![(4000 * US, false), (up_ps, true)];
    let router = vec![(4700 * US + ALONE_PS, false), (7700 * US + HELLO_PS, true)];
    assert_eq!(changes(&outcome), [vec![tester, vec![]], vec![router, vec![]]]);
    let at = |ms: u64| (ms * 1000 * US + 500 * US + DELAY_PS, true, LostAt::Shaper);
    assert_eq!(lost(&outcome), [at(1), at(2), at(3), at(4)]);
    assert_eq!(outcome.adjacencies[0][1].lost, []);
}

/// The same load, and a queue for hellos that goes first.
#[test]
fn a_priority_queue_keeps_the_adjacency_under_the_same_load() {
    let mut device = router();
    device["ports"][0]["vlans"][0]["priority"] = json!({"dscp": [48], "queue": 2});
    let outcome = measure(&device, true, (12_000, 0), 700);
    assert_eq!(changes(&outcome), [vec![vec![], vec![]], vec![vec![], vec![]]]);
    assert_eq!(lost(&outcome), []);
    let vlan = &outcome.devices[0].ports[0].vlans[0];
    assert!(vlan.dropped > 300, "the others are dropped as before: {}", vlan.dropped);
}

/// What the router takes in, a frame each 100 us of ten that come: the tester's hellos find its queue full, and the router gives the
/// tester up 4 ms after traffic began. Its next hello, of 4.5 ms, lists nobody.
#[test]
fn a_full_ingress_queue_breaks_both_adjacencies_at_the_routers_end_first() {
    let mut device = router();
    (device["ports"][0]["in_fps"], device["ports"][0]["in_queue"]) = (json!([10_000, 1]), json!(QUEUE));
    let outcome = measure(&device, false, (8000, 0), 1710);
    let router = vec![(4000 * US, false)];
    // Both leave at one instant: the second waits for the first, and the gap of 12 bytes behind it.
    let first_ps = 4500 * US + DELAY_PS + ALONE_PS;
    let second_ps = first_ps + ALONE_PS + 12 * 800;
    let tester = [first_ps, second_ps].map(|at| vec![(at, false)]);
    assert_eq!(changes(&outcome), [tester.to_vec(), vec![router.clone(), router]]);
    let all = lost(&outcome);
    assert_eq!(all.len(), 7, "of 1.71 to 7.71 ms: {all:?}");
    assert!(all.iter().all(|(_, is_own, place)| !is_own && *place == LostAt::Ingress), "{all:?}");
}
