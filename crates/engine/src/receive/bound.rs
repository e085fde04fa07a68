//! What tells whose a frame is, and what is counted of each of several streams before it is put down there.

use super::arrivals::Arrivals;

/// Frames after which they are put down: their bytes fit.
const MOST_FRAMES: u32 = 4096;

/// Of one stream: half a line of the cache, for there may be thousands and each is looked at for one frame.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Bound {
    /// Flow numbers are counted over all streams: this one has those below that are not below the end of the one before it.
    pub end: u32,
    pub rx_port: u32,
    /// One more than the highest sequence number sent so far in any flow.
    pub sequences: u32,
    /// New frames the stream does not know of yet, and their bytes.
    frames: u32,
    bytes: u32,
    /// The samples of time they all arrived and departed in.
    rx: u32,
    arrived: u32,
}

impl Bound {
    pub fn of(stream: &Arrivals) -> Self {
        Self {
            end: stream.end,
            rx_port: stream.rx_port as u32,
            sequences: 0,
            frames: 0,
            bytes: 0,
            rx: 0,
            arrived: 0,
        }
    }

    /// Counts a new frame of `bytes` bytes that arrived in sample `rx` and departed in sample `arrived`.
    #[inline(always)]
    pub fn count(&mut self, stream: &mut Arrivals, rx: usize, arrived: usize, bytes: u64) {
        if self.rx != rx as u32 || self.arrived != arrived as u32 || self.frames == MOST_FRAMES {
            self.settle(stream);
            (self.rx, self.arrived) = (rx as u32, arrived as u32);
        }
        self.frames += 1;
        self.bytes += bytes as u32;
    }

    /// Puts down with the stream what was counted of it.
    #[inline(never)]
    pub fn settle(&mut self, stream: &mut Arrivals) {
        if self.frames > 0 {
            let frames = u64::from(self.frames);
            stream.received += frames;
            stream.received_bytes += u64::from(self.bytes);
            stream.rx.add_in(self.rx as usize, frames);
            stream.arrived.add_in(self.arrived as usize, frames);
            (self.frames, self.bytes) = (0, 0);
        }
    }
}
