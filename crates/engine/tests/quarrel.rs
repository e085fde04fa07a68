//! Two hosts with one address, in real time: each tells everybody, over and over, that it is the next hop.

use crate::hand;
use netdyno_engine::Trial;
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::arp::Arp;
use netdyno_frame::spec::Mac;
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::time::{Duration, Instant};
use serde_json::json;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

const MS: u64 = 1_000_000_000;
const ROUND: Duration = Duration::from_us(10);
const BOXES: [Mac; 2] = [Mac([2, 0, 0, 0, 0, 0x0a]), Mac([2, 0, 0, 0, 0, 0x0b])];
const HOP: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// Rounds in which both claim the address, and how often all together in each.
const ROUNDS: usize = 101;
const CLAIMS: usize = 1001;

#[derive(Default)]
struct Cable {
    round_ps: u64,
    /// What the port finds in this round.
    waiting: Vec<Vec<u8>>,
    /// Rounds of the quarrel so far.
    rounds: usize,
    claims: usize,
    last: Mac,
    over_ps: u64,
    /// Test frames: when they left, and to whom.
    tests: Vec<(u64, Mac)>,
}

struct End {
    info: PortInfo,
    cable: Arc<Mutex<Cable>>,
}

impl Port for End {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let frames = hand::lend(now, limit, 1514, fill);
        let mut cable = self.cable.lock().unwrap();
        for frame in &frames {
            match Arp::parse(frame) {
                Some(asked) if asked.is_request() && asked.target_ip == HOP => cable.waiting.push(asked.reply(BOXES[0]).build()),
                Some(_) => {}
                None => cable.tests.push((now.ps, Mac(*frame.first_chunk().expect("six bytes")))),
            }
        }
        Ok(frames.len())
    }

    fn receive(&mut self, now: Instant, _limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let mut cable = self.cable.lock().unwrap();
        if cable.round_ps != now.ps && !cable.tests.is_empty() && cable.rounds < ROUNDS {
            (cable.round_ps, cable.over_ps) = (now.ps, now.ps);
            cable.rounds += 1;
            for _ in 0..CLAIMS {
                cable.claims += 1;
                cable.last = BOXES[cable.claims % 2];
                let claim = Arp::gratuitous(&[], cable.last, HOP).build();
                cable.waiting.push(claim);
            }
        }
        let frames = std::mem::take(&mut cable.waiting);
        drop(cable);
        Ok(hand::hand(now, &frames, read))
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

/// Each change waits for its turn to be made, 16 a round: were all kept, the memory would fill, and long after the last
/// word the stream would follow what was said before it.
#[test]
fn a_stream_follows_the_last_word_at_once() {
    let cable = Arc::new(Mutex::new(Cable::default()));
    let end = End {
        info: PortInfo {
            name: "west".to_owned(),
            backend: "cable".to_owned(),
            rate_bps: 0,
            max_frame: 1514,
            time: Timestamps::Software,
            detail: String::new(),
        },
        cable: Arc::clone(&cable),
    };
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1,
        "streams": [{
            "name": "west-west", "tx_port": 0, "rx_port": 0,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "00:00:00:00:00:00"},
                {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": {"gateway": HOP.to_string()}, "sizes": [{"size": 64, "weight": 1}], "flows": 1,
            "schedule": [{"name": "traffic", "duration_ns": 10_000_000, "from_bps": 672 * 100_000, "to_bps": 672 * 100_000}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01", "ipv4": "198.18.0.2/30"}],
        "settle_ns": 0, "drain_ns": 1_000_000, "sample_ns": 100_000_000,
    }))
    .expect("a trial");
    let mut trial = Trial::new(spec, vec![Box::new(end)]).expect("fits");
    let (from, until) = (Instant::ZERO, Instant { ps: 1_000 * MS });
    run_virtual(&mut [&mut trial as &mut dyn Node], from, ROUND, until, &|| false);
    assert!(trial.finished());
    let cable = cable.lock().unwrap();
    assert_eq!(
        (cable.rounds, cable.claims),
        (ROUNDS, ROUNDS * CLAIMS),
        "the quarrel ended before the traffic"
    );
    // What is heard in a round is followed in the next one.
    let (before, after): (Vec<_>, Vec<_>) = cable.tests.iter().partition(|(at, _)| *at <= cable.over_ps + ROUND.ps);
    assert!(before.iter().any(|(_, to)| *to == BOXES[0]) && before.iter().any(|(_, to)| *to == BOXES[1]));
    assert!(
        after.len() > 500,
        "{} of {} frames after the quarrel",
        after.len(),
        cable.tests.len()
    );
    let stale = after.iter().filter(|(_, to)| *to != cable.last).count();
    assert_eq!(stale, 0, "of {} frames after the last word", after.len());
}
