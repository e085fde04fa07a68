//! An IPv4/IPv6 router (RFC 1812, RFC 8200): longest prefix match, TTL, MAC rewrite, ARP and ND both ways.

mod build;
mod hops;
mod interface;
pub(crate) mod neighbour;
mod network;
pub(crate) mod rip;
mod tagging;

use crate::agent;
use crate::flight::Frame;
use crate::header::{self, ETHERNET, be16, be32, is_multicast, macs, put_mac, put_macs};
use crate::lpm::Trie;
use crate::tags::Stack;
use hops::{Hop, Hops};
use interface::{Interface, Tagged};
use neighbour::{LEARNED_LIMIT, Neighbours};
use netdyno_frame::arp::Arp;
use netdyno_frame::hello::is_to_routers;
use netdyno_frame::icmp::echo_reply;
use netdyno_frame::nd::{Neighbour as Discovery, link_local};
use netdyno_frame::spec::Mac;
use netdyno_io::tail::Place;
use rip::{Rip, Update};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) use network::network;

/// What becomes of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Rewritten; it leaves by this interface, which is a port unless there are subinterfaces.
    To(usize),
    /// It may be a subinterface's.
    Tagged,
    /// It waits for this neighbour.
    Wait(usize),
    /// It was for the router; the answer, if any, has taken its place and leaves by the interface it came in on.
    Answer,
    /// It was for the router, and there is no answer.
    Consumed,
    /// It was for the router's SNMP agent.
    Query,
    /// It was a routing update.
    Update,
    /// It was a hello to all OSPF routers.
    Hello,
    /// It was for the router, which has something to say or has learned something.
    Heard(Box<Heard>),
    /// Dropped.
    NoRoute,
    /// Dropped: TTL or hop limit.
    Expired,
    /// Dropped: not a frame this router forwards.
    Malformed,
}

/// What came of a message to the router itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// An answer, by the interface the message came in on.
    pub(crate) answer: Option<Vec<u8>>,
    /// A neighbour and its MAC address.
    pub(crate) learned: Option<(usize, u64)>,
}

/// The router.
#[derive(Debug)]
pub(crate) struct Router {
    /// The ports, and behind them the subinterfaces.
    interfaces: Vec<Interface>,
    /// Of all interfaces.
    macs: Vec<u64>,
    /// `None`: there are no subinterfaces.
    tagged: Option<Box<Tagged>>,
    v4: Trie<4>,
    v6: Trie<16>,
    hops: Hops,
    pub(crate) neighbours: Neighbours,
    /// `None`: it knows its static routes, and hears nobody.
    rip: Option<Rip>,
}

impl Router {
    /// Decides on a frame that came in on `port`, and rewrites it if it goes on.
    #[inline(always)]
    pub(crate) fn forward(&mut self, frame: &mut Place<'_>, port: usize) -> Verdict {
        if self.tagged.is_some() {
            return Verdict::Tagged;
        }
        self.forward_untagged(frame, port)
    }

    /// Decides on a frame without tags that belongs to `interface`, and rewrites it if it goes on.
    #[inline(always)]
    pub(crate) fn forward_untagged(&mut self, frame: &mut Place<'_>, interface: usize) -> Verdict {
        match self.forward_plain(frame, interface) {
            Some(out) => Verdict::To(out),
            None => self.forward_any(frame, interface),
        }
    }

    /// The short way of nearly all frames, IPv4 without options to a next hop that is known: the interface they leave by. `None` of
    /// all others, which are as they were.
    #[inline(always)]
    fn forward_plain(&mut self, frame: &mut Place<'_>, interface: usize) -> Option<usize> {
        let len = frame.bytes().len();
        let frame = frame.first::<{ ETHERNET + 20 }>()?;
        let packet = frame[ETHERNET..].first_chunk::<20>()?;
        let (to, _) = macs(frame);
        let (total, ttl) = (usize::from(be16(packet, 2)), packet[8]);
        let is_plain = to == self.macs[interface] && be16(frame, 12) == header::IPV4 && packet[0] == 0x45;
        if !is_plain || total < 20 || len < ETHERNET + total || ttl <= 1 || sum20(packet) != 0xffff || !is_routed(packet[16]) {
            return None;
        }
        let destination: [u8; 4] = *packet[16..].first_chunk()?;
        let hop = self.v4.lookup(&destination)?;
        let neighbour = match self.hops.get(hop) {
            Hop::Via(neighbour) => neighbour,
            Hop::Connected(_) => self.neighbours.find(IpAddr::from(destination))?,
            Hop::Local => return None,
        };
        let neighbour = self.neighbours.wanted(neighbour);
        let (out, mac) = (neighbour.interface, neighbour.mac?);
        put_macs(frame, mac, self.macs[out]);
        count_down(frame);
        Some(out)
    }

    /// The same of any frame.
    #[inline(never)]
    fn forward_any(&mut self, frame: &mut Place<'_>, interface: usize) -> Verdict {
        let bytes = frame.bytes();
        if bytes.len() < ETHERNET {
            return Verdict::Malformed;
        }
        let (destination, _) = macs(bytes);
        if destination != self.interfaces[interface].mac {
            return self.not_to_us(bytes, interface, destination);
        }
        match be16(bytes, 12) {
            header::IPV4 => self.forward_v4(frame),
            header::IPV6 => self.forward_v6(frame, interface),
            header::ARP => self.hear_arp(bytes, interface),
            _ => Verdict::Malformed,
        }
    }

    /// Of frames to groups a router takes part in ARP, ND and its routing protocol only; others' frames are none of its business.
    #[cold]
    fn not_to_us(&mut self, frame: &[u8], interface: usize, destination: u64) -> Verdict {
        if !is_multicast(destination) {
            return Verdict::Malformed;
        }
        match be16(frame, 12) {
            header::ARP => self.hear_arp(frame, interface),
            header::IPV6 => self.hear_discovery(frame, interface).unwrap_or(Verdict::Consumed),
            header::IPV4 if self.is_update(frame, interface) => Verdict::Update,
            header::IPV4 if is_to_routers(frame) => Verdict::Hello,
            _ => Verdict::Consumed,
        }
    }

    /// Whether `frame`, which came to a group on `interface`, is a message of RIP that the router hears.
    fn is_update(&self, frame: &[u8], interface: usize) -> bool {
        let (Some(own), Some(header)) = (self.interfaces[interface].v4, rip::checked(frame)) else {
            return false;
        };
        let destination = Ipv4Addr::from(be32(frame, ETHERNET + 16));
        self.rip.is_some() && rip::is_for_all(destination, own) && rip::is_message(frame, header)
    }

    #[inline]
    fn forward_v4(&mut self, frame: &mut Place<'_>) -> Verdict {
        // RFC 1812, section 5.2.2: version, lengths, header checksum.
        let bytes = frame.bytes();
        let frame_len = bytes.len();
        let Some(packet) = bytes.get(ETHERNET..).and_then(<[u8]>::first_chunk::<20>) else {
            return Verdict::Malformed;
        };
        let header = usize::from(packet[0] & 0x0f) * 4;
        let total = usize::from(be16(packet, 2));
        if packet[0] >> 4 != 4 || header < 20 || total < header || frame_len < ETHERNET + total {
            return Verdict::Malformed;
        }
        let checked = if header == 20 {
            sum20(packet)
        } else {
            header::sum(&bytes[ETHERNET..ETHERNET + header])
        };
        if checked != 0xffff {
            return Verdict::Malformed;
        }
        let ttl = packet[8];
        let destination = [packet[16], packet[17], packet[18], packet[19]];
        let hop = if is_routed(destination[0]) {
            self.v4.lookup(&destination).map(|index| self.hops.get(index))
        } else {
            None
        };
        let neighbour = match hop {
            None => return Verdict::NoRoute,
            Some(Hop::Local) if self.rip.is_some() && rip::is_message(bytes, header) => return Verdict::Update,
            Some(Hop::Local) => return local_v4(frame.all(), header),
            // For the router itself a TTL of 1 is enough; to go on it takes 2 (RFC 1812, section 5.3.1).
            Some(_) if ttl <= 1 => return Verdict::Expired,
            Some(Hop::Via(index)) => index,
            Some(Hop::Connected(out)) => match self.connected(IpAddr::from(destination), out) {
                Some(index) => index,
                None => return Verdict::NoRoute,
            },
        };
        self.send(frame, neighbour)
    }

    #[inline]
    fn forward_v6(&mut self, frame: &mut Place<'_>, interface: usize) -> Verdict {
        let Some(packet) = frame.bytes().get(ETHERNET..).filter(|packet| packet.len() >= 40) else {
            return Verdict::Malformed;
        };
        if packet[0] >> 4 != 6 || packet.len() < 40 + usize::from(be16(packet, 4)) {
            return Verdict::Malformed;
        }
        let hops_left = packet[7];
        let mut destination = [0; 16];
        destination.copy_from_slice(&packet[24..40]);
        let address = Ipv6Addr::from(destination);
        let hop = if address.is_multicast() || address.is_loopback() || address.is_unspecified() {
            None
        } else if address.is_unicast_link_local() {
            // RFC 4291, section 2.5.6: never forwarded.
            (address == link_local(bytes(self.interfaces[interface].mac))).then_some(Hop::Local)
        } else {
            self.v6.lookup(&destination).map(|index| self.hops.get(index))
        };
        let neighbour = match hop {
            None => return Verdict::NoRoute,
            Some(Hop::Local) => {
                if let Some(verdict) = self.hear_discovery(frame.bytes(), interface) {
                    return verdict;
                }
                return if echo_reply(frame.all()) {
                    Verdict::Answer
                } else {
                    Verdict::Consumed
                };
            }
            Some(_) if hops_left <= 1 => return Verdict::Expired,
            Some(Hop::Via(index)) => index,
            Some(Hop::Connected(out)) => match self.connected(IpAddr::from(destination), out) {
                Some(index) => index,
                None => return Verdict::NoRoute,
            },
        };
        self.send(frame, neighbour)
    }

    fn connected(&mut self, destination: IpAddr, interface: usize) -> Option<usize> {
        if let Some(index) = self.neighbours.find(destination) {
            return Some(index);
        }
        (self.neighbours.len() < LEARNED_LIMIT).then(|| self.neighbours.add(destination, interface))
    }

    #[inline(always)]
    fn send(&mut self, frame: &mut Place<'_>, neighbour: usize) -> Verdict {
        let to = self.neighbours.wanted(neighbour);
        match to.mac {
            Some(mac) => {
                let out = to.interface;
                self.rewrite(frame, out, mac);
                Verdict::To(out)
            }
            None => Verdict::Wait(neighbour),
        }
    }

    /// Writes new MAC addresses and one hop less into a frame that was checked.
    #[inline]
    pub(crate) fn rewrite(&self, frame: &mut Place<'_>, out: usize, neighbour: u64) {
        let Some(frame) = frame.first::<{ ETHERNET + 20 }>() else {
            return;
        };
        put_macs(frame, neighbour, self.interfaces[out].mac);
        if frame[12] == 0x08 {
            count_down(frame);
        } else {
            frame[ETHERNET + 7] -= 1;
        }
    }

    #[cold]
    fn hear_arp(&mut self, frame: &[u8], interface: usize) -> Verdict {
        let Some(arp) = Arp::parse(frame) else {
            return Verdict::Malformed;
        };
        let here = &self.interfaces[interface];
        let Some((own, len)) = here.v4 else {
            return Verdict::Consumed;
        };
        let sender_mac = number(arp.sender_mac);
        if is_multicast(sender_mac) || arp.sender_ip == own {
            return Verdict::Consumed;
        }
        // RFC 826: merge what is known already; add the sender only if we are the target.
        let on_link = network::same_network_v4(arp.sender_ip, own, len);
        let sender = IpAddr::V4(arp.sender_ip);
        let answer = (arp.is_request() && arp.target_ip == own).then(|| arp.reply(bytes(here.mac)).build());
        let learned = if on_link {
            self.whom(sender, interface, arp.target_ip == own)
        } else {
            None
        };
        said(answer, learned.map(|index| (index, sender_mac)))
    }

    #[cold]
    fn hear_discovery(&mut self, frame: &[u8], interface: usize) -> Option<Verdict> {
        let here = &self.interfaces[interface];
        let (own, len) = here.v6?;
        let heard = Discovery::parse(frame)?;
        if !heard.is_solicitation() {
            let known = if heard.target == own {
                None
            } else {
                self.whom(IpAddr::V6(heard.target), interface, false)
            };
            let mac = heard.link_layer.map(number).filter(|mac| !is_multicast(*mac));
            return Some(said(None, known.zip(mac)));
        }
        if heard.target != own && heard.target != link_local(bytes(here.mac)) {
            return Some(Verdict::Consumed);
        }
        let answer = heard.reply(bytes(here.mac), true).build();
        let on_link = network::same_network_v6(heard.source, own, len) && heard.source != own;
        let mac = heard.link_layer.map(number).filter(|mac| !is_multicast(*mac));
        let learned = match mac {
            Some(mac) if on_link => self.whom(IpAddr::V6(heard.source), interface, true).map(|index| (index, mac)),
            _ => None,
        };
        Some(said(Some(answer), learned))
    }

    /// The neighbour to learn about, on its own interface only. Without `add`, only one that is known or being asked for:
    /// an announcement makes no entry (RFC 826; RFC 4861 section 7.2.5).
    fn whom(&mut self, ip: IpAddr, interface: usize, add: bool) -> Option<usize> {
        match self.neighbours.find(ip) {
            Some(index) => {
                let known = self.neighbours.get(index);
                (known.interface == interface && (add || known.is_entry())).then_some(index)
            }
            None if add && self.neighbours.len() < LEARNED_LIMIT => Some(self.neighbours.add(ip, interface)),
            None => None,
        }
    }

    /// Port, tags, MAC address and IPv4 network of an interface.
    pub(crate) fn interface(&self, number: usize) -> (usize, Stack, Mac, Option<(Ipv4Addr, u8)>) {
        let it = &self.interfaces[number];
        (it.port, it.tags, bytes(it.mac), it.v4)
    }

    /// Takes in a routing update that came at `t` on `interface`: from a neighbour there, or it is not believed (RFC 2453 section
    /// 3.9.2).
    #[cold]
    pub(crate) fn update(&mut self, frame: &[u8], interface: usize, t: u64) {
        let (Some((own, len)), Some(update)) = (self.interfaces[interface].v4, Update::read(frame)) else {
            return;
        };
        let is_near = |address: Ipv4Addr| address != own && network::same_network_v4(address, own, len);
        if !is_near(update.from) {
            return;
        }
        let mut is_changed = false;
        for told in update.routes {
            // One who is not there himself is not gone through (section 4.4).
            let via = if is_near(told.via) { told.via } else { update.from };
            // A host that is only mentioned is no neighbour.
            let is_taken = self.rip.as_ref().is_some_and(|rip| rip.takes(told, update.from, interface));
            let neighbour = if is_taken { self.whom(via.into(), interface, true) } else { None };
            let (Some(neighbour), Some(rip)) = (neighbour, &mut self.rip) else {
                continue;
            };
            is_changed |= rip.take(told, update.from, neighbour, interface, t);
        }
        if is_changed {
            self.route();
        }
    }

    /// Removes the routes that no update confirmed by `t`.
    pub(crate) fn expire(&mut self, t: u64) {
        if self.rip.as_mut().is_some_and(|rip| rip.expire(t)) {
            self.route();
        }
    }

    /// Forgets what was learned on one port, or on all: neighbours and routes. The frames that waited have no way to go.
    pub(crate) fn forget(&mut self, port: Option<usize>) -> Vec<Frame> {
        let interfaces = &self.interfaces;
        let is_one = |interface: usize| port.is_none_or(|port| interfaces[interface].port == port);
        let is_changed = self.rip.as_mut().is_some_and(|rip| rip.forget(is_one));
        let waited = self.neighbours.forget(is_one);
        if is_changed {
            self.route();
        }
        waited
    }

    /// When it has to do something by itself.
    pub(crate) fn next_due(&self) -> u64 {
        self.rip.as_ref().map_or(u64::MAX, Rip::next_due).min(self.neighbours.next_due())
    }

    /// The table as a whole again: what a prefix covered is nowhere but in what was configured.
    fn route(&mut self) {
        let Some(rip) = &self.rip else { return };
        let hops = &mut self.hops;
        let prefixes = rip.prefixes(|neighbour| hops.number(Hop::Via(neighbour)));
        self.v4 = Trie::new(&prefixes);
    }

    /// The request for a neighbour, and the interface to send it from. `None` if that has no address to ask with.
    pub(crate) fn request(&self, neighbour: usize) -> Option<(usize, Vec<u8>)> {
        let neighbour = self.neighbours.get(neighbour);
        let here = &self.interfaces[neighbour.interface];
        let frame = match neighbour.ip {
            IpAddr::V4(target) => Arp::request(&[], bytes(here.mac), here.v4?.0, target).build(),
            IpAddr::V6(target) => Discovery::solicitation(&[], bytes(here.mac), here.v6?.0, target).build(),
        };
        Some((neighbour.interface, frame))
    }
}

/// What becomes of an IPv4 packet to the router itself, whose header has so many bytes.
#[cold]
fn local_v4(frame: &mut [u8], header: usize) -> Verdict {
    const UDP: u8 = 17;
    let is_whole = be16(frame, ETHERNET + 6) & 0x3fff == 0;
    let l4 = ETHERNET + header;
    if frame[ETHERNET + 9] == UDP && is_whole && frame.len() >= l4 + 8 && be16(frame, l4 + 2) == agent::PORT {
        return Verdict::Query;
    }
    if echo_reply(frame) { Verdict::Answer } else { Verdict::Consumed }
}

fn said(answer: Option<Vec<u8>>, learned: Option<(usize, u64)>) -> Verdict {
    if answer.is_none() && learned.is_none() {
        return Verdict::Consumed;
    }
    Verdict::Heard(Box::new(Heard { answer, learned }))
}

fn number(mac: Mac) -> u64 {
    header::mac(mac.0)
}

fn bytes(mac: u64) -> Mac {
    let mut bytes = Mac::default();
    put_mac(&mut bytes.0, 0, mac);
    bytes
}

/// Whether packets to IPv4 addresses that begin with `first` are routed: loopback, groups, reserved and broadcast addresses are not
/// (RFC 1812, section 5.3.7).
#[inline(always)]
fn is_routed(first: u8) -> bool {
    !matches!(first, 0 | 127 | 224..=255)
}

/// One hop less for an IPv4 packet, whose TTL is not 0.
#[inline(always)]
fn count_down(frame: &mut [u8; ETHERNET + 20]) {
    // RFC 1624, equation 3: HC' = ~(~HC + ~m + m'), m being the word of TTL and protocol. As m' is 0x0100 less, ~m + m' is the same
    // whatever m is.
    const LESS: u32 = 0xffff - 0x0100;
    let checksum = be16(frame, ETHERNET + 10);
    let changed = !header::fold(u32::from(!checksum) + LESS);
    frame[ETHERNET + 8] -= 1;
    frame[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&changed.to_be_bytes());
}

/// Sum of a header without options: ten words, no loop.
#[inline]
fn sum20(packet: &[u8; 20]) -> u16 {
    let words = u64::from(be32(packet, 0))
        + u64::from(be32(packet, 4))
        + u64::from(be32(packet, 8))
        + u64::from(be32(packet, 12))
        + u64::from(be32(packet, 16));
    header::fold(((words >> 32) + (words >> 16 & 0xffff) + (words & 0xffff)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lpm::Prefix;
    use netdyno_io::tail::Tail;
    use proptest::prelude::*;

    /// Port 0 is 02:00:00:00:00:0a, port 1 02:00:00:00:00:0b. 10/8 is routed to a neighbour that is known, 10.1/16 to one that is
    /// not, 10.2/16 is on the link of port 1 and 10.2.0.1 the router's own.
    fn router() -> Router {
        let mut neighbours = Neighbours::new();
        let known = neighbours.add([10, 2, 0, 2].into(), 1);
        neighbours.fix(known, 0x0200_0000_0099);
        let unknown = neighbours.add([10, 2, 0, 3].into(), 1);
        let prefix = |address, len, value| Prefix { address, len, value };
        let interface = |port, mac| Interface {
            port,
            mac,
            v4: None,
            v6: None,
            tags: crate::tags::Stack::default(),
        };
        let mut hops = Hops::new();
        for hop in [Hop::Via(known), Hop::Via(unknown), Hop::Connected(1), Hop::Local] {
            hops.number(hop);
        }
        Router {
            macs: vec![0x0200_0000_000a, 0x0200_0000_000b],
            interfaces: vec![interface(0, 0x0200_0000_000a), interface(1, 0x0200_0000_000b)],
            tagged: None,
            v4: Trie::new(&[
                prefix([10, 0, 0, 0], 8, 0),
                prefix([10, 1, 0, 0], 16, 1),
                prefix([10, 2, 0, 0], 16, 2),
                prefix([10, 2, 0, 1], 32, 3),
                prefix([127, 0, 0, 0], 8, 0),
                prefix([224, 0, 0, 0], 4, 0),
            ]),
            v6: Trie::new(&[]),
            hops,
            neighbours,
            rip: None,
        }
    }

    proptest! {
        /// The short way beside the other, of packets that are all right but for a byte or two, most often.
        #[test]
        fn frames_go_the_short_way_as_they_go_the_other(
            destination in prop::sample::select(vec![[10, 9, 9, 9], [10, 1, 1, 1], [10, 2, 0, 2], [10, 2, 0, 1], [127, 0, 0, 1], [224, 0, 0, 5], [11, 0, 0, 1]]),
            ttl in 0..4_u8,
            identification: u16,
            total in 18..50_u16,
            len in 0..80_usize,
            changes in prop::collection::vec((0..80_usize, any::<u8>()), 0..3),
            is_spoilt in any::<bool>(),
            port in 0..2_usize,
        ) {
            let mut frame = vec![0; 80];
            frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 10 + port as u8, 2, 0, 0, 0, 0, 1, 8, 0]);
            frame[14] = 0x45;
            frame[16..18].copy_from_slice(&total.to_be_bytes());
            frame[18..20].copy_from_slice(&identification.to_be_bytes());
            (frame[22], frame[23]) = (ttl, 17);
            frame[30..34].copy_from_slice(&destination);
            if !is_spoilt {
                changes.iter().for_each(|(at, byte)| frame[*at] = *byte);
            }
            let sum = !header::sum(&frame[14..34]);
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
            if is_spoilt {
                changes.iter().for_each(|(at, byte)| frame[*at] = *byte);
            }
            frame.truncate(len.max(34 - 20 * usize::from(len % 7 == 0)));
            let mut other = frame.clone();
            let (mut short, mut long) = (router(), router());
            let verdict = short.forward(&mut Place::new(&mut frame, &mut Tail::default()), port);
            prop_assert_eq!(verdict, long.forward_any(&mut Place::new(&mut other, &mut Tail::default()), port));
            prop_assert_eq!(frame, other);
        }
    }

    #[test]
    fn plain_packets_go_the_short_way() {
        // By a next hop, and to a host of a link.
        for destination in [[10, 9, 9, 9], [10, 2, 0, 2]] {
            let mut frame = vec![0; 60];
            frame[..15].copy_from_slice(&[2, 0, 0, 0, 0, 10, 2, 0, 0, 0, 0, 1, 8, 0, 0x45]);
            (frame[17], frame[22], frame[23]) = (46, 2, 17);
            frame[30..34].copy_from_slice(&destination);
            let sum = !header::sum(&frame[14..34]);
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
            let mut none = Tail::NONE;
            let mut place = Place::new(&mut frame, &mut none);
            assert_eq!(router().forward_plain(&mut place, 0), Some(1));
            assert_eq!((&frame[..6], frame[22]), (&[2, 0, 0, 0, 0, 0x99][..], 1));
        }
    }

    /// The checksum stays right, whatever it was: the one of 0xffff, which is as good as 0, too.
    #[test]
    fn checksums_stay_right_hop_by_hop() {
        for identification in 0..=u16::MAX {
            let mut frame = [0; 34];
            frame[12..15].copy_from_slice(&[8, 0, 0x45]);
            frame[18..20].copy_from_slice(&identification.to_be_bytes());
            (frame[22], frame[23]) = (64, 17);
            let sum = !header::sum(&frame[14..]);
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
            count_down(&mut frame);
            assert_eq!((header::sum(&frame[14..]), frame[22]), (0xffff, 63), "{identification}");
        }
    }
}
