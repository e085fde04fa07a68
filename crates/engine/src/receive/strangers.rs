//! Whose frames those are that are no test frames: another program's load, or what networks say of themselves and of a test.

use netdyno_frame::parse::{Layers, Packet, ethertype, protocol};

/// Group addresses of bridges and their neighbours (IEEE 802.1Q table 8-1: BPDUs, LACP, LLDP, pause), and Cisco's.
const CONTROL: [[u8; 5]; 2] = [[0x01, 0x80, 0xc2, 0, 0], [0x01, 0, 0x0c, 0xcc, 0xcc]];
/// Below this an Ethernet type is a length, and what follows LLC: spanning tree, IS-IS.
const FIRST_TYPE: u16 = 0x0600;
/// LLDP, LACP and other slow protocols, 802.1X, a port's own loop test.
const CONTROL_TYPES: [u16; 5] = [ethertype::ARP, 0x88cc, 0x8809, 0x888e, 0x9000];
/// IGMP, EIGRP, OSPF, PIM, VRRP.
const ROUTING: [u8; 5] = [2, 88, 89, 103, 112];
/// BGP, LDP.
const SESSIONS: [u16; 2] = [179, 646];
/// DHCP, SNMP (which a test may ask for), RIP, RIPng, LDP, HSRP, BFD.
const SERVICES: [u16; 10] = [67, 68, 161, 520, 521, 646, 1985, 3784, 3785, 4784];

/// Whether `frame` is load that is not of the test: not control of a network, and no answer to a test frame (ICMP errors).
#[must_use]
pub fn is_load(frame: &[u8], layers: &Layers) -> bool {
    let is_control =
        CONTROL.iter().any(|group| frame.starts_with(group)) || layers.ethertype < FIRST_TYPE || CONTROL_TYPES.contains(&layers.ethertype);
    !is_control && is_load_of_ip(frame, &layers.outer)
}

fn is_load_of_ip(frame: &[u8], packet: &Packet) -> bool {
    let l4 = packet.l4 as usize;
    let port = |at: usize| {
        frame
            .get(l4 + at..l4 + at + 2)
            .map_or(0, |port| u16::from_be_bytes([port[0], port[1]]))
    };
    let is_between = |known: &[u16]| !packet.fragment && (known.contains(&port(0)) || known.contains(&port(2)));
    let kind = frame.get(l4).copied().unwrap_or(0);
    match packet.protocol {
        // Unreachable, quench, redirect, time exceeded, parameter problem (RFC 792).
        protocol::ICMP => !matches!(kind, 3..=5 | 11 | 12),
        // Errors (RFC 4443), multicast listeners and neighbour discovery (RFC 4861).
        protocol::ICMPV6 => !matches!(kind, 1..=4 | 130..=143),
        protocol::TCP => !is_between(&SESSIONS),
        protocol::UDP => !is_between(&SERVICES),
        other => !(packet.version != 0 && ROUTING.contains(&other)),
    }
}
