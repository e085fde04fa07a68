//! Hostile frames: nothing panics, and what is made of them holds together.
#![allow(missing_docs)]

use crate::common::{IPV6, UDP, gallery, mac, over_ethernet};
use netdyno_frame::arp::Arp;
use netdyno_frame::checksum::{Check, verify_frame};
use netdyno_frame::icmp::{echo_reply, echo_target};
use netdyno_frame::nd::{Neighbour, link_local};
use netdyno_frame::parse::{Layers, Tag, parse};
use netdyno_frame::probe::{PROBE_BYTES, Probe, find};
use netdyno_frame::template::{Template, minimum_size};
use netdyno_fuzz::fuzz;

/// A frame of each kind.
fn corpus() -> Vec<Vec<u8>> {
    let built = gallery().into_iter().map(|(_, stack)| {
        let size = minimum_size(&stack) + 40;
        let template = Template::new(&stack, &[size], 1, 0).expect("a template");
        template.frame(0, 1, 0, 2)
    });
    let (ours, theirs) = (mac("02:00:00:00:00:01"), mac("02:00:00:00:00:02"));
    let tag = [Tag { tpid: 0x8100, tci: 7 }];
    let own = [
        Arp::request(&tag, ours, [192, 0, 2, 1].into(), [192, 0, 2, 2].into()).build(),
        Neighbour::solicitation(&[], ours, link_local(ours), link_local(theirs)).build(),
        Neighbour::announcement(&tag, ours, link_local(ours)).build(),
    ];
    // IPv6 with hop-by-hop options, a fragment header and destination options before UDP.
    let plain = Template::new(&over_ethernet(&[IPV6, UDP]), &[200], 1, 0).expect("a template");
    let mut extended = plain.frame(0, 1, 0, 2);
    extended[20] = 0;
    extended.splice(54..54, [44, 0, 1, 4, 0, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 9, 17, 0, 1, 4, 0, 0, 0, 0]);
    built.chain(own).chain([extended]).collect()
}

/// Which way the parser went.
fn behaviour(layers: &Layers) -> u64 {
    let of = |packet: &netdyno_frame::parse::Packet| {
        let header = (packet.l4.saturating_sub(packet.l3) / 4).min(15) as u64;
        let known = [1, 4, 6, 17, 41, 47, 58].contains(&packet.protocol);
        let protocol = if known { u64::from(packet.protocol) } else { 255 };
        protocol << 8 | header << 4 | u64::from(packet.version / 2) << 2 | u64::from(packet.fragment) << 1 | u64::from(packet.whole)
    };
    let shape =
        u64::from(layers.tags) << 6 | u64::from(layers.labels) << 2 | u64::from(layers.ethernet > 0) << 1 | u64::from(layers.malformed);
    of(&layers.outer) << 40 | of(&layers.inner) << 16 | shape
}

#[test]
fn any_bytes_are_parsed_within_their_bounds() {
    fuzz("frame/parse", &corpus(), |frame| {
        let verified = verify_frame(frame);
        let Some(layers) = parse(frame) else {
            assert!(frame.len() < 14);
            return 0;
        };
        for packet in [&layers.outer, &layers.inner] {
            let places = [packet.l3, packet.l4, packet.payload, packet.end, frame.len() as u32];
            assert!(places.is_sorted(), "{layers:?} of {} bytes", frame.len());
        }
        assert_eq!(layers.tags(frame).count(), usize::from(layers.tags));
        if layers.outer.version > 0 {
            assert_eq!(frame[layers.outer.l3 as usize] >> 4, layers.outer.version);
        }
        let l4 = match verified.l4 {
            Check::Right => 1,
            Check::Absent => 2,
            _ => 3,
        };
        behaviour(&layers) << 2 | l4
    });
}

#[test]
fn neighbours_that_are_understood_are_built_again_as_they_are() {
    fuzz("frame/neighbours", &corpus(), |frame| {
        let arp = Arp::parse(frame);
        if let Some(arp) = &arp {
            assert_eq!(Arp::parse(&arp.build()).as_ref(), Some(arp));
            assert_eq!(Arp::parse(&arp.reply(arp.source).build()), Some(arp.reply(arp.source)));
        }
        let message = Neighbour::parse(frame);
        if let Some(message) = &message {
            let again = Neighbour::parse(&message.build()).expect("ours are valid");
            assert_eq!(&again, message);
            assert!(Neighbour::parse(&message.reply(message.source_mac, false).build()).is_some() || message.target.is_multicast());
        }
        let mut frame = frame.to_vec();
        let before = frame.clone();
        let target = echo_target(&frame);
        let replied = echo_reply(&mut frame);
        if replied {
            assert!(target.is_some() && echo_target(&frame).is_none(), "a reply is no question");
            assert!(verify_frame(&frame).is_good());
            assert_eq!((&frame[..6], frame.len()), (&before[6..12], before.len()));
        } else {
            assert_eq!(frame, before, "nothing changed");
        }
        let kinds = [arp.is_some(), message.is_some(), target.is_some(), replied];
        let shape = parse(&frame).map_or(0, |layers| behaviour(&layers));
        kinds.iter().fold(shape << 4, |sum, &kind| sum << 1 | u64::from(kind))
    });
}

#[test]
fn a_probe_is_found_where_one_lies_or_nowhere() {
    let mut hint = 0;
    fuzz("frame/probe", &corpus(), move |frame| {
        // The hint is of the frame before: another one's, and no good for this.
        let before = hint;
        let Some((probe, at)) = find(frame, &mut hint) else { return 0 };
        assert!(at + PROBE_BYTES <= frame.len(), "{at} from {before}");
        assert_eq!(Probe::read(&frame[at..]), Some(probe));
        at as u64
    });
}
