//! Which of the frames that come in are a trial's, in words that a port understands that shares its interface with the
//! kernel: test frames, and what is asked of or answered to the tester as a host. All others stay the kernel's.

use super::compile::{frames, stream_seed};
use crate::host::Network;
use crate::receive::Signature;
use crate::spec::{Destination, TrialSpec};
use netdyno_frame::nd::{ALL_NODES, link_local};
use netdyno_frame::parse::{Layers, Packet, ethertype, parse, protocol};
use netdyno_frame::probe::{MAGIC, PROBE_BYTES};
use netdyno_io::claim::{ByteIs, Claim, SumIs};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// MPLS labels a device may put before a test frame, which is then still known as one.
const LABELS: u16 = 3;
const LABEL_BYTES: u16 = 4;
/// Bits that all frames of a stream share in addresses and ports, at least, or its broken frames cannot be distinguished from
/// strangers: they stay the kernel's, and count as lost.
const SHARED_BITS: u32 = 32;

/// What each port of `spec` claims. A stream or address that is no good claims nothing: the trial itself says why.
///
/// A test frame is known by its probe, where the device left it in the packet: it may have come to another port than was
/// intended, with other tags, up to three MPLS labels, without the outer packet of a tunnel, translated addresses. One
/// whose probe is broken is known, where it should arrive, by what all frames of its stream share. What a device has put
/// into a tunnel is not known again.
#[must_use]
pub fn claims(spec: &TrialSpec) -> Vec<Vec<Claim>> {
    let mut probes = BTreeSet::new();
    let mut own: Vec<BTreeSet<Claim>> = spec.ports.iter().map(|_| BTreeSet::new()).collect();
    for (index, (port, own)) in spec.ports.iter().zip(&mut own).enumerate() {
        if let Some(IpAddr::V4(address)) = port.ipv4.as_deref().and_then(address) {
            own.extend(datagrams(&port.listens, u32::from(address), u32::MAX));
        }
        for network in port.behind.iter().filter_map(|text| Network::read(text)) {
            own.extend(datagrams(&port.listens, network.address, network.mask));
        }
        let vlans = port.vlans.iter().flat_map(|vlan| [&vlan.ipv4, &vlan.ipv6]);
        let texts = [&port.ipv4, &port.ipv6].into_iter().chain(vlans).flatten();
        own.extend(texts.filter_map(|text| address(text)).flat_map(host));
        for hop in next_hops(spec, index) {
            own.insert(news(hop));
            // Who asks a link-local next hop does so from the port's own such address; else that stays the kernel's, whose
            // routing protocols live on it.
            if matches!(hop, IpAddr::V6(hop) if hop.is_unicast_link_local()) {
                own.extend(port.mac.parse().into_iter().flat_map(|mac| host(link_local(mac).into())));
            }
        }
    }
    for (index, stream) in spec.streams.iter().enumerate() {
        let Ok(template) = frames(stream, stream_seed(spec.seed, index)) else {
            continue;
        };
        let frame = template.frame(0, 0, 0, 0);
        let Some(layers) = parse(&frame) else { continue };
        for packet in [&layers.outer, &layers.inner].into_iter().filter(|_| stream.probe) {
            let probe_at = template.probe_offset().checked_sub(packet.l3);
            probes.extend(probe_at.into_iter().flat_map(|at| probe(&layers, packet, at as u16)));
        }
        let broken = signature(&layers, &Signature::new(&template, stream.sizes.len()));
        let home = spec.home_of(stream.rx_port);
        let here = (0..).zip(&mut own).filter(|(port, _)| spec.home_of(*port) == home);
        here.for_each(|(_, own)| own.extend(broken.clone()));
    }
    // Probes first: nearly every frame is one.
    own.into_iter().map(|own| probes.iter().cloned().chain(own).collect()).collect()
}

/// UDP datagrams to these ports of the hosts whose addresses agree with `address` in the bits of `mask`.
fn datagrams(ports: &[u16], address: u32, mask: u32) -> impl Iterator<Item = Claim> {
    let mut datagram = Claim::of_type(ethertype::IPV4).and(0, &[0x45]).and(9, &[protocol::UDP]);
    let bits = address.to_be_bytes().into_iter().zip(mask.to_be_bytes());
    let compared = (16..).zip(bits).filter(|(_, (_, mask))| *mask > 0);
    datagram.bytes.extend(compared.map(|(at, (value, mask))| ByteIs {
        at,
        mask,
        value: value & mask,
    }));
    ports.iter().map(move |to| datagram.clone().and(22, &to.to_be_bytes()))
}

fn address(text: &str) -> Option<IpAddr> {
    text.split('/').next().and_then(|text| text.parse().ok())
}

/// The next hops of port `index`.
fn next_hops(spec: &TrialSpec, index: usize) -> BTreeSet<IpAddr> {
    let port = &spec.ports[index];
    let gateways = port
        .gateway
        .iter()
        .chain(port.vlans.iter().filter_map(|vlan| vlan.gateway.as_ref()));
    let sent = spec.streams.iter().filter(|stream| stream.tx_port == index);
    let destinations = sent.filter_map(|stream| match &stream.destination {
        Destination::Gateway(address) => Some(address),
        _ => None,
    });
    gateways.chain(destinations).filter_map(|text| address(text)).collect()
}

/// What a next hop says to everybody of itself: that it has another MAC address now (RFC 5227 section 2.3, RFC 4861
/// section 7.2.6).
fn news(hop: IpAddr) -> Claim {
    match hop {
        IpAddr::V4(hop) => Claim::of_type(ethertype::ARP).and(14, &hop.octets()).and(24, &hop.octets()),
        IpAddr::V6(hop) => Claim::of_type(ethertype::IPV6)
            .and(6, &[protocol::ICMPV6])
            .and(24, &ALL_NODES.octets())
            .and(40, &[136])
            .and(48, &hop.octets()),
    }
}

/// The type behind the tags, and how far into what it announces `packet` begins as sent; `None` if [`announced`] says the same,
/// because nothing but labels lies between (PPPoE does, and Ethernet in MPLS).
fn enclosed(layers: &Layers, packet: &Packet) -> Option<(u16, u16)> {
    let start = (packet.l3 as u16).checked_sub(u16::from(layers.tags) * 4 + 14)?;
    let is_enclosed = packet.version != 0 && packet.l3 == layers.outer.l3 && start != u16::from(layers.labels) * LABEL_BYTES;
    is_enclosed.then_some((layers.ethertype, start))
}

/// The type before `packet`, where that is IP, and how far into what the type announces it then begins.
fn announced(layers: &Layers, packet: &Packet, labels: u16) -> (u16, u16) {
    let kind = match (labels, packet.version) {
        (1.., _) => ethertype::MPLS,
        (0, 4) => ethertype::IPV4,
        (0, 6) => ethertype::IPV6,
        (0, _) => layers.ethertype,
    };
    (kind, labels * LABEL_BYTES)
}

/// Frames whose probe lies `at` bytes into `packet`.
fn probe(layers: &Layers, packet: &Packet, at: u16) -> Vec<Claim> {
    let sent = u16::from(layers.labels);
    let labels = if packet.version == 0 { sent..=sent } else { 0..=sent.max(LABELS) };
    let claim = |(kind, start): (u16, u16)| {
        let claim = Claim {
            sum: Some(SumIs {
                at: start + at,
                words: PROBE_BYTES as u16 / 2,
                sum: MAGIC,
            }),
            ..Claim::of_type(kind)
        };
        // One of 65,535 strangers has such a sum: fewer strangers are asked for theirs.
        match packet.version {
            4 => claim.and(start + 9, &[packet.protocol]),
            6 if packet.l4 == packet.l3 + 40 => claim.and(start + 6, &[packet.protocol]),
            _ => claim,
        }
    };
    let bare = labels.map(|labels| announced(layers, packet, labels));
    bare.chain(enclosed(layers, packet)).map(claim).collect()
}

/// Frames that look like those of a stream.
fn signature(layers: &Layers, signature: &Signature) -> Option<Claim> {
    let addresses = match layers.outer.version {
        4 => 12,
        6 => 8,
        _ => return None,
    };
    let shared = || signature.shared().filter(|(_, mask, _)| *mask != 0);
    let bits: u32 = shared()
        .filter(|(at, ..)| *at >= addresses)
        .map(|(_, mask, _)| mask.count_ones())
        .sum();
    let (kind, start) = enclosed(layers, &layers.outer).unwrap_or_else(|| announced(layers, &layers.outer, layers.labels.into()));
    let bytes = shared().map(|(at, mask, value)| ByteIs {
        at: start + at as u16,
        mask,
        value: value & mask,
    });
    (bits >= SHARED_BITS).then(|| Claim {
        bytes: bytes.collect(),
        ..Claim::of_type(kind)
    })
}

/// What is asked of a host, `address`, and answered to it: ARP or ND, and echo requests. Not other traffic to the address,
/// which the kernel may have too.
fn host(address: IpAddr) -> Vec<Claim> {
    match address {
        IpAddr::V4(address) => {
            let own = address.octets();
            let echo = Claim::of_type(ethertype::IPV4).and(0, &[0x45]).and(9, &[protocol::ICMP]);
            vec![
                // The target, of both questions and answers (RFC 826).
                Claim::of_type(ethertype::ARP).and(24, &own),
                echo.and(16, &own).and(20, &[8]),
            ]
        }
        IpAddr::V6(address) => {
            let own = address.octets();
            let message = |kind| Claim::of_type(ethertype::IPV6).and(6, &[protocol::ICMPV6]).and(40, &[kind]);
            vec![
                // A solicitation is for its target, everything else for its destination (RFC 4861 section 4), but for
                // somebody else who says he is us.
                message(135).and(48, &own),
                message(136).and(24, &own),
                message(136).and(48, &own),
                message(128).and(24, &own),
            ]
        }
    }
}
