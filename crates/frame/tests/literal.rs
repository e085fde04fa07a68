//! Literal bytes, both ways. The truth comes from RFCs and from sums done by hand.
#![allow(missing_docs)]

use crate::common;
use crate::common::{mac, over_ethernet};
use netdyno_frame::arp::Arp;
use netdyno_frame::checksum::{Check, finish, fold, sum, update, update32, verify_frame};
use netdyno_frame::icmp::{echo_reply, echo_target};
use netdyno_frame::nd::{Message, Neighbour, link_local};
use netdyno_frame::parse::Tag;
use netdyno_frame::probe::Probe;
use netdyno_frame::template::Template;

#[test]
fn the_sum_is_that_of_rfc_1071_section_3() {
    let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    assert_eq!(fold(sum(&bytes)), 0xddf2);
    assert_eq!(finish(sum(&bytes)), 0x220d);
}

#[test]
fn the_update_is_that_of_rfc_1624_section_4() {
    assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
    assert_eq!(update32(0xdd2f, 0x5555_1234, 0x3285_1234), 0x0000);
}

#[test]
fn an_odd_byte_counts_as_the_high_one() {
    assert_eq!(sum(&[0x12, 0x34, 0x56]), 0x1234 + 0x5600);
    assert_eq!(sum(&[]), 0);
    assert_eq!(sum(&[0; 33]), 0);
    assert_eq!(sum(&[0xff; 9000]), 0xffff);
}

/// The test frame of RFC 2544 appendix C.2.6.4: UDP echo request, TTL 10, source port 0xC020, no UDP checksum.
fn rfc_2544(sizes: &[u32]) -> Template {
    let headers = over_ethernet(&[
        r#"{"type": "ipv4", "src": "198.18.1.2", "dst": "198.19.1.2", "ttl": 10}"#,
        r#"{"type": "udp", "sport": 49184, "dport": 7, "checksum": false}"#,
    ]);
    Template::new(&headers, sizes, 1, 0).expect("a template")
}

#[test]
fn the_frame_of_rfc_2544_byte_by_byte() {
    #[rustfmt::skip]
    let expected = [
        0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00,
        // 4500 + 002e + 0a11 + c612 + 0102 + c613 + 0102 = 1dd68, dd69 with the carry; its complement is 2296.
        0x45, 0x00, 0x00, 0x2e, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x11, 0x22, 0x96,
        198, 18, 1, 2, 198, 19, 1, 2,
        0xc0, 0x20, 0x00, 0x07, 0x00, 0x1a, 0x00, 0x00,
        // The probe: 6e64 less 0102 + 0304 + 0506 + 0708 + 090a + 0b0c = 242a is 4a3a.
        0x4a, 0x3a, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x00, 0x00, 0x00, 0x00,
    ];
    let mut template = rfc_2544(&[64]);
    template.set_first_flow(0x0102_0304);
    let mut cursor = template.cursor();
    template.seek(&mut cursor, 0x0506_0708);
    let mut slot = [0; 60];
    assert_eq!(template.write(&mut cursor, 0, 0x090a_0b0c_0000_0000, &mut slot), 60);
    assert_eq!(slot, expected);
    let probe = Probe {
        flow: 0x0102_0304,
        sequence: 0x0506_0708,
        departure_ps: 0x090a_0b0c_0000_0000,
    };
    assert_eq!(Probe::read(&expected[42..]), Some(probe));
    let verified = verify_frame(&expected);
    assert_eq!((verified.ip, verified.l4), (Check::Right, Check::Absent));
}

#[test]
fn udp_lengths_are_those_meant_by_rfc_2544() {
    // The table of appendix C.2.6.4 prints 0x9A, 0x19A, 0x29A, 0x39A and 0x49A for 256 to 1280, 64 too small: UDP length
    // is the size less 18 (Ethernet, FCS) and 20 (IPv4). 64, 128 and 1518 are as printed.
    let table = [
        (64, 0x002e, 0x001a),
        (128, 0x006e, 0x005a),
        (256, 0x00ee, 0x00da),
        (512, 0x01ee, 0x01da),
        (768, 0x02ee, 0x02da),
        (1024, 0x03ee, 0x03da),
        (1280, 0x04ee, 0x04da),
        (1518, 0x05dc, 0x05c8),
    ];
    let template = rfc_2544(&table.map(|(size, ..)| size));
    let mut cursor = template.cursor();
    for (index, (size, total_length, udp_length)) in table.into_iter().enumerate() {
        let mut slot = [0; 1514];
        assert_eq!(template.write(&mut cursor, index, 0, &mut slot), size as usize - 4);
        assert_eq!(u16::from_be_bytes([slot[16], slot[17]]), total_length, "{size} bytes");
        assert_eq!(u16::from_be_bytes([slot[38], slot[39]]), udp_length, "{size} bytes");
    }
}

#[test]
fn arp_byte_by_byte() {
    #[rustfmt::skip]
    let expected = [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x81, 0x00, 0xa0, 0x64, 0x08, 0x06,
        0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01,
        0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 198, 18, 1, 2,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 198, 18, 1, 1,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let tag = Tag { tpid: 0x8100, tci: 0xa064 };
    let (ours, theirs) = ([198, 18, 1, 2].into(), [198, 18, 1, 1].into());
    let request = Arp::request(&[tag], mac("02:00:00:00:00:01"), ours, theirs);
    assert_eq!(request.build(), expected);
    assert_eq!(Arp::parse(&expected), Some(request.clone()));
    assert!(request.is_request() && !request.is_gratuitous());

    let reply = request.reply(mac("02:00:00:00:00:99"));
    let bytes = reply.build();
    assert_eq!(
        bytes[..20],
        [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0x99, 0x81, 0, 0xa0, 0x64, 8, 6, 0, 1]
    );
    assert_eq!(
        bytes[24..46],
        [0, 2, 2, 0, 0, 0, 0, 0x99, 198, 18, 1, 1, 2, 0, 0, 0, 0, 1, 198, 18, 1, 2]
    );
    assert_eq!(Arp::parse(&bytes), Some(reply));
    let news = Arp::gratuitous(&[], mac("02:00:00:00:00:01"), ours);
    assert_eq!(Arp::parse(&news.build()), Some(news.clone()));
    assert!(news.is_gratuitous() && news.build().len() == 60);
    // RFC 1122 section 2.3.2.1: the same question, "point-to-point".
    let poll = Arp::poll(&[tag], mac("02:00:00:00:00:01"), ours, theirs, mac("02:00:00:00:00:99")).build();
    assert_eq!(poll[..6], [2, 0, 0, 0, 0, 0x99]);
    assert_eq!(poll[6..], expected[6..]);
}

#[test]
fn neighbour_discovery_byte_by_byte() {
    #[rustfmt::skip]
    let expected = [
        0x33, 0x33, 0xff, 0x01, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x86, 0xdd,
        0x60, 0x00, 0x00, 0x00, 0x00, 0x20, 58, 255,
        0x20, 0x01, 0x00, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
        0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0x01, 0x00, 0x01,
        // Addresses 2001 + 2 + 2 + ff02 + 1 + ff01 + 1 = 2 1e0a; length and protocol 20 + 3a = 5a; type 8700; target
        // 2001 + 2 + 1 + 1 = 2005; option 101 + 200 + 0 + 1 = 302: 2 c86b in all, c86d with the carry.
        135, 0, 0x37, 0x92, 0, 0, 0, 0,
        0x20, 0x01, 0x00, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1,
        1, 1, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01,
    ];
    let asker = "2001:2::2".parse().expect("an address");
    let target = "2001:2::1:1".parse().expect("an address");
    let asked = Neighbour::solicitation(&[], mac("02:00:00:00:00:01"), asker, target);
    assert_eq!(asked.build(), expected);
    assert_eq!(Neighbour::parse(&expected), Some(asked.clone()));
    assert_eq!(verify_frame(&expected).l4, Check::Right);

    // RFC 4861 section 7.3.3: to the target itself, on both layers.
    let poll = Neighbour::poll(&[], mac("02:00:00:00:00:01"), asker, target, mac("02:00:00:00:00:99")).build();
    assert_eq!(poll[..6], [2, 0, 0, 0, 0, 0x99]);
    assert_eq!(poll[38..54], expected[62..78]);
    assert_eq!(
        (&poll[6..38], &poll[54..56], &poll[58..]),
        (&expected[6..38], &expected[54..56], &expected[58..])
    );
    assert_eq!(verify_frame(&poll).l4, Check::Right);

    let tag = Tag { tpid: 0x88a8, tci: 5 };
    let asked = Neighbour::solicitation(&[tag], mac("02:00:00:00:00:01"), asker, target);
    let answer = asked.reply(mac("02:00:00:00:00:99"), true);
    let bytes = answer.build();
    assert_eq!(Neighbour::parse(&bytes), Some(answer.clone()));
    assert_eq!(bytes[12..16], [0x88, 0xa8, 0, 5]);
    assert_eq!(bytes[..6], [2, 0, 0, 0, 0, 1]);
    assert_eq!(bytes[58], 136);
    assert_eq!(bytes[62], 0xe0, "router, solicited, override");
    assert_eq!(answer.link_layer, Some(mac("02:00:00:00:00:99")));
    for place in [25, 56, 58, 60, 70, 89] {
        let mut broken = bytes.clone();
        broken[place] ^= 0x10;
        assert_eq!(Neighbour::parse(&broken), None, "byte {place}: hop limit, or checksum");
    }
    let nobody = Neighbour::solicitation(&[], mac("02:00:00:00:00:01"), std::net::Ipv6Addr::UNSPECIFIED, target);
    assert_eq!(
        nobody.build().len(),
        78,
        "no link-layer option when the source is unspecified (RFC 4861 section 4.3)"
    );
    let to_all = nobody.reply(mac("02:00:00:00:00:99"), false);
    assert_eq!(
        to_all.message,
        Message::Advertisement {
            router: false,
            solicited: false,
            overrides: true
        }
    );
    assert_eq!(to_all.build()[..6], [0x33, 0x33, 0, 0, 0, 1]);
}

/// RFC 2464 section 4: 34-56-78-9A-BC-DE has the interface identifier 36-56-78-FF-FE-9A-BC-DE.
#[test]
fn the_link_local_address_of_a_mac_address() {
    let expected: std::net::Ipv6Addr = "fe80::3656:78ff:fe9a:bcde".parse().expect("an address");
    assert_eq!(link_local(mac("34:56:78:9a:bc:de")), expected);
}

#[test]
fn an_echo_request_becomes_its_reply() {
    let vlan = r#"{"type": "vlan", "vid": 100}"#;
    let echo = r#"{"type": "echo", "id": 4660}"#;
    for (ip, target, request, reply) in [(common::IPV4, "198.19.1.2", 8, 0), (common::IPV6, "2001:2:0:1::2", 128, 129)] {
        let template = Template::new(&over_ethernet(&[vlan, ip, echo]), &[99], 1, 0).expect("a template");
        let before = template.frame(0, 7, 0, 123_456);
        assert_eq!(echo_target(&before), Some(target.parse().expect("an address")));
        let mut after = before.clone();
        assert!(echo_reply(&mut after));
        assert_eq!(after[..12], [&before[6..12], &before[..6]].concat());
        assert_eq!(after[12..18], before[12..18]);
        let (first, second, l4) = if request == 8 { (30..34, 34..38, 38) } else { (26..42, 42..58, 58) };
        assert_eq!((&after[first.clone()], &after[second.clone()]), (&before[second], &before[first]));
        assert_eq!((before[l4], after[l4]), (request, reply));
        assert_eq!(after[l4 + 4..], before[l4 + 4..], "identifier, sequence, data");
        let verified = verify_frame(&after);
        assert!(verified.is_good() && verified.l4 == Check::Right, "{verified:?}");
        assert!(!echo_reply(&mut after), "a reply is not answered");
        let mut broken = before.clone();
        broken[80] ^= 1;
        assert!(!echo_reply(&mut broken), "a broken request is not answered");
    }
}

/// What a plan gives as raw bytes behind an IP header may hold any checksum: those of the headers before it are checked still.
#[test]
fn checksums_in_raw_bytes_are_not_the_testers() {
    for (protocol, bytes) in [
        (1, "0800000000010001"),
        (6, "0009000900000000000000005000000000000000"),
        (17, "0009000900081234"),
    ] {
        let ip = format!(r#"{{"type": "ipv4", "src": "192.0.2.1", "dst": "198.51.100.1", "protocol": {protocol}}}"#);
        let headers = over_ethernet(&[&ip, &format!(r#"{{"type": "raw", "bytes": "{bytes}"}}"#)]);
        let template = Template::new(&headers, &[128], 1, 1).expect("a valid stack");
        let mut frame = template.frame(0, 0, 0, 0);
        assert!(!verify_frame(&frame).is_good(), "protocol {protocol}: wrong, as given");
        let checked = template.checked();
        assert!(checked.is_good(&frame), "protocol {protocol}");
        frame[22] ^= 1;
        assert!(
            !checked.is_good(&frame),
            "protocol {protocol}: a TTL that its header does not sum up"
        );
    }
    let frame = rfc_2544(&[64]);
    assert!(frame.checked().outer && frame.checked().inner);
}
