//! Frames as they arrive, many side by side: probes read and checksums checked over arrays, which the compiler turns
//! into vector instructions.
//!
//! Says only whether all is as it should be. Where it is not, [`crate::probe::find`] and
//! [`crate::checksum::verify_frame`] say frame by frame what is.

use crate::bytes::array;
use crate::checksum::{count_le, fold, halves};
use crate::parse::{VXLAN_PORTS, protocol};
use crate::probe::{MAGIC, PROBE_BYTES, Probe};

/// Frames side by side.
pub const WIDTH: usize = 32;

/// The probes of up to [`WIDTH`] frames. Lanes without a frame repeat the first.
#[derive(Clone, Debug)]
pub struct Probes {
    /// The flow, in the high half, and the sequence.
    pub who: [u64; WIDTH],
    /// Departure, picoseconds.
    pub departure_ps: [u64; WIDTH],
    check: [u16; WIDTH],
}

impl Probes {
    /// Reads the probes at `offset` of `frames`, of which there are 1 to [`WIDTH`]; `None` if one is too short.
    #[inline]
    pub fn read<'a>(frames: impl ExactSizeIterator<Item = &'a [u8]>, offset: usize) -> Option<Self> {
        let mut probes = Self {
            who: [0; WIDTH],
            departure_ps: [0; WIDTH],
            check: [0; WIDTH],
        };
        let count = frames.len();
        let fields = probes.who.iter_mut().zip(&mut probes.departure_ps).zip(&mut probes.check);
        for (frame, ((who, departure), check)) in frames.zip(fields) {
            let bytes: &[u8; PROBE_BYTES] = array(frame, offset)?;
            *check = u16::from_be_bytes(*array(bytes, 0)?);
            *who = u64::from_be_bytes(*array(bytes, 2)?);
            *departure = u64::from_be_bytes(*array(bytes, 10)?);
        }
        for lane in count..WIDTH {
            (probes.who[lane], probes.departure_ps[lane], probes.check[lane]) = (probes.who[0], probes.departure_ps[0], probes.check[0]);
        }
        Some(probes)
    }

    /// The probe of a lane.
    #[inline]
    #[must_use]
    pub fn probe(&self, lane: usize) -> Probe {
        Probe {
            flow: (self.who[lane] >> 32) as u32,
            sequence: self.who[lane] as u32,
            departure_ps: self.departure_ps[lane],
        }
    }

    /// Whether every check is right, every flow lies in `from_flow..end_flow`, every sequence is below `sequences`
    /// and every departure within `from_ps..=until_ps`.
    #[inline]
    #[must_use]
    pub fn are_all(&self, from_flow: u32, end_flow: u32, sequences: u32, from_ps: u64, until_ps: u64) -> bool {
        let mut wrong = 0_u64;
        for lane in 0..WIDTH {
            let (probe, check) = (self.probe(lane), self.check[lane]);
            let is_wrong = (probe.check() != check)
                | (probe.flow < from_flow)
                | (probe.flow >= end_flow)
                | (probe.sequence >= sequences)
                | (probe.departure_ps < from_ps)
                | (probe.departure_ps > until_ps);
            wrong |= u64::from(is_wrong);
        }
        wrong == 0
    }
}

/// Where the probe of a plain frame lies.
const PLAIN_PROBE: usize = 42;
/// Length of the shortest plain frame, and of what is not the same in all plain frames of one length.
pub const PLAIN: usize = PLAIN_PROBE + PROBE_BYTES;
/// The longest that IPv4 can say.
const MOST: usize = 14 + 0xffff;

/// Words of a plain frame's headers from the IPv4 header on: 8, 8 and 8 bytes, then the last 4 and the Ethernet type.
#[derive(Clone, Copy)]
struct Words([u64; 4]);

impl Words {
    /// Bytes as [`Words::of`] lays them out.
    const fn pack(first: [u8; 8], second: [u8; 8], third: [u8; 8], last: [u8; 8]) -> Self {
        Self([
            u64::from_le_bytes(first),
            u64::from_le_bytes(second),
            u64::from_le_bytes(third),
            u64::from_le_bytes(last),
        ])
    }

    /// What the headers of a plain frame always are: version, length 46, no fragment; UDP; length 26, Ethernet type.
    const FIXED: Self = Self::pack(
        [0x45, 0, 0, 46, 0, 0, 0, 0],
        [0, protocol::UDP, 0, 0, 0, 0, 0, 0],
        [0; 8],
        [0, 26, 0, 0, 0x08, 0x00, 0, 0],
    );
    /// Where.
    const MASK: Self = Self::pack(
        [0xff, 0, 0xff, 0xff, 0, 0, 0xbf, 0xff],
        [0, 0xff, 0, 0, 0, 0, 0, 0],
        [0; 8],
        [0xff, 0xff, 0, 0, 0xff, 0xff, 0, 0],
    );

    #[inline]
    fn of(frame: &[u8; PLAIN]) -> Self {
        let word = |at: usize| array(frame, at).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let half = |at: usize| array(frame, at).map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
        let kind = u64::from(u16::from_le_bytes([frame[12], frame[13]]));
        Self([word(14), word(22), word(30), half(38) | kind << 32])
    }

    /// Whether these are the headers of a plain frame and both checksums are right, the probe's check being so.
    #[inline]
    fn are_intact(self, plain: &Plain) -> bool {
        let Self([first, second, third, last]) = self;
        let (fixed, mask) = (plain.fixed.0, Self::MASK.0);
        let is_plain =
            (first & mask[0] == fixed[0]) & (second & mask[1] == fixed[1]) & (third & mask[2] == fixed[2]) & (last & mask[3] == fixed[3]);
        let port = (third >> 48) as u16;
        let is_tunnel = (port == VXLAN_PORTS[0].swap_bytes()) | (port == VXLAN_PORTS[1].swap_bytes());
        let addresses = (second >> 32) + (third & 0xffff_ffff);
        let ip = halves(first) + (second & 0xffff_ffff) + addresses;
        let udp = plain.known + addresses + (third >> 32) + (last & 0xffff_ffff);
        let is_absent = last & 0xffff_0000 == 0;
        is_plain & !is_tunnel & (fold(ip) == 0xffff) & ((fold(udp) == 0xffff) | is_absent)
    }
}

/// What all plain frames of one length have in common.
struct Plain {
    fixed: Words,
    /// What is known of the UDP sum: the pseudo-header's protocol and length, what every right probe sums up to, the data.
    known: u64,
}

impl Plain {
    /// Those that are `len` bytes: [`PLAIN`] to [`MOST`].
    #[inline]
    const fn new(len: usize) -> Self {
        let (total, segment, behind) = ((len - 14) as u16, (len - 34) as u16, (len - PLAIN) as u64);
        let mut fixed = Words::FIXED;
        // Where FIXED has the lengths of the shortest.
        fixed.0[0] = fixed.0[0] & 0xffff_ffff_0000_ffff | (total.swap_bytes() as u64) << 16;
        fixed.0[3] = fixed.0[3] & 0xffff_ffff_ffff_0000 | segment.swap_bytes() as u64;
        let pseudo = (protocol::UDP as u16).swap_bytes() as u64 + segment.swap_bytes() as u64;
        Self {
            fixed,
            known: pseudo + MAGIC.swap_bytes() as u64 + count_le(behind),
        }
    }
}

/// Whether all `frames`, of which there are 1 to [`WIDTH`], are `len` bytes of Ethernet, IPv4, UDP, a probe and bytes that count
/// up from 0, with right checksums (or no UDP checksum). The probes' own checks are taken for right, and so are the bytes behind
/// the probes: the caller knows them. `false` says nothing about any frame.
#[inline(always)]
#[must_use]
pub fn are_plain_and_intact<'a>(frames: impl Iterator<Item = &'a [u8]>, len: usize) -> bool {
    if len == PLAIN {
        const SHORT: Plain = Plain::new(PLAIN);
        return are_heads_intact(frames.map(|frame| frame.try_into().ok()), &SHORT);
    }
    are_long_and_intact(frames, len)
}

#[inline(never)]
fn are_long_and_intact<'a>(frames: impl Iterator<Item = &'a [u8]>, len: usize) -> bool {
    let heads = frames.map(|frame| frame.first_chunk().filter(|_| frame.len() == len));
    (PLAIN..=MOST).contains(&len) && are_heads_intact(heads, &Plain::new(len))
}

/// Whether there is no frame without a head and all are intact, of those that are `plain`.
#[inline(always)]
fn are_heads_intact<'a>(heads: impl Iterator<Item = Option<&'a [u8; PLAIN]>>, plain: &Plain) -> bool {
    let mut words = [[0; WIDTH]; 4];
    let mut count = 0;
    for (lane, head) in heads.enumerate().take(WIDTH) {
        let Some(head) = head else { return false };
        let Words(found) = Words::of(head);
        for (words, word) in words.iter_mut().zip(found) {
            words[lane] = word;
        }
        count += 1;
    }
    let [first, second, third, last] = &words;
    let mut intact = 0_u64;
    for (((first, second), third), last) in first.iter().zip(second).zip(third).zip(last) {
        intact += u64::from(Words([*first, *second, *third, *last]).are_intact(plain));
    }
    intact == count
}
