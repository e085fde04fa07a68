//! Frames side by side are judged as they are one by one.
#![allow(missing_docs)]

use crate::common::{UDP, gallery, over_ethernet};
use netdyno_frame::checksum::{verify_counting, verify_frame};
use netdyno_frame::probe::Probe;
use netdyno_frame::side_by_side::{Probes, WIDTH, are_plain_and_intact};
use netdyno_frame::template::{Template, minimum_size};

const RANDOM: &str = r#"{"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}},
    "dst": {"random": {"min": "48.0.0.1", "max": "48.255.255.254"}}}"#;

fn frames(count: usize) -> Vec<Vec<u8>> {
    let template = Template::new(&over_ethernet(&[RANDOM, UDP]), &[64], 1000, 3).expect("a template");
    (0..count)
        .map(|flow| template.frame(flow as u32, 7, 0, 1_000 + flow as u64))
        .collect()
}

fn judged(frames: &[Vec<u8>]) -> (bool, bool) {
    let all = || frames.iter().map(Vec::as_slice);
    let probes = Probes::read(all(), 42).expect("long enough");
    (probes.are_all(0, 1000, 8, 1_000, 2_000), are_plain_and_intact(all(), 60))
}

#[test]
fn every_flipped_bit_is_found_that_is_found_one_by_one() {
    for count in [1, 2, WIDTH - 1, WIDTH] {
        let mut frames = frames(count);
        assert_eq!(judged(&frames), (true, true), "{count} frames");
        let last = count - 1;
        for bit in 0..60 * 8 {
            frames[last][bit / 8] ^= 1 << (bit % 8);
            let probe = Probe::read(&frames[last][42..]);
            let is_known =
                probe.is_some_and(|probe| probe.flow < 1000 && probe.sequence < 8 && (1_000..=2_000).contains(&probe.departure_ps));
            let (known, intact) = judged(&frames);
            assert_eq!(known, is_known, "bit {bit}");
            // Side by side less is recognized, never more.
            assert!(!(known && intact) || verify_frame(&frames[last]).is_good(), "bit {bit}");
            frames[last][bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn flows_sequences_and_departures_have_to_be_of_the_trial() {
    let frames = frames(WIDTH);
    let probes = Probes::read(frames.iter().map(Vec::as_slice), 42).expect("long enough");
    let last = WIDTH as u32 - 1;
    assert_eq!(
        probes.probe(WIDTH - 1),
        Probe {
            flow: last,
            sequence: 7,
            departure_ps: 1_000 + u64::from(last)
        }
    );
    assert!(probes.are_all(0, last + 1, 8, 1_000, 1_000 + u64::from(last)));
    assert!(!probes.are_all(1, last + 1, 8, 1_000, 2_000), "the first flow");
    assert!(!probes.are_all(0, last, 8, 1_000, 2_000), "the last flow");
    assert!(!probes.are_all(0, last + 1, 7, 1_000, 2_000), "the sequence");
    assert!(!probes.are_all(0, last + 1, 8, 1_001, 2_000), "the first departure");
    assert!(
        !probes.are_all(0, last + 1, 8, 1_000, 1_000 + u64::from(last) - 1),
        "the last departure"
    );
    assert!(Probes::read(std::iter::once(&frames[0][..59]), 42).is_none(), "too short");
    assert!(!are_plain_and_intact(std::iter::once(&frames[0][..59]), 59));
}

/// Whatever is flipped before the bytes that count up is judged as if these were looked at.
#[test]
fn bytes_that_count_up_need_not_be_looked_at() {
    for (name, headers) in gallery() {
        let minimum = minimum_size(&headers);
        for size in (minimum..minimum + 9).chain([minimum + 255, minimum + 600, 1514, 1518, 9018]) {
            let template = Template::new(&headers, &[size], 100, 3).expect(name);
            let head = template.probe_offset() as usize + 18;
            let mut frame = template.frame(7, 1, 0, 1_000);
            assert!(verify_counting(&frame, head).is_good(), "{name}, {size} bytes");
            for bit in (0..head * 8).step_by(3) {
                frame[bit / 8] ^= 1 << (bit % 8);
                let found = verify_frame(&frame);
                assert_eq!(verify_counting(&frame, head), found, "{name}, {size} bytes, bit {bit}");
                frame[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

#[test]
fn long_frames_are_judged_side_by_side_by_their_first_bytes() {
    for size in [65, 128, 129, 1514, 1518, 9018] {
        let template = Template::new(&over_ethernet(&[RANDOM, UDP]), &[size], 1000, 3).expect("a template");
        let mut frames: Vec<Vec<u8>> = (0..WIDTH as u32).map(|flow| template.frame(flow, 7, 0, 1_000)).collect();
        let len = frames[0].len();
        let judged = |frames: &[Vec<u8>]| are_plain_and_intact(frames.iter().map(Vec::as_slice), len);
        assert!(judged(&frames), "{size} bytes");
        // The probe's own check is taken for right.
        for bit in 0..42 * 8 {
            frames[5][bit / 8] ^= 1 << (bit % 8);
            assert!(!judged(&frames) || verify_frame(&frames[5]).is_good(), "{size} bytes, bit {bit}");
            frames[5][bit / 8] ^= 1 << (bit % 8);
        }
        frames[31].pop();
        assert!(!judged(&frames), "{size} bytes, one of them shorter");
    }
}
