//! What cannot be built is refused, with the place, the reason and a way out.
#![allow(missing_docs)]

use crate::common;
use crate::common::{ETHERNET, IPV4, IPV6, TCP, UDP, over_ethernet, stack};
use netdyno_frame::FrameError;
use netdyno_frame::template::{Template, minimum_size};

fn refused(json: &str, size: u32) -> FrameError {
    Template::new(&stack(json), &[size], 1, 0).expect_err(json)
}

#[test]
fn each_mistake_names_place_reason_and_way_out() {
    let ethernet = |src: &str| format!(r#"{{"type": "ethernet", "src": {src}, "dst": "02:00:00:00:00:02"}}"#);
    let vlan = |vid: &str| format!(r#"[{ETHERNET}, {{"type": "vlan", "vid": {vid}}}, {IPV4}, {UDP}]"#);
    let udp = |sport: &str| format!(r#"[{ETHERNET}, {IPV4}, {{"type": "udp", "sport": {sport}, "dport": 7}}]"#);
    let mistakes = [
        ("[]".into(), "there are no headers (start with an ethernet header)"),
        (
            format!("[{IPV4}, {UDP}]"),
            "headers[0] (ipv4): a frame cannot begin with ipv4 (put an ethernet header first)",
        ),
        (
            format!("[{ETHERNET}, {UDP}]"),
            "headers[1] (udp): cannot follow ethernet (ethernet may be followed by vlan, pppoe, mpls, ipv4, ipv6, raw, nothing)",
        ),
        (
            format!(r#"[{ETHERNET}, {IPV4}, {{"type": "vlan", "vid": 1}}]"#),
            "headers[2] (vlan): cannot follow ipv4 (ipv4 may be followed by ipv4, ipv6, udp, tcp, echo, gre, raw, nothing)",
        ),
        (
            format!("[{ETHERNET}, {IPV4}, {TCP}, {UDP}]"),
            "headers[3] (udp): cannot follow tcp (tcp may be followed by raw, nothing)",
        ),
        (
            format!(r#"[{ETHERNET}, {{"type": "mpls", "label": 16}}]"#),
            "headers[1] (mpls): carries nothing (mpls may be followed by ethernet, mpls, control_word, ipv4, ipv6, raw)",
        ),
        (
            format!(r#"[{ETHERNET}, {IPV4}, {{"type": "udp", "sport": 1, "dport": 4789}}, {{"type": "vxlan", "vni": 1}}]"#),
            "headers[3] (vxlan): carries nothing (vxlan may be followed by ethernet, raw)",
        ),
        (
            format!(r#"[{ETHERNET}, {IPV6}, {{"type": "udp", "sport": 1, "dport": 2, "checksum": false}}]"#),
            "headers[2] (udp.checksum): UDP over IPv6 needs its checksum (leave `checksum` out)",
        ),
        (vlan("4096"), "headers[1] (vlan.vid): 4096 does not fit (at most 4095)"),
        (
            vlan(r#"{"list": []}"#),
            "headers[1] (vlan.vid): the list is empty (name at least one value)",
        ),
        (
            vlan(r#"{"list": [1, 5000]}"#),
            "headers[1] (vlan.vid): 5000 does not fit (at most 4095)",
        ),
        (
            vlan(r#"{"step": {"start": 4000, "step": 1, "count": 97}}"#),
            "headers[1] (vlan.vid): 97 steps of 1 from 4000 go beyond 4095 (a count of at most 96)",
        ),
        (
            udp(r#"{"step": {"start": 1, "step": 1, "count": 0}}"#),
            "headers[2] (udp.sport): the step has a count of 0 (count is how many values there are, at least 1)",
        ),
        (
            udp(r#"{"random": {"min": 9, "max": 8}}"#),
            "headers[2] (udp.sport): random from 9 to 8: min is larger than max (swap min and max)",
        ),
        (
            format!(
                r#"[{ETHERNET}, {{"type": "ipv4", "src": {{"random": {{"min": "16.0.0.9", "max": "16.0.0.1"}}}}, "dst": "48.0.0.1"}}, {UDP}]"#
            ),
            "headers[1] (ipv4.src): random from 16.0.0.9 to 16.0.0.1: min is larger than max (swap min and max)",
        ),
        (
            format!(
                r#"[{ETHERNET}, {{"type": "ipv4", "src": {{"step": {{"start": "255.255.255.254", "step": 1, "count": 3}}}}, "dst": "48.0.0.1"}}, {UDP}]"#
            ),
            "headers[1] (ipv4.src): 3 steps of 1 from 255.255.255.254 go beyond 255.255.255.255 (a count of at most 2)",
        ),
        (
            format!(r#"[{ETHERNET}, {{"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1", "dscp": 64}}, {UDP}]"#),
            "headers[1] (ipv4.dscp): 64 does not fit (at most 63)",
        ),
        (
            format!(r#"[{ETHERNET}, {{"type": "vlan", "tpid": 2048, "vid": 1}}, {IPV4}, {UDP}]"#),
            "headers[1] (vlan.tpid): 0x0800 is not a tag protocol identifier (0x8100 (802.1Q), 0x88a8 (802.1ad) or another type above 0x05ff)",
        ),
        (
            format!(r#"[{ETHERNET}, {{"type": "mpls", "label": 1048576}}, {IPV4}, {UDP}]"#),
            "headers[1] (mpls.label): 1048576 does not fit (at most 1048575)",
        ),
        (
            format!("[{}, {IPV4}, {UDP}]", ethernet(r#""01:00:5e:00:00:01""#)),
            "headers[0] (ethernet.src): 01:00:5e:00:00:01 is a group address and cannot be a source (the first byte must be even, and the same in a whole range)",
        ),
        (
            format!(
                "[{}, {IPV4}, {UDP}]",
                ethernet(r#"{"random": {"min": "02:00:00:00:00:00", "max": "04:00:00:00:00:00"}}"#)
            ),
            "headers[0] (ethernet.src): 03:00:00:00:00:00 is a group address and cannot be a source (the first byte must be even, and the same in a whole range)",
        ),
    ];
    for (json, message) in mistakes {
        assert_eq!(refused(&json, 1518).to_string(), message);
    }
    let error = refused(&vlan("4096"), 1518);
    assert_eq!(
        (error.header, error.name, error.field),
        (Some(1), "vlan", Some("vid")),
        "for who points at the plan"
    );
}

#[test]
fn test_tunnel_and_extension_headers_out_of_place_or_range_are_refused() {
    let over = |rest: &[&str]| format!("[{ETHERNET}, {}]", rest.join(", "));
    let options = |fields: &str| over(&[IPV6, &format!(r#"{{"type": "hop_by_hop", {fields}}}"#), UDP]);
    let ipv4 = |fields: &str| format!(r#"{{"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1", {fields}}}"#);
    let label = r#"{"type": "mpls", "label": 16}"#;
    let (control, hop) = (r#"{"type": "control_word"}"#, r#"{"type": "hop_by_hop"}"#);
    let (pppoe, ppp) = (r#"{"type": "pppoe", "session": 1}"#, r#"{"type": "ppp"}"#);
    let tunnel = r#"{"type": "udp", "sport": 2152, "dport": 2152}, {"type": "gtpu", "teid": 1}"#;
    let mistakes = [
        (over(&[control, ETHERNET]), 1, "control_word", None, "cannot follow ethernet"),
        (over(&[label, control, IPV4, UDP]), 3, "ipv4", None, "cannot follow control_word"),
        (over(&[pppoe, IPV4, UDP]), 2, "ipv4", None, "cannot follow pppoe"),
        (over(&[pppoe, ppp]), 2, "ppp", None, "carries nothing"),
        (over(&[IPV4, hop, UDP]), 2, "hop_by_hop", None, "cannot follow ipv4"),
        (over(&[IPV6, hop, hop, UDP]), 3, "hop_by_hop", None, "cannot follow hop_by_hop"),
        (over(&[IPV4, tunnel, ETHERNET]), 4, "ethernet", None, "cannot follow gtpu"),
        (over(&[IPV4, tunnel]), 3, "gtpu", None, "carries nothing"),
        (over(&[&ipv4(r#""protocol": 17"#), UDP]), 2, "udp", None, "cannot follow ipv4"),
        (over(&[&ipv4(r#""offset": 1480"#), UDP]), 2, "udp", None, "cannot follow ipv4"),
        (
            over(&[&ipv4(r#""offset": 1481"#)]),
            1,
            "ipv4",
            Some("offset"),
            "1481 bytes are no fragment offset",
        ),
        (
            over(&[r#"{"type": "vlan", "vid": 1}"#, &ipv4(r#""more": true"#), UDP]),
            2,
            "ipv4",
            Some("more"),
            "a fragment in a frame of 1518 bytes is no multiple of 8 bytes long",
        ),
        (
            options(r#""size": 12"#),
            2,
            "hop_by_hop",
            Some("size"),
            "12 bytes are no length for 0 bytes of options",
        ),
        (options(r#""size": 2056"#), 2, "hop_by_hop", Some("size"), "2056 bytes of options"),
        (
            over(&[IPV6, r#"{"type": "routing", "segments_left": 1}"#, UDP]),
            2,
            "routing",
            Some("segments_left"),
            "1 does not fit",
        ),
        (
            over(&[IPV6, r#"{"type": "srh", "segments": []}"#, UDP]),
            2,
            "srh",
            Some("segments"),
            "there are no segments",
        ),
        (over(&[r#"{"type": "raw", "bytes": "010203"}"#]), 1, "raw", Some("bytes"), "3 bytes"),
        (over(&[r#"{"type": "raw", "bytes": ""}"#]), 1, "raw", Some("bytes"), "0 bytes"),
        (
            over(&[r#"{"type": "vlan", "vid": 1, "ethertype": 1500}"#]),
            1,
            "vlan",
            Some("ethertype"),
            "0x05dc is a length and not a type",
        ),
        (
            over(&[r#"{"type": "vlan", "vid": 1, "ethertype": 2048}"#]),
            1,
            "vlan",
            Some("ethertype"),
            "0x0800 announces a header, and the payload follows",
        ),
    ];
    for (json, index, name, field, why) in mistakes {
        let error = refused(&json, 1518);
        assert_eq!(
            (error.header, error.name, error.field),
            (Some(index), name, field),
            "{json}: {error}"
        );
        assert_eq!(error.why, why);
        assert!(!error.hint.is_empty());
    }
    let given = over(&[r#"{"type": "vlan", "vid": 1, "ethertype": 34998}"#, IPV4]);
    assert_eq!(refused(&given, 1518).hint, "vlan with `ethertype` may be followed by raw, nothing");
    assert!(serde_json::from_str::<netdyno_frame::spec::Header>(r#"{"type": "raw", "bytes": "0g"}"#).is_err());
}

#[test]
fn sizes_must_hold_the_headers_and_the_probe() {
    let plain = format!("[{ETHERNET}, {IPV4}, {UDP}]");
    let message = "a frame of 60 bytes is too small for these headers (the smallest Ethernet frame has 64 bytes, FCS counted)";
    assert_eq!(refused(&plain, 60).to_string(), message);
    let tagged = format!(r#"[{ETHERNET}, {{"type": "vlan", "vid": 1}}, {IPV4}, {UDP}]"#);
    let message = "a frame of 64 bytes is too small for these headers (at least 68 bytes: headers 46, probe 18, FCS 4)";
    assert_eq!(refused(&tagged, 64).to_string(), message);
    assert_eq!(
        refused(&plain, 16_385).to_string(),
        "a frame of 16385 bytes is too large (at most 16384 bytes)"
    );
    let headers = over_ethernet(&[IPV4, UDP]);
    let message = |sizes: &[u32], flows| Template::new(&headers, sizes, flows, 0).expect_err("refused").to_string();
    assert_eq!(message(&[], 1), "0 frame sizes (name 1 to 4096 sizes)");
    assert_eq!(message(&[64], 0), "0 flows (a stream has at least 1 flow)");
    assert!(Template::new(&headers, &[64, 16_384], 1, 0).is_ok());
}

#[test]
fn minimum_sizes_are_sums_of_header_lengths() {
    // Ethernet 14, tag 4, label 4, IPv4 20, IPv6 40, UDP 8, TCP 20, ICMP 8, VXLAN 8, GRE 4 (8 with key); probe 18, FCS 4.
    let vlan = r#"{"type": "vlan", "vid": 1}"#;
    let expected = [
        (over_ethernet(&[]), 64),
        (over_ethernet(&[IPV4, UDP]), 64),
        (over_ethernet(&[vlan, IPV4, UDP]), 68),
        (over_ethernet(&[IPV4, TCP]), 76),
        (over_ethernet(&[IPV6, UDP]), 84),
        (over_ethernet(&[IPV6, TCP]), 96),
        (over_ethernet(&[r#"{"type": "mpls", "label": 16}"#, IPV4, UDP]), 68),
        (over_ethernet(&[IPV4, common::VXLAN, ETHERNET, IPV4, UDP]), 114),
        (over_ethernet(&[IPV4, r#"{"type": "gre", "key": 1}"#, IPV4, UDP]), 92),
    ];
    for (headers, size) in expected {
        assert_eq!(minimum_size(&headers), size);
    }
}
