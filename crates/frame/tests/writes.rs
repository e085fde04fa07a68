//! What is written over headers, against bytes worked out by hand and sums of 16-bit words added up one by one (RFC 1071).
#![allow(missing_docs)]

use crate::common::{IPV4, TCP, UDP, over_ethernet};
use netdyno_frame::spec::{Content, Header, Write};
use netdyno_frame::template::{Slots, Template};
use std::ops::Range;

fn writes(json: &str) -> Vec<Write> {
    serde_json::from_str(json).expect(json)
}

fn content<'a>(headers: &'a [Header], writes: &'a [Write]) -> Content<'a> {
    Content {
        headers,
        writes,
        payload: &[],
        probe: true,
    }
}

/// The frames of the first flows, as they are sent.
fn sent(content: Content<'_>, size: u32, flows: u32) -> Vec<Vec<u8>> {
    let template = Template::of(content, &[size], flows, 1).expect("a template");
    let mut cursor = template.cursor();
    let mut slot = vec![0; size as usize];
    let frames = (0..flows).map(|_| {
        let length = template.write(&mut cursor, 0, 0, &mut slot);
        slot[..length].to_vec()
    });
    frames.collect()
}

/// Whether these bytes, in words of 16 bits, sum up to all ones.
fn sums_up(pieces: &[&[u8]]) -> bool {
    let mut sum = 0_u32;
    for word in pieces.concat().chunks(2) {
        sum += u32::from(word[0]) * 256 + u32::from(*word.get(1).unwrap_or(&0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == 0xffff
}

/// Whether the checksums of a packet of IPv4 and UDP or TCP are right.
fn assert_sums(frame: &[u8], protocol: u8) {
    assert!(sums_up(&[&frame[14..34]]), "IPv4: {frame:02x?}");
    let length = (frame.len() as u16 - 34).to_be_bytes();
    assert!(sums_up(&[&frame[26..34], &[0, protocol], &length, &frame[34..]]), "{frame:02x?}");
}

#[test]
fn a_number_is_shifted_masked_and_written_among_other_bits() {
    // In flow 1: the written bits, as hexadecimal digits of bytes 26 to 33 (198.18.1.2, 198.19.1.2: c6120102 c6130102).
    let cases = [
        (r#"{"at": 26, "bytes": 4, "value": 1}"#, "00000001c6130102"),
        (
            r#"{"at": 26, "bytes": 4, "mask": 4294901760, "shift": 16, "add": 5, "value": {"step": {"start": 9, "step": 3, "count": 4}}}"#,
            "00110102c6130102",
        ),
        (r#"{"at": 27, "bytes": 2, "value": {"list": [1, 41217]}}"#, "c6a10102c6130102"),
        (r#"{"at": 29, "bytes": 3, "value": 11259375}"#, "c61201abcdef0102"),
        (r#"{"at": 26, "bytes": 8, "value": 81985529216486895}"#, "0123456789abcdef"),
        (r#"{"at": 27, "bytes": 1, "mask": 240, "value": 255}"#, "c6f20102c6130102"),
        (r#"{"at": 27, "bytes": 1, "shift": -8, "value": 4660}"#, "c6120102c6130102"),
        (r#"{"at": 28, "bytes": 1, "shift": -4, "value": 4660}"#, "c6122302c6130102"),
        (r#"{"at": 26, "bytes": 2, "add": -2, "value": 1}"#, "ffff0102c6130102"),
        (
            r#"{"at": 28, "bytes": 2, "value": {"range": {"min": 3, "max": 5, "step": -1, "start": 3}}}"#,
            "c6120005c6130102",
        ),
        // Two in one word, and one over the other.
        (
            r#"{"at": 28, "bytes": 1, "value": 171}, {"at": 29, "bytes": 1, "value": 205}"#,
            "c612abcdc6130102",
        ),
        (
            r#"{"at": 28, "bytes": 2, "value": 43981}, {"at": 28, "bytes": 2, "mask": 4080, "shift": 4, "value": 18}"#,
            "c612a12dc6130102",
        ),
    ];
    for (json, expected) in cases {
        let writes = writes(&format!("[{json}]"));
        for (l4, protocol) in [(UDP, 17), (TCP, 6)] {
            let headers = over_ethernet(&[IPV4, l4]);
            for size in [127, 128] {
                let frame = &sent(content(&headers, &writes), size, 2)[1];
                let found: String = frame[26..34].iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(found, expected, "{json}");
                assert_sums(frame, protocol);
            }
        }
    }
}

#[test]
fn a_write_over_a_field_that_varies_keeps_its_other_bits() {
    let step = r#"{"type": "ipv4", "src": {"step": {"start": "16.0.0.250", "step": 3, "count": 9}}, "dst": "48.0.0.1"}"#;
    let headers = over_ethernet(&[step, UDP]);
    let writes = writes(r#"[{"at": 28, "bytes": 1, "value": {"step": {"start": 7, "step": 1, "count": 3, "every": 3}}}]"#);
    for (flow, frame) in (0..).zip(sent(content(&headers, &writes), 64, 9)) {
        let low = 250_u32 + 3 * flow;
        assert_eq!(frame[26..30], [16, 0, 7 + (flow / 3) as u8, low as u8]);
        assert_sums(&frame, 17);
    }
}

/// Slots that say that they remember, so that heads alone are written.
struct Remembering(Vec<u8>, usize);

impl Slots for Remembering {
    fn each(&mut self, _: Range<usize>, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        self.1 = write(0, &mut self.0);
    }

    fn remembers(&self) -> bool {
        true
    }
}

#[test]
fn bytes_count_up_behind_what_is_written_into_the_payload() {
    let headers = over_ethernet(&[IPV4, UDP]);
    let writes = writes(r#"[{"at": 63, "bytes": 2, "value": {"step": {"start": 4096, "step": 1, "count": 9}}}]"#);
    let template = Template::of(content(&headers, &writes), &[1518], 3, 1).expect("a template");
    let mut cursor = template.cursor();
    for flow in 0..3 {
        let mut slots = Remembering(vec![0; 2048], 0);
        template.write_burst(&mut cursor, &[0], &[0], &mut slots);
        let frame = &slots.0[..slots.1];
        assert_eq!(frame, template.frame(flow, 0, 0, 0));
        assert_eq!(frame[60..68], [0, 1, 2, 16, flow as u8, 0, 1, 2]);
        assert_sums(frame, 17);
    }
}

#[test]
fn a_payload_is_repeated_behind_the_probe() {
    let headers = over_ethernet(&[IPV4, UDP]);
    for (probe, from) in [(true, 60), (false, 42)] {
        let content = Content {
            headers: &headers,
            writes: &[],
            payload: &[0xca, 0xfe, 0x01],
            probe,
        };
        let template = Template::of(content, &[1500], 3, 1).expect("a template");
        let mut slots = Remembering(vec![0; 2048], 0);
        template.write_burst(&mut template.cursor(), &[0], &[0], &mut slots);
        let frame = &slots.0[..slots.1];
        assert_eq!(frame.len(), 1496);
        assert!(
            frame[from..]
                .iter()
                .zip([0xca, 0xfe, 0x01].iter().cycle())
                .all(|(byte, expected)| byte == expected)
        );
        assert_sums(frame, 17);
    }
}

#[test]
fn a_write_over_the_probe_or_a_checksum_or_behind_the_frame_is_refused() {
    let headers = over_ethernet(&[IPV4, UDP]);
    let refused = |json: &str, size: u32| {
        let writes = writes(&format!(r#"[{{"at": 0, "bytes": 6, "value": 1}}, {json}]"#));
        let error = Template::of(content(&headers, &writes), &[size], 1, 0).expect_err(json);
        (error.write, error.field, error.to_string())
    };
    for (json, size, field, message) in [
        (
            r#"{"at": 41, "bytes": 2, "value": 1}"#,
            64,
            "at",
            "writes[1].at: bytes 41 to 42 overlap the probe (the probe is bytes 42 to 59)",
        ),
        (
            r#"{"at": 59, "bytes": 1, "value": 1}"#,
            64,
            "at",
            "writes[1].at: bytes 59 to 59 overlap the probe (the probe is bytes 42 to 59)",
        ),
        (
            r#"{"at": 25, "bytes": 1, "value": 1}"#,
            64,
            "at",
            "writes[1].at: bytes 25 to 25 overlap a checksum, which is computed (the checksum is bytes 24 and 25)",
        ),
        (
            r#"{"at": 60, "bytes": 4, "value": 1}"#,
            67,
            "at",
            "writes[1].at: a frame of 67 bytes ends before it (frames of at least 68 bytes)",
        ),
        (
            r#"{"at": 26, "bytes": 9, "value": 1}"#,
            64,
            "bytes",
            "writes[1].bytes: 9 bytes (1 to 8)",
        ),
        (
            r#"{"at": 26, "bytes": 4, "shift": 64, "value": 1}"#,
            64,
            "shift",
            "writes[1].shift: a shift of 64 bits (-63 to 63)",
        ),
        (
            r#"{"at": 26, "bytes": 4, "value": {"list": []}}"#,
            64,
            "value",
            "writes[1].value: the list is empty (name at least one value)",
        ),
    ] {
        assert_eq!(refused(json, size), (Some(1), Some(field), message.into()));
    }
}

#[test]
fn where_frames_go_follows_from_what_is_written() {
    let headers = over_ethernet(&[r#"{"type": "vlan", "vid": 7}"#, IPV4, UDP]);
    let writes = writes(
        r#"[{"at": 4, "bytes": 2, "value": {"list": [1, 2]}},
            {"at": 14, "bytes": 2, "mask": 4095, "value": {"step": {"start": 100, "step": 1, "count": 2, "every": 2}}}]"#,
    );
    let template = Template::of(content(&headers, &writes), &[68], 8, 1).expect("a template");
    let found: Vec<_> = template.destinations(8).map(|(mac, tags)| (mac.0[5], tags[0].tci)).collect();
    assert_eq!(found, [(1, 100), (2, 100), (1, 101), (2, 101)]);
    let vlans = template.vlans(9).expect("few").into_iter().map(|tags| tags[0].tci);
    assert!(vlans.eq([100, 101]));
}
