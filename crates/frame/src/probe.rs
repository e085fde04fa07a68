//! The probe: who a frame is and when it left, in the 18 payload bytes of a 64-byte Ethernet/IPv4/UDP frame.
//!
//! ```text
//!  0      2              6              10                            18
//!  +------+--------------+--------------+-----------------------------+
//!  | check| flow         | sequence     | departure, picoseconds      |   big endian
//!  +------+--------------+--------------+-----------------------------+
//! ```
//!
//! `check` makes the ones'-complement sum of the nine 16-bit words [`MAGIC`]. Hence
//!
//! - what the probe adds to a UDP, TCP or ICMP checksum is the same in every frame, so it need not be summed,
//!   and a router or NAT that updates checksums keeps them right;
//! - the check is the magic number too: 1 of 65,535 strange 18-byte strings passes, so a caller also asks
//!   whether the flow exists and the departure lies in the trial;
//! - any change within one word is found, but for 0x0000 to 0xffff and back, which are both zero in ones'
//!   complement; every flip of a single bit is found.

use crate::bytes::{array, be16, put};
use crate::checksum::{add_words, fold};
use crate::parse;

/// Length of a probe in bytes.
pub const PROBE_BYTES: usize = 18;

/// What the nine words of a probe sum up to, in ones' complement: the letters `nd`.
pub const MAGIC: u16 = 0x6e64;

/// What a frame says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// The flow it belongs to, counted over all streams of the trial.
    pub flow: u32,
    /// Its place in its flow, from 0, modulo 2^32.
    pub sequence: u32,
    /// When it was to depart, in picoseconds since the trial's clock started.
    pub departure_ps: u64,
}

impl Probe {
    /// Writes the probe to the first 18 bytes of `payload`.
    ///
    /// # Panics
    /// If `payload` is shorter.
    #[inline]
    pub fn write(&self, payload: &mut [u8]) {
        self.put(payload, 0);
    }

    /// Writes the probe at `at`: field by field, for the bytes put together in one place and copied to the other
    /// would have to wait for each other in the store buffer.
    #[inline]
    pub(crate) fn put(&self, bytes: &mut [u8], at: usize) {
        let bytes = &mut bytes[at..at + PROBE_BYTES];
        put(bytes, 0, self.check().to_be_bytes());
        put(bytes, 2, self.flow_and_sequence().to_be_bytes());
        put(bytes, 10, self.departure_ps.to_be_bytes());
    }

    /// The probe at the beginning of `payload`, if its check is right.
    #[inline]
    #[must_use]
    pub fn read(payload: &[u8]) -> Option<Self> {
        let bytes: &[u8; PROBE_BYTES] = payload.first_chunk()?;
        let who = u64::from_be_bytes(*array(bytes, 2)?);
        let departure_ps = u64::from_be_bytes(*array(bytes, 10)?);
        let probe = Self {
            flow: (who >> 32) as u32,
            sequence: who as u32,
            departure_ps,
        };
        (be16(bytes, 0)? == probe.check()).then_some(probe)
    }

    /// Returns flow and sequence in one word.
    #[inline]
    pub(crate) const fn flow_and_sequence(self) -> u64 {
        (self.flow as u64) << 32 | self.sequence as u64
    }

    /// Returns the word that makes the sum of all words [`MAGIC`].
    #[inline]
    pub(crate) const fn check(self) -> u16 {
        // The sum of 64-bit words, folded, is the sum of their 16-bit words (RFC 1071 section 2 C); the complement
        // is the negative.
        fold(!add_words(add_words(self.flow_and_sequence(), self.departure_ps), !MAGIC as u64))
    }
}

/// Finds the probe in a frame, and its offset.
///
/// Tries the offset in `hint` (0 = no hint), then the beginning of the innermost payload, then every even
/// offset. Where it was found becomes the hint for the next frame. In the last case what follows must be our
/// payload (bytes counting up from 0) or the padding of a short frame, or strangers would be taken for ours
/// too often.
#[inline]
#[must_use]
pub fn find(frame: &[u8], hint: &mut u32) -> Option<(Probe, usize)> {
    if *hint != 0
        && let Some(payload) = frame.get(*hint as usize..)
        && let Some(probe) = Probe::read(payload)
    {
        return Some((probe, *hint as usize));
    }
    search(frame, hint)
}

#[cold]
#[inline(never)]
fn search(frame: &[u8], hint: &mut u32) -> Option<(Probe, usize)> {
    let innermost = parse::parse(frame)?.inner.payload as usize;
    let parsed = frame.get(innermost..).and_then(Probe::read).map(|probe| (probe, innermost));
    let found = parsed.or_else(|| {
        let last = frame.len().checked_sub(PROBE_BYTES)?;
        (14..=last).step_by(2).find_map(|at| {
            let probe = Probe::read(&frame[at..])?;
            is_ours_behind(&frame[at + PROBE_BYTES..], frame.len()).then_some((probe, at))
        })
    })?;
    *hint = found.1 as u32;
    Some(found)
}

/// Whether `rest` may follow a probe: bytes that count up from 0, or padding to the smallest frame.
fn is_ours_behind(rest: &[u8], frame_length: usize) -> bool {
    frame_length <= 60 || rest.iter().take(16).zip(0u8..).all(|(byte, expected)| *byte == expected)
}
