//! A cable in virtual time: when frames depart and arrive, against tables and closed forms.

mod support;

use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::wire::{self, WirePort};
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::{Duration, Instant};
use proptest::prelude::*;
use support::{frame, send_all, send_at};

const GIGABIT: u64 = 1_000_000_000;

fn link(rate_bps: u64) -> (WirePort, WirePort) {
    wire::pair(&LinkSpec::new("west", "east", rate_bps, 9214)).expect("a wire")
}

/// Sends frames of these sizes (with FCS), each to depart at its time in picoseconds.
fn send(port: &mut WirePort, frames: &[(usize, u64)]) {
    let mut rest = frames;
    while !rest.is_empty() {
        let taken = port.transmit(Instant::ZERO, rest.len(), &mut |burst| {
            let count = burst.len().min(rest.len());
            for (index, (size, ps)) in rest[..count].iter().enumerate() {
                burst.set(index, size - 4, Instant { ps: *ps });
            }
            count
        });
        rest = &rest[taken.expect("a wire never refuses")..];
    }
}

/// Arrivals of all that has arrived by `now`.
fn arrivals_by(port: &mut WirePort, now: u64) -> Vec<u64> {
    let mut arrivals = Vec::new();
    while port
        .receive(Instant { ps: now }, 64, &mut |burst| {
            arrivals.extend(burst.slots().iter().map(|slot| slot.at.ps))
        })
        .expect("a wire can be read")
        > 0
    {}
    arrivals
}

fn arrivals(port: &mut WirePort) -> Vec<u64> {
    arrivals_by(port, u64::MAX)
}

#[test]
fn serialization_times_worked_out_by_hand() {
    // Rate, size with FCS, ps until the last bit of the FCS is in, ps until the next frame can start.
    let by_hand = [
        (GIGABIT, 64, 576_000, 672_000), // 72 and 84 bytes of 8 ns
        (GIGABIT, 1518, 12_208_000, 12_304_000),
        (GIGABIT, 9000, 72_064_000, 72_160_000),
        (10 * GIGABIT, 64, 57_600, 67_200),
        (10 * GIGABIT, 1518, 1_220_800, 1_230_400),
        (10 * GIGABIT, 9000, 7_206_400, 7_216_000),
        (25 * GIGABIT, 64, 23_040, 26_880), // 320 ps a byte
        (25 * GIGABIT, 1518, 488_320, 492_160),
        (40 * GIGABIT, 64, 14_400, 16_800), // 200 ps a byte
        (40 * GIGABIT, 9000, 1_801_600, 1_804_000),
        (100 * GIGABIT, 64, 5_760, 6_720), // 80 ps a byte
        (100 * GIGABIT, 1518, 122_080, 123_040),
        (100 * GIGABIT, 9000, 720_640, 721_600),
    ];
    for (rate, size, last_bit, next_start) in by_hand {
        let (mut west, mut east) = link(rate);
        send(&mut west, &[(size, 5_000_000), (size, 0)]);
        let expected = [5_000_000 + last_bit, 5_000_000 + next_start + last_bit];
        assert_eq!(arrivals(&mut east), expected, "{size} bytes at {rate} bit/s");
    }
}

/// RFC 5180, appendix A.1: frames a second at 10 and 100 Mbit/s, 1 and 10 Gbit/s, as published but for three
/// slips: 4096 bytes at 1 and 10 Gbit/s stand there as 30,396 (digits swapped) and 303,691, and 9216 bytes at
/// 1 Gbit/s as 13,534, rounded up where the rest is rounded down; 10^9 / (9236 x 8) is 13,533.99.
const RFC_5180_A_1: [(usize, [u64; 4]); 12] = [
    (64, [14_880, 148_809, 1_488_095, 14_880_952]),
    (128, [8_445, 84_459, 844_594, 8_445_945]),
    (256, [4_528, 45_289, 452_898, 4_528_985]),
    (512, [2_349, 23_496, 234_962, 2_349_624]),
    (1024, [1_197, 11_973, 119_731, 1_197_318]),
    (1280, [961, 9_615, 96_153, 961_538]),
    (1518, [812, 8_127, 81_274, 812_743]),
    (1522, [810, 8_106, 81_063, 810_635]),
    (2048, [604, 6_044, 60_444, 604_448]),
    (4096, [303, 3_036, 30_369, 303_692]),
    (8192, [152, 1_522, 15_221, 152_216]),
    (9216, [135, 1_353, 13_533, 135_339]),
];

#[test]
fn one_second_of_line_rate_is_what_rfc_5180_says() {
    for (size, published) in RFC_5180_A_1 {
        for (rate, published) in [GIGABIT / 100, GIGABIT / 10, GIGABIT, 10 * GIGABIT].into_iter().zip(published) {
            let (mut west, mut east) = wire::pair(&LinkSpec::new("west", "east", rate, 9214)).expect("a wire");
            let (mut first, mut complete) = (None, 0);
            'second: loop {
                send(&mut west, &[(size, 0); 256]);
                for arrival in arrivals(&mut east) {
                    let first = *first.get_or_insert(arrival);
                    // When this one started: the gap of the one before it was over.
                    if arrival - first > 1_000_000_000_000 {
                        break 'second;
                    }
                    complete += u64::from(arrival > first);
                }
            }
            assert_eq!(complete, published, "frames of {size} bytes at {rate} bit/s");
        }
    }
}

#[test]
fn rates_that_do_not_divide_stay_exact_in_the_long_run() {
    for rate in [9_500_000_001, 9_999_999_999, 1_544_000, 7, 99_999_999_977] {
        let (mut west, mut east) = link(rate);
        let sizes = [64, 64, 1518, 64, 590, 9000, 64];
        let mut bits_before: u128 = 0;
        let floor = |bits: u128| u64::try_from(bits * 1_000_000_000_000 / u128::from(rate)).expect("within the clock");
        // Slow lines reach the end of the clock (213 days) sooner.
        let rounds = if rate < 1000 { 10 } else { 20_000 };
        for _ in 0..rounds {
            send(&mut west, &sizes.map(|size| (size, 0)));
            for (arrival, size) in arrivals(&mut east).into_iter().zip(sizes) {
                assert_eq!(arrival, floor(bits_before + (size as u128 + 8) * 8), "{rate} bit/s");
                bits_before += (size as u128 + 20) * 8;
            }
        }
    }
}

#[test]
fn a_frame_departs_when_asked_or_when_the_line_is_free() {
    let (mut west, mut east) = link(10 * GIGABIT);
    // Idle, exactly back to back, one ps early (waits), late (leaves a gap), in the past (queues).
    send(
        &mut west,
        &[(64, 1_000_000), (64, 1_067_200), (64, 1_134_399), (64, 2_000_000), (64, 0)],
    );
    assert_eq!(arrivals(&mut east), [1_057_600, 1_124_800, 1_192_000, 2_057_600, 2_124_800]);
}

#[test]
fn short_frames_take_the_time_of_64_bytes() {
    let (mut west, mut east) = link(10 * GIGABIT);
    send(&mut west, &[(46, 0), (64, 0), (65, 0)]);
    assert_eq!(arrivals(&mut east), [57_600, 124_800, 134_400 + 58_400]);
}

#[test]
fn propagation_is_added_and_only_what_has_arrived_is_lent() {
    let spec = LinkSpec {
        propagation: Duration::from_us(5), // about a kilometre of fibre
        ..LinkSpec::new("west", "east", 10 * GIGABIT, 1514)
    };
    let (mut west, mut east) = wire::pair(&spec).expect("a wire");
    assert_eq!(east.next_arrival(), None);
    send(&mut west, &[(64, 0), (64, 0), (64, 0)]);
    assert_eq!(east.next_arrival(), Some(Instant { ps: 5_057_600 }));
    assert_eq!(west.next_arrival(), None);
    assert!(arrivals_by(&mut east, 5_057_599).is_empty());
    assert_eq!(arrivals_by(&mut east, 5_057_600), [5_057_600]);
    assert_eq!(east.next_arrival(), Some(Instant { ps: 5_124_800 }));
    assert_eq!(arrivals_by(&mut east, 5_191_999), [5_124_800]);
    assert_eq!(arrivals_by(&mut east, 5_192_000), [5_192_000]);
    assert_eq!(east.next_arrival(), None);
}

#[test]
fn each_direction_has_its_own_rate() {
    let spec = LinkSpec {
        rate_bps: [10 * GIGABIT, GIGABIT],
        ..LinkSpec::new("west", "east", 0, 1514)
    };
    let (mut west, mut east) = wire::pair(&spec).expect("a wire");
    assert_eq!((west.info().rate_bps, east.info().rate_bps), (10 * GIGABIT, GIGABIT));
    send(&mut west, &[(64, 0)]);
    send(&mut east, &[(64, 0)]);
    assert_eq!(arrivals(&mut east), [57_600]);
    assert_eq!(arrivals(&mut west), [576_000]);
}

#[test]
fn never_drops_and_keeps_contents_while_it_grows() {
    let (mut west, mut east) = link(GIGABIT);
    let frames: Vec<_> = (0..20_000).map(|number| frame(number, 60 + number as usize % 40)).collect();
    // Read a little first, so that the line grows with its start in the middle.
    send_all(&mut west, &frames[..500]);
    let mut got = support::receive(&mut east, 300);
    send_all(&mut west, &frames[500..]);
    got.extend(support::collect(&mut east, frames.len() - got.len()));
    assert!(got == frames);
    assert_eq!(west.counters().tx_full, 0);
}

/// A backlog that neither empties nor grows: what waits is moved to the front again and again, at times by
/// less than its own length.
#[test]
fn keeps_contents_and_order_with_any_backlog() {
    for backlog in [1, 50, 200, 300, 380, 500] {
        let (mut west, mut east) = link(GIGABIT);
        let frames: Vec<_> = (0..5000).map(|number| frame(number, 60 + number as usize % 40)).collect();
        send_all(&mut west, &frames[..backlog]);
        let mut got = Vec::new();
        for burst in frames[backlog..].chunks(70) {
            send_all(&mut west, burst);
            got.extend(support::receive(&mut east, burst.len()));
        }
        got.extend(support::collect(&mut east, frames.len() - got.len()));
        assert!(got == frames, "a backlog of {backlog}");
    }
}

#[test]
fn a_refused_burst_takes_no_time_on_the_line() {
    let (mut west, mut east) = link(10 * GIGABIT);
    let refused = west.transmit(Instant::ZERO, 2, &mut |burst| {
        burst.set(0, 60, Instant::ZERO);
        burst.set(1, 0, Instant::ZERO);
        2
    });
    assert!(refused.is_err());
    send(&mut west, &[(64, 0)]);
    assert_eq!(arrivals(&mut east), [57_600]);
}

#[test]
fn an_end_without_its_other_end_says_so() {
    let (mut west, mut east) = link(GIGABIT);
    send(&mut east, &[(64, 0)]);
    drop(east);
    assert_eq!(arrivals(&mut west).len(), 1, "what was under way still arrives");
    let gone = send_at(&mut west, Instant::ZERO, &[frame(0, 60)]);
    assert!(matches!(gone, Err(PortError::Gone { .. })), "{gone:?}");
    assert!(wire::pair(&LinkSpec::new("west", "east", 0, 1514)).is_err(), "a rate of zero");
}

proptest! {
    /// Whatever is sent and however it is cut into bursts and polls, arrivals are those of the fraction kept whole.
    #[test]
    fn arrivals_do_not_depend_on_bursts_or_polls(
        rate in 1_000_000_u64..400_000_000_000,
        frames in prop::collection::vec((64_usize..1519, 0_u64..3_000_000), 1..200),
        cuts in prop::collection::vec(1_usize..70, 1..20),
    ) {
        // The line's free time as an exact fraction with the rate as denominator.
        let (mut free, mut at, mut expected, mut asked) = (0_u128, 0, Vec::new(), Vec::new());
        let rate_wide = u128::from(rate);
        for (size, wait) in frames {
            at += wait;
            asked.push((size, at));
            let start = free.max(u128::from(at) * rate_wide);
            let bits = |bytes: usize| bytes as u128 * 8 * 1_000_000_000_000;
            expected.push(((start + bits(size + 8)) / rate_wide) as u64);
            free = start + bits(size + 20);
        }
        let (mut west, mut east) = link(rate);
        let (mut rest, mut got) = (&asked[..], Vec::new());
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break }
            let (now, later) = rest.split_at(rest.len().min(*cut));
            send(&mut west, now);
            rest = later;
            got.extend(arrivals_by(&mut east, now[0].1));
        }
        got.extend(arrivals(&mut east));
        prop_assert_eq!(got, expected);
    }
}
