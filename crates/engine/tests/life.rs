//! Life on the wire: next hops polled, followed and missed; own addresses announced, answered for and defended.

use crate::common::{MS, SECOND, Script, TESTER, THINKING, US, run, stream, trial};
use netdyno_engine::ANSWER_PS;
use netdyno_frame::arp::Arp;
use netdyno_frame::nd::{ALL_NODES, Message, Neighbour};
use netdyno_frame::parse::Tag;
use netdyno_frame::spec::Mac;
use netdyno_io::reason::Field;
use netdyno_io::time::Duration;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, Ipv6Addr};

const ROUTER: Mac = Mac([2, 0, 0, 0, 0, 0x0a]);
const OTHER: Mac = Mac([2, 0, 0, 0, 0, 0x0b]);
const HOP: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const OURS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
const QUANTUM: Duration = Duration::from_us(8);

fn vlan(vid: u16) -> Tag {
    Tag { tpid: 0x8100, tci: vid }
}

/// A router that answers ARP for its address by `mac`, if that has one at the time.
fn router(mac: impl Fn(u64) -> Option<Mac> + Send + 'static) -> Script {
    Box::new(move |at, frame| {
        let asked = Arp::parse(frame).filter(|arp| arp.is_request() && arp.target_ip == HOP);
        let answer = asked.zip(mac(at)).filter(|(arp, mac)| {
            let to_me = arp.destination == *mac || arp.destination == Mac([0xff; 6]);
            to_me && arp.sender_ip != HOP
        });
        answer.map(|(arp, mac)| arp.reply(mac).build()).into_iter().collect()
    })
}

fn to_hop(per_second: u64, seconds: u64) -> serde_json::Value {
    let stream = stream("west-west", json!({"gateway": HOP.to_string()}), per_second, seconds);
    trial(json!({"ipv4": "198.18.0.2/30"}), &[stream])
}

/// Asked at the begin; polled 10 s after each time it was heard; never more.
#[test]
fn a_next_hop_is_asked_again_now_and_then_alone() {
    let (found, far) = run(to_hop(100, 35), QUANTUM, false, Vec::new(), router(|_| Some(ROUTER)));
    assert_eq!(found.invalid, []);
    let hop = &found.next_hops[0];
    assert_eq!(
        (hop.port.as_str(), hop.address.as_str(), hop.mac.as_deref()),
        ("west", "198.18.0.1", Some("02:00:00:00:00:0a"))
    );
    assert_eq!((hop.polls, hop.heard, hop.changes.len(), hop.silences.len()), (3, 4, 0, 0));
    let said: Vec<Arp> = far.heard.iter().map(|(_, frame)| Arp::parse(frame).expect("ARP")).collect();
    assert_eq!(said.len(), 5, "announced, asked, polled three times: {said:?}");
    assert!(said[0].is_gratuitous() && said[0].sender_ip == OURS && said[0].destination == Mac([0xff; 6]));
    assert_eq!((said[1].destination, said[1].target_ip), (Mac([0xff; 6]), HOP));
    for poll in &said[2..] {
        assert_eq!((poll.destination, poll.source, poll.operation), (ROUTER, TESTER, 1));
        assert_eq!((poll.sender_ip, poll.target_ip, poll.target_mac), (OURS, HOP, Mac::default()));
    }
    // Heard 200 us and two frames on the line after each poll.
    for (earlier, later) in far.heard[2..].iter().zip(&far.heard[3..]) {
        let apart = later.0 - earlier.0;
        assert!((10 * SECOND + THINKING..10 * SECOND + THINKING + US).contains(&apart), "{apart}");
    }
    // None of it is counted as test traffic.
    let port = &found.ports[0];
    assert_eq!((port.own_frames, port.tx_frames), (5, 5 + 3500));
    assert_eq!((found.streams[0].offered, far.tests.len()), (3500, 3500));
}

#[test]
fn polls_can_be_turned_off() {
    let mut spec = to_hop(100, 35);
    spec["poll_ns"] = json!(0);
    let (found, far) = run(spec, QUANTUM, false, Vec::new(), router(|_| Some(ROUTER)));
    assert_eq!((found.next_hops[0].polls, far.heard.len()), (0, 2));
}

/// A backup router takes over and says so, as RFC 5227 or RFC 9568 has it: from there on frames are its.
#[test]
fn a_stream_follows_its_next_hop_to_another_mac_address() {
    let at = 5 * SECOND + 123;
    let follow = |quantum| {
        let takes_over = Arp::gratuitous(&[], OTHER, HOP).build();
        let script = router(move |now| Some(if now < at { ROUTER } else { OTHER }));
        run(to_hop(10_000, 8), quantum, false, vec![(at, takes_over)], script)
    };
    let (found, far) = follow(QUANTUM);
    assert_eq!((found.streams[0].offered, found.health.unsent), (80_000, 0));
    // 60 bytes, FCS and preamble take 57.6 ns at 10 Gbit/s. What departs later than an answer would, goes to the new one.
    let heard = at + 57_600;
    for &(departure, to, _) in &far.tests {
        assert_eq!(to, if departure < heard + ANSWER_PS { ROUTER } else { OTHER }, "{departure}");
    }
    let hop = &found.next_hops[0];
    assert_eq!(hop.mac.as_deref(), Some("02:00:00:00:00:0b"));
    assert_eq!(hop.changes.len(), 1);
    let change = &hop.changes[0];
    assert_eq!(
        (change.before.as_str(), change.after.as_str()),
        ("02:00:00:00:00:0a", "02:00:00:00:00:0b")
    );
    // Counted from the start of traffic, which began at the first departure.
    assert_eq!(change.at_ns, (heard as i64 - far.tests[0].0 as i64) / 1000);
    for quantum in [Duration::from_us(1), Duration::from_us(40)] {
        let (same, as_far) = follow(quantum);
        assert_eq!(same, found, "{quantum:?}");
        assert_eq!(as_far.tests, far.tests, "{quantum:?}");
    }
}

#[test]
fn a_next_hop_that_falls_silent_is_named_and_one_that_comes_back_too() {
    let script = router(|at| if at < 12 * SECOND { Some(ROUTER) } else { None });
    let (found, far) = run(to_hop(10, 30), QUANTUM, false, Vec::new(), script);
    assert_eq!(found.invalid, [], "it may forward all the same");
    let hop = &found.next_hops[0];
    assert_eq!(hop.silences.len(), 1);
    assert_eq!(hop.silences[0].until_ns, None);
    let near = |ns: i64, seconds: i64| (ns - seconds * 1_000_000_000).abs() < 10_000_000;
    assert!(near(hop.silences[0].from_ns, 20), "{:?}", hop.silences);
    // Polled at 10 s; at 20, 21 and 22 s alone, from then on with everybody.
    let polls: Vec<Mac> = far.heard[2..]
        .iter()
        .map(|(_, frame)| Arp::parse(frame).expect("ARP").destination)
        .collect();
    assert_eq!(polls[..4], [ROUTER; 4]);
    assert!(polls.len() >= 10 && polls[4..].iter().all(|&to| to == Mac([0xff; 6])), "{polls:?}");
    assert!(far.tests.iter().all(|&(_, to, _)| to == ROUTER));

    let script = router(|at| match at / SECOND {
        0..12 => Some(ROUTER),
        12..25 => None,
        _ => Some(OTHER),
    });
    let (found, far) = run(to_hop(10, 30), QUANTUM, false, Vec::new(), script);
    let hop = &found.next_hops[0];
    assert_eq!((hop.silences.len(), hop.changes.len()), (1, 1));
    assert!(near(hop.silences[0].until_ns.expect("it came back"), 25), "{:?}", hop.silences);
    assert_eq!(far.tests.last().expect("frames").1, OTHER);
}

/// RFC 1812 section 3.3.2: an ARP message that says a group address is not believed.
#[test]
fn group_address_belongs_to_no_host() {
    let group = Mac([0x01, 0, 0x5e, 0, 0, 1]);
    let lie = Arp::gratuitous(&[], group, HOP).build();
    let (found, far) = run(to_hop(100, 2), QUANTUM, false, vec![(SECOND, lie)], router(|_| Some(ROUTER)));
    assert_eq!(found.next_hops[0].changes, []);
    assert!(far.tests.iter().all(|&(_, to, _)| to == ROUTER));
}

#[test]
fn second_host_with_our_address_is_reported_and_contradicted_every_10_s() {
    let claims = (1..=24).map(|half| (half * SECOND / 2, Arp::gratuitous(&[], OTHER, OURS).build()));
    let (found, far) = run(to_hop(10, 14), QUANTUM, false, claims.collect(), router(|_| Some(ROUTER)));
    assert_eq!(found.conflicts.len(), 1);
    let conflict = &found.conflicts[0];
    assert_eq!(
        (conflict.port.as_str(), conflict.address.as_str(), conflict.mac.as_str()),
        ("west", "198.18.0.2", "02:00:00:00:00:0b")
    );
    let ours = far.heard.iter().filter_map(|(at, frame)| Some((at, Arp::parse(frame)?)));
    let announced: Vec<u64> = ours
        .filter(|(_, arp)| arp.is_gratuitous())
        .map(|(at, _)| at / (SECOND / 2))
        .collect();
    assert_eq!(announced, [0, 1, 21], "at the begin, at 0.5 s and 10 s after that");
}

/// On each VLAN the port is somebody else, asks by that address, and answers for no other.
#[test]
fn each_vlan_has_its_own_address_and_next_hop() {
    let tagged = |vid: u16| {
        let mut stream = stream(&format!("vlan{vid}"), json!({"gateway": format!("198.18.{vid}.1")}), 100, 1);
        stream["headers"]
            .as_array_mut()
            .expect("a list")
            .insert(1, json!({"type": "vlan", "vid": vid}));
        stream["sizes"] = json!([{"size": 68, "weight": 1}]);
        stream
    };
    let own = |vid: u16| json!({"tags": [{"vid": vid}], "ipv4": format!("198.18.{vid}.2/24")});
    let spec = trial(
        json!({"ipv4": "198.18.0.2", "vlans": [own(10), own(20)]}),
        &[tagged(10), tagged(20)],
    );
    let of = |vid: u8| Mac([2, 0, 0, 0, 10, vid]);
    let script: Script = Box::new(move |_, frame| {
        let Some(arp) = Arp::parse(frame).filter(|arp| arp.is_request() && !arp.is_gratuitous()) else {
            return Vec::new();
        };
        let vid = arp.tags.first().map_or(0, |tag| tag.vid()) as u8;
        let right = arp.target_ip == Ipv4Addr::new(198, 18, vid, 1) && arp.sender_ip == Ipv4Addr::new(198, 18, vid, 2);
        right.then(|| arp.reply(of(vid)).build()).into_iter().collect()
    });
    // The far end asks for 198.18.10.2 where that is, and where it is not.
    let ask = |at: u64, tags: &[Tag]| {
        let request = Arp::request(tags, OTHER, Ipv4Addr::new(198, 18, 10, 9), Ipv4Addr::new(198, 18, 10, 2));
        (at * MS, request.build())
    };
    let says = vec![
        ask(100, &[vlan(10)]),
        ask(200, &[vlan(20)]),
        ask(300, &[]),
        ask(400, &[vlan(10), vlan(20)]),
    ];
    let (found, far) = run(spec, QUANTUM, false, says, script);
    assert_eq!(found.invalid, []);
    for vid in [10, 20] {
        let theirs: Vec<_> = far.tests.iter().filter(|test| test.2 == vid).collect();
        assert_eq!(theirs.len(), 96, "67,200 bits of 704 each");
        assert!(theirs.iter().all(|test| test.1 == of(vid as u8)));
    }
    let vlans: Vec<_> = found.next_hops.iter().map(|hop| (&hop.vlans[..], hop.address.as_str())).collect();
    assert_eq!(vlans, [(&[10_u16][..], "198.18.10.1"), (&[20_u16][..], "198.18.20.1")]);
    let replies: Vec<Arp> = far
        .heard
        .iter()
        .filter_map(|(_, frame)| Arp::parse(frame).filter(Arp::is_reply))
        .collect();
    assert_eq!(replies.len(), 1, "{replies:?}");
    assert_eq!((replies[0].tags.clone(), replies[0].destination), (vec![vlan(10)], OTHER));
}

/// A stream whose flows are on two VLANs asks on both, each by the address and for the next hop it has there; they must
/// be one box, for the stream goes to one MAC address.
#[test]
fn a_stream_on_several_vlans_asks_on_each() {
    let run_with = |mac_of: fn(u8) -> Mac| {
        let mut stream = stream("both", json!({"gateway": "198.18.10.1"}), 100, 1);
        stream["headers"]
            .as_array_mut()
            .expect("a list")
            .insert(1, json!({"type": "vlan", "vid": {"list": [10, 20]}}));
        stream["sizes"] = json!([{"size": 68, "weight": 1}]);
        stream["flows"] = json!(2);
        let own = |vid: u16| {
            let address = format!("198.18.{vid}.2/24");
            json!({"tags": [{"vid": vid}], "ipv4": address, "gateway": format!("198.18.{vid}.1")})
        };
        let spec = trial(json!({"ipv4": "198.18.0.2", "vlans": [own(10), own(20)]}), &[stream]);
        let script: Script = Box::new(move |_, frame| {
            let Some(arp) = Arp::parse(frame).filter(|arp| arp.is_request() && !arp.is_gratuitous()) else {
                return Vec::new();
            };
            let vid = arp.tags.first().map_or(0, |tag| tag.vid()) as u8;
            let right = arp.target_ip == Ipv4Addr::new(198, 18, vid, 1) && arp.sender_ip == Ipv4Addr::new(198, 18, vid, 2);
            right.then(|| arp.reply(mac_of(vid)).build()).into_iter().collect()
        });
        run(spec, QUANTUM, false, Vec::new(), script)
    };
    let (found, far) = run_with(|_| ROUTER);
    assert_eq!(found.invalid, []);
    let asked: Vec<_> = found.next_hops.iter().map(|hop| (&hop.vlans[..], hop.address.as_str())).collect();
    assert_eq!(asked, [(&[10_u16][..], "198.18.10.1"), (&[20_u16][..], "198.18.20.1")]);
    for vid in [10, 20] {
        let theirs = far.tests.iter().filter(|test| test.2 == vid);
        assert_eq!(theirs.filter(|test| test.1 == ROUTER).count(), 48, "half of the 96 each");
    }
    let (found, far) = run_with(|vid| Mac([2, 0, 0, 0, 10, vid]));
    let [why] = &found.invalid[..] else {
        panic!("one reason: {:?}", found.invalid)
    };
    assert_eq!(why.code, "next-hops-differ");
    let told = ["vlan", "mac", "other_vlan", "other_mac"].map(|name| why.fields[name].clone());
    let right = ["10", "02:00:00:00:0a:0a", "20", "02:00:00:00:0a:14"].map(|it| Field::Text(it.to_owned()));
    assert_eq!(told, right);
    assert_eq!(far.tests.len(), 0, "nothing is sent");
}

/// A stream to `hop`, whose flows are on these VLANs, with a tester address on each of `known`.
fn on_vlans(hop: &str, vid: &Value, flows: u32, known: &[u16]) -> Value {
    let mut stream = stream("tagged", json!({"gateway": hop}), 100, 1);
    let tag = json!({"type": "vlan", "vid": vid});
    stream["headers"].as_array_mut().expect("a list").insert(1, tag);
    stream["sizes"] = json!([{"size": 68, "weight": 1}]);
    stream["flows"] = json!(flows);
    let own = |vid: &u16| json!({"tags": [{"vid": vid}], "ipv4": "198.18.0.2/30"});
    let own: Vec<_> = known.iter().map(own).collect();
    trial(json!({"ipv4": "198.18.0.2/30", "vlans": own}), &[stream])
}

/// The next hop is asked for on a VLAN that only the last of many flows is on, too.
#[test]
fn a_vlan_that_comes_late_is_asked_on_as_well() {
    let vids = [vec![10; 70_000], vec![20]].concat();
    let vids = json!({"list": vids});
    let (found, far) = run(
        on_vlans("198.18.0.1", &vids, 70_001, &[10, 20]),
        QUANTUM,
        false,
        Vec::new(),
        router(|_| Some(ROUTER)),
    );
    assert_eq!(found.invalid, []);
    let asked: Vec<_> = found.next_hops.iter().map(|hop| &hop.vlans[..]).collect();
    assert_eq!(asked, [&[10_u16][..], &[20]]);
    let heard = far
        .heard
        .iter()
        .filter_map(|(_, frame)| Arp::parse(frame).filter(|arp| !arp.is_gratuitous()));
    assert_eq!(heard.map(|arp| arp.tags[0].vid()).collect::<Vec<_>>(), [10, 20]);
}

#[test]
fn too_many_vlans_to_ask_on_are_refused() {
    let vids = json!({"step": {"start": 1, "step": 1, "count": 257}});
    let spec = serde_json::from_value(on_vlans("198.18.0.1", &vids, 1 << 20, &[])).expect("a trial");
    let link = netdyno_io::backend::LinkSpec::new("west", "far", 10_000_000_000, 1518);
    let (near, _far) = netdyno_io::backend::wire::pair(&link).expect("a cable");
    let refused = netdyno_engine::Trial::new(spec, vec![Box::new(near)]).expect_err("refused");
    let text = refused.error.to_string();
    assert!(
        text.starts_with("streams[0] (tagged): destination: its flows are on more than 256 VLANs"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_a_vlan_is_refused_with_its_place() {
    for (vlans, expected) in [
        (json!([{"tags": [{"vid": 4095}]}]), "there is no VLAN 4095"),
        (json!([{"tags": []}]), "has no tags"),
        (json!([{"tags": [{"vid": 5}]}, {"tags": [{"vid": 5}]}]), "VLAN 5 stands twice"),
        (json!([{"tags": [{"vid": 5}], "gateway": "198.18.5.1"}]), "no IPv4 address"),
    ] {
        let spec = trial(json!({"vlans": vlans}), &[stream("s", json!("peer"), 1, 1)]);
        let spec = serde_json::from_value(spec).expect("a trial");
        let (near, _far) =
            netdyno_io::backend::wire::pair(&netdyno_io::backend::LinkSpec::new("west", "far", 10_000_000_000, 1518)).expect("a cable");
        let refused = netdyno_engine::Trial::new(spec, vec![Box::new(near)]).expect_err("refused");
        let text = refused.error.to_string();
        assert!(text.contains("ports[0]") && text.contains(expected), "{text}");
    }
}

/// A router by its link-local address: asked from ours, which follows from the MAC address (RFC 4291 appendix A).
#[test]
fn an_ipv6_router_is_asked_by_its_link_local_address() {
    let hop: Ipv6Addr = "fe80::1".parse().unwrap();
    let ours: Ipv6Addr = "fe80::ff:fe00:1".parse().unwrap();
    let mut stream = stream("west-west", json!({"gateway": "fe80::1"}), 100, 15);
    stream["headers"][1] = json!({"type": "ipv6", "src": "2001:2:16::1", "dst": "2001:2:48::1"});
    stream["sizes"] = json!([{"size": 100, "weight": 1}]);
    let script: Script = Box::new(move |_, frame| {
        let asked = Neighbour::parse(frame).filter(|message| message.is_solicitation() && message.target == hop);
        asked.map(|message| message.reply(ROUTER, true).build()).into_iter().collect()
    });
    // Duplicate address detection of a newcomer who wants ours, then a router's unicast probe of us.
    let newcomer = Neighbour::solicitation(&[], OTHER, Ipv6Addr::UNSPECIFIED, ours).build();
    let probe = Neighbour::poll(&[], ROUTER, hop, ours, TESTER).build();
    let says = vec![(SECOND, newcomer), (2 * SECOND, probe)];
    let (found, far) = run(trial(json!({}), &[stream]), QUANTUM, false, says, script);
    assert_eq!(found.invalid, []);
    assert_eq!(found.resolved, [("fe80::1".to_owned(), ROUTER.to_string())]);
    let said: Vec<Neighbour> = far.heard.iter().map(|(_, frame)| Neighbour::parse(frame).expect("ND")).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    // RFC 4861 section 4.3: to the solicited-node address, with ours and our MAC address.
    assert_eq!((said[0].source, said[0].link_layer), (ours, Some(TESTER)));
    assert_eq!(
        (said[0].destination_mac, said[0].destination),
        (Mac([0x33, 0x33, 0xff, 0, 0, 1]), "ff02::1:ff00:1".parse().unwrap())
    );
    // Section 7.2.4: who asks without an address is answered with everybody, unsolicited; both override.
    let answer = |solicited| Message::Advertisement {
        router: false,
        solicited,
        overrides: true,
    };
    assert_eq!(
        (said[1].destination, said[1].message, said[1].target),
        (ALL_NODES, answer(false), ours)
    );
    assert_eq!((said[2].destination, said[2].message, said[2].target), (hop, answer(true), ours));
    // Section 7.3.3: the poll goes to the router alone, on layer 2 and 3; heard at 2 s, so it is due at 12 s.
    assert_eq!((said[3].destination_mac, said[3].destination, said[3].target), (ROUTER, hop, hop));
    assert_eq!(far.heard[3].0 / SECOND, 12);
}

/// RFC 4861 section 7.2.5: without the override flag an advertisement does not replace what is known.
#[test]
fn only_an_advertisement_that_overrides_moves_a_stream() {
    let hop: Ipv6Addr = "2001:2::1".parse().unwrap();
    for overrides in [false, true] {
        let mut stream = stream("west-west", json!({"gateway": "2001:2::1"}), 100, 2);
        stream["headers"][1] = json!({"type": "ipv6", "src": "2001:2:16::1", "dst": "2001:2:48::1"});
        stream["sizes"] = json!([{"size": 100, "weight": 1}]);
        let script: Script = Box::new(move |_, frame| {
            let asked = Neighbour::parse(frame).filter(|message| message.is_solicitation() && message.target == hop);
            asked.map(|message| message.reply(ROUTER, true).build()).into_iter().collect()
        });
        let mut says = Neighbour::announcement(&[], OTHER, hop);
        says.message = Message::Advertisement {
            router: true,
            solicited: false,
            overrides,
        };
        let spec = trial(json!({"ipv6": "2001:2::2/64"}), &[stream]);
        let (found, far) = run(spec, QUANTUM, false, vec![(SECOND, says.build())], script);
        assert_eq!(found.next_hops[0].changes.len(), usize::from(overrides));
        assert_eq!(far.tests.last().expect("frames").1, if overrides { OTHER } else { ROUTER });
    }
}

/// 14.88 Mpps stand without a gap on the line: a poll takes the place of one frame, and what follows it is late by that.
#[test]
fn on_a_full_line_an_own_frame_takes_one_frames_time() {
    let mut spec = to_hop(1, 1);
    spec["streams"][0]["schedule"] =
        json!([{"name": "traffic", "duration_ns": 4_000_000, "from_bps": 10_000_000_000_u64, "to_bps": 10_000_000_000_u64}]);
    spec["settle_ns"] = json!(1_000_000);
    spec["poll_ns"] = json!(2_000_000);
    let (found, far) = run(spec, QUANTUM, false, Vec::new(), router(|_| Some(ROUTER)));
    // 4 * 10^7 bits of 672.
    assert_eq!((found.streams[0].offered, found.health.unsent), (59_524, 0));
    let polls = found.next_hops[0].polls;
    assert!(polls >= 2, "{polls} polls");
    assert_eq!(found.ports[0].own_frames, 2 + polls);
    // 84 bytes at 10 Gbit/s are 67.2 ns.
    assert!(found.health.latest_departure_ns <= 67 * polls + polls, "{:?}", found.health);
    assert!(found.health.latest_departure_ns >= 67, "{:?}", found.health);
    let departures: Vec<u64> = far.tests.iter().map(|test| test.0).collect();
    assert!(departures.windows(2).all(|pair| pair[1] - pair[0] >= 67_200));
}

/// A router on a stick: what goes out of the only port comes back by it, and is counted as of any other port.
#[test]
fn one_port_sends_and_receives() {
    let (found, far) = run(to_hop(10_000, 1), QUANTUM, true, Vec::new(), router(|_| Some(ROUTER)));
    assert_eq!(found.invalid, []);
    let stream = &found.streams[0];
    assert_eq!(
        (stream.offered, stream.received, stream.lost, far.tests.len()),
        (10_000, 10_000, 0, 10_000)
    );
    // Out and in 57.6 ns each, and what the box thinks, to the nanosecond.
    let latency = stream.latency.as_ref().expect("timed");
    let expected = (2 * 57_600 + THINKING) / 1000;
    assert_eq!((latency.min_ns, latency.max_ns), (expected, expected));
    assert_eq!(found.ports.len(), 1);
    assert_eq!(found.ports[0].tx.iter().sum::<u64>(), 10_000);
    assert_eq!(found.ports[0].rx.iter().sum::<u64>(), 10_000);
}
