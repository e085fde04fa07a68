//! How many frames of a stream are worked on together.

/// Frames whose departures are computed at once, so that the square roots of a ramp run side by side, and which are written at
/// once.
pub const BLOCK: usize = 128;
