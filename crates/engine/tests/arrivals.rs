//! When frames depart whose arrivals are not even: against closed forms, statistics and counting.

use super::schedule::{all, schedule, segment};
use netdyno_engine::Schedule;
use netdyno_engine::spec::{ArrivalSpec, Shape, WaveSpec};
use proptest::prelude::*;

/// 64-byte frames at so many a second, for `ms` milliseconds.
fn even(fps: u64, ms: u64) -> Schedule {
    schedule(&[segment(ms * 1_000_000, 672 * fps, 672 * fps)], &[64], &[0])
}

/// `sum (found - expected)^2 / expected` over bins of which each expects as many.
fn chi_square(bins: &[u64], expected: f64) -> f64 {
    bins.iter().map(|&found| (found as f64 - expected).powi(2) / expected).sum()
}

/// Gaps of a Poisson process are exponential: in 50 bins of equal probability chi-square is between the quantiles 0.001 and
/// 0.999 of 49 degrees of freedom (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
#[test]
fn gaps_of_drawn_times_are_exponential() {
    const BINS: usize = 50;
    for seed in [1, 2, 3] {
        let times = all(&even(1_000_000, 500).arriving(&ArrivalSpec::Poisson, seed));
        let mut bins = [0; BINS];
        let mut alike = 0;
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        for pair in gaps.windows(2) {
            bins[((1.0 - (-pair[0]).exp()) * BINS as f64) as usize] += 1;
            // Neighbours are independent: both are above the median a quarter of the time.
            alike += u64::from(pair[0].min(pair[1]) > 2_f64.ln());
        }
        let count = gaps.len() as f64 - 1.0;
        let found = chi_square(&bins, count / BINS as f64);
        assert!((23.98..85.35).contains(&found), "seed {seed}: {found}");
        // Of half a million such pairs 0.25 +- 0.0025 is over four standard deviations.
        assert!((alike as f64 / count - 0.25).abs() < 0.0025, "seed {seed}: {alike} of {count}");
    }
}

/// In any length of time, leaves of the drawing or many of them, counts vary as much as they are on average. Of 1,000 windows the
/// ratio is within 1 +- 0.15 in 99.9 % (chi-square of 999 degrees of freedom: 0.862 to 1.145), less the share of the whole that
/// a window is, as the number of all frames is given.
#[test]
fn counts_of_drawn_times_vary_as_those_of_a_poisson_process() {
    for (fps, ms) in [(20_000, 1000), (1_000_000, 1000), (4_000_000, 2000)] {
        let times = all(&even(fps, ms).arriving(&ArrivalSpec::Poisson, 11));
        let window_ps = ms * 1_000_000;
        let mut counts = [0_u64; 1000];
        for time in times {
            counts[(time / window_ps) as usize] += 1;
        }
        let mean = (fps * ms) as f64 / 1e6;
        let ratio = chi_square(&counts, mean) / 999.0;
        assert!((0.85..1.15).contains(&ratio), "windows of {mean} frames: {ratio}");
    }
}

/// What is drawn on a ramp is uniform in what is offered: halfway through a ramp from nothing a quarter has departed.
#[test]
fn drawn_times_follow_a_rising_load() {
    let ramp = schedule(&[segment(1_000_000_000, 0, 672_000_000)], &[64], &[0]).arriving(&ArrivalSpec::Poisson, 5);
    assert_eq!(ramp.frames(), 500_000);
    for (percent, share) in [(10_u64, 0.01_f64), (50, 0.25), (90, 0.81)] {
        let found = ramp.frames_before(percent * 10_000_000_000) as f64;
        let deviation = (500_000.0 * share * (1.0 - share)).sqrt();
        assert!((found - 500_000.0 * share).abs() < 4.0 * deviation, "{percent} %: {found}");
    }
}

/// Whole periods of each shape offer as many frames as evenly: in each half, by hand, for a depth of a half.
#[test]
fn waves_offer_by_half_periods_what_their_integrals_say() {
    // The share of a period's frames in its first half: 1/2 + depth * the integral of the shape over it.
    let pi = std::f64::consts::PI;
    for (shape, share) in [
        (Shape::Sine, 0.5 + 0.5 / pi),
        (Shape::Triangle, 0.625),
        (Shape::Square, 0.75),
        (Shape::Sawtooth, 0.375),
    ] {
        let wave = WaveSpec {
            shape,
            period_ns: 10_000_000,
            depth_ppm: 500_000,
        };
        let found = even(1_000_000, 100).arriving(&ArrivalSpec::Wave(wave), 0);
        assert_eq!(found.frames(), 100_000);
        for period in 0..10_u64 {
            let begin_ps = period * 10_000_000_000;
            let (before, half) = (found.frames_before(begin_ps), found.frames_before(begin_ps + 5_000_000_000));
            assert_eq!(before, period * 10_000, "{shape:?}");
            assert!(((half - before) as f64 - share * 10_000.0).abs() <= 1.0, "{shape:?}: {half}");
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_and_another_does_not() {
    let drawn = |seed| all(&even(100_000, 10).arriving(&ArrivalSpec::Poisson, seed));
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
    // The first departures of seed 1, by a script of its own: the same on every machine.
    assert_eq!(drawn(1)[..4], [9_400_044, 10_419_591, 21_774_295, 51_996_286]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the load does: as many frames in each segment as evenly, in order, and each of them found alone.
    #[test]
    fn arrivals_keep_frames_in_their_segments(
        parts in proptest::collection::vec((1_000_u64..400_000, 0..10_000_000_000_u64, 0..10_000_000_000_u64, any::<bool>()), 1..4),
        arrival in prop_oneof![
            Just(ArrivalSpec::Poisson),
            (1_000_u64..200_000, 0_u32..=1_000_000).prop_map(|(period_ns, depth_ppm)| {
                ArrivalSpec::Wave(WaveSpec { shape: Shape::Sawtooth, period_ns, depth_ppm })
            }),
        ],
        seed in any::<u64>(),
        share in 0.0..1.1,
    ) {
        let level = |from, to, level| if level { from } else { to };
        let segments: Vec<_> = parts.iter().map(|&(ns, from, to, flat)| segment(ns, from, level(from, to, flat))).collect();
        let even = schedule(&segments, &[64, 594, 1518], &[0, 0, 1, 0, 2]);
        let found = even.clone().arriving(&arrival, seed);
        let times = all(&found);
        prop_assert!(times.is_sorted());
        prop_assert_eq!(times.len() as u64, even.frames());
        let mut end_ps = 0;
        for segment in &segments {
            end_ps += segment.duration_ns * 1000;
            let in_it = times.iter().filter(|at| **at < end_ps).count() as u64;
            prop_assert_eq!(in_it, even.frames_before(end_ps));
        }
        for (number, &at) in (0..).zip(&times) {
            prop_assert_eq!(found.departure_ps(number), Some(at));
        }
        prop_assert_eq!(found.departure_ps(times.len() as u64), None);
        let t = (found.duration_ps() as f64 * share) as u64;
        prop_assert_eq!(found.frames_before(t), times.iter().filter(|at| **at < t).count() as u64);
    }
}
