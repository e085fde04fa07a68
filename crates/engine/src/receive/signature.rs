//! Knowing a stream's frame again when its probe is broken: by the header bytes no frame of it changes.

use netdyno_frame::parse::{Layers, Packet, parse, protocol};
use netdyno_frame::template::Template;

/// Header bytes that all frames of a stream share, from layer 3 on: a router changes what is before.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Value and mask of each byte from layer 3 up to the payload.
    bytes: Vec<(u8, u8)>,
    /// Of those, bits that devices rewrite, by place: hidden from the masks unless they alone tell streams apart.
    marks: Vec<(usize, u8)>,
    /// The same in words of eight bytes, the last one filled up with a mask of 0.
    words: Vec<(u64, u64)>,
    /// Whether enough is the same in all frames that a stranger hardly looks like one.
    pub is_distinct: bool,
    /// Lengths from layer 3 on, one for each size.
    lengths: Vec<usize>,
    /// IP version and layer-4 protocol of the outermost packet.
    kind: (u8, u8),
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
        let mut marks = Vec::new();
        for packet in layers.iter().flat_map(|layers| [&layers.outer, &layers.inner]) {
            hide(&mut bytes, l3, &summed(packet));
            marks.extend(hide(&mut bytes, l3, &marked(packet)));
        }
        let mut found = Self {
            words: Vec::new(),
            is_distinct: bytes.iter().map(|(_, mask)| mask.count_ones()).sum::<u32>() >= 32,
            bytes,
            marks,
            kind: layers.map_or((0, 0), |layers| kind(&layers)),
            lengths: (0..sizes).map(|size| template.length(size).saturating_sub(l3)).collect(),
        };
        found.fill_words();
        found
    }

    fn fill_words(&mut self) {
        let word =
            |bytes: &[(u8, u8)], part: fn(&(u8, u8)) -> u8| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(part(byte)));
        let words = self.bytes.chunks(8);
        self.words = words
            .map(|bytes| (word(bytes, |(value, _)| *value), word(bytes, |(_, mask)| *mask)))
            .collect();
    }

    /// Looks at DSCP, ECN, DF and the flow label, too, which devices may rewrite: for streams that nothing else tells apart.
    pub fn look_at_marks(&mut self) {
        for (place, bits) in self.marks.drain(..) {
            self.bytes[place].1 |= bits;
        }
        self.fill_words();
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

    /// Whether `frame` may be one of this stream that the device changed: of its kind and of one of its lengths.
    #[must_use]
    pub fn is_of_kind(&self, frame: &[u8], layers: &Layers) -> bool {
        self.is_as_long(frame, layers.outer.l3 as usize) && kind(layers) == self.kind
    }

    fn is_as_long(&self, frame: &[u8], l3: usize) -> bool {
        // A device that takes a tag off pads to the smallest frame again.
        (frame.len() == 60 && self.lengths.iter().any(|length| l3 + length <= 60))
            || frame.len().checked_sub(l3).is_some_and(|length| self.lengths.contains(&length))
    }

    /// Whether `frame`, which holds no valid probe and whose layer 3 begins at `l3`, looks like a frame of this stream.
    #[must_use]
    pub fn matches(&self, frame: &[u8], l3: usize) -> bool {
        let Some(packet) = frame.get(l3..) else { return false };
        if !self.is_as_long(frame, l3) || !self.is_distinct || packet.len() < self.bytes.len() {
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

fn kind(layers: &Layers) -> (u8, u8) {
    (layers.outer.version, layers.outer.protocol)
}

/// Lengths, which differ from size to size, TTL and checksums, which do from hop to hop: places and bits.
fn summed(packet: &Packet) -> Vec<(usize, u8)> {
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
    let ip = ip.iter().map(|at| packet.l3 as usize + at);
    ip.chain(transport.iter().map(|at| packet.l4 as usize + at))
        .map(|at| (at, 0xff))
        .collect()
}

/// DSCP, ECN and DF, or the flow label: places and bits.
fn marked(packet: &Packet) -> Vec<(usize, u8)> {
    let marks: &[(usize, u8)] = match packet.version {
        4 => &[(1, 0xff), (6, 0x40)],
        6 => &[(0, 0x0f), (1, 0xff), (2, 0xff), (3, 0xff)],
        _ => &[],
    };
    marks.iter().map(|(at, bits)| (packet.l3 as usize + at, *bits)).collect()
}

/// Takes these bits out of the masks of `bytes`, the first of which lies at `from` of the frame. Returns those that were in them.
fn hide(bytes: &mut [(u8, u8)], from: usize, places: &[(usize, u8)]) -> Vec<(usize, u8)> {
    let mut hidden = Vec::new();
    for (place, bits) in places {
        let Some(at) = place.checked_sub(from) else { continue };
        let Some((_, mask)) = bytes.get_mut(at) else { continue };
        hidden.push((at, *mask & bits));
        *mask &= !bits;
    }
    hidden
}
