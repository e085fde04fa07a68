//! IPv6 neighbour discovery (RFC 4861): solicitation and advertisement, with VLAN tags.

use crate::arp::ethernet;
use crate::bytes::{array, put};
use crate::checksum::{Check, finish, pseudo_header, sum, verify};
use crate::parse::{Tag, ethertype, parse, protocol};
use crate::spec::Mac;
use std::net::Ipv6Addr;

/// A neighbour solicitation or advertisement and the packet around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// VLAN tags of the frame, from the outside in.
    pub tags: Vec<Tag>,
    /// The frame's source.
    pub source_mac: Mac,
    /// The frame's destination.
    pub destination_mac: Mac,
    /// The packet's source; unspecified in duplicate address detection.
    pub source: Ipv6Addr,
    /// The packet's destination.
    pub destination: Ipv6Addr,
    /// What is asked, or said.
    pub message: Message,
    /// The address asked for, or spoken of.
    pub target: Ipv6Addr,
    /// The source (solicitation) or target (advertisement) link-layer address option.
    pub link_layer: Option<Mac>,
}

/// What is asked, or said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Who has the target?
    Solicitation,
    /// The target is here.
    Advertisement {
        /// The sender is a router.
        router: bool,
        /// It answers a solicitation.
        solicited: bool,
        /// It replaces what is known.
        overrides: bool,
    },
}

/// Everybody on the link.
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The solicited-node multicast address of `address` (RFC 4291 section 2.7.1).
#[must_use]
pub const fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | a as u16, (b as u16) << 8 | c as u16)
}

/// The link-local address of an interface by its MAC address (RFC 4291, appendix A).
#[must_use]
pub fn link_local(mac: Mac) -> Ipv6Addr {
    let Mac([a, b, c, d, e, f]) = mac;
    Ipv6Addr::from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f])
}

/// The MAC address of a multicast address (RFC 2464 section 7).
#[must_use]
pub const fn multicast_mac(address: Ipv6Addr) -> Mac {
    let [.., a, b, c, d] = address.octets();
    Mac([0x33, 0x33, a, b, c, d])
}

impl Neighbour {
    /// `mac`, who is `address`, asks for `target`.
    #[must_use]
    pub fn solicitation(tags: &[Tag], mac: Mac, address: Ipv6Addr, target: Ipv6Addr) -> Self {
        let group = solicited_node(target);
        Self {
            tags: tags.to_vec(),
            source_mac: mac,
            destination_mac: multicast_mac(group),
            source: address,
            destination: group,
            message: Message::Solicitation,
            target,
            // RFC 4861 section 4.3: not when the source is unspecified.
            link_layer: (!address.is_unspecified()).then_some(mac),
        }
    }

    /// `mac`, who is `address`, asks `neighbour` alone whether it still is `target` (RFC 4861 section 7.3.3).
    #[must_use]
    pub fn poll(tags: &[Tag], mac: Mac, address: Ipv6Addr, target: Ipv6Addr, neighbour: Mac) -> Self {
        Self {
            destination_mac: neighbour,
            destination: target,
            ..Self::solicitation(tags, mac, address, target)
        }
    }

    /// `mac` tells everybody that it is `address`.
    #[must_use]
    pub fn announcement(tags: &[Tag], mac: Mac, address: Ipv6Addr) -> Self {
        Self {
            tags: tags.to_vec(),
            source_mac: mac,
            destination_mac: multicast_mac(ALL_NODES),
            source: address,
            destination: ALL_NODES,
            message: Message::Advertisement {
                router: false,
                solicited: false,
                overrides: true,
            },
            target: address,
            link_layer: Some(mac),
        }
    }

    /// The answer to this solicitation by `mac`, with the same tags (RFC 4861 section 7.2.4).
    #[must_use]
    pub fn reply(&self, mac: Mac, router: bool) -> Self {
        let anonymous = self.source.is_unspecified();
        let destination = if anonymous { ALL_NODES } else { self.source };
        Self {
            tags: self.tags.clone(),
            source_mac: mac,
            destination_mac: if anonymous {
                multicast_mac(ALL_NODES)
            } else {
                self.link_layer.unwrap_or(self.source_mac)
            },
            source: self.target,
            destination,
            message: Message::Advertisement {
                router,
                solicited: !anonymous,
                overrides: true,
            },
            target: self.target,
            link_layer: Some(mac),
        }
    }

    /// Whether the message asks for an address.
    #[must_use]
    pub const fn is_solicitation(&self) -> bool {
        matches!(self.message, Message::Solicitation)
    }

    /// The valid message in `frame`, if it is one (RFC 4861 sections 7.1.1 and 7.1.2).
    #[must_use]
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let layers = parse(frame)?;
        let packet = layers.outer;
        if packet.version != 6 || packet.protocol != protocol::ICMPV6 || packet.l4 != packet.l3 + 40 {
            return None;
        }
        let header = array::<40>(frame, packet.l3 as usize)?;
        let body = frame.get(packet.l4 as usize..packet.end as usize)?;
        let fixed = array::<24>(body, 0)?;
        if header[7] != 255 || fixed[1] != 0 || verify(frame, &layers).l4 != Check::Right {
            return None;
        }
        let (message, wanted) = match fixed[0] {
            135 => (Message::Solicitation, 1),
            136 => {
                let flags = fixed[4];
                let bit = |mask| flags & mask != 0;
                (
                    Message::Advertisement {
                        router: bit(0x80),
                        solicited: bit(0x40),
                        overrides: bit(0x20),
                    },
                    2,
                )
            }
            _ => return None,
        };
        let target = Ipv6Addr::from(*array::<16>(fixed, 8)?);
        if target.is_multicast() {
            return None;
        }
        Some(Self {
            tags: layers.tags(frame).collect(),
            destination_mac: Mac(*array(frame, 0)?),
            source_mac: Mac(*array(frame, 6)?),
            source: Ipv6Addr::from(*array::<16>(header, 8)?),
            destination: Ipv6Addr::from(*array::<16>(header, 24)?),
            message,
            target,
            link_layer: link_layer(&body[24..], wanted)?,
        })
    }

    /// The frame.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        let length: u16 = if self.link_layer.is_some() { 32 } else { 24 };
        let mut frame = ethernet(self.destination_mac, self.source_mac, &self.tags, ethertype::IPV6);
        let l3 = frame.len();
        frame.extend_from_slice(&[0x60, 0, 0, 0]);
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(&[protocol::ICMPV6, 255]);
        frame.extend_from_slice(&self.source.octets());
        frame.extend_from_slice(&self.destination.octets());
        let l4 = frame.len();
        let (kind, flags, option) = match self.message {
            Message::Solicitation => (135, 0, 1),
            Message::Advertisement {
                router,
                solicited,
                overrides,
            } => (136, u8::from(router) << 7 | u8::from(solicited) << 6 | u8::from(overrides) << 5, 2),
        };
        frame.extend_from_slice(&[kind, 0, 0, 0, flags, 0, 0, 0]);
        frame.extend_from_slice(&self.target.octets());
        if let Some(mac) = self.link_layer {
            frame.extend_from_slice(&[option, 1]);
            frame.extend_from_slice(&mac.0);
        }
        let partial = pseudo_header(6, &frame[l3..l4], protocol::ICMPV6, u32::from(length)) + sum(&frame[l4..]);
        put(&mut frame, l4 + 2, finish(partial).to_be_bytes());
        frame
    }
}

/// The link-layer address option of kind `wanted`; the outer `None` if an option has no length.
fn link_layer(mut options: &[u8], wanted: u8) -> Option<Option<Mac>> {
    let mut found = None;
    while let [kind, units, ..] = *options {
        let length = usize::from(units) * 8;
        if length == 0 || length > options.len() {
            return None;
        }
        if kind == wanted && units == 1 {
            found = Some(Mac(*array(options, 2)?));
        }
        options = &options[length..];
    }
    Some(found)
}
