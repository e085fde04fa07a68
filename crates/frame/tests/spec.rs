//! The JSON of a stack, as documented in `spec.rs`, and MAC addresses as text.
#![allow(missing_docs)]

use netdyno_frame::spec::{Field, Header, Mac, Udp, Vary, Vlan};

#[test]
fn the_documented_json_is_read_and_written_back() {
    let json = r#"[{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
        {"type": "vlan", "tpid": 33024, "vid": 10, "pcp": 0},
        {"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}, "dst": "48.0.0.1", "dscp": 0, "ttl": 64},
        {"type": "udp", "sport": {"step": {"start": 1025, "step": 1, "count": 64}}, "dport": {"list": [12, 13]}, "checksum": true}]"#;
    let headers: Vec<Header> = serde_json::from_str(json).expect("the documented form");
    assert_eq!(
        headers[1],
        Header::Vlan(Vlan {
            tpid: 0x8100,
            vid: Field::Constant(10),
            pcp: 0,
            dei: false,
            ethertype: None,
        })
    );
    let sport = Field::Vary(Vary::Step {
        start: 1025,
        step: 1,
        count: 64,
        every: 1,
    });
    assert_eq!(
        headers[3],
        Header::Udp(Udp {
            sport,
            dport: Field::Vary(Vary::List(vec![12, 13])),
            checksum: true
        })
    );
    let again: Vec<Header> = serde_json::from_str(&serde_json::to_string(&headers).expect("JSON")).expect("our own JSON");
    assert_eq!(again, headers);
}

#[test]
fn what_is_left_out_has_its_usual_value() {
    let header = |json| serde_json::from_str::<Header>(json).expect(json);
    assert_eq!(
        header(r#"{"type": "vlan", "vid": 1}"#),
        header(r#"{"type": "vlan", "tpid": 33024, "vid": 1, "pcp": 0, "dei": false}"#)
    );
    assert_eq!(
        header(r#"{"type": "tcp", "sport": 1, "dport": 2}"#),
        header(r#"{"type": "tcp", "sport": 1, "dport": 2, "flags": 16}"#)
    );
    assert!(
        serde_json::from_str::<Header>(r#"{"type": "vlan", "vid": 1, "vlan": 2}"#).is_err(),
        "an unknown field"
    );
    assert!(serde_json::from_str::<Header>(r#"{"type": "vlan"}"#).is_err(), "a missing field");
}

#[test]
fn mac_addresses_are_six_pairs_of_hexadecimal_digits() {
    let mac: Mac = "02:AB:cd:00:00:ff".parse().expect("a MAC address");
    assert_eq!(
        (mac, mac.to_string().as_str()),
        (Mac([2, 0xab, 0xcd, 0, 0, 0xff]), "02:ab:cd:00:00:ff")
    );
    for wrong in [
        "",
        "02:00:00:00:00",
        "02:00:00:00:00:01:02",
        "2:0:0:0:0:1",
        "02-00-00-00-00-01",
        "02:00:00:00:00:0g",
        "+2:00:00:00:00:01",
    ] {
        assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
    }
}
