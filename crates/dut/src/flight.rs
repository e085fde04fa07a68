//! A frame on its way through the device.

/// Frames handed to a port at once.
pub(crate) const BURST: usize = 256;

/// Where a frame lies in the pool, and when it is due at its next stage. Two words, because that is how it is moved, many
/// times over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    /// Picoseconds.
    pub(crate) at: u64,
    pub(crate) frame: Frame,
}

/// Slot in the low half, length in the 16 bits above it, then a bit for `late`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame(u64);

const LATE: u64 = 1 << 48;

impl Frame {
    /// No frame at all.
    pub(crate) const NONE: Self = Self(0);

    #[inline(always)]
    pub(crate) fn new(slot: u32, len: u16) -> Self {
        Self(u64::from(slot) | u64::from(len) << 32)
    }

    /// Returns the frame's slot in the pool.
    #[inline(always)]
    pub(crate) fn slot(self) -> u32 {
        self.0 as u32
    }

    /// Bytes, FCS not counted.
    #[inline(always)]
    pub(crate) fn len(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// In front of a line: whether it is due within the picosecond after [`Flight::at`], not at that itself.
    #[inline(always)]
    pub(crate) fn is_late(self) -> bool {
        self.0 & LATE != 0
    }

    #[inline(always)]
    pub(crate) fn late(self, late: bool) -> Self {
        Self(self.0 & !LATE | u64::from(late) << 48)
    }
}

/// The first `count` of two rows of flights, each in order of time, as one row in order of time (at the same picosecond
/// those of `one` first); `visit` learns from which row each is. No branch on that: it is as good as random.
#[inline(always)]
pub(crate) fn merge(one: &[Flight], other: &[Flight], count: usize, mut visit: impl FnMut(usize, usize, Flight)) {
    const NEVER: Flight = Flight {
        at: u64::MAX,
        frame: Frame::NONE,
    };
    let (mut from_one, mut from_other) = (0, 0);
    for index in 0..count {
        let first = one.get(from_one).copied().unwrap_or(NEVER);
        let second = other.get(from_other).copied().unwrap_or(NEVER);
        let row = usize::from(second.at < first.at);
        visit(index, row, [first, second][row]);
        from_one += 1 - row;
        from_other += row;
    }
}
