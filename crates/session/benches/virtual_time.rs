//! Virtual time end to end: tester, wire, emulated device, wire, tester, with full accounting.
//!
//! Prints ns of processor time a frame received (its whole way, those lost on it included) and millions of frames a second and
//! core. `NETDYNO_BENCH_MS` is the virtual duration in milliseconds (40 by default), `NETDYNO_BENCH_QUANTUM_NS` the quanta to try;
//! with `NETDYNO_BENCH_SHORT` only the first lines, the cases the product is judged by, are printed.

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
        Err(_) => vec![32_000],
    };
    for quantum in quanta {
        println!("quantum {quantum} ns, {ms} ms of virtual time; processor time of the best of 3");
        for (forwarding, members) in [("l2-xconnect", 1), ("ipv4", 1), ("l2-xconnect", 2), ("l2-xconnect", 8)] {
            asr9006(forwarding, members, false, quantum, ms);
            asr9006(forwarding, members, true, quantum, ms);
        }
        if std::env::var_os("NETDYNO_BENCH_SHORT").is_some() {
            continue;
        }
        let xconnect = json!({"kind": "cross-connect", "pairs": [[0, 1]]});
        // In the manner of an ASR9006: what a port takes in, and what it handles in and out together.
        let limits = Some(((11_000_000, 1), (14_300_000, 1)));
        let (free, limited) = (device(&xconnect, None), device(&xconnect, limits));
        let lag = |members: u64| with_members(free.clone(), members);
        let (two, eight) = (lag(2), lag(8));
        let (routes, limited_routes) = (device(&router(), None), device(&router(), limits));
        let classes = with_classes(routes.clone());
        // Flows, bytes, both ways or one, streams of as many flows and as much of the load each.
        for (name, device, flows, size, both, streams) in [
            ("cross connect, 1 flow", &free, 1, 64, false, 1),
            ("cross connect", &free, MANY, 64, false, 1),
            ("cross connect, 2 streams", &free, MANY, 64, false, 2),
            ("cross connect, 16 streams", &free, MANY, 64, false, 16),
            ("cross connect, 256 streams", &free, MANY, 64, false, 256),
            ("cross connect, 4096 streams", &free, MANY, 64, false, 4096),
            ("cross connect, 1514 B", &free, MANY, 1514, false, 1),
            ("cross connect, LAG of 2", &two, MANY, 64, false, 1),
            ("cross connect, LAG of 8", &eight, MANY, 64, false, 1),
            ("router", &routes, MANY, 64, false, 1),
            ("router with a queue for each of 4 classes", &classes, MANY, 64, false, 4),
            ("limited cross connect, both ways", &limited, MANY, 64, true, 1),
            ("limited router, both ways", &limited_routes, MANY, 64, true, 1),
            ("limited router, 1514 B, both ways", &limited_routes, MANY, 1514, true, 1),
        ] {
            bench(name, quantum, device, (flows, size, both, streams), ms);
        }
    }
}

/// Flows of all streams together.
const MANY: u32 = 65_536;

/// DSCPs of the classes of a device that has some.
const CLASSES: [u32; 4] = [46, 34, 18, 0];

/// The device with a queue for each class on its ports.
fn with_classes(mut device: Value) -> Value {
    for port in device["ports"].as_array_mut().expect("a list") {
        port["classes"] = json!(CLASSES.map(|dscp| json!({
            "name": format!("dscp {dscp}"), "dscp": [dscp], "priority": u32::from(dscp != 46), "queue": 1000,
        })));
    }
    device
}

/// The device with a LAG of as many lines on each port.
fn with_members(mut device: Value, members: u64) -> Value {
    for port in device["ports"].as_array_mut().expect("a list") {
        port["members"] = json!(members);
        port["partner_hash"] = json!("src-dst-ip");
        port["hash"] = json!("src-dst-ip");
    }
    device
}

/// A case of `emulated/asr9006` as `netdyno run examples/asr9006.yaml` poses it: the device of
/// `python/netdyno/devices/emulated/`, 65,536 flows of 64 bytes, one way or each way, a linear ramp to 100 % of the line, everything
/// checked and accounted.
fn asr9006(forwarding: &str, members: u64, bidir: bool, quantum: u64, ms: u64) {
    let routed = forwarding == "ipv4";
    // The capacities of the table there: taken in per port, in and out together.
    let (west, east, both) = match (forwarding, members) {
        ("ipv4", 1) => (Some((5_140_000, 1)), Some((7_160_000, 1)), None),
        (_, 1) => (Some((14_660_000, 1)), Some((14_660_000, 1)), Some((20_300_000, 1))),
        _ => (None, None, Some((17_450_000, 1))),
    };
    let port = |index: usize, taken: Option<Rate>| {
        let name = format!("Te0/{}/0/0", index + 1);
        let hash = if routed { "src-ip" } else { "src-dst-ip" };
        let ipv4 = routed.then(|| format!("100.64.{index}.1/30"));
        let ipv6 = routed.then(|| format!("fd00:64:{index}::1/64"));
        json!({
            "name": name,
            "mac": format!("02:00:00:00:02:0{}", index + 1),
            "rate_bps": TEN_GIGABIT, "members": members,
            "partner_hash": "dst-ip", "hash": hash,
            "in_fps": taken, "both_fps": both,
            "ipv4": ipv4, "ipv6": ipv6,
        })
    };
    let forwarding_spec = if routed {
        let routes = [
            ("16.0.0.0/8", "100.64.0.2"),
            ("198.18.0.0/16", "100.64.0.2"),
            ("48.0.0.0/8", "100.64.1.2"),
            ("198.19.0.0/16", "100.64.1.2"),
            ("2001:2::/49", "fd00:64:0::2"),
            ("2001:2:0:8000::/49", "fd00:64:1::2"),
        ];
        json!({"kind": "router", "routes": routes.map(|(prefix, via)| json!({"prefix": prefix, "via": via}))})
    } else {
        json!({"kind": "cross-connect", "pairs": [[0, 1]]})
    };
    let rate_bps = TEN_GIGABIT * members;
    let links = [0, 1].map(|index| json!({"port": index, "device": 0, "device_port": index, "rate_bps": rate_bps}));
    let session = json!({
        "clock": "virtual",
        "ports": [{"name": "west", "backend": {"kind": "wire"}}, {"name": "east", "backend": {"kind": "wire"}}],
        "devices": [{"name": "dut", "ports": [port(0, west), port(1, east)], "forwarding": forwarding_spec}],
        "links": links,
    });
    let streams: Vec<_> = [0, 1][..1 + usize::from(bidir)]
        .iter()
        .map(|&index: &usize| {
            let mut stream = stream(index == 1, 65_536, 64, routed, ms);
            let mac = |index: usize| format!("02:00:00:00:01:0{}", index + 1);
            stream["headers"][0] = json!({"type": "ethernet", "src": mac(index), "dst": mac(1 - index)});
            if routed {
                stream["destination"] = json!({"gateway": format!("100.64.{index}.1")});
            }
            stream["schedule"] = json!([{"name": "ramp", "duration_ns": ms * 1_000_000, "from_bps": 0, "to_bps": rate_bps}]);
            stream
        })
        .collect();
    let ports = [0, 1].map(|index| {
        let address = routed.then(|| format!("100.64.{index}.2"));
        json!({"mac": format!("02:00:00:00:01:0{}", index + 1), "ipv4": address})
    });
    let trial = json!({
        "seed": 1, "streams": streams, "ports": ports,
        "settle_ns": 1_000_000, "drain_ns": 10_000_000, "sample_ns": 1_000_000, "verify": true,
    });
    let lag = match members {
        1 => "plain".to_owned(),
        _ => format!("lacp of {members}"),
    };
    let direction = if bidir { "bidir" } else { "uni" };
    measure(
        &format!("asr9006 {forwarding} / {lag} / 64 B, 65,536 flows / {direction}, ramp to 100 %"),
        quantum,
        session,
        &trial,
    );
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

fn bench(name: &str, quantum_ns: u64, device: &Value, (flows, size, both, streams): (u32, u32, bool, u32), ms: u64) {
    let routed = device["forwarding"]["kind"] == "router";
    let rate_bps = TEN_GIGABIT * device["ports"][0]["members"].as_u64().unwrap_or(1);
    let links = [0, 1].map(|index| json!({"port": index, "device": 0, "device_port": index, "rate_bps": rate_bps}));
    let session = json!({
        "clock": "virtual", "max_frame": size - 4,
        "ports": [{"name": "west", "backend": {"kind": "wire"}}, {"name": "east", "backend": {"kind": "wire"}}],
        "devices": [device],
        "links": links,
    });
    let of = |east: u8| {
        (0..streams as usize).map(move |number| {
            let mut one = stream(east == 1, flows / streams, size, routed, ms);
            one["headers"][1]["dscp"] = json!(CLASSES[number % CLASSES.len()]);
            for load in ["from_bps", "to_bps"] {
                one["schedule"][0][load] = json!(TEN_GIGABIT / u64::from(streams));
            }
            one
        })
    };
    let trial = json!({
        "seed": 1,
        "streams": (0..1 + u8::from(both)).flat_map(of).collect::<Vec<_>>(),
        "ports": [{"mac": "02:00:00:00:00:01", "ipv4": "198.18.0.2"}, {"mac": "02:00:00:00:00:02", "ipv4": "198.18.0.6"}],
        "settle_ns": 1_000_000, "drain_ns": 10_000_000, "sample_ns": 100_000_000,
    });
    measure(name, quantum_ns, session, &trial);
}

/// Runs the trial three times and prints the best.
fn measure(name: &str, quantum_ns: u64, session: Value, trial: &Value) {
    // `cargo bench -p netdyno-session -- streams` prints only the lines with `streams` in them.
    let mut asked = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    if asked.next().is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let mut session = Session::open(serde_json::from_value(session).expect("a session")).expect("opens");
    session.set_quantum(Duration::from_ns(quantum_ns));
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        session
            .prepare(serde_json::from_value(trial.clone()).expect("a trial"))
            .expect("fits");
        let before = thread_cpu_time();
        let found = session.run().expect("runs").trial;
        let took = thread_cpu_time() - before;
        assert!(found.invalid.is_empty(), "{:?}", found.invalid);
        let received: u64 = found.streams.iter().map(|stream| stream.received).sum();
        best = best.min(took.ps as f64 / 1000.0 / received as f64);
    }
    println!(
        "  {name:<70} {best:7.1} ns/frame received {:7.2} M received/s of processor time",
        1000.0 / best
    );
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
