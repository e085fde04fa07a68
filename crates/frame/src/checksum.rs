//! The Internet checksum (RFC 1071): ones'-complement sums of 16-bit words, big endian.
//!
//! A *partial* is an unfolded sum: partials of pieces that start at even offsets are added with `+`,
//! and [`fold`] brings the total to 16 bits. [`finish`] is the checksum itself.

use crate::bytes::{array, be16};
use crate::parse::{Layers, Packet, final_destination, is_tunnel, parse, protocol};

/// Partial sum of `bytes` as big-endian 16-bit words; an odd last byte counts as if a zero followed.
///
/// Below 2^32 whatever the length, so that hundreds of partials can be added in a `u64`.
#[inline]
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    // Byte order does not matter to the sum but for one swap at the end (RFC 1071 section 2 B), and
    // neither does the word size (2 C): so eight bytes at a time, as two halves that cannot carry.
    u64::from(fold(sum_le(bytes)).swap_bytes())
}

/// As [`sum`], of little-endian words: enough to see whether a sum is all ones, or zero. Below 2^48.
#[inline]
fn sum_le(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut total = 0u64;
    for word in words {
        total += halves(u64::from_le_bytes(*word));
    }
    if tail.is_empty() {
        return total;
    }
    let last = match bytes.last_chunk::<8>() {
        // The last eight bytes, less those that were counted.
        Some(last) => u64::from_le_bytes(*last) >> (8 * (8 - tail.len())),
        None => tail.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    total + halves(last)
}

/// Partial sum of `bytes`, as [`sum_le`]. Those from `counts_from` on count up from 0, which is believed, not looked at.
#[inline]
fn sum_counting_le(bytes: &[u8], counts_from: usize) -> u64 {
    match bytes.get(..counts_from) {
        // Behind an odd number of bytes all words are the other way round.
        Some(head) if counts_from.is_multiple_of(2) => sum_le(head) + count_le((bytes.len() - counts_from) as u64),
        _ => sum_le(bytes),
    }
}

/// Partial sum, as [`sum_le`], of `len` bytes that count up from 0. Below 2^48 for any frame.
#[inline]
pub(crate) const fn count_le(len: u64) -> u64 {
    // Words are 256 * (2k + 1) + 2k, of which 0..n sum up to n * (n - 1) + 256 * n * n.
    const fn words(n: u64) -> u64 {
        n * n * 257 - n
    }
    let rest = len % 256;
    let odd = if rest % 2 == 1 { rest - 1 } else { 0 };
    len / 256 * words(128) + words(rest / 2) + odd
}

/// The halves of a word, added: what a sum of 16-bit words may be made of (RFC 1071 section 2 C).
#[inline]
pub(crate) const fn halves(word: u64) -> u64 {
    (word & 0xffff_ffff) + (word >> 32)
}

/// Adds 64-bit words with end-around carry: the result folds to the sum of all their 16-bit words.
#[inline]
pub(crate) const fn add_words(a: u64, b: u64) -> u64 {
    let (total, carry) = a.overflowing_add(b);
    total + carry as u64
}

/// As [`add_words`], for two addresses.
#[inline]
pub(crate) const fn add_halves(a: u32, b: u32) -> u32 {
    let (total, carry) = a.overflowing_add(b);
    total + carry as u32
}

/// Folds a 32-bit partial sum into the checksum, as [`finish`].
#[inline]
pub(crate) const fn finish_half(partial: u32) -> u16 {
    !((partial.wrapping_add(partial.rotate_left(16)) >> 16) as u16)
}

/// Folds a partial to 16 bits with end-around carry. Zero only if the partial is zero.
#[inline]
#[must_use]
pub const fn fold(partial: u64) -> u16 {
    let twice = partial.wrapping_add(partial.rotate_left(32));
    let half = (twice >> 32) as u32;
    (half.wrapping_add(half.rotate_left(16)) >> 16) as u16
}

/// The checksum that makes a packet with this partial sum to all ones.
#[inline]
#[must_use]
pub const fn finish(partial: u64) -> u16 {
    !fold(partial)
}

/// As [`finish`], but never 0, which means "no checksum" in UDP (RFC 768).
#[inline]
#[must_use]
pub const fn finish_udp(partial: u64) -> u16 {
    let checksum = finish(partial);
    if checksum == 0 { 0xffff } else { checksum }
}

/// The checksum after one covered word changed from `old` to `new` (RFC 1624, equation 3).
#[inline]
#[must_use]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    finish(!checksum as u64 + !old as u64 + new as u64)
}

/// As [`update`], for a covered 32-bit value such as an IPv4 address.
#[inline]
#[must_use]
pub const fn update32(checksum: u16, old: u32, new: u32) -> u16 {
    finish(!checksum as u64 + !old as u64 + new as u64)
}

/// Partial of the pseudo-header of the IP packet `header` starts with: addresses, `protocol`, `length`
/// of what follows (RFC 768, RFC 9293 section 3.1, RFC 8200 section 8.1).
///
/// # Panics
/// If `header` is shorter than an IPv4 (20) or IPv6 (40) header.
#[inline]
#[must_use]
pub fn pseudo_header(version: u8, header: &[u8], protocol: u8, length: u32) -> u64 {
    let addresses = if version == 4 { sum(&header[12..20]) } else { sum(&header[8..40]) };
    addresses + u64::from(protocol) + u64::from(length)
}

/// What a checksum was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// There, and right.
    Right,
    /// There, and wrong (or a length field contradicts it).
    Wrong,
    /// There is none: no such header, UDP with checksum 0, a fragment.
    Absent,
}

/// The checksums of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// IPv4 header checksums, of the outermost and the innermost packet; `Wrong` also if what the frame says
    /// is IP is none.
    pub ip: Check,
    /// UDP, TCP, ICMP or ICMPv6 checksum of the innermost packet.
    pub l4: Check,
}

impl Verified {
    /// Nothing is wrong. A checksum that is absent is not wrong: who knows that it was sent must ask for it.
    #[inline]
    #[must_use]
    pub const fn is_good(self) -> bool {
        !matches!(self.ip, Check::Wrong) && !matches!(self.l4, Check::Wrong)
    }
}

/// Whose checksums of a frame are checked: what a plan gives as raw bytes may hold any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// That of the outermost packet's IPv4 header.
    pub outer: bool,
    /// That of the innermost packet's, and whether it is a packet at all.
    pub inner: bool,
    /// That of the innermost packet's layer 4.
    pub l4: bool,
}

impl Checked {
    /// All of them.
    pub const ALL: Self = Self {
        outer: true,
        inner: true,
        l4: true,
    };

    /// Whether none of these checksums of `frame` is wrong.
    #[cold] // asked of broken frames alone, and so out of the way of all others
    #[must_use]
    pub fn is_good(self, frame: &[u8]) -> bool {
        let Some(layers) = parse(frame) else { return true };
        let is_wrong = |is_checked: bool, check: Check| is_checked && check == Check::Wrong;
        !(self.inner && layers.malformed
            || is_wrong(self.outer, verify_ip(frame, &layers.outer))
            || is_wrong(self.inner, verify_ip(frame, &layers.inner))
            || is_wrong(self.l4, verify_l4(frame, &layers.inner, frame.len())))
    }
}

/// Checks the IPv4 header checksum(s) and the innermost packet's UDP, TCP or ICMP checksum.
///
/// `layers` must come from [`crate::parse::parse`] of the same frame; from another frame the answer is
/// meaningless, but there is one.
#[inline]
#[must_use]
pub fn verify(frame: &[u8], layers: &Layers) -> Verified {
    let unknown = frame.len();
    let packet = &layers.inner;
    if packet.protocol == protocol::UDP
        && packet.version == 4
        && packet.l4 == packet.l3 + 20
        && packet.l3 == layers.outer.l3
        && packet.whole
        && !packet.fragment
        && let Some(packet) = frame.get(packet.l3 as usize..packet.end as usize)
        && let Some(verified) = verify_udp4(packet, unknown)
    {
        return verified;
    }
    verify_any(frame, layers, unknown)
}

/// As [`verify`] of the frame's own layers, with less ado for a plain Ethernet/IPv4/UDP frame; all absent if the
/// frame is too short to be one.
#[inline]
#[must_use]
pub fn verify_frame(frame: &[u8]) -> Verified {
    verify_counting(frame, frame.len())
}

/// As [`verify_frame`], of a frame whose bytes count up from 0 from the one at `counts_from` on: that is believed, not looked at.
#[inline]
#[must_use]
pub fn verify_counting(frame: &[u8], counts_from: usize) -> Verified {
    // The condition under which `parse` takes its short cut, too.
    if let Some(head) = frame.first_chunk::<42>()
        && head[12..15] == [0x08, 0x00, 0x45]
        && head[23] == protocol::UDP
        && head[20] & 0xbf == 0
        && head[21] == 0
    {
        let port = u16::from_be_bytes([head[36], head[37]]);
        let total = usize::from(u16::from_be_bytes([head[16], head[17]]));
        if !is_tunnel(port)
            && let Some(packet) = frame[14..].get(..total)
            && let Some(verified) = verify_udp4(packet, counts_from.saturating_sub(14))
        {
            return verified;
        }
    }
    verify_other(frame, counts_from)
}

#[inline(never)]
fn verify_other(frame: &[u8], counts_from: usize) -> Verified {
    let absent = Verified {
        ip: Check::Absent,
        l4: Check::Absent,
    };
    parse(frame).map_or(absent, |layers| verify_any(frame, &layers, counts_from))
}

/// The common packet, IPv4 and UDP, whose bytes from `counts_from` on count up: `None` if its lengths make it less common.
#[inline]
fn verify_udp4(packet: &[u8], counts_from: usize) -> Option<Verified> {
    // In the headers nothing is taken for granted.
    let counts_from = counts_from.checked_sub(28).unwrap_or(packet.len());
    let (head, data) = packet.split_first_chunk::<28>()?;
    let length = u16::from_be_bytes([head[24], head[25]]);
    if usize::from(length) + 20 != packet.len() {
        return None;
    }
    let word = |at: usize| array(head, at).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let half = |at: usize| array(head, at).map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    let addresses = halves(word(12));
    let ip = halves(word(0)) + half(8) + addresses;
    let pseudo = addresses + u64::from((u16::from(protocol::UDP)).swap_bytes()) + u64::from(length.swap_bytes());
    let l4 = if head[26] == 0 && head[27] == 0 {
        Check::Absent
    } else {
        right_if(fold(pseudo + halves(word(20)) + sum_counting_le(data, counts_from)) == 0xffff)
    };
    Some(Verified {
        ip: right_if(fold(ip) == 0xffff),
        l4,
    })
}

fn verify_any(frame: &[u8], layers: &Layers, counts_from: usize) -> Verified {
    let mut ip = if layers.malformed {
        Check::Wrong
    } else {
        verify_ip(frame, &layers.inner)
    };
    if layers.outer.l3 != layers.inner.l3 && !layers.malformed {
        ip = match (verify_ip(frame, &layers.outer), ip) {
            (Check::Wrong, _) | (_, Check::Wrong) => Check::Wrong,
            (Check::Right, _) | (_, Check::Right) => Check::Right,
            _ => Check::Absent,
        };
    }
    Verified {
        ip,
        l4: verify_l4(frame, &layers.inner, counts_from),
    }
}

#[inline]
fn verify_ip(frame: &[u8], packet: &Packet) -> Check {
    if packet.version != 4 {
        return Check::Absent;
    }
    let header = if packet.l4 - packet.l3 == 20 {
        match array::<20>(frame, packet.l3 as usize) {
            Some(header) => sum(header),
            None => return Check::Wrong,
        }
    } else {
        match frame.get(packet.l3 as usize..packet.l4 as usize) {
            Some(header) => sum(header),
            None => return Check::Wrong,
        }
    };
    right_if(fold(header) == 0xffff)
}

#[inline]
fn verify_l4(frame: &[u8], packet: &Packet, counts_from: usize) -> Check {
    let (l3, l4) = (packet.l3 as usize, packet.l4 as usize);
    if packet.version == 0 || packet.fragment {
        return Check::Absent;
    }
    let (Some(header), Some(mut segment)) = (frame.get(l3..l4), frame.get(l4..packet.end as usize)) else {
        return Check::Wrong;
    };
    if !packet.whole || header.len() < if packet.version == 4 { 20 } else { 40 } {
        return Check::Wrong;
    }
    let pseudo = match packet.protocol {
        protocol::UDP => {
            let (Some(length), Some(checksum)) = (be16(segment, 4), be16(segment, 6)) else {
                return Check::Wrong;
            };
            if length < 8 || usize::from(length) > segment.len() {
                return Check::Wrong;
            }
            if checksum == 0 {
                // Not allowed over IPv6 but for tunnels (RFC 6935); a tunnel's outer packet is not the innermost.
                return if packet.version == 4 { Check::Absent } else { Check::Wrong };
            }
            segment = &segment[..usize::from(length)];
            addresses(packet.version, header) + u64::from(protocol::UDP) + u64::from(length)
        }
        protocol::TCP if segment.len() >= 20 => addresses(packet.version, header) + u64::from(protocol::TCP) + segment.len() as u64,
        protocol::ICMPV6 if packet.version == 6 && segment.len() >= 4 => {
            addresses(6, header) + u64::from(protocol::ICMPV6) + segment.len() as u64
        }
        protocol::ICMP if packet.version == 4 && segment.len() >= 4 => 0,
        protocol::TCP | protocol::ICMP | protocol::ICMPV6 => return Check::Wrong,
        _ => return Check::Absent,
    };
    let counts_from = counts_from.checked_sub(l4).unwrap_or(segment.len());
    // To be all ones it need not be swapped, but what it is added to is the other way round.
    let total = u64::from(fold(pseudo).swap_bytes()) + sum_counting_le(segment, counts_from);
    right_if(fold(total) == 0xffff)
}

/// Sum of the addresses of a pseudo-header; `header` is all of IP, with its options or extension headers.
#[inline]
fn addresses(version: u8, header: &[u8]) -> u64 {
    if version == 6 && header.len() > 40 {
        let destination = final_destination(header);
        return sum(&header[8..24]) + header.get(destination..destination + 16).map_or(0, sum);
    }
    pseudo_header(version, header, 0, 0)
}

#[inline]
const fn right_if(condition: bool) -> Check {
    if condition { Check::Right } else { Check::Wrong }
}
