//! The device's own memory for frames in flight: copied in once on arrival, copied out once on departure.

/// Frames up to this many bytes live in small slots of one cache line: 64-byte frames, with a tag too.
const SMALL: usize = 64;
/// Slots begin on cache lines; a slot is named by its first line.
const LINE: usize = 64;

/// Slots of two sizes with a last-in first-out free list each: the slot freed last is the one still in cache.
#[derive(Debug)]
pub(crate) struct Pool {
    memory: Vec<u8>,
    free: [Vec<u32>; 2],
    /// Cache lines a slot takes, per class.
    lines: [usize; 2],
    /// Slots handed out and not yet taken back.
    taken: usize,
}

impl Pool {
    /// A pool for frames of up to `max_frame` bytes, FCS not counted.
    pub(crate) fn new(max_frame: usize) -> Self {
        // An odd number of lines, so that the first lines of neighbouring slots fall into different cache sets.
        let large = max_frame.max(SMALL).div_ceil(LINE) | 1;
        Self {
            memory: Vec::new(),
            free: [Vec::new(), Vec::new()],
            lines: [SMALL / LINE, large],
            taken: 0,
        }
    }

    /// Copies a frame in.
    #[inline]
    pub(crate) fn store(&mut self, frame: &[u8]) -> u32 {
        let slot = self.take(frame.len());
        copy(&mut self.memory[slot as usize * LINE..], frame);
        slot
    }

    /// A slot for a frame of `len` bytes; what is in it is left over from before.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> u32 {
        let class = usize::from(len > SMALL);
        if self.free[class].is_empty() {
            self.grow(class);
        }
        self.taken += 1;
        self.free[class].pop().expect("grow put slots there")
    }

    /// The bytes of a frame.
    #[inline]
    pub(crate) fn frame(&self, slot: u32, len: u16) -> &[u8] {
        &self.memory[slot as usize * LINE..][..len as usize]
    }

    /// The bytes of a frame, to change.
    #[inline]
    pub(crate) fn frame_mut(&mut self, slot: u32, len: u16) -> &mut [u8] {
        &mut self.memory[slot as usize * LINE..][..len as usize]
    }

    /// A second frame with the same bytes.
    pub(crate) fn duplicate(&mut self, slot: u32, len: u16) -> u32 {
        let twin = self.take(len as usize);
        let from = slot as usize * LINE;
        self.memory.copy_within(from..from + len as usize, twin as usize * LINE);
        twin
    }

    /// Takes a slot back. `len` is that of the frame in it: it tells the slot's class.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: u32, len: u16) {
        self.taken -= 1;
        self.free[usize::from(len as usize > SMALL)].push(slot);
    }

    /// Frames in the device now.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    #[cold]
    fn grow(&mut self, class: usize) {
        let lines = self.lines[class];
        let slots = if class == 0 { 1024 } else { 256 };
        let first = self.memory.len() / LINE;
        self.memory.resize(self.memory.len() + slots * lines * LINE, 0);
        // Lowest address on top of the free list: memory is touched from its beginning.
        self.free[class].extend((0..slots).rev().map(|slot| (first + slot * lines) as u32));
    }
}

/// Copies a whole frame to the beginning of `to`. Small frames by their first and last bytes, which may
/// overlap: moves of a constant length cost less than a call.
#[inline]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    let len = from.len();
    let to = &mut to[..len];
    match len {
        32..=64 => {
            to[..32].copy_from_slice(&from[..32]);
            to[len - 32..].copy_from_slice(&from[len - 32..]);
        }
        65..=128 => {
            to[..64].copy_from_slice(&from[..64]);
            to[len - 64..].copy_from_slice(&from[len - 64..]);
        }
        _ => to.copy_from_slice(from),
    }
}
