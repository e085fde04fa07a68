//! Several workers in real time: only relations hold, whatever the machine is doing.

use crate::common::*;
use netdyno_engine::Invalid;
use netdyno_session::{Outcome, Refusal, Session};
use serde_json::{Value, json};

fn with_workers(mut session: Value, workers: usize) -> Value {
    session["workers"] = json!(workers);
    session
}

/// All frames are accounted for, whoever sent and received them.
fn accounted(found: &Outcome) {
    assert_eq!(found.trial.invalid, []);
    let health = &found.trial.health;
    for stream in &found.trial.streams {
        assert_eq!(stream.lost, stream.offered as i64 - stream.received as i64, "{}", stream.name);
        assert!(stream.offered <= stream.intended, "{}: {health:?}", stream.name);
        assert_eq!(
            (stream.duplicates, stream.corrupted, stream.elsewhere, stream.out_of_order),
            (0, 0, 0, 0),
            "{}",
            stream.name
        );
        let timed = stream.latency.as_ref().map_or((0, 0), |latency| (latency.count, latency.negative));
        assert_eq!(timed, (stream.received, 0));
        for (series, all) in [
            (&stream.tx, stream.offered),
            (&stream.rx, stream.received),
            (&stream.arrived, stream.received),
        ] {
            assert_eq!(series.iter().sum::<u64>(), all);
        }
    }
    let (offered, intended) = found.trial.streams.iter().fold((0, 0), |(offered, intended), stream| {
        (offered + stream.offered, intended + stream.intended)
    });
    assert_eq!(offered + health.unsent, intended);
    assert_eq!(health.split_flows, 0, "a flow keeps its queue");
    let moved: u64 = health.workers.iter().map(|worker| worker.frames).sum();
    let counted: u64 = found.trial.ports.iter().map(|port| port.tx_frames + port.rx_frames).sum();
    assert!(moved <= counted);
    for (index, port) in found.trial.ports.iter().enumerate() {
        // What was sent before traffic (resolving, learning) is no worker's.
        let sent: u64 = health.workers.iter().map(|worker| worker.tx_frames[index]).sum();
        let received: u64 = health.workers.iter().map(|worker| worker.rx_frames[index]).sum();
        assert!(sent <= port.tx_frames && sent + port.own_frames >= port.tx_frames, "{}", port.name);
        let before = port.foreign + port.stale;
        assert!(received <= port.rx_frames && received + before >= port.rx_frames, "{}", port.name);
    }
}

/// Runs a trial until one finds nothing missing, which then stands for what happens on a machine that lets the tester
/// work; each one is accounted for. `None`, and a line that says so, if there is none in five.
fn undisturbed(session: Value, trial: &Value) -> Option<Outcome> {
    let mut session = open(session);
    for _ in 0..5 {
        let found = run_on(&mut session, trial.clone());
        accounted(&found);
        if found.trial.health.unsent == 0 && found.trial.streams.iter().all(|stream| stream.lost == 0) {
            return Some(found);
        }
    }
    eprintln!("skipped: five trials, and in each of them the tester was preempted for too long");
    None
}

#[test]
fn two_workers_through_an_emulated_router_account_for_every_frame() {
    let both = |east, hop| stream(east, 64, json!({"gateway": hop}), size(64), constant(50_000, BITS_64 * 40_000));
    let mut spec = trial(&[both(false, "198.18.0.1"), both(true, "198.18.0.5")]);
    spec["drain_ns"] = json!(400_000_000);
    let Some(found) = undisturbed(with_workers(session("real", "ring", router()), 2), &spec) else {
        return;
    };
    // Each next hop answered, whichever worker's queue the answer came to.
    assert_eq!(found.trial.resolved.len(), 2);
    assert!(
        found
            .trial
            .streams
            .iter()
            .all(|stream| (stream.received, stream.flows_received) == (2000, 64))
    );
    let health = &found.trial.health;
    assert_eq!(health.workers.len(), 2);
    for worker in &health.workers {
        assert!(worker.rounds > 0 && worker.frames > 0 && worker.busy_ns > 0, "{health:?}");
        assert!(worker.core.is_some() && worker.core_share_ppm.is_some());
        assert!(worker.longest_gap_ns <= health.longest_gap_ns);
    }
    assert_eq!(health.threads, 3);
    assert!(health.cores >= 2);
}

#[test]
fn streams_of_one_flow_are_shared_out_whole() {
    let both = |east| stream(east, 1, json!("peer"), size(64), constant(20_000, BITS_64 * 40_000));
    let mut spec = trial(&[both(false), both(true)]);
    spec["drain_ns"] = json!(400_000_000);
    let Some(found) = undisturbed(with_workers(session("real", "ring", cross_connect()), 2), &spec) else {
        return;
    };
    assert!(found.trial.health.workers.iter().all(|worker| worker.frames > 0));
}

#[test]
fn a_mix_of_sizes_and_a_ramp_are_sent_whole_by_two_workers_into_a_loop() {
    let sizes = json!([{"size": 64, "weight": 7}, {"size": 594, "weight": 4}, {"size": 1518, "weight": 1}]);
    let schedule = json!([
        {"name": "warmup", "duration_ns": 5_000_000, "from_bps": 20_000_000, "to_bps": 20_000_000},
        {"name": "ramp", "duration_ns": 30_000_000, "from_bps": 0, "to_bps": 400_000_000},
    ]);
    let lane = |east| stream(east, 1000, json!("peer"), sizes.clone(), schedule.clone());
    let mut spec = trial(&[lane(false), lane(true)]);
    spec["drain_ns"] = json!(400_000_000);
    let looped = json!({
        "clock": "real", "workers": 2,
        "ports": [{"name": "west", "backend": {"kind": "ring"}}, {"name": "east", "backend": {"kind": "ring"}}],
        "loops": [{"ports": [0, 1], "rate_bps": TEN_GIGABIT}],
    });
    if let Some(found) = undisturbed(looped, &spec) {
        // 6.1 Mbit: 166 cycles of 12 frames and 36,656 bits on the line, and a part of the next.
        assert!(found.trial.streams.iter().all(|stream| (1992..2004).contains(&stream.received)));
    }
}

#[test]
fn several_workers_are_cancelled_and_end_in_order() {
    let hour = stream(false, 64, json!("peer"), size(64), constant(3_600_000_000, BITS_64 * 100_000));
    let mut spec = trial(&[hour]);
    spec["sample_ns"] = json!(1_000_000_000_u64);
    let mut session = open(with_workers(session("real", "ring", cross_connect()), 2));
    let progress = session.prepare(serde_json::from_value(spec).expect("reads")).expect("fits");
    let found = std::thread::scope(|scope| {
        let running = scope.spawn(|| session.run());
        while progress.snapshot().ports[1].rx_frames < 1000 {
            std::thread::yield_now();
        }
        progress.cancel();
        running.join().expect("no panic").expect("runs")
    });
    let stream = &found.trial.streams[0];
    assert!(stream.intended >= stream.offered && stream.intended < 360_000_000);
    assert!(stream.received >= 1000 && stream.lost >= 0);
    assert_eq!(found.trial.invalid, []);
    assert_eq!(progress.snapshot().phase, "done");
}

#[test]
fn a_next_hop_that_does_not_answer_ends_all_workers() {
    let lane = stream(
        false,
        64,
        json!({"gateway": "198.18.0.3"}),
        size(64),
        constant(1000, BITS_64 * 1000),
    );
    let mut spec = trial(&[lane]);
    spec["resolve_ns"] = json!(20_000_000);
    let found = run(with_workers(session("real", "ring", router()), 2), spec);
    let silent = Invalid::NextHopSilent {
        address: "198.18.0.3".to_owned(),
        port: "west".to_owned(),
        waited_ms: 20,
    };
    assert_eq!(found.trial.invalid, [silent.into()]);
    assert_eq!(found.trial.streams[0].offered, 0);
}

#[test]
fn workers_that_cannot_be_are_refused() {
    let refuse = |session: Value| Session::open(serde_json::from_value(session).expect("reads")).expect_err("refused");
    let error = refuse(with_workers(session("virtual", "wire", cross_connect()), 2));
    assert_eq!(error.reason.code, "workers");
    assert!(error.hint.is_some());
    let error = refuse(with_workers(session("real", "ring", cross_connect()), 100_000));
    assert_eq!(error.reason.code, "workers");
    assert!(
        error.reason.text.starts_with("100000 workers, but this process may use "),
        "{error}"
    );
    assert!(error.hint.is_some());
    let why = "0 workers".to_owned();
    let refused = refuse(with_workers(session("real", "ring", cross_connect()), 0));
    assert_eq!(refused.reason, Refusal::Workers { why }.into());
}
