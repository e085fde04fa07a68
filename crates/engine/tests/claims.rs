//! What a trial claims of an interface that it shares with the kernel: its frames, whatever a device did to them, and no
//! frame of the kernel's own.

use netdyno_engine::claims;
use netdyno_engine::spec::TrialSpec;
use netdyno_frame::arp::Arp;
use netdyno_frame::icmp;
use netdyno_frame::nd::Neighbour;
use netdyno_frame::parse::Tag;
use netdyno_frame::spec::{Header, Mac};
use netdyno_frame::template::Template;
use netdyno_io::claim::Claim;
use serde_json::{Value, json};

const HERE: &str = "02:00:00:00:00:01";
const THERE: &str = "02:00:00:00:00:0a";

fn ethernet() -> Value {
    json!({"type": "ethernet", "src": HERE, "dst": THERE})
}

fn ipv4() -> Vec<Value> {
    let address = |network: &str| json!({"random": {"min": format!("{network}.0.0.1"), "max": format!("{network}.255.255.254")}});
    vec![
        ethernet(),
        json!({"type": "ipv4", "src": address("16"), "dst": address("48")}),
        json!({"type": "udp", "sport": 1025, "dport": 12}),
    ]
}

fn spec(headers: &[Value]) -> TrialSpec {
    serde_json::from_value(json!({
        "seed": 1,
        "streams": [{
            "name": "west-east", "tx_port": 0, "rx_port": 1, "headers": headers, "destination": "written",
            "sizes": [{"size": 128, "weight": 1}, {"size": 300, "weight": 1}], "flows": 1000, "schedule": [],
        }],
        "ports": [
            {"mac": HERE, "ipv4": "100.64.0.2/30", "ipv6": "fd00:64::2", "vlans": [{"tags": [{"vid": 7}], "ipv4": "10.7.0.2"}]},
            {"mac": "02:00:00:00:00:02", "ipv4": "100.64.1.2"},
        ],
        "settle_ns": 0, "drain_ns": 0, "sample_ns": 100_000_000,
    }))
    .expect("a trial")
}

/// Frames of the stream: of several flows, sizes, sequences and times.
fn frames(headers: &[Value]) -> Vec<Vec<u8>> {
    let headers: Vec<Header> = serde_json::from_value(json!(headers)).expect("headers");
    let template = Template::new(&headers, &[128, 300], 1000, 1).expect("a template");
    (0..1000)
        .step_by(37)
        .map(|flow| template.frame(flow, u64::from(flow) * 7, flow as usize % 2, u64::from(flow) * 123_456_789_012))
        .collect()
}

fn claimed(claims: &[Claim], frame: &[u8]) -> bool {
    claims.iter().any(|claim| claim.holds(frame))
}

/// `frame` with `bytes` in place of `range`.
fn splice(frame: &[u8], range: std::ops::Range<usize>, bytes: &[u8]) -> Vec<u8> {
    [&frame[..range.start], bytes, &frame[range.end..]].concat()
}

#[test]
fn changed_test_frames_are_claimed_at_every_port() {
    let claims = claims(&spec(&ipv4()));
    for frame in frames(&ipv4()) {
        let mut routed = splice(&frame, 0..12, &[0x02; 12]);
        routed[22] -= 1; // the TTL
        let ways: [(&str, Vec<u8>); 7] = [
            ("as sent", frame.clone()),
            ("routed", routed.clone()),
            ("tagged", splice(&routed, 12..12, &[0x81, 0, 0xe0, 100])),
            ("tagged twice", splice(&routed, 12..12, &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2])),
            ("a label", splice(&routed, 12..14, &[0x88, 0x47, 0, 1, 0x01, 64])),
            (
                "a tag and three labels",
                splice(
                    &routed,
                    12..14,
                    &[0x81, 0, 0, 9, 0x88, 0x47, 0, 1, 0, 64, 0, 2, 0, 64, 0, 3, 0x01, 64],
                ),
            ),
            ("translated", splice(&routed, 26..36, &[203, 0, 113, 7, 192, 0, 2, 9, 0xc0, 0x01])),
        ];
        for (what, frame) in &ways {
            for (port, claims) in claims.iter().enumerate() {
                assert!(claimed(claims, frame), "{what}, port {port}");
            }
        }
        // A broken probe: known by what the stream's frames share, where they should arrive.
        let mut broken = routed;
        broken[47] ^= 0x20;
        assert!(claimed(&claims[1], &broken) && !claimed(&claims[0], &broken));
    }
}

#[test]
fn every_kind_of_header_stack_is_claimed() {
    let ipv6 = json!({"type": "ipv6", "src": "2001:2::1", "dst": "2001:2:0:8000::1"});
    let udp = json!({"type": "udp", "sport": 1025, "dport": 12});
    let tcp = json!({"type": "tcp", "sport": 1025, "dport": 12});
    let v4 = json!({"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"});
    let vlan = json!({"type": "vlan", "vid": 7});
    let mpls = json!({"type": "mpls", "label": 100});
    let vxlan = json!({"type": "udp", "sport": 1025, "dport": 4789});
    let word = json!({"type": "control_word"});
    let (pppoe, ppp) = (json!({"type": "pppoe", "session": 9}), json!({"type": "ppp"}));
    let srh = json!({"type": "srh", "segments": ["2001:2:0:8000::1"]});
    let tunnel = json!({"type": "udp", "sport": 2152, "dport": 2152, "checksum": false});
    let last = json!({"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1", "offset": 1480, "protocol": 17});
    let stacks: [&[&Value]; 16] = [
        &[&mpls, &ethernet(), &v4, &udp],
        &[&vlan, &mpls, &mpls, &word, &ethernet(), &ipv6, &udp],
        &[&mpls, &word, &ethernet()],
        &[&vlan, &pppoe, &ppp, &v4, &udp],
        &[&pppoe, &ppp, &mpls, &ipv6, &tcp],
        &[&ipv6, &srh, &v4, &udp],
        &[&v4, &tunnel, &json!({"type": "gtpu", "teid": 1}), &v4, &udp],
        &[&last],
        &[&ipv6, &udp],
        &[&vlan, &vlan, &v4, &tcp],
        &[&mpls, &v4, &udp],
        &[&vlan, &mpls, &mpls, &mpls, &mpls, &v4, &udp],
        &[&v4, &vxlan, &json!({"type": "vxlan", "vni": 5}), &ethernet(), &v4, &udp],
        &[&v4, &json!({"type": "gre"}), &ipv6, &udp],
        &[&vlan],
        &[],
    ];
    for stack in stacks {
        let headers: Vec<Value> = [ethernet()].into_iter().chain(stack.iter().map(|&header| header.clone())).collect();
        let claims = claims(&spec(&headers));
        for frame in frames(&headers) {
            assert!(claims.iter().all(|claims| claimed(claims, &frame)), "{headers:?}");
        }
        // Out of its tunnel again.
        if let Some(inner) = stack
            .iter()
            .rposition(|header| matches!(header["type"].as_str(), Some("ipv4" | "ipv6")))
        {
            let headers: Vec<Value> = [ethernet()]
                .into_iter()
                .chain(stack[inner..].iter().map(|&it| it.clone()))
                .collect();
            for frame in frames(&headers) {
                assert!(claimed(&claims[1], &frame), "{headers:?}");
            }
        }
    }
}

#[test]
fn what_is_asked_of_the_tester_is_claimed_by_the_port_that_is_asked() {
    let claims = claims(&spec(&ipv4()));
    let (here, there): (Mac, Mac) = (HERE.parse().unwrap(), THERE.parse().unwrap());
    let tag = [Tag { tpid: 0x8100, tci: 5 }];
    let v4 = |text: &str| text.parse().unwrap();
    let v6 = |text: &str| text.parse().unwrap();
    let question = Arp::request(&tag, there, v4("100.64.0.1"), v4("100.64.0.2"));
    let answer = Arp::request(&[], here, v4("100.64.0.2"), v4("100.64.0.1")).reply(there);
    let solicitation = Neighbour::solicitation(&[], there, v6("fd00:64::1"), v6("fd00:64::2"));
    let advertisement = Neighbour::solicitation(&tag, here, v6("fd00:64::2"), v6("fd00:64::1")).reply(there, true);
    // An echo request with an empty identifier and data, 60 bytes; its IPv4 checksum is not looked at here.
    let mut echo = splice(&[0; 60], 0..14, &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 10, 8, 0]);
    echo[14] = 0x45;
    echo[23] = 1;
    echo[26..34].copy_from_slice(&[100, 64, 0, 1, 100, 64, 0, 2]);
    echo[34] = 8;
    let heard = [
        question.build(),
        answer.build(),
        solicitation.build(),
        advertisement.build(),
        echo.clone(),
    ];
    for frame in &heard {
        assert!(claimed(&claims[0], frame) && !claimed(&claims[1], frame), "{frame:02x?}");
    }
    // The same to the machine's own address on that port, and an answer to its own question.
    let question = Arp::request(&[], there, v4("100.64.0.1"), v4("100.64.0.3"));
    let answer = Arp::request(&[], here, v4("100.64.0.3"), v4("100.64.0.1")).reply(there);
    echo[33] = 3;
    let mut reply = echo.clone();
    reply[33] = 2;
    reply[34] = 0;
    assert_eq!(icmp::echo_target(&reply), None);
    for frame in [question.build(), answer.build(), echo, reply] {
        assert!(!claims.iter().any(|claims| claimed(claims, &frame)), "{frame:02x?}");
    }
}

/// Bytes given as hexadecimal digits, with spaces.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn protocols_of_the_kernel_are_left_to_it() {
    let claims = claims(&spec(&ipv4()));
    let frames = [
        (
            "OSPFv2 hello of BIRD to 224.0.0.5",
            "01005e000005 020000000001 0800 45c0004000000000 0159 d5f5 64400001 e0000005
             0201 002c 64400001 00000000 1d5d 0000 0000000000000000 fffffffc 0001 02 01 00000004 00000000 00000000",
        ),
        (
            "LLDP",
            "0180c200000e 02000000000a 88cc 0207 04 02000000000a 0403 03 6430 0602 0078 0000",
        ),
        (
            "LACP",
            "0180c2000002 02000000000a 8809 01010114 ffff 02000000000a 000100ff0001 3d000000",
        ),
        (
            "BGP keepalive over TCP, with time stamps",
            "020000000001 02000000000a 0800 45c00047 1234 4000 01 06 0000 64400001 64400002
             00b3 c001 00000001 00000002 8018 01f6 0000 0000 0101 080a 0000000100000002
             ffffffffffffffffffffffffffffffff 0013 04",
        ),
        (
            "BFD to the tester's network",
            "020000000001 02000000000a 0800 45c00034 0000 4000 ff 11 0000 64400001 64400002
             c000 0ec8 0020 0000 20c00318 00000001 00000000 000f4240 000f4240 00000000",
        ),
        (
            "DHCP discover, its beginning",
            "ffffffffffff 02000000000a 0800 45000148 0000 0000 80 11 39a6 00000000 ffffffff
             0044 0043 0134 0000 01010600 3903f326 00000000 00000000 00000000 00000000",
        ),
    ];
    for (what, text) in frames {
        let frame = hex(text);
        for (port, claims) in claims.iter().enumerate() {
            assert!(!claimed(claims, &frame), "{what}, port {port}");
        }
    }
}

#[test]
fn streams_of_the_same_shape_are_claimed_once() {
    let mut many = spec(&ipv4());
    many.streams = vec![many.streams[0].clone(); 200];
    let (one, many) = (claims(&spec(&ipv4())), claims(&many));
    assert_eq!(one[0], many[0]);
    assert!(many[1].len() <= one[1].len() + 1, "{} and {}", many[1].len(), one[1].len());
}

/// What is heard of next hops and on VLANs with addresses of their own, as of the port's own address.
#[test]
fn what_a_next_hop_says_of_itself_is_claimed_and_what_others_say_is_not() {
    let mut value = serde_json::to_value(spec(&ipv4())).expect("JSON");
    value["streams"][0]["destination"] = json!({"gateway": "100.64.0.1"});
    value["ports"][0]["gateway"] = json!("fe80::1");
    value["ports"][0]["vlans"] = json!([{"tags": [{"vid": 7}], "ipv4": "100.65.0.2/30", "gateway": "100.65.0.1"}]);
    let claims = &claims(&serde_json::from_value(value).expect("a trial"))[0];
    let (router, tags) = (THERE.parse::<Mac>().unwrap(), [Tag { tpid: 0x8100, tci: 7 }]);
    let takes_over = |address: &str, tags: &[Tag]| Arp::gratuitous(tags, router, address.parse().unwrap()).build();
    let advertises = |address: &str| Neighbour::announcement(&[], router, address.parse().unwrap()).build();
    let ours = "fe80::ff:fe00:1".parse().unwrap();
    let probed = Neighbour::poll(&[], router, "fe80::1".parse().unwrap(), ours, HERE.parse().unwrap()).build();
    let on_vlan = Arp::request(&tags, router, "100.65.0.1".parse().unwrap(), "100.65.0.2".parse().unwrap()).build();
    for frame in [
        takes_over("100.64.0.1", &[]),
        takes_over("100.65.0.1", &tags),
        advertises("fe80::1"),
        probed,
        on_vlan,
    ] {
        assert!(claimed(claims, &frame), "{frame:02x?}");
    }
    for frame in [takes_over("100.64.0.9", &[]), advertises("fe80::9")] {
        assert!(!claimed(claims, &frame), "{frame:02x?}");
    }
}

#[test]
fn frames_to_its_udp_ports_are_claimed_for_it_and_networks_behind_it() {
    let mut spec = spec(&ipv4());
    spec.ports[0].listens = vec![50_520];
    spec.ports[0].behind = vec!["192.0.2.128/25".to_owned(), "nonsense".to_owned()];
    let datagram = |to: [u8; 4], port: u16| {
        let mut frame = Vec::new();
        etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 0x0a], [2, 0, 0, 0, 0, 1])
            .ipv4([100, 64, 1, 2], to, 63)
            .udp(50_520, port)
            .write(&mut frame, b"hello")
            .expect("a frame");
        frame
    };
    let found = claims(&spec);
    for (to, port, ours) in [
        ([100, 64, 0, 2], 50_520, true),
        ([192, 0, 2, 128], 50_520, true),
        ([192, 0, 2, 255], 50_520, true),
        ([192, 0, 2, 127], 50_520, false),
        ([192, 0, 3, 128], 50_520, false),
        ([192, 0, 2, 128], 50_521, false),
    ] {
        assert_eq!(claimed(&found[0], &datagram(to, port)), ours, "{to:?} {port}");
        assert!(!claimed(&found[1], &datagram(to, port)), "the other port listens at nothing");
    }
}
