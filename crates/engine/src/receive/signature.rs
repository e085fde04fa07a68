//! Knowing a stream's frame again when its probe is broken: by the header bytes no frame of it changes.

use netdyno_frame::parse::{Packet, parse, protocol};
use netdyno_frame::template::Template;

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
        let frame = template.frame(0, 0, 0, 0);
        let layers = parse(&frame);
        let l3 = layers.map_or(0, |layers| layers.outer.l3 as usize);
        let headers = frame.iter().zip(template.shared()).map(|(&byte, shared)| (byte, shared));
        let mut bytes: Vec<(u8, u8)> = headers.skip(l3).collect();
        for packet in layers.iter().flat_map(|layers| [&layers.outer, &layers.inner]) {
            hide_changeable(&mut bytes, packet, l3);
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

/// Hides what devices write anew: DSCP, ECN, DF, flow label and TTL, lengths, and checksums, of raw bytes too.
fn hide_changeable(bytes: &mut [(u8, u8)], packet: &Packet, from: usize) {
    const ALL: u8 = 0xff;
    let ip: &[(usize, u8)] = match packet.version {
        4 => &[(1, ALL), (2, ALL), (3, ALL), (6, 0x40), (8, ALL), (10, ALL), (11, ALL)],
        6 => &[(0, 0x0f), (1, ALL), (2, ALL), (3, ALL), (4, ALL), (5, ALL), (7, ALL)],
        _ => &[],
    };
    let transport: &[usize] = match packet.protocol {
        protocol::UDP => &[4, 5, 6, 7],
        protocol::TCP => &[16, 17],
        protocol::ICMP | protocol::ICMPV6 => &[2, 3],
        _ => &[],
    };
    let transport = transport.iter().map(|at| (packet.l4 as usize + at, ALL));
    for (place, bits) in ip.iter().map(|(at, bits)| (packet.l3 as usize + at, *bits)).chain(transport) {
        if let Some((_, mask)) = place.checked_sub(from).and_then(|at| bytes.get_mut(at)) {
            *mask &= !bits;
        }
    }
}
