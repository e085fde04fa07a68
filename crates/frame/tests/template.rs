//! Frames from templates: the fast ones are the ones built from scratch, and those are what was asked for.
#![allow(missing_docs)]

use crate::common::gallery;
use netdyno_frame::checksum::verify_frame;
use netdyno_frame::parse::parse;
use netdyno_frame::probe::find;
use netdyno_frame::spec::{Content, Header, Write};
use netdyno_frame::template::{Slots, Template, minimum_size};
use netdyno_frame::tuple::FourTuple;
use serde_json::json;
use std::ops::Range;

#[test]
fn the_hot_path_writes_what_is_built_from_scratch() {
    for (name, headers) in gallery() {
        let minimum = minimum_size(&headers);
        let sizes = [
            minimum,
            minimum + 1,
            128.max(minimum),
            132.max(minimum),
            133.max(minimum),
            1518,
            9018,
        ];
        for flows in [1, 2, 6, 7, 1000] {
            let mut template = Template::new(&headers, &sizes, flows, 7).expect(name);
            template.set_first_flow(5);
            let mut cursor = template.cursor();
            for number in 0..u64::from(flows) * 2 + 9 {
                let (size, departure) = (number as usize % sizes.len(), number * 67_200);
                let (flow, sequence) = (cursor.flow(), cursor.sequence());
                assert_eq!((u64::from(flow), sequence), (number % u64::from(flows), number / u64::from(flows)));
                assert_eq!(template.position(&cursor), number);
                let mut slot = [0xee; 9020];
                let length = template.write(&mut cursor, size, departure, &mut slot);
                assert_eq!(length, sizes[size] as usize - 4);
                let expected = template.frame(flow, sequence, size, departure);
                assert_eq!(slot[..length], expected, "{name}, frame {number}");
                assert!(slot[length..].iter().all(|byte| *byte == 0xee), "{name}: wrote beyond the frame");
            }
        }
    }
}

/// A burst into one piece of memory.
struct Burst {
    memory: Vec<u8>,
    lengths: Vec<usize>,
    remembers: bool,
}

impl Slots for Burst {
    fn each(&mut self, frames: Range<usize>, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        for (place, index) in frames.enumerate() {
            self.lengths[index] = write(place, &mut self.memory[index * 2048..][..2048]);
        }
    }

    fn remembers(&self) -> bool {
        self.remembers
    }
}

#[test]
fn a_burst_is_the_same_as_frame_by_frame() {
    for (name, headers) in gallery() {
        let minimum = minimum_size(&headers);
        let sizes = [minimum, 594, 1518];
        for flows in [1, 5, 64, 100] {
            let mut template = Template::new(&headers, &sizes, flows, 99).expect(name);
            template.set_first_flow(1_000);
            let (mut cursor, mut other) = (template.cursor(), template.cursor());
            for (count, remembers) in [
                (1, false),
                (0, false),
                (64, false),
                (63, false),
                (0, true),
                (1, true),
                (64, true),
                (63, true),
            ] {
                let mut burst = Burst {
                    remembers,
                    memory: vec![0; 64 * 2048],
                    lengths: vec![0; 64],
                };
                let which: Vec<u16> = (0..count).map(|index| (index % sizes.len()) as u16).collect();
                let departures: Vec<u64> = (0..count as u64).map(|index| index * 1_000_003).collect();
                template.write_burst(&mut cursor, &which, &departures, &mut burst);
                for index in 0..count {
                    let mut slot = [0; 2048];
                    let length = template.write(&mut other, index % sizes.len(), index as u64 * 1_000_003, &mut slot);
                    assert_eq!(burst.lengths[index], length);
                    assert_eq!(burst.memory[index * 2048..][..2048], slot, "{name}, {flows} flows");
                }
                assert_eq!((cursor.flow(), cursor.sequence()), (other.flow(), other.sequence()));
            }
        }
    }
}

/// The burst as it should be, and then as it is, of `count` frames that all depart at `departure`, in slots of `room`.
fn assert_burst(name: &str, template: &Template, position: u64, count: usize, departure: u64, room: usize) {
    struct Tight<'a>(Vec<&'a mut [u8]>);
    impl Slots for Tight<'_> {
        fn each(&mut self, frames: Range<usize>, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
            for (place, index) in frames.enumerate() {
                assert_eq!(write(place, self.0[index]), self.0[index].len().min(60));
            }
        }
    }
    let (mut cursor, mut other) = (template.cursor(), template.cursor());
    template.seek(&mut cursor, position);
    template.seek(&mut other, position);
    let mut memory = vec![0xee; room * count];
    let mut slots = Tight(memory.chunks_exact_mut(room).collect());
    template.write_burst(&mut cursor, &vec![0; count], &vec![departure; count], &mut slots);
    for slot in memory.chunks_exact(room) {
        let expected = template.frame(other.flow(), other.sequence(), 0, departure);
        assert_eq!(slot[..60], expected, "{name}, departure {departure}");
        template.write(&mut other, 0, departure, &mut [0; 60]);
    }
    assert_eq!((cursor.flow(), cursor.sequence()), (other.flow(), other.sequence()), "{name}");
}

#[test]
fn short_frames_that_depart_together_are_what_is_built_from_scratch() {
    for (name, headers) in gallery() {
        if minimum_size(&headers) > 64 {
            continue;
        }
        for flows in [1, 5, 64, 100] {
            let mut template = Template::new(&headers, &[64], flows, 99).expect(name);
            for count in [1, 32, 70] {
                for room in [60, 64, 100] {
                    assert_burst(name, &template, 3, count, 67_200, room);
                }
            }
            // Sequences that begin again.
            assert_burst(name, &template, (1 << 32) * u64::from(flows) - 7, 40, 67_200, 64);
            // Flow numbers that do.
            template.set_first_flow(u32::MAX - 20);
            assert_burst(name, &template, 0, 40, 67_200, 64);
            template.set_first_flow(0);
            // Checks that pass zero: they fall by one with each picosecond.
            let payload = template.probe_offset() as usize;
            let frame = template.frame(0, 0, 0, 0);
            let check = u64::from(u16::from_be_bytes([frame[payload], frame[payload + 1]]));
            for departure in check - 70..check + 3 {
                assert_burst(name, &template, 0, 40, departure, 64);
            }
        }
    }
}

/// A worker that sends some of the flows goes through these alone: frame i is of the i-th of them, and begins again behind the last.
#[test]
fn bursts_of_some_flows_are_what_is_built_from_scratch() {
    const COUNT: usize = 70;
    for (name, headers) in gallery() {
        let minimum = minimum_size(&headers);
        for (sizes, apart) in [(vec![minimum.max(64)], 0), (vec![minimum, 594], 1_000_003)] {
            let mut template = Template::new(&headers, &sizes, 100, 99).expect(name);
            template.set_first_flow(1_000);
            for flows in [0_u32..1, 7..8, 99..100, 3..5, 10..80, 60..100] {
                let mut cursor = template.cursor_over(flows.clone());
                // The second time all but 30 frames of the first are taken back.
                for taken in [0, 30] {
                    let (sequence, place) = (taken / flows.len() as u64, taken % flows.len() as u64);
                    template.seek(&mut cursor, sequence * 100 + u64::from(flows.start) + place);
                    let mut burst = Burst {
                        remembers: taken > 0,
                        memory: vec![0; COUNT * 2048],
                        lengths: vec![0; COUNT],
                    };
                    let which: Vec<u16> = (0..COUNT).map(|index| (index % sizes.len()) as u16).collect();
                    let times: Vec<u64> = (0..COUNT as u64).map(|index| 67_200 + index * apart).collect();
                    template.write_burst(&mut cursor, &which, &times, &mut burst);
                    for (index, &departure) in times.iter().enumerate() {
                        let number = taken + index as u64;
                        let (sequence, place) = (number / flows.len() as u64, number % flows.len() as u64);
                        let expected = template.frame(flows.start + place as u32, sequence, index % sizes.len(), departure);
                        let found = &burst.memory[index * 2048..][..burst.lengths[index]];
                        assert_eq!(found, expected, "{name}, flows {flows:?}, frame {number}");
                    }
                }
            }
        }
    }
}

#[test]
fn frames_not_accepted_can_be_taken_back() {
    for (name, headers) in gallery() {
        let template = Template::new(&headers, &[minimum_size(&headers)], 10, 1).expect(name);
        let mut cursor = template.cursor();
        let mut slot = [0; 256];
        let mut frames = Vec::new();
        for _ in 0..33 {
            let length = template.write(&mut cursor, 0, 0, &mut slot);
            frames.push(slot[..length].to_vec());
        }
        let position = template.position(&cursor) - 17;
        template.seek(&mut cursor, position);
        for frame in &frames[16..] {
            let length = template.write(&mut cursor, 0, 0, &mut slot);
            assert_eq!(slot[..length], *frame, "{name}");
        }
    }
}

/// The first and a later fragment of a packet, in frames whose fragments are whole units of eight bytes: found by their probe,
/// and good though their layer-4 checksum covers no whole packet.
#[test]
fn test_fragments_are_built_and_their_probes_found() {
    let ethernet = r#"{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}"#;
    let ipv4 = |rest: &str| format!(r#"{{"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1", "id": {{"list": [7, 8]}}, {rest}}}"#);
    let ipv6 = r#"{"type": "ipv6", "src": "2001:2::1", "dst": "2001:2::2"}"#;
    let udp = r#"{"type": "udp", "sport": 1, "dport": 2}"#;
    for (headers, size, flags) in [
        (format!("[{ethernet}, {}, {udp}]", ipv4(r#""more": true"#)), 1518, Some(0x2000)),
        (
            format!("[{ethernet}, {}]", ipv4(r#""more": true, "offset": 1480, "protocol": 17"#)),
            1518,
            Some(0x20b9),
        ),
        (
            format!(r#"[{ethernet}, {ipv6}, {{"type": "fragment", "more": true, "id": 9}}, {udp}]"#),
            1514,
            None,
        ),
        (
            format!(r#"[{ethernet}, {ipv6}, {{"type": "fragment", "more": true, "offset": 8, "id": 9}}]"#),
            1514,
            None,
        ),
    ] {
        let stack: Vec<Header> = serde_json::from_str(&headers).expect("headers");
        let template = Template::new(&stack, &[size], 2, 0).expect("a template");
        for flow in [0, 1] {
            let frame = template.frame(flow, 3, 0, 0);
            let layers = parse(&frame).expect("layers");
            assert!(layers.outer.fragment && layers.outer.whole && layers.outer.payload == template.probe_offset());
            let (probe, at) = find(&frame, &mut 0).expect("a probe");
            assert_eq!((probe.flow, probe.sequence, at as u32), (flow, 3, template.probe_offset()));
            assert!(verify_frame(&frame).is_good());
            let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
            match flags {
                Some(flags) => assert_eq!((word(18), word(20)), (7 + flow as u16, flags)),
                None => assert_eq!(word(56) & 1, 1, "more fragments"),
            }
        }
    }
}

/// An IPv6 header around an IPv4 packet whose addresses differ in their high half: it was once left as in flow 0.
#[test]
fn wide_addresses_outside_an_ipv4_packet_vary() {
    let headers: Vec<Header> = serde_json::from_str(
        r#"[{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
            {"type": "ipv6", "src": {"list": ["2001:2::", "2001:2:0:1::"]}, "dst": "2001:2::2"},
            {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"}, {"type": "udp", "sport": 1, "dport": 2}]"#,
    )
    .expect("headers");
    let template = Template::new(&headers, &[200], 2, 0).expect("a template");
    let mut cursor = template.cursor();
    let mut slot = [0; 300];
    for high in [0, 1, 0] {
        template.write(&mut cursor, 0, 0, &mut slot);
        assert_eq!(slot[22..30], [0x20, 0x01, 0, 2, 0, 0, 0, high]);
    }
}

#[test]
fn picked_flows_have_the_headers_of_those_flows() {
    let headers: Vec<Header> = serde_json::from_value(json!([
        {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
        {"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}, "dst": {"list": ["48.0.0.1", "48.0.0.2"]}},
        {"type": "udp", "sport": {"step": {"start": 1025, "step": 3, "count": 500}}, "dport": 12},
    ]))
    .expect("headers");
    let writes: Vec<Write> = serde_json::from_value(json!([
        {"at": 15, "bytes": 1, "value": {"step": {"start": 0, "step": 1, "count": 250}}},
    ]))
    .expect("writes");
    let picks = [499, 3, 500, 0, 77, 498];
    let content = Content {
        headers: &headers,
        writes: &writes,
        payload: &[],
        probe: true,
    };
    let all = Template::of(content, &[68, 1518], 501, 7).expect("fits");
    let mut picked = Template::of(content, &[68, 1518], picks.len() as u32, 7).expect("fits");
    picked.pick(&picks);
    let mut cursor = picked.cursor();
    for number in 0..13 {
        let flow = number % picks.len();
        let mut slot = [0; 2048];
        let length = picked.write(&mut cursor, number % 2, 9, &mut slot);
        // Beyond Ethernet, IPv4 and UDP lies the probe, which has the flow's own number.
        assert_eq!(slot[..42], all.frame(picks[flow], 0, number % 2, 9)[..42], "frame {number}");
        assert_eq!(
            slot[..length],
            picked.frame(flow as u32, (number / picks.len()) as u64, number % 2, 9)
        );
        assert!(verify_frame(&slot[..length]).is_good());
    }
}

#[test]
fn flows_are_given_the_addresses_and_ports_that_they_came_out_with() {
    let there = json!([
        {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
        {"type": "vlan", "vid": 10},
        {"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}, "dst": "48.0.0.1"},
        {"type": "udp", "sport": {"step": {"start": 1025, "step": 1, "count": 7}}, "dport": 12},
    ]);
    let mut back = there.clone();
    back[2]["src"] = json!("48.0.0.1");
    let [there, back] = [there, back].map(|headers| serde_json::from_value::<Vec<Header>>(headers).expect("headers"));
    for flows in [1, 2, 1000] {
        let there = Template::new(&there, &[68], flows, 7).expect("fits");
        let mut back = Template::new(&back, &[68, 1518], flows, 7).expect("fits");
        let answers: Vec<_> = there.tuples().map(FourTuple::reversed).collect();
        back.set_tuples(&answers);
        assert!(back.tuples().eq(answers.iter().copied()));
        let mut cursor = back.cursor();
        for number in 0..2 * flows {
            let (flow, size) = (number % flows, number as usize % 2);
            let mut slot = [0; 2048];
            let length = back.write(&mut cursor, size, 9, &mut slot);
            assert_eq!(
                slot[..length],
                back.frame(flow, u64::from(number / flows), size, 9),
                "frame {number}"
            );
            assert!(verify_frame(&slot[..length]).is_good());
            assert_eq!(
                FourTuple::of(&slot[..length]).map(FourTuple::reversed),
                FourTuple::of(&there.frame(flow, 0, 0, 0))
            );
        }
    }
    assert_eq!(answer_of("16.0.0.1:1025 > 48.0.0.1:12"), "48.0.0.1:12 > 16.0.0.1:1025");
}

/// What answers a flow, as it is written.
fn answer_of(flow: &str) -> String {
    let (from, to) = flow.split_once(" > ").expect("two ends");
    let ((src, sport), (dst, dport)) = (from.split_once(':').expect("a port"), to.split_once(':').expect("a port"));
    let number = |text: &str| text.parse::<u16>().expect("a port");
    let headers = json!([
        {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
        {"type": "ipv4", "src": src, "dst": dst},
        {"type": "udp", "sport": number(sport), "dport": number(dport)},
    ]);
    let headers: Vec<Header> = serde_json::from_value(headers).expect("headers");
    let template = Template::new(&headers, &[64], 1, 7).expect("fits");
    template.tuples().next().expect("a flow").reversed().to_string()
}
