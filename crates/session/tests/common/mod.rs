//! A tester with ports `west` and `east` on one emulated device, as JSON like a plan makes it.

use netdyno_engine::result::TrialResult;
use netdyno_session::{Outcome, Session, TrialSpec};
use serde_json::{Value, json};

pub const TEN_GIGABIT: u64 = 10_000_000_000;
/// L1 bits of a 64-byte frame.
pub const BITS_64: u64 = 672;

/// A device of this forwarding kind with two 10 Gbit/s ports and a fixed delay of 5 us.
pub fn device(forwarding: Value) -> Value {
    json!({
        "name": "dut",
        "ports": [
            {"name": "a", "mac": "02:00:00:00:00:0a", "rate_bps": TEN_GIGABIT, "ipv4": "198.18.0.1/30", "ipv6": "2001:2:0:1::1/64"},
            {"name": "b", "mac": "02:00:00:00:00:0b", "rate_bps": TEN_GIGABIT, "ipv4": "198.18.0.5/30", "ipv6": "2001:2:0:2::1/64"},
        ],
        "forwarding": forwarding,
        "delay_ns": 5000,
    })
}

pub fn cross_connect() -> Value {
    device(json!({"kind": "cross-connect", "pairs": [[0, 1]]}))
}

pub fn router() -> Value {
    device(json!({
        "kind": "router",
        "routes": [
            {"prefix": "16.0.0.0/8", "via": "198.18.0.2"}, {"prefix": "48.0.0.0/8", "via": "198.18.0.6"},
            {"prefix": "2001:2:16::/48", "via": "2001:2:0:1::2"}, {"prefix": "2001:2:48::/48", "via": "2001:2:0:2::2"},
        ],
    }))
}

pub fn with(mut device: Value, field: &str, value: Value) -> Value {
    device[field] = value;
    device
}

pub fn session(clock: &str, backend: &str, device: Value) -> Value {
    json!({
        "clock": clock,
        "ports": [{"name": "west", "backend": {"kind": backend}}, {"name": "east", "backend": {"kind": backend}}],
        "devices": [device],
        "links": [
            {"port": 0, "device": 0, "device_port": 0, "rate_bps": TEN_GIGABIT},
            {"port": 1, "device": 0, "device_port": 1, "rate_bps": TEN_GIGABIT},
        ],
    })
}

/// IPv4/UDP from 16/8 to 48/8, random if there are several flows. `east` turns it round.
pub fn stream(east: bool, flows: u32, destination: Value, sizes: Value, schedule: Value) -> Value {
    let net = |a: u8| {
        if flows == 1 {
            json!(format!("{a}.0.0.1"))
        } else {
            json!({"random": {"min": format!("{a}.0.0.1"), "max": format!("{a}.255.255.254")}})
        }
    };
    let (from, to) = if east { (48, 16) } else { (16, 48) };
    let (here, there) = if east { (2, 1) } else { (1, 2) };
    json!({
        "name": if east { "east-west" } else { "west-east" },
        "tx_port": usize::from(east),
        "rx_port": usize::from(!east),
        "headers": [
            {"type": "ethernet", "src": format!("02:00:00:00:00:0{here}"), "dst": format!("02:00:00:00:00:0{there}")},
            {"type": "ipv4", "src": net(from), "dst": net(to)},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": destination,
        "sizes": sizes,
        "flows": flows,
        "schedule": schedule,
    })
}

pub fn size(bytes: u32) -> Value {
    json!([{"size": bytes, "weight": 1}])
}

pub fn constant(duration_us: u64, bps: u64) -> Value {
    json!([{"name": "traffic", "duration_ns": duration_us * 1000, "from_bps": bps, "to_bps": bps}])
}

pub fn trial(streams: &[Value]) -> Value {
    json!({
        "seed": 1,
        "streams": streams,
        "ports": [
            {"mac": "02:00:00:00:00:01", "ipv4": "198.18.0.2", "ipv6": "2001:2:0:1::2"},
            {"mac": "02:00:00:00:00:02", "ipv4": "198.18.0.6", "ipv6": "2001:2:0:2::2"},
        ],
        "settle_ns": 1_000_000,
        "overtime_ns": 1_000_000,
        "drain_ns": 10_000_000,
        "sample_ns": 100_000,
    })
}

pub fn open(session: Value) -> Session {
    Session::open(serde_json::from_value(session).expect("a session")).expect("opens")
}

pub fn run_on(session: &mut Session, trial: Value) -> Outcome {
    let trial: TrialSpec = serde_json::from_value(trial).expect("a trial");
    session.prepare(trial).expect("fits");
    session.run().expect("runs")
}

pub fn run(session: Value, trial: Value) -> Outcome {
    run_on(&mut open(session), trial)
}

/// Nothing was wrong with the trial or the tester.
pub fn healthy(result: &TrialResult) {
    assert_eq!(result.invalid, []);
    assert_eq!((result.health.unsent, result.health.rx_dropped), (0, 0), "{:?}", result.health);
}
