//! From a header stack to frames, fast.
//!
//! A template holds one finished image of each frame size. Writing a frame copies the image, writes what differs
//! from flow to flow, corrects the checksums by the sum of just that, and writes the probe (which no checksum
//! notices). [`Template::frame`] builds the same frame from scratch; tests hold the two to the same bytes.

mod patch;
mod slots;
mod tuples;
mod vlans;

use crate::checksum::Checked;
use crate::content::lay_out as lay_out_writes;
use crate::layout::{Kind, Stack, mac};
use crate::mix::MOST_SIZES;
use crate::parse::{Packet, Tag, parse, protocol};
use crate::probe::{PROBE_BYTES, Probe};
use crate::spec::{Content, Header, Mac};
use crate::stack::{lay_out, minimum_size as least};
use crate::vary::Source;
use crate::{FCS_BYTES, FrameError, MAXIMUM_SIZE};
use patch::burst::Asked;
use patch::compile::compile;
use patch::mixed::Compiled;
use patch::{Flows, Plan};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

pub use patch::Cursor;
pub use patch::mixed::{Mixed, Place};
pub use slots::Slots;

/// A stream's frames, compiled: all sizes, all that varies.
#[derive(Clone, Debug)]
pub struct Template {
    stack: Stack,
    /// Frame sizes, FCS counted.
    sizes: Vec<u32>,
    flows: Flows,
    /// How many VLAN headers follow the first.
    tags: usize,
    /// The images, one after another.
    images: Vec<u8>,
    plan: Plan,
}

/// The value of a header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A port, VLAN, label or network identifier.
    Number(u64),
    /// A MAC address.
    Mac(Mac),
    /// An IPv4 address.
    Ipv4(Ipv4Addr),
    /// An IPv6 address.
    Ipv6(Ipv6Addr),
}

/// What a field that may vary is in one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// Index of the header, outermost first.
    pub header: usize,
    /// The field's name in the plan, `src`.
    pub field: &'static str,
    /// Its value.
    pub value: Value,
}

/// The smallest size (FCS counted, at least 64) of a frame with these headers and a probe.
#[must_use]
pub fn minimum_size(headers: &[Header]) -> u32 {
    least(headers, PROBE_BYTES)
}

impl Template {
    /// Compiles `headers` for frames of `sizes` (FCS counted) in `flows` flows.
    ///
    /// What a field is in flow `i` follows from the plan, `seed` and `i` alone, not from the sizes or the number of
    /// flows. Two templates with the same seed draw the same numbers in the same places: give each stream its own.
    ///
    /// # Errors
    /// If no such frame can be built: which header or field, why, and what to do about it.
    pub fn new(headers: &[Header], sizes: &[u32], flows: u32, seed: u64) -> Result<Self, FrameError> {
        Self::of(
            Content {
                headers,
                writes: &[],
                payload: &[],
                probe: true,
            },
            sizes,
            flows,
            seed,
        )
    }

    /// As [`Self::new`], of frames without a probe: smaller ones, and nothing in them tells one of a flow from another.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn without_probe(headers: &[Header], sizes: &[u32], flows: u32, seed: u64) -> Result<Self, FrameError> {
        Self::of(
            Content {
                headers,
                writes: &[],
                payload: &[],
                probe: false,
            },
            sizes,
            flows,
            seed,
        )
    }

    /// As [`Self::new`], of all that frames may hold.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of(content: Content<'_>, sizes: &[u32], flows: u32, seed: u64) -> Result<Self, FrameError> {
        let headers = content.headers;
        let mut stack = lay_out(headers, seed, content.probe_bytes())?;
        stack.writes = lay_out_writes(content.writes, &stack, seed)?;
        stack.fill = content.payload.to_vec();
        check_sizes(content, sizes)?;
        check_fragments(headers, &stack, sizes)?;
        if flows == 0 {
            return Err(FrameError::stack("0 flows", "a stream has at least 1 flow"));
        }
        let tags = headers[1..]
            .iter()
            .take_while(|header| matches!(header, Header::Vlan { .. }))
            .count();
        let (images, plan) = compile(&stack, sizes, flows);
        Ok(Self {
            stack,
            sizes: sizes.to_vec(),
            flows: Flows { count: flows, first: 0 },
            tags,
            images,
            plan,
        })
    }

    /// Sets the outermost destination MAC of all frames.
    pub fn set_destination(&mut self, mac: Mac) {
        self.set_mac("dst", mac);
    }

    /// Sets the outermost source MAC of all frames.
    pub fn set_source(&mut self, mac: Mac) {
        self.set_mac("src", mac);
    }

    fn set_mac(&mut self, name: &str, Mac([a, b, c, d, e, f]): Mac) {
        let number = u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
        for field in &mut self.stack.fields {
            if field.header == 0 && field.field == name {
                field.source = Source::Constant(number);
            }
        }
        (self.images, self.plan) = compile(&self.stack, &self.sizes, self.flows.count);
    }

    /// Sets the number that flow 0 of this template has in the probe (flows are counted over all streams of a
    /// trial); 0 at first. [`Cursor::flow`] and [`Self::flow_fields`] keep counting from 0.
    pub fn set_first_flow(&mut self, first: u32) {
        self.flows.first = first;
    }

    /// Number of flows.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.flows.count
    }

    /// Length in a slot (no FCS) of frames of size `size_index`.
    #[must_use]
    pub fn length(&self, size_index: usize) -> usize {
        (self.sizes[size_index] - FCS_BYTES) as usize
    }

    /// Where the probe is written: the first hint for [`crate::probe::find`].
    #[must_use]
    pub fn probe_offset(&self) -> u32 {
        self.stack.payload() as u32
    }

    /// The bits of each header byte, from the frame's first on, that are the same in all its frames.
    #[must_use]
    pub fn shared(&self) -> Vec<u8> {
        self.stack.shared(self.flows.count)
    }

    /// The checksums of its frames that it wrote itself, and so those that a receiver may check: others are as the plan gives
    /// them in raw bytes.
    #[must_use]
    pub fn checked(&self) -> Checked {
        let Some(layers) = parse(&self.frame(0, 0, 0, 0)) else {
            return Checked::ALL;
        };
        let is_own = |at: Option<u32>| at.is_none_or(|at| self.stack.checksums.iter().any(|own| own.offset == at as usize));
        let of_header = |packet: &Packet| is_own((packet.version == 4).then_some(packet.l3 + 10));
        let inner = &layers.inner;
        let l4 = match inner.protocol {
            protocol::UDP => Some(6),
            protocol::TCP => Some(16),
            protocol::ICMP | protocol::ICMPV6 => Some(2),
            _ => None,
        };
        Checked {
            outer: of_header(&layers.outer),
            inner: of_header(inner) && !layers.malformed,
            l4: is_own(l4.map(|at| inner.l4 + at)) && !layers.malformed,
        }
    }

    /// The outermost VLAN tags of flow `flow`, for ARP and ND on the stream's VLAN.
    #[must_use]
    pub fn tags(&self, flow: u32) -> Vec<Tag> {
        let frame = self.frame(flow, 0, 0, 0);
        let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        (0..self.tags)
            .map(|tag| Tag {
                tpid: word(12 + 4 * tag),
                tci: word(14 + 4 * tag),
            })
            .collect()
    }

    /// The value of every field that may vary, in flow `flow`, computed from the plan's words alone.
    #[must_use]
    pub fn flow_fields(&self, flow: u32) -> Vec<FieldValue> {
        let decode = |kind, value: u128| match kind {
            Kind::Number => Value::Number(value as u64),
            Kind::Mac => Value::Mac(mac(value)),
            Kind::Ipv4 => Value::Ipv4(Ipv4Addr::from(value as u32)),
            Kind::Ipv6 => Value::Ipv6(Ipv6Addr::from(value)),
        };
        let fields = self.stack.fields.iter();
        fields
            .map(|field| FieldValue {
                header: field.header,
                field: field.field,
                value: decode(field.kind, field.source.value(flow)),
            })
            .collect()
    }

    /// Frame `sequence` of flow `flow`, built from scratch: slow, and the definition of what [`Self::write`] writes.
    ///
    /// # Panics
    /// If there is no size `size_index`.
    #[must_use]
    pub fn frame(&self, flow: u32, sequence: u64, size_index: usize, departure_ps: u64) -> Vec<u8> {
        let values: Vec<u128> = self.stack.fields.iter().map(|field| field.source.value(flow)).collect();
        let probe = Probe {
            flow: self.flows.first.wrapping_add(flow),
            sequence: sequence as u32,
            departure_ps,
        };
        let written: Vec<u128> = self.stack.writes.iter().map(|write| write.source.value(flow)).collect();
        self.stack.frame(self.sizes[size_index], &values, &written, probe)
    }

    /// The beginning of the stream.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        self.cursor_over(0..self.flows.count)
    }

    /// The beginning of the stream as some of its flows have it: a cursor that goes through these alone, over and over.
    /// They are some of the template's, and [`Self::seek`] goes to no other with it.
    #[must_use]
    pub fn cursor_over(&self, flows: Range<u32>) -> Cursor {
        debug_assert!(flows.start < flows.end && flows.end <= self.flows.count);
        self.plan.cursor(flows)
    }

    /// Moves `cursor` so that frame `position` (counted from 0 over all flows) is next: to take back frames that
    /// a port did not accept. Divides; not for the hot path.
    pub fn seek(&self, cursor: &mut Cursor, position: u64) {
        let flows = u64::from(self.flows.count);
        self.plan.seek(cursor, (position % flows) as u32, position / flows);
    }

    /// How many frames `cursor` has passed: the position [`Self::seek`] takes.
    #[must_use]
    pub fn position(&self, cursor: &Cursor) -> u64 {
        cursor.sequence() * u64::from(self.flows.count) + u64::from(cursor.flow())
    }

    /// Writes the next frame, and returns its length without FCS.
    ///
    /// # Panics
    /// If `slot` is shorter than [`Self::length`] of the size, or there is no such size.
    #[inline]
    pub fn write(&self, cursor: &mut Cursor, size_index: usize, departure_ps: u64, slot: &mut [u8]) -> usize {
        self.plan.write(&self.images, cursor, self.flows, size_index, departure_ps, slot)
    }

    /// `templates` side by side, each at its beginning, for bursts in which they take turns; `None` if they are not all of one
    /// kind that has to be fast, with as many sizes and their probes in the same place.
    #[must_use]
    pub fn mix<'a>(templates: impl Iterator<Item = &'a Self> + Clone) -> Option<Mixed> {
        Mixed::new(templates.map(Self::compiled))
    }

    /// Takes its place in `mixed`, where it was template `which`, its addresses of Ethernet having changed.
    pub fn renew(&self, mixed: &mut Mixed, which: usize) {
        mixed.set(which, self.compiled());
    }

    fn compiled(&self) -> Compiled<'_> {
        Compiled {
            plan: &self.plan,
            images: &self.images,
            flows: self.flows,
        }
    }

    /// Writes the next frames, as many as there are `departures` (picoseconds) and `sizes` (which of the template's).
    ///
    /// # Panics
    /// As [`Self::write`].
    #[inline]
    pub fn write_burst(&self, cursor: &mut Cursor, sizes: &[u16], departures: &[u64], slots: &mut impl Slots) {
        let asked = Asked {
            images: &self.images,
            flows: self.flows,
            sizes,
            departures,
        };
        self.plan.burst(cursor, &asked, slots);
    }
}

fn check_sizes(content: Content<'_>, sizes: &[u32]) -> Result<(), FrameError> {
    if sizes.is_empty() || sizes.len() > MOST_SIZES {
        return Err(FrameError::stack(
            format!("{} frame sizes", sizes.len()),
            format!("name 1 to {MOST_SIZES} sizes"),
        ));
    }
    let (probe, minimum) = (content.probe_bytes(), least(content.headers, content.probe_bytes()));
    for &size in sizes {
        if size < minimum {
            let needed = minimum - FCS_BYTES - probe as u32;
            let why = format!("a frame of {size} bytes is too small for these headers");
            let hint = if minimum == crate::MINIMUM_SIZE {
                format!("the smallest Ethernet frame has {minimum} bytes, FCS counted")
            } else {
                format!("at least {minimum} bytes: headers {needed}, probe {probe}, FCS {FCS_BYTES}")
            };
            return Err(FrameError::stack(why, hint));
        }
        if size > MAXIMUM_SIZE {
            return Err(FrameError::stack(
                format!("a frame of {size} bytes is too large"),
                format!("at most {MAXIMUM_SIZE} bytes"),
            ));
        }
        for (index, write) in content.writes.iter().enumerate() {
            let least = write.least_size();
            if size < least {
                let why = format!("a frame of {size} bytes ends before it");
                return Err(FrameError::write(index, "at", why, format!("frames of at least {least} bytes")));
            }
        }
    }
    Ok(())
}

/// Fragments that others follow have whole units of eight bytes (RFC 791 section 3.2, RFC 8200 section 4.5).
fn check_fragments(headers: &[Header], stack: &Stack, sizes: &[u32]) -> Result<(), FrameError> {
    for &(index, from) in &stack.eights {
        for &size in sizes {
            let over = ((size - FCS_BYTES) as usize - from) % 8;
            if over != 0 {
                let why = format!("a fragment in a frame of {size} bytes is no multiple of 8 bytes long");
                let hint = format!("such as {} bytes, or no `more`", size as usize + 8 - over);
                return Err(FrameError::field(index, headers[index].name(), "more", why, hint));
            }
        }
    }
    Ok(())
}
