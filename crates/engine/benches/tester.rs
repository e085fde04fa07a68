//! The tester's own cost: building and sending into a port that leads nowhere, receiving and accounting
//! from frames made before. Processor time, best of several; `NETDYNO_BENCH_FRAMES` frames (20 million).

use netdyno_engine::Trial;
use netdyno_engine::spec::TrialSpec;
use netdyno_io::backend::null::NullPort;
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Slot};
use netdyno_io::time::{Instant, thread_cpu_time};
use serde_json::{Value, json};

const ROUNDS: usize = 5;

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
    receive("receive and account, 1 flow, 64 B", 1, frames, false);
    receive("receive and account, 65,536 flows, 64 B", 65_536, frames, false);
    receive("receive and account, 1,048,576 flows, 64 B", 1 << 20, frames, false);
    receive("the same, checksums checked", 1 << 20, frames, true);
}

/// Ten billion bits a second for as long as `frames` take.
fn spec(sizes: &Value, flows: u32, frames: u64, verify: bool) -> TrialSpec {
    let random = |net: u8| json!({"random": {"min": format!("{net}.0.0.1"), "max": format!("{net}.255.255.254")}});
    serde_json::from_value(json!({
        "seed": 1,
        "streams": [{
            "name": "west-east", "tx_port": 0, "rx_port": 1,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": random(16), "dst": random(48)},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "peer", "sizes": sizes, "flows": flows,
            "schedule": [{"name": "traffic", "duration_ns": frames * 672 / 10, "from_bps": 10_000_000_000_u64, "to_bps": 10_000_000_000_u64}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 0, "drain_ns": 1_000_000, "sample_ns": 100_000_000, "verify": verify,
    }))
    .expect("a trial")
}

fn print(name: &str, ns: f64) {
    println!("{name:<45} {ns:7.2} ns/frame {:8.1} M frames/s", 1000.0 / ns);
}

fn send(name: &str, sizes: &Value, flows: u32, frames: u64) {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let port = |name| Box::new(NullPort::open(name, 1514).expect("opens")) as Box<dyn Port>;
        let mut trial = Trial::new(spec(sizes, flows, frames, false), vec![port("west"), port("east")]).expect("fits");
        let mut now = Instant::ZERO;
        let before = thread_cpu_time();
        while !trial.finished() {
            trial.step(now);
            // 256 frames of 64 bytes are due in each round.
            now.ps += 256 * 67_200;
        }
        let took = thread_cpu_time() - before;
        let found = trial.result();
        assert_eq!(found.health.unsent, 0);
        best = best.min(took.ps as f64 / 1000.0 / found.streams[0].offered as f64);
    }
    print(name, best);
}

/// Frames that one trial sent into `Canned`, handed to another trial as if they had crossed a network.
struct Canned {
    info: PortInfo,
    memory: Vec<u8>,
    slots: Vec<Slot>,
    next: usize,
    mode: Mode,
}

#[derive(PartialEq)]
enum Mode {
    Record,
    Replay,
    Swallow,
}

const STRIDE: usize = 64;

fn canned(name: &str, mode: Mode) -> Canned {
    Canned {
        info: PortInfo {
            name: name.to_owned(),
            backend: "canned".to_owned(),
            rate_bps: 0,
            max_frame: STRIDE as u32,
            exact_time: false,
        },
        memory: Vec::new(),
        slots: Vec::new(),
        next: 0,
        mode,
    }
}

impl Port for Canned {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let first = if self.mode == Mode::Record { self.slots.len() } else { 0 };
        self.slots.truncate(first);
        self.slots.extend((first..first + limit).map(|index| Slot {
            offset: (index * STRIDE) as u32,
            len: STRIDE as u32,
            at: now,
        }));
        self.memory.resize(self.slots.len() * STRIDE, 0);
        let wrote = fill(&mut Burst::new(&mut self.memory, &mut self.slots[first..]));
        self.slots.truncate(first + wrote);
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        if self.mode != Mode::Replay {
            return Ok(0);
        }
        let until = (self.next + limit).min(self.slots.len());
        let due = self.slots[self.next..until].iter().take_while(|slot| slot.at <= now).count();
        if due > 0 {
            read(&mut Burst::new(&mut self.memory, &mut self.slots[self.next..self.next + due]));
            self.next += due;
        }
        Ok(due)
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

fn receive(name: &str, flows: u32, frames: u64, verify: bool) {
    let frames = frames.min(4_000_000);
    let small = json!([{"size": 64, "weight": 1}]);
    let rounds = |trial: &mut Trial| {
        let mut now = Instant::ZERO;
        let before = thread_cpu_time();
        while !trial.finished() {
            trial.step(now);
            now.ps += 256 * 67_200;
        }
        (thread_cpu_time() - before).ps as f64 / 1000.0
    };
    let (memory, slots) = dump(flows, frames);
    let (mut best, mut sending) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let mut silent = Trial::new(
            spec(&small, flows, frames, verify),
            vec![Box::new(canned("west", Mode::Swallow)), Box::new(canned("east", Mode::Swallow))],
        )
        .expect("fits");
        sending = sending.min(rounds(&mut silent));
        let mut east = canned("east", Mode::Replay);
        (east.memory, east.slots) = (memory.clone(), slots.clone());
        let mut trial = Trial::new(
            spec(&small, flows, frames, verify),
            vec![Box::new(canned("west", Mode::Swallow)), Box::new(east)],
        )
        .expect("fits");
        best = best.min(rounds(&mut trial));
        let found = trial.result();
        assert_eq!((found.streams[0].received, found.streams[0].lost), (found.streams[0].offered, 0));
    }
    print(name, (best - sending) / frames as f64);
}

/// The frames of the trial, as they left.
fn dump(flows: u32, frames: u64) -> (Vec<u8>, Vec<Slot>) {
    use std::sync::{Arc, Mutex};
    struct Shared(Arc<Mutex<Canned>>, PortInfo);
    impl Port for Shared {
        fn info(&self) -> &PortInfo {
            &self.1
        }
        fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
            self.0.lock().expect("not poisoned").transmit(now, limit, fill)
        }
        fn receive(&mut self, _: Instant, _: usize, _: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
            Ok(0)
        }
        fn counters(&self) -> PortCounters {
            PortCounters::default()
        }
    }
    let west = canned("west", Mode::Record);
    let info = west.info.clone();
    let kept = Arc::new(Mutex::new(west));
    let small = json!([{"size": 64, "weight": 1}]);
    let ports: Vec<Box<dyn Port>> = vec![Box::new(Shared(Arc::clone(&kept), info)), Box::new(canned("east", Mode::Swallow))];
    let mut trial = Trial::new(spec(&small, flows, frames, false), ports).expect("fits");
    let mut now = Instant::ZERO;
    while !trial.finished() {
        trial.step(now);
        now.ps += 256 * 67_200;
    }
    let mut kept = kept.lock().expect("not poisoned");
    (std::mem::take(&mut kept.memory), std::mem::take(&mut kept.slots))
}
