//! A tester that was preempted, in real time by a clock that the test sets: what it sends in each round until it is
//! on its schedule again. The port takes everything; only the pace holds it back.

use crate::stepped::{BITS_64, MS, US, run, sink, spec, sums};
use netdyno_engine::Trial;
use netdyno_engine::spec::TrialSpec;
use netdyno_io::drive::Node;
use netdyno_io::time::Instant;
use serde_json::{Value, json};

/// How many rounds the sums are those of 512 frames at once, as fast as the port takes them, and then `rate` tenths of a frame
/// a round.
fn rounds_at(sums: &[u64], rate: u64) -> usize {
    let at = |round: usize| 512 + round as u64 * rate / 10;
    assert!((0..3).all(|round| sums[round] <= at(round) + 1), "{:?}", &sums[..3]);
    3 + (3..sums.len()).take_while(|&round| sums[round].abs_diff(at(round)) <= 1).count()
}

/// However long it takes to begin (here 30 us after the round in which it is said), no frame is late by that: n frames are n - 1
/// gaps apart from the first to the last.
#[test]
fn first_frame_after_any_preparation_is_on_time() {
    let spec: TrialSpec = serde_json::from_value(spec(100_000)).expect("a trial");
    let mut trial = Trial::new(spec, vec![sink("west"), sink("east")]).expect("fits");
    let progress = trial.progress();
    let (mut now, mut left) = (Instant { ps: 7 * MS }, Vec::new());
    trial.step(now);
    assert_eq!(progress.snapshot().ports[0].tx_frames, 0, "nothing leaves while it begins");
    now.ps += 30 * US;
    while !trial.finished() {
        trial.step(now);
        left.resize(progress.snapshot().ports[0].tx_frames as usize, now.ps);
        now.ps += US;
    }
    assert_eq!(left.len(), 20_000);
    assert_eq!(left[19_999] - left[0], 19_999 * 10 * US);
    let found = trial.result();
    assert_eq!(found.streams[0].lag.as_ref().expect("sent").late, 0);
    assert_eq!(found.health.latest_departure_ns, 0);
}

/// 1,000,000 frames a second, away for 90 ms: 10 frames are due each 10 us.
#[test]
fn ninety_milliseconds_are_made_up_for_at_twice_the_rate() {
    let (rounds, found) = run(spec(1_000_000), 50 * MS, 90 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (200_000, 0));
    let sums = sums(&rounds, 140 * MS);
    assert_eq!(sums.last(), Some(&(200_000 - 50_001)));
    // 89,999 are due, 512 leave at once, and each round makes up for 10: not all before the schedule ends after 60 ms, but
    // as fast to the last frame.
    let fast = rounds_at(&sums, 200);
    assert!(sums[fast] == 149_999 && fast > 6000, "{fast} rounds, {}", sums[fast]);
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.percent, caught.longest_ns), (1, 200, 89_999_000));
    assert_eq!((caught.frames, caught.longest_run), (149_999, 149_999));
    assert!((385..=512).contains(&caught.most_in_round), "{caught:?}");
}

#[test]
fn a_pause_that_is_made_up_for_in_time_leaves_no_trace_but_its_own() {
    let (rounds, found) = run(spec(1_000_000), 50 * MS, 20 * MS);
    // 19,999 are due, 512 leave at once, and 10 each round are made up for: 1949 rounds.
    let sums = sums(&rounds, 70 * MS);
    let fast = rounds_at(&sums, 200);
    assert!((1948..=1951).contains(&fast), "{fast} rounds");
    let on_time = sums[fast..].windows(2).take_while(|pair| pair[1] - pair[0] == 10).count();
    assert!(on_time > 11_000, "on time to the end, {on_time} rounds");
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.longest_ns), (1, 19_999_000));
    assert!(caught.frames.abs_diff(19_999 + 19_490) < 30, "{caught:?}");
    // No frame was sent later than it was after the pause.
    assert_eq!(found.health.latest_departure_ns, 19_999_000);
}

/// On a line that 80 % fills, twice the rate is more than the line: 125 % of the rate is all of it, 12.5 frames a round.
#[test]
fn nothing_is_made_up_for_faster_than_the_line() {
    let mut trial = spec(1_000_000);
    trial["ports"][0]["line_bps"] = json!(BITS_64 * 1_250_000);
    let (rounds, found) = run(trial, 50 * MS, 20 * MS);
    assert_eq!(found.health.catch_up.expect("in real time").percent, 125);
    // 19,487 at 2.5 a round.
    let fast = rounds_at(&sums(&rounds, 70 * MS), 125);
    assert!((7790..=7800).contains(&fast), "{fast} rounds");
}

/// A ramp to all of a line of 1 Gbit/s in a second: 744,048 * t^2 frames (1e9 / 672 / 2) have left t seconds into it.
fn ramp() -> Value {
    let mut trial = spec(1);
    trial["ports"][0]["line_bps"] = json!(1_000_000_000);
    trial["streams"][0]["schedule"] = json!([{"name": "traffic", "duration_ns": 1_000_000_000, "from_bps": 0, "to_bps": 1_000_000_000}]);
    trial
}

/// At a tenth of the line there is room for twice the load, whatever the load comes to later: a pause of 5 ms is made up for
/// in about 5 ms.
#[test]
fn a_ramp_to_the_line_makes_up_for_a_pause_while_there_is_room() {
    let (rounds, found) = run(ramp(), 100 * MS, 5 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (744_048, 0));
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.percent), (1, 200));
    // Of the 1562 frames that are due from 100 ms to 110 ms.
    assert!(caught.frames <= 1562 && caught.frames > 1200, "{caught:?}");
    let late = found.streams[0].lag.as_ref().expect("sent").late;
    assert!(late <= 1562, "{late} frames were sent late");
    let mut sum = 0;
    for (at, frames) in rounds {
        sum += frames;
        if at > 112 * MS && at < 1000 * MS {
            let due = 1e9 / 1344.0 * (at as f64 / 1e12).powi(2);
            assert!((sum as f64 - due).abs() < 1.01, "{sum} frames by {at} ps, {due} are due");
        }
    }
}

/// At nine tenths there is hardly any, and less and less: the line is all that is ever sent.
#[test]
fn a_ramp_to_the_line_never_goes_beyond_it() {
    let (rounds, found) = run(ramp(), 900 * MS, 5 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (744_048, 0));
    let after: Vec<u64> = rounds.iter().filter(|(at, _)| *at > 906 * MS).map(|(_, frames)| *frames).collect();
    // 1488.1 frames in each millisecond.
    let most = after.windows(100).map(|window| window.iter().sum::<u64>()).max();
    assert!((1400..=1489).contains(&most.expect("rounds")), "{most:?} frames in a millisecond");
}

/// On a line that is full nothing is made up for but what leaves at once: all the others are late, at their own load.
#[test]
fn what_leaves_late_at_its_own_load_is_not_made_up_for() {
    let mut trial = spec(1_000_000);
    trial["ports"][0]["line_bps"] = json!(BITS_64 * 1_000_000);
    let (_, found) = run(trial, 50 * MS, 3 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (200_000, 0));
    let caught = found.health.catch_up.expect("in real time");
    assert_eq!((caught.pauses, caught.percent), (1, 100));
    assert!((500..=513).contains(&caught.frames), "{caught:?}");
    let late = found.streams[0].lag.as_ref().expect("sent").late;
    assert!(late > 149_000, "{late} frames were sent late");
}

/// 10 ms before the end it goes away for 40 ms: what is owed then is sent, late, within the overtime; with none it is not.
#[test]
fn what_is_late_at_the_end_is_sent_as_long_as_there_is_overtime() {
    let (_, found) = run(spec(1_000_000), 190 * MS, 40 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (200_000, 0));
    let traffic = found.phases.iter().find(|phase| phase.name == "traffic").expect("traffic");
    // 9,999 frames are owed: 512 at once and 20 each 10 us: 475 rounds.
    assert!(traffic.duration_ns.abs_diff(230_000_000 + 475 * 10_000) <= 20_000, "{traffic:?}");
    let mut hurried = spec(1_000_000);
    hurried["overtime_ns"] = json!(0);
    let (_, found) = run(hurried, 190 * MS, 40 * MS);
    assert_eq!((found.streams[0].offered, found.health.unsent), (190_001, 9_999));
}

#[test]
fn less_than_the_schedule_is_refused() {
    let mut slow = spec(1000);
    slow["catch_up_percent"] = json!(99);
    let spec: TrialSpec = serde_json::from_value(slow).expect("a trial");
    let refused = Trial::new(spec, vec![sink("west"), sink("east")]).expect_err("refused");
    assert_eq!(refused.error.place, "catch_up_percent");
}
