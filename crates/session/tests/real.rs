//! Real time: only relations hold, whatever the machine is doing.

use crate::common::*;
use netdyno_session::{Refusal, Session, TrialSpec};
use serde_json::json;

#[test]
fn a_ring_through_an_emulated_device_accounts_for_every_frame() {
    let both = |east| stream(east, 16, json!("peer"), size(64), constant(50_000, BITS_64 * 50_000));
    let mut spec = trial(&[both(false), both(true)]);
    spec["drain_ns"] = json!(100_000_000);
    let found = run(session("real", "ring", cross_connect()), spec);
    // Whoever shares the machine may keep the tester from its core: then frames are unsent, not lost.
    let offered: u64 = found.trial.streams.iter().map(|stream| stream.offered).sum();
    assert_eq!(offered + found.trial.health.unsent, 5000);
    for stream in &found.trial.streams {
        // 50 ms at 50,000 frames a second.
        assert_eq!(stream.intended, 2500);
        assert_eq!(stream.lost, stream.offered as i64 - stream.received as i64);
        assert!(stream.received > 0);
        assert_eq!(
            (stream.duplicates, stream.corrupted, stream.elsewhere, stream.out_of_order),
            (0, 0, 0, 0)
        );
        let latency = stream.latency.as_ref().expect("timed");
        assert_eq!((latency.count, latency.negative), (stream.received, 0));
        // The device holds each frame for 5 us.
        assert!(latency.min_ns >= 5000);
    }
    let phases: Vec<&str> = found.trial.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["resolve", "settle", "traffic", "drain"]);
    assert!(found.trial.phases[3].duration_ns == 100_000_000);
    assert!(found.trial.health.core_share_ppm.is_some());
}

#[test]
fn sessions_go_on_after_a_trial_and_after_a_refused_one() {
    for (clock, backend) in [("virtual", "wire"), ("real", "ring")] {
        let mut session = open(session(clock, backend, router()));
        let good = |bytes| {
            let streams = [(false, "198.18.0.1"), (true, "198.18.0.5")].map(|(east, hop)| {
                stream(
                    east,
                    4,
                    json!({"gateway": hop}),
                    size(bytes),
                    constant(20_000, u64::from(bytes + 20) * 8 * 10_000),
                )
            });
            trial(&streams)
        };
        for bytes in [64, 1518, 64] {
            let found = run_on(&mut session, good(bytes));
            for stream in &found.trial.streams {
                assert!(
                    found.trial.resolved.len() == 2 && stream.intended == 200 && stream.lost >= 0,
                    "{clock} {bytes}"
                );
                let seen = found.devices[0].ports[usize::from(stream.name == "east-west")].rx_frames;
                // In real time a device that is preempted past the drain has not taken in all of them.
                let least = if clock == "real" { stream.received } else { stream.offered };
                assert!(seen >= least, "{clock} {bytes}: counters are those of this trial");
                assert!(
                    clock == "real" || (stream.received, seen) == (200, 203),
                    "with two announcements and the question for the next hop"
                );
            }
        }
        let mut wrong = good(64);
        wrong["streams"][0]["rx_port"] = json!(7);
        let wrong: TrialSpec = serde_json::from_value(wrong).expect("reads");
        let error = session.prepare(wrong).expect_err("there is no port 7");
        let wrong = Refusal::TrialSpec {
            place: "streams[0] (west-east): rx_port".to_owned(),
            why: "there is no port 7; ports are numbered 0 to 1".to_owned(),
        };
        assert_eq!(error.reason, wrong.into());
        assert_eq!(run_on(&mut session, good(64)).trial.resolved.len(), 2);
    }
}

/// What ports are is reported when they are opened, and stays true: longer frames do not open them anew.
#[test]
fn ports_are_opened_once_for_the_longest_frame() {
    for (clock, backend, asked, most) in [
        ("virtual", "wire", 60, 124),
        ("virtual", "wire", 9014, 9014),
        ("real", "ring", 60, 1518),
        ("real", "ring", 9014, 9014),
    ] {
        let mut declared = session(clock, backend, cross_connect());
        declared["max_frame"] = json!(asked);
        let mut session = open(declared);
        let told = session.ports().to_vec();
        assert!(told.iter().all(|port| port.max_frame == most), "{clock} {asked}: {told:?}");
        let sent = |bytes: u32| {
            trial(&[stream(
                false,
                1,
                json!("peer"),
                size(bytes),
                constant(1_000, u64::from(bytes + 20) * 8 * 10_000),
            )])
        };
        for bytes in [64, most + 4, 64] {
            let found = run_on(&mut session, sent(bytes));
            assert_eq!(
                (found.trial.streams[0].intended, found.trial.invalid.len()),
                (10, 0),
                "{clock} {bytes}"
            );
            assert_eq!(session.ports(), told, "{clock} {bytes}");
        }
        let longer = serde_json::from_value(sent(most + 5)).expect("reads");
        let refused = session.prepare(longer).expect_err("too long").reason;
        let (bytes, most_bytes) = (u64::from(most + 5), u64::from(most + 4));
        assert_eq!(refused, Refusal::FrameTooLong { bytes, most_bytes }.into());
        assert_eq!(run_on(&mut session, sent(64)).trial.streams[0].intended, 10);
    }
}

#[test]
fn a_trial_is_cancelled_from_another_thread_and_keeps_what_it_measured() {
    for (clock, backend) in [("virtual", "wire"), ("real", "ring")] {
        let mut session = open(session(clock, backend, cross_connect()));
        let hour = stream(false, 1, json!("peer"), size(64), constant(3_600_000_000, BITS_64 * 100_000));
        let mut spec = trial(&[hour]);
        // An hour of samples of 0.1 ms would be much memory.
        spec["sample_ns"] = json!(1_000_000_000_u64);
        let progress = session.prepare(serde_json::from_value(spec).expect("reads")).expect("fits");
        let found = std::thread::scope(|scope| {
            let running = scope.spawn(|| session.run());
            while progress.snapshot().ports[1].rx_frames < 1000 {
                std::thread::yield_now();
            }
            assert_eq!(progress.snapshot().phase, "traffic");
            progress.cancel();
            running.join().expect("no panic").expect("runs")
        });
        let stream = &found.trial.streams[0];
        assert!(
            stream.intended >= stream.offered && stream.intended < 360_000_000,
            "{clock}: {stream:?}"
        );
        assert!(stream.received >= 1000 && stream.lost >= 0);
        assert_eq!(found.trial.invalid, [], "{clock}");
        assert!(found.trial.phases[2].duration_ns < 3_600_000_000_000);
        assert_eq!(progress.snapshot().phase, "done");
    }
}

#[test]
fn labs_that_cannot_be_are_refused_with_the_reason() {
    let refuse = |session: serde_json::Value| {
        let error = Session::open(serde_json::from_value(session).expect("reads")).expect_err("refused");
        assert!(error.hint.is_some() || error.reason.text.starts_with("links["), "{error:?}");
        assert_eq!(error.reason.code, "session-spec");
        error.reason.text
    };
    assert_eq!(
        refuse(session("real", "wire", cross_connect())),
        "port `west`: a `wire` port cannot run in real time"
    );
    let mut unlinked = session("virtual", "wire", cross_connect());
    unlinked["links"] = json!([unlinked["links"][0]]);
    assert_eq!(refuse(unlinked), "port `east`: a `wire` port has 1 link(s), here 0");
    let mut twice = session("virtual", "wire", cross_connect());
    twice["links"][1]["device_port"] = json!(0);
    assert_eq!(refuse(twice), "links[1]: port `a` of device `dut` is linked twice");
    let mut slower = session("virtual", "wire", cross_connect());
    slower["devices"][0]["ports"][1]["rate_bps"] = json!(1_000_000_000);
    assert_eq!(
        refuse(slower),
        "links[1]: port `b` of device `dut` runs at 1 x 1000000000 bit/s, its cable at 10000000000"
    );
    let mut group = session("virtual", "wire", cross_connect());
    group["devices"][0]["ports"][0]["members"] = json!(2);
    assert_eq!(
        refuse(group),
        "links[0]: port `a` of device `dut` runs at 2 x 10000000000 bit/s, its cable at 10000000000"
    );
}
