//! Fields that walk at their own speeds: all pairs of them, downwards, and around the end of a range.
#![allow(missing_docs)]

use crate::common::{IPV4, over_ethernet};
use netdyno_frame::template::Template;
use std::collections::HashSet;

/// Source and destination port of each of the first `count` frames of so many flows, as written; those of a burst begin at `from`.
fn ports(sport: &str, dport: &str, flows: u32, from: u64, count: usize) -> Vec<(u16, u16)> {
    let udp = format!(r#"{{"type": "udp", "sport": {sport}, "dport": {dport}}}"#);
    let template = Template::new(&over_ethernet(&[IPV4, &udp]), &[64], flows, 1).expect("a template");
    let mut cursor = template.cursor();
    template.seek(&mut cursor, from);
    let mut frame = [0; 60];
    (0..count)
        .map(|_| {
            template.write(&mut cursor, 0, 0, &mut frame);
            let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
            (word(34), word(36))
        })
        .collect()
}

#[test]
fn two_fields_make_all_pairs_the_first_one_fastest() {
    let fast = r#"{"step": {"start": 10, "step": 1, "count": 3}}"#;
    let expected: Vec<_> = [7, 9].iter().flat_map(|slow| (10..13).map(move |fast| (fast, *slow))).collect();
    for slow in [
        r#"{"step": {"start": 7, "step": 2, "count": 2, "every": 3}}"#,
        r#"{"list": [7, 9], "every": 3}"#,
        r#"{"range": {"min": 7, "max": 10, "step": 2, "start": 7, "every": 3}}"#,
    ] {
        assert_eq!(ports(fast, slow, 6, 0, 6), expected, "{slow}");
        // Of more flows than pairs the first pair comes again; taken back into the middle of a stay it goes on there.
        assert_eq!(
            ports(fast, slow, 100, 4, 4),
            [expected[4], expected[5], expected[0], expected[1]],
            "{slow}"
        );
    }
    let (fast, slow) = (
        r#"{"step": {"start": 0, "step": 1, "count": 254}}"#,
        r#"{"step": {"start": 0, "step": 1, "count": 64, "every": 254}}"#,
    );
    let flows = 254 * 64;
    let seen: HashSet<_> = ports(fast, slow, flows, 0, flows as usize).into_iter().collect();
    assert_eq!(seen.len(), flows as usize);
}

#[test]
fn a_negative_step_goes_down() {
    let down = r#"{"step": {"start": 300, "step": -100, "count": 4}}"#;
    let expected = [300, 200, 100, 0, 300].map(|port| (port, 5));
    assert_eq!(ports(down, "5", 9, 0, 5), expected);
}

/// T-Rex's `inc` and `dec`: one step, and behind the end as far into the range from its other end.
#[test]
fn a_range_goes_on_at_its_other_end() {
    for (min, max, step, start) in [
        (1024, 65535, 1, 65530),
        (10, 19, 3, 12),
        (10, 19, -3, 12),
        (0, 65535, 7, 65535),
        (5, 6, -1, 5),
    ] {
        let range = format!(r#"{{"range": {{"min": {min}, "max": {max}, "step": {step}, "start": {start}}}}}"#);
        let mut value: i32 = start;
        let expected: Vec<_> = (0..100)
            .map(|_| {
                let now = value;
                value += step;
                if value > max {
                    value -= max - min + 1;
                } else if value < min {
                    value += max - min + 1;
                }
                (now as u16, 5)
            })
            .collect();
        assert_eq!(ports(&range, "5", 1000, 0, 100), expected, "{range}");
    }
}
