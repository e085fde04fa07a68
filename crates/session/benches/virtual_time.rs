//! Virtual time end to end: tester, wire, emulated device, wire, tester, with full accounting.
//!
//! Prints ns of processor time a frame sent (its whole way) and millions of frames a second and core. `NETDYNO_BENCH_MS` is the
//! virtual duration in milliseconds (40 by default).

use netdyno_io::time::{Duration, thread_cpu_time};
use netdyno_session::Session;
use serde_json::{Value, json};

const TEN_GIGABIT: u64 = 10_000_000_000;

fn main() {
    let ms: u64 = std::env::var("NETDYNO_BENCH_MS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(40);
    let quanta: Vec<u64> = match std::env::var("NETDYNO_BENCH_QUANTUM_NS") {
        Ok(text) => text.split(',').filter_map(|it| it.parse().ok()).collect(),
        Err(_) => vec![8_000],
    };
    for quantum in quanta {
        println!("quantum {quantum} ns, {ms} ms of virtual time, best of 3");
        let xconnect = json!({"kind": "cross-connect", "pairs": [[0, 1]]});
        bench("cross connect, 1 flow, 64 B", quantum, device(&xconnect, None), 1, 64, false, ms);
        bench(
            "cross connect, 65,536 flows, 64 B",
            quantum,
            device(&xconnect, None),
            65_536,
            64,
            false,
            ms,
        );
        bench(
            "router, 65,536 flows, 64 B",
            quantum,
            device(&router(), None),
            65_536,
            64,
            false,
            ms,
        );
        // In the manner of an ASR9006: what a port takes in, and what it handles in and out together.
        let limits = Some(((11_000_000, 1), (14_300_000, 1)));
        bench(
            "limited cross connect, 65,536 flows, 64 B, both ways",
            quantum,
            device(&xconnect, limits),
            65_536,
            64,
            true,
            ms,
        );
        bench(
            "limited router, 65,536 flows, 64 B, both ways",
            quantum,
            device(&router(), limits),
            65_536,
            64,
            true,
            ms,
        );
        bench(
            "limited router, 65,536 flows, 1514 B, both ways",
            quantum,
            device(&router(), limits),
            65_536,
            1514,
            true,
            ms,
        );
    }
}

fn router() -> Value {
    json!({
        "kind": "router",
        "routes": [{"prefix": "16.0.0.0/8", "via": "198.18.0.2"}, {"prefix": "48.0.0.0/8", "via": "198.18.0.6"}],
        "neighbours": [{"ip": "198.18.0.2", "mac": "02:00:00:00:00:01"}, {"ip": "198.18.0.6", "mac": "02:00:00:00:00:02"}],
    })
}

type Rate = (u64, u64);

fn device(forwarding: &Value, limits: Option<(Rate, Rate)>) -> Value {
    let port = |name: &str, mac: &str, ipv4: &str| {
        json!({
            "name": name, "mac": mac, "ipv4": ipv4, "rate_bps": TEN_GIGABIT,
            "in_fps": limits.map(|(taken, _)| taken), "both_fps": limits.map(|(_, handled)| handled),
        })
    };
    let ports = [
        port("a", "02:00:00:00:00:0a", "198.18.0.1/30"),
        port("b", "02:00:00:00:00:0b", "198.18.0.5/30"),
    ];
    json!({"name": "dut", "ports": ports, "forwarding": forwarding, "delay_ns": 20_000})
}

fn bench(name: &str, quantum_ns: u64, device: Value, flows: u32, size: u32, both: bool, ms: u64) {
    let routed = device["forwarding"]["kind"] == "router";
    let session = json!({
        "clock": "virtual",
        "ports": [{"name": "west", "backend": {"kind": "wire"}}, {"name": "east", "backend": {"kind": "wire"}}],
        "devices": [device],
        "links": [
            {"port": 0, "device": 0, "device_port": 0, "rate_bps": TEN_GIGABIT},
            {"port": 1, "device": 0, "device_port": 1, "rate_bps": TEN_GIGABIT},
        ],
    });
    let mut session = Session::open(serde_json::from_value(session).expect("a session")).expect("opens");
    session.set_quantum(Duration::from_ns(quantum_ns));
    let trial = json!({
        "seed": 1,
        "streams": (0..1 + u8::from(both)).map(|east| stream(east == 1, flows, size, routed, ms)).collect::<Vec<_>>(),
        "ports": [{"mac": "02:00:00:00:00:01", "ipv4": "198.18.0.2"}, {"mac": "02:00:00:00:00:02", "ipv4": "198.18.0.6"}],
        "settle_ns": 1_000_000, "drain_ns": 10_000_000, "sample_ns": 100_000_000,
    });
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        session
            .prepare(serde_json::from_value(trial.clone()).expect("a trial"))
            .expect("fits");
        let before = thread_cpu_time();
        let found = session.run().expect("runs").trial;
        let took = thread_cpu_time() - before;
        assert!(found.invalid.is_empty(), "{:?}", found.invalid);
        let offered: u64 = found.streams.iter().map(|stream| stream.offered).sum();
        best = best.min(took.ps as f64 / 1000.0 / offered as f64);
    }
    println!("  {name:<55} {best:7.1} ns/frame {:7.2} M frames/s", 1000.0 / best);
}

fn stream(east: bool, flows: u32, size: u32, routed: bool, ms: u64) -> Value {
    let net = |a: u8| {
        if flows == 1 {
            json!(format!("{a}.0.0.1"))
        } else {
            json!({"random": {"min": format!("{a}.0.0.1"), "max": format!("{a}.255.255.254")}})
        }
    };
    let (from, to, hop, mac) = if east {
        (48, 16, "198.18.0.5", "02:00:00:00:00:02")
    } else {
        (16, 48, "198.18.0.1", "02:00:00:00:00:01")
    };
    json!({
        "name": if east { "east-west" } else { "west-east" },
        "tx_port": usize::from(east), "rx_port": usize::from(!east),
        "headers": [
            {"type": "ethernet", "src": mac, "dst": mac},
            {"type": "ipv4", "src": net(from), "dst": net(to)},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": if routed { json!({"gateway": hop}) } else { json!("peer") },
        "sizes": [{"size": size, "weight": 1}],
        "flows": flows,
        "schedule": [{"name": "traffic", "duration_ns": ms * 1_000_000, "from_bps": TEN_GIGABIT, "to_bps": TEN_GIGABIT}],
    })
}
