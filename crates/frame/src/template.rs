//! From a header stack to frames, fast.

use crate::FrameError;
use crate::parse::Tag;
use crate::spec::{Header, Mac};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A stream's frames, compiled: all sizes, all that varies.
#[derive(Clone, Debug)]
pub struct Template {
    lengths: Vec<u32>,
    flows: u32,
    first_flow: u32,
}

/// How far a stream has come: the next frame's flow and sequence.
#[derive(Clone, Debug)]
pub struct Cursor {
    flow: u32,
    sequence: u64,
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

/// Where a burst's frames go, for [`Template::write_burst`].
pub trait Slots {
    /// Frame `index` of the burst: which of the template's sizes it has, its departure in picoseconds, and room for it.
    fn slot(&mut self, index: usize) -> (usize, u64, &mut [u8]);
    /// Frame `index` has been written, `len` bytes without FCS.
    fn written(&mut self, index: usize, len: usize);
}

impl Template {
    /// Compiles `headers` for frames of `sizes` (FCS counted) in `flows` flows.
    ///
    /// # Errors
    /// If no such frame can be built: which header or field, why, and what to do about it.
    pub fn new(headers: &[Header], sizes: &[u32], flows: u32, seed: u64) -> Result<Self, FrameError> {
        let _ = (headers, seed);
        Ok(Self {
            lengths: sizes.iter().map(|size| size - 4).collect(),
            flows,
            first_flow: 0,
        })
    }

    /// Sets the outermost destination MAC of all frames.
    pub fn set_destination(&mut self, mac: Mac) {
        let _ = mac;
    }

    /// Sets the outermost source MAC of all frames.
    pub fn set_source(&mut self, mac: Mac) {
        let _ = mac;
    }

    /// Sets the number that flow 0 of this template has in the probe (flows are counted over all streams of a
    /// trial); 0 at first. [`Cursor::flow`] and [`Self::flow_fields`] keep counting from 0.
    pub fn set_first_flow(&mut self, first: u32) {
        self.first_flow = first;
    }

    /// Number of flows.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// Length in a slot (no FCS) of frames of size `size_index`.
    #[must_use]
    pub fn length(&self, size_index: usize) -> usize {
        self.lengths[size_index] as usize
    }

    /// Where the probe is written: the first hint for [`crate::probe::find`].
    #[must_use]
    pub fn probe_offset(&self) -> u32 {
        42
    }

    /// The outermost VLAN tags of flow `flow`, for ARP and ND on the stream's VLAN.
    #[must_use]
    pub fn tags(&self, flow: u32) -> Vec<Tag> {
        let _ = flow;
        Vec::new()
    }

    /// The value of every field that may vary, in flow `flow`, computed from the plan's words alone.
    #[must_use]
    pub fn flow_fields(&self, flow: u32) -> Vec<FieldValue> {
        let _ = flow;
        Vec::new()
    }

    /// The beginning of the stream.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor { flow: 0, sequence: 0 }
    }

    /// Moves `cursor` so that frame `position` (counted from 0 over all flows) is next: to take back frames that
    /// a port did not accept. Divides; not for the hot path.
    pub fn seek(&self, cursor: &mut Cursor, position: u64) {
        cursor.flow = (position % u64::from(self.flows)) as u32;
        cursor.sequence = position / u64::from(self.flows);
    }

    /// How many frames `cursor` has passed: the position [`Self::seek`] takes.
    #[must_use]
    pub fn position(&self, cursor: &Cursor) -> u64 {
        cursor.sequence * u64::from(self.flows) + u64::from(cursor.flow)
    }

    /// Writes the next frame, and returns its length without FCS.
    ///
    /// # Panics
    /// If `slot` is shorter than [`Self::length`] of the size, or there is no such size.
    #[inline]
    pub fn write(&self, cursor: &mut Cursor, size_index: usize, departure_ps: u64, slot: &mut [u8]) -> usize {
        let _ = (departure_ps, slot, self.first_flow);
        cursor.flow += 1;
        if cursor.flow == self.flows {
            (cursor.flow, cursor.sequence) = (0, cursor.sequence + 1);
        }
        self.length(size_index)
    }

    /// Writes the next `count` frames.
    ///
    /// # Panics
    /// As [`Self::write`].
    #[inline]
    pub fn write_burst(&self, cursor: &mut Cursor, count: usize, slots: &mut impl Slots) {
        for index in 0..count {
            let (size_index, departure_ps, slot) = slots.slot(index);
            let len = self.write(cursor, size_index, departure_ps, slot);
            slots.written(index, len);
        }
    }
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

/// The smallest size (FCS counted) of a frame with these headers and a probe.
#[must_use]
pub fn minimum_size(headers: &[Header]) -> u32 {
    let _ = headers;
    64
}
