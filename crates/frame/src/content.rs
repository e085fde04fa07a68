//! What the frames of a stream hold: headers, what is written over them, and a payload.

use crate::FrameError;
use crate::headers::Header;
use crate::layout::Stack;
use crate::probe::PROBE_BYTES;
use crate::stack::minimum_size;
use crate::vary::{Place, Source};
use crate::write::{StackWrite, Write};

/// What a stream's frames hold.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// Header stack, outermost first.
    pub headers: &'a [Header],
    /// What is written over it, one after the other.
    pub writes: &'a [Write],
    /// Bytes that are repeated behind headers and probe; if there are none, bytes that count up from 0.
    pub payload: &'a [u8],
    /// Whether there is a probe behind the headers.
    pub probe: bool,
}

impl Content<'_> {
    /// Bytes of a probe behind the headers; 0 if there is none.
    pub(crate) fn probe_bytes(&self) -> usize {
        if self.probe { PROBE_BYTES } else { 0 }
    }

    /// The smallest size (FCS counted, at least 64) of such a frame.
    #[must_use]
    pub fn minimum_size(&self) -> u32 {
        let least = self.writes.iter().map(Write::least_size);
        least.fold(minimum_size(self.headers, self.probe_bytes()), u32::max)
    }
}

/// Random writes draw from sequences of their own, as if each were a header behind any stack.
const BEHIND_HEADERS: usize = 1 << 16;

/// Lays out `writes` over `stack`.
///
/// # Errors
/// If one cannot be, or would change the probe or a checksum.
pub(crate) fn lay_out(writes: &[Write], stack: &Stack, seed: u64) -> Result<Vec<StackWrite>, FrameError> {
    writes
        .iter()
        .enumerate()
        .map(|(index, write)| one(index, write, stack, seed))
        .collect()
}

fn one(index: usize, write: &Write, stack: &Stack, seed: u64) -> Result<StackWrite, FrameError> {
    let error = |field, why: String, hint: &str| FrameError::write(index, field, why, hint);
    if !(1..=8).contains(&write.bytes) {
        return Err(error("bytes", format!("{} bytes", write.bytes), "1 to 8"));
    }
    if write.shift.unsigned_abs() > 63 {
        return Err(error("shift", format!("a shift of {} bits", write.shift), "-63 to 63"));
    }
    let (at, bytes) = (usize::from(write.at), usize::from(write.bytes));
    let overlaps = |from: usize, len: usize| at < from + len && from < at + bytes;
    if overlaps(stack.payload(), stack.probe) && stack.probe > 0 {
        let (from, end) = (stack.payload(), stack.payload() + stack.probe);
        let why = format!("bytes {at} to {} overlap the probe", at + bytes - 1);
        return Err(error("at", why, &format!("the probe is bytes {from} to {}", end - 1)));
    }
    if let Some(sum) = stack.checksums.iter().find(|sum| overlaps(sum.offset, 2)) {
        let why = format!("bytes {at} to {} overlap a checksum, which is computed", at + bytes - 1);
        return Err(error(
            "at",
            why,
            &format!("the checksum is bytes {} and {}", sum.offset, sum.offset + 1),
        ));
    }
    let place = Place {
        header: BEHIND_HEADERS + index,
        name: "",
        field: "value",
        max: u64::MAX.into(),
        seed,
    };
    let source = Source::new(&write.value, &place, u128::from, |value| value.to_string());
    Ok(StackWrite {
        at,
        bytes,
        mask: write.mask & u64::MAX >> (64 - 8 * bytes),
        shift: write.shift,
        add: write.add as u64,
        source: source.map_err(|of| error("value", of.why, &of.hint))?,
    })
}
