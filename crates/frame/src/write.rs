//! Numbers that are written over the frame that headers make, at any offset.

use crate::FCS_BYTES;
use crate::field::Field;
use crate::vary::Source;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A number in the frame: `(value + add) << shift`, of which the bits in `mask` are written, big endian. All other bits stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Offset of its first byte, counted from that of the frame.
    pub at: u16,
    /// How many bytes, 1 to 8.
    pub bytes: u8,
    /// The bits that are written.
    #[serde(default = "all_bits")]
    pub mask: u64,
    /// Bits to the left; negative: to the right.
    #[serde(default)]
    pub shift: i8,
    /// What is added to the value.
    #[serde(default)]
    pub add: i64,
    /// The value in each flow.
    pub value: Field<u64>,
}

const fn all_bits() -> u64 {
    u64::MAX
}

impl Write {
    /// The size (FCS counted) of the smallest frame that it lies in.
    pub(crate) fn least_size(&self) -> u32 {
        u32::from(self.at) + u32::from(self.bytes) + FCS_BYTES
    }
}

/// A write of a stack that is laid out.
#[derive(Clone, Debug)]
pub(crate) struct StackWrite {
    pub at: usize,
    pub bytes: usize,
    /// None beyond its bytes.
    pub mask: u64,
    pub shift: i8,
    pub add: u64,
    pub source: Source,
}

impl StackWrite {
    /// The bytes of the frame that it may change.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.bytes
    }

    /// What is written for `value`.
    fn number(&self, value: u64) -> u64 {
        let sum = value.wrapping_add(self.add);
        let bits = u32::from(self.shift.unsigned_abs());
        let shifted = if self.shift < 0 { sum >> bits } else { sum << bits };
        shifted & self.mask
    }

    /// Writes `value`.
    pub fn write(&self, frame: &mut [u8], value: u128) {
        let (number, last) = (self.number(value as u64), self.bytes - 1);
        for (place, byte) in frame[self.range()].iter_mut().enumerate() {
            let part = |word: u64| (word >> (8 * (last - place))) as u8;
            *byte = *byte & !part(self.mask) | part(number);
        }
    }

    /// The bits of what is written that may differ in flows 0 to `flows` - 1.
    fn changing(&self, flows: u32) -> u64 {
        let sums = match self.source.changing(flows) {
            0 => return 0,
            bits if self.add == 0 => bits as u64,
            // A carry may reach any bit.
            _ => u64::MAX,
        };
        let bits = u32::from(self.shift.unsigned_abs());
        (if self.shift < 0 { sums >> bits } else { sums << bits }) & self.mask
    }

    /// Sets those bits in `bytes`, the frame's first.
    pub fn mark_changing(&self, bytes: &mut [u8], flows: u32) {
        let (changing, last) = (self.changing(flows), self.bytes - 1);
        for place in 0..self.bytes {
            if let Some(byte) = bytes.get_mut(self.at + place) {
                *byte |= (changing >> (8 * (last - place))) as u8;
            }
        }
    }
}
