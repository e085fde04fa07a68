//! How far virtual time advances in a round shows in no result, up to the most that a session allows.

use netdyno_io::time::Duration;
use netdyno_session::{Outcome, Session};
use serde_json::{Value, json};

const TEN_GIGABIT: u64 = 10_000_000_000;

/// 2 ms of 64-byte frames at line rate, from the first port to the second of a device with this forwarding.
fn outcomes(forwarding: &Value, destination: &Value, settle_ns: u64) -> Vec<Outcome> {
    let port = |index: u8| {
        json!({
            "name": format!("p{index}"), "mac": format!("02:00:00:00:02:0{index}"), "rate_bps": TEN_GIGABIT,
            "ipv4": format!("100.64.{index}.1/30"),
        })
    };
    let link = |index: u8| json!({"port": index, "device": 0, "device_port": index, "rate_bps": TEN_GIGABIT});
    let ours = |index: u8| json!({"mac": format!("02:00:00:00:01:0{index}"), "ipv4": format!("100.64.{index}.2")});
    let backend = |index: u8| json!({"name": format!("t{index}"), "backend": {"kind": "wire"}});
    let session = json!({
        "clock": "virtual", "ports": [backend(0), backend(1)], "links": [link(0), link(1)],
        "devices": [{"name": "dut", "ports": [port(0), port(1)], "forwarding": forwarding, "delay_ns": 5_000}],
    });
    let trial = json!({
        "seed": 1, "settle_ns": settle_ns, "drain_ns": 10_000_000, "sample_ns": 1_000_000, "ports": [ours(0), ours(1)],
        "streams": [{
            "name": "s", "tx_port": 0, "rx_port": 1, "flows": 1, "destination": destination,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:01:00", "dst": "02:00:00:00:01:01"},
                {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1, "dport": 2},
            ],
            "sizes": [{"size": 64, "weight": 1}],
            "schedule": [{"name": "t", "duration_ns": 2_000_000, "from_bps": TEN_GIGABIT, "to_bps": TEN_GIGABIT}],
        }],
    });
    // As it is, shorter ones, and more than is allowed, which is cut to that.
    [None, Some(1_000), Some(8_000), Some(49_000), Some(10_000_000)]
        .into_iter()
        .map(|quantum_ns| {
            let mut session = Session::open(serde_json::from_value(session.clone()).expect("a session")).expect("opens");
            if let Some(ns) = quantum_ns {
                session.set_quantum(Duration::from_ns(ns));
            }
            session
                .prepare(serde_json::from_value(trial.clone()).expect("a trial"))
                .expect("fits");
            session.run().expect("runs")
        })
        .collect()
}

fn are_the_same(outcomes: &[Outcome]) {
    for outcome in &outcomes[1..] {
        assert_eq!(outcome, &outcomes[0]);
    }
}

/// The router asks for the receiving port only when the first frame has come: what it holds and drops until the answer is
/// there depends on when that is.
#[test]
fn answer_comes_equally_late_in_any_round() {
    let forwarding = json!({
        "kind": "router",
        "routes": [{"prefix": "16.0.0.0/8", "via": "100.64.0.2"}, {"prefix": "48.0.0.0/8", "via": "100.64.1.2"}],
    });
    let outcomes = outcomes(&forwarding, &json!({"gateway": "100.64.0.1"}), 10_000_000);
    assert!(outcomes[0].devices[0].no_route > 0, "the router had to ask");
    are_the_same(&outcomes);
}

/// Settling shorter than a round: the first frame, as every other, takes its 57.6 ns on each line (67.2 less the gap of
/// 9.6) and the delay.
#[test]
fn traffic_begins_on_time_in_any_round() {
    let outcomes = outcomes(&json!({"kind": "cross-connect", "pairs": [[0, 1]]}), &json!("peer"), 10_000);
    let latency = outcomes[0].trial.streams[0].latency.clone().expect("frames were timed");
    assert_eq!((latency.min_ns, latency.max_ns), (5_115, 5_115));
    are_the_same(&outcomes);
}
