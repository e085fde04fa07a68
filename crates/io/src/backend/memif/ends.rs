//! The two things an end does with a ring: put frames in, take frames out. Both roles, with the peer's mistakes found.

use super::memory::Frame;
use super::ring::{Descriptor, NEXT, Ring, Violation};
use crate::looks::{FullTime, Span};
use crate::port::{MIN_SENT_BYTES, Slot};
use crate::pressure::{BackPressure, Pressure};
use crate::region::{CACHE_LINE, stride_for};
use crate::time::Instant;

/// Of 16 bytes each.
const DESCRIPTORS_A_LINE: u16 = 4;

/// Whose memory the frames of a ring lie in.
#[derive(Clone, Copy, Debug)]
pub enum Buffers {
    /// Our own (client): the buffer of descriptor `i` begins at `first + i * stride` of region 0, whatever the peer
    /// has made of the descriptor since.
    Own {
        /// Offset of the first buffer; a multiple of a cache line.
        first: usize,
        /// From one to the next: an odd number of cache lines.
        stride: usize,
    },
    /// The peer's (server): where the descriptor says, if that is inside one of its regions.
    Peer,
}

impl Buffers {
    #[inline]
    fn place(self, ring: &Ring, index: u16) -> Option<usize> {
        match self {
            Self::Own { first, stride } => Some(first + usize::from(index & (ring.size() - 1)) * stride),
            Self::Peer => None,
        }
    }
}

/// The end that writes frames.
#[derive(Debug)]
pub struct Sender {
    ring: Ring,
    buffers: Buffers,
    /// Our index, and the peer's as last seen.
    own: u16,
    other: u16,
    /// Descriptors that the last frame took, or that the one after it needs at least, which found no room.
    parts: u16,
    /// The most of them, as far as the ring was looked at then.
    most_parts: u16,
    pressure: Pressure,
}

impl Sender {
    /// The writing end of a ring.
    ///
    /// # Errors
    /// If the peer's index is impossible.
    pub fn new(ring: Ring, buffers: Buffers) -> Result<Self, Violation> {
        // A server goes on from where the tail stands; a client has made the ring.
        let own = match buffers {
            Buffers::Own { .. } => 0,
            Buffers::Peer => ring.tail(),
        };
        let mut sender = Self {
            ring,
            buffers,
            own,
            other: own,
            parts: 1,
            most_parts: 1,
            pressure: Pressure::default(),
        };
        if let Buffers::Own { stride, .. } = buffers {
            // Said once: frames only change the length.
            for index in 0..sender.ring.size() {
                let whole = Descriptor {
                    flags: 0,
                    region: 0,
                    length: stride as u32,
                    offset: buffers.place(&sender.ring, index).unwrap_or(0) as u32,
                };
                sender.ring.set_descriptor(index, whole);
            }
        }
        sender.refresh()?;
        Ok(sender)
    }

    /// Descriptors that can be written, as last seen.
    #[inline]
    fn room(&self) -> u16 {
        match self.buffers {
            Buffers::Own { .. } => self.ring.size() - self.own.wrapping_sub(self.other),
            Buffers::Peer => self.other.wrapping_sub(self.own),
        }
    }

    /// Frames that can be written, if they are as long as the last one: at least `wanted`, or all that there is room for. A
    /// shorter one may find room where that one would not: with any room at all the answer is not 0. It is `now`.
    ///
    /// # Errors
    /// If the peer's index is impossible.
    #[inline]
    pub fn room_for(&mut self, wanted: usize, now: Instant) -> Result<usize, Violation> {
        if usize::from(self.room()) < wanted * usize::from(self.parts) {
            self.refresh()?;
            // After a look that found the ring full there is always another: what was seen has no room.
            self.most_parts = self.most_parts.max(self.parts);
            let room = self.room();
            let unread = self.ring.size() - room;
            self.pressure.look(now, self.other, unread, room < self.parts);
        }
        let room = self.room();
        let frames = if self.parts > 1 {
            (room / self.parts).max(room.min(1))
        } else {
            room
        };
        Ok(usize::from(frames))
    }

    /// `count` frames will be written soon, as long as the last one: their lines are the peer's until then, and a writer that waits
    /// for one after the other does little else. So they are all asked for at once, while the frames are made.
    #[inline]
    pub fn expect(&self, count: usize) {
        let descriptors = (count * usize::from(self.parts)).min(usize::from(self.room())) as u16;
        for place in 0..descriptors {
            let index = self.own.wrapping_add(place);
            match self.buffers {
                Buffers::Own { first, stride } => {
                    if place % DESCRIPTORS_A_LINE == 0 {
                        self.ring.expect_write(index);
                    }
                    if let Some(memory) = self.ring.region(0) {
                        memory.expect_write(first + usize::from(index & (self.ring.size() - 1)) * stride);
                    }
                }
                Buffers::Peer => {
                    let given = self.ring.descriptor(index);
                    if let Some(memory) = self.ring.region(given.region) {
                        memory.expect_write(given.offset as usize);
                    }
                }
            }
        }
    }

    /// How the full ring held this end back.
    #[must_use]
    pub fn back_pressure(&self) -> BackPressure {
        self.pressure.sums(u32::from(self.ring.size() / self.most_parts.max(1)))
    }

    fn refresh(&mut self) -> Result<(), Violation> {
        let size = self.ring.size();
        let (index, name, between) = match self.buffers {
            Buffers::Own { .. } => {
                let tail = self.ring.tail();
                (tail, "tail", self.own.wrapping_sub(tail))
            }
            Buffers::Peer => {
                let head = self.ring.head();
                (head, "head", head.wrapping_sub(self.own))
            }
        };
        if between > size {
            return Err(format!("{name} {index} of a ring of {size} whose other index is {}", self.own));
        }
        self.other = index;
        Ok(())
    }

    /// Puts frames into the ring, as many as fit, and lets the peer see them. `memory` holds them where `slots` say, each
    /// in a slot of whole cache lines. Whether the peer wants to be woken comes with the count.
    ///
    /// # Errors
    /// If a buffer the peer gave is not where it can be.
    #[inline]
    pub fn send(&mut self, memory: &[u8], slots: &[Slot]) -> Result<(usize, bool), Violation> {
        let Self { ring, buffers, own, .. } = &*self;
        let (mut index, mut room, mut sent, mut parts) = (*own, self.room(), 0, self.parts);
        for slot in slots {
            let frame = Frame {
                bytes: &memory[slot.offset as usize..],
                len: slot.len as usize,
            };
            let used = match buffers.place(ring, index) {
                Some(place) if room > 0 => {
                    let Buffers::Own { stride, .. } = *buffers else { break };
                    let Some(memory) = ring.region(0) else { break };
                    memory.copy_in(&frame, place, stride);
                    ring.set_length(index, 0, 0, slot.len);
                    1
                }
                Some(_) => break,
                None => match write_to_peer(ring, index, room, &frame)? {
                    0 => {
                        // More than there are: so the peer's index is looked at before the next.
                        parts = room + 1;
                        break;
                    }
                    used => {
                        parts = used;
                        used
                    }
                },
            };
            index = index.wrapping_add(used);
            room -= used;
            sent += 1;
        }
        self.parts = parts;
        if sent == 0 {
            return Ok((0, false));
        }
        self.own = index;
        match self.buffers {
            Buffers::Own { .. } => self.ring.set_head(index),
            Buffers::Peer => self.ring.set_tail(index),
        }
        Ok((sent, self.ring.wants_waking()))
    }
}

/// Copies a frame into as many of the peer's buffers as it takes, from `index` on; how many, 0 if `room` are too few.
#[inline]
fn write_to_peer(ring: &Ring, index: u16, room: u16, frame: &Frame<'_>) -> Result<u16, Violation> {
    let (mut used, mut done) = (0, 0);
    while used < room {
        let at = index.wrapping_add(used);
        let given = ring.descriptor(at);
        let memory = inside(ring, given)?;
        if given.length == 0 {
            return Err("a buffer of no bytes".to_owned());
        }
        if used == 0 && frame.len > given.length as usize && !fits(ring, index, room, frame.len)? {
            return Ok(0);
        }
        let part = Frame {
            bytes: &frame.bytes[done..],
            len: (frame.len - done).min(given.length as usize),
        };
        memory.copy_in(&part, given.offset as usize, given.length as usize);
        done += part.len;
        used += 1;
        let flags = if done < frame.len { NEXT } else { 0 };
        ring.set_length(at, flags, given.region, part.len as u32);
        if done == frame.len {
            return Ok(used);
        }
    }
    // There is none, or the buffers got shorter since they were looked at.
    Ok(0)
}

/// Whether the peer's `room` buffers from `index` on have so many bytes: nothing is copied for a frame that has to wait.
fn fits(ring: &Ring, index: u16, room: u16, bytes: usize) -> Result<bool, Violation> {
    let mut held = 0;
    for used in 0..room {
        let length = ring.descriptor(index.wrapping_add(used)).length as usize;
        if length == 0 {
            return Err("a buffer of no bytes".to_owned());
        }
        held += length;
        if held >= bytes {
            return Ok(true);
        }
    }
    if room == ring.size() {
        return Err(format!(
            "a frame of {bytes} bytes takes more than all {room} buffers it gives, {held} bytes"
        ));
    }
    Ok(false)
}

/// The region that a descriptor of the peer lies in.
#[inline]
fn inside(ring: &Ring, descriptor: Descriptor) -> Result<&super::memory::Shared, Violation> {
    let Descriptor {
        region, length, offset, ..
    } = descriptor;
    let Some(memory) = ring.region(region) else {
        return Err(format!("a descriptor names region {region}, which does not exist"));
    };
    if u64::from(offset) + u64::from(length) > memory.len() as u64 {
        return Err(format!(
            "a descriptor of {length} bytes at offset {offset} of region {region}, which has {}",
            memory.len()
        ));
    }
    Ok(memory)
}

/// What was found in a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Frames copied out.
    pub frames: usize,
    /// Frames longer than a slot holds, or too short to be any, which were dropped.
    pub cut: usize,
}

/// The end that reads frames.
#[derive(Debug)]
pub struct Receiver {
    ring: Ring,
    buffers: Buffers,
    /// The next descriptor to read, and the peer's index as last seen.
    own: u16,
    other: u16,
    max_frame: u32,
    /// One part of a frame that comes in several.
    part: Box<[u8]>,
    /// The most descriptors that a frame took.
    most_parts: u16,
    /// `own` when the peer's index was looked at last.
    looked: u16,
    /// Looks before which there may have been no room for a further frame.
    full: u64,
    full_time: FullTime,
}

impl Receiver {
    /// The reading end of a ring. A client gives all its buffers to the peer.
    ///
    /// # Errors
    /// If the peer's index is impossible.
    pub fn new(ring: Ring, buffers: Buffers, max_frame: u32) -> Result<Self, Violation> {
        ring.announce_polling();
        let own = match buffers {
            Buffers::Own { .. } => 0,
            Buffers::Peer => ring.tail(),
        };
        let mut receiver = Self {
            ring,
            buffers,
            own,
            other: own,
            max_frame,
            part: vec![0; Self::slot_bytes(max_frame)].into(),
            most_parts: 1,
            looked: own,
            full: 0,
            full_time: FullTime::default(),
        };
        match buffers {
            Buffers::Own { .. } => receiver.give_all(),
            Buffers::Peer => _ = receiver.refresh()?,
        }
        Ok(receiver)
    }

    /// Gives all buffers of a new ring to the peer (client).
    pub fn give_all(&self) {
        self.give(0..self.ring.size());
        self.ring.announce_polling();
    }

    /// Bytes of a slot for frames of up to `max_frame`, which may begin anywhere in its first line.
    #[must_use]
    pub const fn slot_bytes(max_frame: u32) -> usize {
        stride_for(max_frame as usize + CACHE_LINE - 1)
    }

    #[inline]
    fn available(&self) -> u16 {
        self.other.wrapping_sub(self.own)
    }

    /// Looks at the peer's index. Whether the ring was full before, or may have been.
    fn refresh(&mut self) -> Result<bool, Violation> {
        let (index, name) = match self.buffers {
            Buffers::Own { .. } => (self.ring.tail(), "tail"),
            Buffers::Peer => (self.ring.head(), "head"),
        };
        let size = self.ring.size();
        if index.wrapping_sub(self.own) > size {
            return Err(format!("{name} {index} of a ring of {size} that was read up to {}", self.own));
        }
        self.other = index;
        // Since the last look never more waited than what waited then and what came since. A peer whose frames take
        // several descriptors finds no room for one before the last is used.
        let most = index.wrapping_sub(self.looked);
        let full = most + self.most_parts > size;
        self.full += u64::from(full);
        self.looked = self.own;
        Ok(full)
    }

    /// Looks before which the ring was full or may have been: its peer drops what finds no room, and does not say so.
    #[must_use]
    pub const fn full(&self) -> u64 {
        self.full
    }

    /// The time before those looks, ns.
    #[must_use]
    pub fn full_ns(&self) -> u64 {
        self.full_time.ns()
    }

    /// When it was, since [`Self::begin`].
    #[must_use]
    pub fn full_spans(&self) -> &[Span] {
        self.full_time.spans()
    }

    /// A trial begins.
    pub fn begin(&mut self) {
        self.full_time.begin();
    }

    /// Whether there is something to read, after a look at the peer's index if fewer than `wanted` are known of. It is `now`
    /// or somewhat later: how late, `time` tells.
    ///
    /// # Errors
    /// If that is impossible.
    #[inline]
    pub fn has_frames(&mut self, wanted: usize, now: Instant, time: impl FnOnce() -> Instant) -> Result<bool, Violation> {
        // Now and then in any case, so that what came since the last look tells whether the ring was full.
        if usize::from(self.available()) < wanted || self.own.wrapping_sub(self.looked) >= self.ring.size() / 4 {
            self.full_time.look(now);
            if self.refresh()? {
                self.full_time.full(time());
            }
        }
        Ok(self.available() > 0)
    }

    /// Copies up to as many frames as there are `slots` into `memory`, cut into pieces of [`Self::slot_bytes`], says in
    /// `slots` where they lie and that they arrived `at`, and gives their place in the ring back.
    ///
    /// # Errors
    /// If a descriptor is not what it can be.
    #[inline]
    pub fn receive(&mut self, memory: &mut [u8], slots: &mut [Slot], at: Instant) -> Result<Found, Violation> {
        let mut found = Found::default();
        let first = self.own;
        let most = slots.len();
        let stride = self.part.len();
        let mut pieces = memory.chunks_exact_mut(stride);
        let mut piece = pieces.next();
        while found.frames < most && self.own != self.other {
            let Some(room) = piece.as_deref_mut() else { break };
            let descriptor = self.ring.descriptor(self.own);
            let len = descriptor.length;
            let skew = if descriptor.flags & NEXT != 0 {
                match self.assemble(room)? {
                    Some((parts, Some(len))) => {
                        self.own = self.own.wrapping_add(parts);
                        slots[found.frames] = slot(found.frames * stride, len, at);
                        found.frames += 1;
                        piece = pieces.next();
                        continue;
                    }
                    Some((parts, None)) => {
                        self.own = self.own.wrapping_add(parts);
                        found.cut += 1;
                        continue;
                    }
                    // The rest of it is not there yet.
                    None => break,
                }
            } else {
                let (from, offset) = self.locate(self.own, descriptor)?;
                let kept = (MIN_SENT_BYTES..=self.max_frame).contains(&len);
                let skew = if kept { from.copy_out(offset, len as usize, room) } else { 0 };
                self.own = self.own.wrapping_add(1);
                if !kept {
                    found.cut += 1;
                    continue;
                }
                skew
            };
            slots[found.frames] = slot(found.frames * stride + skew, len, at);
            found.frames += 1;
            piece = pieces.next();
        }
        if first != self.own {
            match self.buffers {
                Buffers::Own { .. } => self.give(first..self.own),
                Buffers::Peer => self.ring.set_tail(self.own),
            }
        }
        Ok(found)
    }

    /// Where the bytes of a descriptor lie.
    #[inline]
    fn locate(&self, index: u16, descriptor: Descriptor) -> Result<(&super::memory::Shared, usize), Violation> {
        let Buffers::Own { stride, .. } = self.buffers else {
            return Ok((inside(&self.ring, descriptor)?, descriptor.offset as usize));
        };
        let (Some(place), Some(memory)) = (self.buffers.place(&self.ring, index), self.ring.region(0)) else {
            return Err("the buffers are gone".to_owned());
        };
        if descriptor.length as usize > stride {
            return Err(format!("{} bytes in a buffer of {stride}", descriptor.length));
        }
        Ok((memory, place))
    }

    /// A frame in several parts, from the next descriptor on: put together in `room`. How many parts and bytes it has, no
    /// bytes if it is not to be kept; nothing if its end is not there yet.
    #[cold]
    fn assemble(&mut self, room: &mut [u8]) -> Result<Option<(u16, Option<u32>)>, Violation> {
        let (mut parts, mut len) = (0, 0_u64);
        while parts < self.available() {
            let index = self.own.wrapping_add(parts);
            let descriptor = self.ring.descriptor(index);
            let part_len = descriptor.length as usize;
            let before = len;
            len += u64::from(descriptor.length);
            let mut part = std::mem::take(&mut self.part);
            let copied = self.locate(index, descriptor).map(|(from, offset)| {
                if len <= u64::from(self.max_frame) {
                    let skew = from.copy_out(offset, part_len, &mut part);
                    room[before as usize..][..part_len].copy_from_slice(&part[skew..][..part_len]);
                }
            });
            self.part = part;
            copied?;
            parts += 1;
            if descriptor.flags & NEXT == 0 {
                self.most_parts = self.most_parts.max(parts);
                self.part_again(parts);
                let fits = u64::from(MIN_SENT_BYTES)..=u64::from(self.max_frame);
                return Ok(Some((parts, fits.contains(&len).then_some(len as u32))));
            }
        }
        if parts == self.ring.size() {
            return Err("a frame that takes the whole ring and does not end".to_owned());
        }
        Ok(None)
    }

    /// Takes the marks off the next descriptors that join them to one frame, before the peer gets them back. A client has to
    /// set the flags of a descriptor anew for each frame; DPDK 22.11's does not where a frame takes one buffer
    /// (`eth_memif_tx`, which then only writes the length), and so would join it to whatever comes next.
    fn part_again(&self, parts: u16) {
        // A client makes its own descriptors anew.
        let Buffers::Peer = self.buffers else { return };
        for index in (0..parts).map(|part| self.own.wrapping_add(part)) {
            let Descriptor { region, length, .. } = self.ring.descriptor(index);
            self.ring.set_length(index, 0, region, length);
        }
    }

    /// Gives buffers to the peer (client): their descriptors are made anew, whatever it left in them.
    #[inline]
    fn give(&self, indices: std::ops::Range<u16>) {
        let Buffers::Own { stride, .. } = self.buffers else { return };
        let mut index = indices.start;
        while index != indices.end {
            let whole = Descriptor {
                flags: 0,
                region: 0,
                length: stride as u32,
                offset: self.buffers.place(&self.ring, index).unwrap_or(0) as u32,
            };
            self.ring.set_descriptor(index, whole);
            index = index.wrapping_add(1);
        }
        // All but those still to be read are the peer's.
        self.ring.set_head(self.own.wrapping_add(self.ring.size()));
    }
}

fn slot(offset: usize, len: u32, at: Instant) -> Slot {
    Slot {
        offset: offset as u32,
        len,
        at,
    }
}
