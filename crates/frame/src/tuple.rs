//! Addresses and ports of a flow, which translators change on its way and answers go back to.

use crate::bytes::array;
use crate::parse::{parse, protocol};
use crate::spec::Header;
use std::fmt;
use std::net::Ipv4Addr;

const BYTES: usize = 12;
/// Bytes of an IPv4 header without options before its addresses.
const ADDRESSES: usize = 12;
const IPV4: usize = 20;

/// Source and destination address and port of a UDP or TCP packet over IPv4, in the order in which they stand in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FourTuple([u8; BYTES]);

impl FourTuple {
    /// That of `frame`; `None` where it is no whole packet of UDP or TCP over IPv4 without options.
    #[must_use]
    pub fn of(frame: &[u8]) -> Option<Self> {
        let packet = parse(frame)?.outer;
        let is_known = packet.version == 4 && matches!(packet.protocol, protocol::UDP | protocol::TCP);
        let is_plain = packet.l4 - packet.l3 == IPV4 as u32 && !packet.fragment;
        (is_known && is_plain).then(|| Self::at(frame, packet.l3 as usize + ADDRESSES))?
    }

    /// That of a frame in which it begins at `place`; `None` where the frame is shorter.
    #[inline]
    #[must_use]
    pub fn at(frame: &[u8], place: usize) -> Option<Self> {
        array(frame, place).copied().map(Self)
    }

    /// Where it begins, counted back from the payload, in frames with these headers; `None` where they are others than
    /// Ethernet, tags, IPv4 and UDP or TCP.
    #[must_use]
    pub fn before_payload(headers: &[Header]) -> Option<usize> {
        let (_, rest) = headers.split_first()?;
        let tags = rest.iter().take_while(|header| matches!(header, Header::Vlan { .. })).count();
        match &rest[tags..] {
            [Header::Ipv4 { .. }, Header::Udp { .. }] => Some(IPV4 + 8 - ADDRESSES),
            [Header::Ipv4 { .. }, Header::Tcp { .. }] => Some(IPV4 + 20 - ADDRESSES),
            _ => None,
        }
    }

    /// That of the packets which answer these.
    #[must_use]
    pub fn reversed(self) -> Self {
        let Self(bytes) = self;
        let mut found = [0; BYTES];
        for (to, from) in [(0..4, 4..8), (4..8, 0..4), (8..10, 10..12), (10..12, 8..10)] {
            found[to].copy_from_slice(&bytes[from]);
        }
        Self(found)
    }

    fn address(self, place: usize) -> Ipv4Addr {
        let Self(bytes) = self;
        Ipv4Addr::new(bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3])
    }

    fn port(self, place: usize) -> u16 {
        let Self(bytes) = self;
        u16::from_be_bytes([bytes[place], bytes[place + 1]])
    }

    /// A field of its headers by the name that it has there: of IPv4 or of UDP and TCP.
    pub(crate) fn field(self, name: &str) -> Option<u128> {
        Some(match name {
            "src" => u32::from(self.address(0)).into(),
            "dst" => u32::from(self.address(4)).into(),
            "sport" => self.port(8).into(),
            "dport" => self.port(10).into(),
            _ => return None,
        })
    }
}

/// `16.0.0.1:1025 > 48.0.0.1:12`.
impl fmt::Display for FourTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} > {}:{}", self.address(0), self.port(8), self.address(4), self.port(10))
    }
}
