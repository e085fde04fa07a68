//! IP networks: their text form, and whether two addresses are in the same one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address and a prefix length, as text has them.
pub(crate) fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (ip, len) = text.split_once('/')?;
    let ip: IpAddr = ip.parse().ok()?;
    let len: u8 = len.parse().ok()?;
    (len <= if ip.is_ipv4() { 32 } else { 128 }).then_some((ip, len))
}

/// Whether the first `len` bits agree.
pub(super) fn same_network_v4(one: Ipv4Addr, other: Ipv4Addr, len: u8) -> bool {
    let differing = u32::from(one) ^ u32::from(other);
    len == 0 || differing >> (32 - len) == 0
}

/// Whether the first `len` bits agree.
pub(super) fn same_network_v6(one: Ipv6Addr, other: Ipv6Addr, len: u8) -> bool {
    let differing = u128::from(one) ^ u128::from(other);
    len == 0 || differing >> (128 - len) == 0
}

/// The first address of a network.
pub(super) fn first_v4(ip: Ipv4Addr, len: u8) -> u32 {
    u32::from(ip) & !u32::MAX.checked_shr(len.into()).unwrap_or(0)
}

/// The first address of a network.
pub(super) fn first_v6(ip: Ipv6Addr, len: u8) -> u128 {
    u128::from(ip) & !u128::MAX.checked_shr(len.into()).unwrap_or(0)
}
