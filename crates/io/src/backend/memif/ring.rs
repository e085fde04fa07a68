//! A ring in shared memory: where its parts lie, and what is believed of it.
//!
//! ```text
//! 0    cookie u32, flags u16 (bit 0: do not wake me), head u16      the client's line
//! 64   tail u16                                                     the server's line
//! 128  2^n descriptors: flags u16 (bit 0: goes on in the next), region u16, length u32, offset u32, metadata u32
//! ```
//!
//! Head and tail run freely. From client to server the client moves the head when it has written frames and the server
//! the tail when it has read them; from server to client the client moves the head to give buffers and the server the tail
//! when it has filled them. All of it can be changed by the peer at any time, so each number is read once and checked.

use super::memory::Shared;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a ring begins with.
pub const COOKIE: u32 = 0x03E3_1F20;
/// Ring flags: its reader looks by itself and is not to be woken.
pub const POLLED: u16 = 1;
/// Descriptor flags: the frame goes on in the next descriptor.
pub const NEXT: u16 = 1;
/// The largest ring, as a power of two: as DPDK and VPP have it, and half of what the indices could tell apart.
pub const MOST_LOG2: u8 = 14;

const FLAGS_AT: usize = 4;
const HEAD_AT: usize = 6;
const TAIL_AT: usize = 64;
const DESCRIPTORS_AT: usize = 128;
const DESCRIPTOR_BYTES: usize = 16;

/// The regions of a connection, by index.
pub type Regions = Arc<[Shared]>;

/// What is wrong with what the peer did.
pub type Violation = String;

/// One frame, or a part of one, in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// See [`NEXT`].
    pub flags: u16,
    /// Region it lies in.
    pub region: u16,
    /// Bytes: of the frame, or of the buffer given.
    pub length: u32,
    /// First byte in the region.
    pub offset: u32,
}

impl Descriptor {
    fn words(self) -> [u64; 2] {
        let (f, r) = (self.flags.to_ne_bytes(), self.region.to_ne_bytes());
        let (l, o) = (self.length.to_ne_bytes(), self.offset.to_ne_bytes());
        [
            u64::from_ne_bytes([f[0], f[1], r[0], r[1], l[0], l[1], l[2], l[3]]),
            u64::from_ne_bytes([o[0], o[1], o[2], o[3], 0, 0, 0, 0]),
        ]
    }

    #[inline]
    fn from_words(words: [u64; 2]) -> Self {
        let [f0, f1, r0, r1, l0, l1, l2, l3] = words[0].to_ne_bytes();
        let [o0, o1, o2, o3, ..] = words[1].to_ne_bytes();
        Self {
            flags: u16::from_ne_bytes([f0, f1]),
            region: u16::from_ne_bytes([r0, r1]),
            length: u32::from_ne_bytes([l0, l1, l2, l3]),
            offset: u32::from_ne_bytes([o0, o1, o2, o3]),
        }
    }
}

/// A ring that lies inside one of the regions.
#[derive(Clone, Debug)]
pub struct Ring {
    regions: Regions,
    region: usize,
    /// Its first byte there.
    at: usize,
    size: u16,
}

impl Ring {
    /// Bytes of a ring of `2^log2` descriptors.
    #[must_use]
    pub const fn bytes(log2: u8) -> usize {
        DESCRIPTORS_AT + (DESCRIPTOR_BYTES << log2)
    }

    /// The ring at byte `offset` of `region`.
    ///
    /// # Errors
    /// If it does not lie there: why.
    pub fn new(regions: &Regions, region: u16, offset: u32, log2: u8) -> Result<Self, Violation> {
        if log2 > MOST_LOG2 {
            return Err(format!("a ring of 2^{log2} descriptors; at most 2^{MOST_LOG2}"));
        }
        let Some(memory) = regions.get(usize::from(region)) else {
            return Err(format!("a ring in region {region}, which does not exist"));
        };
        let (at, bytes) = (offset as usize, Self::bytes(log2));
        if !at.is_multiple_of(size_of::<u64>()) {
            return Err(format!("a ring at offset {at}, which is not a multiple of 8"));
        }
        if at > memory.len() || memory.len() - at < bytes {
            return Err(format!(
                "a ring of {bytes} bytes at offset {at} of region {region}, which has {}",
                memory.len()
            ));
        }
        Ok(Self {
            regions: Arc::clone(regions),
            region: usize::from(region),
            at,
            size: 1 << log2,
        })
    }

    /// Makes a new ring of what is there: no frames, no buffers given.
    pub fn initialize(&self) {
        let memory = self.memory();
        memory.u32(self.at).store(COOKIE, Ordering::Relaxed);
        memory.u16(self.at + FLAGS_AT).store(0, Ordering::Relaxed);
        memory.u16(self.at + HEAD_AT).store(0, Ordering::Relaxed);
        memory.u16(self.at + TAIL_AT).store(0, Ordering::Release);
    }

    /// # Errors
    /// If it does not begin as a ring does.
    pub fn check_cookie(&self) -> Result<(), Violation> {
        match self.memory().u32(self.at).load(Ordering::Acquire) {
            COOKIE => Ok(()),
            other => Err(format!("a ring begins with {other:#010x}; memif's with {COOKIE:#010x}")),
        }
    }

    /// Asks the writer not to wake the reader, this end.
    pub fn announce_polling(&self) {
        self.memory().u16(self.at + FLAGS_AT).store(POLLED, Ordering::Release);
    }

    /// Whether the reader, the other end, wants to be woken.
    #[inline]
    #[must_use]
    pub fn wants_waking(&self) -> bool {
        self.memory().u16(self.at + FLAGS_AT).load(Ordering::Relaxed) & POLLED == 0
    }

    fn memory(&self) -> &Shared {
        &self.regions[self.region]
    }

    /// Returns the number of descriptors.
    #[inline]
    #[must_use]
    pub const fn size(&self) -> u16 {
        self.size
    }

    /// The region with this index.
    #[inline]
    #[must_use]
    pub fn region(&self, index: u16) -> Option<&Shared> {
        self.regions.get(usize::from(index))
    }

    /// The client's index. Acquire: what its owner wrote before it moved the index is there.
    #[inline]
    #[must_use]
    pub fn head(&self) -> u16 {
        self.memory().u16(self.at + HEAD_AT).load(Ordering::Acquire)
    }

    /// The server's index; as [`Self::head`].
    #[inline]
    #[must_use]
    pub fn tail(&self) -> u16 {
        self.memory().u16(self.at + TAIL_AT).load(Ordering::Acquire)
    }

    /// Moves the client's index. Release: what was written before is there for whoever sees it.
    #[inline]
    pub fn set_head(&self, index: u16) {
        self.memory().u16(self.at + HEAD_AT).store(index, Ordering::Release);
    }

    /// Moves the server's index; as [`Self::set_head`].
    #[inline]
    pub fn set_tail(&self, index: u16) {
        self.memory().u16(self.at + TAIL_AT).store(index, Ordering::Release);
    }

    #[inline]
    fn place(&self, index: u16) -> usize {
        self.at + DESCRIPTORS_AT + usize::from(index & (self.size - 1)) * DESCRIPTOR_BYTES
    }

    /// A copy of the descriptor at a free-running index; its fields fit together or not, as the peer likes.
    #[inline]
    #[must_use]
    pub fn descriptor(&self, index: u16) -> Descriptor {
        let (memory, place) = (self.memory(), self.place(index));
        Descriptor::from_words([
            memory.u64(place).load(Ordering::Relaxed),
            memory.u64(place + 8).load(Ordering::Relaxed),
        ])
    }

    /// The descriptor at a free-running index will be written soon.
    #[inline]
    pub fn expect_write(&self, index: u16) {
        self.memory().expect_write(self.place(index));
    }

    /// Writes all of a descriptor.
    #[inline]
    pub fn set_descriptor(&self, index: u16, descriptor: Descriptor) {
        let [first, second] = descriptor.words();
        let (memory, place) = (self.memory(), self.place(index));
        memory.u64(place).store(first, Ordering::Relaxed);
        memory.u64(place + 8).store(second, Ordering::Relaxed);
    }

    /// Writes flags, region and length; the offset stays.
    #[inline]
    pub fn set_length(&self, index: u16, flags: u16, region: u16, length: u32) {
        let offset = 0;
        let [first, _] = Descriptor {
            flags,
            region,
            length,
            offset,
        }
        .words();
        self.memory().u64(self.place(index)).store(first, Ordering::Relaxed);
    }
}
