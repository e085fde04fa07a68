//! What a frame costs in an emulated device, in virtual time over wires: `cargo bench -p netdyno-dut`.
//!
//! `whole` is everything between two bare tester ends that copy ready-made frames in and read them out;
//! `tester` is the same without a device (a wire to the same tester), so the difference is the device's share.

use netdyno_dut::Device;
use netdyno_dut::spec::{DeviceSpec, Forwarding, Hash};
use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::wire::{WirePort, pair};
use netdyno_io::drive::Node;
use netdyno_io::port::Port;
use netdyno_io::time::{Instant, thread_cpu_time};

#[path = "../tests/common/mod.rs"]
mod common;
use common::{TEN_GIGABIT, bridge, cross_connect, mac, router, udp4};

const FLOWS: usize = 65_536;
/// Frames per direction and case.
const FRAMES: u64 = 4_000_000;
/// How far time goes on at once.
const QUANTUM_PS: u64 = 10_000_000;

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!("64-byte frames, {FLOWS} random flows, both directions at line rate, ns a frame");
    println!(
        "{:<24} {:>7} {:>7} {:>10} {:>12}",
        "device", "whole", "device", "forwarded", "of offered"
    );
    let wires = best(tester_alone);
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
    let cases: [(&str, &dyn Fn() -> DeviceSpec); 6] = [
        ("cross connect", &cross_connect),
        ("cross connect, in_fps", &with_server),
        ("bridge", &|| bridge(2)),
        ("router", &|| router(true)),
        ("router, both_fps", &asr_like),
        ("router, 2 x 2 members", &lag),
    ];
    for (name, spec) in cases {
        if only.as_deref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let (ns, forwarded) = best(|| run(spec()));
        let offered = 2 * FRAMES;
        let share = forwarded as f64 / offered as f64;
        println!("{name:<24} {ns:>7.1} {:>7.1} {forwarded:>10} {share:>12.4}", ns - wires.0);
    }
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
    next: usize,
    /// Departure of the next frame, and picoseconds between frames.
    at: u64,
    gap: u64,
    left: u64,
}

fn stream(spec: &DeviceSpec, port: usize, seed: u64, gap: u64) -> Stream {
    let mut state = seed;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (from, to) = if port == 0 { (16, 48) } else { (48, 16) };
    let routed = matches!(spec.forwarding, Forwarding::Router { .. });
    let destination = if routed {
        [2, 0, 0, 0, 1, port as u8]
    } else {
        mac(1 - port as u8 + 10)
    };
    let mut frames = Vec::new();
    for _ in 0..FLOWS {
        let [a, b, c, d, e, f, ..] = random().to_be_bytes();
        frames.extend(udp4(mac(port as u8 + 10), destination, [from, a, b, c], [to, d, e, f], 64, 64));
    }
    Stream {
        frames,
        next: 0,
        at: 0,
        gap,
        left: FRAMES,
    }
}

impl Stream {
    fn send(&mut self, wire: &mut WirePort, now: u64) {
        while self.left > 0 && self.at <= now {
            let due = ((now - self.at) / self.gap + 1).min(self.left).min(256);
            wire.transmit(Instant { ps: now }, due as usize, &mut |burst| {
                for index in 0..burst.len() {
                    let frame = &self.frames[self.next * 60..][..60];
                    burst.frame_mut(index)[..60].copy_from_slice(frame);
                    burst.set(index, 60, Instant { ps: self.at });
                    self.at += self.gap;
                    self.next = (self.next + 1) % FLOWS;
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

fn run(spec: DeviceSpec) -> (f64, u64) {
    let mut tester = Vec::new();
    let mut ports: Vec<Box<dyn Port>> = Vec::new();
    let mut streams = Vec::new();
    for (index, port) in spec.ports.iter().enumerate() {
        let rate = port.rate_bps * u64::from(port.members);
        let (ours, theirs) = pair(&LinkSpec::new("tester", &port.name, rate, 1600)).expect("a valid link");
        tester.push(ours);
        ports.push(Box::new(theirs));
        streams.push(stream(&spec, index, 0x1234_5678 + index as u64, 84 * 8 * 1_000_000_000_000 / rate));
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
        now += QUANTUM_PS;
    }
    let spent = (thread_cpu_time().ps - begin) as f64 / 1000.0;
    (spent / (2 * FRAMES) as f64, received)
}

fn tester_alone() -> (f64, u64) {
    let spec = cross_connect();
    let (mut west, mut east) = pair(&LinkSpec::new("west", "east", TEN_GIGABIT, 1600)).expect("a valid link");
    let mut streams = [stream(&spec, 0, 1, 67_200), stream(&spec, 1, 2, 67_200)];
    let begin = thread_cpu_time().ps;
    let mut received = 0;
    let mut now = 0;
    while received < 2 * FRAMES {
        streams[0].send(&mut west, now);
        streams[1].send(&mut east, now);
        received += drain(&mut west, now) + drain(&mut east, now);
        now += QUANTUM_PS;
    }
    ((thread_cpu_time().ps - begin) as f64 / 1000.0 / (2 * FRAMES) as f64, received)
}
