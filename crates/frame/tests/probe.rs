//! The probe is found whatever a device does to the headers, and whatever flips is found out.
#![allow(missing_docs)]

use crate::common;
use crate::common::{gallery, over_ethernet};
use netdyno_frame::checksum::{Check, update32, verify, verify_frame};
use netdyno_frame::parse::parse;
use netdyno_frame::probe::{PROBE_BYTES, Probe, find};
use netdyno_frame::template::{Template, minimum_size};

const PROBE: Probe = Probe {
    flow: 70_000,
    sequence: 123_456_789,
    departure_ps: 98_765_432_109_876,
};

fn frame(json: &[&str], size: u32) -> Vec<u8> {
    let headers = over_ethernet(json);
    let mut template = Template::new(&headers, &[size.max(minimum_size(&headers))], 1, 0).expect("a template");
    template.set_first_flow(PROBE.flow);
    template.frame(0, PROBE.sequence.into(), 0, PROBE.departure_ps)
}

/// `frame` with a tag more.
fn push(frame: &[u8], tpid: u16) -> Vec<u8> {
    [&frame[..12], &tpid.to_be_bytes(), &[0x60, 0x64], &frame[12..]].concat()
}

fn found(frame: &[u8], hint: u32) -> Option<Probe> {
    let mut hint = hint;
    let found = find(frame, &mut hint)?;
    assert_eq!(hint as usize, found.1, "the hint for the next");
    Some(found.0)
}

#[test]
fn it_is_found_in_every_stack_with_and_without_a_hint() {
    for (name, headers) in gallery() {
        for size in [minimum_size(&headers), 1518] {
            let mut template = Template::new(&headers, &[size], 1, 0).expect(name);
            template.set_first_flow(PROBE.flow);
            let frame = template.frame(0, PROBE.sequence.into(), 0, PROBE.departure_ps);
            for hint in [0, template.probe_offset(), 14, 40, 5_000, u32::MAX] {
                assert_eq!(found(&frame, hint), Some(PROBE), "{name}, {size} bytes, hint {hint}");
            }
        }
    }
}

#[test]
fn it_is_found_under_tags_of_any_tpid_pushed_and_popped() {
    let plain = frame(&[common::IPV4, common::UDP], 64);
    for tpid in [0x8100, 0x88a8, 0x9100, 0x9200, 0x9300, 0x1234, 0x9999, 0xffff] {
        let mut tagged = plain.clone();
        for tags in 1..=3 {
            tagged = push(&tagged, tpid);
            assert_eq!(found(&tagged, 0), Some(PROBE), "{tags} tags of {tpid:#06x}");
            assert_eq!(
                found(&tagged, 42),
                Some(PROBE),
                "{tags} tags of {tpid:#06x}, hint of the bare frame"
            );
            assert_eq!(found(&plain, 42 + 4 * tags), Some(PROBE), "popped");
        }
        let layers = parse(&push(&plain, tpid)).expect("layers");
        assert_eq!(
            (layers.tags, layers.ethertype, layers.inner.payload),
            (1, 0x0800, 46),
            "{tpid:#06x}"
        );
        let verified = verify_frame(&push(&plain, tpid));
        assert_eq!((verified.ip, verified.l4), (Check::Right, Check::Right));
    }
}

#[test]
fn what_lies_behind_the_packet_is_not_the_packet() {
    let vlan = r#"{"type": "vlan", "vid": 7}"#;
    let tagged = frame(&[vlan, vlan, common::IPV4, common::UDP], 72);
    let popped = [&tagged[..12], &tagged[20..]].concat();
    assert_eq!(popped.len(), 60);
    for byte in [0x00, 0xff, 0x5a] {
        for padding in [0, 1, 4, 40] {
            let mut padded = popped.clone();
            padded.resize(60 + padding, byte);
            assert_eq!(found(&padded, 0), Some(PROBE));
            assert_eq!(found(&padded, 50), Some(PROBE), "hint of the tagged frame");
            let verified = verify_frame(&padded);
            assert_eq!((verified.ip, verified.l4), (Check::Right, Check::Right));
        }
    }
}

#[test]
fn it_is_found_in_labels_and_tunnels_that_a_device_added() {
    let inner = frame(&[common::IPV4, common::UDP], 128);
    let labels = [
        &inner[..12],
        &[0x88, 0x47, 0x00, 0x01, 0x00, 0x3f, 0x00, 0x02, 0x01, 0x3f],
        &inner[14..],
    ]
    .concat();
    assert_eq!(found(&labels, 0), Some(PROBE), "MPLS, two labels");
    assert_eq!(parse(&labels).map(|layers| (layers.labels, layers.inner.payload)), Some((2, 50)));

    let wire = [&[0x45, 0, 0, 0, 0, 0, 0x40, 0, 64], &[0u8; 11][..]].concat();
    let outer = |protocol: u8, behind: &[&[u8]]| {
        let mut ip = wire.clone();
        let behind = behind.concat();
        ip[9] = protocol;
        ip[2..4].copy_from_slice(&(20 + behind.len() as u16).to_be_bytes());
        [&inner[..14], &ip, &behind].concat()
    };
    let vxlan = outer(17, &[&[0xc3, 0x50, 0x12, 0xb5, 0, 0, 0, 0], &[8, 0, 0, 0, 0, 19, 137, 0], &inner]);
    assert_eq!(found(&vxlan, 0), Some(PROBE), "VXLAN");
    assert_eq!(parse(&vxlan).map(|layers| layers.inner.payload), Some(92));
    let gre = outer(47, &[&[0, 0, 0x08, 0x00], &inner[14..]]);
    assert_eq!(found(&gre, 0), Some(PROBE), "GRE, IPv4");
    let keyed = outer(47, &[&[0xb0, 0, 0x65, 0x58], &[0; 12], &inner]);
    assert_eq!(
        parse(&keyed).map(|layers| layers.inner.payload),
        Some(92),
        "GRE, checksum, key and sequence, Ethernet"
    );
    assert_eq!(found(&keyed, 0), Some(PROBE));
    let unknown = outer(99, &[&[1, 2, 3, 4, 5, 6], &inner]);
    assert_eq!(found(&unknown, 0), Some(PROBE), "a tunnel never heard of: by scanning");
}

#[test]
fn strangers_are_not_taken_for_ours() {
    let mut state = 1u64;
    let mut strange = 0;
    for _ in 0..2_000 {
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(1500)
        .collect();
        strange += usize::from(found(&bytes, 0).is_some());
    }
    assert_eq!(strange, 0, "of 2,000 random frames of 1500 bytes");
    assert_eq!(found(&[0; 1514], 0), None);
    assert_eq!(found(&[0xff; 1514], 0), None);
}

#[test]
fn routing_and_nat_keep_what_is_right_right() {
    let mut frame = frame(&[common::IPV4, common::UDP], 64);
    let word = |frame: &[u8], at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let old = u32::from_be_bytes([frame[26], frame[27], frame[28], frame[29]]);
    let new = 0x0a00_0001u32;
    for at in [24, 40] {
        let sum = update32(word(&frame, at), old, new);
        frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    frame[26..30].copy_from_slice(&new.to_be_bytes());
    let verified = verify_frame(&frame);
    assert_eq!((verified.ip, verified.l4), (Check::Right, Check::Right));
}

/// From the IP header to the end every single bit counts: what flips it is found by a checksum or by the probe.
#[test]
fn every_flipped_bit_is_found() {
    let vlan = r#"{"type": "vlan", "vid": 7}"#;
    let gre = r#"{"type": "gre"}"#;
    for json in [
        vec![common::IPV4, common::UDP],
        vec![vlan, common::IPV4, common::UDP],
        vec![common::IPV4, common::TCP],
        vec![common::IPV4, r#"{"type": "echo", "id": 1}"#],
        vec![common::IPV4, gre, common::IPV4, common::UDP],
    ] {
        let l3 = 14 + 4 * usize::from(json[0] == vlan);
        for size in [64, 65, 131] {
            let good = frame(&json, size);
            let sent = verify_frame(&good);
            let gre_header = if json.contains(&gre) { l3 + 20..l3 + 24 } else { 0..0 };
            for bit in l3 * 8..good.len() * 8 {
                if gre_header.contains(&(bit / 8)) {
                    continue; // GRE has no checksum of its own
                }
                let mut bad = good.clone();
                bad[bit / 8] ^= 0x80 >> (bit % 8);
                let verified = verify_frame(&bad);
                let layers = parse(&bad).expect("layers");
                assert_eq!(verified, verify(&bad, &layers));
                assert_ne!(verified, sent, "{json:?}, {size} bytes, byte {}, bit {}", bit / 8, bit % 8);
            }
        }
    }
}

#[test]
fn every_flipped_bit_of_a_probe_is_found_by_its_check_alone() {
    for probe in [
        PROBE,
        Probe::default(),
        Probe {
            flow: u32::MAX,
            sequence: u32::MAX,
            departure_ps: u64::MAX,
        },
    ] {
        let mut good = [0; PROBE_BYTES];
        probe.write(&mut good);
        assert_eq!(Probe::read(&good), Some(probe));
        assert_eq!(Probe::read(&good[..17]), None);
        for bit in 0..PROBE_BYTES * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Probe::read(&bad), None, "bit {bit} of {probe:?}");
        }
    }
}

#[test]
fn every_change_of_one_word_of_a_probe_is_found_but_zero_to_minus_zero() {
    let mut good = [0; PROBE_BYTES];
    PROBE.write(&mut good);
    for word in (0..PROBE_BYTES).step_by(2) {
        let old = u16::from_be_bytes([good[word], good[word + 1]]);
        let both_zero = |new: u16| (old == 0 && new == 0xffff) || (old == 0xffff && new == 0);
        for new in (0..=u16::MAX).filter(|new| *new != old && !both_zero(*new)) {
            let mut bad = good;
            bad[word..word + 2].copy_from_slice(&new.to_be_bytes());
            assert_eq!(Probe::read(&bad), None);
        }
    }
}
