//! The trial finds what the closed form says, exactly.

use crate::common::*;
use netdyno_session::truth;
use serde_json::{Value, json};

fn agrees(device: &Value, trial: &Value) -> u64 {
    let lab = session("virtual", "wire", device.clone());
    let read = |value: &Value| serde_json::from_value(value.clone()).expect("reads");
    let expected = truth(
        &read(device),
        &serde_json::from_value(lab.clone()).expect("reads"),
        &serde_json::from_value(trial.clone()).expect("reads"),
    )
    .expect("has a closed form");
    let found = run(lab, trial.clone());
    healthy(&found.trial);
    let mut lost = 0;
    for (found, expected) in found.trial.streams.iter().zip(&expected.streams) {
        let counts = (found.offered, found.received, found.lost, found.duplicates, found.corrupted);
        let truth = (
            expected.offered,
            expected.received,
            expected.lost as i64,
            expected.duplicates,
            expected.corrupted,
        );
        assert_eq!(counts, truth, "{}", found.name);
        if let Some(late) = expected.out_of_order {
            assert_eq!(found.out_of_order, late);
        }
        if let (Some(min), Some(max), Some(latency)) = (expected.latency_min_ns, expected.latency_max_ns, &found.latency) {
            assert_eq!((latency.min_ns, latency.max_ns), (min, max));
        }
        lost += expected.lost;
    }
    lost
}

#[test]
fn capacities_queues_and_faults_are_found_as_the_closed_form_has_them() {
    let mut lost = 0;
    for flows in [1, 1000] {
        for load in [TEN_GIGABIT, 7_777_777_777, 1_000_000_000] {
            let trial = trial(&[stream(false, flows, json!("peer"), size(64), constant(3_000, load))]);
            let with_in = |fps: Value| {
                let mut device = cross_connect();
                device["ports"][0]["in_fps"] = fps;
                device
            };
            lost += agrees(&cross_connect(), &trial);
            lost += agrees(&with_in(json!([10_000_000, 1])), &trial);
            lost += agrees(&with(cross_connect(), "box_fps", json!([22_222_223, 3])), &trial);
            let faults = json!([{"port": 1, "fault": "lose", "when": {"every": {"every": 11, "first": 3}}}]);
            lost += agrees(&with(cross_connect(), "impairments", faults), &trial);
        }
    }
    assert!(lost > 10_000, "the devices were overloaded: {lost}");
}

#[test]
fn ramps_are_reckoned_frame_by_frame() {
    let ramp = json!([{"name": "ramp", "duration_ns": 3_000_000, "from_bps": 0, "to_bps": TEN_GIGABIT}]);
    let trial = trial(&[stream(false, 1000, json!("peer"), size(64), ramp)]);
    let mut device = cross_connect();
    device["ports"][0]["in_fps"] = json!([9_000_000, 1]);
    assert!(agrees(&device, &trial) > 1000);
}
