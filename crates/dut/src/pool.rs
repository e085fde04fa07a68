//! The device's own memory for frames in flight: copied in once on arrival, copied out once on departure.

use crate::flight::{Flight, Frame};
use crate::queue::Queue;
use netdyno_io::port::Burst;
use netdyno_io::region::prefetch;
use netdyno_io::tail::{self, Place, Seen, Tail};

/// Frames up to this many bytes live in slots of one cache line: 64-byte frames, with a tag too.
pub(crate) const SMALL: usize = 64;
/// Large slots are whole cache lines apart.
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
    /// What is known of the bytes in each large slot.
    tails: Vec<Tail>,
    /// What is known of a small one while somebody changes it.
    unknown: Tail,
    /// Bytes a large slot takes.
    stride: usize,
    free_small: Vec<u32>,
    free_large: Vec<u32>,
}

impl Pool {
    /// A pool for frames of up to `max_frame` bytes, FCS not counted.
    pub(crate) fn new(max_frame: usize) -> Self {
        Self {
            small: Vec::new(),
            large: Vec::new(),
            tails: Vec::new(),
            unknown: Tail::NONE,
            // An odd number of lines, so that the first lines of neighbouring slots fall into different cache sets.
            stride: (max_frame.max(SMALL).div_ceil(LINE) | 1) * LINE,
            free_small: Vec::new(),
            free_large: Vec::new(),
        }
    }

    /// Copies frame `index` of a burst in.
    #[inline(always)]
    pub(crate) fn take_in(&mut self, burst: &Burst<'_>, index: usize) -> Frame {
        let bytes = burst.frame(index);
        let len = bytes.len();
        if is_common(len)
            && let Some(slot) = self.free_small.pop()
        {
            tail::copy(&mut self.small[slot as usize].0[..len], bytes);
            return Frame::new(slot, len as u16);
        }
        self.store(burst.seen(index))
    }

    /// Copies a frame in.
    #[inline(never)]
    pub(crate) fn store(&mut self, from: Seen<'_>) -> Frame {
        let len = from.bytes().len();
        let frame = Frame::new(self.take(len), len as u16);
        if len <= SMALL {
            self.small[frame.slot() as usize].0[..len].copy_from_slice(from.bytes());
        } else {
            self.place(frame).copy(from);
        }
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
            &self.large[slot * self.stride..][..len]
        }
    }

    /// The same, and what is known of them.
    #[inline(always)]
    pub(crate) fn seen(&self, frame: Frame) -> Seen<'_> {
        let (slot, len) = (frame.slot() as usize, usize::from(frame.len()));
        if len <= SMALL {
            self.small[slot].0[..len].into()
        } else {
            Seen::new(&self.large[slot * self.stride..][..len], self.tails[slot])
        }
    }

    /// Copies a short frame to the beginning of `to`; its length.
    #[inline(always)]
    pub(crate) fn copy_short(&self, to: &mut [u8], frame: Frame) -> usize {
        let len = usize::from(frame.len());
        tail::copy(&mut to[..len], &self.small[frame.slot() as usize].0[..len]);
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
            prefetch(&self.large[slot * self.stride]);
        }
    }

    /// A frame, to change.
    #[inline]
    pub(crate) fn place(&mut self, frame: Frame) -> Place<'_> {
        let (slot, len) = (frame.slot() as usize, usize::from(frame.len()));
        if len <= SMALL {
            self.unknown = Tail::NONE;
            Place::new(&mut self.small[slot].0[..len], &mut self.unknown)
        } else {
            Place::new(&mut self.large[slot * self.stride..][..len], &mut self.tails[slot])
        }
    }

    /// The bytes of a frame, to change in any way.
    #[inline]
    pub(crate) fn frame_mut(&mut self, frame: Frame) -> &mut [u8] {
        let (slot, len) = (frame.slot() as usize, usize::from(frame.len()));
        if len <= SMALL {
            &mut self.small[slot].0[..len]
        } else {
            self.tails[slot] = Tail::NONE;
            &mut self.large[slot * self.stride..][..len]
        }
    }

    /// A second frame with the same bytes.
    pub(crate) fn duplicate(&mut self, frame: Frame) -> Frame {
        let (slot, len) = (frame.slot() as usize, usize::from(frame.len()));
        let twin = self.take(len);
        if len <= SMALL {
            self.small[twin as usize] = self.small[slot];
        } else {
            let twin = twin as usize;
            let (low, high) = self.large.split_at_mut(slot.max(twin) * self.stride);
            let (from, to) = if slot < twin {
                (&low[slot * self.stride..][..len], &mut high[..len])
            } else {
                (&high[..len], &mut low[twin * self.stride..][..len])
            };
            let from = Seen::new(from, self.tails[slot]);
            Place::new(to, &mut self.tails[twin]).copy(from);
        }
        Frame::new(twin, frame.len())
    }

    /// The slot of a frame for one of `len` bytes, no more than the pool is for; `None` if such frames have other slots.
    #[inline]
    pub(crate) fn resize(&self, frame: Frame, len: usize) -> Option<Frame> {
        let is_small = usize::from(frame.len()) <= SMALL;
        (is_small == (len <= SMALL)).then(|| Frame::new(frame.slot(), len as u16))
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
        self.small.len() - self.free_small.len() + self.tails.len() - self.free_large.len()
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
            let first = self.tails.len();
            self.large.resize((first + large) * self.stride, 0);
            self.tails.resize(first + large, Tail::NONE);
            self.free_large.extend((first..first + large).rev().map(|slot| slot as u32));
        }
    }
}

/// Whether a frame of `len` bytes is small and copied by its first and last bytes.
#[inline(always)]
fn is_common(len: usize) -> bool {
    (32..=SMALL).contains(&len)
}
