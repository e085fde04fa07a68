//! Hostile frames on the receive path of a trial under way: nothing panics, every frame is counted once, and whoever
//! floods is answered within bounds.

use netdyno_engine::Trial;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::arp::Arp;
use netdyno_frame::nd::Neighbour;
use netdyno_frame::parse::parse;
use netdyno_frame::spec::Mac;
use netdyno_fuzz::fuzz;
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Slot, Timestamps};
use netdyno_io::time::Instant;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// From one round to the next.
const ROUND_PS: u64 = 10_000_000;

/// What goes through the port.
#[derive(Default)]
struct Through {
    next: Option<Vec<u8>>,
    received: u64,
    sent: Vec<Vec<u8>>,
}

struct End {
    info: PortInfo,
    through: Arc<Mutex<Through>>,
}

impl Port for End {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, _limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let mut memory = vec![0; 16_384];
        let mut slots = [Slot {
            offset: 0,
            len: 16_384,
            at: now,
        }];
        let wrote = fill(&mut Burst::new(&mut memory, &mut slots));
        if wrote == 1 {
            memory.truncate(slots[0].len as usize);
            self.through.lock().unwrap().sent.push(memory);
        }
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, _limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let mut through = self.through.lock().unwrap();
        let Some(mut frame) = through.next.take() else { return Ok(0) };
        through.received += 1;
        drop(through);
        let len = frame.len() as u32;
        read(&mut Burst::new(&mut frame, &mut [Slot { offset: 0, len, at: now }]));
        Ok(1)
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

/// A trial of a day, one frame a millisecond, on a port with addresses and next hops of both families and on a VLAN.
fn trial(through: &Arc<Mutex<Through>>, observe: &Value) -> Trial {
    let ip = |version: u8| {
        let (kind, src, dst) = if version == 4 {
            ("ipv4", "16.0.0.1", "48.0.0.1")
        } else {
            ("ipv6", "2001:2::1", "2001:2::2")
        };
        json!({"type": kind, "src": src, "dst": dst})
    };
    let stream = |version: u8| {
        json!({
            "name": format!("ip{version}"), "tx_port": 0, "rx_port": 0,
            "headers": [{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}, ip(version),
                        {"type": "udp", "sport": 1025, "dport": 12}],
            "destination": "written", "sizes": [{"size": 100, "weight": 1}], "flows": 3,
            "schedule": [{"name": "traffic", "duration_ns": 86_400_000_000_000_u64, "from_bps": 960_000, "to_bps": 960_000}],
        })
    };
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1, "streams": [stream(4), stream(6)],
        "ports": [{
            "mac": "02:00:00:00:00:01", "ipv4": "192.0.2.2", "ipv6": "2001:db8::2",
            "vlans": [{"tags": [{"vid": 5}], "ipv4": "198.51.100.2"}],
        }],
        "settle_ns": 0, "drain_ns": 0, "sample_ns": 3_600_000_000_000_u64, "observe": observe,
    }))
    .expect("a trial");
    let info = PortInfo {
        name: "west".to_owned(),
        backend: "fuzz".to_owned(),
        rate_bps: 0,
        max_frame: 9216,
        time: Timestamps::Software,
        detail: String::new(),
    };
    let end = End {
        info,
        through: Arc::clone(through),
    };
    Trial::new(spec, vec![Box::new(end)]).expect("fits")
}

fn counted_once(found: &TrialResult, received: u64) {
    let port = &found.ports[0];
    assert_eq!(port.rx_frames, received);
    let counts = found.streams.iter().map(|stream| {
        assert!(stream.received <= stream.offered, "{} of {}", stream.received, stream.offered);
        assert!(stream.flows_received <= 3);
        stream.received + stream.duplicates + stream.corrupted + stream.elsewhere + stream.beyond_window
    });
    assert_eq!(port.foreign + port.stale + counts.sum::<u64>(), received);
}

#[test]
fn any_received_frame_is_counted_once_and_answered_once() {
    feed("engine/receive", &json!({}));
}

#[test]
fn any_observed_frame_is_counted_once_and_answered_once() {
    let everything = json!({"timed_from_ns": 1_000_000, "gaps": 10, "bridge": 1, "order": true, "variation": true});
    feed("engine/observe", &everything);
}

/// Hostile frames to a trial that observes this.
fn feed(target: &str, observe: &Value) {
    let through = Arc::new(Mutex::new(Through::default()));
    let mut trial = trial(&through, observe);
    let mut now = Instant::ZERO;
    let mut round = |trial: &mut Trial| {
        now.ps += ROUND_PS;
        trial.step(now);
    };
    for _ in 0..1000 {
        round(&mut trial);
    }
    // Test frames of the trial itself, and what a host may receive.
    let mut corpus: Vec<Vec<u8>> = through.lock().unwrap().sent.drain(..).take(12).collect();
    assert_eq!(corpus.len(), 12);
    let other = Mac([2, 0, 0, 0, 0, 0x0b]);
    let tag = netdyno_frame::parse::Tag { tpid: 0x8100, tci: 5 };
    let (v4, v6) = ("192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap());
    corpus.extend([
        Arp::request(&[], other, v4, "192.0.2.2".parse().unwrap()).build(),
        Arp::request(&[tag], other, "198.51.100.1".parse().unwrap(), "198.51.100.2".parse().unwrap()).build(),
        Arp::gratuitous(&[], other, "192.0.2.2".parse().unwrap()).build(),
        Neighbour::solicitation(&[], other, v6, "2001:db8::2".parse().unwrap()).build(),
        Neighbour::announcement(&[], other, "2001:db8::2".parse().unwrap()).build(),
    ]);
    let mut runs = 0_u64;
    fuzz(target, &corpus, |frame| {
        through.lock().unwrap().next = Some(frame.to_vec());
        round(&mut trial);
        round(&mut trial);
        let mut shared = through.lock().unwrap();
        // Of own frames, whose length or type says so, no more than one for one; test frames have 96 bytes.
        let answers: Vec<Vec<u8>> = shared.sent.drain(..).filter(|sent| sent.len() != 96).collect();
        assert!(answers.len() <= 1 || frame.len() == 96, "{answers:02x?}");
        assert!(
            answers.iter().all(|answer| answer.len() <= frame.len().max(90)),
            "no more comes back than went in"
        );
        runs += 1;
        if runs.is_multiple_of(512) {
            counted_once(&trial.result(), shared.received);
        }
        let kind = answers
            .first()
            .map_or(0, |answer| 1 + (answer[12] as u64) * 2 + u64::from(answer[0] & 1));
        let shape = parse(frame).map_or(0, |layers| {
            let protocol = u64::from(layers.outer.protocol) & 0x3f;
            u64::from(layers.tags) << 8 | protocol << 2 | u64::from(layers.outer.version / 2)
        });
        kind << 20 | shape
    });
    counted_once(&trial.result(), through.lock().unwrap().received);
}
