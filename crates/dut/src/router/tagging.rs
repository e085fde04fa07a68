//! Which interface a frame belongs to, and how it gets the tags of another.

use super::Router;
use super::interface::Tagged;
use crate::flight::Frame;
use crate::pool::Pool;
use crate::tags::{TAG, TAGS_AT, Whose, packet_end};
use netdyno_io::port::MIN_SLOT_BYTES;

/// The least frame, FCS not counted.
const LEAST: usize = MIN_SLOT_BYTES as usize;

impl Router {
    /// The interface that a frame which came in on `port` belongs to, and the bytes of its tags. `None`: there is none.
    #[inline(always)]
    pub(crate) fn enter(&self, frame: &[u8], port: usize) -> Option<(usize, usize)> {
        let (tags, first) = &self.tagged.as_ref()?.ports[port];
        match tags.whose(frame) {
            Whose::Port => Some((port, 0)),
            Whose::Subinterface(number, bytes) => Some((first + number, bytes)),
            Whose::Unknown => None,
        }
    }

    /// The port of an interface.
    #[inline]
    pub(crate) fn port_of(&self, interface: usize) -> usize {
        self.interfaces[interface].port
    }

    /// Makes `frame`, which from byte `tags` on is a frame without tags, one that leaves by `interface`. One that gets more
    /// tags or fewer than it had ends with its packet and is padded to the least length. `None`, the frame staying in the
    /// pool, if it would be too long.
    #[inline]
    pub(crate) fn dress(&mut self, pool: &mut Pool, mut frame: Frame, tags: usize, interface: usize) -> Option<Frame> {
        let Some(tagged) = &mut self.tagged else { return Some(frame) };
        let stack = &self.interfaces[interface].tags;
        let wanted = stack.bytes();
        if wanted != tags {
            let untagged = &pool.frame(frame)[tags..];
            let end = packet_end(untagged);
            let len = (wanted + end).max(LEAST);
            if len > tagged.longest {
                return None;
            }
            let Some(resized) = pool.resize(frame, len) else {
                return Some(tagged.rebuild(pool, frame, tags, stack.words()));
            };
            // Its slot has room for the longer of both.
            let longer = if len > usize::from(frame.len()) { resized } else { frame };
            let bytes = pool.frame_mut(longer);
            let macs: [u8; TAGS_AT] = *bytes[tags..].first_chunk()?;
            shift(bytes, tags + TAGS_AT, wanted + TAGS_AT, end - TAGS_AT);
            bytes[..TAGS_AT].copy_from_slice(&macs);
            if wanted + end < LEAST {
                bytes[wanted + end..LEAST].fill(0);
            }
            frame = resized;
        } else if tags > 0 {
            pool.frame_mut(frame).copy_within(tags..tags + TAGS_AT, 0);
        }
        if wanted > 0 {
            put_tags(&mut pool.frame_mut(frame)[TAGS_AT..], stack.words());
        }
        Some(frame)
    }
}

impl Tagged {
    /// The frame that is without tags from byte `tags` of `frame` on, with other tags in another slot.
    #[inline(never)]
    fn rebuild(&mut self, pool: &mut Pool, frame: Frame, tags: usize, words: &[u32]) -> Frame {
        let untagged = &pool.frame(frame)[tags..];
        let scratch = &mut self.scratch;
        scratch.clear();
        scratch.extend_from_slice(&untagged[..TAGS_AT]);
        words.iter().for_each(|tag| scratch.extend_from_slice(&tag.to_be_bytes()));
        scratch.extend_from_slice(&untagged[TAGS_AT..packet_end(untagged)]);
        scratch.resize(scratch.len().max(LEAST), 0);
        pool.give_back(frame);
        pool.store(scratch.as_slice().into())
    }
}

/// Writes tags to the beginning of `bytes`.
#[inline(always)]
fn put_tags(bytes: &mut [u8], words: &[u32]) {
    for (to, tag) in bytes.chunks_exact_mut(TAG).zip(words) {
        to.copy_from_slice(&tag.to_be_bytes());
    }
}

/// Moves `len` bytes of `bytes`; of a small frame by the first and last of them, which may overlap: moves of a constant length
/// cost less than a call.
#[inline(always)]
fn shift(bytes: &mut [u8], from: usize, to: usize, len: usize) {
    const HALF: usize = 32;
    if (HALF..=2 * HALF).contains(&len) {
        let source = &bytes[from..from + len];
        if let (Some(&first), Some(&last)) = (source.first_chunk::<HALF>(), source.last_chunk::<HALF>()) {
            let target = &mut bytes[to..to + len];
            target[..HALF].copy_from_slice(&first);
            target[len - HALF..].copy_from_slice(&last);
            return;
        }
    }
    bytes.copy_within(from..from + len, to);
}
