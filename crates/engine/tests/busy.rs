//! A sender that is behind its schedule, in real time: its neighbours are answered all the same, and it sends on
//! whoever asks.

use crate::hand;
use netdyno_engine::spec::TrialSpec;
use netdyno_engine::{AHEAD_PS, Trial};
use netdyno_frame::arp::Arp;
use netdyno_frame::spec::Mac;
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::time::{Duration, Instant};
use serde_json::json;
use std::sync::{Arc, Mutex};

const MS: u64 = 1_000_000_000;

/// What passes a port in real time that takes few frames a round, and has a flood of questions for it.
#[derive(Default)]
struct Narrow {
    /// Room left in this round.
    room: usize,
    round_ps: u64,
    /// Questions that wait for each round.
    questions: usize,
    tests: u64,
    /// When each answer left.
    answers: Vec<u64>,
}

struct End {
    info: PortInfo,
    narrow: Arc<Mutex<Narrow>>,
    a_round: usize,
    questions_a_round: usize,
}

impl End {
    fn begin(&self, narrow: &mut Narrow, now: Instant) {
        if narrow.round_ps != now.ps {
            (narrow.round_ps, narrow.room, narrow.questions) = (now.ps, self.a_round, self.questions_a_round);
        }
    }
}

impl Port for End {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let mut narrow = self.narrow.lock().unwrap();
        self.begin(&mut narrow, now);
        let lent = limit.min(narrow.room);
        if lent == 0 {
            return Ok(0);
        }
        let frames = hand::lend(now, lent, 1514, fill);
        for frame in &frames {
            match Arp::parse(frame) {
                Some(arp) if arp.is_reply() => narrow.answers.push(now.ps),
                _ => narrow.tests += 1,
            }
        }
        narrow.room -= frames.len();
        Ok(frames.len())
    }

    fn receive(&mut self, now: Instant, _limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let mut narrow = self.narrow.lock().unwrap();
        self.begin(&mut narrow, now);
        let waiting = std::mem::take(&mut narrow.questions);
        drop(narrow);
        let asker = Mac([2, 0, 0, 0, 0, 0x0b]);
        let question = Arp::request(&[], asker, "198.18.0.1".parse().unwrap(), "198.18.0.2".parse().unwrap()).build();
        Ok(hand::hand(now, &vec![question; waiting], read))
    }

    fn counters(&self) -> PortCounters {
        PortCounters::default()
    }
}

/// 10 ms in rounds of 10 us through a port that takes 64 frames in each, where the schedule has twice as many.
fn behind(questions_a_round: usize) -> (u64, Vec<u64>, u64) {
    let narrow = Arc::new(Mutex::new(Narrow::default()));
    let end = End {
        info: PortInfo {
            name: "west".to_owned(),
            backend: "narrow".to_owned(),
            rate_bps: 0,
            max_frame: 1514,
            time: Timestamps::Software,
            detail: String::new(),
        },
        narrow: Arc::clone(&narrow),
        a_round: 64,
        questions_a_round,
    };
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1,
        "streams": [{
            "name": "west-west", "tx_port": 0, "rx_port": 0,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "written", "sizes": [{"size": 64, "weight": 1}], "flows": 1,
            "schedule": [{"name": "traffic", "duration_ns": 10_000_000,
                          "from_bps": 672 * 12_800_000_u64, "to_bps": 672 * 12_800_000_u64}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01", "ipv4": "198.18.0.2"}],
        "settle_ns": 0, "drain_ns": 1_000_000, "sample_ns": 100_000_000,
    }))
    .expect("a trial");
    let mut trial = Trial::new(spec, vec![Box::new(end)]).expect("fits");
    run_virtual(
        &mut [&mut trial as &mut dyn Node],
        Instant::ZERO,
        Duration::from_us(10),
        Instant { ps: AHEAD_PS + 10 * MS },
        &|| false,
    );
    let unsent = trial.result().health.unsent;
    let narrow = narrow.lock().unwrap();
    let meanwhile = narrow.answers.iter().filter(|at| **at >= AHEAD_PS);
    (narrow.tests, meanwhile.copied().collect(), unsent)
}

#[test]
fn a_sender_behind_its_schedule_answers_at_once() {
    let (tests, answers, unsent) = behind(1);
    assert!(unsent > 60_000, "it was behind: {unsent} of 128,000 not sent");
    // A question a round, answered in the round after it: nothing of the backlog goes first.
    assert!(answers.len() >= 990, "{} answers in 1000 rounds", answers.len());
    assert!(tests >= 60_000, "{tests}");
}

#[test]
fn a_flood_of_questions_does_not_stop_the_traffic() {
    let (alone, _, _) = behind(0);
    let (tests, answers, _) = behind(1000);
    // At most 16 own frames of the 64 a round.
    assert!(tests * 4 >= alone * 3 - 4 * 64, "{tests} test frames of {alone}");
    assert!(answers.len() >= 990 * 16 && answers.len() <= 1001 * 16, "{} answers", answers.len());
}
