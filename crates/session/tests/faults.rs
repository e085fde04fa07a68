//! Every fault that a device injects is found, and only those: exact counts, no tolerance.

use crate::common::*;
use netdyno_engine::result::StreamResult;
use netdyno_session::Outcome;
use serde_json::{Value, json};

/// 1 ms at half load: 5 * 10^6 bits, 7441 frames of 672 begin.
const OFFERED: u64 = 7441;

/// One stream west to east over a cross connect whose east port has this fault; with few flows (a wide
/// window each), many (a narrow one) and one.
fn each(fault: &Value, when: &Value, judge: impl Fn(&StreamResult, &Outcome)) {
    for flows in [1, 7, 100_000] {
        let faulty = with(cross_connect(), "impairments", json!([{"port": 1, "fault": fault, "when": when}]));
        let stream = stream(false, flows, json!("peer"), size(64), constant(1_000, TEN_GIGABIT / 2));
        let found = run(session("virtual", "wire", faulty), trial(&[stream]));
        let stream = found.trial.streams[0].clone();
        assert_eq!(stream.offered, OFFERED, "{flows} flows");
        assert_eq!(
            (stream.elsewhere, stream.beyond_window, found.trial.ports[1].foreign),
            (0, 0, 0),
            "{flows} flows"
        );
        judge(&stream, &found);
    }
}

fn kinds(stream: &StreamResult) -> (i64, u64, u64, u64) {
    (stream.lost, stream.duplicates, stream.out_of_order, stream.corrupted)
}

#[test]
fn lost_frames() {
    each(&json!("lose"), &json!({"every": {"every": 100, "first": 37}}), |stream, found| {
        // 37, 137, ... 7437.
        assert_eq!(kinds(stream), (75, 0, 0, 0));
        assert_eq!(found.devices[0].injected["lose"], 75);
        assert_eq!(stream.received, OFFERED - 75);
        // Frame 37 departs after 37 * 672 bits at 5 Gbit/s.
        assert_eq!(stream.first_loss_ns, Some(37 * 672 / 5));
    });
}

#[test]
fn lost_frames_by_chance() {
    each(
        &json!("lose"),
        &json!({"chance": {"parts": 1, "of": 50, "seed": 9}}),
        |stream, found| {
            let injected = found.devices[0].injected["lose"];
            assert!(injected > 50);
            assert_eq!(kinds(stream), (injected as i64, 0, 0, 0));
        },
    );
}

#[test]
fn the_first_and_the_last_frame_lost() {
    each(&json!("lose"), &json!({"frames": [0, OFFERED - 1]}), |stream, _| {
        assert_eq!(kinds(stream), (2, 0, 0, 0));
        assert_eq!(stream.first_loss_ns, Some(0));
    });
}

#[test]
fn duplicated_frames() {
    each(
        &json!("duplicate"),
        &json!({"every": {"every": 10, "first": 0}}),
        |stream, found| {
            assert_eq!(found.devices[0].injected["duplicate"], 745);
            assert_eq!(kinds(stream), (0, 745, 0, 0));
            assert_eq!(stream.received, OFFERED);
            assert_eq!(found.trial.ports[1].rx_frames, OFFERED + 745);
        },
    );
}

/// A frame overtaken by three others is one late frame of a single flow; of many flows none is late, as
/// the three are of other flows.
#[test]
fn reordered_frames() {
    each(
        &json!({"reorder": {"by": 3}}),
        &json!({"every": {"every": 100, "first": 50}}),
        |stream, found| {
            assert_eq!(found.devices[0].injected["reorder"], 74);
            let late = if stream.flows_received == 1 { 74 } else { 0 };
            assert_eq!(kinds(stream), (0, 0, late, 0));
        },
    );
}

#[test]
fn frames_overtaken_by_thousands_are_no_copies() {
    let faults = json!([
        {"port": 1, "fault": {"reorder": {"by": 3000}}, "when": {"frames": [100, 200]}},
        {"port": 1, "fault": "duplicate", "when": {"frames": [150]}},
    ]);
    let stream = stream(false, 1, json!("peer"), size(64), constant(1_000, TEN_GIGABIT / 2));
    let found = run(
        session("virtual", "wire", with(cross_connect(), "impairments", faults)),
        trial(&[stream]),
    );
    assert_eq!(kinds(&found.trial.streams[0]), (0, 1, 2, 0));
}

#[test]
fn corrupted_frames() {
    each(&json!("corrupt"), &json!({"every": {"every": 13, "first": 1}}), |stream, found| {
        // 1, 14, ... 7437.
        assert_eq!(found.devices[0].injected["corrupt"], 573);
        assert_eq!(kinds(stream), (0, 0, 0, 573));
        assert_eq!(stream.received, OFFERED - 573);
    });
}

#[test]
fn corrupted_frames_of_a_mix() {
    let mix = json!([{"size": 64, "weight": 7}, {"size": 570, "weight": 4}, {"size": 1518, "weight": 1}]);
    let faults = json!([{"port": 1, "fault": "corrupt", "when": {"every": {"every": 5, "first": 0}}}]);
    let stream = stream(false, 256, json!("peer"), mix, constant(10_000, TEN_GIGABIT));
    let found = run(
        session("virtual", "wire", with(cross_connect(), "impairments", faults)),
        trial(&[stream]),
    );
    let stream = &found.trial.streams[0];
    assert_eq!(kinds(stream), (0, 0, 0, stream.offered.div_ceil(5)));
}

#[test]
fn a_stall_delays_and_loses_nothing_while_the_queue_lasts() {
    each(
        &json!({"stall": {"for_ns": 20_000}}),
        &json!({"frames": [1000]}),
        |stream, found| {
            assert_eq!(found.devices[0].injected["stall"], 1);
            assert_eq!(kinds(stream), (0, 0, 0, 0));
            let latency = stream.latency.as_ref().expect("timed");
            assert_eq!(latency.min_ns, 5115);
            assert!((25_000..=25_115 + 68).contains(&latency.max_ns), "{}", latency.max_ns);
        },
    );
}

#[test]
fn all_faults_at_once_in_both_directions() {
    let faults = json!([
        {"fault": "lose", "when": {"frames": [10, 20, 30]}},
        {"fault": "duplicate", "when": {"frames": [40, 50]}},
        {"fault": {"reorder": {"by": 2}}, "when": {"frames": [60]}},
        {"fault": "corrupt", "when": {"frames": [70, 80, 90, 100]}},
    ]);
    let both = |east| stream(east, 1, json!("peer"), size(64), constant(1_000, TEN_GIGABIT / 2));
    let found = run(
        session("virtual", "wire", with(cross_connect(), "impairments", faults)),
        trial(&[both(false), both(true)]),
    );
    for stream in &found.trial.streams {
        assert_eq!(kinds(stream), (3, 2, 1, 4), "{}", stream.name);
    }
}

#[test]
fn frames_that_come_out_at_the_wrong_port_are_not_received() {
    // Both streams say they go to the east; what is sent there from the east comes out in the west.
    let mut stray = stream(true, 5, json!("written"), size(64), constant(1_000, TEN_GIGABIT / 2));
    stray["rx_port"] = json!(1);
    let right = stream(false, 5, json!("peer"), size(64), constant(1_000, TEN_GIGABIT / 2));
    let found = run(session("virtual", "wire", cross_connect()), trial(&[stray, right]));
    let [stray, right] = &found.trial.streams[..] else { panic!() };
    assert_eq!((stray.received, stray.elsewhere, stray.lost), (0, OFFERED, OFFERED as i64));
    assert_eq!((right.received, right.elsewhere, right.lost), (OFFERED, 0, 0));
    assert!(stray.latency.is_none());
}

#[test]
fn results_do_not_depend_on_how_far_time_jumps() {
    let faults = json!([
        {"fault": "lose", "when": {"chance": {"parts": 1, "of": 97, "seed": 3}}},
        {"fault": {"reorder": {"by": 5}}, "when": {"every": {"every": 31, "first": 4}}},
    ]);
    let mut slow = with(router(), "impairments", faults);
    slow["ports"][1]["in_fps"] = json!([3_000_000, 1]);
    slow["box_fps"] = json!([9_999_991, 3]);
    let mix = json!([{"size": 64, "weight": 7}, {"size": 570, "weight": 4}]);
    let ramp = json!([
        {"name": "warmup", "duration_ns": 100_000, "from_bps": 1_000_000_000, "to_bps": 1_000_000_000},
        {"name": "ramp", "duration_ns": 700_000, "from_bps": 0, "to_bps": TEN_GIGABIT},
        {"name": "hold", "duration_ns": 200_000, "from_bps": TEN_GIGABIT, "to_bps": TEN_GIGABIT},
    ]);
    let streams = [
        stream(false, 300, json!({"gateway": "198.18.0.1"}), size(64), ramp.clone()),
        stream(true, 30, json!({"gateway": "198.18.0.5"}), mix, ramp.clone()),
        stream(true, 3, json!({"gateway": "198.18.0.5"}), size(64), constant(500, TEN_GIGABIT / 10)),
    ];
    // The longest is cut to what answers allow: a router asks and is asked in this trial.
    let outcomes: Vec<Outcome> = [0, 1, 777, 8_000, 40_000, 10_000_000]
        .into_iter()
        .map(|quantum_ns| {
            let mut session = open(session("virtual", "wire", slow.clone()));
            session.set_quantum(netdyno_io::time::Duration::from_ns(quantum_ns));
            run_on(&mut session, trial(&streams))
        })
        .collect();
    assert!(
        outcomes[0]
            .trial
            .streams
            .iter()
            .all(|stream| stream.lost > 0 && stream.received > 0)
    );
    for outcome in &outcomes[1..] {
        assert_eq!(outcome, &outcomes[0]);
    }
}
