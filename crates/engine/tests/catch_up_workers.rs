//! Several workers that send to one port: what each of them makes up for, and all together.

use crate::stepped::{BITS_64, MS, US, run_workers, spec, sums};
use netdyno_engine::result::CatchUp;
use serde_json::{Value, json};

/// 40 million frames a second of 1024 flows, for 20 ms.
fn fast() -> Value {
    let mut trial = spec(40_000_000);
    trial["streams"][0]["flows"] = json!(1024);
    trial["streams"][0]["schedule"][0]["duration_ns"] = json!(20_000_000);
    trial
}

/// Each of four workers hands over 200 frames in each round of 20 us, which is 400 in 40 us and less than a round may: none is
/// ever behind. So with few flows, of which a worker has only a part in each block of departures.
#[test]
fn workers_that_are_on_time_are_not_held_back() {
    for (round, flows) in [(15, 1024), (20, 1024), (40, 1024), (20, 4), (40, 4), (20, 1000)] {
        let mut trial = fast();
        trial["streams"][0]["flows"] = json!(flows);
        let (_, found) = run_workers(4, round * US, trial, u64::MAX, 0);
        let rounds = format!("rounds of {round} us, {flows} flows");
        assert_eq!((found.streams[0].offered, found.health.unsent), (800_000, 0), "{rounds}");
        let caught = found.health.catch_up.as_ref().expect("in real time");
        assert_eq!((caught.pauses, caught.frames), (0, 0), "{rounds}");
        // No frame waits longer than for the next round.
        assert!(found.health.latest_departure_ns <= round * 1000, "{rounds}: {:?}", found.health);
    }
}

/// What may leave at once is 512 frames of each worker.
#[test]
fn at_once_leaves_a_round_of_each_worker() {
    let mut trial = fast();
    trial["streams"][0]["schedule"][0]["duration_ns"] = json!(40_000_000);
    let (rounds, found) = run_workers(4, 20 * US, trial, 10 * MS, 2 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (1_600_000, 0));
    let (_, at_once) = rounds.iter().find(|(at, _)| *at == 12 * MS).expect("the first round after it");
    // Runs of neighbouring flows are sent in turn, so a worker has a part of one more or less in a time.
    assert!((4 * 448..=4 * 512).contains(at_once), "{at_once} frames");
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.percent), (4, 200));
}

/// A second stream of as many frames, of one flow.
fn two(per_second: u64, line: u64) -> Value {
    let mut trial = spec(per_second);
    trial["ports"][0]["line_bps"] = json!(BITS_64 * line);
    let mut second = trial["streams"][0].clone();
    second["name"] = json!("second");
    trial["streams"].as_array_mut().expect("streams").push(second);
    trial
}

/// Of a trial with a pause from 50 ms to 70 ms: the most frames in any millisecond once the first round after it is over, how
/// many left in 20 ms from that round on, and how it was made up for.
fn most_in_a_millisecond(trial: Value, workers: usize) -> (u64, u64, CatchUp) {
    let (rounds, found) = run_workers(workers, 10 * US, trial, 50 * MS, 20 * MS);
    assert_eq!(found.health.unsent, 0);
    let sums = sums(&rounds, 70 * MS);
    let most = sums[1..].windows(101).map(|sums| sums[100] - sums[0]).max();
    let by = sums[1999];
    (most.expect("rounds"), by, found.health.catch_up.expect("in real time"))
}

/// Two streams fill 80 % of a line of 1000 frames a millisecond. Whoever sends them, after a pause the line is all that is sent,
/// and all of it.
#[test]
fn what_several_workers_make_up_for_is_no_more_than_the_line() {
    for workers in [1, 2, 3] {
        let (most, by, caught) = most_in_a_millisecond(two(400_000, 1_000_000), workers);
        assert!((999..=1002).contains(&most), "{most} frames in a millisecond of {workers} workers");
        assert_eq!(caught.percent, 125);
        // What may leave at once, which is 512 frames of each worker or a millisecond of the load, and after that round the line.
        let at_once = if workers == 1 { 512 } else { 800 };
        assert!(by.abs_diff(at_once + 19_990) <= 2, "{by} frames of {workers} workers");
    }
}

/// The same of one stream that all of them share.
#[test]
fn a_shared_stream_is_made_up_for_at_no_more_than_the_line() {
    for workers in [2, 4] {
        let mut trial = spec(800_000);
        trial["ports"][0]["line_bps"] = json!(BITS_64 * 1_000_000);
        trial["streams"][0]["flows"] = json!(8);
        let (most, _, caught) = most_in_a_millisecond(trial, workers);
        assert!((990..=1010).contains(&most), "{most} frames in a millisecond of {workers} workers");
        assert_eq!(caught.percent, 125);
    }
}

/// One stream rises to 60 % of the line while the other, of the second worker, stays at 40 %: what one was late with at a low
/// load leaves beside what the other sends now.
#[test]
fn room_is_what_the_others_leave_by_now() {
    let mut trial = two(400_000, 1_000_000);
    let segment = |ms: u64, frames: u64| json!({"name": "traffic", "duration_ns": ms * 1_000_000, "from_bps": BITS_64 * frames, "to_bps": BITS_64 * frames});
    trial["streams"][1]["schedule"] = json!([segment(60, 100_000), segment(140, 600_000)]);
    let (most, _, _) = most_in_a_millisecond(trial, 2);
    assert!(most <= 1002, "{most} frames in a millisecond");
}
