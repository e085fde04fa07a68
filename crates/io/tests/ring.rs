//! Shared memory between two threads: nothing lost, nothing twice, nothing torn, and a full ring says so.

mod support;

use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::ring::{self, RingPort};
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::{Clock, Instant};
use proptest::prelude::*;
use std::collections::VecDeque;
use support::{PATIENCE, frame, receive, send_at, write_frame};

fn link(slots: usize) -> (RingPort, RingPort) {
    ring::pair(&LinkSpec::new("west", "east", 0, 1514), slots).expect("a ring")
}

#[test]
fn a_full_ring_takes_what_fits_and_counts() {
    let (mut west, mut east) = link(128);
    let frames: Vec<_> = (0..200).map(|number| frame(number, 60)).collect();
    let mut taken = 0;
    loop {
        match send_at(&mut west, Instant::ZERO, &frames[taken..]).expect("transmits") {
            0 => break,
            more => taken += more,
        }
    }
    assert_eq!(taken, 128);
    assert_eq!((west.counters().tx_frames, west.counters().tx_full), (128, 1));
    let unread = west.transmit(Instant::ZERO, 8, &mut |_| panic!("there is no room to lend"));
    assert_eq!(unread.expect("full is not an error"), 0);
    assert_eq!(west.counters().tx_full, 2);
    // Three read, three fit again.
    assert_eq!(receive(&mut east, 3), frames[..3]);
    let mut more = 0;
    while more < 3 {
        more += send_at(&mut west, Instant::ZERO, &frames[128 + more..]).expect("transmits");
    }
    assert_eq!(more, 3);
    assert_eq!(send_at(&mut west, Instant::ZERO, &frames[131..]).expect("transmits"), 0);
    let counters = east.counters();
    assert_eq!((counters.rx_dropped, counters.rx_full), (0, 1), "one look, which found it full");
    while !receive(&mut east, 128).is_empty() {}
    assert_eq!(east.counters().rx_full, 2, "it was full again when three had been sent");
    for _ in 0..100 {
        send_at(&mut west, Instant::ZERO, &frames[..31]).expect("transmits");
        while !receive(&mut east, 7).is_empty() {}
    }
    assert_eq!(east.counters().rx_full, 2, "never more than 31 in 128 places");
    // Full for a moment between two looks, and drained in part when it is looked at again: not overlooked.
    for number in 0..128 {
        send_at(&mut west, Instant::ZERO, &frames[number..=number]).expect("transmits");
        if number == 99 {
            receive(&mut east, 1);
        }
    }
    send_at(&mut west, Instant::ZERO, &frames[..1]).expect("transmits");
    receive(&mut east, 31);
    while !receive(&mut east, 31).is_empty() {}
    assert!(east.counters().rx_full > 2);
}

/// The far end sends by the last byte of a frame: what is for a ring nobody reads is dropped there, and counted there.
#[test]
fn slow_reader_slows_no_other_reader() {
    let link = LinkSpec::new("west", "east", 0, 1514);
    let by_last = |frame: &[u8]| u32::from(frame[frame.len() - 1]);
    let (mut near, mut far) = ring::pair_queues(&link, 16, 2, by_last).expect("rings");
    let (mut sent, mut got) = ([0_u64; 2], Vec::new());
    for number in 0..200 {
        let mut frame = frame(number, 60);
        frame[59] = (number % 2) as u8;
        sent[usize::from(frame[59])] += 1;
        assert_eq!(send_at(&mut far, Instant::ZERO, &[frame]).expect("transmits"), 1);
        got.extend(receive(&mut near[1], 64));
    }
    assert_eq!((sent, got.len()), ([100, 100], 100), "all that are for the one that reads");
    assert_eq!(receive(&mut near[0], 64).len(), 16, "what its ring holds");
    let dropped: Vec<_> = near.iter().map(|ring| ring.counters().rx_dropped).collect();
    assert_eq!(dropped, [84, 0]);
    let counters = far.counters();
    assert_eq!((counters.tx_frames, counters.tx_full, counters.rx_dropped), (200, 0, 0));
}

#[test]
fn a_frame_arrives_when_it_is_polled() {
    let (mut west, mut east) = link(16);
    send_at(&mut west, Instant::from_ns(5), &[frame(1, 60)]).expect("transmits");
    let now = Instant::from_ns(777);
    let lent = east.receive(now, 8, &mut |burst| assert_eq!(burst.slots()[0].at, now));
    assert_eq!(lent.expect("receives"), 1);
}

#[test]
fn an_end_without_its_other_end_says_so_once_its_room_is_used() {
    let (mut west, mut east) = link(4);
    send_at(&mut east, Instant::ZERO, &[frame(1, 60)]).expect("transmits");
    drop(east);
    assert_eq!(receive(&mut west, 8), [frame(1, 60)], "what was sent before still arrives");
    let frames: Vec<_> = (0..4).map(|number| frame(number, 60)).collect();
    let gone = (0..3).find_map(|_| send_at(&mut west, Instant::ZERO, &frames).err());
    assert!(matches!(gone, Some(PortError::Gone { .. })), "{gone:?}");
}

#[test]
fn two_threads_lose_nothing_and_tear_nothing() {
    const FRAMES: u64 = 300_000;
    let clock = Clock::start();
    let in_time = move || assert!(clock.now() < Instant::ZERO + PATIENCE, "took too long");
    // Both directions at once, each thread sending and receiving.
    let run = move |mut port: RingPort| {
        let (mut sent, mut got) = (0, 0);
        while sent < FRAMES || got < FRAMES {
            let limit = (1 + sent % 97).min(FRAMES - sent) as usize;
            sent += port
                .transmit(Instant::ZERO, limit, &mut |burst| {
                    for index in 0..burst.len() {
                        let number = sent + index as u64;
                        let len = 60 + number as usize % 80;
                        write_frame(number, &mut burst.frame_mut(index)[..len]);
                        burst.set(index, len, Instant::ZERO);
                    }
                    burst.len()
                })
                .expect("transmits") as u64;
            let mut expected = [0; 140];
            let lent = port.receive(Instant::ZERO, 64, &mut |burst| {
                for index in 0..burst.len() {
                    let len = 60 + got as usize % 80;
                    write_frame(got, &mut expected[..len]);
                    assert!(burst.frame(index) == &expected[..len], "frame {got}");
                    got += 1;
                }
            });
            if lent.expect("receives") == 0 {
                // On a machine with one core the other thread has to run.
                std::thread::yield_now();
            }
            in_time();
        }
        (port.counters().tx_frames, port.counters().rx_frames)
    };
    // Ends are handed back before either is dropped: a dropped end would be a closed link for the other.
    let (west, east) = link(256);
    let threads = [west, east].map(|port| std::thread::spawn(move || run(port)));
    for thread in threads {
        assert_eq!(thread.join().expect("the thread ended in order"), (FRAMES, FRAMES));
    }
}

#[derive(Clone, Debug)]
enum Act {
    Send { limit: usize, wrote: usize },
    Receive { limit: usize },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1_usize..40, 0_usize..40).prop_map(|(limit, wrote)| Act::Send { limit, wrote }),
        (1_usize..40).prop_map(|limit| Act::Receive { limit }),
    ]
}

proptest! {
    /// Against a plain queue, under any order of sending and receiving.
    #[test]
    fn behaves_like_a_bounded_queue(acts in prop::collection::vec(act(), 1..300), slots in 1_usize..40) {
        let (mut west, mut east) = link(slots);
        let capacity = slots.max(2).next_power_of_two();
        let (mut queue, mut number) = (VecDeque::new(), 0);
        for act in acts {
            match act {
                Act::Send { limit, wrote } => {
                    let mut lent = 0;
                    let taken = west.transmit(Instant::ZERO, limit, &mut |burst| {
                        lent = burst.len();
                        let count = wrote.min(lent);
                        for index in 0..count {
                            let len = 14 + (number as usize * 31) % 200;
                            write_frame(number, &mut burst.frame_mut(index)[..len]);
                            burst.set(index, len, Instant::ZERO);
                            queue.push_back(frame(number, len));
                            number += 1;
                        }
                        count
                    }).expect("transmits");
                    prop_assert_eq!(taken, wrote.min(lent));
                    prop_assert!(lent <= limit && queue.len() <= capacity);
                    // Lends nothing only when full.
                    prop_assert!(lent > 0 || queue.len() == capacity);
                }
                Act::Receive { limit } => {
                    let got = receive(&mut east, limit);
                    prop_assert!(got.len() <= limit);
                    prop_assert!(!got.is_empty() || queue.is_empty());
                    for frame in got {
                        prop_assert_eq!(Some(frame), queue.pop_front());
                    }
                }
            }
        }
    }
}
