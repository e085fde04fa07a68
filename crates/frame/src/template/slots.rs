//! Where the frames of a burst are written.

use std::ops::Range;

/// Where a burst's frames go, for [`Template::write_burst`](super::Template::write_burst).
pub trait Slots {
    /// Has `write` write these frames of the burst, one after another: it is given each one's place among them, counted
    /// from 0, and its slot, and returns its length without FCS. Up to 63 bytes behind the frame, still in the slot, may be
    /// overwritten too.
    fn each(&mut self, frames: Range<usize>, write: impl FnMut(usize, &mut [u8]) -> usize);
}
