//! The policer of an emulated port against what a token bucket is by definition (RFC 2697 section 3).

use crate::common::{Rig, TEN_GIGABIT, Timed, back_to_back, cross_connect, mac, udp4};
use netdyno_dut::spec::{DeviceSpec, Layer, Police};
use proptest::prelude::*;

const SECOND: u128 = 1_000_000_000_000;

fn policed(rate_bps: u64, layer: Layer, burst_bytes: u64) -> DeviceSpec {
    let mut spec = cross_connect();
    spec.ports[0].police = Some(Police {
        rate_bps,
        layer,
        burst_bytes,
        excess: None,
    });
    spec
}

fn frame(size: usize, number: u32) -> Vec<u8> {
    let mut frame = udp4(mac(10), mac(11), [16, 0, 0, 1], [48, 0, 0, 1], 64, size);
    frame[42..46].copy_from_slice(&number.to_be_bytes());
    frame
}

/// Which of the frames come out.
fn passed(spec: DeviceSpec, frames: &[Timed]) -> Vec<bool> {
    let mut rig = Rig::new(spec);
    let end = frames.last().map_or(0, |frame| frame.at) + 1_000_000_000;
    let received = rig.run(frames, 10_000_000, end);
    rig.assert_conserved();
    let mut passed = vec![false; frames.len()];
    for arrived in &received {
        let number = u32::from_be_bytes(arrived.bytes[42..46].try_into().unwrap());
        assert!(!std::mem::replace(&mut passed[number as usize], true));
    }
    let dropped = passed.iter().filter(|passed| !**passed).count() as u64;
    assert_eq!(rig.device.counters().ports[0].policed, dropped);
    assert_eq!(rig.device.counters().ports[0].in_drops, 0);
    passed
}

fn constant(size: usize, count: u64, load_bps: u64) -> Vec<Timed> {
    let mut frames = back_to_back(0, &frame(size, 0), count, load_bps);
    for (number, timed) in frames.iter_mut().enumerate() {
        timed.bytes = frame(size, number as u32);
    }
    frames
}

/// 64 bytes at 10 Gbit/s, 67.2 ns apart, for 100 us: 1488 frames, the last one 99,926.4 ns after the first. 1 Gbit/s of
/// L2 fills the bucket with 99,926.4 bits in that time, and 10,000 bytes are in it at first: 179,926.4 bits, 351.4 frames
/// of 512. Of L1 they are 267.7 frames of 672. At first each frame takes out 512 - 67.2 bits more than come in, of L1
/// 672 - 67.2: frame k passes as long as 80,000 less k times that are 512, of L1 672.
#[test]
fn the_numbers_worked_out_on_paper() {
    let frames = constant(64, 1488, TEN_GIGABIT);
    for (layer, expected, first) in [(Layer::L2, 351, 179), (Layer::L1, 267, 132)] {
        let passed = passed(policed(1_000_000_000, layer, 10_000), &frames);
        assert_eq!(passed.iter().filter(|passed| **passed).count(), expected);
        assert_eq!(passed.iter().position(|passed| !passed), Some(first));
    }
}

#[test]
fn frames_within_the_rate_all_pass_and_oversized_ones_never() {
    let frames = constant(512, 2000, TEN_GIGABIT / 10);
    assert!(passed(policed(1_000_000_000, Layer::L1, 532), &frames).iter().all(|passed| *passed));
    assert!(passed(policed(1_000_000_000, Layer::L2, 512), &frames).iter().all(|passed| *passed));
    assert!(passed(policed(1_000_000_000, Layer::L2, 511), &frames).iter().all(|passed| !passed));
}

/// The same bits a second whatever the frame size: that is what a policer is known by.
#[test]
fn the_rate_in_bits_is_the_same_at_every_size() {
    for size in [64u64, 128, 512, 1518] {
        let count = 10_000_000 / (size * 8);
        let frames = constant(size as usize, count, TEN_GIGABIT);
        let spec = policed(2_500_000_000, Layer::L2, 3000);
        let bits = passed(spec, &frames).iter().filter(|passed| **passed).count() as u128 * u128::from(size) * 8;
        let span = u128::from(frames.last().unwrap().at);
        let offered = 2_500_000_000 * span / SECOND;
        // The bucket that was full at first holds less than a frame and a quarter of one at last.
        assert!((offered..=offered + 3000 * 8).contains(&bits), "{size}: {bits} of {offered}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In any stretch of time no more passes than the rate brings and the bucket holds; and what was dropped would have been
    /// more than that in some stretch that ends with it.
    #[test]
    fn no_more_than_the_bucket_allows_and_no_less(
        rate_bps in 1_000_000u64..9_000_000_000,
        burst_bytes in 64u64..20_000,
        gaps in prop::collection::vec((0u64..4_000_000, 64usize..1519), 1..120),
    ) {
        let mut at = 0;
        let mut frames = Vec::new();
        for (number, (gap, size)) in gaps.into_iter().enumerate() {
            at += gap;
            frames.push(Timed { port: 0, at, bytes: frame(size, number as u32) });
            // A line's length apart at least, so that each arrives a fixed time after it departs.
            at += (size as u64 + 20) * 800;
        }
        let passed = passed(policed(rate_bps, Layer::L2, burst_bytes), &frames);
        let bits = |frame: &Timed| (frame.bytes.len() as u128 + 4) * 8 * SECOND;
        // The last bit of a frame is in after itself, its FCS and 8 bytes of preamble.
        let arrival = |frame: &Timed| u128::from(frame.at) + (frame.bytes.len() as u128 + 12) * 800;
        let depth = u128::from(burst_bytes) * 8 * SECOND;
        for last in 0..frames.len() {
            let mut sum = bits(&frames[last]);
            let allowed = |first: usize| depth + u128::from(rate_bps) * (arrival(&frames[last]) - arrival(&frames[first]));
            let mut exceeds = sum > depth;
            for first in (0..last).rev().filter(|first| passed[*first]) {
                sum += bits(&frames[first]);
                exceeds |= sum > allowed(first);
            }
            prop_assert_eq!(passed[last], !exceeds, "frame {} of {}", last, frames.len());
        }
    }
}
