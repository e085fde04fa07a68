//! From bytes to layers: where the headers of a frame lie. Never panics, whatever the bytes.

use crate::bytes::{array, be16};

/// Ethernet types.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// An 802.1Q tag.
    pub const VLAN: u16 = 0x8100;
    /// An 802.1ad service tag.
    pub const SERVICE_VLAN: u16 = 0x88a8;
    /// MPLS unicast.
    pub const MPLS: u16 = 0x8847;
    /// MPLS with upstream-assigned label (RFC 5332).
    pub const MPLS_UPSTREAM: u16 = 0x8848;
    /// A PPPoE session (RFC 2516).
    pub const PPPOE: u16 = 0x8864;
    /// Ethernet inside GRE (transparent Ethernet bridging).
    pub const BRIDGED: u16 = 0x6558;
    /// Local experimental (IEEE 802), for a probe right behind an Ethernet header or tag.
    pub const EXPERIMENTAL: u16 = 0x88b5;
}

/// IP protocol numbers.
pub mod protocol {
    /// IPv6 hop-by-hop options.
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// IPv4 in IP.
    pub const IPV4: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 in IP.
    pub const IPV6: u8 = 41;
    /// An IPv6 routing header.
    pub const ROUTING: u8 = 43;
    /// An IPv6 fragment header.
    pub const FRAGMENT: u8 = 44;
    /// GRE.
    pub const GRE: u8 = 47;
    /// An authentication header.
    pub const AUTHENTICATION: u8 = 51;
    /// ICMPv6.
    pub const ICMPV6: u8 = 58;
    /// IPv6 destination options.
    pub const DESTINATION_OPTIONS: u8 = 60;
    /// Ethernet in IPv6 (RFC 8986).
    pub const ETHERNET: u8 = 143;
    /// For experimentation (RFC 3692), for a probe right behind an IP header.
    pub const EXPERIMENTAL: u8 = 253;
}

/// PPP protocol numbers.
pub mod ppp {
    /// IPv4.
    pub const IPV4: u16 = 0x0021;
    /// IPv6.
    pub const IPV6: u16 = 0x0057;
    /// MPLS unicast.
    pub const MPLS: u16 = 0x0281;
}

/// UDP ports that carry VXLAN: IANA's, and the one Linux used before.
pub const VXLAN_PORTS: [u16; 2] = [4789, 8472];
/// The UDP port of GTP-U.
pub const GTPU_PORT: u16 = 2152;

/// Whether a UDP port carries a tunnel that is followed.
#[inline]
#[must_use]
pub const fn is_tunnel(port: u16) -> bool {
    // The low six bits rule out most ports in one step.
    TUNNELS >> (port & 63) & 1 == 1 && matches!(port, GTPU_PORT | 4789 | 8472)
}

/// Bit n: the low six bits of a tunnel's port are n.
const TUNNELS: u64 = 1 << (VXLAN_PORTS[0] & 63) | 1 << (VXLAN_PORTS[1] & 63) | 1 << (GTPU_PORT & 63);

/// A VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// Tag protocol identifier.
    pub tpid: u16,
    /// Tag control information: priority (3 bits), drop eligible (1), VLAN (12).
    pub tci: u16,
}

impl Tag {
    /// The VLAN, 0..4095.
    #[must_use]
    pub const fn vid(self) -> u16 {
        self.tci & 0x0fff
    }
}

/// One layer-3 packet in a frame. Offsets count from the frame's first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Where layer 3 begins.
    pub l3: u32,
    /// Where layer 4 begins (behind IP options and extension headers); same as `payload` if it is not IP.
    pub l4: u32,
    /// Where the payload of layer 4 begins (of the protocols in [`protocol`]; else same as `l4`).
    pub payload: u32,
    /// Where the packet ends by its own length field; what follows is padding.
    pub end: u32,
    /// 4 or 6; 0 if it is not IP.
    pub version: u8,
    /// The layer-4 protocol; 0 if it is not IP.
    pub protocol: u8,
    /// It is a fragment, so its layer 4 is not all here.
    pub fragment: bool,
    /// The frame holds all that the length fields claim.
    pub whole: bool,
}

/// Where a frame's layers lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// How many VLAN tags follow the outermost MAC addresses.
    pub tags: u8,
    /// How many MPLS labels follow those.
    pub labels: u8,
    /// The type behind the tags.
    pub ethertype: u16,
    /// Where the innermost Ethernet header lies (0 unless there is a tunnel that carries Ethernet).
    pub ethernet: u32,
    /// The outermost packet.
    pub outer: Packet,
    /// The innermost packet; the same as `outer` if there is no tunnel.
    pub inner: Packet,
    /// A type or protocol field announces IP, and what follows is no IP header.
    pub malformed: bool,
}

impl Layers {
    /// The outermost tags, from the outside in.
    pub fn tags<'a>(&self, frame: &'a [u8]) -> impl Iterator<Item = Tag> + use<'a> {
        (0..usize::from(self.tags)).map_while(move |index| {
            let [a, b, c, d] = *array::<4>(frame, 12 + 4 * index)?;
            Some(Tag {
                tpid: u16::from_be_bytes([a, b]),
                tci: u16::from_be_bytes([c, d]),
            })
        })
    }
}

/// Where the layers of `frame` lie; `None` if it is too short for an Ethernet header.
///
/// Follows VLAN tags of the usual TPIDs (and of any other that is followed, a tag further, by IP, ARP, MPLS or
/// another tag), PPPoE sessions, MPLS, IPv4 and IPv6 with options and extension headers, IP and Ethernet in IP, GRE, VXLAN
/// and GTP-U, and goes as deep as the bytes make sense.
#[inline]
#[must_use]
pub fn parse(frame: &[u8]) -> Option<Layers> {
    // Ethernet, IPv4 without options, unfragmented UDP: nearly every frame of a test.
    if let Some(head) = frame.first_chunk::<42>()
        && head[12] == 0x08
        && head[13] == 0x00
        && head[14] == 0x45
        && head[23] == protocol::UDP
        && head[20] & 0xbf == 0
        && head[21] == 0
    {
        let port = u16::from_be_bytes([head[36], head[37]]);
        let total = u32::from(u16::from_be_bytes([head[16], head[17]]));
        if !is_tunnel(port) && total >= 28 && 14 + total as usize <= frame.len() {
            let packet = Packet {
                l3: 14,
                l4: 34,
                payload: 42,
                end: 14 + total,
                version: 4,
                protocol: protocol::UDP,
                fragment: false,
                whole: true,
            };
            return Some(Layers {
                ethertype: ethertype::IPV4,
                outer: packet,
                inner: packet,
                ..Layers::default()
            });
        }
    }
    walk(frame)
}

/// What to look at next.
enum Next {
    Ethernet(usize),
    Mpls(usize),
    Ip(u8, usize),
    Nothing,
}

/// Encapsulations followed at most, so that hostile frames end.
const DEPTH: usize = 16;

#[inline(never)]
fn walk(frame: &[u8]) -> Option<Layers> {
    let mut layers = Layers::default();
    let mut first = true;
    let (mut kind, mut at, tags) = ethernet(frame, 0)?;
    (layers.tags, layers.ethertype) = (tags, kind);
    let mut next = after_type(frame, kind, at);
    layers.outer = opaque(frame, at);
    layers.inner = layers.outer;
    for _ in 0..DEPTH {
        match next {
            Next::Ethernet(start) => {
                let Some((inner_kind, inner_at, _)) = ethernet(frame, start) else {
                    break;
                };
                (kind, at) = (inner_kind, inner_at);
                layers.ethernet = start as u32;
                layers.inner = opaque(frame, at);
                next = after_type(frame, kind, at);
            }
            Next::Mpls(start) => {
                let (labels, behind) = labels(frame, start);
                if first {
                    layers.labels = labels;
                    layers.outer = opaque(frame, behind);
                }
                layers.inner = opaque(frame, behind);
                next = behind_labels(frame, behind);
            }
            Next::Ip(version, start) => {
                let Some(packet) = ip(frame, version, start) else {
                    layers.malformed = true;
                    break;
                };
                layers.inner = packet;
                if first {
                    layers.outer = packet;
                    first = false;
                }
                next = behind_l4(frame, &packet);
            }
            Next::Nothing => break,
        }
    }
    Some(layers)
}

/// A packet of which nothing is known but where it begins.
fn opaque(frame: &[u8], at: usize) -> Packet {
    let at = at.min(frame.len()) as u32;
    Packet {
        l3: at,
        l4: at,
        payload: at,
        end: frame.len() as u32,
        whole: true,
        ..Packet::default()
    }
}

/// The type behind the tags of the Ethernet header at `start`, where what it announces begins, how many tags.
fn ethernet(frame: &[u8], start: usize) -> Option<(u16, usize, u8)> {
    let mut at = start + 14;
    let mut kind = be16(frame, start + 12)?;
    let mut tags = 0;
    while tags < 8 && is_tag(frame, kind, at) {
        let Some(behind) = be16(frame, at + 2) else { break };
        (kind, at, tags) = (behind, at + 4, tags + 1);
    }
    Some((kind, at, tags))
}

/// Whether an Ethernet type announces a header that [`parse`] or a neighbour would look for.
pub(crate) fn announces_header(kind: u16) -> bool {
    kind != ethertype::EXPERIMENTAL && (is_usual_tpid(kind) || is_known(kind) || kind == ethertype::BRIDGED)
}

fn is_usual_tpid(kind: u16) -> bool {
    matches!(kind, ethertype::VLAN | ethertype::SERVICE_VLAN | 0x9100 | 0x9200 | 0x9300)
}

fn is_known(kind: u16) -> bool {
    matches!(
        kind,
        ethertype::IPV4
            | ethertype::ARP
            | ethertype::IPV6
            | ethertype::PPPOE
            | ethertype::MPLS
            | ethertype::MPLS_UPSTREAM
            | ethertype::EXPERIMENTAL
    )
}

/// Whether type `kind`, whose contents begin at `at`, is a tag's. One never heard of is taken for a TPID if the
/// type a tag further on is a known one and its contents agree.
fn is_tag(frame: &[u8], kind: u16, at: usize) -> bool {
    if is_usual_tpid(kind) {
        return true;
    }
    if kind < 0x0600 || is_known(kind) {
        return false;
    }
    match (be16(frame, at + 2), frame.get(at + 4)) {
        (Some(ethertype::IPV4), Some(byte)) => byte >> 4 == 4,
        (Some(ethertype::IPV6), Some(byte)) => byte >> 4 == 6,
        (Some(behind), Some(_)) => is_usual_tpid(behind) || is_known(behind),
        _ => false,
    }
}

fn after_type(frame: &[u8], kind: u16, at: usize) -> Next {
    match kind {
        ethertype::IPV4 => Next::Ip(4, at),
        ethertype::IPV6 => Next::Ip(6, at),
        ethertype::MPLS | ethertype::MPLS_UPSTREAM => Next::Mpls(at),
        ethertype::BRIDGED => Next::Ethernet(at),
        ethertype::PPPOE => session(frame, at),
        _ => Next::Nothing,
    }
}

/// What a PPPoE session (version 1, type 1, code 0) at `at` carries in its PPP.
fn session(frame: &[u8], at: usize) -> Next {
    match (array::<2>(frame, at), be16(frame, at + 6)) {
        (Some([0x11, 0]), Some(ppp::IPV4)) => Next::Ip(4, at + 8),
        (Some([0x11, 0]), Some(ppp::IPV6)) => Next::Ip(6, at + 8),
        (Some([0x11, 0]), Some(ppp::MPLS)) => Next::Mpls(at + 8),
        _ => Next::Nothing,
    }
}

/// How many labels the stack at `at` has, and what follows it.
fn labels(frame: &[u8], mut at: usize) -> (u8, usize) {
    let mut count = 0;
    while count < 16 {
        let Some(entry) = array::<4>(frame, at) else { break };
        (count, at) = (count + 1, at + 4);
        if entry[2] & 1 == 1 {
            break;
        }
    }
    (count, at)
}

/// A label stack does not say what it carries: IP by its version and plausible header, else Ethernet by a known
/// type, with or without a control word (RFC 4385, RFC 4448).
fn behind_labels(frame: &[u8], at: usize) -> Next {
    match frame.get(at).map(|byte| byte >> 4) {
        Some(version @ (4 | 6)) if ip(frame, version, at).is_some() => Next::Ip(version, at),
        // Where both fit, a first word of 0 is a control word's (RFC 4448 section 4.6), not a MAC address.
        Some(0) if is_ethernet(frame, at + 4) && (be16(frame, at) == Some(0) || !is_ethernet(frame, at)) => Next::Ethernet(at + 4),
        Some(_) if is_ethernet(frame, at) => Next::Ethernet(at),
        _ => Next::Nothing,
    }
}

/// Whether an Ethernet header may lie at `start`: its type is a known one, and what follows agrees.
fn is_ethernet(frame: &[u8], start: usize) -> bool {
    match (be16(frame, start + 12), frame.get(start + 14)) {
        (Some(ethertype::IPV4), Some(byte)) => byte >> 4 == 4,
        (Some(ethertype::IPV6), Some(byte)) => byte >> 4 == 6,
        (Some(ethertype::PPPOE), Some(byte)) => *byte == 0x11,
        (Some(kind), _) => is_known(kind) || is_usual_tpid(kind),
        _ => false,
    }
}

fn ip(frame: &[u8], version: u8, start: usize) -> Option<Packet> {
    let packet = if version == 4 { ipv4(frame, start) } else { ipv6(frame, start) };
    packet.map(|packet| Packet {
        payload: packet.l4 + l4_header(frame, &packet),
        ..packet
    })
}

fn ipv4(frame: &[u8], start: usize) -> Option<Packet> {
    let header = array::<20>(frame, start)?;
    let length = usize::from(header[0] & 0x0f) * 4;
    if header[0] >> 4 != 4 || length < 20 || start + length > frame.len() {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let whole = total >= length && start + total <= frame.len();
    Some(Packet {
        l3: start as u32,
        l4: (start + length) as u32,
        payload: 0,
        end: if whole { start + total } else { frame.len() } as u32,
        version: 4,
        protocol: header[9],
        fragment: u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0,
        whole,
    })
}

fn ipv6(frame: &[u8], start: usize) -> Option<Packet> {
    let header = array::<40>(frame, start)?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let whole = start + 40 + length <= frame.len();
    let end = if whole { start + 40 + length } else { frame.len() };
    let mut packet = Packet {
        l3: start as u32,
        l4: (start + 40) as u32,
        payload: 0,
        end: end as u32,
        version: 6,
        protocol: header[6],
        fragment: false,
        whole,
    };
    // Hop-by-hop, routing, fragment, authentication, destination options (RFC 8200 section 4).
    for _ in 0..8 {
        let at = packet.l4 as usize;
        let Some(&[next, size]) = array::<2>(&frame[..end], at) else {
            break;
        };
        let length = match packet.protocol {
            protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION_OPTIONS => (usize::from(size) + 1) * 8,
            protocol::FRAGMENT => 8,
            protocol::AUTHENTICATION => (usize::from(size) + 2) * 4,
            _ => break,
        };
        if at + length > end {
            break;
        }
        if packet.protocol == protocol::FRAGMENT {
            // An atomic fragment (offset 0, no more) is whole (RFC 6946).
            packet.fragment = be16(frame, at + 2).is_some_and(|offset| offset & 0xfff9 != 0);
        }
        (packet.protocol, packet.l4) = (next, (at + length) as u32);
        if packet.fragment {
            break;
        }
    }
    Some(packet)
}

/// Where the address of an IPv6 packet's final destination lies, that of a routing header with segments left (RFC 8200
/// section 8.1): `header` is all that stands before layer 4.
pub(crate) fn final_destination(header: &[u8]) -> usize {
    let (mut at, mut kind, mut destination) = (40, header.get(6).copied().unwrap_or(0), 24);
    while let Some(&[next, size, routing, left]) = array::<4>(header, at) {
        let length = match kind {
            protocol::FRAGMENT => 8,
            protocol::AUTHENTICATION => (usize::from(size) + 2) * 4,
            _ => (usize::from(size) + 1) * 8,
        };
        if kind == protocol::ROUTING && left > 0 && length >= 24 {
            // Segment routing lists its segments last to first (RFC 8754), all others first to last.
            destination = if routing == SEGMENT_ROUTING { at + 8 } else { at + length - 16 };
        }
        (kind, at) = (next, at + length);
    }
    destination
}

/// The routing type of segment routing.
const SEGMENT_ROUTING: u8 = 4;

/// Whether `packet`, a fragment, is the first, which has the layer-4 header.
fn is_first_fragment(frame: &[u8], packet: &Packet) -> bool {
    let (at, mask) = if packet.version == 4 {
        (packet.l3 as usize + 6, 0x1fff)
    } else {
        // The fragment header is the last that was followed.
        (packet.l4 as usize - 6, 0xfff8)
    };
    be16(frame, at).is_some_and(|word| word & mask == 0)
}

/// Length of the layer-4 header, 0 where there is none or it is not all here.
fn l4_header(frame: &[u8], packet: &Packet) -> u32 {
    if packet.fragment && !is_first_fragment(frame, packet) {
        return 0;
    }
    let rest = &frame[packet.l4 as usize..packet.end as usize];
    let length = match packet.protocol {
        protocol::UDP => 8,
        protocol::TCP => rest.get(12).map_or(0, |byte| u32::from(byte >> 4) * 4),
        protocol::ICMP if packet.version == 4 => 8,
        protocol::ICMPV6 if packet.version == 6 => 8,
        protocol::GRE => gre(rest).map_or(0, |(length, _)| length as u32),
        _ => 0,
    };
    if length as usize <= rest.len() { length } else { 0 }
}

/// Length of a GRE header (RFC 2784, RFC 2890) and the type of what follows.
fn gre(header: &[u8]) -> Option<(usize, u16)> {
    let flags = be16(header, 0)?;
    if flags & 0x4fff != 0 {
        return None; // source routing (RFC 1701), or not version 0
    }
    let options = (flags >> 15) + (flags >> 13 & 1) + (flags >> 12 & 1);
    Some((4 + 4 * usize::from(options), be16(header, 2)?))
}

fn behind_l4(frame: &[u8], packet: &Packet) -> Next {
    let (l4, payload) = (packet.l4 as usize, packet.payload as usize);
    if packet.fragment {
        return Next::Nothing;
    }
    match packet.protocol {
        protocol::IPV4 => Next::Ip(4, l4),
        protocol::IPV6 => Next::Ip(6, l4),
        protocol::GRE => gre(&frame[l4..]).map_or(Next::Nothing, |(_, kind)| after_type(frame, kind, payload)),
        protocol::ETHERNET if packet.version == 6 => Next::Ethernet(l4),
        protocol::UDP if payload == l4 + 8 => {
            let port = be16(frame, l4 + 2).unwrap_or(0);
            let is_vxlan =
                VXLAN_PORTS.contains(&port) && frame.get(payload).is_some_and(|flags| flags & 0x08 != 0) && payload + 22 <= frame.len();
            match port {
                _ if is_vxlan => Next::Ethernet(payload + 8),
                GTPU_PORT => gtpu(frame, payload),
                _ => Next::Nothing,
            }
        }
        _ => Next::Nothing,
    }
}

/// What a GTP-U header at `at` carries: IP by its version, if it is a user packet.
fn gtpu(frame: &[u8], at: usize) -> Next {
    let Some([flags, 0xff]) = array::<2>(frame, at) else {
        return Next::Nothing;
    };
    if flags >> 4 != 3 {
        return Next::Nothing; // not version 1, or GTP'
    }
    let mut behind = at + 8;
    if flags & 7 != 0 {
        behind += 4;
        let mut extended = flags & 4 != 0;
        // Extension headers: their length in units of four bytes first, the type of the next last.
        for _ in 0..DEPTH {
            if !extended || frame.get(behind - 1).is_none_or(|kind| *kind == 0) {
                break;
            }
            let length = 4 * usize::from(frame.get(behind).copied().unwrap_or(0));
            extended = length > 0;
            behind += length;
        }
    }
    match frame.get(behind).map(|byte| byte >> 4) {
        Some(version @ (4 | 6)) if ip(frame, version, behind).is_some() => Next::Ip(version, behind),
        _ => Next::Nothing,
    }
}
