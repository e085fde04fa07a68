//! Bursts of a declared length through a device with a small buffer and a slower line behind it: it loses of each burst
//! exactly what does not fit, and nothing at all of the same load frame by frame.

use crate::common::*;
use serde_json::{Value, json};

const GIGABIT: u64 = 1_000_000_000;

/// From 10 Gbit/s to 1 Gbit/s, where so many frames wait.
fn narrow(queue: u32) -> Value {
    let mut device = cross_connect();
    device["ports"][1]["rate_bps"] = json!(GIGABIT);
    device["ports"][1]["out_queue"] = json!(queue);
    let mut session = session("virtual", "wire", device);
    session["links"][1]["rate_bps"] = json!(GIGABIT);
    session
}

/// Half a gigabit per second of 64-byte frames for 10 ms: 7441 of them.
fn load(burst: u32) -> Value {
    let mut stream = stream(false, 7, json!("peer"), size(64), constant(10_000, GIGABIT / 2));
    stream["burst"] = json!(burst);
    trial(&[stream])
}

/// Frames come each 67.2 ns and leave each 672 ns. When the last of a burst comes, so many have left, one is leaving and the
/// queue is full: no other was kept. The queue is empty again before the next burst, 1344 ns x its length after the first.
#[test]
fn of_each_burst_is_lost_what_the_buffer_does_not_hold() {
    for (burst, queue, kept) in [
        (64, 16, 6 + 1 + 16),     // 63 x 67.2 = 4233.6 ns: 6 have left
        (16, 8, 1 + 1 + 8),       // 15 x 67.2 = 1008 ns: 1 has
        (256, 100, 25 + 1 + 100), // 255 x 67.2 = 17136 ns: 25 have
        (16, 64, 16),             // all of it fits
    ] {
        let found = run(narrow(queue), load(burst));
        let stream = &found.trial.streams[0];
        assert_eq!((stream.offered, found.trial.health.unsent), (7441, 0));
        // What is left of the load when the last whole burst is sent is one that fits.
        let whole = 7441 / u64::from(burst);
        assert!(7441 % u64::from(burst) <= kept);
        let lost = whole * (u64::from(burst) - kept);
        assert_eq!(stream.lost as u64, lost, "bursts of {burst}, {queue} wait");
        assert_eq!(found.devices[0].ports[1].out_drops, lost, "the device says so too");
        // In virtual time each frame leaves when it should, on a line that holds one after the other.
        assert_eq!(found.trial.health.latest_departure_ns, 0);
    }
}

#[test]
fn the_same_load_frame_by_frame_loses_nothing() {
    let found = run(narrow(8), load(1));
    assert_eq!((found.trial.streams[0].offered, found.trial.streams[0].lost), (7441, 0));
}

/// The last of a burst waits for all before it: 1 ns short of 672 ns x 31 less the 67.2 ns x 31 it came later.
#[test]
fn what_a_burst_waits_is_its_closed_form() {
    let latency = |burst| run(narrow(64), load(burst)).trial.streams[0].latency.clone().expect("timed");
    let (alone, together) = (latency(1), latency(32));
    assert_eq!(together.min_ns, alone.min_ns);
    assert_eq!(alone.max_ns, alone.min_ns);
    // 31 x (672 - 67.2) = 18748.8.
    assert!(
        (18_748..=18_749).contains(&(together.max_ns - alone.max_ns)),
        "{together:?} {alone:?}"
    );
}

#[test]
fn a_burst_needs_a_line_to_be_at_the_rate_of() {
    let refused = |session: Value, trial: Value| {
        let trial = serde_json::from_value(trial).expect("a trial");
        open(session).prepare(trial).expect_err("refused").to_string()
    };
    let null =
        json!({"clock": "real", "ports": [{"name": "west", "backend": {"kind": "null"}}, {"name": "east", "backend": {"kind": "null"}}]});
    assert!(refused(null.clone(), load(32)).contains("the rate of port `west` is not known"));
    let mut fast = load(32);
    fast["ports"][0]["line_bps"] = json!(100_000_000);
    assert!(refused(null, fast).contains("a load of 500000000 bit/s on a line of 100000000"));
    assert!(refused(narrow(8), load(0)).contains("a burst of no frames"));
}

/// By the clock too a burst is what is declared: as many frames leave, and none of one before its time.
#[test]
fn in_real_time_bursts_are_sent_as_declared() {
    let mut spec = load(64);
    spec["ports"][0]["line_bps"] = json!(TEN_GIGABIT);
    let null =
        json!({"clock": "real", "ports": [{"name": "west", "backend": {"kind": "null"}}, {"name": "east", "backend": {"kind": "null"}}]});
    let found = run(null, spec);
    let (stream, health) = (&found.trial.streams[0], &found.trial.health);
    assert_eq!(stream.offered + health.unsent, 7441);
    let caught = health.catch_up.as_ref().expect("in real time");
    // More leave at once only where the tester was late.
    assert!(caught.most_in_round <= 64 || health.latest_departure_ns > 4_000, "{health:?}");
    assert!(caught.most_in_round >= 1);
}
