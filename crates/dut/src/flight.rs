//! A frame on its way through the device.

/// Where a frame lies in the pool, and when it is due at its next stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    /// Picoseconds.
    pub(crate) at: u64,
    pub(crate) slot: u32,
    pub(crate) len: u16,
}
