//! The tester's own cost: building and sending into a port that leads nowhere, receiving and accounting
//! what was sent just before. Processor time, best of several; `NETDYNO_BENCH_FRAMES` frames (20 million). Ticks are those of the
//! processor's time stamp counter. `cargo bench -p netdyno-engine --bench tester -- send` prints only the lines with `send` in them.
//!
//! What the null port was sent is looked at by a receiver of its own, outside of the timed part: how many flows are in it, and how
//! many checksums of frames are right.

use netdyno_engine::Trial;
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::checksum::{Check, verify_frame};
use netdyno_frame::probe::find;
use netdyno_io::backend::null::NullPort;
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Slot, Timestamps};
use netdyno_io::time::{Clock, Instant, thread_cpu_time, ticks};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock};

const ROUNDS: usize = 5;

/// Whether the line `name` is wanted: it contains what the command line asks for, if anything.
fn is_wanted(name: &str) -> bool {
    let mut asked = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    asked.next().is_none_or(|part| name.contains(&part))
}

fn main() {
    let frames: u64 = std::env::var("NETDYNO_BENCH_FRAMES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(20_000_000);
    let mix = json!([{"size": 64, "weight": 28}, {"size": 594, "weight": 16}, {"size": 1518, "weight": 4}]);
    let small = json!([{"size": 64, "weight": 1}]);
    send("build and send, null, 1 flow, 64 B", &small, 1, frames);
    send("build and send, null, 65,536 flows, 64 B", &small, 65_536, frames);
    send("build and send, null, 65,536 flows, imix", &mix, 65_536, frames / 4);
    for streams in [2, 16, 256, 4096] {
        let name = format!("build and send, null, {streams} streams, 64 B");
        send_streams(&name, &small, 65_536, frames, streams);
    }
    let nothing = json!({});
    receive("receive and account, 1 flow, 64 B", 1, frames, false, &nothing);
    receive("receive and account, 65,536 flows, 64 B", 65_536, frames, false, &nothing);
    receive("receive and account, 1,048,576 flows, 64 B", 1 << 20, frames, false, &nothing);
    receive("the same, checksums checked", 1 << 20, frames, true, &nothing);
    receive(
        "receive and date losses, 65,536 flows",
        65_536,
        frames,
        false,
        &json!({"gaps": 1000}),
    );
    receive(
        "receive and look at order, 65,536 flows",
        65_536,
        frames,
        false,
        &json!({"order": true}),
    );
    receive(
        "receive and look at IPDV, 65,536 flows",
        65_536,
        frames,
        false,
        &json!({"variation": true}),
    );
    receive(
        "receive and count by flow, 65,536 flows",
        65_536,
        frames,
        false,
        &json!({"by_flow": true}),
    );
}

/// Ten billion bits a second for as long as `frames` take.
fn spec(sizes: &Value, flows: u32, frames: u64, verify: bool, observe: &Value) -> TrialSpec {
    spec_of_streams(sizes, flows, frames, verify, observe, 1)
}

/// As [`spec`], in `streams` streams of as many flows and as much of the load each.
fn spec_of_streams(sizes: &Value, flows: u32, frames: u64, verify: bool, observe: &Value, streams: u32) -> TrialSpec {
    let bps = 10_000_000_000_u64 / u64::from(streams);
    let random = |net: u8| json!({"random": {"min": format!("{net}.0.0.1"), "max": format!("{net}.255.255.254")}});
    let stream = json!({
        "name": "west-east", "tx_port": 0, "rx_port": 1,
        "headers": [
            {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
            {"type": "ipv4", "src": random(16), "dst": random(48)},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": "peer", "sizes": sizes, "flows": flows / streams,
        "schedule": [{"name": "traffic", "duration_ns": frames * 672 / 10, "from_bps": bps, "to_bps": bps}],
    });
    serde_json::from_value(json!({
        "seed": 1,
        "streams": vec![stream; streams as usize],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 0, "drain_ns": 1_000_000, "sample_ns": 100_000_000, "verify": verify, "observe": observe,
    }))
    .expect("a trial")
}

fn print(name: &str, ns: f64, more: &str) {
    static TICKS: OnceLock<f64> = OnceLock::new();
    let per_ns = TICKS.get_or_init(|| {
        let (clock, before) = (Clock::start(), ticks());
        while clock.now() < Instant::from_ns(20_000_000) {}
        (ticks() - before) as f64 / (clock.now().ps as f64 / 1000.0)
    });
    let (mpps, ticks) = (1000.0 / ns, ns * per_ns);
    println!("{name:<45} {ns:7.2} ns/frame of processor time {mpps:8.1} M frames/s {ticks:6.1} ticks{more}");
}

/// Distinct flows among the first `frames` frames of the trial, and how many of these have a probe and right IP and UDP checksums.
fn look(sizes: &Value, flows: u32, frames: u64, streams: u32) -> String {
    let (memory, ports) = ends(Fate::Kept, 1536);
    rounds(spec_of_streams(sizes, flows, frames, false, &json!({}), streams), ports);
    let kept = memory.lock().expect("not poisoned");
    let (mut seen, mut right, mut hint) = (vec![false; flows as usize], 0_usize, 0);
    for slot in &kept.slots {
        let frame = &kept.bytes[slot.offset as usize..][..slot.len as usize];
        let verified = verify_frame(frame);
        if let (Some((probe, _)), Check::Right, Check::Right) = (find(frame, &mut hint), verified.ip, verified.l4) {
            seen[probe.flow as usize] = true;
            right += 1;
        }
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    format!(
        ", of {} frames looked at {distinct} flows, {right} with right checksums",
        kept.slots.len()
    )
}

fn send(name: &str, sizes: &Value, flows: u32, frames: u64) {
    send_streams(name, sizes, flows, frames, 1);
}

fn send_streams(name: &str, sizes: &Value, flows: u32, frames: u64, streams: u32) {
    if !is_wanted(name) {
        return;
    }
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let port = |name| Box::new(NullPort::open(name, 1514).expect("opens")) as Box<dyn Port>;
        let asked = spec_of_streams(sizes, flows, frames, false, &json!({}), streams);
        let (took, mut trial) = rounds(asked, vec![port("west"), port("east")]);
        let found = trial.result();
        assert_eq!(found.health.unsent, 0);
        best = best.min(took / found.streams.iter().map(|stream| stream.offered).sum::<u64>() as f64);
    }
    print(name, best, &look(sizes, flows, 2 * u64::from(flows.max(1000)), streams));
}

/// Memory between a port that sends and one that receives, as long as nobody looks at the time.
struct Memory {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    stride: usize,
}

/// What becomes of the frames of a trial.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// They are kept, all of them.
    Kept,
    /// They are received in the same round, from the nearest cache.
    Received,
    /// The next burst is written over them.
    Forgotten,
}

/// One end of a [`Memory`].
struct End {
    memory: Arc<Mutex<Memory>>,
    fate: Fate,
    info: PortInfo,
}

/// Room for a frame of 64 bytes.
const SMALL: usize = 64;

/// A west port that sends and an east port that receives.
fn ends(fate: Fate, stride: usize) -> (Arc<Mutex<Memory>>, Vec<Box<dyn Port>>) {
    let memory = Arc::new(Mutex::new(Memory {
        bytes: Vec::new(),
        slots: Vec::new(),
        stride,
    }));
    let end = |name: &str| -> Box<dyn Port> {
        Box::new(End {
            memory: Arc::clone(&memory),
            fate,
            info: PortInfo {
                name: name.to_owned(),
                backend: "memory".to_owned(),
                rate_bps: 0,
                max_frame: stride as u32,
                time: Timestamps::Software,
                detail: String::new(),
            },
        })
    };
    let ports = vec![end("west"), end("east")];
    (memory, ports)
}

impl Port for End {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let Memory { bytes, slots, stride } = &mut *self.memory.lock().expect("not poisoned");
        if self.fate == Fate::Forgotten {
            slots.clear();
        }
        let first = slots.len();
        slots.extend((first..first + limit).map(|index| Slot {
            offset: (index * *stride) as u32,
            len: *stride as u32,
            at: now,
        }));
        if bytes.len() < slots.len() * *stride {
            bytes.resize(slots.len() * *stride, 0);
        }
        let wrote = fill(&mut Burst::new(bytes, &mut slots[first..]));
        slots.truncate(first + wrote);
        Ok(wrote)
    }

    fn receive(&mut self, _: Instant, _: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let Memory { bytes, slots, .. } = &mut *self.memory.lock().expect("not poisoned");
        if self.fate != Fate::Received || self.info.name != "east" || slots.is_empty() {
            return Ok(0);
        }
        read(&mut Burst::new(bytes, slots));
        let lent = slots.len();
        slots.clear();
        Ok(lent)
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

/// Processor time of all rounds of a trial, ns, and the trial.
fn rounds(spec: TrialSpec, ports: Vec<Box<dyn Port>>) -> (f64, Trial) {
    let mut trial = Trial::new(spec, ports).expect("fits");
    let mut now = Instant::ZERO;
    let before = thread_cpu_time();
    while !trial.finished() {
        trial.step(now);
        // 256 frames of 64 bytes are due in each round.
        now.ps += 256 * 67_200;
    }
    ((thread_cpu_time() - before).ps as f64 / 1000.0, trial)
}

fn receive(name: &str, flows: u32, frames: u64, verify: bool, observe: &Value) {
    if !is_wanted(name) {
        return;
    }
    let small = json!([{"size": 64, "weight": 1}]);
    let (mut both, mut sending) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let asked = spec(&small, flows, frames, verify, observe);
        sending = sending.min(rounds(asked.clone(), ends(Fate::Forgotten, SMALL).1).0);
        let (took, mut trial) = rounds(asked, ends(Fate::Received, SMALL).1);
        both = both.min(took);
        let found = trial.result();
        assert_eq!((found.streams[0].received, found.streams[0].lost), (found.streams[0].offered, 0));
    }
    print(name, (both - sending) / frames as f64, "");
}
