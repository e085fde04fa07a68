//! The hot path: what is written over a copied image, frame by frame, without division, allocation or search.

use super::Slots;
use crate::bytes::put;
use crate::checksum::{add_halves, finish, finish_half, finish_udp};
use crate::parse::protocol;
use crate::probe::Probe;
use crate::stack::{Checksum, MOST_HEADERS, Stack, StackField};
use crate::vary::{Random, Source, hash, scale};

/// How far a stream has come: the next frame's flow and sequence.
#[derive(Clone, Debug)]
pub struct Cursor {
    flow: u32,
    sequence: u64,
    /// `flow` modulo each of [`Plan::periods`].
    counters: Vec<u32>,
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
#[derive(Clone, Debug)]
struct Image {
    start: usize,
    len: usize,
    /// As [`Plan::sums`]; of a [`Shape::Udp4`] the IPv4 header's and the UDP segment's.
    sums: Vec<u16>,
    ip: u16,
    l4: u16,
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
    Step { start: u128, step: u64, counter: Counter },
    Random(Random),
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
}

/// All that is patched.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    shape: Shape,
    images: Vec<Image>,
    /// Offset of the probe.
    payload: usize,
    /// With [`Shape::Udp4`]: those that count in no checksum.
    patches: Vec<Patch>,
    wides: Vec<Wide>,
    sums: Vec<Sum>,
    periods: Vec<u32>,
}

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
            Self::Step { start, step, counter } => start + step * u64::from(at(*counter)),
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
            Self::Step { start, step, counter } => start + u128::from(*step) * u128::from(at(*counter)),
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

/// Both addresses random and nothing else: the case that has to be fast.
struct RandomPair<'a> {
    shape: &'a Udp4,
    src: (u64, u64, u64),
    dst: (u64, u64, u64),
    ports: u32,
}

impl RandomPair<'_> {
    #[inline]
    fn write(&self, flow: u32, image: &Image, probe: Probe, slot: &mut [u8]) {
        let draw = |(key, min, span): (u64, u64, u64)| (min + scale(hash(key, flow), span)) as u32;
        self.shape.put(image, draw(self.src), draw(self.dst), self.ports, probe, slot);
    }
}

impl Plan {
    pub fn cursor(&self) -> Cursor {
        Cursor {
            flow: 0,
            sequence: 0,
            counters: vec![0; self.periods.len()],
        }
    }

    pub fn seek(&self, cursor: &mut Cursor, flow: u32, sequence: u64) {
        (cursor.flow, cursor.sequence) = (flow, sequence);
        for (counter, period) in cursor.counters.iter_mut().zip(&self.periods) {
            *counter = flow % period;
        }
    }

    /// To the next flow, or the next sequence of the first.
    #[inline]
    fn advance(&self, cursor: &mut Cursor, flows: u32) {
        let flow = cursor.flow + 1;
        if flow == flows {
            cursor.flow = 0;
            cursor.sequence += 1;
            for counter in &mut cursor.counters {
                *counter = 0;
            }
        } else {
            cursor.flow = flow;
            for (counter, period) in cursor.counters.iter_mut().zip(&self.periods) {
                let next = *counter + 1;
                *counter = if next == *period { 0 } else { next };
            }
        }
    }

    /// The case of [`Shape::Udp4`] that has to be fast.
    fn random_pair(&self) -> Option<RandomPair<'_>> {
        let Shape::Udp4(shape) = &self.shape else { return None };
        let (
            Draw::Random { key, min, span },
            Draw::Random {
                key: key2,
                min: min2,
                span: span2,
            },
        ) = (&shape.src, &shape.dst)
        else {
            return None;
        };
        let (Draw::Constant(sport), Draw::Constant(dport)) = (&shape.sport, &shape.dport) else {
            return None;
        };
        let ports = (sport << 16 | dport) as u32;
        let pair = RandomPair {
            shape,
            src: (*key, *min, *span),
            dst: (*key2, *min2, *span2),
            ports,
        };
        (self.patches.is_empty() && self.periods.is_empty()).then_some(pair)
    }

    /// Writes a burst. The cases that matter most have loops of their own, so that what decides between cases, and
    /// the cursor, stay out of them.
    #[inline]
    pub fn burst(&self, images: &[u8], cursor: &mut Cursor, flows: Flows, count: usize, slots: &mut impl Slots) {
        if let Some(pair) = self.random_pair() {
            self.flat(images, cursor, flows, count, slots, |flow, image, probe, slot| {
                pair.write(flow, image, probe, slot)
            });
        } else if let Shape::Constant = self.shape {
            self.flat(images, cursor, flows, count, slots, |_, _, probe, slot| {
                probe.put(slot, self.payload)
            });
        } else {
            self.any(images, cursor, flows, count, slots);
        }
    }

    /// The burst of a cursor without counters.
    #[inline(never)]
    fn flat(
        &self,
        images: &[u8],
        cursor: &mut Cursor,
        flows: Flows,
        count: usize,
        slots: &mut impl Slots,
        write: impl Fn(u32, &Image, Probe, &mut [u8]),
    ) {
        let (mut flow, mut sequence) = (cursor.flow, cursor.sequence);
        for index in 0..count {
            let (size_index, departure_ps, slot) = slots.slot(index);
            let image = &self.images[size_index];
            let slot = &mut slot[..image.len];
            copy(&images[image.start..][..image.len], slot);
            let probe = Probe {
                flow: flows.first.wrapping_add(flow),
                sequence: sequence as u32,
                departure_ps,
            };
            write(flow, image, probe, slot);
            slots.written(index, image.len);
            flow += 1;
            if flow == flows.count {
                (flow, sequence) = (0, sequence + 1);
            }
        }
        (cursor.flow, cursor.sequence) = (flow, sequence);
    }

    #[inline(never)]
    fn any(&self, images: &[u8], cursor: &mut Cursor, flows: Flows, count: usize, slots: &mut impl Slots) {
        for index in 0..count {
            let (size_index, departure_ps, slot) = slots.slot(index);
            let len = self.write(images, cursor, flows, size_index, departure_ps, slot);
            slots.written(index, len);
        }
    }

    /// Writes one frame.
    #[inline]
    pub fn write(&self, images: &[u8], cursor: &mut Cursor, flows: Flows, size_index: usize, departure_ps: u64, slot: &mut [u8]) -> usize {
        let image = &self.images[size_index];
        let slot = &mut slot[..image.len];
        copy(&images[image.start..][..image.len], slot);
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
        self.advance(cursor, flows.count);
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
            Shape::General => self.patch_general(cursor, image, probe, slot),
        }
    }

    fn patch_general(&self, cursor: &Cursor, image: &Image, probe: Probe, slot: &mut [u8]) {
        probe.put(slot, self.payload);
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

/// The images of all sizes, and what is patched over them.
pub(super) fn compile(stack: &Stack, sizes: &[u32], flows: u32) -> (Vec<u8>, Plan) {
    let mut compiler = Compiler {
        stack,
        flows,
        periods: Vec::new(),
        variable: Vec::new(),
    };
    let plan = compiler.plan();
    let (mut images, mut plan) = (Vec::new(), plan);
    // What is patched is zero in the values that the sums are taken of.
    let first: Vec<u128> = stack.fields.iter().map(|field| field.source.value(0)).collect();
    let fixed: Vec<u128> = stack
        .fields
        .iter()
        .zip(&first)
        .map(|(field, value)| unpatched(field, *value, flows))
        .collect();
    for &size in sizes {
        let frame = stack.frame(size, &first, Probe::default());
        let mut bare = stack.frame(size, &fixed, Probe::default());
        for checksum in &compiler.variable {
            put(&mut bare, checksum.offset, [0, 0]);
        }
        let sums = compiler
            .variable
            .iter()
            .map(|checksum| crate::checksum::fold(stack.partial(checksum, &bare)))
            .collect();
        let (ip, l4) = if let Shape::Udp4(shape) = &plan.shape {
            udp4_sums(&bare, shape.l3)
        } else {
            (0, 0)
        };
        plan.images.push(Image {
            start: images.len(),
            len: frame.len(),
            sums,
            ip,
            l4,
        });
        images.extend_from_slice(&frame);
    }
    (images, plan)
}

/// What of a field's `value` in flow 0 is not patched.
fn unpatched(field: &StackField, value: u128, flows: u32) -> u128 {
    let (min, max) = field.source.range();
    match varies(field, flows) {
        false => value,
        true if min >> 64 == max >> 64 => (value >> 64) << 64,
        true => 0,
    }
}

/// The sums of an IPv4 header and of the UDP segment behind it with its pseudo-header, addresses, ports and
/// checksums taken as zero.
fn udp4_sums(frame: &[u8], l3: usize) -> (u16, u16) {
    let mut packet = frame[l3..].to_vec();
    for at in (10..24).chain(26..28) {
        packet[at] = 0;
    }
    let length = packet.len() as u32 - 20;
    let pseudo = crate::checksum::pseudo_header(4, &packet, protocol::UDP, length);
    let ip = crate::checksum::sum(&packet[..20]);
    (
        crate::checksum::fold(ip),
        crate::checksum::fold(pseudo + crate::checksum::sum(&packet[20..])),
    )
}

/// Whether a field differs between any two of the flows there are.
fn varies(field: &StackField, flows: u32) -> bool {
    flows > 1 && !matches!(field.source, Source::Constant(_))
}

struct Compiler<'a> {
    stack: &'a Stack,
    flows: u32,
    periods: Vec<u32>,
    /// Checksums that vary, from the inside out.
    variable: Vec<Checksum>,
}

impl Compiler<'_> {
    fn plan(&mut self) -> Plan {
        let changing: Vec<&StackField> = self.stack.fields.iter().filter(|field| varies(field, self.flows)).collect();
        let mut offsets: Vec<usize> = changing.iter().map(|field| field.offset).collect();
        offsets.extend(self.stack.echo_sequence);
        for checksum in self.stack.checksums.iter().rev() {
            if offsets.iter().any(|offset| checksum.covers(*offset)) {
                offsets.push(checksum.offset);
                self.variable.push(*checksum);
            }
        }
        let sums: Vec<Sum> = (0..self.variable.len())
            .map(|index| {
                let checksum = self.variable[index];
                // A checksum covers itself, but its own field counts as zero in it.
                Sum {
                    offset: checksum.offset,
                    udp: checksum.udp,
                    counts_in: self.counts_in(checksum.offset) & !(1 << index),
                }
            })
            .collect();
        let mut plan = Plan {
            shape: Shape::Constant,
            images: Vec::new(),
            payload: self.stack.payload(),
            patches: Vec::new(),
            wides: Vec::new(),
            sums,
            periods: Vec::new(),
        };
        plan.shape = match self.udp4() {
            _ if offsets.is_empty() => Shape::Constant,
            Some(shape) => Shape::Udp4(shape),
            None => Shape::General,
        };
        for field in changing {
            let counts_in = self.counts_in(field.offset);
            match self.draw(field) {
                _ if counts_in != 0 && matches!(plan.shape, Shape::Udp4(_)) => {}
                Some(draw) => plan.patches.push(self.patch(field, draw, counts_in)),
                None => plan.wides.push(Wide {
                    offset: field.offset,
                    draw: self.wide_draw(field),
                    counts_in,
                }),
            }
        }
        if let Some(offset) = self.stack.echo_sequence {
            let counts_in = self.counts_in(offset);
            plan.patches.push(Patch {
                offset,
                width: 2,
                shift: 0,
                others: 0,
                draw: Draw::Sequence,
                counts_in,
            });
        }
        plan.periods = std::mem::take(&mut self.periods);
        plan
    }

    fn counts_in(&self, offset: usize) -> u32 {
        self.variable
            .iter()
            .enumerate()
            .filter(|(_, checksum)| checksum.covers(offset))
            .fold(0, |bits, (index, _)| bits | 1 << index)
    }

    fn counter(&mut self, period: u64) -> Counter {
        let Some(period) = u32::try_from(period).ok().filter(|period| *period < self.flows) else {
            return FLOW;
        };
        self.periods.iter().position(|known| *known == period).unwrap_or_else(|| {
            self.periods.push(period);
            self.periods.len() - 1
        })
    }

    /// How the field's number follows; `None` if it takes more than 64 bits.
    fn draw(&mut self, field: &StackField) -> Option<Draw> {
        let (min, max) = field.source.range();
        let low = |value: u128| value as u64;
        // Of an IPv6 address whose high half is the same in all flows only the low half is drawn.
        if min >> 64 != max >> 64 {
            return None;
        }
        Some(match &field.source {
            Source::List(values) => Draw::List {
                values: values.iter().copied().map(low).collect(),
                counter: self.counter(values.len() as u64),
            },
            Source::Step { start, step, count } => Draw::Step {
                start: low(*start),
                step: *step,
                counter: self.counter(*count),
            },
            Source::Random(Random { key, min, span }) => Draw::Random {
                key: *key,
                min: low(*min),
                span: low(*span),
            },
            Source::Constant(value) => Draw::Constant(low(*value)),
        })
    }

    fn wide_draw(&mut self, field: &StackField) -> WideDraw {
        match &field.source {
            Source::List(values) => WideDraw::List {
                values: values.clone(),
                counter: self.counter(values.len() as u64),
            },
            Source::Step { start, step, count } => WideDraw::Step {
                start: *start,
                step: *step,
                counter: self.counter(*count),
            },
            Source::Random(random) => WideDraw::Random(*random),
            Source::Constant(value) => WideDraw::List {
                values: vec![*value],
                counter: self.counter(1),
            },
        }
    }

    fn patch(&self, field: &StackField, draw: Draw, counts_in: u32) -> Patch {
        let (offset, width) = if field.width == 16 {
            (field.offset + 8, 8)
        } else {
            (field.offset, field.width)
        };
        // The bits beside the value; of an IPv6 address there are none.
        let zero = vec![0; self.stack.fields.len()];
        let bare = self.stack.frame(crate::MAXIMUM_SIZE, &zero, Probe::default());
        let others = bare[offset..offset + width]
            .iter()
            .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        Patch {
            offset,
            width,
            shift: field.shift,
            others,
            draw,
            counts_in,
        }
    }

    /// The addresses and ports of an innermost IPv4/UDP, if nothing else counts in a variable checksum.
    fn udp4(&mut self) -> Option<Udp4> {
        let l3 = self.stack.payload().checked_sub(28)?;
        let find = |name: &str, offset: usize| {
            let mut fields = self.stack.fields.iter();
            fields.find(|field| field.field == name && field.offset == offset)
        };
        let ends = [
            find("src", l3 + 12)?,
            find("dst", l3 + 16)?,
            find("sport", l3 + 20)?,
            find("dport", l3 + 22)?,
        ];
        let is_udp4 = self
            .stack
            .checksums
            .iter()
            .any(|checksum| checksum.offset == l3 + 10 && checksum.end == Some(l3 + 20));
        let other_sums = self
            .variable
            .iter()
            .any(|checksum| checksum.offset != l3 + 10 && checksum.offset != l3 + 26);
        let fields = self.stack.fields.iter().filter(|field| varies(field, self.flows));
        let other_fields = fields
            .filter(|field| !ends.iter().any(|end| end.offset == field.offset))
            .any(|field| self.counts_in(field.offset) != 0);
        if !is_udp4 || other_sums || other_fields {
            return None;
        }
        let checksum = if self
            .stack
            .checksums
            .iter()
            .any(|checksum| checksum.udp && checksum.offset == l3 + 26)
        {
            0xffff
        } else {
            0
        };
        let first = |field: &StackField| Draw::Constant(field.source.value(0) as u64);
        let flows = self.flows;
        let [src, dst, sport, dport] = ends.map(|field| {
            if varies(field, flows) {
                self.draw(field)
            } else {
                Some(first(field))
            }
        });
        Some(Udp4 {
            l3,
            src: src?,
            dst: dst?,
            sport: sport?,
            dport: dport?,
            checksum,
        })
    }
}
