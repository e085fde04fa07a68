//! The memory frames live in: one zeroed block, aligned to a cache line, cut into slots of one stride.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64};

/// Bytes in a cache line of every machine netdyno is built for.
pub const CACHE_LINE: usize = 64;

/// Returns the distance between slots that hold `bytes` each.
///
/// A whole number of cache lines. From three lines on an odd number: the first lines of neighbouring
/// slots then fall into different sets of the level-1 cache (64 sets of 64 bytes repeat every 4096
/// bytes; a stride of 2048 would put all headers into two of them).
#[must_use]
pub const fn stride_for(bytes: usize) -> usize {
    let lines = bytes.div_ceil(CACHE_LINE);
    let lines = if lines < 3 { lines } else { lines | 1 };
    (if lines == 0 { 1 } else { lines }) * CACHE_LINE
}

/// Asks for the cache line at the start of `place` to be brought near, without waiting for it.
#[inline]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the address is that of a valid reference, and a prefetch neither reads nor writes as far as the program can tell.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Asks for the cache line at `place` to be brought near and made this core's own, to be written: without waiting for it, and
/// wherever it is.
#[inline]
pub fn prefetch_to_write(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch neither reads nor writes as far as the program can tell, and none of a place that is not mapped fails.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// What may be all zero bytes.
///
/// # Safety
/// Zero bytes are a valid value, which needs no drop.
pub unsafe trait Zero {}

// SAFETY: they have the layout of their integers, of which any bits are valid.
unsafe impl Zero for AtomicU8 {}
// SAFETY: as above.
unsafe impl Zero for [AtomicU64; 2] {}

/// `count` zeros that threads share, in large pages where the system has them: they are looked at here and there.
#[must_use]
pub fn shared_zeros<T: Zero>(count: usize) -> Arc<[T]> {
    // The first and the last page are not ours alone: the hint is for those between them.
    const PAGE: usize = 1 << 21;
    let mut shared = Arc::<[T]>::new_uninit_slice(count);
    let places = Arc::get_mut(&mut shared).expect("nobody else has it yet");
    let range = places.as_mut_ptr_range();
    let (first, last) = (range.start.addr().next_multiple_of(PAGE), range.end.addr() & !(PAGE - 1));
    if first < last {
        // SAFETY: the pages lie within the slice; the call changes how they are mapped, not what is in them.
        unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
    }
    // SAFETY: the slice is ours alone and `count` places long, and `Zero` promises that zero bytes are a valid `T`.
    unsafe {
        range.start.write_bytes(0, count);
        shared.assume_init()
    }
}

/// An owned, zeroed, cache-line-aligned block of bytes that never moves.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: `Region` owns its block exclusively; access through `&self` hands out no references, only a pointer.
unsafe impl Send for Region {}
// SAFETY: as above; whoever dereferences the pointer answers for the synchronization.
unsafe impl Sync for Region {}

impl Region {
    /// A block of `len` zero bytes.
    ///
    /// # Panics
    /// If `len` is zero or above what one block of memory can be.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        assert!(len > 0, "a region holds at least one byte");
        let layout = Self::layout(len);
        // SAFETY: the layout has a size above zero.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else {
            handle_alloc_error(layout)
        };
        Self { start, len }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, CACHE_LINE).expect("a region is smaller than the address space")
    }

    /// Where it starts. Dereferencing is the caller's responsibility.
    #[must_use]
    pub const fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// All of it.
    #[must_use]
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block is owned, initialized, `len` long, and borrowed exclusively through `&mut self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with the same layout, and freed only here.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.len)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_whole_lines_and_spread_over_the_cache_sets() {
        let sizes = [
            (1, 64),
            (60, 64),
            (64, 64),
            (65, 128),
            (1514, 25 * 64),
            (2048, 33 * 64),
            (9018, 141 * 64),
        ];
        for (bytes, stride) in sizes {
            assert_eq!(stride_for(bytes), stride, "{bytes} bytes");
        }
    }

    #[test]
    fn a_region_is_aligned_and_zeroed() {
        let mut region = Region::zeroed(1000);
        assert_eq!(region.as_ptr() as usize % CACHE_LINE, 0);
        assert!(region.bytes().iter().all(|byte| *byte == 0));
        assert_eq!(region.bytes().len(), 1000);
    }
}
