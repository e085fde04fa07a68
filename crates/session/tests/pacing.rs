//! A constant rate in real time: every frame leaves, none before its time, and what was sent late is known. Only relations
//! hold, whatever the machine is doing.

use crate::common::*;
use serde_json::{Value, json};

/// A tester whose frames nobody receives.
fn null(workers: usize) -> Value {
    let port = |name: &str| json!({"name": name, "backend": {"kind": "null"}});
    json!({"clock": "real", "workers": workers, "ports": [port("west"), port("east")]})
}

#[test]
fn a_constant_rate_is_sent_whole_and_its_lags_are_counted() {
    for workers in [1, 2] {
        // 100 ms at 500,000 frames a second.
        let lane = stream(false, 1000, json!("peer"), size(64), constant(100_000, BITS_64 * 500_000));
        let found = run(null(workers), trial(&[lane]));
        let (stream, health) = (&found.trial.streams[0], &found.trial.health);
        assert_eq!(found.trial.invalid, []);
        assert_eq!(stream.intended, 50_000);
        assert_eq!(stream.offered + health.unsent, stream.intended);
        let Some(lag) = &stream.lag else {
            assert_eq!(stream.offered, 0, "the tester was away all the time");
            continue;
        };
        assert_eq!((lag.count, lag.limit_ns), (stream.offered, 10_000));
        assert_eq!(lag.max_ns, health.latest_departure_ns);
        assert!(lag.max_ns <= lag.limit_ns || lag.late > 0, "{lag:?}");
        assert!(lag.max_ns >= lag.limit_ns || lag.late == 0, "{lag:?}");
        // A frame waits for the end of the longest pause, and for what had to leave before it: no more than was due in
        // that pause. Where pauses follow each other they add up.
        let pauses = health.longest_gap_ns.max(100_000) * 10;
        assert!(lag.max_ns <= pauses, "{lag:?} {health:?}");
        // Sending ends when the last frame left, and that is no later than it lagged; or it is given up after 1 % more time, as
        // soon as a worker that was away looks.
        let traffic = found.trial.phases.iter().find(|phase| phase.name == "traffic").expect("traffic");
        let more_ns = if health.unsent == 0 {
            lag.max_ns + 1
        } else {
            1_000_000 + health.longest_gap_ns
        };
        assert!(
            traffic.duration_ns >= 100_000_000 && traffic.duration_ns <= 100_000_000 + more_ns,
            "{traffic:?}"
        );
    }
}

#[test]
fn in_virtual_time_nothing_lags_but_what_waits_for_the_line() {
    let lane = |bps| stream(false, 10, json!("peer"), size(64), constant(10_000, bps));
    let found = run(session("virtual", "wire", cross_connect()), trial(&[lane(TEN_GIGABIT / 2)]));
    let lag = found.trial.streams[0].lag.as_ref().expect("frames were sent");
    assert_eq!((lag.count, lag.max_ns, lag.late), (found.trial.streams[0].offered, 0, 0));
    // Two streams of half the line each, frame for frame at the same time: one of each two waits for the other, 67.2 ns.
    let found = run(session("virtual", "wire", cross_connect()), {
        let mut spec = trial(&[lane(TEN_GIGABIT / 2), lane(TEN_GIGABIT / 2)]);
        spec["streams"][1]["name"] = json!("second");
        spec
    });
    let [first, second] = &found.trial.streams[..] else {
        panic!("two streams")
    };
    let lags = [first, second].map(|stream| stream.lag.as_ref().expect("frames were sent"));
    assert_eq!(lags.map(|lag| (lag.min_ns, lag.max_ns, lag.late)), [(0, 0, 0), (67, 67, 0)]);
    assert_eq!(lags[1].sum_ns, 67 * u128::from(second.offered));
}

/// A frame of 1518 bytes takes 1538 on the line, 1230.4 ns at 10 Gbit/s. Of a dozen streams of one port that are due at once the
/// last leaves eleven frames later, over 10 us: that is how one line carries the load asked for. More than the line carries is
/// late, whoever else sends.
#[test]
fn streams_that_share_a_line_are_not_late_for_the_frames_of_the_others() {
    let found = |bps: u64| {
        let lane = |number: usize| {
            let mut lane = stream(false, 1, json!("peer"), size(1518), constant(1_000, bps));
            lane["name"] = json!(format!("stream {number}"));
            lane
        };
        let lanes: Vec<Value> = (0..12).map(lane).collect();
        let streams = run(session("virtual", "wire", cross_connect()), trial(&lanes)).trial.streams;
        streams
            .into_iter()
            .map(|stream| stream.lag.expect("frames were sent"))
            .collect::<Vec<_>>()
    };
    let (half, over) = (found(TEN_GIGABIT / 24), found(TEN_GIGABIT / 10));
    for (others, lag) in half.iter().enumerate() {
        assert_eq!(
            (lag.min_ns, lag.max_ns, lag.late),
            (others as u64 * 12_304 / 10, others as u64 * 12_304 / 10, 0)
        );
        assert_eq!(lag.limit_ns, 11 * 12_304 / 10);
    }
    assert!(over.iter().any(|lag| lag.late > 0));
}
