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
    for (count, shared) in [(100, false), (100_000, false), (100_000, true)] {
        let mut one = Flows::new(count);
        let mut two = if shared {
            Flows::shared(count, 2)
        } else {
            vec![Flows::new(count), Flows::new(count)]
        };
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
        let (second, mut first) = (two.remove(1), two.remove(0));
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

/// Each flow that two receivers share, once, whoever of them saw it last.
#[test]
fn flows_that_receivers_share_are_split_when_two_of_them_see_one() {
    let mut three = Flows::shared(100_000, 3);
    for sequence in 0..12 {
        three[sequence % 2].see(7, sequence as u32);
        three[sequence % 3].see(8, sequence as u32);
        three[2].see(9, sequence as u32);
    }
    let (third, second, mut first) = (three.remove(2), three.remove(1), three.remove(0));
    assert_eq!(first.absorb(&second) + first.absorb(&third), 2);
    assert_eq!(first.first_lost(9..10, |_| 12), First::None);
    for flow in [7, 8] {
        assert_eq!(first.first_lost(flow..flow + 1, |_| 12), First::Unknown);
    }
    assert_eq!([7, 8, 9].map(|flow| first.received(flow)), [u32::MAX, u32::MAX, 12]);
}

/// Two threads that see frames of all flows but their own third at once: those two thirds are split, and no frame of the others
/// is lost or counted twice.
#[test]
fn flows_may_be_seen_by_two_threads_at_once() {
    let flows = 90_000;
    let mut two = Flows::shared(flows, 2);
    let (second, first) = (two.remove(1), two.remove(0));
    let [mut first, second] = std::thread::scope(|scope| {
        [(first, 0), (second, 1)]
            .map(|(mut receiver, number)| {
                scope.spawn(move || {
                    // Flow 0 of each three comes to the first alone, flow 1 to the second, and flow 2 to both.
                    let ours = (0..flows).filter(|flow| flow % 3 != 1 - number);
                    ours.for_each(|flow| (0..3).for_each(|sequence| assert_eq!(receiver.see(flow, sequence), Order::Next)));
                    receiver
                })
            })
            .map(|thread| thread.join().expect("it ends"))
    });
    assert_eq!(first.absorb(&second), flows as u64 / 3);
    let received = (0..flows).map(|flow| first.received(flow)).collect::<Vec<_>>();
    assert!(received.as_chunks::<3>().0.iter().all(|counts| *counts == [3, 3, u32::MAX]));
}

/// 256 Mi flows of which 8 receivers see an eighth each, in turn: 16 bytes a flow and one for whose it is.
#[test]
#[ignore = "takes 4.3 GiB of memory"]
fn eight_receivers_share_the_memory_of_256_mi_flows() {
    const FLOWS: usize = 1 << 28;
    let used_kib = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it is said");
        line.split_whitespace()
            .nth(1)
            .and_then(|kib| kib.parse::<u64>().ok())
            .expect("a number")
    };
    let before = used_kib();
    let mut all = Flows::of_each(FLOWS, 8);
    for (number, receiver) in all.iter_mut().enumerate() {
        (number..FLOWS)
            .step_by(8)
            .for_each(|flow| assert_eq!(receiver.see(flow, 0), Order::Next));
    }
    let mut lead = all.remove(0);
    assert_eq!(all.iter().map(|other| lead.absorb(other)).sum::<u64>(), 0);
    assert_eq!(lead.first_lost(0..FLOWS, |_| 1), First::None);
    let used = used_kib() - before;
    assert!(used < 4_718_592, "{used} KiB, at most 4.5 GiB");
    assert!(used > 4 << 20, "{used} KiB: all were looked at");
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
