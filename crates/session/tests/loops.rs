//! Two tester ports joined with nothing between them.

use crate::common::*;
use netdyno_session::Session;
use serde_json::{Value, json};

fn looped(clock: &str, backend: &str) -> Value {
    let port = |name: &str| json!({"name": name, "backend": {"kind": backend}, "spacing": true});
    json!({
        "clock": clock,
        "ports": [port("west"), port("east")],
        "loops": [{"ports": [0, 1], "rate_bps": TEN_GIGABIT, "delay_ps": 3_000_000}],
    })
}

fn refused(spec: Value) -> String {
    let spec = serde_json::from_value(spec).expect("reads");
    Session::open(spec).expect_err("refused").reason.text
}

#[test]
fn on_a_wire_spacing_and_latency_are_those_of_the_line() {
    let load = BITS_64 * 1_000_000;
    let spec = trial(&[stream(false, 4, json!("peer"), size(64), constant(1000, load))]);
    let found = run(looped("virtual", "wire"), spec);
    let [stream] = &found.trial.streams[..] else { panic!("one stream") };
    // A millisecond at a million frames a second.
    assert_eq!((stream.intended, stream.received, stream.lost), (1000, 1000, 0));
    // 8 bytes of preamble and 64 of frame at 10 Gbit/s, and 3 us of cable, rounded down.
    let latency = stream.latency.as_ref().expect("timed");
    assert_eq!(latency.min_ns, 3057);
    assert_eq!(latency.min_ns, latency.max_ns);
    let [[west], [east]] = &found.spacing.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] else {
        panic!("{:?}", found.spacing)
    };
    assert_eq!((west.frames, east.frames), (0, 1000));
    for gaps in [&east.departures, &east.arrivals] {
        // Each frame a microsecond after the one before it: 999 gaps, and so their squares.
        assert_eq!(gaps.last_ps - gaps.first_ps, 999_000_000);
        assert_eq!(gaps.squares_ps2, 999 * 1_000_000 * 1_000_000);
        assert_eq!(
            (gaps.longest_ps, gaps.bursts, gaps.longest_burst, gaps.backwards),
            (1_000_000, 1000, 1, 0)
        );
    }
}

#[test]
fn a_ring_is_its_own_far_end_and_each_trial_is_noted_by_itself() {
    let mut session = open(looped("real", "ring"));
    for _ in 0..2 {
        let both = |east| stream(east, 16, json!("peer"), size(64), constant(20_000, BITS_64 * 50_000));
        let found = run_on(&mut session, trial(&[both(false), both(true)]));
        for (stream, spacing) in found.trial.streams.iter().zip(found.spacing.iter().rev()) {
            let [spacing] = &spacing[..] else { panic!("{spacing:?}") };
            assert_eq!((stream.lost, stream.received), (0, spacing.frames));
            assert!(spacing.arrivals.first_ps >= spacing.departures.first_ps);
            assert!(spacing.departures.bursts <= spacing.frames && spacing.departures.longest_burst >= 1);
            assert_eq!(spacing.departures.backwards + spacing.arrivals.backwards, 0);
        }
    }
}

/// Each worker's share is noted by itself, and the shares together are what one worker sends.
#[test]
fn spacing_is_noted_of_each_queue_of_a_port() {
    let mut spec = looped("real", "ring");
    spec["workers"] = json!(2);
    let mut session = open(spec);
    let one = trial(&[stream(false, 64, json!("peer"), size(64), constant(20_000, BITS_64 * 50_000))]);
    let found = run_on(&mut session, one);
    let stream = &found.trial.streams[0];
    let [west, east] = &found.spacing[..] else {
        panic!("{:?}", found.spacing)
    };
    assert_eq!((west.len(), east.len()), (2, 2));
    assert!(west.iter().all(|queue| queue.frames == 0));
    assert_eq!(east.iter().map(|queue| queue.frames).sum::<u64>(), stream.received);
    if stream.received == 1000 {
        // 64 flows in runs of 32 or fewer, turn by turn: each has half of the frames.
        assert!(east.iter().all(|queue| queue.frames.abs_diff(500) <= 32), "{east:?}");
    }
    for queue in east {
        // What a worker sent on its queue came to the same queue of the other end, in its order.
        assert_eq!((queue.departures.backwards, queue.arrivals.backwards), (0, 0));
    }
}

#[test]
fn a_loop_that_cannot_be_is_refused_with_its_place() {
    let mut spec = looped("real", "ring");
    spec["loops"][0]["ports"] = json!([0, 0]);
    assert_eq!(refused(spec.clone()), "loops[0]: port `west` is joined to itself");
    spec["loops"][0]["ports"] = json!([0, 2]);
    assert_eq!(refused(spec.clone()), "loops[0]: there is no port 2");
    spec["loops"] = json!([]);
    assert_eq!(refused(spec.clone()), "port `west`: a `ring` port has 1 link(s), here 0");
    let mut spec = looped("real", "ring");
    spec["ports"][1]["backend"] = json!({"kind": "null"});
    assert_eq!(
        refused(spec),
        "loops[0]: ports `west` and `east` are of other kinds, `ring` and `null`"
    );
    let mut spec = looped("real", "ring");
    spec["loops"] = json!([spec["loops"][0], spec["loops"][0]]);
    assert_eq!(refused(spec), "port `west`: a `ring` port has 1 link(s), here 2");
}
