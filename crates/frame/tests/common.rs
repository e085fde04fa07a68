//! Stacks and shorthands shared by the tests.
#![allow(missing_docs)]

use netdyno_frame::spec::{Header, Mac};

/// A stack as a plan gives it.
pub fn stack(json: &str) -> Vec<Header> {
    serde_json::from_str(json).expect("a stack")
}

pub fn mac(text: &str) -> Mac {
    text.parse().expect("a MAC address")
}

pub const ETHERNET: &str = r#"{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}"#;
pub const IPV4: &str = r#"{"type": "ipv4", "src": "198.18.1.2", "dst": "198.19.1.2"}"#;
pub const IPV6: &str = r#"{"type": "ipv6", "src": "2001:2::1:2", "dst": "2001:2:0:1::2"}"#;
pub const UDP: &str = r#"{"type": "udp", "sport": 49184, "dport": 7}"#;
pub const TCP: &str = r#"{"type": "tcp", "sport": 1025, "dport": 80}"#;
pub const VXLAN: &str = r#"{"type": "udp", "sport": 50000, "dport": 4789}, {"type": "vxlan", "vni": 5001}"#;

/// Ethernet, then these.
pub fn over_ethernet(rest: &[&str]) -> Vec<Header> {
    let mut all = vec![ETHERNET];
    all.extend(rest);
    stack(&format!("[{}]", all.join(", ")))
}

/// Named stacks: one for each header type and kind of nesting.
pub fn gallery() -> Vec<(&'static str, Vec<Header>)> {
    let vlan = r#"{"type": "vlan", "vid": 100, "pcp": 5}"#;
    let service = r#"{"type": "vlan", "tpid": 34984, "vid": 4095, "dei": true}"#;
    let odd = r#"{"type": "vlan", "tpid": 39321, "vid": 7}"#;
    let label = r#"{"type": "mpls", "label": 16, "tc": 3, "ttl": 63}"#;
    let last = r#"{"type": "mpls", "label": 1048575}"#;
    let pseudowire = r#"{"type": "mpls", "label": 777}"#;
    let gre = r#"{"type": "gre"}"#;
    let keyed = r#"{"type": "gre", "key": 3735928559}"#;
    let echo = r#"{"type": "echo", "id": 4660}"#;
    let random4 = r#"{"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}},
        "dst": {"random": {"min": "48.0.0.1", "max": "48.255.255.254"}}, "dscp": 46, "ttl": 10}"#;
    let ports = r#"{"type": "udp", "sport": {"random": {"min": 1024, "max": 65535}}, "dport": {"list": [12, 13, 99]}}"#;
    let random_ports = r#"{"type": "udp", "sport": {"random": {"min": 1024, "max": 65535}},
        "dport": {"random": {"min": 0, "max": 65535}}}"#;
    let source4 = r#"{"type": "ipv4", "src": {"random": {"min": "0.0.0.0", "max": "255.255.255.255"}}, "dst": "48.0.0.1"}"#;
    let step4 = r#"{"type": "ipv4", "src": {"step": {"start": "16.0.0.1", "step": 256, "count": 7}}, "dst": "48.0.0.1"}"#;
    let random6 = r#"{"type": "ipv6", "src": {"random": {"min": "2001:2::", "max": "2001:2:0:0:ffff:ffff:ffff:ffff"}},
        "dst": {"random": {"min": "2001:2::", "max": "2001:2:0:ffff:ffff:ffff:ffff:ffff"}}, "dscp": 10, "flow_label": 74565}"#;
    let steps6 = r#"{"type": "ipv6", "src": {"list": ["2001:2::1", "2001:2:0:7::2", "2001:2::3"]},
        "dst": {"step": {"start": "2001:2:0:1::fffe", "step": 65537, "count": 9}}}"#;
    let open = r#"{"type": "udp", "sport": 1025, "dport": 12, "checksum": false}"#;
    let tunnel = r#"{"type": "udp", "sport": {"random": {"min": 49152, "max": 65535}}, "dport": 4789, "checksum": false},
        {"type": "vxlan", "vni": {"step": {"start": 5000, "step": 1, "count": 3}}}"#;
    let vids = r#"{"type": "vlan", "vid": {"step": {"start": 100, "step": 1, "count": 5}}, "pcp": 7}"#;
    let labels = r#"{"type": "mpls", "label": {"random": {"min": 16, "max": 1048575}}}"#;
    let macs = r#"{"type": "ethernet", "src": {"step": {"start": "02:00:00:00:01:00", "step": 1, "count": 11}},
        "dst": {"list": ["02:00:00:00:02:00", "02:00:00:00:02:01"]}}"#;
    let control = r#"{"type": "mpls", "label": 888}, {"type": "control_word", "sequence": 9}"#;
    let pppoe = r#"{"type": "pppoe", "session": {"step": {"start": 17, "step": 1, "count": 5}}}, {"type": "ppp"}"#;
    let hop_by_hop = r#"{"type": "hop_by_hop", "options": "05 02 00 00"}"#;
    let options = r#"{"type": "destination_options", "size": 24}"#;
    let routing = r#"{"type": "routing", "routing_type": 2, "segments_left": 1, "addresses": ["2001:2:0:9::1"]}"#;
    let visited = r#"{"type": "routing"}"#;
    let atomic = r#"{"type": "fragment", "id": {"random": {"min": 0, "max": 4294967295}}}"#;
    let srh = r#"{"type": "srh", "segments": ["2001:2:0:1::2", "2001:2:0:8::2", "2001:2:0:9::2"], "tag": 77}"#;
    let arrived = r#"{"type": "srh", "segments": ["2001:2:0:8::2", "2001:2:0:1::2"], "segments_left": 0}"#;
    let gtpu = r#"{"type": "udp", "sport": 2152, "dport": 2152, "checksum": false},
        {"type": "gtpu", "teid": {"random": {"min": 1, "max": 4294967295}}}"#;
    let session = r#"{"type": "udp", "sport": 2152, "dport": 2152}, {"type": "gtpu", "teid": 305419896, "qfi": 9}"#;
    let varied4 = r#"{"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}, "dst": "48.0.0.1",
        "dscp": {"list": [0, 46, 10]}, "ttl": {"random": {"min": 1, "max": 255}}, "df": {"list": [true, false]},
        "id": {"step": {"start": 65000, "step": 7, "count": 70}}}"#;
    let varied6 = r#"{"type": "ipv6", "src": "2001:2::1:2", "dst": "2001:2:0:1::2", "flow_label": 1048575,
        "dscp": {"random": {"min": 0, "max": 63}}, "hop_limit": {"step": {"start": 3, "step": 50, "count": 5}}}"#;
    let last4 = r#"{"type": "ipv4", "src": "198.18.1.2", "dst": "198.19.1.2", "offset": 1480, "id": {"list": [7, 8, 9]}, "protocol": 17}"#;
    let last6 = r#"{"type": "fragment", "offset": 1448, "id": 99, "protocol": 17}"#;
    let mut gallery = vec![
        ("raw ethernet", over_ethernet(&[])),
        ("raw vlan", over_ethernet(&[vlan])),
        ("ipv4 udp", over_ethernet(&[IPV4, UDP])),
        ("ipv4 udp without checksum", over_ethernet(&[random4, open])),
        ("ipv4 tcp", over_ethernet(&[IPV4, TCP])),
        ("ipv4 echo", over_ethernet(&[IPV4, echo])),
        ("ipv4 alone", over_ethernet(&[IPV4])),
        ("ipv6 udp", over_ethernet(&[IPV6, UDP])),
        ("ipv6 tcp", over_ethernet(&[IPV6, TCP])),
        ("ipv6 echo", over_ethernet(&[IPV6, echo])),
        ("vlan ipv4 udp", over_ethernet(&[vlan, IPV4, UDP])),
        ("qinq ipv6 udp", over_ethernet(&[service, vlan, IPV6, UDP])),
        ("three tags", over_ethernet(&[odd, service, vids, random4, ports])),
        ("random ipv4 udp", over_ethernet(&[random4, ports])),
        ("random ipv4, same ports", over_ethernet(&[random4, UDP])),
        ("random ipv4, random ports", over_ethernet(&[random4, random_ports])),
        ("random source alone", over_ethernet(&[source4, UDP])),
        ("stepped ipv4 tcp", over_ethernet(&[step4, TCP])),
        ("stepped ipv4 udp", over_ethernet(&[step4, ports])),
        ("random ipv6 udp", over_ethernet(&[random6, ports])),
        ("listed ipv6 echo", over_ethernet(&[steps6, echo])),
        ("mpls ipv4 udp", over_ethernet(&[label, labels, random4, ports])),
        ("mpls ipv6 tcp", over_ethernet(&[last, IPV6, TCP])),
        ("mpls ethernet", over_ethernet(&[label, pseudowire, ETHERNET, IPV4, UDP])),
        ("gre ipv4 udp", over_ethernet(&[IPV4, gre, random4, ports])),
        ("gre key ipv6 tcp", over_ethernet(&[IPV4, keyed, IPV6, TCP])),
        ("gre ethernet", over_ethernet(&[IPV6, gre, ETHERNET, vlan, step4, UDP])),
        ("gre mpls", over_ethernet(&[IPV4, gre, last, random4, UDP])),
        ("vxlan", over_ethernet(&[IPV4, tunnel, macs, random4, ports])),
        ("vxlan with checksum", over_ethernet(&[step4, VXLAN, macs, vids, random4, TCP])),
        ("vxlan over ipv6", over_ethernet(&[random6, VXLAN, ETHERNET, random6, ports])),
        ("ipv4 in ipv6", over_ethernet(&[IPV6, step4, UDP])),
        ("ipv6 in ipv4", over_ethernet(&[random4, IPV6, echo])),
        ("control word", over_ethernet(&[label, control, ETHERNET, random4, ports])),
        ("control word, short", over_ethernet(&[control, ETHERNET])),
        (
            "control word, tagged",
            over_ethernet(&[vlan, labels, control, macs, vids, IPV6, TCP]),
        ),
        ("pppoe ipv4 udp", over_ethernet(&[vlan, pppoe, random4, ports])),
        ("pppoe ipv6 tcp", over_ethernet(&[pppoe, random6, TCP])),
        ("pppoe mpls", over_ethernet(&[pppoe, labels, IPV4, UDP])),
        ("hop-by-hop", over_ethernet(&[random6, hop_by_hop, ports])),
        ("destination options", over_ethernet(&[IPV6, options, echo])),
        ("routing", over_ethernet(&[random6, routing, ports])),
        ("routing, all visited", over_ethernet(&[IPV6, visited, TCP])),
        ("atomic fragment", over_ethernet(&[IPV6, atomic, UDP])),
        (
            "extension chain",
            over_ethernet(&[random6, hop_by_hop, options, routing, atomic, options, ports]),
        ),
        ("srv6 ipv4", over_ethernet(&[IPV6, srh, random4, ports])),
        ("srv6 udp", over_ethernet(&[random6, srh, ports])),
        ("srv6 echo, arrived", over_ethernet(&[random6, arrived, echo])),
        ("srv6 ethernet", over_ethernet(&[IPV6, srh, ETHERNET, step4, UDP])),
        ("gtpu", over_ethernet(&[IPV4, gtpu, random4, ports])),
        ("gtpu session ipv6", over_ethernet(&[step4, session, random6, TCP])),
        ("gtpu over ipv6", over_ethernet(&[random6, session, random4, ports])),
        ("varied ipv4", over_ethernet(&[varied4, ports])),
        ("varied ipv4 alone", over_ethernet(&[varied4])),
        ("varied ipv6", over_ethernet(&[varied6, UDP])),
        ("varied tunnel", over_ethernet(&[varied6, varied4, TCP])),
        (
            "ospf",
            over_ethernet(&[r#"{"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1", "protocol": 89}"#]),
        ),
        ("last fragment", over_ethernet(&[last4])),
        ("last ipv6 fragment", over_ethernet(&[IPV6, hop_by_hop, last6])),
        (
            "opaque ethernet",
            stack(r#"[{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02", "ethertype": 34998}]"#),
        ),
        (
            "opaque vlan",
            over_ethernet(&[
                r#"{"type": "vlan", "vid": 7, "ethertype": 34998}"#,
                r#"{"type": "raw", "bytes": "02:07:04:00"}"#,
            ]),
        ),
        (
            "opaque shim",
            over_ethernet(&[r#"{"type": "raw", "bytes": "0102 0304 0506"}"#, random4, ports]),
        ),
        (
            "opaque ppp",
            over_ethernet(&[r#"{"type": "pppoe", "session": 1}, {"type": "ppp", "protocol": 49185}"#]),
        ),
        (
            "opaque udp",
            over_ethernet(&[random4, ports, r#"{"type": "raw", "bytes": "deadbeef"}"#]),
        ),
    ];
    gallery.push(("varying macs", stack(&format!("[{macs}, {vids}, {random4}, {ports}]"))));
    gallery
}
