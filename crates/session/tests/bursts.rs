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
    assert!(refused(null.clone(), fast).contains("a load of 500000000 bit/s on a line of 100000000"));
    assert!(refused(narrow(8), load(0)).contains("a burst of no frames"));
    let mut beyond = load(32);
    beyond["ports"][0]["line_bps"] = json!(u64::MAX);
    assert!(refused(null, beyond).contains("a line of over 10 Tbit/s"));
    let mut known = narrow(8);
    let twenty_terabit = json!(2 * 10_u64.pow(13));
    known["links"][0]["rate_bps"] = twenty_terabit.clone();
    known["devices"][0]["ports"][0]["rate_bps"] = twenty_terabit;
    let why = refused(known, load(32));
    assert!(why.contains("which is over 10 Tbit/s"), "{why}");
}

/// In real time too a burst is what is declared; the engine's tests show it round by round on a clock of their own. On the real
/// one: 117 bursts of 64 begin 86 us after each other and take 4.3 us. The squares of the gaps between frames are 116 x (82 us)^2
/// = 780,000 us^2 then, and 116 x (39 us)^2 = 176,000 us^2 if all of them are made up for; frame by frame, 7440 x (1.34 us)^2 =
/// 13,000 us^2. That of the longest pause of the tester is left out.
#[test]
fn in_real_time_bursts_are_sent_as_declared() {
    let port = |name: &str| json!({"name": name, "backend": {"kind": "ring"}, "spacing": true});
    let looped = json!({
        "clock": "real",
        "ports": [port("west"), port("east")],
        "loops": [{"ports": [0, 1], "rate_bps": TEN_GIGABIT, "delay_ps": 0}],
    });
    let mut spec = load(64);
    spec["ports"][0]["line_bps"] = json!(TEN_GIGABIT);
    let found = run(looped, spec);
    let (stream, health) = (&found.trial.streams[0], &found.trial.health);
    assert_eq!(stream.offered + health.unsent, 7441);
    let departures = &found.spacing[1][0].departures;
    if stream.received < 7441 {
        println!("the tester was preempted for too long to send all, or to receive it: {health:?}");
        return;
    }
    assert!(
        departures.squares_ps2 > 500_000 * 1_000_000 * 1_000_000,
        "{departures:?}, {health:?}"
    );
    let caught = health.catch_up.as_ref().expect("in real time");
    assert!(caught.most_in_round <= 64 || health.latest_departure_ns > 80_000, "{health:?}");
}
