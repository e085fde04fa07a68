//! A device that still holds frames when drain and settle are over hands them to the next trial, which they are not of.

use crate::common::*;
use netdyno_session::Outcome;
use serde_json::{Value, json};

/// One frame each 100 us, and 50 that wait: 5 ms of frames when the queue is full.
fn slow() -> Value {
    let mut device = cross_connect();
    device["ports"][0]["in_fps"] = json!([10_000, 1]);
    device["ports"][0]["in_queue"] = json!(50);
    device
}

/// 20 ms at this rate; the drain and the settling of the next trial are 1 ms each.
fn at(fps: u64, flows: u32) -> Value {
    let mut spec = trial(&[stream(false, flows, json!("peer"), size(64), constant(20_000, BITS_64 * fps))]);
    spec["drain_ns"] = json!(1_000_000);
    spec
}

fn check(first: &Outcome, second: &Outcome) {
    let [over, under] = [first, second].map(|outcome| &outcome.trial.streams[0]);
    assert_eq!((over.offered, over.corrupted, first.trial.ports[1].stale), (400, 0, 0));
    // Frame k of those taken leaves 100 us x k after the start, and 5 us later the device: 209 are there after 21 ms.
    assert_eq!((over.received, over.lost), (209, 191));
    // What neither arrived nor was dropped was held.
    let held = 400 - 209 - first.devices[0].ports[0].in_drops;
    assert!(held > 20, "{held} frames outlast drain and settling");
    assert_eq!((second.trial.ports[1].stale, second.trial.ports[1].foreign), (held, 0));
    assert_eq!(second.trial.ports[1].rx_frames, held + 100);
    assert_eq!((under.offered, under.received, under.lost), (100, 100, 0));
    assert_eq!(
        (under.corrupted, under.duplicates, under.elsewhere, under.out_of_order),
        (0, 0, 0, 0)
    );
    assert_eq!(under.rx.iter().sum::<u64>(), 100, "no sample counts them either");
    assert_eq!(second.trial.invalid, []);
    // The first frame waits for those that were held: 10 came out while settling, and one more was half done.
    let latency = under.latency.as_ref().expect("timed");
    assert!(latency.max_ns > (held - 11) * 100_000, "{} ns, {held} held", latency.max_ns);
}

#[test]
fn frames_of_an_earlier_trial_are_neither_corrupted_nor_received() {
    // With more flows the first trial has flows that the second does not know.
    for (flows, next) in [(1, 1), (100_000, 100_000), (300, 7)] {
        let mut session = open(session("virtual", "wire", slow()));
        let first = run_on(&mut session, at(20_000, flows));
        let second = run_on(&mut session, at(5_000, next));
        check(&first, &second);
        let third = run_on(&mut session, at(5_000, next));
        assert_eq!(
            third.trial.streams,
            run(self::session("virtual", "wire", slow()), at(5_000, next)).trial.streams
        );
        assert_eq!(third.trial.ports[1].stale, 0);
    }
}

/// In real time only relations hold.
#[test]
fn in_real_time_too() {
    let mut session = open(session("real", "ring", slow()));
    let first = run_on(&mut session, at(20_000, 1));
    let second = run_on(&mut session, at(5_000, 1));
    let (lost, later) = (first.trial.streams[0].lost, &second.trial.streams[0]);
    assert!(
        second.trial.ports[1].stale as i64 <= lost,
        "{} of {lost}",
        second.trial.ports[1].stale
    );
    assert_eq!((later.corrupted, later.duplicates, second.trial.ports[1].foreign), (0, 0, 0));
    assert_eq!(second.trial.invalid, []);
}
