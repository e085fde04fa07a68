//! When frames depart: against published rates, closed forms, and a slow oracle in whole numbers.

use netdyno_engine::Schedule;
use netdyno_engine::spec::{Segment, SizeSpec};
use proptest::prelude::*;

pub(crate) fn segment(duration_ns: u64, from_bps: u64, to_bps: u64) -> Segment {
    Segment {
        name: "s".to_owned(),
        duration_ns,
        from_bps,
        to_bps,
    }
}

pub(crate) fn schedule(segments: &[Segment], sizes: &[u32], order: &[u16]) -> Schedule {
    let sizes: Vec<SizeSpec> = sizes.iter().map(|&size| SizeSpec { size, weight: 1 }).collect();
    Schedule::new(segments, &sizes, order)
}

pub(crate) fn all(schedule: &Schedule) -> Vec<u64> {
    let mut departures = schedule.departures();
    let mut times = Vec::new();
    while departures.peek() != u64::MAX {
        times.push(departures.peek());
        departures.advance(1);
    }
    times
}

/// RFC 5180 appendix A.1: frames per second at 10 Gbit/s. The table counts whole frames; we also begin
/// the one that is cut off by the end of the second, unless a frame ends just there.
#[test]
fn one_second_at_line_rate_holds_the_frames_of_rfc_5180() {
    let published = [
        (64, 14_880_952),
        (128, 8_445_945),
        (256, 4_528_985),
        (512, 2_349_624),
        (1024, 1_197_318),
        (1280, 961_538),
        (1518, 812_743),
        (1522, 810_635),
        (4096, 303_692),
        (8192, 152_216),
        (9216, 135_339),
    ];
    for (size, rate) in published {
        let second = schedule(&[segment(1_000_000_000, 10_000_000_000, 10_000_000_000)], &[size], &[0]);
        assert_eq!(second.frames(), rate + 1, "{size} bytes");
        let last = second.departure_ps(rate - 1).unwrap() + u64::from(size + 20) * 800;
        assert!(last <= 1_000_000_000_000, "{size} bytes: the {rate} frames of the table fit");
    }
}

#[test]
fn at_full_load_frames_stand_back_to_back() {
    let mixed = schedule(&[segment(1_000_000, 10_000_000_000, 10_000_000_000)], &[64, 1518], &[0, 0, 1]);
    let times = all(&mixed);
    // 67.2 ns for 64 bytes, 1230.4 ns for 1518 at 10 Gbit/s.
    assert_eq!(times[..5], [0, 67_200, 134_400, 1_364_800, 1_432_000]);
    assert_eq!(times.len() as u64, mixed.frames());
}

#[test]
fn a_rate_that_does_not_divide_a_second_carries_its_remainder() {
    // 3 frames of 672 bits in a microsecond: 333,333.33 ps apart.
    let uneven = schedule(&[segment(1000, 2_016_000_000, 2_016_000_000)], &[64], &[0]);
    assert_eq!(all(&uneven), [0, 333_333, 666_666]);
    let long = schedule(&[segment(1_000_000_000, 2_016_000_000, 2_016_000_000)], &[64], &[0]);
    assert_eq!(long.frames(), 3_000_000);
    assert_eq!(all(&long).last(), Some(&999_999_666_666));
}

#[test]
fn what_is_owed_when_a_segment_ends_is_carried_into_the_next() {
    // 672 bits at 1 Gbit/s take 672 ns. After 1000 ns 328 of the second frame's 672 bits were offered;
    // at 2 Gbit/s the other 344 take 172 ns.
    let steps = schedule(
        &[
            segment(1000, 1_000_000_000, 1_000_000_000),
            segment(1000, 2_000_000_000, 2_000_000_000),
        ],
        &[64],
        &[0],
    );
    assert_eq!(all(&steps), [0, 672_000, 1_172_000, 1_508_000, 1_844_000]);
    let pause = schedule(
        &[
            segment(1000, 1_000_000_000, 1_000_000_000),
            segment(5000, 0, 0),
            segment(1000, 2_000_000_000, 2_000_000_000),
        ],
        &[64],
        &[0],
    );
    assert_eq!(all(&pause), [0, 672_000, 6_172_000, 6_508_000, 6_844_000]);
}

#[test]
fn silence_sends_nothing() {
    for silent in [schedule(&[], &[64], &[0]), schedule(&[segment(1_000_000, 0, 0)], &[64], &[0])] {
        assert_eq!(silent.frames(), 0);
        assert_eq!(all(&silent), [0_u64; 0]);
    }
}

/// Worked out in Python, whose whole numbers have no end: `2*a*T*t + (b-a)*t^2 <= 2*10^12*bits*T`.
#[test]
fn ramps_of_two_minutes_are_exact_to_the_picosecond() {
    let golden = [
        (
            0,
            10_000_000_000,
            892_857_143,
            [
                (0, 0),
                (1, 4_015_968_127),
                (2, 5_679_436_591),
                (1_000, 126_996_062_931),
                (12_345_678, 14_110_673_080_473),
                (446_428_571, 84_852_813_701_656),
                (892_857_141, 119_999_999_875_199),
                (892_857_142, 119_999_999_942_399),
            ],
        ),
        (
            10_000_000_000,
            0,
            892_857_143,
            [
                (0, 0),
                (1, 67_200),
                (2, 134_400),
                (1_000, 67_200_018),
                (12_345_678, 832_517_416_805),
                (446_428_571, 35_147_186_216_884),
                (892_857_141, 119_994_527_157_959),
                (892_857_142, 119_996_281_935_987),
            ],
        ),
        (
            672_000,
            10_000_000_000,
            892_917_143,
            [
                (0, 0),
                (1, 944_671_154),
                (2, 1_799_281_074),
                (1_000, 119_191_580_552),
                (12_345_678, 14_103_084_985_497),
                (446_458_571, 84_850_451_843_613),
                (892_917_141, 119_999_999_875_199),
                (892_917_142, 119_999_999_942_399),
            ],
        ),
    ];
    for (from, to, frames, departures) in golden {
        let ramp = schedule(&[segment(120_000_000_000, from, to)], &[64], &[0]);
        assert_eq!(ramp.frames(), frames, "{from} to {to}");
        for (number, ps) in departures {
            assert_eq!(ramp.departure_ps(number), Some(ps), "frame {number} of {from} to {to}");
        }
        assert_eq!(ramp.departure_ps(frames), None);
    }
}

#[test]
fn the_fast_path_of_a_long_ramp_finds_the_same_departures() {
    let mixed = schedule(&[segment(120_000_000_000, 0, 10_000_000)], &[64, 1518], &[0, 0, 1]);
    let times = all(&mixed);
    assert_eq!(times.len() as u64, mixed.frames());
    for (number, &time) in (0..).zip(&times) {
        assert_eq!(mixed.departure_ps(number), Some(time), "frame {number}");
    }
}

/// The last picosecond by which at most `bits` were offered, by walking up in halves with plain integers.
fn oracle(from: u64, to: u64, duration_ps: u64, bits: u64) -> u64 {
    let offered = |t: u64| {
        let (t, whole) = (i128::from(t), i128::from(duration_ps));
        2 * i128::from(from) * whole * t + (i128::from(to) - i128::from(from)) * t * t
    };
    let asked = 2_000_000_000_000 * i128::from(bits) * i128::from(duration_ps);
    let mut t = 0;
    for step in (0..=duration_ps.ilog2()).rev().map(|bit| 1_u64 << bit) {
        if t + step <= duration_ps && offered(t + step) <= asked {
            t += step;
        }
    }
    t
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn ramps_agree_with_the_oracle(
        from in 0_u64..20_000_000_000,
        to in 0_u64..20_000_000_000,
        duration_ns in 1_000_u64..2_000_000,
        size in 64_u32..1519,
    ) {
        let ramp = schedule(&[segment(duration_ns, from, to)], &[size], &[0]);
        let times = all(&ramp);
        prop_assert_eq!(times.len() as u64, ramp.frames());
        let bits = u64::from(size + 20) * 8;
        for (number, &time) in (0..).zip(&times) {
            prop_assert_eq!(time, oracle(from, to, duration_ns * 1000, number * bits));
        }
        prop_assert!(oracle(from, to, duration_ns * 1000, ramp.frames() * bits) >= duration_ns * 1000 - 1);
    }

    #[test]
    fn the_number_of_frames_before_a_time_is_what_has_departed(
        loads in proptest::collection::vec((0_u64..5_000_000_000, 0_u64..5_000_000_000, 0_u64..50_000), 1..5),
        asked in 0_u64..200_000_000,
    ) {
        let segments: Vec<Segment> = loads.iter().map(|&(from, to, ns)| segment(ns, from, to)).collect();
        let mixed = schedule(&segments, &[64, 590, 1518], &[0, 1, 0, 0, 2]);
        let times = all(&mixed);
        prop_assert!(times.is_sorted());
        prop_assert_eq!(times.len() as u64, mixed.frames());
        prop_assert_eq!(times.iter().filter(|&&time| time < asked).count() as u64, mixed.frames_before(asked));
    }

    #[test]
    fn advancing_by_any_number_comes_to_the_same(counts in proptest::collection::vec(1_usize..64, 1..40)) {
        let mixed = schedule(&[segment(30_000, 0, 10_000_000_000), segment(30_000, 10_000_000_000, 10_000_000_000)], &[64, 128], &[0, 1]);
        let times = all(&mixed);
        let mut departures = mixed.departures();
        let mut place = 0;
        for count in counts {
            let (block, _) = departures.block();
            if block.is_empty() {
                break;
            }
            prop_assert_eq!(block, &times[place..place + block.len()]);
            let count = count.min(block.len());
            place += count;
            departures.advance(count);
        }
    }
}

/// 64-byte frames in bursts of 32 at 10 Gbit/s: 67.2 ns apart. At a tenth of the line a burst begins each 32 x 672 ns.
#[test]
fn burst_frames_are_back_to_back_and_bursts_apart_by_the_load() {
    let even = schedule(&[segment(1_000_000, 1_000_000_000, 1_000_000_000)], &[64], &[0]);
    let bursts = even.clone().in_bursts(32, 10_000_000_000);
    let times = all(&bursts);
    // 1 ms at 672 ns a frame, and the one that is cut off.
    assert_eq!(times.len(), 1489);
    for (number, &at) in (0_u64..).zip(&times) {
        assert_eq!(at, number / 32 * 32 * 672_000 + number % 32 * 67_200, "frame {number}");
        assert_eq!(bursts.departure_ps(number), Some(at));
    }
    assert_eq!((bursts.frames(), bursts.departure_ps(1489)), (1489, None));
    // A port that spaces them itself has them at once.
    let at_once = all(&even.in_bursts_at_once(32, 10_000_000_000));
    assert!((0_u64..).zip(at_once).all(|(number, at)| at == number / 32 * 32 * 672_000));
}

/// RFC 2889 appendix A.1 (as its formula reads in whole bits): between the last bit of a burst and the first of the next
/// there are ((100/LOAD - 1) * BURST * (96 + 64 + 8L) + 96) bit times, of which 96 + 64 are the gap and the preamble.
#[test]
fn the_gap_between_bursts_is_that_of_rfc_2889() {
    // Sizes, loads and bursts for which the gap is whole picoseconds at 10 Gbit/s: 100 ps a bit.
    for (size, percent, burst) in [(64_u64, 50_u64, 16_u64), (64, 25, 930), (512, 80, 64), (1518, 10, 256)] {
        let load = 100_000_000 * percent;
        let bursts = schedule(&[segment(20_000_000, load, load)], &[size as u32], &[0]).in_bursts(burst as u32, 10_000_000_000);
        let times = all(&bursts);
        let on_line = 96 + 64 + 8 * size;
        let gap_bits = (100 - percent) * burst * on_line / percent + 96;
        let frame_end_ps = (64 + 8 * size) * 100;
        for pair in times.chunks(burst as usize).collect::<Vec<_>>().windows(2) {
            let last_bit = pair[0].last().unwrap() + frame_end_ps;
            assert_eq!(
                pair[1][0] - last_bit,
                gap_bits * 100,
                "{size} bytes at {percent} % in bursts of {burst}"
            );
        }
    }
}

#[test]
fn a_burst_of_a_mix_takes_the_line_time_of_its_frames() {
    // 2 x 64 and 1518: 67.2, 67.2 and 1230.4 ns at 10 Gbit/s; 4 frames of them at a time, at half the line.
    let mixed = schedule(&[segment(1_000_000, 5_000_000_000, 5_000_000_000)], &[64, 1518], &[0, 0, 1]);
    let times = all(&mixed.clone().in_bursts(4, 10_000_000_000));
    // The first burst has 64, 64, 1518, 64 and takes twice 1432 ns of the load; the second 64, 1518, 64, 64.
    assert_eq!(
        times[..8],
        [0, 67_200, 134_400, 1_364_800, 2_864_000, 2_931_200, 4_161_600, 4_228_800]
    );
    assert_eq!(times.len() as u64, mixed.frames());
    // At the line's own rate bursts follow each other as frames do.
    let full = schedule(&[segment(1_000_000, 10_000_000_000, 10_000_000_000)], &[64, 1518], &[0, 0, 1]);
    assert_eq!(all(&full.clone().in_bursts(4, 10_000_000_000)), all(&full));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the load does: a burst begins with its first frame, no frame is late for it, none overtakes another, and what
    /// has departed by any time is what counting says.
    #[test]
    fn bursts_begin_on_time_and_stay_in_order(
        parts in proptest::collection::vec((1_000_u64..400_000, 0..10_000_000_000_u64, 0..10_000_000_000_u64), 1..4),
        burst in 2_u32..300,
        share in 0.0..1.1,
    ) {
        let segments: Vec<Segment> = parts.iter().map(|&(ns, from, to)| segment(ns, from, to)).collect();
        let even = schedule(&segments, &[64, 594, 1518], &[0, 0, 1, 0, 2]);
        let bursts = even.clone().in_bursts(burst, 10_000_000_000);
        let (evenly, together) = (all(&even), all(&bursts));
        prop_assert_eq!(evenly.len(), together.len());
        prop_assert!(together.is_sorted());
        for (number, (&alone, &at)) in evenly.iter().zip(&together).enumerate() {
            prop_assert!(at <= alone + 1, "frame {} departs after it would without bursts", number);
            prop_assert!(number % burst as usize != 0 || at == alone, "burst {} begins late", number);
            prop_assert_eq!(bursts.departure_ps(number as u64), Some(at));
        }
        let t = (bursts.duration_ps() as f64 * share) as u64;
        prop_assert_eq!(bursts.frames_before(t), together.iter().filter(|at| **at < t).count() as u64);
    }
}

/// As `netdyno.plan.bursts` has them: bits of 7 frames end in the middle of a ns, and the last two ns offer what is over, so
/// that the next burst begins with its first frame and no frame is left over.
#[test]
fn frames_of_finite_bursts_depart_from_the_begin_of_each() {
    const BITS: u64 = 84 * 8;
    for bps in [22_399_776, 999_999_937, 10_000_000_019] {
        let whole_ns = 7 * BITS * 1_000_000_000 / bps - 1;
        let rest = 7 * BITS * 1_000_000_000 - bps * whole_ns;
        let period_ns = 700_001;
        let burst = [
            segment(whole_ns, bps, bps),
            segment(2, rest - rest / 2, rest / 2),
            segment(period_ns - whole_ns - 2, 0, 0),
        ];
        let segments: Vec<_> = std::iter::repeat_n(burst, 1000).flatten().collect();
        let schedule = schedule(&segments, &[64], &[0]);
        assert_eq!(schedule.frames(), 7000);
        let expected = |number: u64| {
            let within = u128::from(number % 7 * BITS) * 1_000_000_000_000 / u128::from(bps);
            number / 7 * period_ns * 1000 + within as u64
        };
        assert_eq!(all(&schedule), (0..7000).map(expected).collect::<Vec<_>>());
        assert_eq!(schedule.departure_ps(6999), Some(expected(6999)));
    }
}
