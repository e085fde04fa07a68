//! Trials over a cable without a device, and over ports that misbehave.

use crate::hand;
use netdyno_engine::Trial;
use netdyno_engine::result::TrialResult;
use netdyno_engine::spec::TrialSpec;
use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::wire;
use netdyno_io::drive::{Node, run_virtual};
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Timestamps};
use netdyno_io::time::{Duration, Instant};
use serde_json::{Value, json};

fn spec(sizes: &Value, flows: u32, duration_ns: u64, bps: u64) -> TrialSpec {
    serde_json::from_value(json!({
        "seed": 1,
        "streams": [{
            "name": "west-east", "tx_port": 0, "rx_port": 1,
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}, "dst": "48.0.0.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "peer", "sizes": sizes, "flows": flows,
            "schedule": [{"name": "traffic", "duration_ns": duration_ns, "from_bps": bps, "to_bps": bps}],
        }],
        "ports": [{"mac": "02:00:00:00:00:01"}, {"mac": "02:00:00:00:00:02"}],
        "settle_ns": 0, "overtime_ns": 1_000_000, "drain_ns": 1_000_000, "sample_ns": 100_000_000,
    }))
    .expect("a trial")
}

fn run(spec: TrialSpec, ports: Vec<Box<dyn Port>>) -> TrialResult {
    let mut trial = Trial::new(spec, ports).expect("fits");
    run_virtual(&mut [&mut trial], Instant::ZERO, Duration::from_us(8), Instant::NEVER, &|| false);
    assert!(trial.finished());
    trial.result()
}

fn cable(rate_bps: u64) -> Vec<Box<dyn Port>> {
    let (west, east) = wire::pair(&LinkSpec::new("west", "east", rate_bps, 9216)).expect("a cable");
    vec![Box::new(west), Box::new(east)]
}

/// RFC 5180 appendix A.1, frames per second; one more begins before the second is over unless it ends
/// exactly there. Latency on a cable alone: preamble, frame and FCS, (size + 8) bytes.
#[test]
fn a_cable_carries_the_frames_of_rfc_5180() {
    let published = [
        (1_000_000_000, 64, 1_488_095, 576),
        (1_000_000_000, 1518, 81_274, 12_208),
        (10_000_000_000, 1518, 812_743, 1_220),
        (10_000_000_000, 9216, 135_339, 7_379),
    ];
    for (rate, size, frames, latency_ns) in published {
        let found = run(spec(&json!([{"size": size, "weight": 1}]), 1000, 1_000_000_000, rate), cable(rate));
        let stream = &found.streams[0];
        assert_eq!(
            (stream.offered, stream.received, stream.lost),
            (frames + 1, frames + 1, 0),
            "{size} bytes at {rate}"
        );
        let latency = stream.latency.as_ref().expect("timed");
        assert_eq!((latency.min_ns, latency.max_ns), (latency_ns, latency_ns), "{size} bytes at {rate}");
        assert_eq!(found.invalid, []);
        assert_eq!(found.health.latest_departure_ns, 0);
    }
}

#[test]
fn phases_follow_each_other_from_the_start_of_the_trial() {
    let mut spec = spec(&json!([{"size": 64, "weight": 1}]), 1, 5_000_000, 1_000_000_000);
    spec.settle_ns = 2_000_000;
    let found = run(spec, cable(10_000_000_000));
    let phases: Vec<_> = found
        .phases
        .iter()
        .map(|phase| (phase.name.as_str(), phase.start_ns, phase.duration_ns))
        .collect();
    let expected = [
        ("resolve", 0, 0),
        ("settle", 0, 2_000_000),
        ("traffic", 2_000_000, 5_000_000),
        ("drain", 7_000_000, 1_000_000),
    ];
    assert_eq!(phases, expected);
}

/// A drain of a millisecond is 2,000 samples of 500 ns, in which nothing happens. A frame of 1518 bytes is 1,220 ns on its way.
#[test]
fn series_end_with_the_last_frame_and_not_with_the_drain() {
    let mut spec = spec(&json!([{"size": 1518, "weight": 1}]), 1, 10_000, 2_000_000_000);
    spec.sample_ns = 500;
    let found = run(spec, cable(10_000_000_000));
    let (stream, ports) = (&found.streams[0], &found.ports);
    assert_eq!((stream.offered, stream.received), (2, 2));
    // At 0 and 6.152 us, arrived at 1.220 and 7.372 us: before the end of traffic, and so all of its samples are there.
    let at = |series: &[u64]| {
        series
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (at(&stream.tx), at(&stream.rx), at(&stream.arrived)),
        (vec![0, 12], vec![2, 14], vec![0, 12])
    );
    let lengths = [
        stream.tx.len(),
        stream.rx.len(),
        stream.arrived.len(),
        ports[0].tx.len(),
        ports[1].rx_bytes_series.len(),
    ];
    assert_eq!(lengths, [20; 5]);

    let mut late = self::spec(&json!([{"size": 1518, "weight": 1}]), 1, 10_000, 10_000_000_000);
    late.sample_ns = 500;
    let found = run(late, cable(10_000_000_000));
    // Nine frames, 1,230.4 ns apart: the last one leaves at 9.843 us and arrives at 11.064 us, in the 23rd sample.
    assert_eq!((found.streams[0].offered, found.streams[0].received), (9, 9));
    assert_eq!(
        (found.streams[0].tx.len(), found.streams[0].rx.len(), found.streams[0].rx[22]),
        (23, 23, 1)
    );
}

#[test]
fn what_the_line_cannot_carry_is_unsent_not_lost() {
    // Asked for twice the line rate. The line carries 1 ms and, to catch up, another.
    let found = run(
        spec(&json!([{"size": 64, "weight": 1}]), 7, 1_000_000, 20_000_000_000),
        cable(10_000_000_000),
    );
    let stream = &found.streams[0];
    assert_eq!(stream.intended, 29_762);
    // A frame may still begin at the very end of the catching up: 2 ms are 29,761.9 frames.
    assert_eq!((stream.offered, stream.received, stream.lost), (29_762, 29_762, 0));
    let found = run(
        spec(&json!([{"size": 64, "weight": 1}]), 7, 10_000_000, 20_000_000_000),
        cable(10_000_000_000),
    );
    let stream = &found.streams[0];
    // 20 ms asked in 10; 11 ms sent: 163,690.5 frames.
    assert_eq!((stream.intended, stream.offered, stream.lost), (297_620, 163_691, 0));
    assert_eq!(found.health.unsent, 297_620 - 163_691);
}

/// Frames on their way, with when they were sent.
type Queue = std::sync::Arc<std::sync::Mutex<Vec<Vec<u8>>>>;

/// Takes at most a few frames a call, nothing at all now and then, and hands back what it took, each one
/// `copies` times.
struct Narrow {
    info: PortInfo,
    calls: usize,
    copies: usize,
    room: usize,
    queue: Queue,
    sends: bool,
    counters: PortCounters,
}

fn narrow(room: usize, copies: usize) -> Vec<Box<dyn Port>> {
    let queue = Queue::default();
    let port = |name: &str, sends| {
        Box::new(Narrow {
            info: PortInfo {
                name: name.to_owned(),
                backend: "narrow".to_owned(),
                rate_bps: 0,
                max_frame: 1514,
                time: Timestamps::Software,
                detail: String::new(),
            },
            calls: 0,
            copies,
            room,
            queue: std::sync::Arc::clone(&queue),
            sends,
            counters: PortCounters::default(),
        }) as Box<dyn Port>
    };
    vec![port("west", true), port("east", false)]
}

impl Port for Narrow {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        self.calls += 1;
        let frames = hand::lend(now, limit, 1514, fill);
        let taken = if self.calls.is_multiple_of(3) {
            0
        } else {
            frames.len().min(self.room)
        };
        self.counters.tx_full += u64::from(taken < frames.len());
        for frame in frames.iter().take(taken) {
            for _ in 0..self.copies {
                self.queue.lock().unwrap().push(frame.clone());
            }
        }
        Ok(taken)
    }

    fn receive(&mut self, now: Instant, _limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        if self.sends {
            return Ok(0);
        }
        let waiting = std::mem::take(&mut *self.queue.lock().unwrap());
        Ok(hand::hand(now, &waiting, read))
    }

    fn counters(&self) -> PortCounters {
        self.counters
    }
}

#[test]
fn frames_a_port_had_no_room_for_are_sent_again_and_none_twice() {
    let mix = json!([{"size": 64, "weight": 2}, {"size": 300, "weight": 1}]);
    for flows in [1, 13] {
        let mut spec = spec(&mix, flows, 1_000_000, 500_000_000);
        let mut second = spec.streams[0].clone();
        second.name = "second".to_owned();
        for streams in 1..=2 {
            let found = run(spec.clone(), narrow(17, 1));
            for stream in &found.streams {
                assert_eq!(
                    (stream.received, stream.lost),
                    (stream.intended, 0),
                    "{flows} flows, {streams} streams"
                );
                assert_eq!((stream.duplicates, stream.out_of_order, stream.corrupted), (0, 0, 0));
            }
            assert!(found.health.tx_full > 0 && found.health.unsent == 0 && found.health.latest_departure_ns > 0);
            spec.streams.push(second.clone());
        }
    }
}

#[test]
fn a_port_that_is_too_slow_leaves_frames_unsent() {
    let found = run(
        spec(&json!([{"size": 64, "weight": 1}]), 5, 1_000_000, 10_000_000_000),
        narrow(1, 1),
    );
    let stream = &found.streams[0];
    assert!(stream.offered > 0 && stream.offered < stream.intended);
    assert_eq!((stream.intended, stream.received, stream.lost), (14_881, stream.offered, 0));
    assert_eq!(found.health.unsent, 14_881 - stream.offered);
}

#[test]
fn copies_are_duplicates_and_never_make_up_for_loss() {
    let found = run(
        spec(&json!([{"size": 64, "weight": 1}]), 5, 1_000_000, 1_000_000_000),
        narrow(64, 3),
    );
    let stream = &found.streams[0];
    assert_eq!((stream.received, stream.duplicates, stream.lost), (1489, 2 * 1489, 0));
}

#[test]
fn mistakes_are_named_with_their_place() {
    let good = || spec(&json!([{"size": 64, "weight": 1}]), 5, 1_000_000, 1_000_000_000);
    let refuse = |spec: TrialSpec| Trial::new(spec, cable(10_000_000_000)).expect_err("refused").error.to_string();
    let mut wrong = good();
    wrong.streams[0].sizes[0].size = 10_000;
    assert_eq!(
        refuse(wrong),
        "streams[0] (west-east): sizes: frames of 10000 bytes do not fit port `west`, which sends up to 9220"
    );
    let mut wrong = good();
    wrong.ports[1].mac = "02:00".to_owned();
    assert_eq!(refuse(wrong), "ports[1]: `02:00` is not a MAC address");
    let mut wrong = good();
    wrong.streams[0].destination = netdyno_engine::spec::Destination::Gateway("198.18.0.1".to_owned());
    assert_eq!(
        refuse(wrong),
        "streams[0] (west-east): destination: next hop 198.18.0.1 cannot be asked for: the port has no IPv4 address"
    );
    let mut wrong = good();
    wrong.streams[0].flows = 0;
    assert_eq!(refuse(wrong), "streams[0] (west-east): flows: no flows");
    // 289 s of the smallest frames at 10 Gbit/s are more than 2^32 of them.
    let long = |flows| spec(&json!([{"size": 64, "weight": 1}]), flows, 289_000_000_000, 10_000_000_000);
    assert_eq!(
        refuse(long(1)),
        "streams[0] (west-east): 4300595239 frames in each flow, and a probe tells 4294967295 apart"
    );
    assert!(Trial::new(long(2), cable(10_000_000_000)).is_ok());
    let mut wrong = good();
    wrong.drain_ns = u64::MAX / 1000;
    assert_eq!(refuse(wrong), "drain_ns: more than 31 days");
    // Three seconds of traffic, then the drain: four million samples of a microsecond, and one more.
    let drained = |drain_ns| TrialSpec {
        sample_ns: 1000,
        drain_ns,
        ..spec(&json!([{"size": 64, "weight": 1}]), 5, 3_000_000_000, 1_000_000_000)
    };
    assert_eq!(
        refuse(drained(1_000_000_001)),
        "sample_ns: 4000001 samples, at most 4000000 are kept"
    );
    assert!(Trial::new(drained(1_000_000_000), cable(10_000_000_000)).is_ok());
}
