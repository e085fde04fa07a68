//! Trials on a port whose peer reads slowly, stops, or is no peer at all: which frames count as refused by its full ring.

use crate::hand;
use netdyno_engine::Trial;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::pressure::Pressure;
use netdyno_io::time::{Duration, Instant};
use serde_json::json;

const RING: u64 = 8;
/// L1 bits of a 64-byte frame.
const BITS_64: u64 = 672;

/// A ring whose reader takes a frame each `each_ns`, but none from `stops_ns` on for `rests_ns`.
#[derive(Clone, Copy)]
struct Reader {
    each_ns: u64,
    stops_ns: u64,
    rests_ns: u64,
    /// Whether the port knows of a peer's ring.
    knows: bool,
}

impl Reader {
    /// Frames it would have read by a time.
    fn read(&self, at_ns: u64) -> u64 {
        let rested = at_ns.saturating_sub(self.stops_ns).min(self.rests_ns);
        (at_ns - rested) / self.each_ns
    }
}

struct Ring {
    info: PortInfo,
    reader: Reader,
    /// When the first frame came, by which the reader counts.
    began_ns: Option<u64>,
    /// Frames read before the ring was last empty, and sent since.
    skipped: u64,
    counters: PortCounters,
    pressure: Pressure,
}

impl Port for Ring {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let sent = self.counters.tx_frames;
        let now_ns = now.ps / 1000;
        let read = self.reader.read(now_ns - *self.began_ns.get_or_insert(now_ns));
        self.skipped = self.skipped.max(read.saturating_sub(sent));
        let index = read - self.skipped;
        let room = RING - (sent - index);
        self.pressure.look(now, index as u16, (RING - room) as u16, room == 0);
        if room == 0 {
            self.counters.tx_full += 1;
            return Ok(0);
        }
        let taken = hand::lend(now, limit.min(room as usize), 1514, fill).len();
        self.counters.tx_frames += taken as u64;
        Ok(taken)
    }

    fn receive(&mut self, _: Instant, _: usize, _: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        Ok(0)
    }

    fn counters(&self) -> PortCounters {
        PortCounters {
            back_pressure: self.reader.knows.then(|| self.pressure.sums(RING as u32)),
            ..self.counters
        }
    }
}

/// 1000 frames, one each microsecond, and 1 ms of overtime; the loop looks each microsecond.
fn run(reader: Reader) -> TrialResult {
    let spec: TrialSpec = serde_json::from_value(json!({
        "seed": 1, "streams": [{
            "name": "west-east", "tx_port": 0, "rx_port": 1,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "peer", "sizes": [{"size": 64, "weight": 1}], "flows": 1,
            "schedule": [{"name": "traffic", "duration_ns": 1_000_000, "from_bps": BITS_64 * 1_000_000, "to_bps": BITS_64 * 1_000_000}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 0, "drain_ns": 100_000, "sample_ns": 100_000, "overtime_ns": 1_000_000, "catch_up_percent": 200,
    }))
    .expect("a trial");
    let port = |name: &str| {
        Box::new(Ring {
            info: PortInfo {
                name: name.to_owned(),
                backend: "slow".to_owned(),
                rate_bps: 0,
                max_frame: 1514,
                time: Timestamps::Software,
                detail: String::new(),
            },
            reader,
            began_ns: None,
            skipped: 0,
            counters: PortCounters::default(),
            pressure: Pressure::default(),
        }) as Box<dyn Port>
    };
    let mut trial = Trial::new(spec, vec![port("west"), port("east")]).expect("fits");
    run_virtual(&mut [&mut trial], Instant::ZERO, Duration::from_us(1), Instant::NEVER, &|| false);
    assert!(trial.finished());
    trial.result()
}

const STEADY: Reader = Reader {
    each_ns: 2_000,
    stops_ns: 0,
    rests_ns: 0,
    knows: true,
};

#[test]
fn frames_a_slow_reader_does_not_take_in_time_are_refused() {
    let found = run(STEADY);
    let stream = &found.streams[0];
    // One frame each 2 us for 1 ms, and what fits into the ring, within one of each.
    assert!((500 + RING - 2..=500 + RING + 2).contains(&stream.offered), "{}", stream.offered);
    assert_eq!(stream.refused, 1000 - stream.offered);
    assert_eq!(found.health.unsent, stream.refused);
    let pressed = found.ports[0].back_pressure.expect("is known");
    assert_eq!((pressed.ring, pressed.stops), (RING as u32, 0));
    // Nothing is sent in overtime to a ring that is full: the traffic ends when it was to.
    let traffic = found.phases.iter().find(|phase| phase.name == "traffic").expect("took place");
    assert!(traffic.duration_ns < 1_010_000, "{}", traffic.duration_ns);
}

#[test]
fn a_port_that_knows_no_peers_ring_refuses_nothing() {
    let found = run(Reader { knows: false, ..STEADY });
    assert_eq!(found.ports[0].back_pressure, None);
    assert_eq!(found.streams[0].refused, 0);
    // Late frames left in overtime, as they do on any other port.
    assert!(found.streams[0].offered > 900, "{}", found.streams[0].offered);
}

#[test]
fn a_reader_that_keeps_up_refuses_nothing() {
    let found = run(Reader { each_ns: 500, ..STEADY });
    assert_eq!((found.streams[0].offered, found.streams[0].refused), (1000, 0));
    assert_eq!(found.ports[0].back_pressure.map(|pressed| pressed.full_ns), Some(0));
}

#[test]
fn a_reader_that_stops_and_comes_back_is_made_up_for_in_overtime() {
    let found = run(Reader {
        each_ns: 100,
        stops_ns: 300_000,
        rests_ns: 600_000,
        knows: true,
    });
    assert_eq!((found.streams[0].offered, found.streams[0].refused), (1000, 0));
    let pressed = found.ports[0].back_pressure.expect("is known");
    assert_eq!(pressed.stops, 1);
    assert!((580_000..=610_000).contains(&pressed.stopped_ns), "{pressed:?}");
}

#[test]
fn a_reader_that_stops_for_good_refuses_the_rest() {
    let found = run(Reader {
        each_ns: 100,
        stops_ns: 300_000,
        rests_ns: u64::MAX / 2,
        knows: true,
    });
    let stream = &found.streams[0];
    assert!((300..=300 + 2 * RING).contains(&stream.offered), "{}", stream.offered);
    assert_eq!(stream.refused, 1000 - stream.offered);
    assert_eq!(found.ports[0].back_pressure.expect("is known").stops, 1);
}
