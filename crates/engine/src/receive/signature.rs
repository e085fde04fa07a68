//! Knowing a stream's frame again when its probe is broken: by the header bytes no frame of it changes.

use netdyno_frame::parse::{Packet, parse, protocol};
use netdyno_frame::template::Template;

/// Flows looked at to find out which bytes never change.
const SAMPLES: u32 = 256;

/// Header bytes that all frames of a stream share, from layer 3 on: a router changes what is before.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Value and mask of each byte from layer 3 up to the payload.
    bytes: Vec<(u8, u8)>,
    /// The same in words of eight bytes, the last one filled up with a mask of 0.
    words: Vec<(u64, u64)>,
    /// Whether enough is the same in all frames that a stranger hardly looks like one.
    pub is_distinct: bool,
    /// Lengths from layer 3 on, one for each size.
    lengths: Vec<usize>,
}

impl Signature {
    /// The signature of the frames of `template`, which has `sizes` sizes.
    #[must_use]
    pub fn new(template: &Template, sizes: usize) -> Self {
        let longest = (0..sizes).map(|size| template.length(size)).max().unwrap_or(0);
        let mut frame = vec![0; longest];
        let mut bytes: Vec<(u8, u8)> = Vec::new();
        let mut l3 = 14;
        let flows = template.flows();
        let mut cursor = template.cursor();
        for sample in 0..flows.min(SAMPLES) {
            // All of them, or both neighbours, which differ in low bits, and distant ones.
            let flow = if flows <= SAMPLES || sample % 2 == 0 {
                sample
            } else {
                (u64::from(flows) * u64::from(sample) / u64::from(SAMPLES)) as u32
            };
            template.seek(&mut cursor, u64::from(flow));
            let length = template.write(&mut cursor, 0, 0, &mut frame);
            let Some(layers) = parse(&frame[..length]) else { break };
            l3 = layers.outer.l3 as usize;
            let headers = &frame[l3..(layers.inner.payload as usize).max(l3)];
            if bytes.is_empty() {
                bytes = headers.iter().map(|&byte| (byte, 0xff)).collect();
                for packet in [&layers.outer, &layers.inner] {
                    hide_changeable(&mut bytes, packet, l3);
                }
            }
            for ((value, mask), &byte) in bytes.iter_mut().zip(headers) {
                *mask &= !(*value ^ byte);
            }
        }
        let word =
            |bytes: &[(u8, u8)], part: fn(&(u8, u8)) -> u8| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(part(byte)));
        Self {
            words: bytes
                .chunks(8)
                .map(|bytes| (word(bytes, |(value, _)| *value), word(bytes, |(_, mask)| *mask)))
                .collect(),
            is_distinct: bytes.iter().map(|(_, mask)| mask.count_ones()).sum::<u32>() >= 32,
            bytes,
            lengths: (0..sizes).map(|size| template.length(size).saturating_sub(l3)).collect(),
        }
    }

    /// Offset from layer 3, mask and value of each byte.
    pub fn shared(&self) -> impl Iterator<Item = (usize, u8, u8)> {
        self.bytes.iter().enumerate().map(|(at, (value, mask))| (at, *mask, *value))
    }

    /// Whether a frame may look like one of this stream and of `other`.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let mut both = self.bytes.iter().zip(&other.bytes);
        let lengths = self.lengths.iter().any(|length| other.lengths.contains(length));
        lengths && both.all(|((value, mask), (other, more))| (value ^ other) & mask & more == 0)
    }

    /// Whether `frame`, which holds no valid probe and whose layer 3 begins at `l3`, looks like a frame of this stream.
    #[must_use]
    pub fn matches(&self, frame: &[u8], l3: usize) -> bool {
        let Some(packet) = frame.get(l3..) else { return false };
        // A device that takes a tag off pads to the smallest frame again.
        let as_long = self.lengths.contains(&packet.len()) || frame.len() == 60;
        if !as_long || !self.is_distinct || packet.len() < self.bytes.len() {
            return false;
        }
        let (whole, rest) = packet.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let found = whole.iter().chain([&last]).map(|bytes| u64::from_le_bytes(*bytes));
        let other = self.words.iter().zip(found).map(|((value, mask), found)| (value ^ found) & mask);
        other.fold(0, |all, other| all | other) == 0
    }
}

/// Lengths differ from size to size, TTL and checksums from hop to hop.
fn hide_changeable(bytes: &mut [(u8, u8)], packet: &Packet, from: usize) {
    let ip: &[usize] = match packet.version {
        4 => &[2, 3, 8, 10, 11],
        6 => &[4, 5, 7],
        _ => &[],
    };
    let transport: &[usize] = match packet.protocol {
        protocol::UDP => &[4, 5, 6, 7],
        protocol::TCP => &[16, 17],
        protocol::ICMP | protocol::ICMPV6 => &[2, 3],
        _ => &[],
    };
    let places = ip
        .iter()
        .map(|at| packet.l3 as usize + at)
        .chain(transport.iter().map(|at| packet.l4 as usize + at));
    for place in places {
        if let Some((_, mask)) = place.checked_sub(from).and_then(|at| bytes.get_mut(at)) {
            *mask = 0;
        }
    }
}
