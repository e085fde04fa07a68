//! Capacities of a box and its cards beyond a plain rate of frames.

use crate::common::{Rig, TEN_GIGABIT, Timed, back_to_back, bridge, cross_connect, mac, udp4};
use netdyno_dut::spec::{BitRate, Card, DeviceSpec, Haste, Layer};
use netdyno_dut::truth::{Departures, Offered, expect, frames_offered};

const MICROSECOND: u64 = 1_000_000;

fn frames(port: usize, size: usize, count: u64, load_bps: u64) -> Vec<Timed> {
    let to = if port.is_multiple_of(2) { port + 1 } else { port - 1 };
    let frame = udp4(mac(10 + port as u8), mac(10 + to as u8), [16, 0, 0, 1], [48, 0, 0, 1], 64, size);
    back_to_back(port, &frame, count, load_bps)
}

/// Latencies of the frames that come, and how many were lost.
fn measure(spec: &DeviceSpec, frames: &[Timed]) -> (Vec<u64>, u64) {
    let mut rig = Rig::new(spec.clone());
    let mut numbered = frames.to_vec();
    for (number, frame) in numbered.iter_mut().enumerate() {
        frame.bytes[42..46].copy_from_slice(&(number as u32).to_be_bytes());
    }
    let received = rig.run(&numbered, 10 * MICROSECOND, 200_000 * MICROSECOND);
    rig.assert_conserved();
    let sent = |frame: &Timed| frames[u32::from_be_bytes(frame.bytes[42..46].try_into().unwrap()) as usize].at;
    let latencies: Vec<u64> = received.iter().map(|frame| frame.at - sent(frame)).collect();
    (latencies, (frames.len() - received.len()) as u64)
}

/// A bucket of bits passes as many bits whatever the size: 2 Gbit/s of L2 for 10 ms are 20 Mbit.
#[test]
fn a_box_of_so_many_bits_passes_as_many_at_every_size() {
    for (layer, more) in [(Layer::L2, 0), (Layer::L1, 20)] {
        let mut spec = cross_connect();
        spec.box_bits = Some(BitRate {
            rate_bps: 2_000_000_000,
            layer,
        });
        spec.box_queue = 4;
        for size in [64u64, 512, 1518] {
            let count = frames_offered(TEN_GIGABIT, size as u32, 10_000_000);
            let (received, _) = measure(&spec, &frames(0, size as usize, count, TEN_GIGABIT));
            let bits = received.len() as u64 * (size + more) * 8;
            // At the end a few frames are still to be served.
            let over = 6 * (size + more) * 8;
            assert!((20_000_000 - over..=20_000_000 + over).contains(&bits), "{size}: {bits}");
        }
    }
}

/// The same against the closed form, frame by frame exact.
#[test]
fn bits_and_cards_are_as_the_closed_form_has_them() {
    let card = |in_fps, in_bits| Card {
        ports: vec![0, 1],
        in_fps,
        in_bits,
        in_queue: 33,
    };
    let rate = |rate_bps, layer| Some(BitRate { rate_bps, layer });
    for (box_bits, cards) in [
        (rate(3_333_333_333, Layer::L2), vec![]),
        (rate(5_000_000_000, Layer::L1), vec![]),
        (None, vec![card(Some((5_000_001, 1)), None)]),
        (None, vec![card(None, rate(4_000_000_000, Layer::L2))]),
    ] {
        let mut spec = cross_connect();
        (spec.box_bits, spec.cards, spec.box_queue) = (box_bits, cards, 17);
        for load in [TEN_GIGABIT, 2_000_000_000] {
            let count = frames_offered(load, 64, 500_000);
            let offered = Offered {
                in_port: 0,
                out_port: 1,
                size: 64,
                departures: Departures::Constant {
                    load_bps: load,
                    frames: count,
                },
                flow: None,
            };
            let expected = expect(&spec, &[offered]).unwrap().remove(0);
            let (latencies, lost) = measure(&spec, &frames(0, 64, count, load));
            assert_eq!((latencies.len() as u64, lost), (expected.received, expected.lost));
            assert_eq!(latencies.iter().min().copied(), expected.latency_min_ps);
            assert_eq!(latencies.iter().max().copied(), expected.latency_max_ps);
            assert_eq!(lost > 0, load == TEN_GIGABIT);
        }
    }
}

/// Two ports of one card have to share what two on different cards have each.
#[test]
fn ports_of_one_card_share_and_those_of_two_do_not() {
    let received = |cards: &[&[usize]]| {
        let mut spec = bridge(4);
        spec.cards = cards
            .iter()
            .map(|ports| Card {
                ports: ports.to_vec(),
                in_fps: Some((10_000_000, 1)),
                in_bits: None,
                in_queue: 10,
            })
            .collect();
        let mut rig = Rig::new(spec);
        // Everybody is known first.
        let hello: Vec<Timed> = (0..4).flat_map(|port| frames(port, 64, 1, TEN_GIGABIT)).collect();
        rig.run(&hello, MICROSECOND, 100 * MICROSECOND);
        rig.device.reset_counters();
        let later = |port| {
            let frames = frames(port, 64, 14_880, TEN_GIGABIT).into_iter();
            frames.map(|frame| Timed {
                at: frame.at + 200 * MICROSECOND,
                ..frame
            })
        };
        let both: Vec<Timed> = later(0).chain(later(2)).collect();
        let received = rig.run(&both, MICROSECOND, 10_000 * MICROSECOND).len();
        rig.assert_conserved();
        received
    };
    // A millisecond: 14,880 frames each; a card passes 10,000 and some that wait at the end.
    assert_eq!(received(&[]), 2 * 14_880);
    let together = received(&[&[0, 2], &[1, 3]]);
    let apart = received(&[&[0, 1], &[2, 3]]);
    assert!((9_990..=10_030).contains(&together), "{together}");
    assert!((19_980..=20_060).contains(&apart), "{apart}");
}

/// 1 million a second, 2 million once a frame has to wait 10 us. Of 1.5 million a second none is lost and the wait stays
/// there: a frame that waits just less is served in 1 us, while one and a half arrive.
#[test]
fn a_box_that_makes_haste_holds_its_queue_where_haste_begins() {
    let mut spec = cross_connect();
    (spec.box_fps, spec.box_queue) = (Some((1_000_000, 1)), 40);
    spec.box_haste = Some(Haste {
        behind_ns: 10_000,
        fps: (2_000_000, 1),
    });
    let at = |fps: u64| measure(&spec, &frames(0, 64, fps / 100, fps * 672));
    // Both wires and the delay, and the service.
    let bare = 57_600 + 5 * MICROSECOND + 57_600;
    let (latencies, lost) = at(900_000);
    assert_eq!(lost, 0);
    assert!(latencies.iter().all(|latency| *latency == bare + MICROSECOND));
    let (latencies, lost) = at(1_500_000);
    assert_eq!(lost, 0);
    let settled = &latencies[100..];
    let wait = |latency: u64| latency - bare;
    assert!(
        settled
            .iter()
            .all(|latency| (9 * MICROSECOND..12 * MICROSECOND).contains(&wait(*latency)))
    );
    let (latencies, lost) = at(3_000_000);
    // 10 ms: 20,000 are served, and some thousandth more at first and in the end.
    assert!((19_990..=20_060).contains(&latencies.len()), "{}", latencies.len());
    assert_eq!(lost, 30_000 - latencies.len() as u64);
}

#[test]
fn what_cannot_be_is_refused_with_its_field() {
    let refused = |spec: DeviceSpec| {
        let ports = spec.ports.iter().map(|port| {
            let link = netdyno_io::backend::LinkSpec::new("tester", &port.name, port.rate_bps, 1600);
            Box::new(netdyno_io::backend::wire::pair(&link).unwrap().1) as Box<dyn netdyno_io::port::Port>
        });
        let ports = ports.collect();
        netdyno_dut::Device::new(spec, ports, 1600).unwrap_err().to_string()
    };
    let mut haste = cross_connect();
    haste.box_haste = Some(Haste { behind_ns: 1, fps: (1, 1) });
    assert!(refused(haste).contains("box_haste"));
    let card = Card {
        ports: vec![1],
        in_fps: None,
        in_bits: None,
        in_queue: 1,
    };
    let mut twice = cross_connect();
    twice.cards = vec![card.clone(), card];
    assert!(refused(twice).contains("cards[1].ports"));
    let mut recovering = cross_connect();
    recovering.ports[1].recovery = Some(netdyno_dut::spec::Recovery { for_ns: 1, every: 1 });
    assert!(refused(recovering).contains("ports[1].weary"));
}
