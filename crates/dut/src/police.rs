//! A policer: a token bucket that lets frames through as long as it holds their bits (RFC 2697 section 3, one rate and
//! one burst), or a licence, which is the same with another name on it.

use crate::sort::Sort;
use crate::spec::{Excess, Layer, Police};

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

    /// What a frame of `len` bytes (no FCS) takes out.
    fn cost(&self, len: u64) -> u128 {
        u128::from((len.max(netdyno_io::port::MIN_SLOT_BYTES) + self.beyond) * 8) * SECOND
    }

    fn fill(&mut self, t: u64) {
        let since = u128::from(t.saturating_sub(self.at));
        self.at = self.at.max(t);
        self.tokens = (self.tokens + self.rate_bps * since).min(self.depth);
    }

    /// Whether a frame of `len` bytes (no FCS) that arrives at `t`, no earlier than the one before it, may pass.
    pub(crate) fn holds(&mut self, t: u64, len: u64) -> bool {
        self.fill(t);
        self.tokens >= self.cost(len)
    }

    /// Returns the time at which the bucket holds enough for a frame of `len` bytes, ps.
    pub(crate) fn ready_at(&self, len: u64) -> u64 {
        // Of a frame that fits a slot it is less than 2^60; so is the rate, which came in 64 bits.
        let missing = self.cost(len).saturating_sub(self.tokens) as u64;
        self.at.saturating_add(missing.div_ceil(self.rate_bps as u64))
    }

    /// Takes out what a frame of `len` bytes costs, at `t`.
    pub(crate) fn take(&mut self, t: u64, len: u64) {
        self.fill(t);
        self.tokens = self.tokens.saturating_sub(self.cost(len));
    }

    /// Fills the bucket.
    pub(crate) fn refill(&mut self) {
        self.tokens = self.depth;
    }

    /// Whether the bucket ever holds enough for a frame of so many bytes.
    pub(crate) fn fits(&self, len: u64) -> bool {
        self.depth >= self.cost(len)
    }
}

/// One or two rates, colour-blind: what the committed bucket has no tokens for is in excess, and what the excess bucket has
/// none for either is dropped. The buckets fill independently (MEF 10.2 section 7.11.1, coupling flag 0; RFC 4115).
#[derive(Debug)]
pub(crate) struct Meter {
    committed: Bucket,
    excess: Option<Bucket>,
}

impl Meter {
    /// `None` if one of its buckets lets nothing through.
    pub(crate) fn new(police: &Police) -> Option<Self> {
        let more = |excess: &Excess| {
            Bucket::new(&Police {
                rate_bps: excess.rate_bps,
                burst_bytes: excess.burst_bytes,
                layer: police.layer,
                excess: None,
            })
        };
        let excess = match &police.excess {
            Some(excess) => Some(more(excess)?),
            None => None,
        };
        Some(Self {
            committed: Bucket::new(police)?,
            excess,
        })
    }

    /// Which bucket a frame is to be taken from: the committed one, or not.
    fn judge(&mut self, t: u64, len: u64) -> Option<bool> {
        if self.committed.holds(t, len) {
            return Some(true);
        }
        self.excess.as_mut()?.holds(t, len).then_some(false)
    }

    fn take(&mut self, t: u64, len: u64, committed: bool) {
        match &mut self.excess {
            Some(excess) if !committed => excess.take(t, len),
            _ => self.committed.take(t, len),
        }
    }
}

/// The policers of a port: one for each of some classes, and one for the port above them. A frame that one of them drops
/// costs the other nothing.
#[derive(Debug)]
pub(crate) struct Policer {
    pub(crate) sort: Option<Sort>,
    pub(crate) classes: Vec<Meter>,
    pub(crate) port: Option<Meter>,
    /// Frames that passed in excess of a committed rate.
    pub(crate) excess: u64,
}

impl Policer {
    /// A frame arrives at `t`, no earlier than the one before it: whether it passes.
    pub(crate) fn offer(&mut self, t: u64, frame: &[u8]) -> bool {
        let len = frame.len() as u64;
        let class = self.sort.as_ref().and_then(|sort| sort.class(frame));
        let mut meter = class.and_then(|class| self.classes.get_mut(class));
        // `None` where there is no meter, `Some(None)` where it drops.
        let by_class = meter.as_mut().map(|meter| meter.judge(t, len));
        let by_port = self.port.as_mut().map(|meter| meter.judge(t, len));
        if by_class == Some(None) || by_port == Some(None) {
            return false;
        }
        let (by_class, by_port) = (by_class.flatten(), by_port.flatten());
        if let (Some(meter), Some(committed)) = (meter, by_class) {
            meter.take(t, len, committed);
        }
        if let (Some(meter), Some(committed)) = (&mut self.port, by_port) {
            meter.take(t, len, committed);
        }
        self.excess += u64::from(by_class == Some(false) || by_port == Some(false));
        true
    }
}
