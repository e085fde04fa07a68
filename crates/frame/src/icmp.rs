//! Answers to pings, in place.

use crate::bytes::{array, be16, put};
use crate::checksum::{Check, update, verify};
use crate::parse::{Layers, parse, protocol};
use std::net::IpAddr;

/// Who is asked, if `frame` is an ICMP or ICMPv6 echo request with right checksums and no tunnel around it.
#[must_use]
pub fn echo_target(frame: &[u8]) -> Option<IpAddr> {
    let layers = request(frame)?;
    let l3 = layers.outer.l3 as usize;
    Some(if layers.outer.version == 4 {
        IpAddr::from(*array::<4>(frame, l3 + 16)?)
    } else {
        IpAddr::from(*array::<16>(frame, l3 + 24)?)
    })
}

/// Turns an echo request into its reply: addresses swapped, TTL 64, checksums right, tags, identifier,
/// sequence and data kept. `false`, and nothing changed, if it is no such request, or one to a group.
pub fn echo_reply(frame: &mut [u8]) -> bool {
    let Some(layers) = request(frame) else { return false };
    let group = echo_target(frame).is_none_or(|target| match target {
        IpAddr::V4(target) => target.is_multicast() || target.is_broadcast(),
        IpAddr::V6(target) => target.is_multicast(),
    });
    if group {
        return false;
    }
    let (l3, l4) = (layers.outer.l3 as usize, layers.outer.l4 as usize);
    swap::<6>(frame, 0, 6);
    // Swapping addresses changes no sum; the type and the TTL do.
    if layers.outer.version == 4 {
        swap::<4>(frame, l3 + 12, l3 + 16);
        patch(frame, l3 + 8, 64, l3 + 10);
        patch(frame, l4, 0, l4 + 2);
    } else {
        swap::<16>(frame, l3 + 8, l3 + 24);
        frame[l3 + 7] = 64;
        patch(frame, l4, 129, l4 + 2);
    }
    true
}

fn request(frame: &[u8]) -> Option<Layers> {
    let layers = parse(frame)?;
    let packet = &layers.outer;
    let kind = match (packet.version, packet.protocol) {
        (4, protocol::ICMP) => 8,
        (6, protocol::ICMPV6) => 128,
        _ => return None,
    };
    let is_request = *array::<2>(frame, packet.l4 as usize)? == [kind, 0] && layers.inner == layers.outer;
    let verified = verify(frame, &layers);
    (is_request && verified.is_good() && verified.l4 == Check::Right).then_some(layers)
}

fn swap<const N: usize>(frame: &mut [u8], a: usize, b: usize) {
    let (Some(&first), Some(&second)) = (array::<N>(frame, a), array::<N>(frame, b)) else {
        return;
    };
    put(frame, a, second);
    put(frame, b, first);
}

/// Sets the high byte of the word at `at`, and keeps the checksum at `checksum_at` right.
fn patch(frame: &mut [u8], at: usize, value: u8, checksum_at: usize) {
    let (Some(old), Some(checksum)) = (be16(frame, at), be16(frame, checksum_at)) else {
        return;
    };
    let new = u16::from(value) << 8 | old & 0x00ff;
    put(frame, at, new.to_be_bytes());
    put(frame, checksum_at, update(checksum, old, new).to_be_bytes());
}
