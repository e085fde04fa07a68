//! What happens to emulated devices in a trial, on the traffic's time.

use crate::common::*;
use netdyno_engine::result::TrialResult;
use netdyno_session::TrialSpec;
use netdyno_session::spec::Event;
use serde_json::{Value, json};

/// What a trial of 1 ms at line rate finds on a router that takes 200 us for a reset, in steps of so many nanoseconds; the
/// session before it may have been through other trials.
fn found(device: &Value, events: &Value, quantum_us: u64, before: usize) -> TrialResult {
    let mut session = open(session("virtual", "wire", device.clone()));
    session.set_quantum(netdyno_io::time::Duration::from_us(quantum_us));
    let trial = trial(&[stream(false, 1, json!("peer"), size(64), constant(1000, TEN_GIGABIT))]);
    for _ in 0..before {
        healthy(&run_on(&mut session, trial.clone()).trial);
    }
    let spec: TrialSpec = serde_json::from_value(trial).expect("a trial");
    session.prepare(spec).expect("fits");
    let events: Vec<Event> = serde_json::from_value(events.clone()).expect("events");
    session.expect(events).expect("fits");
    session.run().expect("runs").trial
}

/// 64 bytes at line rate: frame `k` departs at 67.2 k ns and is in after 57.6 ns; the first that is lost is the first to
/// begin to leave, 5 us later, after 400 us, and the last the last to be in by 600 us.
#[test]
fn a_reset_comes_at_its_time_of_the_traffic() {
    let device = with(cross_connect(), "reset_ns", json!(200_000));
    let reset = json!([{"at_ns": 400_000, "kind": "reset"}]);
    let first = (400_000_000 - 5_057_600) / 67_200 + 1;
    let last = (600_000_000 - 57_600) / 67_200;
    let expected = last - first + 1;
    for (quantum, before) in [(1, 0), (7, 0), (32, 0), (32, 2)] {
        let found = found(&device, &reset, quantum, before);
        healthy(&found);
        assert_eq!(found.streams[0].lost, i64::from(expected), "steps of {quantum} us");
        let loss = found.streams[0].first_loss_ns.expect("there is one");
        assert_eq!(loss, (u64::from(first as u32) * 67_200) / 1000);
    }
}

#[test]
fn a_link_that_is_down_is_up_again_in_the_next_trial() {
    let mut session = open(session("virtual", "wire", cross_connect()));
    let spec = || -> TrialSpec {
        let stream = stream(false, 1, json!("peer"), size(64), constant(1000, TEN_GIGABIT));
        serde_json::from_value(trial(&[stream])).expect("a trial")
    };
    let mut lost = |events: Value| {
        session.prepare(spec()).expect("fits");
        session.expect(serde_json::from_value(events).expect("events")).expect("fits");
        session.run().expect("runs").trial.streams[0].lost
    };
    // From 500 us on all that has not begun to leave is lost: frames from (500,000 - 5057.6) / 67.2 on, of 14,881.
    assert_eq!(lost(json!([{"at_ns": 500_000, "kind": "link-down", "port": 1}])), 14_881 - 7_366);
    assert_eq!(lost(json!([])), 0);
}

#[test]
fn event_without_a_port_or_in_real_time_is_refused() {
    let event = |port| -> Vec<Event> { serde_json::from_value(json!([{"at_ns": 1, "kind": "link-up", "port": port}])).expect("an event") };
    let mut emulated = open(session("virtual", "wire", cross_connect()));
    let refused = emulated.expect(event(7)).expect_err("there is no such port");
    assert_eq!(
        (&*refused.reason.code, &*refused.reason.text),
        ("session-spec", "events[0]: there is no port 7")
    );
    let mut real = open(session("real", "ring", cross_connect()));
    let refused = real.expect(event(0)).expect_err("events in real time are refused");
    assert_eq!(refused.reason.code, "session-spec");
}
