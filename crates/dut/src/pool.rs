//! The device's own memory for frames in flight: copied in once on arrival, copied out once on departure.

use crate::flight::{Flight, Frame};
use crate::queue::Queue;
use netdyno_io::region::prefetch;

/// Frames up to this many bytes live in slots of one cache line: 64-byte frames, with a tag too.
const SMALL: usize = 64;
/// Large slots are whole cache lines apart; a slot is named by its first line.
const LINE: usize = 64;
/// Slots a class grows by.
const GROWTH: [usize; 2] = [1024, 256];

/// A small slot. Aligned, or each frame would lie across two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Small([u8; SMALL]);

/// Slots of two sizes with a last-in first-out free list each: the slot freed last is the one still in cache.
/// A slot's class follows from the length of the frame in it.
#[derive(Debug)]
pub(crate) struct Pool {
    small: Vec<Small>,
    large: Vec<u8>,
    /// Cache lines a large slot takes.
    lines: usize,
    free_small: Vec<u32>,
    free_large: Vec<u32>,
}

impl Pool {
    /// A pool for frames of up to `max_frame` bytes, FCS not counted.
    pub(crate) fn new(max_frame: usize) -> Self {
        Self {
            small: Vec::new(),
            large: Vec::new(),
            // An odd number, so that the first lines of neighbouring slots fall into different cache sets.
            lines: max_frame.max(SMALL).div_ceil(LINE) | 1,
            free_small: Vec::new(),
            free_large: Vec::new(),
        }
    }

    /// Copies a frame in.
    #[inline(always)]
    pub(crate) fn store(&mut self, bytes: &[u8]) -> Frame {
        let len = bytes.len();
        if is_common(len)
            && let Some(slot) = self.free_small.pop()
        {
            copy_small(&mut self.small[slot as usize].0[..len], bytes);
            return Frame::new(slot, len as u16);
        }
        self.store_any(bytes)
    }

    #[inline(never)]
    fn store_any(&mut self, bytes: &[u8]) -> Frame {
        let frame = Frame::new(self.take(bytes.len()), bytes.len() as u16);
        copy(self.frame_mut(frame), bytes);
        frame
    }

    /// A slot for a frame of `len` bytes; what is in it is left over from before.
    #[inline]
    fn take(&mut self, len: usize) -> u32 {
        loop {
            let free = if len <= SMALL { &mut self.free_small } else { &mut self.free_large };
            match free.pop() {
                Some(slot) => return slot,
                None => self.grow(len),
            }
        }
    }

    /// The bytes of a frame.
    #[inline]
    pub(crate) fn frame(&self, frame: Frame) -> &[u8] {
        let (slot, len) = (frame.slot() as usize, usize::from(frame.len()));
        if len <= SMALL {
            &self.small[slot].0[..len]
        } else {
            &self.large[slot * LINE..][..len]
        }
    }

    /// Copies a frame to the beginning of `to`; its length.
    #[inline(always)]
    pub(crate) fn copy_to(&self, to: &mut [u8], frame: Frame) -> usize {
        let len = usize::from(frame.len());
        if is_common(len) {
            copy_small(&mut to[..len], &self.small[frame.slot() as usize].0[..len]);
        } else {
            copy(&mut to[..len], self.frame(frame));
        }
        len
    }

    /// Asks for the first bytes of a frame to be brought near: one that has waited in a queue is no longer in the nearest
    /// cache, and who looks into it next would stand still until it is.
    #[inline]
    pub(crate) fn fetch(&self, frame: Frame) {
        let slot = frame.slot() as usize;
        if usize::from(frame.len()) <= SMALL {
            prefetch(&self.small[slot]);
        } else {
            prefetch(&self.large[slot * LINE]);
        }
    }

    /// The bytes of a frame, to change.
    #[inline]
    pub(crate) fn frame_mut(&mut self, frame: Frame) -> &mut [u8] {
        let (slot, len) = (frame.slot() as usize, usize::from(frame.len()));
        if len <= SMALL {
            &mut self.small[slot].0[..len]
        } else {
            &mut self.large[slot * LINE..][..len]
        }
    }

    /// A second frame with the same bytes.
    pub(crate) fn duplicate(&mut self, frame: Frame) -> Frame {
        let (slot, len) = (frame.slot() as usize, usize::from(frame.len()));
        let twin = self.take(len);
        if len <= SMALL {
            self.small[twin as usize] = self.small[slot];
        } else {
            let from = slot * LINE;
            self.large.copy_within(from..from + len, twin as usize * LINE);
        }
        Frame::new(twin, frame.len())
    }

    /// Takes a frame's slot back.
    #[inline]
    pub(crate) fn give_back(&mut self, frame: Frame) {
        let free = if usize::from(frame.len()) <= SMALL {
            &mut self.free_small
        } else {
            &mut self.free_large
        };
        free.push(frame.slot());
    }

    /// Takes the slots of all frames of a queue back, which is empty then; how many frames there were.
    pub(crate) fn give_back_all(&mut self, queue: &mut Queue<Flight>) -> u64 {
        let frames = queue.len() as u64;
        queue.records().iter().for_each(|flight| self.give_back(flight.frame));
        queue.clear();
        frames
    }

    /// Frames in the device now.
    pub(crate) fn taken(&self) -> usize {
        let large = self.large.len() / (self.lines * LINE);
        self.small.len() - self.free_small.len() + large - self.free_large.len()
    }

    /// More slots for frames of `len` bytes. Lowest on top of the free list: memory is touched from its beginning.
    #[cold]
    fn grow(&mut self, len: usize) {
        let [small, large] = GROWTH;
        if len <= SMALL {
            let first = self.small.len();
            self.small.resize(first + small, Small([0; SMALL]));
            self.free_small.extend((first..first + small).rev().map(|slot| slot as u32));
        } else {
            let first = self.large.len() / LINE;
            self.large.resize(self.large.len() + large * self.lines * LINE, 0);
            self.free_large
                .extend((0..large).rev().map(|slot| (first + slot * self.lines) as u32));
        }
    }
}

/// Whether a frame of `len` bytes is small and copied by its first and last bytes.
#[inline(always)]
fn is_common(len: usize) -> bool {
    (32..=SMALL).contains(&len)
}

/// Copies a frame [of common length](is_common) by its first and last bytes, which may overlap: moves of a constant length cost
/// less than a call.
#[inline(always)]
fn copy_small(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<32>(), from.first_chunk()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<32>(), from.last_chunk()) {
        *to = *from;
    }
}

/// Copies a whole frame of any length; what fits two cache lines by its first and last bytes, too.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    let len = from.len();
    match len {
        65..=128 => {
            to[..64].copy_from_slice(&from[..64]);
            to[len - 64..len].copy_from_slice(&from[len - 64..]);
        }
        _ => to.copy_from_slice(from),
    }
}
