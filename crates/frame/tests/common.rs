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
    ];
    gallery.push(("varying macs", stack(&format!("[{macs}, {vids}, {random4}, {ports}]"))));
    gallery
}
