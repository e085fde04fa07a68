//! What a device looks at in a frame: where the network header begins and what it says.
//! Every function takes any bytes at all and never panics.

/// EtherTypes (IEEE registry).
pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const ARP: u16 = 0x0806;
pub(crate) const IPV6: u16 = 0x86dd;

/// IP protocol numbers.
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
/// Tags that a bridge sees through: 802.1Q, 802.1ad and the two older TPIDs of QinQ.
pub(crate) const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// Length of the Ethernet header.
pub(crate) const ETHERNET: usize = 14;

/// Two bytes in network order.
#[inline(always)]
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(*bytes[at..].first_chunk().expect("two bytes"))
}

/// Reads four bytes at `at` in network order.
#[inline(always)]
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(*bytes[at..].first_chunk().expect("four bytes"))
}

/// A MAC address as a number, first byte highest.
#[inline]
pub(crate) fn mac(bytes: [u8; 6]) -> u64 {
    let [a, b, c, d, e, f] = bytes;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

/// Destination and source of a frame of at least 14 bytes, as numbers.
#[inline]
pub(crate) fn macs(frame: &[u8]) -> (u64, u64) {
    // Two loads of eight bytes each: fewer checks and shifts than byte by byte.
    let [destination, source] = [0, 6].map(|at| u64::from_be_bytes(*frame[at..].first_chunk().expect("14 bytes")) >> 16);
    (destination, source)
}

/// Writes a MAC address.
#[inline]
pub(crate) fn put_mac(bytes: &mut [u8], at: usize, mac: u64) {
    bytes[at..at + 6].copy_from_slice(&mac.to_be_bytes()[2..]);
}

/// Writes destination and source, as [`macs`] reads them.
#[inline(always)]
pub(crate) fn put_macs(frame: &mut [u8; ETHERNET + 20], destination: u64, source: u64) {
    frame[..8].copy_from_slice(&(destination << 16 | source >> 32).to_be_bytes());
    frame[8..12].copy_from_slice(&(source as u32).to_be_bytes());
}

/// Whether a MAC address is that of a group (multicast or broadcast).
#[inline]
pub(crate) fn is_multicast(mac: u64) -> bool {
    mac >> 40 & 1 == 1
}

/// EtherType behind up to four tags, and where what it names begins.
#[inline]
pub(crate) fn network(frame: &[u8]) -> Option<(u16, usize)> {
    if frame.len() < ETHERNET {
        return None;
    }
    let mut kind = be16(frame, 12);
    let mut at = ETHERNET;
    if kind == IPV4 {
        return Some((kind, at));
    }
    for _ in 0..4 {
        if !TAGS.contains(&kind) {
            break;
        }
        if frame.len() < at + 4 {
            return None;
        }
        kind = be16(frame, at + 2);
        at += 4;
    }
    Some((kind, at))
}

/// RFC 1071 sum of `bytes`, folded to 16 bits, not complemented.
#[inline]
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    let mut pairs = bytes.chunks_exact(2);
    let mut total: u32 = pairs.by_ref().map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    if let [last] = pairs.remainder() {
        total += u32::from(*last) << 8;
    }
    fold(total)
}

/// Folds carries back in (RFC 1071).
#[inline]
pub(crate) fn fold(mut total: u32) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}
