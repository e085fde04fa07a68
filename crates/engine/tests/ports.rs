//! Trials on ports whose every move is known: what they drop, when they find frames, and what becomes of each frame.

use crate::hand;
use netdyno_engine::Trial;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::arp::Arp;
use netdyno_frame::probe::{PROBE_BYTES, Probe};
use netdyno_frame::spec::Mac;
use netdyno_io::backend::{LinkSpec, wire};
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::time::{Duration, Instant};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// L1 bits of a 64-byte frame.
const BITS_64: u64 = 672;
const BURST: usize = 64;

fn stream(east: bool, flows: u32, duration_ns: u64, bps: u64) -> Value {
    let (here, there) = if east { (2, 1) } else { (1, 2) };
    json!({
        "name": if east { "east-west" } else { "west-east" }, "tx_port": usize::from(east), "rx_port": usize::from(!east),
        "headers": [
            {"type": "ethernet", "src": format!("02:00:00:00:00:0{here}"), "dst": format!("02:00:00:00:00:0{there}")},
            {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": "peer", "sizes": [{"size": 64, "weight": 1}], "flows": flows,
        "schedule": [{"name": "traffic", "duration_ns": duration_ns, "from_bps": bps, "to_bps": bps}],
    })
}

fn spec(streams: &[Value]) -> TrialSpec {
    serde_json::from_value(json!({
        "seed": 1, "streams": streams,
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02", "ipv4": "198.18.0.6"}],
        "settle_ns": 1_000_000, "drain_ns": 1_000_000, "sample_ns": 100_000_000,
    }))
    .expect("a trial")
}

/// What happens to a frame on its way, by its number in its direction: it is changed, or kept from arriving.
type Fate = fn(u64, &mut [u8]) -> bool;

/// Two ports in real time and what is between them.
struct Between {
    fate: Fate,
    /// The clock, and how long a port is away for each burst it sends.
    now_ps: u64,
    burst_ps: u64,
    /// To each port.
    queues: [Vec<Vec<u8>>; 2],
    sent: [u64; 2],
    counters: [PortCounters; 2],
    /// What the ports count besides, once at this time each.
    later: Vec<(u64, usize, PortCounters)>,
}

impl Between {
    fn at(&mut self, now: Instant) -> u64 {
        self.now_ps = self.now_ps.max(now.ps);
        let now_ps = self.now_ps;
        for &(_, port, more) in self.later.iter().filter(|it| it.0 <= now_ps) {
            self.counters[port] += more;
        }
        self.later.retain(|it| it.0 > now_ps);
        now_ps
    }
}

struct End {
    info: PortInfo,
    number: usize,
    between: Arc<Mutex<Between>>,
}

fn ports(fate: Fate, burst_ps: u64, later: Vec<(u64, usize, PortCounters)>) -> Vec<Box<dyn Port>> {
    ports_at(0, fate, burst_ps, later)
}

fn ports_at(rate_bps: u64, fate: Fate, burst_ps: u64, later: Vec<(u64, usize, PortCounters)>) -> Vec<Box<dyn Port>> {
    let between = Arc::new(Mutex::new(Between {
        fate,
        now_ps: 0,
        burst_ps,
        queues: Default::default(),
        sent: [0; 2],
        counters: Default::default(),
        later,
    }));
    let end = |(number, name): (usize, &str)| {
        Box::new(End {
            info: PortInfo {
                name: name.to_owned(),
                backend: "between".to_owned(),
                rate_bps,
                max_frame: 1514,
                time: Timestamps::Software,
                detail: String::new(),
            },
            number,
            between: Arc::clone(&between),
        }) as Box<dyn Port>
    };
    ["west", "east"].into_iter().enumerate().map(end).collect()
}

impl Port for End {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn time(&self, now: Instant) -> Instant {
        let ps = self.between.lock().unwrap().at(now);
        Instant { ps }
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let frames = hand::lend(now, limit.min(BURST), 1514, fill);
        let mut between = self.between.lock().unwrap();
        between.at(now);
        between.now_ps += between.burst_ps;
        let wrote = frames.len();
        for mut frame in frames {
            between.sent[self.number] += 1;
            if (between.fate)(between.sent[self.number] - 1, &mut frame) {
                between.queues[1 - self.number].push(frame);
            }
        }
        Ok(wrote)
    }

    fn receive(&mut self, now: Instant, _limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let mut between = self.between.lock().unwrap();
        let ps = between.at(now);
        let waiting = std::mem::take(&mut between.queues[self.number]);
        drop(between);
        Ok(hand::hand(Instant { ps }, &waiting, read))
    }

    fn counters(&self) -> PortCounters {
        self.between.lock().unwrap().counters[self.number]
    }
}

fn run(spec: TrialSpec, ports: Vec<Box<dyn Port>>, quantum: Duration) -> TrialResult {
    let mut trial = Trial::new(spec, ports).expect("fits");
    run_virtual(&mut [&mut trial], Instant::ZERO, quantum, Instant::NEVER, &|| false);
    assert!(trial.finished());
    trial.result()
}

/// Some five bursts a port are due each round and four are sent, each of which takes 20 us. The last frames of a round
/// are found 20 us after they departed, whatever was sent before them; the first ones after all eight bursts.
#[test]
fn latency_begins_when_a_frames_own_burst_departs_in_either_direction() {
    let both = [false, true].map(|east| stream(east, 1, 20_000_000, 1_000_000_000));
    let found = run(spec(&both), ports(|_, _| true, 20_000_000, Vec::new()), Duration::from_us(200));
    assert_eq!(found.invalid, []);
    let [west_east, east_west] = [0, 1].map(|index| found.streams[index].latency.clone().expect("timed"));
    for latency in [&west_east, &east_west] {
        assert_eq!((latency.min_ns, latency.max_ns, latency.negative), (20_000, 160_000, 0));
    }
    let mean = |latency: &netdyno_engine::result::Latency| latency.sum_ns as f64 / latency.count as f64;
    let (there, back) = (mean(&west_east), mean(&east_west));
    assert!((there - back).abs() < 0.02 * there, "{there} ns there, {back} ns back");
}

/// Frame 3 comes with a wrong destination port, so its probe can be read; of frame 5 the probe is broken; frame 7 is
/// lost. The first that did not arrive intact is frame 3, or frame 5 if only that and 7 are hit, or 7.
#[test]
fn first_frame_not_intact_is_the_first_lost_or_corrupted_one() {
    fn readable(number: u64, frame: &mut [u8]) -> bool {
        frame[37] ^= u8::from(number == 3);
        unreadable(number, frame)
    }
    fn unreadable(number: u64, frame: &mut [u8]) -> bool {
        frame[50] ^= u8::from(number == 5);
        number != 7
    }
    fn both_broken(number: u64, frame: &mut [u8]) -> bool {
        readable(number, frame) | true
    }
    let gap_ns = 10_000;
    for flows in [1, 3, 100_000] {
        let cases: [(Fate, Option<u64>, (i64, u64)); 5] = [
            (|_, _| true, None, (0, 0)),
            (readable, Some(3), (1, 2)),
            (both_broken, Some(3), (0, 2)),
            (unreadable, Some(5), (1, 1)),
            (|number, _| number != 7, Some(7), (1, 0)),
        ];
        for (fate, first, counts) in cases {
            let stream = stream(false, flows, 1_000_000, BITS_64 * 1_000_000_000 / gap_ns);
            let found = run(spec(&[stream]), ports(fate, 0, Vec::new()), Duration::from_us(8));
            let stream = &found.streams[0];
            assert_eq!((stream.offered, (stream.lost, stream.corrupted)), (100, counts), "{flows} flows");
            assert_eq!(
                stream.first_loss_ns,
                first.map(|number| number * gap_ns),
                "{flows} flows, {first:?}"
            );
        }
    }
}

/// Frame 5 has a broken probe, and words before it that sum up to what a probe's do, with a departure of 5 ps. Frame 7 is
/// what a device held since an earlier trial.
#[test]
fn what_reads_as_a_probe_by_chance_is_of_no_earlier_trial() {
    fn fate(number: u64, frame: &mut [u8]) -> bool {
        const UDP: usize = 34;
        const PROBE: usize = 42;
        if number == 5 {
            let mut is_by_chance = |check: u16| {
                frame[PROBE..PROBE + 2].copy_from_slice(&check.to_be_bytes());
                Probe::read(&frame[UDP..]).is_some()
            };
            assert!((0..=u16::MAX).any(&mut is_by_chance));
        } else if number == 7 {
            let probe = Probe::read(&frame[PROBE..]).expect("a test frame");
            Probe { departure_ps: 0, ..probe }.write(&mut frame[PROBE..]);
        }
        true
    }
    let stream = stream(false, 1, 1_000_000, BITS_64 * 100_000);
    let found = run(spec(&[stream]), ports(fate, 0, Vec::new()), Duration::from_us(8));
    let stream = &found.streams[0];
    assert_eq!((stream.offered, stream.received, stream.corrupted, stream.lost), (100, 98, 1, 1));
    assert_eq!((found.ports[1].stale, found.ports[1].foreign), (1, 0));
}

/// A router without a route sends the beginning of each frame back to where it came from, in an ICMP error (RFC 792, RFC 1812 section
/// 4.3.2.3): that is no frame of the stream at another port.
#[test]
fn frames_that_a_router_quotes_are_none_of_their_stream() {
    fn fate(_: u64, frame: &mut [u8]) -> bool {
        const IP: usize = 14;
        const PROBE: usize = 42;
        const QUOTED: usize = 42;
        if frame[5] == 2 {
            return false; // To the east, where the router has no route.
        }
        // What the east sends stands for the answers: `unreachable`, with the packet and what follows of one from the west.
        let probe = Probe::read(&frame[PROBE..]).expect("a test frame");
        frame.copy_within(IP..PROBE, QUOTED);
        let quoted_probe = QUOTED + PROBE - IP;
        Probe { flow: 0, ..probe }.write(&mut frame[quoted_probe..]);
        for (byte, number) in frame[quoted_probe + PROBE_BYTES..].iter_mut().zip(0..) {
            *byte = number;
        }
        frame[IP + 9] = 1;
        frame[IP + 20..IP + 28].copy_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
        true
    }
    let mut both = [
        stream(false, 1, 1_000_000, 1184 * 10_000),
        stream(true, 1, 1_000_000, 1184 * 10_000),
    ];
    for one in &mut both {
        one["sizes"] = json!([{"size": 128, "weight": 1}]);
    }
    // As well where the stream is for the port that sends it.
    for rx_port in [1, 0] {
        both[0]["rx_port"] = json!(rx_port);
        let found = run(spec(&both), ports(fate, 0, Vec::new()), Duration::from_us(8));
        let [west, east] = [&found.streams[0], &found.streams[1]];
        assert_eq!((west.offered, west.received, west.elsewhere), (10, 0, 0));
        assert_eq!((east.offered, east.received, east.elsewhere), (10, 0, 0));
        assert_eq!((found.ports[0].foreign, found.ports[0].others), (10, 0));
    }
}

/// A device spreads what is for one port over both: a frame is its stream's by either, also one whose content is broken.
#[test]
fn frames_for_a_bundle_count_at_each_of_its_ports() {
    fn fate(number: u64, frame: &mut [u8]) -> bool {
        frame[50] ^= u8::from(number == 7);
        number != 9
    }
    let mut stream = stream(false, 5, 1_000_000, BITS_64 * 100_000);
    stream["rx_port"] = json!(0);
    let counts = |spec: TrialSpec| {
        let found = run(spec, ports(fate, 0, Vec::new()), Duration::from_us(8));
        let of = &found.streams[0];
        (of.received, of.elsewhere, of.corrupted, of.lost, found.ports[1].rx_frames)
    };
    assert_eq!(counts(spec(std::slice::from_ref(&stream))), (0, 98, 0, 100, 99));
    let mut bundled = spec(&[stream]);
    for port in &mut bundled.ports {
        port.bundle = Some(0);
    }
    assert_eq!(counts(bundled), (98, 0, 1, 1, 99));
}

/// Of five flows, flow 1 arrives with broken checksums only, flow 2 with broken probes only, flow 3 not at all.
#[test]
fn a_flow_is_received_if_a_frame_of_it_arrives_intact() {
    fn fate(number: u64, frame: &mut [u8]) -> bool {
        frame[37] ^= u8::from(number % 5 == 1);
        frame[50] ^= u8::from(number % 5 == 2);
        number % 5 != 3
    }
    let stream = stream(false, 5, 1_000_000, BITS_64 * 100_000);
    let found = run(spec(&[stream]), ports(fate, 0, Vec::new()), Duration::from_us(8));
    let stream = &found.streams[0];
    assert_eq!(
        (
            stream.offered,
            stream.received,
            stream.corrupted,
            stream.lost,
            stream.flows_received
        ),
        (100, 40, 40, 20, 2)
    );
}

/// Settling takes the first millisecond, traffic the second, the drain the third. What a port drops in the first is
/// nobody's test frame; what it drops in the others counts. Frames that are too long
/// count apart, as far as test frames are missing.
#[test]
fn only_what_a_port_drops_while_there_is_traffic_counts() {
    let counted = |at_us: u64, port, rx_dropped, rx_cut| {
        let counters = PortCounters {
            rx_dropped,
            rx_cut,
            ..PortCounters::default()
        };
        (at_us * 1_000_000, port, counters)
    };
    let later = || {
        vec![
            counted(0, 1, 1000, 100),
            counted(1500, 1, 7, 5),
            counted(1600, 0, 0, 2),
            counted(2500, 1, 10, 0),
        ]
    };
    let cases: [(Fate, i64, u64, [u64; 2]); 3] = [
        (|_, _| true, 0, 0, [2, 5]),
        (|number, _| number >= 3, 3, 3, [2, 2]),
        (|number, _| number >= 30, 30, 5, [2, 0]),
    ];
    for (fate, lost, too_long, foreign) in cases {
        let stream = stream(false, 1, 1_000_000, BITS_64 * 100_000);
        let found = run(spec(&[stream]), ports(fate, 0, later()), Duration::from_us(8));
        assert_eq!((found.streams[0].offered, found.streams[0].lost), (100, lost));
        assert_eq!((found.health.rx_dropped, found.health.rx_too_long), (17, too_long), "{lost} lost");
        assert_eq!([0, 1].map(|port| found.ports[port].foreign), foreign, "{lost} lost");
    }
}

/// Of what is counted while there is traffic: dropped on the way out, full rings, and what is still to leave. The longest
/// frames of 1518 bytes take 12.304 us on a line of 1 Gbit/s (IEEE 802.3: 8 bytes before a frame, 12 behind it).
#[test]
fn frames_a_port_drops_on_the_way_out_are_reported() {
    let counted = |at_us: u64, port, tx_dropped, rx_full, tx_ahead| {
        let counters = PortCounters {
            tx_dropped,
            rx_full,
            rx_full_ns: 1000 * rx_full,
            tx_ahead,
            ..PortCounters::default()
        };
        (at_us * 1_000_000, port, counters)
    };
    let later = vec![
        counted(0, 0, 1000, 1000, 0),
        counted(1500, 0, 7, 1, 0),
        counted(1600, 1, 20, 2, 0),
        counted(1700, 0, 0, 0, 100),
    ];
    let mut stream = stream(false, 1, 1_000_000, BITS_64 * 100_000);
    stream["sizes"] = json!([{"size": 64, "weight": 9}, {"size": 1518, "weight": 1}]);
    for (rate_bps, ahead_ns) in [(1_000_000_000, Some(1_230_400)), (0, None)] {
        let ports = ports_at(rate_bps, |_, _| true, 0, later.clone());
        let health = run(spec(std::slice::from_ref(&stream)), ports, Duration::from_us(8)).health;
        assert_eq!((health.tx_dropped, health.rx_full, health.rx_full_ns), (27, 3, Some(3000)));
        assert_eq!((health.tx_ahead, health.tx_ahead_ns), (100, ahead_ns));
    }
}

/// The far end of a cable: asks for the tester's address once a millisecond, and counts the answers.
struct Asker {
    port: Box<dyn Port>,
    asked: u64,
    answers: u64,
}

const ASK_PS: u64 = 1_000_000_000;

impl Node for Asker {
    fn next_wakeup(&self) -> Option<Instant> {
        let ask = Instant {
            ps: (self.asked + 1) * ASK_PS,
        };
        self.port.next_arrival().into_iter().chain([ask]).min()
    }

    fn step(&mut self, now: Instant) {
        while (self.asked + 1) * ASK_PS <= now.ps {
            self.asked += 1;
            let at = Instant { ps: self.asked * ASK_PS };
            let asker = "02:00:00:00:00:0b".parse::<Mac>().unwrap();
            let request = Arp::request(&[], asker, "198.18.0.5".parse().unwrap(), "198.18.0.6".parse().unwrap()).build();
            let sent = self.port.transmit(now, 1, &mut |burst| {
                burst.frame_mut(0)[..60].fill(0);
                burst.frame_mut(0)[..request.len()].copy_from_slice(&request);
                burst.set(0, 60, at);
                1
            });
            assert_eq!(sent.unwrap(), 1);
        }
        let answers = &mut self.answers;
        let mut count = |burst: &mut Burst<'_>| {
            for index in 0..burst.len() {
                *answers += u64::from(Arp::parse(burst.frame(index)).is_some_and(|arp| !arp.is_request()));
            }
        };
        while self.port.receive(now, 256, &mut count).unwrap() > 0 {}
    }
}

/// 2,000 addresses are taught in 20 ms, and each question within them is answered: it is answers that are limited.
#[test]
fn neighbours_are_answered_while_learning_frames_wait() {
    let mut taught = stream(false, 2000, 1_000_000, BITS_64 * 1000);
    taught["headers"][0]["dst"] = json!({"step": {"start": "02:00:00:01:00:00", "step": 1, "count": 2000}});
    taught["destination"] = json!("written");
    let mut spec = spec(&[taught]);
    spec.learn = true;
    let (west, _away) = wire::pair(&LinkSpec::new("west", "away", 10_000_000_000, 1514)).expect("a cable");
    let (east, far) = wire::pair(&LinkSpec::new("east", "far", 10_000_000_000, 1514)).expect("a cable");
    let mut trial = Trial::new(spec, vec![Box::new(west), Box::new(east)]).expect("fits");
    let mut asker = Asker {
        port: Box::new(far),
        asked: 0,
        answers: 0,
    };
    let until = Instant { ps: 20 * ASK_PS };
    run_virtual(&mut [&mut trial, &mut asker], Instant::ZERO, Duration::from_us(8), until, &|| false);
    assert!(!trial.finished());
    // The last question came in at the very end.
    assert_eq!((asker.asked, asker.answers), (20, 19));
}
