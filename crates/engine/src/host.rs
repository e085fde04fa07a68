//! A tester port as a host on the network: it asks for next hops, answers for its own addresses, and
//! lets bridges learn where it is.

use crate::spec::TesterPortSpec;
use netdyno_frame::arp::Arp;
use netdyno_frame::icmp;
use netdyno_frame::nd::{Message, Neighbour};
use netdyno_frame::parse::{Tag, ethertype, parse, protocol};
use netdyno_frame::spec::Mac;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A next hop that a stream wants.
#[derive(Clone, Debug)]
struct Wanted {
    tags: Vec<Tag>,
    address: IpAddr,
    mac: Option<Mac>,
}

/// A tester port on the network.
#[derive(Clone, Debug)]
pub struct Host {
    mac: Mac,
    ipv4: Option<Ipv4Addr>,
    ipv6: Option<Ipv6Addr>,
    wanted: Vec<Wanted>,
}

impl Host {
    /// The port as `spec` describes it.
    ///
    /// # Errors
    /// If an address cannot be read: which one and why.
    pub fn new(spec: &TesterPortSpec) -> Result<Self, String> {
        let address = |text: &Option<String>| {
            // A prefix length, as a lab writes it, is of no use to a host that asks for its next hops by name.
            let text = text.as_deref().map(|text| text.split('/').next().unwrap_or(text));
            text.map(|text| {
                text.parse::<IpAddr>()
                    .map_err(|why| format!("`{text}` is not an IP address: {why}"))
            })
            .transpose()
        };
        let wrong = |text: &Option<String>, family| format!("`{}` is not an {family} address", text.as_deref().unwrap_or_default());
        Ok(Self {
            mac: spec.mac.parse()?,
            ipv4: match address(&spec.ipv4)? {
                Some(IpAddr::V4(address)) => Some(address),
                Some(IpAddr::V6(_)) => return Err(wrong(&spec.ipv4, "IPv4")),
                None => None,
            },
            ipv6: match address(&spec.ipv6)? {
                Some(IpAddr::V6(address)) => Some(address),
                Some(IpAddr::V4(_)) => return Err(wrong(&spec.ipv6, "IPv6")),
                None => None,
            },
            wanted: Vec::new(),
        })
    }

    /// Its MAC address.
    #[must_use]
    pub fn mac(&self) -> Mac {
        self.mac
    }

    /// The next hop `address`, on the VLAN of `tags`, is to be resolved.
    ///
    /// # Errors
    /// If this host has no address of that family to ask from.
    pub fn want(&mut self, tags: &[Tag], address: IpAddr) -> Result<(), String> {
        if address.is_ipv4() && self.ipv4.is_none() || address.is_ipv6() && self.ipv6.is_none() {
            let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
            return Err(format!("next hop {address} cannot be asked for: the port has no {family} address"));
        }
        if self.answer(tags, address).is_none() && !self.wanted.iter().any(|it| it.address == address && it.tags == tags) {
            self.wanted.push(Wanted {
                tags: tags.to_vec(),
                address,
                mac: None,
            });
        }
        Ok(())
    }

    /// The MAC address of next hop `address`, once it has answered.
    #[must_use]
    pub fn answer(&self, tags: &[Tag], address: IpAddr) -> Option<Mac> {
        self.wanted
            .iter()
            .find(|it| it.address == address && same_vlans(&it.tags, tags))?
            .mac
    }

    /// Next hops that have not answered yet.
    pub fn unanswered(&self) -> impl Iterator<Item = IpAddr> {
        self.wanted.iter().filter(|it| it.mac.is_none()).map(|it| it.address)
    }

    /// Next hops that have, with their MAC addresses.
    pub fn answered(&self) -> impl Iterator<Item = (IpAddr, Mac)> {
        self.wanted.iter().filter_map(|it| it.mac.map(|mac| (it.address, mac)))
    }

    /// A question for each next hop that has not answered yet.
    #[must_use]
    pub fn questions(&self) -> Vec<Vec<u8>> {
        let ask = |it: &Wanted| match it.address {
            IpAddr::V4(target) => Arp::request(&it.tags, self.mac, self.ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED), target).build(),
            IpAddr::V6(target) => Neighbour::solicitation(&it.tags, self.mac, self.ipv6.unwrap_or(Ipv6Addr::UNSPECIFIED), target).build(),
        };
        self.wanted.iter().filter(|it| it.mac.is_none()).map(ask).collect()
    }

    /// Takes in a frame that is no test frame. `Some` is what to answer.
    pub fn hear(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let layers = parse(frame)?;
        if layers.ethertype == ethertype::ARP {
            let arp = Arp::parse(frame)?;
            self.learn(&arp.tags, arp.sender_ip.into(), arp.sender_mac);
            return (arp.is_request() && Some(arp.target_ip) == self.ipv4 && arp.sender_mac != self.mac)
                .then(|| arp.reply(self.mac).build());
        }
        if let Some(message) = Neighbour::parse(frame) {
            if matches!(message.message, Message::Advertisement { .. }) {
                self.learn(
                    &message.tags,
                    message.target.into(),
                    message.link_layer.unwrap_or(message.source_mac),
                );
                return None;
            }
            return (Some(message.target) == self.ipv6).then(|| message.reply(self.mac, false).build());
        }
        let is_icmp = matches!(layers.outer.protocol, protocol::ICMP | protocol::ICMPV6);
        let asked = is_icmp.then(|| icmp::echo_target(frame)).flatten()?;
        let ours = self.ipv4.is_some_and(|own| asked == own) || self.ipv6.is_some_and(|own| asked == own);
        if !ours || frame[..6] != self.mac.0 {
            return None;
        }
        let mut reply = frame.to_vec();
        icmp::echo_reply(&mut reply).then_some(reply)
    }

    fn learn(&mut self, tags: &[Tag], address: IpAddr, mac: Mac) {
        for wanted in self
            .wanted
            .iter_mut()
            .filter(|it| it.address == address && same_vlans(&it.tags, tags))
        {
            wanted.mac.get_or_insert(mac);
        }
    }

    /// A frame by which a bridge learns that `source` is behind this port, on the VLAN of `tags`: a
    /// gratuitous ARP for an own address, else one of the type for local experiments (IEEE 802) to `peer`.
    #[must_use]
    pub fn learning_frame(&self, source: Mac, tags: &[Tag], peer: Mac) -> Vec<u8> {
        if let (Some(address), true) = (self.ipv4, source == self.mac) {
            return Arp::gratuitous(tags, source, address).build();
        }
        let mut frame = [peer.0, source.0].concat();
        for tag in tags {
            frame.extend_from_slice(&tag.tpid.to_be_bytes());
            frame.extend_from_slice(&tag.tci.to_be_bytes());
        }
        frame.extend_from_slice(&ethertype::EXPERIMENTAL.to_be_bytes());
        frame.extend_from_slice(b"netdyno learning");
        frame
    }
}

/// Tags of the same VLANs; priorities may differ in an answer.
fn same_vlans(a: &[Tag], b: &[Tag]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.tpid == b.tpid && a.vid() == b.vid())
}
