//! What came to a port for the tester as a host, by UDP, and is kept: answers of an agent, and what came to networks the port
//! said are behind it.

use super::own::Own;
use netdyno_frame::checksum::{Check, pseudo_header, verify_frame};
use netdyno_frame::parse::{Layers, protocol};
use netdyno_frame::spec::Mac;
use std::net::{IpAddr, Ipv4Addr};

/// Datagrams kept of one port: one a second for half a day.
const MOST: usize = 50_000;
/// Bytes kept of all their payloads.
const MOST_BYTES: usize = 1 << 24;
/// Ethernet, IPv4 and UDP without options: where a datagram's addresses and ports are is asked of the layers.
const UDP_HEADER: usize = 8;

/// A UDP datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub at_ps: u64,
    pub from: Ipv4Addr,
    pub from_port: u16,
    pub to_port: u16,
    pub payload: Vec<u8>,
}

/// The datagrams of a port.
#[derive(Clone, Debug, Default)]
pub struct Post {
    /// UDP ports of whose datagrams are kept.
    ports: Vec<u16>,
    /// Whose datagrams are kept besides the port's own.
    behind: Vec<Network>,
    kept: Vec<Datagram>,
    bytes: usize,
    /// Datagrams there was no room for.
    beyond: u64,
    /// Datagrams with a wrong checksum.
    damaged: u64,
}

/// Whether the UDP checksum of `packet`, of so many bytes, is the sum of its pseudo header alone: a kernel leaves the rest of it to the
/// card, and where there is none between it and the tester (veth) nobody has added it.
fn is_left_to_the_card(packet: &[u8], length: u16, checksum: u16) -> bool {
    let begun = pseudo_header(4, packet, protocol::UDP, length.into());
    begun % 0xffff == u64::from(checksum) % 0xffff
}

/// The addresses that agree with `address` in the bits of `mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    pub address: u32,
    pub mask: u32,
}

impl Network {
    /// `192.0.2.0/24`.
    pub fn read(text: &str) -> Option<Self> {
        let (address, len) = text.split_once('/')?;
        let len: u32 = len.parse().ok().filter(|len| (1..=32).contains(len))?;
        let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let mask = u32::MAX << (32 - len);
        (address & !mask == 0).then_some(Self { address, mask })
    }

    fn holds(self, address: Ipv4Addr) -> bool {
        u32::from(address) & self.mask == self.address
    }
}

impl Post {
    /// Keeps datagrams to these UDP ports of the tester port and to hosts in the networks `behind` it.
    ///
    /// # Errors
    /// If one of them is no IPv4 network: which one.
    pub fn new(ports: &[u16], behind: &[String]) -> Result<Self, String> {
        let network =
            |text: &String| Network::read(text).ok_or_else(|| format!("`behind`: `{text}` is not a network such as `192.0.2.0/24`"));
        Ok(Self {
            ports: ports.to_vec(),
            behind: behind.iter().map(network).collect::<Result<_, _>>()?,
            ..Self::default()
        })
    }

    /// Returns the datagrams in order of arrival.
    pub fn datagrams(&self) -> &[Datagram] {
        &self.kept
    }

    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Keeps `frame`, whose layers these are, if it is a datagram to one of the ports of the host of `mac` and `own`.
    pub fn take(&mut self, mac: Mac, own: &Own, frame: &[u8], layers: &Layers, at_ps: u64) {
        let packet = &layers.outer;
        let is_datagram = packet.version == 4 && packet.protocol == protocol::UDP && packet.whole && !packet.fragment;
        if self.ports.is_empty() || !is_datagram || layers.inner != layers.outer || frame[..6] != mac.0 {
            return;
        }
        let (l3, l4, end) = (packet.l3 as usize, packet.l4 as usize, packet.end as usize);
        let (Some(addresses), Some(udp)) = (frame.get(l3 + 12..l3 + 20), frame.get(l4..l4 + UDP_HEADER)) else {
            return;
        };
        let address = |at: usize| Ipv4Addr::new(addresses[at], addresses[at + 1], addresses[at + 2], addresses[at + 3]);
        let number = |at: usize| u16::from_be_bytes([udp[at], udp[at + 1]]);
        let tags: Vec<_> = layers.tags(frame).collect();
        let is_behind = || tags.is_empty() && self.behind.iter().any(|network| network.holds(address(4)));
        if !self.ports.contains(&number(2)) || !own.on(&tags).holds(IpAddr::V4(address(4))) && !is_behind() {
            return;
        }
        let payload = frame.get(l4 + UDP_HEADER..(l4 + usize::from(number(4))).min(end));
        let verified = verify_frame(frame);
        let is_good = verified.is_good() || verified.ip != Check::Wrong && is_left_to_the_card(&frame[l3..], number(4), number(6));
        let (Some(payload), true) = (payload, is_good) else {
            self.damaged += 1;
            return;
        };
        if self.kept.len() >= MOST || self.bytes + payload.len() > MOST_BYTES {
            self.beyond += 1;
            return;
        }
        self.bytes += payload.len();
        self.kept.push(Datagram {
            at_ps,
            from: address(0),
            from_port: number(0),
            to_port: number(2),
            payload: payload.to_vec(),
        });
    }
}
