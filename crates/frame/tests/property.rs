//! Any stack a plan can hold builds, and any bytes at all are parsed without panic.
#![allow(missing_docs)]

use netdyno_frame::arp::Arp;
use netdyno_frame::checksum::{finish, sum, update, update32, verify, verify_frame};
use netdyno_frame::icmp::{echo_reply, echo_target};
use netdyno_frame::nd::Neighbour;
use netdyno_frame::parse::parse;
use netdyno_frame::probe::{Probe, find};
use netdyno_frame::spec::{
    Bytes, Content, ControlWord, DestinationOptions, Echo, Ethernet, Field, Fragment, Gre, Gtpu, Header, HopByHop, Ipv4, Ipv6, Mac, Mpls,
    Ppp, Pppoe, Routing, SlowList, Srh, Tcp, Udp, Vary, Vlan, Vxlan, Write,
};
use netdyno_frame::template::{Template, minimum_size};
use proptest::prelude::*;
use std::net::Ipv6Addr;

/// Decisions, drawn by proptest and used up one by one; 0 when there are no more.
struct Dice(std::vec::IntoIter<u64>);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0.next().unwrap_or(0) % sides
    }

    fn field<T>(&mut self, low: u64, high: u64, make: impl Fn(u64) -> T) -> Field<T> {
        let span = high - low + 1;
        match self.roll(6) {
            0 => Field::Constant(make(low + self.roll(span))),
            1 => {
                let count = self.roll(4) + 1;
                Field::Vary(Vary::List((0..count).map(|_| make(low + self.roll(span))).collect()))
            }
            2 => {
                let start = low + self.roll(span);
                let step = self.roll(9) as i64 - 4;
                let room = if step < 0 { start - low } else { high - start };
                let most = room.checked_div(step.unsigned_abs()).map_or(9, |room| (room + 1).min(9));
                Field::Vary(Vary::Step {
                    start: make(start),
                    step,
                    count: self.roll(most) + 1,
                    every: self.roll(4) as u32 + 1,
                })
            }
            3 => {
                let min = low + self.roll(span);
                let max = min + self.roll((high - min + 1).min(1 << 32));
                Field::Vary(Vary::Range {
                    min: make(min),
                    max: make(max),
                    step: self.roll(19) as i64 - 9,
                    start: make(min + self.roll(max - min + 1)),
                    every: self.roll(4) as u32 + 1,
                })
            }
            4 => {
                let count = self.roll(4) + 1;
                Field::Slow(SlowList {
                    list: (0..count).map(|_| make(low + self.roll(span))).collect(),
                    every: self.roll(9) as u32 + 1,
                })
            }
            _ => {
                let min = low + self.roll(span);
                let max = min + self.roll(high - min + 1);
                Field::Vary(Vary::Random {
                    min: make(min),
                    max: make(max),
                    seed: None,
                })
            }
        }
    }

    fn mac(&mut self) -> Field<Mac> {
        self.field(0, 0xffff_ffff, |value| {
            let [_, _, _, _, a, b, c, d] = value.to_be_bytes();
            Mac([2, 0, a, b, c, d])
        })
    }

    fn ethernet(&mut self, stack: &mut Vec<Header>) {
        stack.push(Header::Ethernet(Ethernet {
            src: self.mac(),
            dst: self.mac(),
            ethertype: None,
        }));
        for _ in 0..self.roll(4) {
            let tpid = [0x8100, 0x88a8, 0x9100, 0x9200][self.roll(4) as usize];
            let vid = self.field(0, 4095, |value| value as u16);
            stack.push(Header::Vlan(Vlan {
                tpid,
                vid,
                pcp: self.roll(8) as u8,
                dei: self.roll(2) == 1,
                ethertype: None,
            }));
        }
        if self.roll(5) == 0 {
            stack.push(Header::Pppoe(Pppoe {
                session: self.field(0, 65535, |value| value as u16),
            }));
            stack.push(Header::Ppp(Ppp { protocol: None }));
        }
        self.labels(stack);
    }

    /// An Ethernet frame behind the last label, if there is one, with or without a control word.
    fn pseudowire(&mut self, stack: &mut Vec<Header>) {
        if !matches!(stack.last(), Some(Header::Mpls(_))) {
            return;
        }
        if self.roll(2) == 0 {
            stack.push(Header::ControlWord(ControlWord {
                sequence: self.roll(65536) as u16,
            }));
        }
        self.ethernet(stack);
    }

    fn address(&mut self) -> Ipv6Addr {
        ((0x2001_0002_u128 << 96) + u128::from(self.roll(1 << 60))).into()
    }

    fn extensions(&mut self, stack: &mut Vec<Header>) {
        let options = |dice: &mut Self| {
            (
                Bytes(vec![0; dice.roll(20) as usize]),
                [None, Some(32), Some(520)][dice.roll(3) as usize],
            )
        };
        if self.roll(4) == 0 {
            let (options, size) = options(self);
            stack.push(Header::HopByHop(HopByHop { options, size }));
        }
        for _ in 0..self.roll(5).saturating_sub(2) {
            stack.push(match self.roll(4) {
                0 => {
                    let (options, size) = options(self);
                    Header::DestinationOptions(DestinationOptions { options, size })
                }
                1 => Header::Fragment(Fragment {
                    id: self.field(0, u32::MAX.into(), |value| value as u32),
                    more: false,
                    offset: 0,
                    protocol: None,
                }),
                2 => {
                    let addresses: Vec<_> = (0..self.roll(3)).map(|_| self.address()).collect();
                    Header::Routing(Routing {
                        routing_type: [0, 2, 253][self.roll(3) as usize],
                        segments_left: self.roll(addresses.len() as u64 + 1) as u8,
                        addresses,
                    })
                }
                _ => {
                    let segments: Vec<_> = (0..=self.roll(3)).map(|_| self.address()).collect();
                    Header::Srh(Srh {
                        segments_left: [None, Some(0), Some(1)][self.roll(3) as usize],
                        segments,
                        tag: self.roll(65536) as u16,
                    })
                }
            });
        }
    }

    fn labels(&mut self, stack: &mut Vec<Header>) {
        for _ in 0..self.roll(5).saturating_sub(2) {
            let label = self.field(0, 0xf_ffff, |value| value as u32);
            stack.push(Header::Mpls(Mpls {
                label,
                tc: self.roll(8) as u8,
                ttl: self.roll(256) as u8,
            }));
        }
    }

    fn ip(&mut self, stack: &mut Vec<Header>) -> bool {
        let is_v4 = self.roll(2) == 0;
        let dscp = self.field(0, 63, |value| value as u8);
        let ttl = self.field(0, 255, |value| value as u8);
        if is_v4 {
            let src = self.field(0, u32::MAX.into(), |value| (value as u32).into());
            let dst = self.field(0, u32::MAX.into(), |value| (value as u32).into());
            stack.push(Header::Ipv4(Ipv4 {
                src,
                dst,
                dscp,
                ttl,
                df: self.field(0, 1, |value| value == 1),
                id: self.field(0, 65535, |value| value as u16),
                more: false,
                offset: 0,
                protocol: None,
            }));
        } else {
            let wide = |shift: u32| move |value: u64| ((0x2001_0002_u128 << 96) + (u128::from(value) << shift)).into();
            let shift = [0, 0, 17, 60][self.roll(4) as usize];
            let mut wide_field = || match self.field(0, u32::MAX.into(), wide(shift)) {
                // Of more than 2^32 values.
                Field::Vary(Vary::Range { min, .. }) if shift > 0 => Field::Constant(min),
                other => other,
            };
            let (src, dst) = (wide_field(), wide_field());
            stack.push(Header::Ipv6(Ipv6 {
                src,
                dst,
                dscp,
                flow_label: self.roll(1 << 20) as u32,
                hop_limit: ttl,
                protocol: None,
            }));
            self.extensions(stack);
        }
        is_v4
    }

    /// Writes in the first `room` bytes of a frame, none of which changes its probe or a checksum.
    fn writes(&mut self, content: Content<'_>, room: u32) -> Vec<Write> {
        let count = self.roll(5);
        let drawn = (0..count).map(|_| {
            let bytes = self.roll(8) as u8 + 1;
            let highest = [7, 70_000, u64::MAX - 9][self.roll(3) as usize];
            Write {
                at: self.roll(u64::from(room) - u64::from(bytes) + 1) as u16,
                bytes,
                mask: [u64::MAX, 0xf0, 0xffff_0000, 0x0ff0_0ff0][self.roll(4) as usize],
                shift: [0, 0, 4, 16, -8, -3, 40][self.roll(7) as usize],
                add: [0, 5, -1, 70_000][self.roll(4) as usize],
                value: self.field(0, highest, |value| value),
            }
        });
        let drawn: Vec<Write> = drawn.collect();
        let is_allowed = |write: &Write| {
            let alone = Content {
                writes: std::slice::from_ref(write),
                ..content
            };
            match Template::of(alone, &[room + 4], 1, 0) {
                Ok(_) => true,
                Err(error) => {
                    assert!(error.why.contains("overlap") || error.why.contains("range of more"), "{error}");
                    false
                }
            }
        };
        drawn.into_iter().filter(is_allowed).collect()
    }

    fn stack(&mut self) -> Vec<Header> {
        let mut stack = Vec::new();
        self.ethernet(&mut stack);
        for _ in 0..2 {
            self.pseudowire(&mut stack);
            self.ip(&mut stack);
            match self.roll(6) {
                5 => {
                    let sport = self.field(49152, 65535, |value| value as u16);
                    stack.push(Header::Udp(Udp {
                        sport,
                        dport: Field::Constant(2152),
                        checksum: self.roll(2) == 0,
                    }));
                    stack.push(Header::Gtpu(Gtpu {
                        teid: self.field(0, u32::MAX.into(), |value| value as u32),
                        qfi: (self.roll(2) == 0).then(|| self.roll(64) as u8),
                    }));
                }
                0 => {
                    let sport = self.field(49152, 65535, |value| value as u16);
                    stack.push(Header::Udp(Udp {
                        sport,
                        dport: Field::Constant(4789),
                        checksum: self.roll(2) == 0,
                    }));
                    stack.push(Header::Vxlan(Vxlan {
                        vni: self.field(0, 0xff_ffff, |value| value as u32),
                    }));
                    self.ethernet(&mut stack);
                }
                1 => {
                    stack.push(Header::Gre(Gre {
                        key: (self.roll(2) == 0).then_some(0x0102_0304),
                    }));
                    if self.roll(2) == 0 {
                        self.ethernet(&mut stack);
                    } else {
                        self.labels(&mut stack);
                    }
                }
                2 => {}
                _ => {
                    stack.pop();
                    break;
                }
            }
        }
        stack.truncate(11);
        while !matches!(
            stack.last(),
            Some(Header::Ethernet(_) | Header::Vlan(_) | Header::Ipv4(_) | Header::Ipv6(_))
        ) {
            stack.pop();
        }
        if matches!(stack.last(), Some(Header::Ethernet(_) | Header::Vlan(_))) {
            self.ip(&mut stack);
        }
        let sport = self.field(1024, 4000, |value| value as u16);
        let dport = self.field(1, 4000, |value| value as u16);
        match self.roll(5) {
            0 => stack.push(Header::Tcp(Tcp {
                sport,
                dport,
                flags: self.roll(256) as u8,
            })),
            1 => stack.push(Header::Echo(Echo {
                id: self.roll(65536) as u16,
            })),
            _ => stack.push(Header::Udp(Udp {
                sport,
                dport,
                checksum: true,
            })),
        }
        stack
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_stack_builds_parses_back_and_verifies(
        dice in proptest::collection::vec(any::<u64>(), 0..90),
        flows in 1u32..40,
        extra in 0u32..1400,
        seed in any::<u64>(),
    ) {
        let headers = Dice(dice.into_iter()).stack();
        let minimum = minimum_size(&headers);
        let mut template = Template::new(&headers, &[minimum, minimum + extra], flows, seed).expect("a valid stack");
        template.set_first_flow(9);
        let mut cursor = template.cursor();
        let mut slot = vec![0; (minimum + extra) as usize];
        let (first, shared) = (template.frame(0, 0, 0, 0), template.shared());
        for number in 0..100u64 {
            let (flow, sequence) = (cursor.flow(), cursor.sequence());
            let size = (number % 2) as usize;
            let length = template.write(&mut cursor, size, number * 1_000_007, &mut slot);
            let frame = &slot[..length];
            prop_assert!(shared.iter().zip(&first).zip(frame).all(|((shared, one), other)| (one ^ other) & shared == 0));
            prop_assert!(template.checked().is_good(frame));
            prop_assert_eq!(frame, &template.frame(flow, sequence, size, number * 1_000_007)[..]);
            let layers = parse(frame).expect("layers");
            prop_assert_eq!(layers.inner.payload, template.probe_offset(), "{:?}", headers);
            prop_assert!(layers.inner.whole && !layers.malformed);
            let verified = verify(frame, &layers);
            prop_assert!(verified.is_good(), "{:?}", verified);
            prop_assert_eq!(verify_frame(frame), verified);
            let expected = Probe { flow: 9 + flow, sequence: sequence as u32, departure_ps: number * 1_000_007 };
            prop_assert_eq!(find(frame, &mut 0), Some((expected, template.probe_offset() as usize)));
        }
    }

    /// What is written over a frame is what is built from scratch, in bursts too, wherever it lies and whatever it overlaps.
    #[test]
    fn any_writes_are_as_built_from_scratch(
        dice in proptest::collection::vec(any::<u64>(), 0..120),
        flows in 1u32..40,
        extra in 0u32..300,
        seed in any::<u64>(),
        probe in any::<bool>(),
        payload in proptest::collection::vec(any::<u8>(), 0..5),
    ) {
        let mut dice = Dice(dice.into_iter());
        let headers = dice.stack();
        let bare = Content { headers: &headers, writes: &[], payload: &payload, probe };
        let minimum = bare.minimum_size();
        let writes = dice.writes(bare, minimum + extra - 4);
        let content = Content { writes: &writes, ..bare };
        let sizes = [content.minimum_size(), content.minimum_size() + extra];
        let template = Template::of(content, &sizes, flows, seed).expect("fits");
        let (first, shared) = (template.frame(0, 0, 0, 0), template.shared());
        let (mut cursor, mut slot) = (template.cursor(), [0xee; 3000]);
        for number in 0..100 {
            let (flow, sequence, size) = (cursor.flow(), cursor.sequence(), number as usize % 2);
            let length = template.write(&mut cursor, size, number, &mut slot);
            let frame = &slot[..length];
            prop_assert_eq!(frame, &template.frame(flow, sequence, size, number)[..], "{:?}", writes);
            prop_assert!(shared.iter().zip(&first).zip(frame).all(|((shared, one), other)| (one ^ other) & shared == 0));
        }
        template.seek(&mut cursor, 3);
        let expected = template.frame(3 % flows, u64::from(3 / flows), 0, 0);
        let length = template.write(&mut cursor, 0, 0, &mut slot);
        prop_assert_eq!(&slot[..length], &expected[..]);
    }

    /// Frames of fields as plans write them agree in the bits that AND and OR over all their values say, and those alone.
    #[test]
    fn shared_bits_are_those_in_which_all_values_agree(
        values in proptest::collection::vec(any::<u16>(), 1..600),
        start in any::<u16>(),
        step in 0u64..9,
        flows in 1u32..700,
    ) {
        let list = Field::Vary(Vary::List(values.clone()));
        let count = (u64::from(u16::MAX - start).checked_div(step).unwrap_or(500) + 1).min(500);
        let ports = Field::Vary(Vary::Step { start, step: step as i64, count, every: 1 });
        let mut headers = crate::common::over_ethernet(&[crate::common::IPV4]);
        headers.push(Header::Udp(Udp { sport: list, dport: ports, checksum: true }));
        let template = Template::without_probe(&headers, &[64], flows, 1).expect("a valid stack");
        let word = |at: usize| u16::from_be_bytes([template.shared()[at], template.shared()[at + 1]]);
        let met = &values[..values.len().min(flows as usize)];
        let same = met.iter().fold(u16::MAX, |same, value| same & !(value ^ met[0]));
        prop_assert_eq!(word(34), same);
        let stepped = (0..count.min(u64::from(flows))).map(|index| start + (index * step) as u16);
        let agree = stepped.fold(u16::MAX, |same, value| same & !(value ^ start));
        // What a step may change is a range of bits: none that changes is missing.
        prop_assert_eq!(word(36) & !agree, 0);
    }

    /// Frames as small as their headers: what is written is what is built from scratch, and the payload counts up from 0.
    #[test]
    fn any_stack_without_a_probe_is_what_is_built_from_scratch(
        dice in proptest::collection::vec(any::<u64>(), 0..90),
        flows in 1u32..40,
        extra in 0u32..1400,
        seed in any::<u64>(),
    ) {
        let headers = Dice(dice.into_iter()).stack();
        let minimum = 64.max(minimum_size(&headers).saturating_sub(18));
        let template = Template::without_probe(&headers, &[minimum, minimum + extra], flows, seed).expect("a valid stack");
        let mut cursor = template.cursor();
        let mut slot = vec![0; (minimum + extra) as usize];
        for number in 0..100u64 {
            let (flow, sequence) = (cursor.flow(), cursor.sequence());
            let size = (number % 2) as usize;
            let length = template.write(&mut cursor, size, number, &mut slot);
            let frame = &slot[..length];
            prop_assert_eq!(frame, &template.frame(flow, sequence, size, 0)[..]);
            prop_assert!(verify_frame(frame).is_good());
            let payload = &frame[template.probe_offset() as usize..];
            prop_assert!(payload.iter().zip((0..=255).cycle()).all(|(byte, number)| *byte == number));
            let layers = parse(frame).expect("layers");
            prop_assert_eq!(layers.inner.payload, template.probe_offset(), "{:?}", headers);
        }
        let below = minimum - 1;
        prop_assert!(Template::without_probe(&headers, &[below], flows, seed).is_err());
    }

    #[test]
    fn test_hostile_stacks_are_built_or_refused(
        headers in proptest::collection::vec(hostile_header(), 0..20),
        size in prop_oneof![Just(0), Just(64), 60u32..300, Just(16_384), Just(u32::MAX)],
        flows in 0u32..4,
        seed in any::<u64>(),
    ) {
        let ethernet = serde_json::json!({"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"});
        let whole: Vec<_> = std::iter::once(ethernet).chain(headers).collect();
        let Ok(stack) = serde_json::from_value::<Vec<Header>>(whole.into()) else { return Ok(()) };
        let least = minimum_size(&stack);
        let Ok(template) = Template::new(&stack, &[size], flows, seed) else { return Ok(()) };
        prop_assert!(size >= least && flows > 0);
        let mut slot = vec![0; size as usize];
        let length = template.write(&mut template.cursor(), 0, 5, &mut slot);
        prop_assert_eq!(&slot[..length], &template.frame(0, 0, 0, 5)[..]);
        prop_assert_eq!(template.probe_offset() % 2, 0);
        prop_assert!(find(&slot[..length], &mut template.probe_offset()).is_some());
        look_at(&slot[..length]);
    }

    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        look_at(&bytes);
    }

    #[test]
    fn any_damage_is_parsed_without_panic(
        dice in proptest::collection::vec(any::<u64>(), 0..90),
        damage in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..6),
        cut in any::<u16>(),
    ) {
        let headers = Dice(dice.into_iter()).stack();
        let template = Template::new(&headers, &[minimum_size(&headers) + 10], 1, 0).expect("a valid stack");
        let mut frame = template.frame(0, 0, 0, 0);
        for (place, byte) in damage {
            let place = usize::from(place) % frame.len();
            frame[place] = byte;
        }
        look_at(&frame);
        frame.truncate(usize::from(cut) % (frame.len() + 1));
        look_at(&frame);
    }

    #[test]
    fn an_update_is_a_sum_from_scratch(words in proptest::collection::vec(any::<u16>(), 4..40), place in 0usize..1000, new in any::<u32>()) {
        let bytes = |words: &[u16]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        prop_assume!(words.iter().skip(2).any(|word| *word != 0));
        // The first two words stay out of the change, so that the sum stays above zero.
        let place = 2 + place % (words.len() - 3);
        let before = finish(sum(&bytes(&words)));
        let mut changed = words.clone();
        (changed[place], changed[place + 1]) = ((new >> 16) as u16, new as u16);
        changed[0] |= 1;
        let mut same_start = words.clone();
        same_start[0] |= 1;
        let scratch = finish(sum(&bytes(&changed)));
        let start = update(before, words[0], words[0] | 1);
        let old = u32::from(same_start[place]) << 16 | u32::from(same_start[place + 1]);
        prop_assert_eq!(update32(start, old, new), scratch);
        let step = update(start, same_start[place], changed[place]);
        prop_assert_eq!(update(step, same_start[place + 1], changed[place + 1]), scratch);
    }

    #[test]
    fn a_sum_is_that_of_its_words(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        // Word by word, with the carry brought round each time (RFC 1071 section 1).
        let slow = bytes.chunks(2).fold(0u32, |total, word| {
            let total = total + (u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0)));
            (total & 0xffff) + (total >> 16)
        });
        prop_assert_eq!(sum(&bytes), u64::from(slow));
    }

    #[test]
    fn probes_read_back(flow in any::<u32>(), sequence in any::<u32>(), departure_ps in any::<u64>()) {
        let probe = Probe { flow, sequence, departure_ps };
        let mut bytes = [0; 18];
        probe.write(&mut bytes);
        prop_assert_eq!(Probe::read(&bytes), Some(probe));
        // A constant: all probes sum to 0x6e64, whatever they say.
        prop_assert_eq!(sum(&bytes), 0x6e64);
    }
}

/// A header of any type, half of them with values at and beyond the ends of what fits.
fn hostile_header() -> impl Strategy<Value = serde_json::Value> {
    let types = [
        "vlan",
        "pppoe",
        "ppp",
        "mpls",
        "control_word",
        "ethernet",
        "ipv4",
        "ipv6",
        "hop_by_hop",
        "destination_options",
        "routing",
        "srh",
        "fragment",
        "udp",
        "tcp",
        "echo",
        "gre",
        "vxlan",
        "gtpu",
        "raw",
    ];
    let numbers = proptest::collection::vec(
        proptest::sample::select(vec![0u64, 1, 2, 7, 8, 64, 255, 1480, 2048, 65528, 65535, 1 << 20]),
        4,
    );
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    (proptest::sample::select(types.to_vec()), numbers, bytes, any::<bool>()).prop_map(|(kind, numbers, bytes, hostile)| {
        let [a, b, c, d] = numbers[..] else { unreachable!() };
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let addresses = vec!["2001:2::1"; (a % 200) as usize];
        let mut header = match kind {
            "ethernet" => serde_json::json!({"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}),
            "vlan" => serde_json::json!({"vid": 5}),
            "pppoe" => serde_json::json!({"session": a % 65536}),
            "mpls" => serde_json::json!({"label": 777}),
            "ipv4" => serde_json::json!({"src": "16.0.0.1", "dst": "48.0.0.1", "dscp": {"list": [0, 63]}}),
            "ipv6" => serde_json::json!({"src": "2001:2::1", "dst": "2001:2::2", "hop_limit": {"random": {"min": 0, "max": 255}}}),
            "hop_by_hop" | "destination_options" => serde_json::json!({"options": text}),
            "routing" => serde_json::json!({"addresses": addresses, "segments_left": b % 256}),
            "srh" => serde_json::json!({"segments": addresses}),
            "udp" | "tcp" => serde_json::json!({"sport": a % 65536, "dport": 2152}),
            "vxlan" => serde_json::json!({"vni": 1}),
            "gtpu" => serde_json::json!({"teid": c}),
            "raw" => serde_json::json!({"bytes": text}),
            _ => serde_json::json!({}),
        };
        header["type"] = kind.into();
        if hostile {
            for (name, value) in [
                ("ethertype", a),
                ("pcp", b),
                ("tc", b),
                ("ttl", c),
                ("df", d),
                ("offset", a),
                ("protocol", b),
                ("size", d),
                ("segments_left", d),
                ("qfi", c),
                ("vid", d),
                ("sequence", a),
                ("hop_limit", b),
                ("flow_label", c),
            ] {
                // A field of another type makes the whole unreadable, so only some are set.
                if (a ^ b ^ c ^ d ^ name.len() as u64).is_multiple_of(7) {
                    header[name] = value.into();
                }
            }
            if d % 2 == 0 && matches!(kind, "ipv4" | "fragment") {
                header["more"] = true.into();
            }
        }
        header
    })
}

/// Everything that looks at a frame; what it says does not matter here.
fn look_at(frame: &[u8]) {
    if let Some(layers) = parse(frame) {
        let _ = layers.tags(frame).count();
        assert_eq!(verify_frame(frame), verify(frame, &layers));
        for packet in [layers.outer, layers.inner] {
            assert!(packet.l3 <= packet.l4 && packet.l4 <= packet.payload && packet.payload as usize <= frame.len());
            assert!(packet.payload <= packet.end && packet.end as usize <= frame.len(), "{packet:?}");
        }
        // Layers of another frame are no reason to panic either.
        let _ = verify(&frame[..frame.len() / 2], &layers);
    }
    let _ = (Arp::parse(frame), Neighbour::parse(frame), echo_target(frame));
    for hint in [0, 1, 42, 299, u32::MAX] {
        let _ = find(frame, &mut hint.clone());
    }
    let mut copy = frame.to_vec();
    let _ = echo_reply(&mut copy);
}
