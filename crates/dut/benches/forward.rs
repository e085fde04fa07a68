//! What a frame costs in an emulated device, in virtual time over wires: `cargo bench -p netdyno-dut`.
//!
//! `whole` is everything between two bare tester ends that copy ready-made frames in and read them out;
//! `tester` is the same without a device (a wire to the same tester), so the difference is the device's share.

use netdyno_dut::Device;
use netdyno_dut::spec::{DeviceSpec, DeviceTag, DeviceVlan, Forwarding, Hash, Layer, Neighbour, Police, Route};
use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::wire::{WirePort, pair};
use netdyno_io::drive::Node;
use netdyno_io::port::Port;
use netdyno_io::time::{Instant, thread_cpu_time};

#[allow(dead_code)] // the tests use the rest
#[path = "../tests/common/mod.rs"]
mod common;
use common::{TEN_GIGABIT, bridge, cross_connect, mac, router, udp4};

const FLOWS: usize = 65_536;
/// Frames per direction and case, unless the second argument says otherwise (fewer, to count instructions: then of 1024 flows).
const FRAMES: u64 = 4_000_000;
/// How far time goes on at once, unless the third argument gives another number of nanoseconds.
const QUANTUM_NS: u64 = 8_000;

/// How much is done, in what steps.
#[derive(Clone, Copy)]
struct Run {
    frames: u64,
    quantum_ps: u64,
}

/// `NAME FRAMES QUANTUM`, all optional: `cargo bench -p netdyno-dut -- router 100000`.
fn arguments() -> (String, Run) {
    let mut words = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let name = words.next().unwrap_or_default();
    let mut number = |default| words.next().map_or(default, |word| word.parse().expect("a number"));
    let frames = number(FRAMES);
    let quantum_ps = number(QUANTUM_NS) * 1000;
    (name, Run { frames, quantum_ps })
}

fn main() {
    let (only, how) = arguments();
    println!("64-byte frames, {FLOWS} random flows, both directions at line rate, ns of processor time a frame sent");
    println!(
        "{:<24} {:>7} {:>7} {:>10} {:>12}",
        "device", "whole", "device", "forwarded", "of offered"
    );
    let wires = best(|| tester_alone(how));
    println!("{:<24} {:>7.1} {:>7}", "none (wires alone)", wires.0, "-");
    let asr_like = || {
        let mut spec = router(true);
        for port in &mut spec.ports {
            port.both_fps = Some((19_000_000, 1));
        }
        spec
    };
    let lag = || {
        let mut spec = router(true);
        for port in &mut spec.ports {
            port.members = 2;
            port.rate_bps = TEN_GIGABIT;
            port.hash = Hash::SrcDstIp;
            port.partner_hash = Hash::DstIp;
        }
        spec
    };
    let with_server = || {
        let mut spec = cross_connect();
        for port in &mut spec.ports {
            port.in_fps = Some((14_000_000, 1));
        }
        spec
    };
    if "router, 600,000 routes".contains(&only) {
        load(300_000);
        load(500_000);
    }
    let cases: [(&str, &dyn Fn() -> DeviceSpec); 9] = [
        ("cross connect", &cross_connect),
        ("cross connect, in_fps", &with_server),
        ("bridge", &|| bridge(2)),
        ("router", &|| router(true)),
        ("router, both_fps", &asr_like),
        ("router, 2 x 2 members", &lag),
        ("router, VLANs", &|| with_vlans(None)),
        ("router, VLANs shaped", &|| with_vlans(Some(10_000_000))),
        ("router, 600,000 routes", &|| full_table(300_000)),
    ];
    for (name, spec) in cases {
        if !name.contains(&only) {
            continue;
        }
        let (ns, forwarded) = best(|| run(spec(), how));
        let offered = 2 * how.frames;
        let share = forwarded as f64 / offered as f64;
        println!("{name:<24} {ns:>7.1} {:>7.1} {forwarded:>10} {share:>12.4}", ns - wires.0);
    }
}

/// VLANs on its port `west`.
const VLANS: u8 = 205;

/// 16.0/16 to 16.204/16 are behind VLANs of port `west`, each with a shaper of so many bits per second: a 205th of the load is
/// 48.8 Mbit/s.
fn with_vlans(shape: Option<u64>) -> DeviceSpec {
    let mut spec = router(true);
    let Forwarding::Router { routes, neighbours } = &mut spec.forwarding else {
        return spec;
    };
    for number in 0..VLANS {
        let ip = |host: u8| format!("100.80.{number}.{host}");
        spec.ports[0].vlans.push(DeviceVlan {
            tags: vec![DeviceTag {
                vid: 1 + u16::from(number),
                tpid: 0x8100,
            }],
            ipv4: Some(format!("{}/30", ip(1))),
            ipv6: None,
            shape: shape.map(|rate_bps| Police {
                rate_bps,
                layer: Layer::L1,
                burst_bytes: 2000,
                excess: None,
            }),
            queue: 64,
            priority: None,
            ospf: None,
        });
        let (prefix, via) = (format!("16.{number}.0.0/16"), ip(2));
        neighbours.push(Neighbour {
            ip: via.clone(),
            mac: "02:00:00:00:00:0a".to_owned(),
        });
        routes.push(Route { prefix, via });
    }
    spec
}

/// Random prefixes of 20 to 28 bits, so many for each port, by 4,096 next hops in all.
fn full_table(routes_a_port: u32) -> DeviceSpec {
    let mut spec = router(true);
    let mut random = random(1);
    let hop = |port: u32, number: u32| std::net::Ipv4Addr::from(0x6440_0000 + (port << 14) + 2 + number).to_string();
    let Forwarding::Router { routes, neighbours } = &mut spec.forwarding else {
        return spec;
    };
    routes.clear();
    neighbours.clear();
    for port in 0..2 {
        spec.ports[port as usize].ipv4 = Some(format!("{}/18", hop(port, 8192)));
        for number in 0..2048 {
            neighbours.push(Neighbour {
                ip: hop(port, number),
                mac: format!("02:00:00:00:{:02x}:{:02x}", 16 + number / 256, number % 256),
            });
        }
        for _ in 0..routes_a_port {
            let [a, b, c, d, len, hop_high, hop_low, _] = random().to_be_bytes();
            // 1/8 to 99/8 for one port, 101/8 to 199/8 for the other.
            let (first, len) = (1 + a % 99 + 100 * port as u8, 20 + len % 9);
            let bits = u32::from_be_bytes([first, b, c, d]) & u32::MAX << (32 - len);
            routes.push(Route {
                prefix: format!("{}/{len}", std::net::Ipv4Addr::from(bits)),
                via: hop(port, u32::from(u16::from_be_bytes([hop_high, hop_low])) % 2048),
            });
        }
    }
    spec
}

/// What it takes to read a full table and build its router.
fn load(routes_a_port: u32) {
    let text = serde_json::to_string(&full_table(routes_a_port)).expect("JSON");
    let begin = thread_cpu_time().ps;
    let spec: DeviceSpec = serde_json::from_str(&text).expect("a device");
    let parsed = thread_cpu_time().ps;
    let ports = spec.ports.iter().map(|port| {
        let (_, theirs) = pair(&LinkSpec::new("tester", &port.name, port.rate_bps, 1600)).expect("a valid link");
        Box::new(theirs) as Box<dyn Port>
    });
    let ports = ports.collect();
    let device = Device::new(spec, ports, 1600).expect("a valid device");
    let built = thread_cpu_time().ps;
    drop(device);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let ms = |from: u64, to: u64| (to - from) / 1_000_000_000;
    println!(
        "{} routes of {} MB JSON: read in {} ms, built in {} ms; process {most}",
        2 * routes_a_port,
        text.len() / 1_000_000,
        ms(begin, parsed),
        ms(parsed, built)
    );
}

fn best(mut run: impl FnMut() -> (f64, u64)) -> (f64, u64) {
    (0..3)
        .map(|_| run())
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .expect("three runs")
}

/// One direction's frames, ready-made, over and over.
struct Stream {
    frames: Vec<u8>,
    /// Bytes of a frame.
    length: usize,
    next: usize,
    /// Departure of the next frame, and picoseconds between frames.
    at: u64,
    gap: u64,
    left: u64,
}

fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = 0x1234_5678 + seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// An address that a route by the other port than this leads to.
fn behind(routes: &[Route], port: usize, random: u64) -> Option<[u8; 4]> {
    let half = routes.len() / 2;
    let place = (1 - port) * half + (random >> 32) as usize % half;
    let (first, len) = routes[place].prefix.split_once('/')?;
    let (first, len): (std::net::Ipv4Addr, u32) = (first.parse().ok()?, len.parse().ok()?);
    Some((u32::from(first) | (random as u32).checked_shr(len).unwrap_or(0)).to_be_bytes())
}

fn stream(spec: &DeviceSpec, port: usize, gap: u64, left: u64) -> Stream {
    let mut random = random(port as u64);
    let (from, to) = if port == 0 { (16, 48) } else { (48, 16) };
    let routed = matches!(spec.forwarding, Forwarding::Router { .. });
    let destination = if routed {
        [2, 0, 0, 0, 1, port as u8]
    } else {
        mac(1 - port as u8 + 10)
    };
    let mut frames = Vec::new();
    for _ in 0..if left < FRAMES { 1024 } else { FLOWS } {
        let [a, b, c, d, e, f, ..] = random().to_be_bytes();
        let to = match &spec.forwarding {
            Forwarding::Router { routes, .. } if routes.len() > 1000 => behind(routes, port, random()).expect("a route"),
            _ if spec.ports[1 - port].vlans.is_empty() => [to, d, e, f],
            _ => [to, d % VLANS, e, f],
        };
        let mut frame = udp4(mac(port as u8 + 10), destination, [from, a, b, c], to, 64, 64);
        if !spec.ports[port].vlans.is_empty() {
            frame.splice(12..12, [0x81, 0, 0, 1 + d % VLANS]);
        }
        frames.extend(frame);
    }
    Stream {
        length: if spec.ports[port].vlans.is_empty() { 60 } else { 64 },
        frames,
        next: 0,
        at: 0,
        gap,
        left,
    }
}

impl Stream {
    fn send(&mut self, wire: &mut WirePort, now: u64) {
        let (length, flows) = (self.length, self.frames.len() / self.length);
        while self.left > 0 && self.at <= now {
            let due = ((now - self.at) / self.gap + 1).min(self.left).min(256);
            wire.transmit(Instant { ps: now }, due as usize, &mut |burst| {
                for index in 0..burst.len() {
                    let frame = &self.frames[self.next * length..][..length];
                    burst.frame_mut(index)[..length].copy_from_slice(frame);
                    burst.set(index, length, Instant { ps: self.at });
                    self.at += self.gap;
                    self.next = if self.next + 1 == flows { 0 } else { self.next + 1 };
                }
                burst.len()
            })
            .expect("the wire is there");
            self.left -= due;
        }
    }
}

/// Reads two bytes of each frame, as the least a receiver does.
fn drain(wire: &mut WirePort, now: u64) -> u64 {
    let mut sum = 0u64;
    let mut frames = 0;
    let mut read = |burst: &mut netdyno_io::port::Burst<'_>| {
        for index in 0..burst.len() {
            sum += u64::from(burst.frame(index)[42]) + burst.slots()[index].at.ps;
        }
    };
    loop {
        match wire.receive(Instant { ps: now }, 256, &mut read).expect("the wire is there") {
            0 => break,
            got => frames += got as u64,
        }
    }
    std::hint::black_box(sum);
    frames
}

fn run(spec: DeviceSpec, how: Run) -> (f64, u64) {
    let mut tester = Vec::new();
    let mut ports: Vec<Box<dyn Port>> = Vec::new();
    let mut streams = Vec::new();
    for (index, port) in spec.ports.iter().enumerate() {
        let rate = port.rate_bps * u64::from(port.members);
        let (ours, theirs) = pair(&LinkSpec::new("tester", &port.name, rate, 1600)).expect("a valid link");
        tester.push(ours);
        ports.push(Box::new(theirs));
        // At line rate, where a tag or none comes to each frame.
        let bytes = if spec.ports.iter().all(|port| port.vlans.is_empty()) {
            84
        } else {
            88
        };
        streams.push(stream(&spec, index, bytes * 8 * 1_000_000_000_000 / rate, how.frames));
    }
    let mut device = Device::new(spec, ports, 1600).expect("a valid device");
    let begin = thread_cpu_time().ps;
    let mut received = 0;
    let mut now = 0;
    loop {
        for (stream, wire) in streams.iter_mut().zip(&mut tester) {
            stream.send(wire, now);
        }
        device.step(Instant { ps: now });
        received += tester.iter_mut().map(|wire| drain(wire, now)).sum::<u64>();
        if streams.iter().all(|stream| stream.left == 0) && device.next_wakeup().is_none() && device.counters().held == 0 {
            received += tester.iter_mut().map(|wire| drain(wire, u64::MAX)).sum::<u64>();
            break;
        }
        now += how.quantum_ps;
    }
    let spent = (thread_cpu_time().ps - begin) as f64 / 1000.0;
    (spent / (2 * how.frames) as f64, received)
}

fn tester_alone(how: Run) -> (f64, u64) {
    let spec = cross_connect();
    let (mut west, mut east) = pair(&LinkSpec::new("west", "east", TEN_GIGABIT, 1600)).expect("a valid link");
    let mut streams = [stream(&spec, 0, 67_200, how.frames), stream(&spec, 1, 67_200, how.frames)];
    let begin = thread_cpu_time().ps;
    let mut received = 0;
    let mut now = 0;
    while received < 2 * how.frames {
        streams[0].send(&mut west, now);
        streams[1].send(&mut east, now);
        received += drain(&mut west, now) + drain(&mut east, now);
        now += how.quantum_ps;
    }
    ((thread_cpu_time().ps - begin) as f64 / 1000.0 / (2 * how.frames) as f64, received)
}
