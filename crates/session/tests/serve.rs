//! A device served on memifs, and a tester that only knows its sockets.

use crate::common::*;
use netdyno_session::{Refusal, Served, Server, Session};
use serde_json::{Value, json};

const DELAY_NS: u64 = 50_000;

fn socket(end: &str) -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("@netdyno-serve-{}-{number}-{end}", std::process::id())
}

fn serve(sockets: &[String; 2], device: Value) -> Server {
    let memif = |at: &String| json!({"kind": "memif", "socket": at, "role": "server"});
    let spec = json!({"device": device, "ports": sockets.each_ref().map(memif)});
    Server::start(serde_json::from_value(spec).expect("reads")).expect("serves")
}

fn tester(sockets: &[String; 2]) -> Session {
    let port = |name: &str, at: &String| json!({"name": name, "backend": {"kind": "memif", "socket": at}});
    open(json!({"clock": "real", "ports": [port("west", &sockets[0]), port("east", &sockets[1])]}))
}

/// How the device fares once what it last counted has been looked at.
fn settled(server: &Server) -> Served {
    netdyno_io::time::sleep(netdyno_io::time::Duration::from_ms(200));
    server.served()
}

#[test]
fn every_frame_is_accounted_for_between_two_strangers() {
    let sockets = ["west", "east"].map(socket);
    let mut server = serve(&sockets, with(cross_connect(), "delay_ns", json!(DELAY_NS)));
    let mut session = tester(&sockets);
    for round in 1..=2 {
        let before = settled(&server);
        let both = |east| stream(east, 16, json!("peer"), size(64), constant(100_000, BITS_64 * 20_000));
        let mut spec = trial(&[both(false), both(true)]);
        spec["drain_ns"] = json!(200_000_000);
        let found = run_on(&mut session, spec);
        assert_eq!(found.trial.invalid, [], "round {round}");
        let after = settled(&server);
        for (from, stream) in found.trial.streams.iter().enumerate() {
            let to = 1 - from;
            let entered = after.device.ports[from].rx_frames - before.device.ports[from].rx_frames;
            let left = after.device.ports[to].tx_frames - before.device.ports[to].tx_frames;
            let spilled = after.spilled[to] - before.spilled[to];
            // Four points: sent, in, out, received. What is missing has a place.
            assert_eq!(stream.offered, entered, "round {round}");
            assert_eq!(stream.received, left - spilled, "round {round}");
            assert!(stream.received > 0 && stream.lost >= 0);
            let latency = stream.latency.as_ref().expect("timed");
            assert!(latency.min_ns >= DELAY_NS && latency.negative == 0, "{latency:?}");
        }
    }
    assert_eq!(server.stop().expect("ends").failures, [""; 0]);
}

#[test]
fn trial_without_its_device_is_invalid_and_the_next_one_is_valid() {
    let sockets = ["west", "east"].map(socket);
    let mut server = serve(&sockets, cross_connect());
    let mut session = tester(&sockets);
    let long = trial(&[stream(false, 1, json!("peer"), size(64), constant(20_000_000, BITS_64 * 1000))]);
    let progress = session.prepare(serde_json::from_value(long).expect("reads")).expect("fits");
    let found = std::thread::scope(|scope| {
        let running = scope.spawn(|| session.run());
        while progress.snapshot().ports[1].rx_frames < 10 {
            std::thread::yield_now();
        }
        server.stop().expect("ends");
        running.join().expect("no panic").expect("runs")
    });
    let [why] = &found.trial.invalid[..] else {
        panic!("{:?}", found.trial.invalid)
    };
    assert_eq!(why.code, "port-gone");
    assert!(why.text.contains("disconnected"), "{why}");
    let _again = serve(&sockets, cross_connect());
    // Longer than a busy machine keeps the device from its core.
    let mut again = trial(&[stream(false, 1, json!("peer"), size(64), constant(400_000, BITS_64 * 1000))]);
    again["drain_ns"] = json!(200_000_000);
    let found = run_on(&mut session, again);
    assert_eq!(found.trial.invalid, []);
    assert!(found.trial.streams[0].received > 0);
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refuse = |ports: Value, core: Value| {
        let spec = json!({"device": cross_connect(), "ports": ports, "core": core});
        let refused = Server::start(serde_json::from_value(spec).expect("reads")).expect_err("refused");
        refused.reason
    };
    let memif = |end| json!({"kind": "memif", "socket": socket(end), "role": "server"});
    let spec = |why: &str| Refusal::SessionSpec { why: why.to_owned() }.into();
    assert_eq!(
        refuse(json!([memif("a")]), Value::Null),
        spec("device `dut` has 2 ports, and 1 to serve them on")
    );
    assert_eq!(
        refuse(json!([memif("a"), {"kind": "ring"}]), Value::Null),
        spec("port `b`: a `ring` port connects ports of this process only")
    );
    let unpinned = refuse(json!([memif("a"), memif("b")]), json!(999));
    assert_eq!(unpinned.code, "port-system");
    assert!(unpinned.text.contains("pinning a thread to core 999"), "{unpinned}");
}
