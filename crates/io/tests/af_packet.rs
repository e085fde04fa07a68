//! What only a kernel interface does: VLAN tags taken off and put back, sizes and speeds asked of the kernel, errors.

mod support;

use netdyno_io::backend::af_packet::AfPacketPort;
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::{Clock, Duration, Instant, sleep};
use std::process::Command;
use support::{LATE, PATIENCE, collect, frame, namespace, receive, send_all, send_at};

fn open(interface: &str, max_frame: u32) -> AfPacketPort {
    AfPacketPort::open(interface, interface, max_frame).unwrap_or_else(|error| panic!("{error}"))
}

fn pair(max_frame: u32) -> [AfPacketPort; 2] {
    namespace::ENDS.map(|interface| open(interface, max_frame))
}

/// A frame with these four-byte tags between addresses and type (IEEE 802.1Q clause 9).
fn tagged(number: u64, tags: &[[u8; 4]], len: usize) -> Vec<u8> {
    let plain = frame(number, len - 4 * tags.len());
    [&plain[..12], &tags.concat(), &plain[12..]].concat()
}

#[test]
fn vlan_tags_arrive_as_they_were_sent() {
    namespace::with_veth("vlan_tags_arrive_as_they_were_sent", 1500, || {
        let [mut west, mut east] = pair(1522);
        // 802.1Q VLAN 100 priority 5; 802.1ad; QinQ; an old QinQ of two 0x8100; VLAN 0; drop eligible 4095.
        let tags: [&[[u8; 4]]; 7] = [
            &[[0x81, 0x00, 0xa0, 0x64]],
            &[[0x88, 0xa8, 0x00, 0x0a]],
            &[[0x88, 0xa8, 0x60, 0x0a], [0x81, 0x00, 0x00, 0x64]],
            &[[0x81, 0x00, 0x00, 0x01], [0x81, 0x00, 0x00, 0x02]],
            &[[0x81, 0x00, 0x00, 0x00]],
            &[[0x81, 0x00, 0x1f, 0xff]],
            &[],
        ];
        let mut frames = Vec::new();
        for (number, tags) in tags.iter().enumerate() {
            for len in [60, 64, 777, 1514] {
                frames.push(tagged(number as u64, tags, len));
            }
        }
        // The longest: a full MTU behind one 802.1Q tag.
        frames.push(tagged(99, &[[0x81, 0x00, 0x00, 0x07]], 1518));
        send_all(&mut west, &frames);
        let got = collect(&mut east, frames.len());
        for (index, (got, sent)) in got.iter().zip(&frames).enumerate() {
            assert_eq!(got, sent, "frame {index}");
        }
        assert_eq!(got.len(), frames.len());
    });
}

#[test]
fn what_a_port_sends_it_does_not_receive() {
    namespace::with_veth("what_a_port_sends_it_does_not_receive", 1500, || {
        let [mut west, mut east] = pair(1514);
        send_all(&mut west, &[frame(1, 60)]);
        assert_eq!(collect(&mut east, 1).len(), 1);
        assert!(receive(&mut west, 64).is_empty());
    });
}

#[test]
fn slots_follow_the_mtu_and_a_pretended_speed_is_not_believed() {
    namespace::with_veth("slots_follow_the_mtu_and_a_pretended_speed_is_not_believed", 1500, || {
        let [mut west, east] = pair(9018);
        // 1500 and the Ethernet header and one tag; veth says 10 Gbit/s to whoever asks.
        assert_eq!((west.info().max_frame, west.info().rate_bps), (1518, 0));
        let long = send_at(&mut west, Instant::ZERO, &[frame(1, 1518)]);
        let Err(PortError::Unfit { why, .. }) = long else {
            panic!("an untagged frame of 1518 bytes is beyond the MTU: {long:?}")
        };
        assert!(why.contains("raise its MTU"), "{why}");
        drop(east);
        assert_eq!(open("nd1", 300).info().max_frame, 300);
    });
}

#[test]
fn an_interface_is_a_port_of_one_tester_at_a_time() {
    namespace::with_veth("an_interface_is_a_port_of_one_tester_at_a_time", 1500, || {
        let [west, _east] = pair(1514);
        let again = AfPacketPort::open("again", "nd0", 1514);
        let Err(PortError::Unfit { why, .. }) = again else {
            panic!("two testers on one interface: {again:?}")
        };
        assert!(why.contains("a port of another netdyno"), "{why}");
        drop(west);
        let queues = AfPacketPort::open_queues("again", "nd0", 1514, 2, false).expect("it is free");
        assert_eq!(queues.len(), 2);
    });
}

#[test]
fn frames_longer_than_a_slot_are_counted_and_not_cut() {
    namespace::with_veth("frames_longer_than_a_slot_are_counted_and_not_cut", 1500, || {
        let (mut west, mut east) = (open("nd0", 1514), open("nd1", 100));
        let frames = [
            frame(1, 60),
            frame(2, 101),
            frame(3, 100),
            tagged(4, &[[0x81, 0, 0, 9]], 101),
            frame(5, 1000),
        ];
        send_all(&mut west, &frames);
        assert_eq!(collect(&mut east, 2), [frames[0].clone(), frames[2].clone()]);
        assert_eq!((east.counters().rx_cut, east.counters().rx_dropped), (3, 0));
        assert_eq!(east.counters().rx_frames, 2);
    });
}

#[test]
fn reader_that_does_not_read_learns_how_much_it_lost() {
    namespace::with_veth("reader_that_does_not_read_learns_how_much_it_lost", 1500, || {
        let [mut west, mut east] = pair(1514);
        let burst: Vec<_> = (0..64).map(|number| frame(number, 1514)).collect();
        let mut sent = 0;
        // At most 128 MiB of socket buffer (the kernel doubles what is asked) at 2 KiB or more a frame.
        while sent < 100_000 && east.counters().rx_dropped == 0 {
            for _ in 0..16 {
                sent += send_at(&mut west, Instant::ZERO, &burst).expect("transmits") as u64;
            }
        }
        let dropped = east.counters().rx_dropped;
        assert!(dropped > 0, "{sent} frames and none dropped");
        assert_eq!(east.counters().rx_dropped, dropped, "asking twice changes nothing");
        let mut got = 0;
        while let more @ 1.. = receive(&mut east, 64).len() as u64 {
            got += more;
        }
        assert_eq!(got + east.counters().rx_dropped, sent);
    });
}

#[test]
fn what_the_far_end_of_a_veth_refuses_was_sent_and_lost() {
    namespace::with_veth("what_the_far_end_of_a_veth_refuses_was_sent_and_lost", 1500, || {
        let [mut west, mut east] = pair(1514);
        // The far end drops what is longer than its own MTU, as it drops what its full input queue
        // cannot hold; both are one answer to the sender.
        namespace::ip(&["link", "set", "nd1", "mtu", "500"]).expect("ip works");
        let sizes = [60, 1000, 60, 1000, 1000, 60, 1000];
        let frames: Vec<_> = sizes.iter().zip(0..).map(|(size, number)| frame(number, *size)).collect();
        assert_eq!(send_at(&mut west, Instant::ZERO, &frames).expect("transmits"), frames.len());
        let short: Vec<_> = frames.iter().filter(|frame| frame.len() == 60).cloned().collect();
        assert_eq!(collect(&mut east, short.len()), short);
        assert_eq!(west.counters().tx_frames, frames.len() as u64);
        assert_eq!(west.counters().tx_full, 0);
    });
}

/// A bridge has a carrier as long as one of its ports has: an interface that is no cable, and whose link can be lost.
#[test]
fn frames_due_without_a_carrier_are_sent_and_lost() {
    namespace::with_veth("frames_due_without_a_carrier_are_sent_and_lost", 1500, || {
        let ip = |arguments: &[&str]| namespace::ip(arguments);
        if ip(&["link", "add", "bridge", "type", "bridge", "forward_delay", "0"]).is_err() {
            println!("SKIPPED frames_due_without_a_carrier_are_sent_and_lost: this kernel has no bridge");
            return;
        }
        ip(&["link", "set", "dev", "nd0", "master", "bridge"]).expect("ip works");
        ip(&["link", "set", "dev", "bridge", "up"]).expect("ip works");
        let await_carrier = |there: bool| {
            let clock = Clock::start();
            loop {
                let shown = Command::new("ip").args(["link", "show", "bridge"]).output().expect("ip works");
                if String::from_utf8_lossy(&shown.stdout).contains("state UP") == there {
                    return;
                }
                assert!(clock.now() < Instant::ZERO + PATIENCE, "the bridge's carrier: {}", !there);
                sleep(Duration::from_ms(10));
            }
        };
        await_carrier(true);
        let mut west = open("bridge", 1514);
        let mut east = open("nd1", 1514);
        let frames: Vec<_> = (0..200).map(|number| frame(number, 60)).collect();
        send_all(&mut west, &frames);
        assert_eq!(collect(&mut east, frames.len()), frames);
        drop(east);
        ip(&["link", "set", "nd1", "down"]).expect("ip works");
        await_carrier(false);
        send_all(&mut west, &frames);
        assert_eq!((west.counters().tx_frames, west.counters().tx_full), (2 * frames.len() as u64, 0));
        ip(&["link", "set", "nd1", "up"]).expect("ip works");
        await_carrier(true);
        let mut east = open("nd1", 1514);
        assert_eq!(send_at(&mut west, Instant::ZERO, &frames[..5]).expect("transmits"), 5);
        assert_eq!(collect(&mut east, 5), frames[..5], "what was lost does not come later");
    });
}

#[test]
fn missing_or_down_or_removed_interfaces_are_named() {
    namespace::with_veth("missing_or_down_or_removed_interfaces_are_named", 1500, || {
        for absent in ["p9", "", "a-name-beyond-fifteen-characters"] {
            let error = AfPacketPort::open("west", absent, 1514).expect_err("it does not exist").to_string();
            let expected = format!("port `west`: there is no interface `{absent}` here; there are: ");
            let (start, list) = error.split_at(expected.len().min(error.len()));
            assert_eq!(start, expected);
            let mut names: Vec<_> = list.split(", ").collect();
            names.sort_unstable();
            assert!(names.contains(&"lo") && names.ends_with(&["nd0", "nd1"]), "{error}");
        }
        let mut west = open("nd0", 1514);
        let mut east = open("nd1", 1514);
        namespace::ip(&["link", "set", "nd1", "down"]).expect("ip works");
        let error = AfPacketPort::open("east", "nd1", 1514).expect_err("it is down").to_string();
        assert_eq!(error, "port `east`: interface `nd1` is down; bring it up: ip link set nd1 up");
        let gone = east.receive(LATE, 64, &mut |_| panic!("nothing was sent"));
        assert!(matches!(gone, Err(PortError::Gone { .. })), "{gone:?}");
        namespace::ip(&["link", "del", "nd0"]).expect("ip works");
        let gone = send_at(&mut west, Instant::ZERO, &[frame(1, 60)]);
        assert!(matches!(gone, Err(PortError::Gone { .. })), "{gone:?}");
    });
}

#[test]
fn a_port_that_may_go_loses_frames_while_it_is_down() {
    namespace::with_veth("a_port_that_may_go_loses_frames_while_it_is_down", 1500, || {
        let mut west = open("nd0", 1514);
        let mut east = AfPacketPort::open_queues("east", "nd1", 1514, 1, true).expect("opens").remove(0);
        namespace::ip(&["link", "set", "nd1", "down"]).expect("ip works");
        for _ in 0..2 {
            assert_eq!(east.receive(LATE, 64, &mut |_| panic!("nothing was sent")).expect("it may go"), 0);
            assert_eq!(send_at(&mut east, Instant::ZERO, &[frame(1, 60)]).expect("it may go"), 1);
        }
        namespace::ip(&["link", "set", "nd1", "up"]).expect("ip works");
        assert_eq!(send_at(&mut east, Instant::ZERO, &[frame(2, 60)]).expect("it is up"), 1);
        assert_eq!(receive(&mut west, 1), [frame(2, 60)]);
        namespace::ip(&["link", "del", "nd0"]).expect("ip works");
        let gone = east.receive(LATE, 64, &mut |_| panic!("nothing was sent"));
        assert!(matches!(gone, Err(PortError::Gone { .. })), "{gone:?}");
    });
}

/// A frame of 60 bytes of UDP flow `flow` (RFC 791, RFC 768), its number behind the headers.
fn of_flow(flow: u8, number: u32) -> Vec<u8> {
    let mut frame = frame(u64::from(number), 60);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14..34].copy_from_slice(&[0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 16, 0, 0, flow, 48, 0, 0, 1]);
    frame[34..42].copy_from_slice(&[4, flow, 0, 12, 0, 26, 0, 0]);
    frame[42..46].copy_from_slice(&number.to_be_bytes());
    frame
}

#[test]
fn several_sockets_share_a_port_flow_by_flow() {
    const FLOWS: u8 = 64;
    namespace::with_veth("several_sockets_share_a_port_flow_by_flow", 1500, || {
        let [west, east] = namespace::ENDS;
        let mut west = open(west, 1514);
        let mut queues = AfPacketPort::open_queues("east", east, 1514, 2, false).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(queues[0].info().detail, "2 sockets, PACKET_FANOUT_HASH");
        let sent: Vec<Vec<u8>> = (0..256).map(|number| of_flow(number as u8 % FLOWS, number)).collect();
        send_all(&mut west, &sent);
        // What a queue sends, neither it nor the other receives.
        send_all(&mut queues[1], &[of_flow(0, 1000)]);
        let mut got: Vec<Vec<Vec<u8>>> = vec![Vec::new(); 2];
        let clock = Clock::start();
        while got.iter().map(Vec::len).sum::<usize>() < sent.len() && clock.now() < Instant::ZERO + PATIENCE {
            for (queue, got) in queues.iter_mut().zip(&mut got) {
                got.extend(receive(queue, 64));
            }
        }
        let mut all = got.concat();
        all.sort_by_key(|frame| frame[42..46].to_vec());
        assert_eq!(all, sent, "each frame once");
        let flows = |queue: usize| got[queue].iter().map(|frame| frame[29]).collect::<std::collections::BTreeSet<_>>();
        let (first, second) = (flows(0), flows(1));
        assert!(!first.is_empty() && !second.is_empty());
        assert_eq!(first.intersection(&second).count(), 0);
        assert_eq!(first.len() + second.len(), usize::from(FLOWS));
    });
}
