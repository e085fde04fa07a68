//! Whose frames those are that are no test frames: another program's load, or what networks say of themselves and of a test.

use netdyno_frame::parse::{Layers, Packet, ethertype, parse, protocol};

/// Group addresses of bridges and their neighbours (IEEE 802.1Q table 8-1: BPDUs, LACP, LLDP, pause), and Cisco's.
const CONTROL: [[u8; 5]; 2] = [[0x01, 0x80, 0xc2, 0, 0], [0x01, 0, 0x0c, 0xcc, 0xcc]];
/// Below this an Ethernet type is a length, and what follows LLC: spanning tree, IS-IS.
const FIRST_TYPE: u16 = 0x0600;
/// LLDP, LACP and other slow protocols, 802.1X, PTP, CFM, MRP, a port's own loop test.
const CONTROL_TYPES: [u16; 9] = [ethertype::ARP, 0x88cc, 0x8809, 0x888e, 0x88f5, 0x88f6, 0x88f7, 0x8902, 0x9000];
/// What a tester's frame holds by which a bridge learns.
const LEARNING: &[u8] = b"netdyno learning";
/// TCP's flag of a connection that is refused: an answer to a frame.
const RESET: u8 = 4;
/// IGMP, EIGRP, OSPF, PIM, VRRP.
const ROUTING: [u8; 5] = [2, 88, 89, 103, 112];
/// BGP, LDP.
const SESSIONS: [u16; 2] = [179, 646];
/// DHCP, NTP, SNMP (which a test may ask for), PTP, syslog, RIP, RIPng, LDP, SSDP, HSRP, BFD, mDNS.
const SERVICES: [u16; 20] = [
    67, 68, 123, 161, 162, 319, 320, 514, 520, 521, 546, 547, 646, 1900, 1985, 2029, 3784, 3785, 4784, 5353,
];

/// Whether a router quotes a packet in `frame` that it did not pass on: an ICMP error.
#[cold]
#[must_use]
pub fn is_quoting(frame: &[u8]) -> bool {
    parse(frame).is_some_and(|layers| is_error(frame, &layers.outer))
}

/// Unreachable, quench, redirect, time exceeded, parameter problem (RFC 792); of ICMPv6 types 1 to 4 (RFC 4443 section 2.1).
fn is_error(frame: &[u8], packet: &Packet) -> bool {
    let kind = frame.get(packet.l4 as usize).copied().unwrap_or(0);
    match packet.protocol {
        protocol::ICMP => matches!(kind, 3..=5 | 11 | 12),
        protocol::ICMPV6 => matches!(kind, 1..=4),
        _ => false,
    }
}

/// Whether `frame` is load that is not of the test: not control of a network, and no answer to a test frame (ICMP errors).
#[must_use]
pub fn is_load(frame: &[u8], layers: &Layers) -> bool {
    let is_control =
        CONTROL.iter().any(|group| frame.starts_with(group)) || layers.ethertype < FIRST_TYPE || CONTROL_TYPES.contains(&layers.ethertype);
    let is_learning = frame.get(layers.outer.l3 as usize..).is_some_and(|rest| rest.starts_with(LEARNING));
    !is_control && !is_learning && is_load_of_ip(frame, &layers.outer)
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
        protocol::ICMP => !is_error(frame, packet),
        // Multicast listeners and neighbour discovery (RFC 4861).
        protocol::ICMPV6 => !is_error(frame, packet) && !matches!(kind, 130..=143),
        protocol::TCP => !is_between(&SESSIONS) && frame.get(l4 + 13).is_none_or(|flags| flags & RESET == 0),
        protocol::UDP => !is_between(&SERVICES),
        other => !(packet.version != 0 && ROUTING.contains(&other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netdyno_frame::parse::parse;

    /// Bytes of an Ethernet header from a host to a group or a host, and what follows it.
    fn frame(to: &str, rest: &str) -> Vec<u8> {
        let text = format!("{to}02000000000a{rest}");
        let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
        let mut frame: Vec<u8> = (0..text.len()).step_by(2).map(byte).collect();
        frame.resize(60, 0);
        frame
    }

    /// An IPv4 packet of protocol `protocol` (hex) with this behind its header.
    fn ipv4(protocol: &str, rest: &str) -> String {
        format!("08004500002e00004000ff{protocol}00000a0000010a000002{rest}")
    }

    fn is_load_of(to: &str, rest: &str) -> bool {
        let frame = frame(to, rest);
        is_load(&frame, &parse(&frame).expect("an Ethernet header"))
    }

    #[test]
    fn control_of_networks_and_answers_to_frames_are_no_load() {
        let host = "020000000001";
        for (what, to, rest) in [
            ("ARP", "ffffffffffff", "08060001080006040001".to_string()),
            ("LLDP", "0180c200000e", "88cc0207".to_string()),
            ("LACP", "0180c2000002", "8809010101".to_string()),
            ("spanning tree", "0180c2000000", "0026424203".to_string()),
            ("CDP", "01000ccccccc", "0040aaaa03".to_string()),
            ("IS-IS", "09002b000005", "0040fefe03".to_string()),
            ("OSPF", "01005e000005", ipv4("59", "0201")),
            ("VRRP", "01005e000012", ipv4("70", "21")),
            ("IGMP", "01005e000016", ipv4("02", "22")),
            ("unreachable", host, ipv4("01", "0301")),
            ("time exceeded", host, ipv4("01", "0b00")),
            ("BGP", host, ipv4("06", "00b3c001")),
            ("a refusal", host, ipv4("06", "0050c0000000000000000000501400000000")),
            ("PTP", "011b19000000", "88f70002".to_string()),
            ("learning", host, format!("88b5{}", "6e657464796e6f206c6561726e696e67")),
            ("BFD", host, ipv4("11", "c0000ec8")),
            ("an SNMP answer", host, ipv4("11", "00a1c000")),
            (
                "neighbour solicitation",
                "3333ff000001",
                format!("86dd6000000000203aff{}{}", "0".repeat(64), "8700"),
            ),
        ] {
            assert!(!is_load_of(to, &rest), "{what}");
        }
    }

    #[test]
    fn data_of_other_programs_are_load() {
        let host = "020000000001";
        for (what, rest) in [
            ("UDP", ipv4("11", "c0001389")),
            ("TCP", ipv4("06", "c0001451")),
            ("a ping", ipv4("01", "0800")),
            ("a ping of version 6", format!("86dd6000000000203a40{}{}", "0".repeat(64), "8000")),
            ("an unknown type", "88b50000".to_string()),
        ] {
            assert!(is_load_of(host, &rest), "{what}");
        }
    }
}
