//! Which member of a group a frame takes.
//!
//! As Linux bonding folds it (`bond_xmit_hash` and the documentation of `xmit_hash_policy`): the chosen
//! fields are XORed to 32 bits, `h ^= h >> 16; h ^= h >> 8`, and the low 8 bits modulo the number of
//! members name the member, from 0. What is XORed:
//!
//! | hash | what |
//! |---|---|
//! | `l2` | the six bytes of source and destination MAC, each with each |
//! | `src-ip`, `dst-ip` | that address; IPv6: its four 32-bit words |
//! | `src-dst-ip` | both |
//! | `l3-l4` | both, and `source port << 16 \| destination port` of UDP or TCP that is not a fragment |
//!
//! Tags are looked through. A frame without IP is hashed by `l2`.
//!
//! **Two stages.** Of `s` switches with `n` members each, the hash modulo `s` names the switch, and the hash, rotated, modulo `n`
//! the member of that switch. Without rotation a switch sees only hashes that are alike modulo `s`: it uses `n / gcd(s, n)` of
//! its members (polarisation).

use crate::header::{self, TCP, UDP, be16, be32};
use crate::spec::{Hash, HashStages};

/// Members a group may have (IEEE 802.1AX sets no limit; devices have 8, 16 or 64).
pub(crate) const MEMBERS: usize = 64;

/// The hash of one end of a group, with its number of members.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    hash: Hash,
    /// Which of the eight bytes of both IPv4 addresses the hash takes, as they lie in memory; none if it takes no addresses.
    addresses: u64,
    /// Member by folded hash; a table, so that no frame costs a division.
    member: Box<[u8; 256]>,
    /// A plain port: there is nothing to choose.
    pub(crate) single: bool,
}

impl Spread {
    /// `members` is at least 1 and at most 256.
    pub(crate) fn new(hash: Hash, members: u32) -> Self {
        Self::in_stages(hash, members, HashStages { switches: 1, rotate: 0 })
    }

    /// The same of the members of several switches. `members` is a multiple of the switches.
    pub(crate) fn in_stages(hash: Hash, members: u32, stages: HashStages) -> Self {
        let each = members / stages.switches;
        let mut member = Box::new([0u8; 256]);
        for (value, place) in (0..=u8::MAX).zip(member.iter_mut()) {
            let switch = u32::from(value) % stages.switches;
            *place = (switch * each + u32::from(value.rotate_right(stages.rotate)) % each) as u8;
        }
        let (source, destination) = match hash {
            Hash::L2 => (0, 0),
            Hash::SrcIp => (0xff, 0),
            Hash::DstIp => (0, 0xff),
            Hash::SrcDstIp | Hash::L3L4 => (0xff, 0xff),
        };
        Self {
            hash,
            addresses: u64::from_ne_bytes(std::array::from_fn(|byte| if byte < 4 { source } else { destination })),
            member,
            single: members == 1,
        }
    }

    /// The member that `frame` takes.
    #[inline(always)]
    pub(crate) fn member(&self, frame: &[u8]) -> usize {
        if self.single {
            return 0;
        }
        usize::from(self.member[usize::from(self.folded(frame))])
    }

    /// What `frame` hashes to.
    #[inline(always)]
    fn folded(&self, frame: &[u8]) -> u8 {
        match frame.first_chunk::<38>() {
            Some(head) if self.addresses != 0 && head[12..14] == header::IPV4.to_be_bytes() => {
                if self.hash != Hash::L3L4 {
                    return fold_bytes(addresses_v4(head) & self.addresses);
                }
                match ports_v4(head) {
                    Some(ports) => fold_bytes(addresses_v4(head) ^ u64::from(ports)),
                    None => self.folded_any(frame),
                }
            }
            _ => self.folded_any(frame),
        }
    }

    /// The same of any frame at all, field by field.
    #[inline(never)]
    fn folded_any(&self, frame: &[u8]) -> u8 {
        fold(mixed(self.hash, frame))
    }
}

/// Both IPv4 addresses of a frame without tags, as they lie in memory.
#[inline(always)]
fn addresses_v4(head: &[u8; 38]) -> u64 {
    u64::from_ne_bytes(*head[26..].first_chunk().expect("eight bytes"))
}

/// Both ports of a UDP or TCP packet without IPv4 options and tags, as they lie in memory. `None` if it is a fragment or another
/// one.
#[inline(always)]
fn ports_v4(head: &[u8; 38]) -> Option<u32> {
    let is_whole = be16(head, 20) & 0x3fff == 0;
    let has_ports = matches!(head[23], TCP | UDP) && head[14] & 0x0f == 5;
    (is_whole && has_ports).then(|| u32::from_ne_bytes(*head[34..].first_chunk().expect("four bytes")))
}

/// All bytes XORed into one, which is what [`fold`] makes of words that were XORed, in whatever order their bytes are.
#[inline(always)]
fn fold_bytes(bytes: u64) -> u8 {
    fold((bytes ^ bytes >> 32) as u32)
}

#[inline]
fn fold(hash: u32) -> u8 {
    let hash = hash ^ hash >> 16;
    (hash ^ hash >> 8) as u8
}

#[inline]
fn mixed(hash: Hash, frame: &[u8]) -> u32 {
    let addresses = match hash {
        Hash::L2 => None,
        _ => addresses(frame, hash == Hash::L3L4),
    };
    let Some(Addresses {
        source,
        destination,
        ports,
    }) = addresses
    else {
        return macs(frame);
    };
    match hash {
        Hash::SrcIp => source,
        Hash::DstIp => destination,
        Hash::L3L4 => source ^ destination ^ ports,
        Hash::L2 | Hash::SrcDstIp => source ^ destination,
    }
}

/// All twelve bytes of both MAC addresses XORed into one.
fn macs(frame: &[u8]) -> u32 {
    frame.iter().take(12).fold(0, |mixed, byte| mixed ^ u32::from(*byte))
}

struct Addresses {
    source: u32,
    destination: u32,
    ports: u32,
}

/// Ports only `with_ports`, else 0: most hashes have no use for them.
#[inline]
fn addresses(frame: &[u8], with_ports: bool) -> Option<Addresses> {
    let (kind, at) = header::network(frame)?;
    match kind {
        header::IPV4 => {
            let packet = frame[at..].first_chunk::<20>()?;
            let fragment = be16(packet, 6) & 0x3fff != 0;
            let ports = if with_ports && !fragment {
                l4_ports(frame, packet[9], at + usize::from(packet[0] & 0x0f) * 4)
            } else {
                0
            };
            Some(Addresses {
                source: be32(packet, 12),
                destination: be32(packet, 16),
                ports,
            })
        }
        header::IPV6 if frame.len() >= at + 40 => {
            let words = |from: usize| (0..4).fold(0, |mixed, word| mixed ^ be32(frame, from + word * 4));
            Some(Addresses {
                source: words(at + 8),
                destination: words(at + 24),
                ports: if with_ports { l4_ports(frame, frame[at + 6], at + 40) } else { 0 },
            })
        }
        _ => None,
    }
}

#[inline]
fn l4_ports(frame: &[u8], protocol: u8, at: usize) -> u32 {
    if matches!(protocol, TCP | UDP) && frame.len() >= at + 4 {
        be32(frame, at)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;

    fn udp4(source: [u8; 4], destination: [u8; 4], sport: u16, dport: u16, tags: &[[u8; 4]]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        frame.extend(tags.iter().flatten());
        frame.extend([0x08, 0x00, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend(source);
        frame.extend(destination);
        frame.extend(sport.to_be_bytes());
        frame.extend(dport.to_be_bytes());
        frame.resize(60 + tags.len() * 4, 0);
        frame
    }

    fn member(hash: Hash, members: u32, frame: &[u8]) -> usize {
        Spread::new(hash, members).member(frame)
    }

    /// The single flow of the ASR9006 article: each group's two directions meet different members.
    #[test]
    fn the_single_flow_of_the_article() {
        let there = udp4([16, 0, 0, 1], [48, 0, 0, 1], 1025, 12, &[]);
        let back = udp4([48, 0, 0, 1], [16, 0, 0, 1], 1025, 12, &[]);
        for frame in [&there, &back] {
            assert_eq!(member(Hash::DstIp, 2, frame), 1, "1 ^ 48 = 49 and 1 ^ 16 = 17 are odd");
            assert_eq!(member(Hash::SrcIp, 2, frame), 1);
            assert_eq!(member(Hash::SrcDstIp, 2, frame), 0, "16.0.0.1 ^ 48.0.0.1 = 32.0.0.0, even");
        }
    }

    /// Worked by hand: 10.1.2.3 folds to 10 ^ 1 ^ 2 ^ 3 = 10, 192.168.7.9 to 192 ^ 168 ^ 7 ^ 9 = 102.
    #[test]
    fn ipv4_literals() {
        let frame = udp4([10, 1, 2, 3], [192, 168, 7, 9], 0x0102, 0x0408, &[]);
        assert_eq!(member(Hash::SrcIp, 256, &frame), 10);
        assert_eq!(member(Hash::DstIp, 256, &frame), 102);
        assert_eq!(member(Hash::SrcDstIp, 256, &frame), 10 ^ 102);
        // 0x01 ^ 0x02 ^ 0x04 ^ 0x08 = 0x0f
        assert_eq!(member(Hash::L3L4, 256, &frame), 10 ^ 102 ^ 0x0f);
        assert_eq!(member(Hash::L2, 256, &frame), 3, "02:..:02 ^ 02:..:01");
        assert_eq!(member(Hash::SrcDstIp, 3, &frame), (10 ^ 102) % 3);
        assert_eq!(member(Hash::SrcDstIp, 1, &frame), 0);
    }

    /// All 256 hashes once each.
    #[test]
    fn two_stages_that_hash_alike_use_members_by_their_common_divisor() {
        let used = |members, switches, rotate| {
            let spread = Spread::in_stages(Hash::SrcIp, members, HashStages { switches, rotate });
            let mut frames = [0u32; 64];
            (0..=255).for_each(|source| frames[spread.member(&udp4([0, 0, 0, source], [0; 4], 0, 0, &[]))] += 1);
            frames[..members as usize].to_vec()
        };
        // gcd(2, 4) = 2: even hashes meet the first switch and only its even members.
        assert_eq!(used(8, 2, 0), [64, 0, 64, 0, 0, 64, 0, 64]);
        assert_eq!(used(8, 4, 0), [64, 0, 0, 64, 64, 0, 0, 64]);
        // The lowest bit chooses the switch, bits 4 and 5 its member.
        assert_eq!(used(8, 2, 4), [32; 8]);
        // gcd(3, 4) = 1: all are used, and 256 hashes are 21 or 22 a member.
        assert!(used(12, 3, 0).iter().all(|frames| (21..=22).contains(frames)));
    }

    #[test]
    fn tags_are_looked_through_and_fragments_have_no_ports() {
        let plain = udp4([10, 1, 2, 3], [192, 168, 7, 9], 1025, 12, &[]);
        for outer in [[0x88, 0xa8, 0, 20], [0x91, 0, 0, 20]] {
            let tagged = udp4([10, 1, 2, 3], [192, 168, 7, 9], 1025, 12, &[outer, [0x81, 0, 0, 10]]);
            assert_eq!(member(Hash::L3L4, 256, &tagged), member(Hash::L3L4, 256, &plain));
        }
        let mut fragment = plain.clone();
        fragment[14 + 6] = 0x20;
        assert_eq!(member(Hash::L3L4, 256, &fragment), member(Hash::SrcDstIp, 256, &plain));
        // "do not fragment" is no fragment
        let mut whole = plain.clone();
        whole[14 + 6] = 0x40;
        assert_eq!(member(Hash::L3L4, 256, &whole), member(Hash::L3L4, 256, &plain));
    }

    #[test]
    fn ipv6_words_are_folded() {
        let mut frame = vec![0u8; 62];
        frame[12..14].copy_from_slice(&[0x86, 0xdd]);
        frame[14] = 0x60;
        frame[20] = 17;
        frame[22..38].copy_from_slice(&"2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        frame[38..54].copy_from_slice(&"2001:db8:ff::2".parse::<Ipv6Addr>().unwrap().octets());
        // 20 ^ 01 ^ 0d ^ b8 ^ 01 = 0x95; 20 ^ 01 ^ 0d ^ b8 ^ ff ^ 02 = 0x69
        assert_eq!(member(Hash::SrcIp, 256, &frame), 0x95);
        assert_eq!(member(Hash::DstIp, 256, &frame), 0x69);
        assert_eq!(member(Hash::SrcDstIp, 256, &frame), 0xfc);
    }

    #[test]
    fn what_is_not_ip_goes_by_mac() {
        let mut arp = vec![0u8; 60];
        arp[..14].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9, 8, 6]);
        assert_eq!(member(Hash::SrcDstIp, 256, &arp), 0x02 ^ 0x09);
        assert_eq!(member(Hash::L3L4, 256, &[]), 0);
    }

    proptest! {
        /// The short way beside the one field by field, of frames that are IPv4 nearly, or cut short.
        #[test]
        fn frames_take_the_member_that_their_fields_say(
            mut frame in prop::collection::vec(any::<u8>(), 0..64),
            head in prop::option::of((any::<bool>(), 0x44..0x48_u8, prop::sample::select(vec![0, 0x20, 0x40, 0x80, 1]), 4..20_u8)),
            members in 1..=256_u32,
        ) {
            if let Some((is_v4, version, fragment, protocol)) = head
                && let Some(bytes) = frame.first_chunk_mut::<24>()
            {
                bytes[12..15].copy_from_slice(&[if is_v4 { 8 } else { 0x86 }, if is_v4 { 0 } else { 0xdd }, version]);
                (bytes[20], bytes[21], bytes[23]) = (fragment, 0, protocol);
            }
            for hash in [Hash::L2, Hash::SrcIp, Hash::DstIp, Hash::SrcDstIp, Hash::L3L4] {
                let spread = Spread::new(hash, members);
                prop_assert_eq!(spread.folded(&frame), spread.folded_any(&frame));
                prop_assert_eq!(spread.member(&frame) as u32, u32::from(spread.folded_any(&frame)) % members);
            }
        }
    }
}
