//! The hot path: what is written over a copied image, frame by frame, without division, allocation or search.

mod block;
pub(super) mod burst;
pub(super) mod compile;
pub(super) mod mixed;

use crate::bytes::put;
use crate::checksum::{add_halves, finish, finish_half, finish_udp, fold, halves};
use crate::probe::Probe;
use crate::stack::MOST_HEADERS;
use crate::vary::{Random, hash, scale};
use std::ops::Range;

/// How far a stream has come: the next frame's flow and sequence.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// The flows it goes through, over and over.
    flows: Range<u32>,
    flow: u32,
    sequence: u64,
    /// `flow` modulo each of [`Plan::periods`], then where each of [`Plan::wheels`] is; and what these are of the first of its flows.
    counters: Vec<u32>,
    first: Vec<u32>,
    /// Flows that each wheel has been where it is for, and of the first of its flows.
    stays: Vec<u32>,
    first_stays: Vec<u32>,
}

impl Cursor {
    /// The flow of the next frame.
    #[inline]
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// The sequence, in its flow, of the next frame. The probe carries the low 32 bits.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

/// How many flows there are, and the number of the first in the probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flows {
    pub count: u32,
    pub first: u32,
}

/// One size's image: where it lies, and the sums of what its checksums cover, less what is patched.
#[derive(Clone, Debug, Default)]
struct Image {
    start: usize,
    len: usize,
    /// `len` and zeros up to a whole number of lines, which lie there too: a burst copies those as well if there is room.
    padded: usize,
    /// As [`Plan::sums`]; of a [`Shape::Udp4`] the IPv4 header's and the UDP segment's.
    sums: Vec<u16>,
    ip: u16,
    l4: u16,
}

/// A counter that goes on by `step` every so many flows, modulo `size`, from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wheel {
    every: u32,
    first: u64,
    step: u64,
    size: u64,
}

impl Wheel {
    /// Where it is in flow `flow`, and for how many flows it has been there. Divides.
    fn at(self, flow: u32) -> (u32, u32) {
        let turned = u128::from(self.step) * u128::from(flow / self.every);
        let place = (u128::from(self.first) + turned) % u128::from(self.size);
        (place as u32, flow % self.every)
    }
}

/// Number of a counter in the cursor, or the flow itself.
type Counter = usize;
const FLOW: Counter = usize::MAX;

/// How a field's number follows from the cursor. Numbers are below 2^64.
#[derive(Clone, Debug)]
enum Draw {
    Constant(u64),
    List {
        values: Vec<u64>,
        counter: Counter,
    },
    Step {
        start: u64,
        step: u64,
        counter: Counter,
    },
    Random {
        key: u64,
        min: u64,
        span: u64,
    },
    /// The low 16 bits of the sequence.
    Sequence,
}

/// A field that is written: `width` bytes at `offset` hold `others | number << shift`.
#[derive(Clone, Debug)]
struct Patch {
    offset: usize,
    width: usize,
    shift: u32,
    others: u64,
    draw: Draw,
    /// Bit c: it counts in variable checksum c.
    counts_in: u32,
}

/// An IPv6 address that varies beyond its low 64 bits.
#[derive(Clone, Debug)]
struct Wide {
    offset: usize,
    draw: WideDraw,
    counts_in: u32,
}

#[derive(Clone, Debug)]
enum WideDraw {
    List { values: Vec<u128>, counter: Counter },
    Step { start: u128, step: i64, counter: Counter },
    Random(Random),
}

/// Bytes that are written over all else, with the same checksums: `width` of them at `offset`. Of the number plus `add`, shifted
/// to the left and then to the right, the bits in `mask`.
#[derive(Clone, Debug)]
struct Piece {
    offset: usize,
    width: usize,
    draw: Draw,
    add: u64,
    left: u32,
    right: u32,
    mask: u64,
    counts_in: u32,
    /// It ends at an odd offset: in sums its bytes are the other way round.
    is_odd: bool,
}

/// A checksum that varies, in the order of writing: from the inside out.
#[derive(Clone, Debug)]
struct Sum {
    offset: usize,
    udp: bool,
    counts_in: u32,
}

/// The common case: only addresses and ports of the innermost IPv4 and UDP headers matter to checksums, so all that
/// is patched lies in the 46 bytes from the IPv4 header to the end of the probe.
#[derive(Clone, Debug)]
struct Udp4 {
    l3: usize,
    src: Draw,
    dst: Draw,
    sport: Draw,
    dport: Draw,
    /// All ones, or 0 if the checksum is not filled in.
    checksum: u16,
}

#[derive(Clone, Debug)]
enum Shape {
    /// The images are right as they are, but for the probe.
    Constant,
    Udp4(Udp4),
    General,
    /// As the general one, without a probe.
    Bare,
}

/// All that is patched.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    shape: Shape,
    images: Vec<Image>,
    /// Offset of the probe, and of what is behind it.
    payload: usize,
    head: usize,
    /// Whether bytes count up behind all that is a frame's own.
    counts_up: bool,
    /// Whether there are long frames: to write no more of them than [`Plan::head`] is worth while where the rest is there.
    has_long: bool,
    /// With [`Shape::Udp4`]: those that count in no checksum.
    patches: Vec<Patch>,
    wides: Vec<Wide>,
    pieces: Vec<Piece>,
    sums: Vec<Sum>,
    periods: Vec<u32>,
    wheels: Vec<Wheel>,
}

/// Bytes copied at once.
pub(super) const LINE: usize = 64;

/// A frame with at least so many bytes behind its probe is long.
const LONG: usize = 128;

/// Copies an image. The lengths of short frames are known to the compiler, which then needs no call.
#[inline]
fn copy(image: &[u8], slot: &mut [u8]) {
    if let (Ok(from), Ok(to)) = (<&[u8; 60]>::try_from(image), <&mut [u8; 60]>::try_from(&mut *slot)) {
        *to = *from;
    } else if image.len() <= 128
        && let (Some(from), Some(rest)) = (image.first_chunk::<64>(), image.last_chunk::<64>())
        && slot.len() == image.len()
    {
        if let Some(to) = slot.first_chunk_mut::<64>() {
            *to = *from;
        }
        if let Some(to) = slot.last_chunk_mut::<64>() {
            *to = *rest;
        }
    } else {
        slot.copy_from_slice(image);
    }
}

impl Draw {
    #[inline]
    fn number(&self, cursor: &Cursor) -> u64 {
        let at = |counter: Counter| if counter == FLOW { cursor.flow } else { cursor.counters[counter] };
        match self {
            Self::Constant(value) => *value,
            Self::Random { key, min, span } => min + scale(hash(*key, cursor.flow), *span),
            // A step downwards is one upwards around the end.
            Self::Step { start, step, counter } => start.wrapping_add(step.wrapping_mul(at(*counter).into())),
            Self::List { values, counter } => values[at(*counter) as usize],
            Self::Sequence => cursor.sequence & 0xffff,
        }
    }
}

impl WideDraw {
    fn number(&self, cursor: &Cursor) -> u128 {
        let at = |counter: Counter| if counter == FLOW { cursor.flow } else { cursor.counters[counter] };
        match self {
            Self::List { values, counter } => values[at(*counter) as usize],
            Self::Step { start, step, counter } => start.wrapping_add_signed(i128::from(*step) * i128::from(at(*counter))),
            Self::Random(random) => random.value(cursor.flow),
        }
    }
}

impl Patch {
    /// Writes the field, and returns what it adds to a sum (below 2^33, or 2^48 for a MAC address).
    #[inline]
    fn write(&self, cursor: &Cursor, slot: &mut [u8]) -> u64 {
        let number = self.draw.number(cursor) << self.shift;
        let at = self.offset;
        let value = number | self.others;
        match self.width {
            2 => put(slot, at, (value as u16).to_be_bytes()),
            4 => put(slot, at, (value as u32).to_be_bytes()),
            6 => {
                let [_, _, bytes @ ..] = value.to_be_bytes();
                put(slot, at, bytes);
            }
            _ => {
                put(slot, at, value.to_be_bytes());
                return (number >> 32) + (number & 0xffff_ffff);
            }
        }
        number
    }
}

impl Piece {
    /// Writes it, and returns what that adds to a sum (below 2^34): the new bytes and the complement of the old ones (RFC 1624).
    #[inline]
    fn write(&self, cursor: &Cursor, slot: &mut [u8]) -> u64 {
        let number = self.draw.number(cursor).wrapping_add(self.add) << self.left >> self.right & self.mask;
        let old = match self.width {
            1 => self.replace::<1>(number, slot),
            2 => self.replace::<2>(number, slot),
            3 => self.replace::<3>(number, slot),
            4 => self.replace::<4>(number, slot),
            5 => self.replace::<5>(number, slot),
            6 => self.replace::<6>(number, slot),
            7 => self.replace::<7>(number, slot),
            _ => self.replace::<8>(number, slot),
        };
        let change = halves(number) + halves(!old);
        if self.is_odd { fold(change).swap_bytes().into() } else { change }
    }

    /// Writes `number` in place of the bits that it returns.
    #[inline]
    fn replace<const N: usize>(&self, number: u64, slot: &mut [u8]) -> u64 {
        let Some(bytes) = slot[self.offset..].first_chunk_mut::<N>() else {
            return 0;
        };
        let mut word = [0; 8];
        word[8 - N..].copy_from_slice(bytes);
        let old = u64::from_be_bytes(word);
        let new = (old & !self.mask | number).to_be_bytes();
        bytes.copy_from_slice(&new[8 - N..]);
        old & self.mask
    }
}

impl Udp4 {
    #[inline]
    fn write(&self, cursor: &Cursor, image: &Image, probe: Probe, slot: &mut [u8]) {
        let ports = self.sport.number(cursor) << 16 | self.dport.number(cursor);
        let (src, dst) = (self.src.number(cursor), self.dst.number(cursor));
        self.put(image, src as u32, dst as u32, ports as u32, probe, slot);
    }

    #[inline]
    fn put(&self, image: &Image, src: u32, dst: u32, ports: u32, probe: Probe, slot: &mut [u8]) {
        let Some(window) = slot[self.l3..].first_chunk_mut::<46>() else {
            return;
        };
        let addresses = add_halves(src, dst);
        let ip = finish_half(add_halves(addresses, u32::from(image.ip)));
        let udp = finish_half(add_halves(add_halves(addresses, ports), u32::from(image.l4)));
        let udp = if udp == 0 { 0xffff } else { udp } & self.checksum;
        put(window, 10, ip.to_be_bytes());
        put(window, 12, (u64::from(src) << 32 | u64::from(dst)).to_be_bytes());
        put(window, 20, ports.to_be_bytes());
        put(window, 26, udp.to_be_bytes());
        probe.put(window, 28);
    }
}

impl Plan {
    pub fn cursor(&self, flows: Range<u32>) -> Cursor {
        let mut first: Vec<u32> = self.periods.iter().map(|period| flows.start % period).collect();
        let (places, first_stays): (Vec<u32>, Vec<u32>) = self.wheels.iter().map(|wheel| wheel.at(flows.start)).unzip();
        first.extend(places);
        Cursor {
            flow: flows.start,
            flows,
            sequence: 0,
            counters: first.clone(),
            first,
            stays: first_stays.clone(),
            first_stays,
        }
    }

    pub fn seek(&self, cursor: &mut Cursor, flow: u32, sequence: u64) {
        (cursor.flow, cursor.sequence) = (flow, sequence);
        for (counter, period) in cursor.counters.iter_mut().zip(&self.periods) {
            *counter = flow % period;
        }
        let places = cursor.counters[self.periods.len()..].iter_mut().zip(&mut cursor.stays);
        for ((counter, stays), wheel) in places.zip(&self.wheels) {
            (*counter, *stays) = wheel.at(flow);
        }
    }

    /// To the next flow, or the next sequence of the first.
    #[inline]
    fn advance(&self, cursor: &mut Cursor) {
        let flow = cursor.flow + 1;
        if flow == cursor.flows.end {
            cursor.flow = cursor.flows.start;
            cursor.sequence += 1;
            cursor.counters.copy_from_slice(&cursor.first);
            cursor.stays.copy_from_slice(&cursor.first_stays);
        } else {
            cursor.flow = flow;
            for (counter, period) in cursor.counters.iter_mut().zip(&self.periods) {
                let next = *counter + 1;
                *counter = if next == *period { 0 } else { next };
            }
            if !self.wheels.is_empty() {
                self.turn(cursor);
            }
        }
    }

    /// Turns the wheels by one flow.
    fn turn(&self, cursor: &mut Cursor) {
        let places = cursor.counters[self.periods.len()..].iter_mut().zip(&mut cursor.stays);
        for ((counter, stays), wheel) in places.zip(&self.wheels) {
            *stays += 1;
            if *stays == wheel.every {
                let next = u64::from(*counter) + wheel.step;
                *stays = 0;
                *counter = if next >= wheel.size { next - wheel.size } else { next } as u32;
            }
        }
    }

    /// How much of a frame is its own: headers and probe. What follows counts up from 0.
    #[inline]
    fn head(&self) -> usize {
        self.head
    }

    /// Writes one frame.
    #[inline]
    pub fn write(&self, images: &[u8], cursor: &mut Cursor, flows: Flows, size_index: usize, departure_ps: u64, slot: &mut [u8]) -> usize {
        self.write_first(
            images,
            cursor,
            flows,
            size_index,
            departure_ps,
            &mut slot[..self.images[size_index].len],
        )
    }

    /// Writes the first bytes of one frame, as many as there are in `slot`: its [head](Self::head) at least. How long it is.
    #[inline]
    fn write_first(
        &self,
        images: &[u8],
        cursor: &mut Cursor,
        flows: Flows,
        size_index: usize,
        departure_ps: u64,
        slot: &mut [u8],
    ) -> usize {
        let image = &self.images[size_index];
        copy(&images[image.start..][..slot.len()], slot);
        let flow = flows.first.wrapping_add(cursor.flow);
        self.patch(
            cursor,
            image,
            Probe {
                flow,
                sequence: cursor.sequence as u32,
                departure_ps,
            },
            slot,
        );
        self.advance(cursor);
        image.len
    }

    /// Makes the copied image the frame at `cursor`.
    #[inline]
    fn patch(&self, cursor: &Cursor, image: &Image, probe: Probe, slot: &mut [u8]) {
        match &self.shape {
            Shape::Constant => probe.put(slot, self.payload),
            Shape::Udp4(shape) => {
                shape.write(cursor, image, probe, slot);
                for patch in &self.patches {
                    patch.write(cursor, slot);
                }
            }
            Shape::General => {
                probe.put(slot, self.payload);
                self.patch_headers(cursor, image, slot);
            }
            Shape::Bare => self.patch_headers(cursor, image, slot),
        }
    }

    fn patch_headers(&self, cursor: &Cursor, image: &Image, slot: &mut [u8]) {
        let mut totals = [0u64; MOST_HEADERS];
        for (total, sum) in totals.iter_mut().zip(&image.sums) {
            *total = u64::from(*sum);
        }
        for patch in &self.patches {
            let value = patch.write(cursor, slot);
            add(&mut totals, patch.counts_in, value);
        }
        for wide in &self.wides {
            let value = wide.draw.number(cursor);
            put(slot, wide.offset, value.to_be_bytes());
            let words = [
                value >> 96,
                value >> 64 & 0xffff_ffff,
                value >> 32 & 0xffff_ffff,
                value & 0xffff_ffff,
            ];
            add(&mut totals, wide.counts_in, words.iter().sum::<u128>() as u64);
        }
        for piece in &self.pieces {
            let value = piece.write(cursor, slot);
            add(&mut totals, piece.counts_in, value);
        }
        for (index, sum) in self.sums.iter().enumerate() {
            let total = totals[index % MOST_HEADERS];
            let value = if sum.udp { finish_udp(total) } else { finish(total) };
            put(slot, sum.offset, value.to_be_bytes());
            add(&mut totals, sum.counts_in, u64::from(value));
        }
    }
}

#[inline]
fn add(totals: &mut [u64; MOST_HEADERS], mut counts_in: u32, value: u64) {
    while counts_in != 0 {
        totals[counts_in.trailing_zeros() as usize % MOST_HEADERS] += value;
        counts_in &= counts_in - 1;
    }
}
