//! Bursts in real time, which the test sets: what is handed over in each round, by a tester that is on time and by one that was
//! preempted.

use crate::stepped::{Card, MS, US, run_over, run_workers, sink, spec};
use serde_json::{Value, json};

/// 64-byte frames, so many a second for 200 ms, in such bursts on a line of 10 Gbit/s.
fn bursts(per_second: u64, frames: u64) -> Value {
    let mut trial = spec(per_second);
    trial["ports"][0]["line_bps"] = json!(10_000_000_000_u64);
    trial["streams"][0]["burst"] = json!(frames);
    trial
}

/// Time of a 64-byte frame on that line, ps.
const FRAME_PS: u64 = 67_200;

/// What leaves in bursts: each of rounds in a row with frames, and when the first of them was.
fn runs(rounds: &[(u64, u64)]) -> Vec<(u64, Vec<u64>)> {
    let mut found: Vec<(u64, Vec<u64>)> = Vec::new();
    let mut goes_on = false;
    for &(at, frames) in rounds {
        match found.last_mut().filter(|_| goes_on) {
            Some((_, run)) if frames > 0 => run.push(frames),
            None if frames > 0 => found.push((at, vec![frames])),
            _ => {}
        }
        goes_on = frames > 0;
    }
    found
}

/// Nowhere do more frames leave than `at_once` and what the line takes meanwhile.
fn assert_no_faster_than_the_line(rounds: &[(u64, u64)], at_once: u64) {
    let mut credit = i128::from(at_once * FRAME_PS);
    let mut before = 0;
    for &(at, frames) in rounds {
        credit = (credit + i128::from(at - before)).min(i128::from(at_once * FRAME_PS)) - i128::from(frames * FRAME_PS);
        assert!(credit >= -i128::from(FRAME_PS), "{frames} frames at {at} ps are beyond the line");
        before = at;
    }
}

/// At a twentieth of the line a burst of 64 takes 4.3 us, and the next one begins 86 us after it: it leaves within two rounds
/// of 5 us, and nothing until then.
#[test]
fn frames_leave_in_the_bursts_that_were_asked_for() {
    let (rounds, found) = run_over(vec![sink("west"), sink("east")], 5 * US, bursts(744_048, 64), u64::MAX, 0);
    assert_eq!((found.streams[0].offered, found.health.unsent), (148_810, 0));
    let runs = runs(&rounds);
    assert_eq!(runs.len(), 148_810_usize.div_ceil(64));
    for (number, (at, frames)) in (0_u64..).zip(&runs) {
        let (due, all) = (number * 64_000_000_000_000 / 744_048, frames.iter().sum::<u64>());
        // In the first round after its time and, if its frames are not all due then, the one after it.
        assert!(
            frames.len() <= 2 && (due..due + 5 * US).contains(at),
            "{frames:?} at {at}, due at {due}"
        );
        assert!(all == 64 || number == 2325 && all == 10, "burst {number} of {frames:?}");
    }
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.frames), (0, 0));
}

/// A card with room for it has all 4096 frames of a burst as soon as rounds of 512 hand them over: in 40 us, though its line
/// takes 275 us for them. The next burst begins 5.5 ms after it.
#[test]
fn a_card_is_handed_all_of_a_burst() {
    let ports = vec![Card::with_ring("west", 8192), Card::with_ring("east", 8192)];
    let (rounds, found) = run_over(ports, 5 * US, bursts(744_048, 4096), u64::MAX, 0);
    assert_eq!((found.streams[0].offered, found.health.unsent), (148_810, 0));
    let runs = runs(&rounds);
    assert_eq!(runs.len(), 148_810_usize.div_ceil(4096));
    assert!(runs[..36].iter().all(|(_, frames)| frames[..] == [512; 8]), "{runs:?}");
    let apart: Vec<u64> = runs.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(
        apart.iter().all(|apart| apart.abs_diff(4_096_000_000_000_000 / 744_048) <= 5 * US),
        "{apart:?}"
    );
    assert_eq!(found.streams[0].lag.as_ref().expect("sent").late, 0);
}

/// A tenth of the line in bursts of 4096, each of 275 us. Away for 20 ms: 512 frames leave at once, a burst goes on at line rate,
/// and the bursts follow each other at twice the load.
#[test]
fn bursts_that_we_space_are_made_up_for_no_faster_than_the_line() {
    let (rounds, found) = run_over(vec![sink("west"), sink("east")], 10 * US, bursts(1_488_095, 4096), 50 * MS, 20 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (297_619, 0));
    assert_no_faster_than_the_line(&rounds, 512 + 149);
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.percent), (1, 200));
    // 20 ms are owed, less what was to be silent anyway, and as many more fall due until they are made up for.
    assert!(caught.frames.abs_diff(2 * 20 * 1488) < 3 * 4096, "{caught:?}");
    let by = |ms: u64| rounds.iter().filter(|(at, _)| *at < ms * MS).map(|(_, frames)| frames).sum::<u64>();
    let made_up = by(85) - by(70);
    assert!(made_up.abs_diff(2 * 15 * 1488) < 4096 + 512, "{made_up} frames in 15 ms");
    assert!(by(100).abs_diff(100 * 1488) < 4096, "on time again");
}

/// Nothing is late by as much as 512 frames of its load take, but a whole burst is due: a pause as well.
#[test]
fn a_pause_as_long_as_a_burst_is_one() {
    let (rounds, found) = run_over(
        vec![sink("west"), sink("east")],
        10 * US,
        bursts(1_488_095, 4096),
        55 * MS,
        300 * US,
    );
    assert_eq!(found.health.unsent, 0);
    assert_no_faster_than_the_line(&rounds, 512 + 149);
    let caught = found.health.catch_up.expect("in real time");
    assert!(caught.pauses == 1 && (512..=4096).contains(&caught.frames), "{caught:?}");
}

/// Several workers share the line within a burst as well.
#[test]
fn bursts_of_several_workers_are_made_up_for_no_faster_than_the_line() {
    for flows in [1024, 2] {
        let mut trial = bursts(1_488_095, 4096);
        trial["streams"][0]["flows"] = json!(flows);
        let (rounds, found) = run_workers(2, 10 * US, trial, 50 * MS, 20 * MS);
        assert_eq!((found.streams[0].offered, found.health.unsent), (297_619, 0));
        assert_no_faster_than_the_line(&rounds, 2 * (512 + 149));
        let caught = found.health.catch_up.expect("in real time");
        assert_eq!((caught.pauses, caught.percent), (2, 200));
        assert!(caught.frames.abs_diff(2 * 20 * 1488) < 3 * 4096, "{caught:?}");
    }
}

/// Short bursts at a load that rounds of 40 us hand over: eight of them make up 512 frames, as many as may be late.
#[test]
fn a_tester_on_time_with_short_bursts_has_no_pauses() {
    let mut fast = bursts(7_440_476, 64);
    fast["ports"][0]["line_bps"] = json!(100_000_000_000_u64);
    let (_, found) = run_over(vec![sink("west"), sink("east")], 40 * US, fast, u64::MAX, 0);
    assert_eq!(found.health.unsent, 0);
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.frames), (0, 0));
}

/// All frames of a burst are handed to a card at once, and its line takes 275 us for 4096: that is no pause, and none of them
/// is late.
#[test]
fn a_burst_that_waits_for_its_line_is_not_late() {
    let trial = bursts(7_440_476, 4096);
    let ports = || vec![Card::open("west"), Card::open("east")];
    let (_, found) = run_over(ports(), 5 * US, trial.clone(), u64::MAX, 0);
    let stream = &found.streams[0];
    assert_eq!((stream.offered, found.health.unsent), (1_488_096, 0));
    let lag = stream.lag.as_ref().expect("sent");
    // By more than a round: a frame is handed over in the first in which there is room for it.
    assert!(
        lag.late == 0 && found.health.latest_departure_ns <= 5_000,
        "{lag:?}, {:?}",
        found.health
    );
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.frames), (0, 0));
    // A pause is one on a card as well: bursts go on at twice the load, which is all of the line.
    let (_, found) = run_over(ports(), 5 * US, trial, 50 * MS, 20 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (1_488_096, 0));
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.percent), (1, 200));
    assert!(caught.longest_ns.abs_diff(20_000_000) < 600_000, "{caught:?}");
    // 20 ms of the schedule are owed, and while they are made up for 20 ms more fall due.
    assert!(caught.frames.abs_diff(2 * 20 * 7440) < 3 * 4096, "{caught:?}");
}
