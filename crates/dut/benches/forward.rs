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
    let cases: [(&str, &dyn Fn() -> DeviceSpec); 6] = [
        ("cross connect", &cross_connect),
        ("cross connect, in_fps", &with_server),
        ("bridge", &|| bridge(2)),
        ("router", &|| router(true)),
        ("router, both_fps", &asr_like),
        ("router, 2 x 2 members", &lag),
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

fn stream(spec: &DeviceSpec, port: usize, gap: u64, left: u64) -> Stream {
    let mut state = 0x1234_5678 + port as u64;
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
    for _ in 0..if left < FRAMES { 1024 } else { FLOWS } {
        let [a, b, c, d, e, f, ..] = random().to_be_bytes();
        frames.extend(udp4(mac(port as u8 + 10), destination, [from, a, b, c], [to, d, e, f], 64, 64));
    }
    Stream {
        frames,
        next: 0,
        at: 0,
        gap,
        left,
    }
}

impl Stream {
    fn send(&mut self, wire: &mut WirePort, now: u64) {
        let flows = self.frames.len() / 60;
        while self.left > 0 && self.at <= now {
            let due = ((now - self.at) / self.gap + 1).min(self.left).min(256);
            wire.transmit(Instant { ps: now }, due as usize, &mut |burst| {
                for index in 0..burst.len() {
                    let frame = &self.frames[self.next * 60..][..60];
                    burst.frame_mut(index)[..60].copy_from_slice(frame);
                    burst.set(index, 60, Instant { ps: self.at });
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
        streams.push(stream(&spec, index, 84 * 8 * 1_000_000_000_000 / rate, how.frames));
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
