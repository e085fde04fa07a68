//! Built frames before an independent judge: etherparse decodes every header and recomputes every checksum.
#![allow(missing_docs)]

use crate::common;
use crate::common::{gallery, over_ethernet, stack};
use etherparse::{Ethernet2Header, Icmpv4Header, Icmpv6Header, Ipv4Header, Ipv6Header, SingleVlanHeader, TcpHeader, UdpHeader};
use netdyno_frame::checksum::{Check, verify, verify_frame};
use netdyno_frame::parse::{Tag, parse};
use netdyno_frame::probe::Probe;
use netdyno_frame::spec::{
    Bytes, ControlWord, DestinationOptions, Echo, Ethernet, Field, Fragment, Gre, Gtpu, Header, HopByHop, Ipv4, Ipv6, Mac, Mpls, Ppp,
    Pppoe, Raw, Routing, Srh, Tcp, Udp, Vary, Vlan, Vxlan,
};
use netdyno_frame::template::{FieldValue, Template, Value, minimum_size};
use std::fmt::Debug;
use std::net::Ipv6Addr;

/// What the plan says the field is in flow `flow`; for a random one only its range is known from the plan.
fn as_planned<T: Copy + PartialOrd + Debug>(field: &Field<T>, flow: u32, seen: T, add: impl Fn(T, u64) -> T) {
    match field {
        Field::Constant(value) => assert_eq!(seen, *value),
        Field::Vary(Vary::List(values)) => assert_eq!(seen, values[flow as usize % values.len()]),
        Field::Vary(Vary::Step { start, step, count, .. }) => {
            assert_eq!(seen, add(*start, step.unsigned_abs() * (u64::from(flow) % count)));
        }
        Field::Vary(Vary::Random { min, max, .. }) => assert!(*min <= seen && seen <= *max, "{seen:?}"),
        Field::Vary(Vary::Range { .. }) | Field::Slow(_) => unreachable!("not in the gallery: tests/pairs.rs has them"),
    }
}

fn add_mac(Mac([a, b, c, d, e, f]): Mac, by: u64) -> Mac {
    let [_, _, bytes @ ..] = (u64::from_be_bytes([0, 0, a, b, c, d, e, f]) + by).to_be_bytes();
    Mac(bytes)
}

enum Ip {
    V4(Ipv4Header),
    V6(Ipv6Header),
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn index_of_ipv6(headers: &[Header]) -> usize {
    headers.iter().position(|header| matches!(header, Header::Ipv6(_))).expect("IPv6")
}

/// The same IPv6 header with the address of the final destination, which is what checksums are computed with.
fn travel(ip: Option<Ip>, destination: Ipv6Addr) -> Option<Ip> {
    match ip {
        Some(Ip::V6(mut ip)) => {
            ip.destination = destination.octets();
            Some(Ip::V6(ip))
        }
        _ => panic!("a routing header without IPv6"),
    }
}

/// An options header: what is behind it, and what it announces.
fn judge_options<'a>(rest: &'a [u8], Bytes(options): &Bytes, size: Option<u16>) -> (&'a [u8], Option<u16>) {
    let length = 8 * (usize::from(rest[1]) + 1);
    assert!(size.is_none_or(|size| usize::from(size) == length) && length >= 2 + options.len());
    assert_eq!(rest[2..2 + options.len()], options[..]);
    // Nothing but Pad1 and PadN fills the rest (RFC 8200 section 4.2).
    let mut at = 2 + options.len();
    while at < length {
        at += match rest[at] {
            0 => 1,
            1 => 2 + usize::from(rest[at + 1]),
            other => panic!("option {other} is no padding"),
        };
    }
    assert_eq!(at, length);
    (&rest[length..], Some(rest[0].into()))
}

/// Takes the frame apart, header by header, with nothing but etherparse and the plan.
fn judge(headers: &[Header], frame: &[u8], flow: u32, told: &[FieldValue]) -> usize {
    let mut rest = frame;
    let mut ip = None;
    let mut announced = None;
    for (index, header) in headers.iter().enumerate() {
        let told = |name: &str| {
            told.iter()
                .find(|told| told.header == index && told.field == name)
                .expect(name)
                .value
        };
        match header {
            Header::Ethernet(Ethernet { src, dst, ethertype }) => {
                assert!(ethertype.is_none_or(|kind| rest[12..14] == kind.to_be_bytes()));
                let (seen, behind) = Ethernet2Header::from_slice(rest).expect("ethernet");
                as_planned(src, flow, Mac(seen.source), add_mac);
                as_planned(dst, flow, Mac(seen.destination), add_mac);
                assert_eq!(told("src"), Value::Mac(Mac(seen.source)));
                assert_eq!(told("dst"), Value::Mac(Mac(seen.destination)));
                (rest, announced) = (behind, Some(seen.ether_type.0));
            }
            Header::Vlan(Vlan {
                tpid,
                vid,
                pcp,
                dei,
                ethertype,
            }) => {
                assert!(ethertype.is_none_or(|kind| rest[2..4] == kind.to_be_bytes()));
                assert_eq!(announced, Some(*tpid));
                let (seen, behind) = SingleVlanHeader::from_slice(rest).expect("a tag");
                as_planned(vid, flow, seen.vlan_id.value(), |start, by| start + by as u16);
                assert_eq!(told("vid"), Value::Number(seen.vlan_id.value().into()));
                assert_eq!((seen.pcp.value(), seen.drop_eligible_indicator), (*pcp, *dei));
                (rest, announced) = (behind, Some(seen.ether_type.0));
            }
            Header::Mpls(Mpls { label, tc, ttl }) => {
                assert!(announced.is_none_or(|kind| [0x8847, 0x0281].contains(&kind)));
                let (entry, behind) = rest.split_at(4);
                let seen = u32::from(entry[0]) << 12 | u32::from(entry[1]) << 4 | u32::from(entry[2] >> 4);
                as_planned(label, flow, seen, |start, by| start + by as u32);
                assert_eq!(told("label"), Value::Number(seen.into()));
                let bottom = !matches!(headers[index + 1], Header::Mpls(_));
                assert_eq!((entry[2] >> 1 & 7, entry[2] & 1, entry[3]), (*tc, u8::from(bottom), *ttl));
                (rest, announced) = (behind, None);
            }
            Header::Ipv4(Ipv4 {
                src,
                dst,
                dscp,
                ttl,
                df,
                id,
                more,
                offset,
                protocol,
            }) => {
                assert!(announced.is_none_or(|kind| [0x0800, 4, 0x21].contains(&kind)));
                let (seen, behind) = Ipv4Header::from_slice(rest).expect("IPv4");
                as_planned(src, flow, seen.source.into(), |start, by| (u32::from(start) + by as u32).into());
                as_planned(dst, flow, seen.destination.into(), |start, by| {
                    (u32::from(start) + by as u32).into()
                });
                assert_eq!(told("src"), Value::Ipv4(seen.source.into()));
                assert_eq!(told("dst"), Value::Ipv4(seen.destination.into()));
                as_planned(dscp, flow, seen.dscp.value(), |start, by| start + by as u8);
                as_planned(ttl, flow, seen.time_to_live, |start, by| start + by as u8);
                as_planned(id, flow, seen.identification, |start, by| start + by as u16);
                as_planned(df, flow, seen.dont_fragment, |start, by| start ^ (by % 2 == 1));
                assert_eq!(seen.ecn.value(), 0);
                assert_eq!((seen.more_fragments, seen.fragment_offset.byte_offset()), (*more, *offset));
                assert!(protocol.is_none_or(|protocol| protocol == seen.protocol.0));
                assert_eq!(seen.header_checksum, seen.calc_header_checksum());
                assert_eq!(usize::from(seen.total_len), rest.len());
                (rest, announced) = (behind, Some(seen.protocol.0.into()));
                ip = Some(Ip::V4(seen));
            }
            Header::Ipv6(Ipv6 {
                src,
                dst,
                dscp,
                flow_label,
                hop_limit,
                protocol,
            }) => {
                assert!(announced.is_none_or(|kind| [0x86dd, 41, 0x57].contains(&kind)));
                assert!(protocol.is_none_or(|protocol| protocol == rest[6]));
                let (seen, behind) = Ipv6Header::from_slice(rest).expect("IPv6");
                as_planned(src, flow, seen.source.into(), |start, by| {
                    (u128::from(start) + u128::from(by)).into()
                });
                as_planned(dst, flow, seen.destination.into(), |start, by| {
                    (u128::from(start) + u128::from(by)).into()
                });
                assert_eq!(told("src"), Value::Ipv6(seen.source.into()));
                assert_eq!(told("dst"), Value::Ipv6(seen.destination.into()));
                as_planned(dscp, flow, seen.traffic_class >> 2, |start, by| start + by as u8);
                as_planned(hop_limit, flow, seen.hop_limit, |start, by| start + by as u8);
                assert_eq!((seen.traffic_class & 3, seen.flow_label.value()), (0, *flow_label));
                assert_eq!(usize::from(seen.payload_length), behind.len());
                (rest, announced) = (behind, Some(seen.next_header.0.into()));
                ip = Some(Ip::V6(seen));
            }
            Header::Udp(Udp { sport, dport, checksum }) => {
                assert_eq!(announced, Some(17));
                let (seen, behind) = UdpHeader::from_slice(rest).expect("UDP");
                as_planned(sport, flow, seen.source_port, |start, by| start + by as u16);
                as_planned(dport, flow, seen.destination_port, |start, by| start + by as u16);
                assert_eq!(told("sport"), Value::Number(seen.source_port.into()));
                assert_eq!(told("dport"), Value::Number(seen.destination_port.into()));
                assert_eq!(usize::from(seen.length), rest.len());
                let right = match &ip {
                    Some(Ip::V4(ip)) => seen.calc_checksum_ipv4(ip, behind),
                    Some(Ip::V6(ip)) => seen.calc_checksum_ipv6(ip, behind),
                    None => panic!("UDP without IP"),
                };
                assert_eq!(seen.checksum, if *checksum { right.expect("a checksum") } else { 0 });
                rest = behind;
            }
            Header::Tcp(Tcp { sport, dport, flags }) => {
                assert_eq!(announced, Some(6));
                assert_eq!(rest[13], *flags);
                let (seen, behind) = TcpHeader::from_slice(rest).expect("TCP");
                as_planned(sport, flow, seen.source_port, |start, by| start + by as u16);
                as_planned(dport, flow, seen.destination_port, |start, by| start + by as u16);
                let right = match &ip {
                    Some(Ip::V4(ip)) => seen.calc_checksum_ipv4(ip, behind),
                    Some(Ip::V6(ip)) => seen.calc_checksum_ipv6(ip, behind),
                    None => panic!("TCP without IP"),
                };
                assert_eq!(seen.checksum, right.expect("a checksum"));
                rest = behind;
            }
            Header::Echo(Echo { id }) => {
                assert_eq!(rest[4..6], id.to_be_bytes());
                match &ip {
                    Some(Ip::V4(_)) => {
                        assert_eq!((announced, rest[0], rest[1]), (Some(1), 8, 0));
                        let (seen, behind) = Icmpv4Header::from_slice(rest).expect("ICMP");
                        assert_eq!(seen.checksum, seen.icmp_type.calc_checksum(behind));
                        rest = behind;
                    }
                    Some(Ip::V6(ip)) => {
                        assert_eq!((announced, rest[0], rest[1]), (Some(58), 128, 0));
                        let (seen, behind) = Icmpv6Header::from_slice(rest).expect("ICMPv6");
                        let right = seen.icmp_type.calc_checksum(ip.source, ip.destination, behind);
                        assert_eq!(seen.checksum, right.expect("a checksum"));
                        rest = behind;
                    }
                    None => panic!("echo without IP"),
                }
            }
            Header::Vxlan(Vxlan { vni }) => {
                let (seen, behind) = rest.split_at(8);
                assert_eq!((seen[0], seen[1..4].to_vec(), seen[7]), (0x08, vec![0; 3], 0));
                as_planned(vni, flow, u32::from_be_bytes([0, seen[4], seen[5], seen[6]]), |start, by| {
                    start + by as u32
                });
                rest = behind;
            }
            Header::Gre(Gre { key }) => {
                assert_eq!(announced, Some(47));
                let length = if key.is_some() { 8 } else { 4 };
                let (seen, behind) = rest.split_at(length);
                assert_eq!(seen[..2], if key.is_some() { [0x20, 0] } else { [0, 0] });
                if let Some(key) = key {
                    assert_eq!(seen[4..8], key.to_be_bytes());
                }
                (rest, announced) = (behind, Some(u16::from_be_bytes([seen[2], seen[3]])));
                if matches!(headers[index + 1], Header::Ethernet(_)) {
                    assert_eq!(announced, Some(0x6558));
                }
            }
            Header::Pppoe(Pppoe { session }) => {
                assert_eq!((announced, &rest[..2]), (Some(0x8864), &[0x11, 0][..]));
                as_planned(session, flow, be16(rest, 2), |start, by| start + by as u16);
                assert_eq!(usize::from(be16(rest, 4)), rest.len() - 6);
                (rest, announced) = (&rest[6..], None);
            }
            Header::Ppp(Ppp { protocol }) => {
                assert!(protocol.is_none_or(|protocol| protocol == be16(rest, 0)));
                (rest, announced) = (&rest[2..], Some(be16(rest, 0)));
            }
            Header::ControlWord(ControlWord { sequence }) => {
                assert_eq!((be16(rest, 0), be16(rest, 2)), (0, *sequence));
                (rest, announced) = (&rest[4..], None);
            }
            Header::HopByHop(HopByHop { options, size }) => {
                assert_eq!((announced, index), (Some(0), index_of_ipv6(headers) + 1));
                (rest, announced) = judge_options(rest, options, *size);
            }
            Header::DestinationOptions(DestinationOptions { options, size }) => {
                assert_eq!(announced, Some(60));
                (rest, announced) = judge_options(rest, options, *size);
            }
            Header::Routing(Routing {
                routing_type,
                segments_left,
                addresses,
            }) => {
                assert_eq!((announced, rest[2], rest[3]), (Some(43), *routing_type, *segments_left));
                let length = 8 + 16 * addresses.len();
                assert_eq!(usize::from(rest[1]), 2 * addresses.len());
                for (index, address) in addresses.iter().enumerate() {
                    assert_eq!(rest[8 + 16 * index..][..16], address.octets());
                }
                if *segments_left > 0 {
                    ip = travel(ip, *addresses.last().expect("an address"));
                }
                (rest, announced) = (&rest[length..], Some(rest[0].into()));
            }
            Header::Srh(Srh {
                segments,
                segments_left,
                tag,
            }) => {
                let (count, left) = (segments.len(), rest[3]);
                assert_eq!((announced, rest[2], be16(rest, 6)), (Some(43), 4, *tag));
                assert_eq!(usize::from(left), segments_left.map_or(count - 1, usize::from));
                assert_eq!((usize::from(rest[1]), usize::from(rest[4]), rest[5]), (2 * count, count - 1, 0));
                for (index, segment) in segments.iter().enumerate() {
                    assert_eq!(rest[8 + 16 * (count - 1 - index)..][..16], segment.octets());
                }
                if left > 0 {
                    ip = travel(ip, segments[count - 1]);
                }
                (rest, announced) = (&rest[8 + 16 * count..], Some(rest[0].into()));
            }
            Header::Fragment(Fragment {
                id,
                more,
                offset,
                protocol,
            }) => {
                let word = be16(rest, 2);
                assert_eq!((announced, rest[1], word & 6), (Some(44), 0, 0));
                assert_eq!((word & 1 == 1, word & 0xfff8), (*more, *offset));
                let seen = u32::from(be16(rest, 4)) << 16 | u32::from(be16(rest, 6));
                as_planned(id, flow, seen, |start, by| start + by as u32);
                assert!(protocol.is_none_or(|protocol| protocol == rest[0]));
                (rest, announced) = (&rest[8..], Some(rest[0].into()));
            }
            Header::Gtpu(Gtpu { teid, qfi }) => {
                assert_eq!((rest[0], rest[1]), (if qfi.is_some() { 0x34 } else { 0x30 }, 0xff));
                assert_eq!(usize::from(be16(rest, 2)), rest.len() - 8);
                let seen = u32::from(be16(rest, 4)) << 16 | u32::from(be16(rest, 6));
                as_planned(teid, flow, seen, |start, by| start + by as u32);
                let length = if let Some(qfi) = qfi {
                    assert_eq!(rest[8..16], [0, 0, 0, 0x85, 1, 0, *qfi, 0]);
                    16
                } else {
                    8
                };
                (rest, announced) = (&rest[length..], None);
            }
            Header::Raw(Raw { bytes: Bytes(bytes) }) => {
                assert_eq!(rest[..bytes.len()], bytes[..]);
                (rest, announced) = (&rest[bytes.len()..], None);
            }
        }
    }
    frame.len() - rest.len()
}

#[test]
fn every_header_is_as_the_plan_says_and_every_checksum_right() {
    for (name, headers) in gallery() {
        println!("{name}");
        let minimum = minimum_size(&headers);
        let sizes = [minimum, minimum + 1, 777.max(minimum), 1518];
        let template = Template::new(&headers, &sizes, 3000, 42).expect(name);
        let mut cursor = template.cursor();
        let mut slot = [0; 1600];
        for number in 0..6100u32 {
            let (flow, size) = (number % 3000, number as usize % sizes.len());
            let length = template.write(&mut cursor, size, u64::from(number) << 20, &mut slot);
            let frame = &slot[..length];
            let payload = judge(&headers, frame, flow, &template.flow_fields(flow));
            assert_eq!(payload, template.probe_offset() as usize);
            let expected = Probe {
                flow,
                sequence: number / 3000,
                departure_ps: u64::from(number) << 20,
            };
            assert_eq!(Probe::read(&frame[payload..]), Some(expected));
            for (place, byte) in frame[payload + 18..].iter().enumerate() {
                assert_eq!(*byte, place as u8, "the pattern of RFC 2544");
            }
            let layers = parse(frame).expect("layers");
            let verified = verify(frame, &layers);
            assert_eq!(verify_frame(frame), verified);
            assert!(verified.is_good(), "{verified:?}");
            let has_sum = headers
                .last()
                .is_some_and(|last| matches!(last, Header::Udp(Udp { checksum: true, .. }) | Header::Tcp(_) | Header::Echo(_)));
            if !name.starts_with("opaque") {
                assert_eq!(verified.l4 == Check::Right, has_sum, "{name}: {verified:?}, {layers:?}");
                assert_eq!(layers.inner.payload as usize, payload, "{name}: {layers:?}");
            }
        }
    }
}

#[test]
fn a_mac_set_later_is_in_every_frame_and_only_there() {
    let headers = over_ethernet(&[common::IPV4, common::VXLAN, common::ETHERNET, common::IPV4, common::UDP]);
    let mut template = Template::new(&headers, &[128, 1518], 1, 0).expect("a template");
    let before = template.frame(0, 0, 1, 0);
    template.set_destination(common::mac("02:00:00:00:aa:bb"));
    template.set_source(common::mac("02:00:00:00:cc:dd"));
    let after = template.frame(0, 0, 1, 0);
    assert_eq!(after[..12], [2, 0, 0, 0, 0xaa, 0xbb, 2, 0, 0, 0, 0xcc, 0xdd]);
    assert_eq!(after[12..], before[12..]);
    let mut slot = [0; 1514];
    template.write(&mut template.cursor(), 1, 0, &mut slot);
    assert_eq!(slot[..], after);
}

#[test]
fn a_varying_mac_gives_way_to_one_that_was_resolved() {
    let headers = stack(&format!(
        r#"[{{"type": "ethernet", "src": "02:00:00:00:00:01",
            "dst": {{"random": {{"min": "02:00:00:00:01:00", "max": "02:00:00:00:01:ff"}}}}}}, {}, {}]"#,
        common::IPV4,
        common::UDP
    ));
    let mut template = Template::new(&headers, &[64], 100, 0).expect("a template");
    template.set_destination(common::mac("02:00:00:00:aa:bb"));
    let mut cursor = template.cursor();
    for flow in 0..100 {
        let mut slot = [0; 60];
        template.write(&mut cursor, 0, 0, &mut slot);
        assert_eq!(slot[..6], [2, 0, 0, 0, 0xaa, 0xbb], "flow {flow}");
        assert_eq!(slot[..], template.frame(flow, 0, 0, 0));
    }
}

#[test]
fn the_tags_of_a_flow_are_those_of_its_frames() {
    let headers = over_ethernet(&[
        r#"{"type": "vlan", "tpid": 39321, "vid": 7, "pcp": 1}"#,
        r#"{"type": "vlan", "vid": {"list": [10, 20]}, "dei": true}"#,
        common::IPV4,
        common::UDP,
    ]);
    let template = Template::new(&headers, &[128], 2, 0).expect("a template");
    let tags: Vec<(u16, u16)> = template.tags(1).iter().map(|tag| (tag.tpid, tag.tci)).collect();
    assert_eq!(tags, [(0x9999, 0x2007), (0x8100, 0x1014)]);
}

/// The VLANs of a template's first `flows` flows, outermost identifiers first; none if they are more than `most`.
fn vlans(tags: &[&str], flows: u32, most: usize) -> Option<Vec<Vec<u16>>> {
    let headers = over_ethernet(&[tags, &[common::IPV4, common::UDP]].concat());
    let template = Template::new(&headers, &[128], flows, 1).expect("a template");
    let found = template.vlans(most)?;
    let vids = |tags: &Vec<Tag>| tags.iter().map(|tag| tag.vid()).collect();
    Some(found.iter().map(vids).collect())
}

fn listed(vids: &[u16]) -> String {
    format!(r#"{{"type": "vlan", "vid": {{"list": {vids:?}}}}}"#)
}

fn drawn(min: u16, max: u16, seed: &str) -> String {
    format!(r#"{{"type": "vlan", "vid": {{"random": {{"min": {min}, "max": {max}{seed}}}}}}}"#)
}

#[test]
fn every_vlan_is_found_however_late_its_first_flow_comes() {
    assert_eq!(vlans(&[], 1 << 27, 1), Some(vec![vec![]]), "none, without a tag");
    let late = listed(&[vec![10; 70_000], vec![20]].concat());
    assert_eq!(vlans(&[&late], 70_000, 256), Some(vec![vec![10]]));
    assert_eq!(vlans(&[&late], 1 << 27, 256), Some(vec![vec![10], vec![20]]));
    // The rare one comes 700 times, each with one of ten draws: one of these is never drawn with a probability of 10 * 0.9^700.
    let (rare, many) = (listed(&[vec![1; 99_999], vec![2]].concat()), drawn(5, 14, ""));
    let found = vlans(&[&rare, &many], 70_000_000, 256).expect("twenty");
    let of = |outer| found.iter().filter(|pair| pair[0] == outer).count();
    assert_eq!((of(1), of(2)), (10, 10));
}

/// Two tags move together: which pairs there are follows from their periods (2 and 4 have 4 moments, 2 and 3 have 6).
#[test]
fn the_vlans_of_two_tags_are_the_pairs_that_come() {
    let (two, three, four) = (listed(&[1, 2]), listed(&[3, 4, 5]), listed(&[3, 4, 5, 6]));
    let pairs = |found: &[[u16; 2]]| Some(found.iter().map(|pair| pair.to_vec()).collect::<Vec<_>>());
    assert_eq!(
        vlans(&[&two, &four], 1000, 256),
        pairs(&[[1, 3], [2, 4], [1, 5], [2, 6]]),
        "in order of flows"
    );
    let all = [[1, 3], [2, 4], [1, 5], [2, 3], [1, 4], [2, 5]];
    assert_eq!(vlans(&[&two, &three], 1000, 6), pairs(&all));
    assert_eq!(vlans(&[&two, &three], 1000, 5), None);
    assert_eq!(vlans(&[&two, &three], 5, 6), pairs(&all[..5]), "no more than there are flows");
    let same = drawn(100, 119, r#", "seed": 7"#);
    let found = vlans(&[&same, &same], 100_000, 256).expect("twenty");
    assert!(found.len() == 20 && found.iter().all(|pair| pair[0] == pair[1]), "{found:?}");
}

/// The pairs that the frames themselves have, flow by flow: destination and outermost VLAN.
fn in_frames(template: &Template, flows: u32) -> Vec<(Mac, Vec<u16>)> {
    let mut found = Vec::new();
    for flow in 0..flows {
        let frame = template.frame(flow, 0, 0, 0);
        let tagged = frame[12..14] == [0x81, 0];
        let vid = tagged.then(|| u16::from_be_bytes([frame[14], frame[15]]) & 0xfff);
        let pair = (Mac(*frame.first_chunk().expect("six bytes")), vid.into_iter().collect());
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}

#[test]
fn destinations_are_those_of_the_frames_each_once() {
    let ethernet = |dst: &str| format!(r#"{{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": {dst}}}"#);
    let one = ethernet(r#""02:00:00:00:00:02""#);
    let three = ethernet(r#"{"step": {"start": "02:00:00:00:01:00", "step": 1, "count": 3}}"#);
    let drawn_macs = ethernet(r#"{"random": {"min": "02:00:00:00:01:00", "max": "02:00:00:00:01:0f"}}"#);
    let ports = r#"{"type": "udp", "sport": {"step": {"start": 1, "step": 1, "count": 60000}}, "dport": 12}"#;
    let tag = listed(&[5, 6]);
    for (stack, flows, many) in [
        (vec![&*one, common::IPV4, ports], 5000, 1),
        (vec![&*three, common::IPV4, ports], 5000, 3),
        (vec![&*three, common::IPV4, ports], 2, 2),
        // A moment each of 2 and 3: six.
        (vec![&*three, &*tag, common::IPV4, ports], 5000, 6),
        (vec![&*one, &*tag, common::IPV4, ports], 5000, 2),
        (vec![&*drawn_macs, common::IPV4, ports], 5000, 16),
    ] {
        let headers: Vec<_> = stack.iter().map(|text| serde_json::from_str(text).expect("a header")).collect();
        let template = Template::new(&headers, &[128], flows, 3).expect("a template");
        let found: Vec<_> = template.destinations(u32::MAX).collect();
        let vids: Vec<(Mac, Vec<u16>)> = found
            .iter()
            .map(|(mac, tags)| (*mac, tags.iter().map(|tag| tag.vid()).collect()))
            .collect();
        assert_eq!(vids, in_frames(&template, flows), "{stack:?}");
        assert_eq!(vids.len(), many, "{stack:?}");
        assert_eq!(template.destinations(1).count(), 1);
    }
}

/// All flows of the largest trial have the destination of the first: nothing else is to be looked at. Looking at
/// each takes minutes.
#[test]
fn the_one_destination_of_very_many_flows_is_found_at_once() {
    let template = Template::new(&over_ethernet(&[common::IPV4, common::UDP]), &[128], 1 << 27, 0).expect("a template");
    for _ in 0..10_000 {
        assert_eq!(template.destinations(u32::MAX).count(), 1);
    }
}
