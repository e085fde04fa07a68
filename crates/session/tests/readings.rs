//! Counters of emulated devices read while a trial runs in virtual time.

use crate::common::*;
use netdyno_session::{Outcome, TrialSpec};
use serde_json::json;

/// A trial of 1 ms at line rate through a cross connect, whose counters are read every so many ns.
fn found(every_ns: Option<u64>, quantum_us: u64) -> Outcome {
    let mut spec = session("virtual", "wire", cross_connect());
    if let Some(every) = every_ns {
        spec["read_devices_ns"] = json!(every);
    }
    let mut session = open(spec);
    session.set_quantum(netdyno_io::time::Duration::from_us(quantum_us));
    let trial = trial(&[stream(false, 1, json!("peer"), size(64), constant(1000, TEN_GIGABIT))]);
    let spec: TrialSpec = serde_json::from_value(trial).expect("a trial");
    session.prepare(spec).expect("fits");
    session.run().expect("runs")
}

/// 64 bytes at line rate: frame `k` departs at 67.2 k ns and is in after 57.6 ns.
#[test]
fn device_read_at_a_time_has_counted_the_frames_that_are_in_by_then() {
    for quantum in [1, 7, 32] {
        let outcome = found(Some(100_000), quantum);
        let readings = &outcome.readings;
        for reading in readings
            .iter()
            .filter(|one| (1..=1_000_000).contains(&one.at_ns) && one.at_ns % 100_000 == 0)
        {
            let in_by_then = (reading.at_ns * 1000 - 57_600) / 67_200 + 1;
            assert_eq!(
                reading.devices[0].ports[0].rx_frames,
                in_by_then.min(14_881),
                "at {} ns",
                reading.at_ns
            );
        }
        let during = readings.iter().filter(|one| one.at_ns > 0 && one.at_ns <= 1_000_000).count();
        assert!(during >= 10, "{during} readings during traffic");
        assert!(readings.windows(2).all(|two| two[0].at_ns < two[1].at_ns));
        assert_eq!(readings.last().map(|one| &one.devices), Some(&outcome.devices));
    }
}

#[test]
fn trial_whose_device_is_read_has_the_same_result() {
    let plain = found(None, 32);
    assert!(plain.readings.is_empty());
    let read = found(Some(33_333), 32);
    assert_eq!((&plain.trial, &plain.devices), (&read.trial, &read.devices));
}

/// A reading each 25 ns of 1 ms: twice as many as there is room for.
#[test]
fn trial_with_more_readings_than_room_has_the_first_ones_and_the_last() {
    let outcome = found(Some(25), 32);
    let readings = &outcome.readings;
    assert_eq!(readings.len(), 20_000);
    assert!(readings[..19_999].iter().zip(0..).all(|(one, place)| one.at_ns == 25 * place));
    let last = readings.last().expect("some");
    assert_eq!(last.devices, outcome.devices);
    assert!(last.at_ns >= 1_000_000, "read at {} ns", last.at_ns);
    assert_eq!(outcome.readings_left_out, (last.at_ns - 1) / 25 - 19_998);
    assert_eq!(found(Some(100_000), 32).readings_left_out, 0);
}
