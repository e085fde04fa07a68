//! ARP for IPv4 over Ethernet (RFC 826), with VLAN tags.

use crate::bytes::{array, put};
use crate::parse::{Tag, ethertype, parse};
use crate::spec::Mac;
use std::net::Ipv4Addr;

/// An ARP message and the frame around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arp {
    /// VLAN tags of the frame, from the outside in.
    pub tags: Vec<Tag>,
    /// The frame's source.
    pub source: Mac,
    /// The frame's destination.
    pub destination: Mac,
    /// 1 asks, 2 answers.
    pub operation: u16,
    /// Who speaks.
    pub sender_mac: Mac,
    /// Its address.
    pub sender_ip: Ipv4Addr,
    /// Who is spoken to (zero in a request).
    pub target_mac: Mac,
    /// The address asked for, or the address of who asked.
    pub target_ip: Ipv4Addr,
}

const BROADCAST: Mac = Mac([0xff; 6]);
/// Ethernet, IPv4, addresses of 6 and 4 bytes.
const KIND: [u8; 6] = [0, 1, 8, 0, 6, 4];

impl Arp {
    /// `mac`, who is `ip`, asks everybody for `target`.
    #[must_use]
    pub fn request(tags: &[Tag], mac: Mac, ip: Ipv4Addr, target: Ipv4Addr) -> Self {
        Self {
            tags: tags.to_vec(),
            source: mac,
            destination: BROADCAST,
            operation: 1,
            sender_mac: mac,
            sender_ip: ip,
            target_mac: Mac::default(),
            target_ip: target,
        }
    }

    /// `mac`, who is `ip`, asks `neighbour` alone whether it still is `target` (RFC 1122 section 2.3.2.1, "Unicast
    /// Poll").
    #[must_use]
    pub fn poll(tags: &[Tag], mac: Mac, ip: Ipv4Addr, target: Ipv4Addr, neighbour: Mac) -> Self {
        Self {
            destination: neighbour,
            ..Self::request(tags, mac, ip, target)
        }
    }

    /// `mac` tells everybody that it is `ip` (a request for its own address, as RFC 5227 prefers).
    #[must_use]
    pub fn gratuitous(tags: &[Tag], mac: Mac, ip: Ipv4Addr) -> Self {
        Self::request(tags, mac, ip, ip)
    }

    /// The answer to this request by `mac`, with the same tags.
    #[must_use]
    pub fn reply(&self, mac: Mac) -> Self {
        Self {
            tags: self.tags.clone(),
            source: mac,
            destination: self.sender_mac,
            operation: 2,
            sender_mac: mac,
            sender_ip: self.target_ip,
            target_mac: self.sender_mac,
            target_ip: self.sender_ip,
        }
    }

    /// Whether the message asks for an address.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        self.operation == 1
    }

    /// Whether the message answers a request.
    #[must_use]
    pub const fn is_reply(&self) -> bool {
        self.operation == 2
    }

    /// Whether the message announces the sender's own address.
    #[must_use]
    pub fn is_gratuitous(&self) -> bool {
        self.sender_ip == self.target_ip
    }

    /// The message in `frame`, if it is one.
    #[must_use]
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let layers = parse(frame)?;
        if layers.ethertype != ethertype::ARP {
            return None;
        }
        let body = array::<28>(frame, layers.outer.l3 as usize)?;
        if body[..6] != KIND {
            return None;
        }
        Some(Self {
            tags: layers.tags(frame).collect(),
            destination: Mac(*array(frame, 0)?),
            source: Mac(*array(frame, 6)?),
            operation: u16::from_be_bytes([body[6], body[7]]),
            sender_mac: Mac(*array(body, 8)?),
            sender_ip: Ipv4Addr::from(*array::<4>(body, 14)?),
            target_mac: Mac(*array(body, 18)?),
            target_ip: Ipv4Addr::from(*array::<4>(body, 24)?),
        })
    }

    /// The frame, padded to the smallest.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        let mut frame = ethernet(self.destination, self.source, &self.tags, ethertype::ARP);
        frame.extend_from_slice(&KIND);
        frame.extend_from_slice(&self.operation.to_be_bytes());
        frame.extend_from_slice(&self.sender_mac.0);
        frame.extend_from_slice(&self.sender_ip.octets());
        frame.extend_from_slice(&self.target_mac.0);
        frame.extend_from_slice(&self.target_ip.octets());
        frame.resize(frame.len().max(60), 0);
        frame
    }
}

/// An Ethernet header with tags.
pub(crate) fn ethernet(destination: Mac, source: Mac, tags: &[Tag], kind: u16) -> Vec<u8> {
    let mut frame = vec![0; 14 + 4 * tags.len()];
    put(&mut frame, 0, destination.0);
    put(&mut frame, 6, source.0);
    let mut at = 12;
    for tag in tags {
        put(&mut frame, at, tag.tpid.to_be_bytes());
        put(&mut frame, at + 2, tag.tci.to_be_bytes());
        at += 4;
    }
    put(&mut frame, at, kind.to_be_bytes());
    frame
}
