//! Devices that lose nothing: everything arrives, once, in order, and in the time that paper says.

use crate::common::*;
use netdyno_engine::Invalid;
use serde_json::json;

/// First bit out to last bit in: 64 bytes and preamble take 57.6 ns at 10 Gbit/s, twice, and 5 us between.
const LATENCY_64_NS: u64 = 5_115;

#[test]
fn a_cross_connect_at_line_rate_passes_everything() {
    for flows in [1, 64, 65_536] {
        let stream = stream(false, flows, json!("peer"), size(64), constant(10_000, TEN_GIGABIT));
        let found = run(session("virtual", "wire", cross_connect()), trial(&[stream]));
        healthy(&found.trial);
        let stream = &found.trial.streams[0];
        // 10 ms at 10 Gbit/s are 10^8 bits: 148,810 frames of 672 begin in them.
        assert_eq!(
            (stream.intended, stream.offered, stream.received, stream.lost),
            (148_810, 148_810, 148_810, 0)
        );
        assert_eq!(
            (
                stream.duplicates,
                stream.out_of_order,
                stream.corrupted,
                stream.elsewhere,
                stream.beyond_window
            ),
            (0, 0, 0, 0, 0)
        );
        assert_eq!((stream.offered_bytes, stream.received_bytes), (148_810 * 64, 148_810 * 64));
        assert_eq!(stream.flows_received, u64::from(flows));
        assert_eq!(stream.first_loss_ns, None);
        let latency = stream.latency.as_ref().expect("timed");
        assert_eq!(
            (latency.count, latency.min_ns, latency.max_ns),
            (148_810, LATENCY_64_NS, LATENCY_64_NS)
        );
        assert_eq!(latency.sum_ns, 148_810 * u128::from(LATENCY_64_NS));
        for series in [&stream.tx, &stream.rx, &stream.arrived] {
            assert_eq!(series.iter().sum::<u64>(), 148_810);
        }
        // 100 us are 10^6 bits: 1488.1 frames.
        assert!(
            stream.tx[..100].iter().all(|&count| count == 1488 || count == 1489),
            "{:?}",
            &stream.tx[..100]
        );
        assert_eq!(found.trial.ports[1].foreign, 0);
        assert_eq!(found.devices[0].ports[1].tx_frames, 148_810);
    }
}

#[test]
fn router_resolution_during_traffic_exchanges_both_macs() {
    let streams = [
        stream(
            false,
            1000,
            json!({"gateway": "198.18.0.1"}),
            size(64),
            constant(2_000, TEN_GIGABIT / 2),
        ),
        stream(
            true,
            1000,
            json!({"gateway": "198.18.0.5"}),
            size(64),
            constant(2_000, TEN_GIGABIT / 2),
        ),
    ];
    let found = run(session("virtual", "wire", router()), trial(&streams));
    healthy(&found.trial);
    let mut resolved = found.trial.resolved.clone();
    resolved.sort();
    let expected = [("198.18.0.1", "02:00:00:00:00:0a"), ("198.18.0.5", "02:00:00:00:00:0b")];
    assert_eq!(resolved, expected.map(|(address, mac)| (address.to_owned(), mac.to_owned())));
    for stream in &found.trial.streams {
        assert_eq!(
            (stream.offered, stream.received, stream.lost, stream.flows_received),
            (14_881, 14_881, 0, 1000)
        );
        assert_eq!(stream.latency.as_ref().map(|latency| latency.min_ns), Some(LATENCY_64_NS));
    }
}

/// A router asks for the far end only when it has something for it, and what comes meanwhile has to wait or is lost. A
/// port that asked for its gateway before is known.
#[test]
fn a_port_that_only_receives_makes_itself_known_to_its_gateway() {
    let west = stream(
        false,
        1000,
        json!({"gateway": "198.18.0.1"}),
        size(64),
        constant(2_000, TEN_GIGABIT),
    );
    let mut spec = trial(&[west]);
    let unknown = run(session("virtual", "wire", router()), spec.clone());
    assert!(unknown.trial.streams[0].lost > 0, "this device holds few frames while it asks");
    spec["ports"][1]["gateway"] = json!("198.18.0.5");
    let found = run(session("virtual", "wire", router()), spec);
    healthy(&found.trial);
    let mut resolved: Vec<_> = found.trial.resolved.iter().map(|(address, _)| address.as_str()).collect();
    resolved.sort_unstable();
    assert_eq!(resolved, ["198.18.0.1", "198.18.0.5"]);
    let stream = &found.trial.streams[0];
    assert_eq!((stream.offered, stream.received, stream.lost), (29_762, 29_762, 0));
}

#[test]
fn a_gateway_in_a_network_of_which_the_port_is_no_part_is_refused() {
    let mut spec = trial(&[stream(false, 1, json!("peer"), size(64), constant(1_000, TEN_GIGABIT))]);
    spec["ports"][1] = json!({"mac": "02:00:00:00:00:02", "gateway": "198.18.0.5"});
    let mut session = open(session("virtual", "wire", router()));
    let error = session
        .prepare(serde_json::from_value(spec).expect("a trial"))
        .expect_err("refused");
    let text = error.to_string();
    assert!(text.contains("ports[1]: gateway") && text.contains("no IPv4 address"), "{text}");
}

#[test]
fn a_next_hop_that_does_not_answer_makes_the_trial_invalid() {
    let stream = stream(false, 1, json!({"gateway": "198.18.0.77"}), size(64), constant(1_000, TEN_GIGABIT));
    let mut spec = trial(&[stream]);
    spec["resolve_ns"] = json!(600_000_000);
    let found = run(session("virtual", "wire", router()), spec).trial;
    let silent = Invalid::NextHopSilent {
        address: "198.18.0.77".to_owned(),
        port: "west".to_owned(),
        waited_ms: 600,
    };
    assert_eq!(found.invalid, [silent.into()]);
    assert_eq!((found.streams[0].intended, found.streams[0].offered), (0, 0));
    // Both own addresses announced, then asked at 0, 250 and 500 ms.
    assert_eq!((found.ports[0].tx_frames, found.ports[0].own_frames), (5, 5));
    assert_eq!(
        (found.phases[0].name.as_str(), found.phases[0].duration_ns),
        ("resolve", 600_000_000)
    );
}

#[test]
fn ipv6_next_hops_are_resolved_by_nd() {
    let both = [(false, "2001:2:0:1::1"), (true, "2001:2:0:2::1")].map(|(east, hop)| {
        let mut stream = stream(east, 100, json!({"gateway": hop}), size(128), constant(1_000, TEN_GIGABIT));
        let net = |net: u8| json!({"random": {"min": format!("2001:2:{net}::1"), "max": format!("2001:2:{net}::ffff")}});
        let (from, to) = if east { (48, 16) } else { (16, 48) };
        stream["headers"][1] = json!({"type": "ipv6", "src": net(from), "dst": net(to)});
        stream
    });
    let found = run(session("virtual", "wire", router()), trial(&both));
    healthy(&found.trial);
    let expected = [("2001:2:0:1::1", "02:00:00:00:00:0a"), ("2001:2:0:2::1", "02:00:00:00:00:0b")];
    assert_eq!(
        found.trial.resolved,
        expected.map(|(address, mac)| (address.to_owned(), mac.to_owned()))
    );
    for stream in &found.trial.streams {
        assert_eq!((stream.received, stream.lost), (8446, 0));
    }
}

/// Nobody sends from the east, so the router asks for the east port only when the first frame is there,
/// and drops what it cannot hold until it knows: real loss, found as such.
#[test]
fn a_router_that_must_ask_first_loses_what_it_cannot_hold() {
    let stream = stream(false, 100, json!({"gateway": "198.18.0.1"}), size(64), constant(1_000, TEN_GIGABIT));
    let found = run(session("virtual", "wire", router()), trial(&[stream]));
    healthy(&found.trial);
    let stream = &found.trial.streams[0];
    let device = &found.devices[0];
    assert!(stream.lost > 0);
    assert_eq!(stream.lost as u64, device.no_route + device.ports[1].out_drops);
    assert_eq!((stream.out_of_order, stream.duplicates, stream.corrupted), (0, 0, 0));
}

#[test]
fn a_bridge_that_was_taught_floods_nothing() {
    let bridge = device(json!({"kind": "bridge"}));
    let both = |east| stream(east, 100, json!("peer"), size(64), constant(1_000, TEN_GIGABIT));
    let mut spec = trial(&[both(false), both(true)]);
    spec["learn"] = json!(true);
    let found = run(session("virtual", "wire", bridge), spec);
    healthy(&found.trial);
    for stream in &found.trial.streams {
        assert_eq!((stream.offered, stream.received), (14_881, 14_881));
    }
    // The two learning frames themselves, broadcast.
    assert_eq!(found.devices[0].flooded, 2);
    assert_eq!((found.trial.ports[0].foreign, found.trial.ports[1].foreign), (1, 1));
}

#[test]
fn two_streams_share_a_port_and_each_is_counted_by_itself() {
    let mut small = stream(false, 10, json!("peer"), size(64), constant(1_000, TEN_GIGABIT / 4));
    small["name"] = json!("small");
    let mut large = stream(false, 20, json!("peer"), size(1518), constant(1_000, TEN_GIGABIT / 2));
    large["name"] = json!("large");
    large["headers"][2]["dport"] = json!(13);
    let found = run(session("virtual", "wire", cross_connect()), trial(&[small, large]));
    healthy(&found.trial);
    // 2.5 * 10^6 bits of 672; 5 * 10^6 of 12,304.
    let counts: Vec<_> = found
        .trial
        .streams
        .iter()
        .map(|it| (it.offered, it.received, it.flows_received, it.out_of_order))
        .collect();
    assert_eq!(counts, [(3721, 3721, 10, 0), (407, 407, 20, 0)]);
    assert_eq!(found.trial.ports[0].tx_frames, 3721 + 407);
    // A small frame waits for at most one large one: 1230.4 ns.
    assert!(found.trial.health.latest_departure_ns <= 1230, "{:?}", found.trial.health);
}

#[test]
fn a_mix_keeps_its_weights_and_fills_the_line() {
    let mix = json!([{"size": 68, "weight": 28}, {"size": 590, "weight": 16}, {"size": 1514, "weight": 4}]);
    let found = run(
        session("virtual", "wire", cross_connect()),
        trial(&[stream(false, 100, json!("peer"), mix, constant(10_000, TEN_GIGABIT))]),
    );
    healthy(&found.trial);
    let stream = &found.trial.streams[0];
    // A cycle of 7, 4 and 1 frames has 4,590 bytes... of 88, 610 and 1534 on the line: 36,720 bits.
    assert!(
        (100_000_000 / 36_720 * 12..=(100_000_000 / 36_720 + 1) * 12).contains(&stream.offered),
        "{}",
        stream.offered
    );
    assert_eq!((stream.lost, stream.out_of_order), (0, 0));
    assert_eq!(found.trial.health.latest_departure_ns, 0, "the mix at 100 % never waits for itself");
}
