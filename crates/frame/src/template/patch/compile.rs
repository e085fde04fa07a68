//! From a laid-out stack to images and what is patched over them; once a template, so it may take its time.

use super::{Counter, Draw, FLOW, Image, LINE, LONG, Patch, Piece, Plan, Shape, Sum, Udp4, Wheel, Wide, WideDraw};
use crate::FCS_BYTES;
use crate::bytes::put;
use crate::checksum::{fold, pseudo_header, sum};
use crate::layout::{Checksum, Stack, StackField};
use crate::parse::protocol;
use crate::probe::{PROBE_BYTES, Probe};
use crate::vary::{Random, Source};
use crate::write::StackWrite;

/// The images of all sizes, and what is patched over them.
pub(in crate::template) fn compile(stack: &Stack, sizes: &[u32], flows: u32) -> (Vec<u8>, Plan) {
    let mut compiler = Compiler {
        stack,
        flows,
        periods: Vec::new(),
        wheels: Vec::new(),
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
        let frame = stack.frame(size, &first, &[], Probe::default());
        let mut bare = stack.frame(size, &fixed, &[], Probe::default());
        for checksum in &compiler.variable {
            put(&mut bare, checksum.offset, [0, 0]);
        }
        let sums = compiler
            .variable
            .iter()
            .map(|checksum| fold(stack.partial(checksum, &bare)))
            .collect();
        let (ip, l4) = if let Shape::Udp4(shape) = &plan.shape {
            udp4_sums(&bare, shape.l3)
        } else {
            (0, 0)
        };
        plan.images.push(Image {
            start: images.len(),
            len: frame.len(),
            padded: frame.len().next_multiple_of(LINE),
            sums,
            ip,
            l4,
        });
        plan.has_long |= plan.counts_up && frame.len() >= plan.head() + LONG;
        images.extend_from_slice(&frame);
        images.resize(images.len().next_multiple_of(LINE), 0);
    }
    (images, plan)
}

/// What of a field's `value` in flow 0 is not patched.
fn unpatched(field: &StackField, value: u128, flows: u32) -> u128 {
    let (min, max) = field.source.range();
    match varies(&field.source, flows) {
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
    let pseudo = pseudo_header(4, &packet, protocol::UDP, length);
    let ip = sum(&packet[..20]);
    (fold(ip), fold(pseudo + sum(&packet[20..])))
}

/// Whether the values differ between any two of the flows there are.
fn varies(source: &Source, flows: u32) -> bool {
    match source {
        Source::Constant(_) => false,
        Source::Slow { every, .. } => flows > *every,
        _ => flows > 1,
    }
}

/// Whether a field's values differ beyond their low 64 bits.
fn is_wide(field: &StackField) -> bool {
    let (min, max) = field.source.range();
    min >> 64 != max >> 64
}

struct Compiler<'a> {
    stack: &'a Stack,
    flows: u32,
    periods: Vec<u32>,
    wheels: Vec<Wheel>,
    /// Checksums that vary, from the inside out.
    variable: Vec<Checksum>,
}

impl Compiler<'_> {
    fn plan(&mut self) -> Plan {
        let changing = self.stack.fields.iter().filter(|field| varies(&field.source, self.flows));
        let changing: Vec<&StackField> = changing.collect();
        let mut offsets: Vec<usize> = changing.iter().map(|field| field.offset).collect();
        offsets.extend(self.stack.echo_sequence);
        offsets.extend(self.stack.writes.iter().flat_map(StackWrite::range));
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
            head: self.stack.head(),
            counts_up: self.stack.fill.is_empty(),
            has_long: false,
            patches: Vec::new(),
            wides: Vec::new(),
            pieces: Vec::new(),
            sums,
            periods: Vec::new(),
            wheels: Vec::new(),
        };
        // Wheels are numbered behind these.
        let written = self.stack.writes.iter().map(|write| &write.source);
        for source in changing.iter().map(|field| &field.source).chain(written) {
            match source {
                Source::List(values) => self.counter(values.len() as u64),
                Source::Step { count, .. } => self.counter(*count),
                _ => continue,
            };
        }
        plan.shape = match self.udp4() {
            _ if self.stack.probe == 0 => Shape::Bare,
            _ if offsets.is_empty() => Shape::Constant,
            // An IPv6 header outside that differs beyond its low half has no place in the fast shape.
            Some(shape) if !changing.iter().any(|field| is_wide(field)) => Shape::Udp4(shape),
            _ => Shape::General,
        };
        for field in changing {
            let counts_in = self.counts_in(field.offset);
            match self.field(field) {
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
        for write in &self.stack.writes {
            let draw = match varies(&write.source, self.flows) {
                true => self.draw(&write.source),
                false => Draw::Constant(write.source.value(0) as u64),
            };
            plan.pieces.extend(self.pieces(write, &draw));
        }
        plan.periods = std::mem::take(&mut self.periods);
        plan.wheels = std::mem::take(&mut self.wheels);
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

    fn wheel(&mut self, wheel: Wheel) -> Counter {
        let known = self.wheels.iter().position(|known| *known == wheel).unwrap_or_else(|| {
            self.wheels.push(wheel);
            self.wheels.len() - 1
        });
        self.periods.len() + known
    }

    /// What a source that walks takes the next value by.
    fn walk(&mut self, source: &Source) -> Counter {
        let (every, size, first, step) = match source {
            Source::Slow { every, of } => match &**of {
                Source::Range(range) => (*every, range.size, range.first, range.step),
                of => (*every, of.period().unwrap_or(1), 0, 1),
            },
            Source::Range(range) => (1, range.size, range.first, range.step),
            other => return self.counter(other.period().unwrap_or(1)),
        };
        self.wheel(Wheel { every, first, step, size })
    }

    /// A write as runs of bytes that count in the same checksums.
    fn pieces(&self, write: &StackWrite, draw: &Draw) -> Vec<Piece> {
        let counts_in = |at: usize| self.counts_in(at & !1);
        let mut found = Vec::new();
        let (mut from, end) = (write.at, write.range().end);
        while from < end {
            let to = (from..end).find(|at| counts_in(*at) != counts_in(from)).unwrap_or(end);
            let behind = 8 * (end - to) as u32;
            let bits = u32::from(write.shift.unsigned_abs());
            let (left, right) = if write.shift < 0 { (0, bits + behind) } else { (bits, behind) };
            let own = u64::MAX >> (64 - 8 * (to - from));
            found.push(Piece {
                offset: from,
                width: to - from,
                draw: draw.clone(),
                add: write.add,
                left,
                right: right.min(63),
                mask: if right > 63 { 0 } else { write.mask >> behind & own },
                counts_in: counts_in(from),
                is_odd: to % 2 == 1,
            });
            from = to;
        }
        found
    }

    /// How the field's number follows; `None` if it takes more than 64 bits.
    fn field(&mut self, field: &StackField) -> Option<Draw> {
        // Of an IPv6 address whose high half is the same in all flows only the low half is drawn.
        (!is_wide(field)).then(|| self.draw(&field.source))
    }

    /// How the low 64 bits of a number follow.
    fn draw(&mut self, source: &Source) -> Draw {
        let low = |value: u128| value as u64;
        match source.values() {
            Source::List(values) => Draw::List {
                values: values.iter().copied().map(low).collect(),
                counter: self.walk(source),
            },
            Source::Step { start, step, .. } => Draw::Step {
                start: low(*start),
                step: *step as u64,
                counter: self.walk(source),
            },
            Source::Range(range) => Draw::Step {
                start: low(range.min),
                step: 1,
                counter: self.walk(source),
            },
            Source::Random(Random { key, min, span }) => Draw::Random {
                key: *key,
                min: low(*min),
                span: low(*span),
            },
            other => Draw::Constant(low(other.value(0))),
        }
    }

    fn wide_draw(&mut self, field: &StackField) -> WideDraw {
        let source = &field.source;
        match source.values() {
            Source::List(values) => WideDraw::List {
                values: values.clone(),
                counter: self.walk(source),
            },
            Source::Step { start, step, .. } => WideDraw::Step {
                start: *start,
                step: *step,
                counter: self.walk(source),
            },
            Source::Range(range) => WideDraw::Step {
                start: range.min,
                step: 1,
                counter: self.walk(source),
            },
            Source::Random(random) => WideDraw::Random(*random),
            other => WideDraw::List {
                values: vec![other.value(0)],
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
        let size = (self.stack.payload() + PROBE_BYTES) as u32 + FCS_BYTES;
        let bare = self.stack.frame(size, &zero, &[], Probe::default());
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
        let l3 = self.stack.payload().checked_sub(28).filter(|_| self.stack.writes.is_empty())?;
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
        let fields = self.stack.fields.iter().filter(|field| varies(&field.source, self.flows));
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
            if varies(&field.source, flows) {
                self.field(field)
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
