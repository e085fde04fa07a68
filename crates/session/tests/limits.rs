//! A tester with faults of its own, emulated: what it does is what the closed form of such a queue says, to the frame, and
//! what it counts of that is what it would count.

use crate::common::*;
use netdyno_session::spec::SessionSpec;
use netdyno_session::{Outcome, Session};
use serde_json::{Value, json};

/// One frame each microsecond for 10 ms.
const OFFERED: u64 = 10_000;
/// Half as many.
const HALF: [u64; 2] = [500_000, 1];

fn limited(port: usize, limit: Value) -> Value {
    let mut session = session("virtual", "wire", cross_connect());
    session["ports"][port]["limit"] = limit;
    session
}

/// The trial on such a session, the same however far time advances in a round.
fn measure(session: &Value) -> Outcome {
    let outcome = measure_for(session, 1_000_000);
    assert_eq!(outcome.trial.invalid, []);
    outcome
}

/// As [`measure`], sending what is late for so long after the end, ns.
fn measure_for(session: &Value, overtime_ns: u64) -> Outcome {
    let offered = || {
        let mut offered = trial(&[stream(false, 1, json!("peer"), size(64), constant(10_000, BITS_64 * 1_000_000))]);
        offered["overtime_ns"] = json!(overtime_ns);
        offered
    };
    let outcomes: Vec<Outcome> = [1, 7_000, 45_000]
        .into_iter()
        .map(|quantum_ns| {
            let mut session = open(session.clone());
            session.set_quantum(netdyno_io::time::Duration::from_ns(quantum_ns));
            run_on(&mut session, offered())
        })
        .collect();
    for other in &outcomes[1..] {
        // How often a port had no room, or none left, is how often it was asked.
        let mut other = other.clone();
        other.trial.health.tx_full = outcomes[0].trial.health.tx_full;
        other.trial.health.rx_full = outcomes[0].trial.health.rx_full;
        other.trial.health.rx_full_ns = outcomes[0].trial.health.rx_full_ns;
        for (port, first) in other.trial.ports.iter_mut().zip(&outcomes[0].trial.ports) {
            port.rx_full_spans.clone_from(&first.rx_full_spans);
        }
        assert_eq!(other, outcomes[0]);
    }
    assert_eq!(outcomes[0].trial.streams[0].intended, OFFERED);
    outcomes.into_iter().next().expect("there were some")
}

/// D/D/1/K+1 with a service of 2 us and a frame each microsecond: by the last arrival, 9,999 us after the first, 4,999 are
/// done, one is served and `room` wait.
fn served(room: u64) -> u64 {
    4_999 + 1 + room
}

/// The schedule ends after 10 ms, and a tester catches up for 1 ms: frame k leaves after 2 us x k.
#[test]
fn a_sender_that_is_too_slow_leaves_frames_unsent() {
    let found = measure(&limited(0, json!({"tx": {"fps": HALF}})));
    let stream = &found.trial.streams[0];
    assert_eq!((stream.offered, stream.received, stream.lost), (5_501, 5_501, 0));
    assert_eq!(found.trial.health.unsent, OFFERED - 5_501);
    // Frame 5,500 was due after 5.5 ms and left after 11.
    assert_eq!(found.trial.health.latest_departure_ns, 5_500_000);
    // Frames say when they really left: none was longer on its way than on an idle device.
    let times = stream.latency.as_ref().map(|latency| (latency.min_ns, latency.max_ns));
    assert_eq!(times, Some((5115, 5115)));
}

#[test]
fn a_sender_that_pauses_is_late_by_the_pause_and_catches_up_at_line_rate() {
    // The traffic begins after the settling, 1 ms of this trial; the pause is in it.
    let pauses = json!({"first_ns": 4_000_000, "every_ns": 1_000_000_000, "for_ns": 2_000_000});
    let found = measure(&limited(0, json!({"tx": {"pauses": pauses}})));
    let stream = &found.trial.streams[0];
    assert_eq!((stream.offered, stream.lost), (OFFERED, 0));
    assert_eq!(found.trial.health.latest_departure_ns, 2_000_000);
    // An idle device, and a line that takes them one after the other.
    assert_eq!(stream.latency.as_ref().map(|latency| latency.max_ns), Some(5115));
    // 2,000 frames come late, while 0.0672 more are due with each: the sample of 0.1 ms behind the pause is full: 1488.1 fit.
    assert_eq!(stream.tx.iter().max(), Some(&1489));
}

/// Away from 9.5 ms of the traffic on: what is owed when it is back, 500 frames at most, leaves one frame each 67.2 ns, and
/// what has not begun to when the overtime is over stays unsent.
#[test]
fn what_is_late_at_the_end_is_sent_within_the_overtime() {
    for (away_ns, overtime_ns, late) in [
        // 33.5 us of frames, and half a millisecond is left.
        (1_000_000, 1_000_000, 500),
        // 10 us are left: 67.2 ns fit 148 times, and the first frame leaves at once.
        (1_490_000, 1_000_000, 149),
        (990_000, 500_000, 149),
        (1_600_000, 1_000_000, 0),
        (1_600_000, 2_000_000, 500),
        (1_000_000, 0, 0),
    ] {
        let what = format!("away for {away_ns} ns, {overtime_ns} ns over time");
        let pauses = json!({"first_ns": 10_500_000, "every_ns": 1_000_000_000, "for_ns": away_ns});
        let found = measure_for(&limited(0, json!({"tx": {"pauses": pauses}})), overtime_ns).trial;
        let stream = &found.streams[0];
        assert_eq!(
            (stream.offered, stream.received, stream.lost),
            (9_500 + late, 9_500 + late, 0),
            "{what}"
        );
        assert_eq!(found.health.unsent, 500 - late, "{what}");
        let lag = stream.lag.as_ref().expect("frames left");
        assert_eq!((lag.count, lag.late), (9_500 + late, late), "{what}");
        // The first one is the latest: each further one was due 1 us after the one before, and leaves 67.2 ns after it.
        let latest = if late > 0 { away_ns } else { 0 };
        assert_eq!((lag.max_ns, found.health.latest_departure_ns), (latest, latest), "{what}");
        let sum = (0..late).map(|k| (away_ns * 1000 - k * 932_800) / 1000).sum::<u64>();
        assert_eq!(lag.sum_ns, u128::from(sum), "{what}");
    }
}

#[test]
fn a_sender_whose_frames_vanish_says_nothing_of_it() {
    for room in [0, 100] {
        let found = measure(&limited(0, json!({"tx": {"fps": HALF, "room": room, "silent": true}})));
        let stream = &found.trial.streams[0];
        assert_eq!((stream.offered, stream.received), (OFFERED, served(room)));
        assert_eq!(found.devices[0].ports[0].rx_frames, served(room), "the device never saw the others");
        assert_eq!(found.trial.health.latest_departure_ns, 0, "nobody waits for room");
        assert_eq!(
            (found.trial.health.unsent, found.trial.health.rx_dropped, found.trial.health.tx_full),
            (0, 0, 0)
        );
    }
}

#[test]
fn a_receiver_that_is_too_slow_drops_and_counts() {
    for room in [0, 64] {
        let found = measure(&limited(1, json!({"rx": {"fps": HALF, "room": room}})));
        let stream = &found.trial.streams[0];
        assert_eq!((stream.offered, stream.received), (OFFERED, served(room)));
        assert_eq!(found.trial.health.rx_dropped, OFFERED - served(room));
        let silent = measure(&limited(1, json!({"rx": {"fps": HALF, "room": room, "silent": true}})));
        assert_eq!(silent.trial.streams, found.trial.streams);
        assert_eq!(silent.trial.health.rx_dropped, 0);
    }
}

#[test]
fn what_is_lost_without_a_trace_may_be_noticed_all_the_same() {
    let half = json!({"fps": HALF, "room": 10, "silent": true, "noticed": true});
    let found = measure(&limited(0, json!({"tx": half})));
    assert_eq!(found.trial.streams[0].offered, OFFERED, "handed over, all of them");
    assert_eq!(found.trial.health.tx_dropped, OFFERED - served(10));
    assert_eq!(found.trial.health.rx_full, 0);
    let found = measure(&limited(1, json!({"rx": half})));
    assert_eq!(found.trial.streams[0].received, served(10));
    assert_eq!((found.trial.health.rx_dropped, found.trial.health.tx_dropped), (0, 0));
    assert!(found.trial.health.rx_full > 0);
    // A frame comes each microsecond: no more are missing than came in the reported time, and one a look.
    let health = &found.trial.health;
    let full_ns = health.rx_full_ns.expect("is known");
    assert!((1..11_000_000).contains(&full_ns), "{full_ns} ns");
    assert!(OFFERED - served(10) <= full_ns / 1000 + health.rx_full, "{full_ns} ns");
}

/// A frame each microsecond, and a pause of half a millisecond from 4 ms of traffic on: its ring of ten is full 12 us later,
/// until it ends. Each frame that is lost may be a look.
#[test]
fn when_a_ring_was_full_is_dated() {
    let pauses = json!({"first_ns": 4_000_500, "every_ns": 1_000_000_000, "for_ns": 500_000});
    let own = json!({"pauses": pauses, "room": 10, "silent": true, "noticed": true});
    let found = measure(&limited(1, json!({"rx": own})));
    let spans = &found.trial.ports[1].rx_full_spans;
    assert_eq!(found.trial.ports[0].rx_full_spans.len(), 0, "it received nothing");
    let (first, last) = (spans[0][0], spans[spans.len() - 1][1]);
    assert!((487_000..489_200).contains(&(last - first)), "{spans:?}");
    assert!(
        spans
            .windows(2)
            .all(|pair| pair[0][1] < pair[1][0] && pair[1][0] < pair[0][1] + 20_000),
        "{spans:?}"
    );
}

#[test]
fn a_receiver_that_pauses_keeps_what_its_ring_holds() {
    let pauses = json!({"first_ns": 4_000_500, "every_ns": 1_000_000_000, "for_ns": 500_000});
    for (room, kept) in [(63, 64), (999, 500)] {
        let found = measure(&limited(1, json!({"rx": {"room": room, "pauses": pauses}})));
        // 500 frames arrive in the pause.
        assert_eq!(found.trial.health.rx_dropped, 500 - kept);
        assert_eq!(found.trial.streams[0].lost as u64, 500 - kept);
    }
}

#[test]
fn a_loop_between_limited_ports_shows_what_the_tester_can_do_itself() {
    let spec = json!({
        "clock": "virtual",
        "ports": [
            {"name": "west", "backend": {"kind": "wire"}},
            {"name": "east", "backend": {"kind": "wire"}, "limit": {"rx": {"fps": HALF, "room": 10, "silent": true}}},
        ],
        "loops": [{"ports": [0, 1], "rate_bps": TEN_GIGABIT}],
    });
    assert_eq!(measure(&spec).trial.streams[0].received, served(10));
}

#[test]
fn what_can_never_be_is_refused() {
    let refused = |spec: Value| {
        let spec: SessionSpec = serde_json::from_value(spec).expect("well-formed");
        Session::open(spec).expect_err("refused").to_string()
    };
    assert!(refused(limited(0, json!({"tx": {"fps": [0, 1]}}))).contains("nothing would ever pass"));
    let asleep = json!({"tx": {"pauses": {"first_ns": 0, "every_ns": 10, "for_ns": 10}}});
    assert!(refused(limited(0, asleep)).contains("nothing would ever pass"));
    let mut real = session("real", "ring", cross_connect());
    real["ports"][0]["limit"] = json!({"rx": {"fps": HALF}});
    assert!(refused(real).contains("in virtual time only"));
}
