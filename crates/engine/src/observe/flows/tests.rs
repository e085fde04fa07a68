use super::*;

/// RFC 4737 section 3.3 defines a frame as reordered if its number is below the next expected; in
/// the arrivals 1 2 3 7 8 9 10 4 5 6 11 these are 4, 5 and 6.
#[test]
fn reordered_frames_are_those_of_rfc_4737() {
    for flows in [1, 100_000] {
        let mut state = Flows::new(flows);
        let late: Vec<u32> = [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]
            .into_iter()
            .filter(|&sequence| state.see(0, sequence) == Order::Late)
            .collect();
        assert_eq!(late, [4, 5, 6], "{flows} flows");
    }
}

#[test]
fn windows_are_as_wide_as_memory_allows() {
    let widths: Vec<u32> = [1, 64, 65, 1000, 65_536, 1_000_000]
        .iter()
        .map(|&flows| Flows::new(flows).window())
        .collect();
    assert_eq!(widths, [65_536, 65_536, 32_768, 4096, 64, 64]);
}

#[test]
fn copy_and_late_frame_differ_up_to_the_last_bit_of_the_window() {
    for flows in [1, 1000, 100_000] {
        let mut state = Flows::new(flows);
        let width = state.window();
        assert_eq!(state.see(0, 0), Order::Next);
        assert_eq!(state.see(0, width), Order::Next, "skips 1..width");
        assert_eq!(state.see(0, 1), Order::Late, "the oldest one remembered");
        assert_eq!(state.see(0, 1), Order::Copy);
        assert_eq!(state.see(0, 0), Order::Beyond);
        assert_eq!(state.see(0, 3 * width), Order::Next, "skips more than the window");
        assert_eq!(state.see(0, 2 * width + 1), Order::Late);
        assert_eq!(state.received(0), 5);
    }
}

#[test]
fn the_first_missing_frame_is_found_while_it_is_in_the_window() {
    for flows in [1, 100_000] {
        let mut state = Flows::new(flows);
        for sequence in [0, 1, 3, 4, 7] {
            state.see(0, sequence);
        }
        assert_eq!(state.first_lost(0..1, |_| 8), First::Frame(2));
        state.see(0, 2);
        assert_eq!(state.first_lost(0..1, |_| 8), First::Frame(5));
        state.see(0, 5);
        state.see(0, 6);
        assert_eq!(state.first_lost(0..1, |_| 8), First::None);
        assert_eq!(state.first_lost(0..1, |_| 10), First::Frame(8), "the last ones never came");
    }
}

#[test]
fn what_was_lost_before_the_window_is_not_guessed() {
    let mut state = Flows::new(100_000);
    state.see(0, 1);
    for sequence in 2..200 {
        state.see(0, sequence);
    }
    assert_eq!(state.first_lost(0..1, |_| 200), First::Unknown);
}

#[test]
fn frames_are_sent_to_the_flows_in_turn() {
    for flows in [10, 100_000] {
        let mut state = Flows::new(flows);
        // Frames 0 to 7 of flows 5, 6 and 7 but for 4 and 6: the second of flow 6 and the third of flow 5.
        for (flow, sequence) in [(5, 0), (6, 0), (7, 0), (5, 1), (7, 1), (6, 2)] {
            state.see(flow, sequence);
        }
        assert_eq!(state.first_lost(5..8, |flow| [3, 3, 2][flow as usize]), First::Frame(4));
        state.see(6, 1);
        assert_eq!(state.first_lost(5..8, |flow| [3, 3, 2][flow as usize]), First::Frame(6));
        state.see(5, 2);
        assert_eq!(state.first_lost(5..8, |flow| [3, 3, 2][flow as usize]), First::None);
    }
}

/// Two receivers of which each saw its own flows know together what one that saw all of them does.
#[test]
fn what_two_receivers_saw_is_what_one_would_have_seen() {
    for count in [100, 100_000] {
        let (mut one, mut two) = (Flows::new(count), [Flows::new(count), Flows::new(count)]);
        for flow in 0..90 {
            for sequence in (0..40).filter(|sequence| (sequence * 7 + flow) % 31 != 30) {
                one.see(flow, sequence as u32);
                two[flow % 2].see(flow, sequence as u32);
            }
            if flow % 5 == 0 {
                one.see_broken(flow, 40);
                two[flow % 2].see_broken(flow, 40);
            }
        }
        let [mut first, second] = two;
        assert_eq!(first.absorb(&second), 0);
        let lost = |flows: &Flows| flows.first_lost(0..100, |flow| if flow < 90 { 40 + u64::from(flow % 5 == 0) } else { 0 });
        assert_eq!(lost(&first), lost(&one));
        assert!(matches!(lost(&one), First::Frame(_)));
        assert!((0..100).all(|flow| first.received(flow) == one.received(flow)));
    }
}

/// RFC 4737 section 3.3, of intact frames: what is broken overtakes nobody.
#[test]
fn what_only_broken_frames_overtook_is_in_order() {
    for count in [1, 100_000] {
        let mut flows = Flows::new(count);
        assert_eq!(flows.see(0, 0), Order::Next);
        assert_eq!(flows.see_broken(0, 5), Order::Next);
        assert_eq!(flows.next_intact(0), 1);
        assert_eq!((flows.see(0, 2), flows.was_next(0, 2)), (Order::Late, Some(1)));
        assert_eq!((flows.see(0, 1), flows.was_next(0, 1)), (Order::Late, None));
        assert_eq!(flows.see_broken(0, 7), Order::Next);
        assert_eq!((flows.see(0, 6), flows.was_next(0, 6)), (Order::Late, Some(3)));
        assert_eq!(flows.see_broken(0, 4), Order::Late);
        assert_eq!(flows.see(0, 8), Order::Next);
        assert_eq!((flows.see(0, 3), flows.was_next(0, 3)), (Order::Late, None));
        assert_eq!((flows.next_intact(0), flows.received(0)), (9, 6));
    }
}

#[test]
fn a_flow_that_two_receivers_saw_is_counted_as_such() {
    let mut two = [Flows::new(100_000), Flows::new(100_000)];
    for sequence in 0..10 {
        two[sequence % 2].see(7, sequence as u32);
    }
    let [mut first, second] = two;
    assert_eq!(first.absorb(&second), 1);
    assert!(first.received(7) > 0);
    assert_eq!(first.first_lost(0..8, |flow| if flow == 7 { 10 } else { 0 }), First::Unknown);
}

/// Losses, copies and disorder of all kinds, against a plain set of what has been seen.
#[test]
fn the_first_missing_frame_is_that_of_a_plain_set() {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut found = [0; 3];
    for round in 0..2_000 {
        let flows = [20_000, 100_000][round % 2];
        let mut state = Flows::new(flows);
        let width = state.window();
        let flow = random(flows as u64) as usize;
        let (sent, one_in) = (1 + random(4 * u64::from(width)) as u32, 1 + random(100) * random(100));
        let (mut seen, mut next) = (vec![false; sent as usize], 0);
        for number in 0..sent {
            let sequence = number.saturating_sub(random(8) as u32);
            if random(one_in) == 0 || next > sequence + width {
                continue;
            }
            for sequence in [number - (number - sequence) / 4, sequence] {
                state.see(flow, sequence);
                seen[sequence as usize] = true;
                next = next.max(sequence + 1);
            }
        }
        let first = seen.iter().position(|seen| !seen).map(|first| first as u32);
        let (known, kind) = match first {
            None => (First::None, 0),
            Some(first) if first < next.saturating_sub(width) => (First::Unknown, 1),
            Some(first) => (First::Frame(u64::from(first)), 2),
        };
        assert_eq!(
            state.first_lost(flow..flow + 1, |_| u64::from(sent)),
            known,
            "{sent} sent, {next} next, window {width}"
        );
        found[kind] += 1;
    }
    assert!(found.iter().all(|&times| times > 30), "{found:?}");
}
