//! A tester with one port on a cable, and a scripted box at its far end.

use netdyno_engine::Trial;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::probe::find;
use netdyno_frame::spec::Mac;
use netdyno_io::backend::{LinkSpec, wire};
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::{Burst, Port};
use netdyno_io::time::{Duration, Instant};
use serde_json::{Value, json};

pub const US: u64 = 1_000_000;
pub const MS: u64 = 1_000 * US;
pub const SECOND: u64 = 1_000 * MS;
/// L1 bits of a 64-byte frame.
pub const BITS_64: u64 = 672;
/// The tester's only port.
pub const TESTER: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// The box answers this long after it was asked.
pub const THINKING: u64 = 200 * US;

/// What the box says to a frame that came at this time: frames.
pub type Script = Box<dyn FnMut(u64, &[u8]) -> Vec<Vec<u8>> + Send>;

/// The box.
pub struct Far {
    port: Box<dyn Port>,
    pub script: Script,
    /// What it will say, and when.
    pub says: Vec<(u64, Vec<u8>)>,
    /// What it heard that was no test frame.
    pub heard: Vec<(u64, Vec<u8>)>,
    /// Test frames: departure, destination, outermost VLAN (0: none).
    pub tests: Vec<(u64, Mac, u16)>,
    /// Whether test frames go back by the port they came in on, addresses changed as a router does.
    pub hairpin: bool,
}

impl Far {
    fn take(&mut self, at: u64, frame: &[u8]) {
        let Some((probe, _)) = find(frame, &mut 0) else {
            self.heard.push((at, frame.to_vec()));
            let answers = (self.script)(at, frame);
            self.says.extend(answers.into_iter().map(|answer| (at + THINKING, answer)));
            return;
        };
        let vlan = if frame[12..14] == [0x81, 0x00] {
            u16::from_be_bytes([frame[14], frame[15]]) & 0xfff
        } else {
            0
        };
        let to = *frame.first_chunk().expect("six bytes");
        self.tests.push((probe.departure_ps, Mac(to), vlan));
        if self.hairpin {
            let back = [&TESTER.0[..], &to, &frame[12..]].concat();
            self.says.push((at + THINKING, back));
        }
    }
}

impl Node for Far {
    fn next_wakeup(&self) -> Option<Instant> {
        let due = self.says.iter().map(|(at, _)| Instant { ps: *at });
        self.port.next_arrival().into_iter().chain(due).min()
    }

    fn step(&mut self, now: Instant) {
        let mut came = Vec::new();
        let mut read = |burst: &mut Burst<'_>| {
            for index in 0..burst.len() {
                came.push((burst.slots()[index].at.ps, burst.frame(index).to_vec()));
            }
        };
        while self.port.receive(now, 256, &mut read).expect("a cable") > 0 {}
        for (at, frame) in came {
            self.take(at, &frame);
        }
        self.says.sort_by_key(|(at, _)| *at);
        let due = self.says.iter().take_while(|(at, _)| *at <= now.ps).count();
        for (ps, mut frame) in self.says.drain(..due) {
            frame.resize(frame.len().max(60), 0);
            let sent = self.port.transmit(now, 1, &mut |burst| {
                burst.frame_mut(0)[..frame.len()].copy_from_slice(&frame);
                burst.set(0, frame.len(), Instant { ps });
                1
            });
            assert_eq!(sent.expect("a cable"), 1);
        }
    }
}

/// IPv4/UDP frames of 64 bytes to this destination, `per_second` of them for `seconds`, back to the same port.
pub fn stream(name: &str, destination: Value, per_second: u64, seconds: u64) -> Value {
    json!({
        "name": name, "tx_port": 0, "rx_port": 0,
        "headers": [
            {"type": "ethernet", "src": TESTER.to_string(), "dst": "00:00:00:00:00:00"},
            {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": destination, "sizes": [{"size": 64, "weight": 1}], "flows": 1,
        "schedule": [{"name": "traffic", "duration_ns": seconds * 1_000_000_000,
                      "from_bps": BITS_64 * per_second, "to_bps": BITS_64 * per_second}],
    })
}

/// A trial on the port `port` describes.
pub fn trial(port: Value, streams: &[Value]) -> Value {
    let mut described = json!({"mac": TESTER.to_string()});
    for (field, value) in port.as_object().expect("fields") {
        described[field] = value.clone();
    }
    json!({
        "seed": 1, "streams": streams, "ports": [described],
        "settle_ns": 1_000_000, "drain_ns": 10_000_000, "sample_ns": 100_000_000,
    })
}

/// Runs the trial against a box that says to each frame what `script` does, and `says` by itself.
pub fn run(spec: Value, quantum: Duration, hairpin: bool, says: Vec<(u64, Vec<u8>)>, script: Script) -> (TrialResult, Far) {
    let spec: TrialSpec = serde_json::from_value(spec).expect("a trial");
    let (near, far) = wire::pair(&LinkSpec::new("west", "far", 10_000_000_000, 1518)).expect("a cable");
    let mut trial = Trial::new(spec, vec![Box::new(near)]).expect("fits");
    let mut far = Far {
        port: Box::new(far),
        script,
        says,
        heard: Vec::new(),
        tests: Vec::new(),
        hairpin,
    };
    run_virtual(&mut [&mut trial, &mut far], Instant::ZERO, quantum, Instant::NEVER, &|| false);
    assert!(trial.finished());
    (trial.result(), far)
}
