//! A policer: a token bucket that lets frames through as long as it holds their bits (RFC 2697 section 3, one rate and
//! one burst), or a licence, which is the same with another name on it.

use crate::spec::{Layer, Police};

/// Picoseconds in a second: the bucket counts bits times this, so that any rate fills it without a remainder.
const SECOND: u128 = 1_000_000_000_000;
/// Bytes a frame has beyond those in its slot: the FCS; and on the line preamble, SFD and gap.
const FCS_BYTES: u64 = netdyno_frame::FCS_BYTES as u64;

/// The bucket, full at first.
#[derive(Debug)]
pub(crate) struct Bucket {
    rate_bps: u128,
    /// What it holds when full, bits times [`SECOND`].
    depth: u128,
    tokens: u128,
    /// When it held that.
    at: u64,
    /// Bytes each frame counts beyond those in its slot, and the least it counts.
    beyond: u64,
}

impl Bucket {
    /// `None` if nothing would ever pass, or the bucket is deeper than an hour of any line.
    pub(crate) fn new(police: &Police) -> Option<Self> {
        const DEEPEST: u64 = 1 << 48;
        if police.rate_bps == 0 || !(1..=DEEPEST).contains(&police.burst_bytes) {
            return None;
        }
        let depth = u128::from(police.burst_bytes) * 8 * SECOND;
        Some(Self {
            rate_bps: u128::from(police.rate_bps),
            depth,
            tokens: depth,
            at: 0,
            beyond: match police.layer {
                Layer::L1 => netdyno_io::port::WIRE_OVERHEAD_BYTES,
                Layer::L2 => FCS_BYTES,
            },
        })
    }

    /// A frame of `len` bytes (no FCS) arrives at `t`, no earlier than the one before it: whether it passes.
    #[inline]
    pub(crate) fn offer(&mut self, t: u64, len: u64) -> bool {
        let since = u128::from(t.saturating_sub(self.at));
        self.at = self.at.max(t);
        self.tokens = (self.tokens + self.rate_bps * since).min(self.depth);
        let bits = u128::from((len.max(netdyno_io::port::MIN_SLOT_BYTES) + self.beyond) * 8) * SECOND;
        let passes = self.tokens >= bits;
        if passes {
            self.tokens -= bits;
        }
        passes
    }
}
