//! Where the frames of a burst are written.

use std::ops::Range;

/// Where a burst's frames go, for [`Template::write_burst`](super::Template::write_burst).
pub trait Slots {
    /// Has `write` write these frames of the burst, one after another: it is given each one's place among them, counted
    /// from 0, and its slot, and returns its length without FCS. Up to 63 bytes behind the frame, still in the slot, may be
    /// overwritten too.
    fn each(&mut self, frames: Range<usize>, write: impl FnMut(usize, &mut [u8]) -> usize);

    /// Whether the slots remember where the bytes of earlier frames count up, so that [`Self::each_head`] has less to write than
    /// [`Self::each`].
    fn remembers(&self) -> bool {
        false
    }

    /// As [`Self::each`], of frames whose bytes from `head` on count up from 0: `write` is given only those before.
    fn each_head(&mut self, frames: Range<usize>, head: usize, mut write: impl FnMut(usize, &mut [u8]) -> usize) {
        self.each(frames, |place, slot| {
            let len = write(place, &mut slot[..head]);
            if let Some(rest) = slot.get_mut(head..len) {
                rest.iter_mut().zip((0..=255).cycle()).for_each(|(byte, number)| *byte = number);
            }
            len
        });
    }
}
