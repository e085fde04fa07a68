//! Memory that is shared with the kernel: the frames' own, and the rings that say whose a frame is.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A mapping of mmap(2), unmapped when dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is owned, and hands out nothing but its address.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Zeroed memory, aligned to a page; of huge pages where the kernel has them at hand.
    pub fn anonymous(bytes: usize) -> io::Result<Self> {
        let made = Self::map(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)?;
        // SAFETY: the range is this mapping's. It is advice: what fails changes nothing.
        unsafe { libc::madvise(made.start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        Ok(made)
    }

    /// Memory of the kernel behind `file`, at `offset`.
    fn of_ring(file: &impl AsRawFd, offset: u64, bytes: usize) -> io::Result<Self> {
        Self::map(bytes, libc::MAP_SHARED | libc::MAP_POPULATE, file.as_raw_fd(), offset)
    }

    fn map(bytes: usize, flags: libc::c_int, file: RawFd, offset: u64) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: no address is asked for, so nothing that is mapped is replaced.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, file, offset as libc::off_t) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, bytes })
    }

    /// Where it starts. Dereferencing is the caller's responsibility.
    pub const fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How long it is.
    pub const fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `map` with this length, and unmapped only here.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// `struct xdp_desc` of linux/if_xdp.h: a frame in the rings that receive and transmit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Descriptor {
    /// Offset of the frame's first byte in the shared memory.
    pub address: u64,
    /// Its length.
    pub len: u32,
    /// None are used.
    pub options: u32,
}

/// One of the four rings of a socket: `T`s, which one side puts in and the other takes out.
///
/// Each index is written by one side only and counts without end, modulo 2^32.
#[derive(Debug)]
pub(super) struct Ring<T> {
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    count: u32,
    /// This side's index, and the other side's as last seen.
    own: u32,
    other: u32,
    /// Keeps the pointers above valid.
    _mapping: Mapping,
    _entries: PhantomData<T>,
}

// SAFETY: the pointers lead into the mapping that the ring itself owns, and all access is through `&mut self` or atomic.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// Maps the ring of `count` entries (a power of two) that the kernel has at `page_offset` of `socket`.
    pub fn map(socket: &impl AsRawFd, page_offset: u64, places: libc::xdp_ring_offset, count: u32) -> io::Result<Self> {
        assert!(count.is_power_of_two());
        let bytes = places.desc as usize + count as usize * size_of::<T>();
        let mapping = Mapping::of_ring(socket, page_offset, bytes)?;
        let index = |place: u64| {
            let place = place as usize;
            assert!(place.is_multiple_of(align_of::<AtomicU32>()) && place + size_of::<AtomicU32>() <= bytes);
            // SAFETY: inside the mapping and aligned, by the assertion.
            unsafe { mapping.start.add(place) }.cast::<AtomicU32>()
        };
        assert!((places.desc as usize).is_multiple_of(align_of::<T>()));
        Ok(Self {
            producer: index(places.producer),
            consumer: index(places.consumer),
            flags: index(places.flags),
            // SAFETY: the mapping is longer than this offset, and the entries are aligned by the assertion.
            entries: unsafe { mapping.start.add(places.desc as usize) }.cast(),
            count,
            own: 0,
            other: 0,
            _mapping: mapping,
            _entries: PhantomData,
        })
    }

    fn at(&self, index: u32) -> NonNull<T> {
        // SAFETY: masked to below `count`, all of which lie in the mapping.
        unsafe { self.entries.add((index & (self.count - 1)) as usize) }
    }

    fn load(place: NonNull<AtomicU32>) -> u32 {
        // SAFETY: points into the mapping. Acquire: what the other side did before it moved its index is seen.
        unsafe { place.as_ref() }.load(Ordering::Acquire)
    }

    fn publish(place: NonNull<AtomicU32>, index: u32) {
        // SAFETY: points into the mapping. Release: what this side did is seen by who sees the index.
        unsafe { place.as_ref() }.store(index, Ordering::Release);
    }

    /// Whether the kernel asks to be called, for it does not look by itself.
    pub fn wants_wakeup(&self) -> bool {
        // SAFETY: points into the mapping.
        let flags = unsafe { self.flags.as_ref() }.load(Ordering::Relaxed);
        flags & libc::XDP_RING_NEED_WAKEUP != 0
    }

    /// As the producer: puts `entries` in, for which there must be room.
    pub fn put(&mut self, entries: impl Iterator<Item = T>) {
        for entry in entries {
            // SAFETY: the caller has room, so the kernel has finished with this entry and does not look at it before the
            // index is published; this side alone writes here (`&mut self`).
            unsafe { self.at(self.own).write(entry) };
            self.own = self.own.wrapping_add(1);
        }
        Self::publish(self.producer, self.own);
    }

    /// As the producer: how many entries the kernel has not taken out yet.
    pub fn waiting(&mut self) -> u32 {
        self.other = Self::load(self.consumer);
        self.own.wrapping_sub(self.other)
    }

    /// As the consumer: how many entries are there, up to `limit`; looks again when it knows of fewer.
    pub fn ready(&mut self, limit: u32) -> u32 {
        if self.other.wrapping_sub(self.own) < limit {
            self.other = Self::load(self.producer);
        }
        self.other.wrapping_sub(self.own).min(limit)
    }

    /// As the consumer: entry `index` of those that are [ready](Self::ready).
    pub fn peek(&self, index: u32) -> T {
        debug_assert!(index < self.other.wrapping_sub(self.own));
        // SAFETY: the kernel has published this entry and does not write to it until it is released.
        unsafe { self.at(self.own.wrapping_add(index)).read() }
    }

    /// As the consumer: gives back the first `count` entries.
    pub fn release(&mut self, count: u32) {
        self.own = self.own.wrapping_add(count);
        Self::publish(self.consumer, self.own);
    }
}
