//! What a frame costs, in nanoseconds: build, find the probe, verify. `cargo bench -p netdyno-frame`.
#![allow(missing_docs, clippy::disallowed_methods)] // a bench reads the clock

use netdyno_frame::checksum::{verify, verify_frame};
use netdyno_frame::parse::parse;
use netdyno_frame::probe::find;
use netdyno_frame::spec::{Content, Header, Write};
use netdyno_frame::template::{Slots, Template};
use netdyno_frame::{checksum, mix};
use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

/// Slots of a ring, as a backend would lend them.
struct Ring<'a> {
    memory: &'a mut [u8],
    stride: usize,
}

impl Slots for Ring<'_> {
    #[inline]
    fn each(&mut self, frames: Range<usize>, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        let slots = self.memory.chunks_exact_mut(self.stride).skip(frames.start).take(frames.len());
        for (place, slot) in slots.enumerate() {
            black_box(write(place, slot));
        }
    }
}

/// Rounds short enough (0.1 ms or so) that most run undisturbed: others use this machine too.
const ROUNDS: usize = 501;

/// Prints the best and the median of the rounds.
fn print_rate(name: &str, frames: usize, mut round: impl FnMut()) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_nanos() as f64 / frames as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{name:<44} {:>7.2} ns a frame of wall time at best, {:>7.2} median",
        times[0],
        times[ROUNDS / 2]
    );
}

fn build(name: &str, headers: &str, sizes: &[u32], weights: &[u32], flows: u32) {
    build_with(name, headers, "[]", sizes, weights, flows);
}

fn build_with(name: &str, headers: &str, writes: &str, sizes: &[u32], weights: &[u32], flows: u32) {
    let headers: Vec<Header> = serde_json::from_str(headers).expect("headers");
    let writes: Vec<Write> = serde_json::from_str(writes).expect("writes");
    let content = Content {
        headers: &headers,
        writes: &writes,
        payload: &[],
        probe: true,
    };
    let template = Template::of(content, sizes, flows, 1).expect("a template");
    let order = mix::order(weights);
    let stride = (*sizes.iter().max().expect("a size") as usize).next_multiple_of(64);
    let (burst, bursts) = (64, 200);
    let mut memory = vec![0; stride * burst];
    let mut cursor = template.cursor();
    let which: Vec<u16> = order.iter().copied().cycle().take(burst).collect();
    let departures: Vec<u64> = (0..burst as u64).map(|index| index * 67_200).collect();
    print_rate(name, burst * bursts, || {
        for _ in 0..bursts {
            let mut ring = Ring {
                memory: &mut memory,
                stride,
            };
            template.write_burst(&mut cursor, &which, &departures, &mut ring);
            black_box(&mut memory);
        }
    });
}

const ETHERNET: &str = r#"{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}"#;
const UDP: &str = r#"{"type": "udp", "sport": 1025, "dport": 12}"#;
const ONE: &str = r#"{"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"}"#;
const RANDOM: &str = r#"{"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}},
    "dst": {"random": {"min": "48.0.0.1", "max": "48.255.255.254"}}}"#;
const STEP: &str = r#"{"type": "ipv4", "src": {"step": {"start": "16.0.0.1", "step": 1, "count": 250}},
    "dst": {"step": {"start": "48.0.0.1", "step": 1, "count": 251}}}"#;
const PAIRS: &str = r#"{"type": "ipv4", "src": {"step": {"start": "16.0.0.1", "step": 1, "count": 250}}, "dst": "48.0.0.1"}"#;
const UDP_PAIRS: &str = r#"{"type": "udp", "sport": 1025, "dport": {"step": {"start": 1, "step": 1, "count": 4000, "every": 250}}}"#;
const RANDOM6: &str = r#"{"type": "ipv6", "src": {"random": {"min": "2001:2::1", "max": "2001:2::ffff:ffff"}},
    "dst": {"random": {"min": "2001:2:0:1::1", "max": "2001:2:0:1::ffff:ffff"}}}"#;
const PORTS: &str = r#"{"type": "udp", "sport": {"random": {"min": 1024, "max": 65535}},
    "dport": {"random": {"min": 1, "max": 49151}}}"#;
const VLAN: &str = r#"{"type": "vlan", "vid": 100}"#;

fn main() {
    let stack = |parts: &[&str]| format!("[{}]", parts.join(","));
    let (image, mut memory) = ([7u8; 60], vec![0u8; 64 * 64]);
    print_rate("for comparison: copy 60 bytes, no more", 64 * 200, || {
        for _ in 0..200 {
            for slot in memory.chunks_exact_mut(64) {
                slot[..60].copy_from_slice(black_box(&image));
            }
            black_box(&mut memory);
        }
    });
    build("build 64 B, one flow", &stack(&[ETHERNET, ONE, UDP]), &[64], &[1], 1);
    build(
        "build 64 B, 1 M flows, random src and dst",
        &stack(&[ETHERNET, RANDOM, UDP]),
        &[64],
        &[1],
        1_000_000,
    );
    build(
        "build 64 B, random src, dst, ports",
        &stack(&[ETHERNET, RANDOM, PORTS]),
        &[64],
        &[1],
        1_000_000,
    );
    build(
        "build 64 B, 1 M flows, stepped src and dst",
        &stack(&[ETHERNET, STEP, UDP]),
        &[64],
        &[1],
        1_000_000,
    );
    build(
        "build 64 B, all pairs of stepped src and dport",
        &stack(&[ETHERNET, PAIRS, UDP_PAIRS]),
        &[64],
        &[1],
        1_000_000,
    );
    build_with(
        "build 64 B, the same by two writes",
        &stack(&[ETHERNET, ONE, UDP]),
        r#"[{"at": 29, "bytes": 1, "value": {"step": {"start": 1, "step": 1, "count": 250}}},
            {"at": 36, "bytes": 2, "value": {"step": {"start": 1, "step": 1, "count": 4000, "every": 250}}}]"#,
        &[64],
        &[1],
        1_000_000,
    );
    build(
        "build each of 1,455 sizes, random src and dst",
        &stack(&[ETHERNET, RANDOM, UDP]),
        &(64..1519).collect::<Vec<_>>(),
        &[1; 1455],
        1_000_000,
    );
    build(
        "build 68 B with tag, random src and dst",
        &stack(&[ETHERNET, VLAN, RANDOM, UDP]),
        &[68],
        &[1],
        1_000_000,
    );
    build(
        "build 84 B, IPv6, random src and dst",
        &stack(&[ETHERNET, RANDOM6, UDP]),
        &[84],
        &[1],
        1_000_000,
    );
    build(
        "build imix/trex, random src and dst",
        &stack(&[ETHERNET, RANDOM, UDP]),
        &[64, 594, 1518],
        &[28, 16, 4],
        1_000_000,
    );
    build(
        "build 1518 B, random src and dst",
        &stack(&[ETHERNET, RANDOM, UDP]),
        &[1518],
        &[1],
        1_000_000,
    );

    let headers: Vec<Header> = serde_json::from_str(&stack(&[ETHERNET, RANDOM, UDP])).expect("headers");
    for size in [64, 1518] {
        let template = Template::new(&headers, &[size], 1_000_000, 1).expect("a template");
        let frames: Vec<Vec<u8>> = (0..64).map(|flow| template.frame(flow, 0, 0, u64::from(flow))).collect();
        let rounds = if size == 64 { 200 } else { 50 };
        let each = |name: &str, look: &dyn Fn(&[u8])| {
            print_rate(&format!("{name} {size} B"), rounds * frames.len(), || {
                for _ in 0..rounds {
                    for frame in &frames {
                        look(black_box(frame));
                    }
                }
            });
        };
        each("probe find, hinted,", &|frame| {
            black_box(find(frame, &mut 42));
        });
        each("verify_frame", &|frame| {
            black_box(verify_frame(frame));
        });
        each("parse", &|frame| {
            black_box(parse(frame));
        });
        each("parse and verify", &|frame| {
            black_box(parse(frame).map(|layers| verify(frame, &layers)));
        });
        each("checksum::sum of the payload", &|frame| {
            black_box(checksum::sum(&frame[42..]));
        });
    }
}
