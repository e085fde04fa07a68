//! Where nobody can be asked anything, rounds are long; no result shows it, whatever the lab and whatever happens in it.

use crate::common::*;
use netdyno_io::time::Duration;
use netdyno_session::spec::Event;
use netdyno_session::{Outcome, TrialSpec};
use serde_json::{Value, json};

/// 200 ms of 64-byte frames, 20,000 a second.
const DURATION_US: u64 = 200_000;
const LOAD: u64 = BITS_64 * 20_000;

/// Two trials one after the other, and the rounds of each; `quantum_us` as told, or as the session finds best.
fn outcomes(device: &Value, trial: &Value, events: &Value, quantum_us: Option<u64>) -> (Vec<Outcome>, Vec<u64>) {
    let mut session = open(session("virtual", "wire", device.clone()));
    if let Some(us) = quantum_us {
        session.set_quantum(Duration::from_us(us));
    }
    let mut run = || {
        let spec: TrialSpec = serde_json::from_value(trial.clone()).expect("a trial");
        session.prepare(spec).expect("fits");
        let events: Vec<Event> = serde_json::from_value(events.clone()).expect("events");
        session.expect(events).expect("fits");
        let outcome = session.run().expect("runs");
        (outcome, session.rounds())
    };
    [run(), run()].into_iter().unzip()
}

/// The same whatever the rounds; how many there were in each of two trials, as the session finds best.
fn is_the_same(device: &Value, trial: &Value, events: &Value) -> Vec<u64> {
    let (found, rounds) = outcomes(device, trial, events, None);
    for quantum_us in [7, 32] {
        let (told, more) = outcomes(device, trial, events, Some(quantum_us));
        assert!(more[1] > DURATION_US / 50, "rounds as told: {more:?}");
        // Not printed: they are long.
        assert!(told == found, "not the same in rounds of {quantum_us} us");
    }
    rounds
}

/// Fewer than a tenth of the rounds of 32 us that the traffic's time has.
fn are_few(rounds: u64) -> bool {
    rounds < DURATION_US / 320
}

fn one_way(flows: u32, destination: Value) -> Value {
    trial(&[stream(false, flows, destination, size(64), constant(DURATION_US, LOAD))])
}

fn gateway() -> Value {
    json!({"gateway": "198.18.0.1"})
}

/// The router asks for its neighbour in the east when the first frame has come; from then on there is nobody to ask for, once
/// each of the 100 flows has been through.
#[test]
fn a_router_that_knows_its_neighbours_is_run_in_long_rounds() {
    let rounds = is_the_same(&router(), &one_way(100, gateway()), &json!([]));
    assert!(rounds.iter().all(|&rounds| are_few(rounds)), "{rounds:?}");
}

/// More flows than frames: the next one may be to somebody unknown.
#[test]
fn flows_that_have_not_been_through_keep_rounds_short() {
    let rounds = is_the_same(&router(), &one_way(100_000, gateway()), &json!([]));
    assert!(!rounds.iter().any(|&rounds| are_few(rounds)), "{rounds:?}");
}

/// 3,000 flows of 4,000 frames: three quarters of the first trial have gone by when all have been through, and the router still
/// knows their neighbours in the second one.
#[test]
fn flows_that_were_through_in_an_earlier_trial_are_met() {
    let rounds = is_the_same(&router(), &one_way(3000, gateway()), &json!([]));
    assert!(!are_few(rounds[0]) && are_few(rounds[1]), "{rounds:?}");
    // What it forgot in the first one it asks for in the second one.
    let events = json!([{"at_ns": 199_900_000, "kind": "forget"}]);
    is_the_same(&router(), &one_way(3000, gateway()), &events);
    is_the_same(&router(), &one_way(10, gateway()), &events);
}

#[test]
fn cross_connects_and_bridges_are_run_in_long_rounds() {
    for device in [cross_connect(), device(json!({"kind": "bridge"}))] {
        let rounds = is_the_same(&device, &one_way(1000, json!("peer")), &json!([]));
        assert!(rounds.iter().all(|&rounds| are_few(rounds)), "{rounds:?}");
    }
}

/// Who was forgotten is asked for again, by the next frame, and once all are known again rounds are long.
#[test]
fn a_router_that_forgets_is_answered_in_time() {
    let both = [(false, gateway()), (true, json!({"gateway": "198.18.0.5"}))]
        .map(|(east, gateway)| stream(east, 10, gateway, size(64), constant(DURATION_US, LOAD)));
    for kind in ["forget", "reset"] {
        let device = with(router(), "reset_ns", json!(3_000_000));
        let events = json!([{"at_ns": 77_000_123, "kind": kind}, {"at_ns": 140_000_000, "kind": "forget"}]);
        let rounds = is_the_same(&device, &trial(&both), &events);
        assert!(rounds.iter().all(|&rounds| are_few(rounds)), "{kind}: {rounds:?}");
        // One way, nobody is sent to in the west: he stays forgotten, and nobody will ask for him.
        let rounds = is_the_same(&device, &one_way(10, gateway()), &events);
        assert!(rounds.iter().all(|&rounds| are_few(rounds)), "{kind}, one way: {rounds:?}");
    }
    let events = json!([
        {"at_ns": 50_000_000, "kind": "link-down", "port": 1}, {"at_ns": 60_000_000, "kind": "link-up", "port": 1},
    ]);
    is_the_same(&router(), &one_way(10, gateway()), &events);
}

/// A bridge that forgets where the tester is floods until it hears from there: both ports send.
#[test]
fn a_bridge_that_forgets_learns_at_the_same_frame() {
    let both = [false, true].map(|east| stream(east, 10, json!("peer"), size(64), constant(DURATION_US, LOAD)));
    let events = json!([{"at_ns": 77_000_123, "kind": "forget"}]);
    let rounds = is_the_same(&device(json!({"kind": "bridge"})), &trial(&both), &events);
    assert!(rounds.iter().all(|&rounds| are_few(rounds)), "{rounds:?}");
}

/// A corrupted frame may read as a question to the tester; copies of an answer, as more of them than there were.
#[test]
fn faults_keep_to_their_frames() {
    let faulty = |fault: Value| {
        let every = json!({"every": {"every": 3, "first": 0}});
        with(router(), "impairments", json!([{"fault": fault, "when": every}]))
    };
    for fault in [
        json!("lose"),
        json!("duplicate"),
        json!("corrupt"),
        json!({"hold": {"for_ns": 20_000_000}}),
    ] {
        is_the_same(&faulty(fault), &one_way(10, gateway()), &json!([]));
    }
}

/// Polls every 30 ms find their place between the frames, through a router and from one tester port to the other.
#[test]
fn polls_go_out_in_time() {
    for (device, destination) in [(router(), gateway()), (cross_connect(), json!({"gateway": "198.18.0.6"}))] {
        let mut polled = one_way(10, destination);
        polled["poll_ns"] = json!(30_000_000);
        if device["forwarding"]["kind"] == "cross-connect" {
            polled["ports"][0]["ipv4"] = json!("198.18.0.5");
        }
        is_the_same(&device, &polled, &json!([]));
    }
}
