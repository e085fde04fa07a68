//! Memory shared with a peer that is not trusted: sealed files, mappings, and the only ways bytes go in and out.
//!
//! The peer may write any byte at any time. So no reference to shared bytes is ever made: frames are copied between
//! shared and own memory by volatile accesses, numbers are read and written as atomics, each exactly once, and what
//! is decided is decided on the copy. A burst that a port lends is always the port's own memory.

use crate::region::{CACHE_LINE, prefetch_to_write};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// A file in memory of `len` bytes, sealed so that it never becomes shorter.
///
/// # Errors
/// If the system refuses.
pub fn sealed_file(len: usize) -> io::Result<OwnedFd> {
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(c"netdyno memif".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened and owned by nobody else.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    let len = libc::off_t::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: no memory is passed.
    if unsafe { libc::ftruncate(file.as_raw_fd(), len) } != 0 {
        return Err(io::Error::last_os_error());
    }
    seal(&file)?;
    Ok(file)
}

/// Seals `file` against shrinking.
fn seal(file: &OwnedFd) -> io::Result<()> {
    // SAFETY: no memory is passed.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether the peer can no longer make `file` shorter: a page that is cut off from under a mapping ends the process
/// that touches it (SIGBUS).
pub fn keeps_its_length(file: &OwnedFd) -> bool {
    // SAFETY: no memory is passed.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    // Who made the file may have left the seal to us.
    seals >= 0 && (seals & libc::F_SEAL_SHRINK != 0 || seal(file).is_ok())
}

/// Bytes of `file`.
///
/// # Errors
/// If the system does not say.
pub fn length(file: &OwnedFd) -> io::Result<u64> {
    // SAFETY: all-zero is a valid stat to write into.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is valid for writes.
    match unsafe { libc::fstat(file.as_raw_fd(), &raw mut stat) } {
        0 => Ok(stat.st_size as u64),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A mapping of a sealed file, shared with the peer.
#[derive(Debug)]
pub struct Shared {
    start: NonNull<u8>,
    /// Bytes of the file that may be used.
    len: usize,
}

// SAFETY: the mapping is no thread's own; every access goes through atomics or volatile copies.
unsafe impl Send for Shared {}
// SAFETY: as above; `&Shared` hands out no references to plain bytes.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps the first `len` bytes of `file`, which has as many and [keeps its length](keeps_its_length).
    /// With `present`, its pages are there at once, so that no first touch costs time later.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn map(file: &OwnedFd, len: usize, present: bool) -> io::Result<Self> {
        let populate = if present { libc::MAP_POPULATE } else { 0 };
        // SAFETY: a new mapping at an address of the system's choice touches no memory that is in use.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | populate,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len })
    }

    /// Bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// A number of two bytes.
    ///
    /// # Panics
    /// If it does not lie inside, aligned.
    #[must_use]
    pub fn u16(&self, offset: usize) -> &AtomicU16 {
        // SAFETY: `number` checks that it lies inside, aligned; an atomic may be written by anybody; it is borrowed from
        // the mapping.
        unsafe { AtomicU16::from_ptr(self.number(offset, size_of::<u16>()).cast()) }
    }

    /// A number of four bytes; as [`Self::u16`].
    #[must_use]
    pub fn u32(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: as in `u16`.
        unsafe { AtomicU32::from_ptr(self.number(offset, size_of::<u32>()).cast()) }
    }

    /// A number of eight bytes; as [`Self::u16`].
    #[inline]
    #[must_use]
    pub fn u64(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: as in `u16`.
        unsafe { AtomicU64::from_ptr(self.number(offset, size_of::<u64>()).cast()) }
    }

    #[inline]
    fn number(&self, offset: usize, size: usize) -> *mut u8 {
        assert!(offset.is_multiple_of(size) && offset < self.len && self.len - offset >= size);
        // SAFETY: inside the mapping by the assertion.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The line at `offset`, if it lies inside, will be written soon.
    #[inline]
    pub fn expect_write(&self, offset: usize) {
        if offset < self.len {
            prefetch_to_write(self.start.as_ptr().wrapping_add(offset));
        }
    }

    /// Copies the `len` bytes at `offset` into `to`, in whole cache lines, and returns where in `to` they begin: as
    /// far behind its start as `offset` is behind that of its line.
    ///
    /// # Panics
    /// If they do not lie inside, or `to` has no room for the lines.
    #[inline]
    pub fn copy_out(&self, offset: usize, len: usize, to: &mut [u8]) -> usize {
        let skew = offset % CACHE_LINE;
        let bytes = (skew + len).next_multiple_of(CACHE_LINE);
        assert!(offset <= self.len && self.len - offset >= len && bytes <= to.len());
        // SAFETY: the lines begin at or behind the start of the mapping, which is that of a page, and end in the page
        // that holds their last byte, which is mapped as a whole; `to` has the room. The peer may write meanwhile:
        // volatile reads are each made once, and of what they find nothing is assumed.
        unsafe {
            let from = self.start.as_ptr().add(offset - skew).cast::<Line>();
            let to = to.as_mut_ptr().cast::<Packed>();
            for line in 0..bytes / CACHE_LINE {
                to.add(line).write(Packed(from.add(line).read_volatile().0));
            }
        }
        skew
    }

    /// Copies `from` to `offset`. Of the `room` bytes there, those behind it may be overwritten too.
    ///
    /// # Panics
    /// If `room` does not lie inside, or is less than what is to be copied.
    #[inline]
    pub fn copy_in(&self, from: &Frame<'_>, offset: usize, room: usize) {
        let len = from.len;
        assert!(offset <= self.len && self.len - offset >= room && len <= room);
        let lines = len.next_multiple_of(CACHE_LINE);
        if offset.is_multiple_of(CACHE_LINE) && lines <= room && lines <= from.bytes.len() {
            // SAFETY: `lines` bytes lie inside the mapping (within `room`) and inside `from`. The peer may read or write
            // meanwhile, which volatile writes do not mind.
            unsafe {
                let to = self.start.as_ptr().add(offset).cast::<Line>();
                let from = from.bytes.as_ptr().cast::<Packed>();
                for line in 0..lines / CACHE_LINE {
                    to.add(line).write_volatile(Line(from.add(line).read().0));
                }
            }
            return;
        }
        for (place, byte) in from.bytes[..len].iter().enumerate() {
            // SAFETY: inside the mapping by the assertion; volatile as above.
            unsafe { self.start.as_ptr().add(offset + place).write_volatile(*byte) };
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `map` with this length, unmapped only here.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A frame in own memory: its length, and its bytes with what lies behind it, so that it can be copied in whole lines.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// From the first byte of the frame on.
    pub bytes: &'a [u8],
    /// Of the frame.
    pub len: usize,
}

/// What is moved at once: a volatile access of a line becomes two or four of the widest the machine has.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; CACHE_LINE / 8]);

/// A line anywhere in own memory.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Packed([u64; CACHE_LINE / 8]);
