//! Flows that a device translates are learnt before traffic, answered where they came out, and watched.

use crate::common::{BITS_64, MS, US};
use netdyno_engine::Trial;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_io::backend::{LinkSpec, wire};
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::{Burst, Port};
use netdyno_io::time::{Duration, Instant};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A frame is on its way through the box for so long.
const THROUGH: u64 = 3 * US;
/// The box's address outside.
const OUTSIDE: [u8; 4] = [203, 0, 113, 7];
/// Where the addresses and ports of a frame of Ethernet, IPv4 and UDP lie.
const TUPLE: usize = 26;

type Ends = [u8; 6];

/// A translator of ports (RFC 3022 section 2.2) with a table of its own.
struct Translator {
    ports: [Box<dyn Port>; 2],
    queue: Vec<(u64, usize, Vec<u8>)>,
    /// The port outside of each host and port inside, and the other way.
    out: HashMap<Ends, u16>,
    back: HashMap<u16, Ends>,
    next: u16,
    /// Entries it has room for.
    room: usize,
    /// Of the frames that come from inside, the first so many are not forwarded.
    deaf: usize,
    /// It forgets all entries then.
    forgets_at: Option<u64>,
    /// It gives all hosts the same port.
    is_broken: bool,
    came_inside: usize,
}

impl Translator {
    fn new(ports: [Box<dyn Port>; 2]) -> Self {
        Self {
            ports,
            queue: Vec::new(),
            out: HashMap::new(),
            back: HashMap::new(),
            next: 40_000,
            room: usize::MAX,
            deaf: 0,
            forgets_at: None,
            is_broken: false,
            came_inside: 0,
        }
    }

    fn forward(&mut self, from: usize, at: u64, mut frame: Vec<u8>) {
        if self.forgets_at.is_some_and(|then| at >= then) {
            (self.forgets_at, self.out, self.back) = (None, HashMap::new(), HashMap::new());
        }
        if from == 0 {
            self.came_inside += 1;
            if self.came_inside <= self.deaf {
                return;
            }
            let host: Ends = [&frame[TUPLE..TUPLE + 4], &frame[TUPLE + 8..TUPLE + 10]]
                .concat()
                .try_into()
                .expect("six bytes");
            if !self.out.contains_key(&host) {
                if self.out.len() >= self.room {
                    return;
                }
                self.next += u16::from(!self.is_broken);
                self.out.insert(host, self.next);
                self.back.insert(self.next, host);
            }
            frame[TUPLE..TUPLE + 4].copy_from_slice(&OUTSIDE);
            frame[TUPLE + 8..TUPLE + 10].copy_from_slice(&self.out[&host].to_be_bytes());
        } else {
            let port = u16::from_be_bytes([frame[TUPLE + 10], frame[TUPLE + 11]]);
            let Some(host) = self.back.get(&port).filter(|_| frame[TUPLE + 4..TUPLE + 8] == OUTSIDE) else {
                return;
            };
            frame[TUPLE + 4..TUPLE + 8].copy_from_slice(&host[..4]);
            frame[TUPLE + 10..TUPLE + 12].copy_from_slice(&host[4..]);
        }
        // Without a UDP checksum (RFC 768); that of the header anew (RFC 1071).
        frame[24..26].fill(0);
        frame[40..42].fill(0);
        let sum: u32 = frame[14..34]
            .chunks(2)
            .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
            .sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        frame[24..26].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
        self.queue.push((at + THROUGH, 1 - from, frame));
    }
}

impl Node for Translator {
    fn next_wakeup(&self) -> Option<Instant> {
        let due = self.queue.iter().map(|(at, _, _)| Instant { ps: *at });
        self.ports.iter().filter_map(|port| port.next_arrival()).chain(due).min()
    }

    fn step(&mut self, now: Instant) {
        let mut came = Vec::new();
        for (number, port) in self.ports.iter_mut().enumerate() {
            let mut read = |burst: &mut Burst<'_>| {
                for index in 0..burst.len() {
                    came.push((burst.slots()[index].at.ps, number, burst.frame(index).to_vec()));
                }
            };
            while port.receive(now, 256, &mut read).expect("a cable") > 0 {}
        }
        came.sort_by_key(|(at, number, _)| (*at, *number));
        for (at, number, frame) in came {
            self.forward(number, at, frame);
        }
        self.queue.sort_by_key(|(at, _, _)| *at);
        let due = self.queue.iter().take_while(|(at, _, _)| *at <= now.ps).count();
        for (ps, number, frame) in self.queue.drain(..due) {
            let sent = self.ports[number].transmit(now, 1, &mut |burst| {
                burst.frame_mut(0)[..frame.len()].copy_from_slice(&frame);
                burst.set(0, frame.len(), Instant { ps });
                1
            });
            assert_eq!(sent.expect("a cable"), 1);
        }
    }
}

/// `flows` hosts that all send from one port, and what answers them; 10,000 frames a second each way for so long.
fn spec(flows: u32, duration_ms: u64) -> Value {
    let stream = |name: &str, ports: [usize; 2], src: Value, dst: Value, answers: Option<usize>| {
        let load = BITS_64 * 10_000;
        json!({
            "name": name, "tx_port": ports[0], "rx_port": ports[1], "answers": answers,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": src, "dst": dst},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "written", "sizes": [{"size": 64, "weight": 1}], "flows": flows,
            "schedule": [{"name": "traffic", "duration_ns": duration_ms * 1_000_000, "from_bps": load, "to_bps": load}],
        })
    };
    let hosts = json!({"step": {"start": "16.0.0.1", "step": 1, "count": flows}});
    json!({
        "seed": 1,
        "streams": [
            stream("there", [0, 1], hosts.clone(), json!("48.0.0.1"), None),
            stream("back", [1, 0], json!("48.0.0.1"), hosts, Some(0)),
        ],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 1_000_000, "drain_ns": 10_000_000, "sample_ns": 100_000_000,
    })
}

fn run(spec: Value, change: impl FnOnce(&mut Translator)) -> (TrialResult, Translator) {
    let spec: TrialSpec = serde_json::from_value(spec).expect("a trial");
    let cable = |name: &str| wire::pair(&LinkSpec::new(name, "box", 10_000_000_000, 1518)).expect("a cable");
    let ((west, inside), (east, outside)) = (cable("west"), cable("east"));
    let mut trial = Trial::new(spec, vec![Box::new(west), Box::new(east)]).expect("fits");
    let mut translator = Translator::new([Box::new(inside), Box::new(outside)]);
    change(&mut translator);
    let quantum = Duration::from_us(32);
    run_virtual(&mut [&mut trial, &mut translator], Instant::ZERO, quantum, Instant::NEVER, &|| {
        false
    });
    assert!(trial.finished());
    (trial.result(), translator)
}

fn codes(found: &TrialResult) -> Vec<String> {
    found.invalid.iter().map(|reason| reason.code.to_string()).collect()
}

#[test]
fn answers_go_to_where_each_flow_came_out() {
    let (found, translator) = run(spec(500, 100), |_| {});
    assert_eq!(codes(&found), [""; 0]);
    for stream in &found.streams {
        assert_eq!(
            (stream.offered, stream.received, stream.flows_received),
            (1000, 1000, 500),
            "{}",
            stream.name
        );
        assert_eq!((stream.retranslated, stream.corrupted), (0, 0));
    }
    assert_eq!((found.streams[0].translated, found.streams[1].translated), (Some(500), None));
    assert_eq!(translator.out.len(), 500);
}

#[test]
fn a_device_that_translates_nothing_is_answered_as_it_is() {
    let (found, _) = run(spec(3, 100), |_| {});
    let mut plain = spec(3, 100);
    plain["streams"][1]["answers"] = Value::Null;
    // What comes back to a translator and answers nothing goes nowhere.
    let (lost, _) = run(plain, |_| {});
    assert_eq!([found.streams[1].received, lost.streams[1].received], [1000, 0]);
    assert_eq!(lost.streams[0].translated, None);
}

#[test]
fn flows_that_a_slow_device_did_not_take_are_opened_again() {
    let (found, translator) = run(spec(500, 100), |it| it.deaf = 700);
    assert_eq!(codes(&found), [""; 0]);
    // 500 of the first round, 200 of the second; the other 300 came, and these 200 in the third.
    assert_eq!(translator.came_inside, 500 + 500 + 200 + 1000);
    assert_eq!(found.streams[1].received, 1000);
}

#[test]
fn a_table_without_room_for_all_flows_ends_the_trial_by_name() {
    let (found, _) = run(spec(500, 100), |it| it.room = 490);
    assert_eq!(codes(&found), ["flows-not-opened"]);
    let fields = serde_json::to_value(&found.invalid[0]).expect("JSON");
    assert_eq!(
        (&fields["fields"]["missing"], &fields["fields"]["flows"]),
        (&json!(10), &json!(500))
    );
    assert_eq!(found.streams[0].offered, 0);
}

#[test]
fn flows_that_come_out_as_one_end_the_trial_by_name() {
    let (found, _) = run(spec(2, 100), |it| it.is_broken = true);
    assert_eq!(codes(&found), ["flows-collide"]);
}

#[test]
fn a_device_that_forgets_under_load_is_seen_to() {
    // Opening takes 10 ms and 100 ms of waiting, settling 1 ms; traffic begins then.
    let (found, _) = run(spec(500, 100), |it| it.forgets_at = Some(161 * MS));
    let [there, back] = &found.streams[..] else { panic!("two streams") };
    assert_eq!(there.received, 1000, "new entries are made");
    // Each flow sends once in 50 ms: after the middle of traffic each comes out by another port, once.
    assert_eq!((there.translated, there.retranslated), (Some(500), 500));
    assert!(
        (400..=500).contains(&back.received),
        "answers to the old ports are lost: {}",
        back.received
    );
    assert_eq!(back.retranslated, 0);
}

#[test]
fn what_cannot_be_answered_is_refused() {
    for (change, value) in [
        ("answers", json!(1)),
        ("flows", json!(4)),
        ("rx_port", json!(1)),
        ("answers", json!(7)),
    ] {
        let mut wrong = spec(3, 100);
        wrong["streams"][1][change] = value;
        let spec: TrialSpec = serde_json::from_value(wrong).expect("a trial");
        let ports = ["west", "east"].map(|name| wire::pair(&LinkSpec::new(name, "box", 10_000_000_000, 1518)).expect("a cable").0);
        let refused = Trial::new(spec, ports.into_iter().map(|port| Box::new(port) as _).collect()).expect_err("refused");
        assert_eq!(refused.error.place, "streams[1] (back): answers");
    }
}
