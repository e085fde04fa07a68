//! A header stack laid out: where every field, length and checksum lies, and the frame of any flow built from
//! scratch. The hot path in [`crate::template`] starts from these frames and must end at the same bytes.

use crate::bytes::put;
use crate::checksum::{finish, finish_udp, pseudo_header, sum};
use crate::parse::{ethertype, protocol};
use crate::probe::{PROBE_BYTES, Probe};
use crate::spec::{Field, Header, Mac};
use crate::vary::{Place, Source};
use crate::{FCS_BYTES, FrameError, MINIMUM_SIZE};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Headers a stack may have; none has more than one checksum. A power of two.
pub(crate) const MOST_HEADERS: usize = 16;

/// What a field's number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Mac,
    Ipv4,
    Ipv6,
}

impl Kind {
    pub fn show(self, value: u128) -> String {
        match self {
            Self::Number => value.to_string(),
            Self::Mac => mac(value).to_string(),
            Self::Ipv4 => Ipv4Addr::from(value as u32).to_string(),
            Self::Ipv6 => Ipv6Addr::from(value).to_string(),
        }
    }
}

pub(crate) fn mac(value: u128) -> Mac {
    let [.., a, b, c, d, e, f] = value.to_be_bytes();
    Mac([a, b, c, d, e, f])
}

/// A field that a plan may let vary.
#[derive(Clone, Debug)]
pub(crate) struct StackField {
    pub header: usize,
    pub field: &'static str,
    pub kind: Kind,
    pub offset: usize,
    /// 2, 4, 6 or 16 bytes that hold the value, shifted left, and other bits.
    pub width: usize,
    pub shift: u32,
    pub source: Source,
}

/// A 16-bit length field: what lies from `from` to the end of the frame.
#[derive(Clone, Copy, Debug)]
struct Length {
    offset: usize,
    from: usize,
}

/// A checksum field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    pub offset: usize,
    /// What it covers begins here ...
    pub start: usize,
    /// ... and ends here, or with the frame.
    pub end: Option<usize>,
    /// IP version, offset of the IP header and protocol of the pseudo-header, if there is one.
    pub pseudo: Option<(u8, usize, u8)>,
    /// 0 is written as 0xffff.
    pub udp: bool,
}

impl Checksum {
    /// Whether a field at `offset` counts in this checksum.
    pub fn covers(&self, offset: usize) -> bool {
        let inside = offset >= self.start && self.end.is_none_or(|end| offset < end);
        let addressed = self.pseudo.is_some_and(|(version, l3, _)| {
            let addresses = if version == 4 { l3 + 12..l3 + 20 } else { l3 + 8..l3 + 40 };
            addresses.contains(&offset)
        });
        inside || addressed
    }
}

/// A stack laid out.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Header bytes; fields, lengths and checksums are zero.
    bytes: Vec<u8>,
    pub fields: Vec<StackField>,
    lengths: Vec<Length>,
    /// From the outside in.
    pub checksums: Vec<Checksum>,
    /// Offset of an ICMP echo header's sequence number, which follows the frame's.
    pub echo_sequence: Option<usize>,
}

/// Returns the size (FCS counted) of the smallest frame with these headers and a probe.
pub(crate) fn minimum_size(headers: &[Header]) -> u32 {
    let bytes: usize = headers.iter().map(header_bytes).sum();
    (bytes as u32 + PROBE_BYTES as u32 + FCS_BYTES).max(MINIMUM_SIZE)
}

fn header_bytes(header: &Header) -> usize {
    match header {
        Header::Ethernet { .. } => 14,
        Header::Vlan { .. } | Header::Mpls { .. } => 4,
        Header::Ipv4 { .. } | Header::Tcp { .. } => 20,
        Header::Ipv6 { .. } => 40,
        Header::Udp { .. } | Header::Echo { .. } | Header::Vxlan { .. } => 8,
        Header::Gre { key } => 4 + 4 * usize::from(key.is_some()),
    }
}

pub(crate) fn name(header: &Header) -> &'static str {
    match header {
        Header::Ethernet { .. } => "ethernet",
        Header::Vlan { .. } => "vlan",
        Header::Mpls { .. } => "mpls",
        Header::Ipv4 { .. } => "ipv4",
        Header::Ipv6 { .. } => "ipv6",
        Header::Udp { .. } => "udp",
        Header::Tcp { .. } => "tcp",
        Header::Echo { .. } => "echo",
        Header::Vxlan { .. } => "vxlan",
        Header::Gre { .. } => "gre",
    }
}

/// What may follow `header`, as the plan names it; `""` is the payload.
fn followers(header: &Header) -> &'static [&'static str] {
    match header {
        Header::Ethernet { .. } | Header::Vlan { .. } => &["vlan", "mpls", "ipv4", "ipv6", ""],
        Header::Mpls { .. } => &["mpls", "ipv4", "ipv6", "ethernet"],
        Header::Ipv4 { .. } | Header::Ipv6 { .. } => &["udp", "tcp", "echo", "gre", "ipv4", "ipv6", ""],
        Header::Udp { .. } => &["vxlan", ""],
        Header::Tcp { .. } | Header::Echo { .. } => &[""],
        Header::Vxlan { .. } => &["ethernet"],
        Header::Gre { .. } => &["ipv4", "ipv6", "ethernet", "mpls"],
    }
}

fn check_order(headers: &[Header]) -> Result<(), FrameError> {
    let Some(first) = headers.first() else {
        return Err(FrameError::stack("there are no headers", "start with an ethernet header"));
    };
    if !matches!(first, Header::Ethernet { .. }) {
        let why = format!("a frame cannot begin with {}", name(first));
        return Err(FrameError::header(0, name(first), why, "put an ethernet header first"));
    }
    if headers.len() > MOST_HEADERS {
        return Err(FrameError::stack(
            format!("{} headers", headers.len()),
            format!("at most {MOST_HEADERS} are supported"),
        ));
    }
    for (index, header) in headers.iter().enumerate() {
        let next = headers.get(index + 1).map_or("", name);
        let allowed = followers(header);
        if allowed.contains(&next) {
            continue;
        }
        let carried: Vec<&str> = allowed.iter().map(|name| if name.is_empty() { "nothing" } else { name }).collect();
        let hint = format!("{} may be followed by {}", name(header), carried.join(", "));
        return Err(if next.is_empty() {
            FrameError::header(index, name(header), "carries nothing", hint)
        } else {
            FrameError::header(index + 1, next, format!("cannot follow {}", name(header)), hint)
        });
    }
    Ok(())
}

/// The Ethernet type that announces `next`.
fn type_of(next: Option<&Header>) -> u16 {
    match next {
        Some(Header::Vlan { tpid, .. }) => *tpid,
        Some(Header::Mpls { .. }) => ethertype::MPLS,
        Some(Header::Ipv4 { .. }) => ethertype::IPV4,
        Some(Header::Ipv6 { .. }) => ethertype::IPV6,
        Some(Header::Ethernet { .. }) => ethertype::BRIDGED,
        _ => ethertype::EXPERIMENTAL,
    }
}

/// The protocol number that announces `next` behind an IP header.
fn protocol_of(next: Option<&Header>, version: u8) -> u8 {
    match next {
        Some(Header::Udp { .. }) => protocol::UDP,
        Some(Header::Tcp { .. }) => protocol::TCP,
        Some(Header::Echo { .. }) if version == 4 => protocol::ICMP,
        Some(Header::Echo { .. }) => protocol::ICMPV6,
        Some(Header::Gre { .. }) => protocol::GRE,
        Some(Header::Ipv4 { .. }) => protocol::IPV4,
        Some(Header::Ipv6 { .. }) => protocol::IPV6,
        _ => protocol::EXPERIMENTAL,
    }
}

/// Lays out one header after the other.
struct Builder<'a> {
    headers: &'a [Header],
    seed: u64,
    index: usize,
    /// Where the header at `index` begins.
    at: usize,
    /// Version and offset of the IP header that the next layer-4 header belongs to.
    ip: Option<(u8, usize)>,
    stack: Stack,
}

impl Stack {
    pub fn new(headers: &[Header], seed: u64) -> Result<Self, FrameError> {
        check_order(headers)?;
        let stack = Self {
            bytes: vec![0; headers.iter().map(header_bytes).sum()],
            fields: Vec::new(),
            lengths: Vec::new(),
            checksums: Vec::new(),
            echo_sequence: None,
        };
        let mut builder = Builder {
            headers,
            seed,
            index: 0,
            at: 0,
            ip: None,
            stack,
        };
        for (index, header) in headers.iter().enumerate() {
            builder.index = index;
            builder.add(header)?;
            builder.at += header_bytes(header);
        }
        Ok(builder.stack)
    }

    /// Where the payload, and in it the probe, begins.
    pub fn payload(&self) -> usize {
        self.bytes.len()
    }

    /// The frame of `size` bytes (FCS counted) whose varying fields hold `values` (in the order of `fields`) and whose
    /// probe is `probe`, with every checksum computed from scratch.
    pub fn frame(&self, size: u32, values: &[u128], probe: Probe) -> Vec<u8> {
        let mut frame = vec![0; (size - FCS_BYTES) as usize];
        frame[..self.payload()].copy_from_slice(&self.bytes);
        let end = frame.len();
        for (field, value) in self.fields.iter().zip(values) {
            field.write(&mut frame, *value);
        }
        for length in &self.lengths {
            put(&mut frame, length.offset, ((end - length.from) as u16).to_be_bytes());
        }
        if let Some(at) = self.echo_sequence {
            put(&mut frame, at, (probe.sequence as u16).to_be_bytes());
        }
        probe.write(&mut frame[self.payload()..]);
        // RFC 2544 appendix C.2.6.4: the data are bytes that count up.
        for (byte, number) in frame[self.payload() + PROBE_BYTES..].iter_mut().zip((0..=255).cycle()) {
            *byte = number;
        }
        for checksum in self.checksums.iter().rev() {
            let partial = self.partial(checksum, &frame);
            let value = if checksum.udp { finish_udp(partial) } else { finish(partial) };
            put(&mut frame, checksum.offset, value.to_be_bytes());
        }
        frame
    }

    /// The sum that `checksum` is the complement of, over the bytes of `frame` as they are.
    pub fn partial(&self, checksum: &Checksum, frame: &[u8]) -> u64 {
        let covered = &frame[checksum.start..checksum.end.unwrap_or(frame.len())];
        let pseudo = checksum.pseudo.map_or(0, |(version, l3, protocol)| {
            pseudo_header(version, &frame[l3..], protocol, covered.len() as u32)
        });
        pseudo + sum(covered)
    }
}

impl StackField {
    /// Writes `value` among the other bits of its bytes.
    pub fn write(&self, frame: &mut [u8], value: u128) {
        let (at, shifted) = (self.offset, value << self.shift);
        let bytes = shifted.to_be_bytes();
        for (to, from) in frame[at..at + self.width].iter_mut().zip(&bytes[16 - self.width..]) {
            *to |= from;
        }
    }
}

impl Builder<'_> {
    fn error(&self, field: &'static str, why: impl Into<String>, hint: impl Into<String>) -> FrameError {
        FrameError::field(self.index, name(&self.headers[self.index]), field, why, hint)
    }

    fn next(&self) -> Option<&Header> {
        self.headers.get(self.index + 1)
    }

    fn put<const N: usize>(&mut self, offset: usize, bytes: [u8; N]) {
        put(&mut self.stack.bytes, self.at + offset, bytes);
    }

    /// `value` if it is at most `max`.
    fn fit(&self, field: &'static str, value: u32, max: u32) -> Result<u32, FrameError> {
        if value <= max {
            Ok(value)
        } else {
            Err(self.error(field, format!("{value} does not fit"), format!("at most {max}")))
        }
    }

    #[allow(clippy::too_many_arguments)] // one call a field, each with all that there is to say about it
    fn field<T: Copy>(
        &mut self,
        field: &'static str,
        kind: Kind,
        source: &Field<T>,
        number: impl Fn(T) -> u128,
        offset: usize,
        width: usize,
        (bits, shift): (u32, u32),
    ) -> Result<(), FrameError> {
        let max = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
        let place = Place {
            header: self.index,
            name: name(&self.headers[self.index]),
            field,
            max,
            seed: self.seed,
        };
        let source = Source::new(source, &place, number, |value| kind.show(value))?;
        let offset = self.at + offset;
        self.stack.fields.push(StackField {
            header: self.index,
            field,
            kind,
            offset,
            width,
            shift,
            source,
        });
        Ok(())
    }

    fn add(&mut self, header: &Header) -> Result<(), FrameError> {
        match header {
            Header::Ethernet { src, dst } => {
                self.mac("dst", dst, 0)?;
                self.mac("src", src, 6)?;
                self.refuse_multicast_source()?;
                self.put(12, type_of(self.next()).to_be_bytes());
                self.ip = None;
            }
            Header::Vlan { tpid, vid, pcp, dei } => {
                if *tpid < 0x0600 || [ethertype::IPV4, ethertype::IPV6, ethertype::ARP, ethertype::MPLS].contains(tpid) {
                    let why = format!("{tpid:#06x} is not a tag protocol identifier");
                    return Err(self.error("tpid", why, "0x8100 (802.1Q), 0x88a8 (802.1ad) or another type above 0x05ff"));
                }
                let pcp = self.fit("pcp", u32::from(*pcp), 7)?;
                self.put(0, ((pcp as u16) << 13 | u16::from(*dei) << 12).to_be_bytes());
                self.field("vid", Kind::Number, vid, u128::from, 0, 2, (12, 0))?;
                self.put(2, type_of(self.next()).to_be_bytes());
            }
            Header::Mpls { label, tc, ttl } => {
                let bottom = !matches!(self.next(), Some(Header::Mpls { .. }));
                let tc = self.fit("tc", u32::from(*tc), 7)?;
                self.put(0, (tc << 9 | u32::from(bottom) << 8 | u32::from(*ttl)).to_be_bytes());
                self.field("label", Kind::Number, label, u128::from, 0, 4, (20, 12))?;
            }
            Header::Ipv4 { src, dst, dscp, ttl } => {
                let dscp = self.fit("dscp", u32::from(*dscp), 63)?;
                let protocol = protocol_of(self.next(), 4);
                self.put(0, [0x45, (dscp << 2) as u8]);
                self.put(8, [*ttl, protocol]);
                let number = |address: Ipv4Addr| u128::from(u32::from(address));
                self.field("src", Kind::Ipv4, src, number, 12, 4, (32, 0))?;
                self.field("dst", Kind::Ipv4, dst, number, 16, 4, (32, 0))?;
                let at = self.at;
                self.stack.lengths.push(Length { offset: at + 2, from: at });
                self.checksum(10, 0, Some(at + 20), None, false);
                self.ip = Some((4, at));
            }
            Header::Ipv6 {
                src,
                dst,
                dscp,
                flow_label,
                hop_limit,
            } => {
                let dscp = self.fit("dscp", u32::from(*dscp), 63)?;
                let flow_label = self.fit("flow_label", *flow_label, 0xf_ffff)?;
                self.put(0, (6 << 28 | dscp << 22 | flow_label).to_be_bytes());
                self.put(6, [protocol_of(self.next(), 6), *hop_limit]);
                self.field("src", Kind::Ipv6, src, u128::from, 8, 16, (128, 0))?;
                self.field("dst", Kind::Ipv6, dst, u128::from, 24, 16, (128, 0))?;
                let at = self.at;
                self.stack.lengths.push(Length {
                    offset: at + 4,
                    from: at + 40,
                });
                self.ip = Some((6, at));
            }
            Header::Udp { sport, dport, checksum } => {
                self.ports(sport, dport)?;
                let at = self.at;
                self.stack.lengths.push(Length { offset: at + 4, from: at });
                let tunnel = matches!(self.next(), Some(Header::Vxlan { .. }));
                if *checksum {
                    self.checksum(6, 0, None, Some(protocol::UDP), true);
                } else if !tunnel && matches!(self.ip, Some((6, _))) {
                    // RFC 8200 section 8.1; tunnels are excepted by RFC 6935.
                    return Err(self.error("checksum", "UDP over IPv6 needs its checksum", "leave `checksum` out"));
                }
            }
            Header::Tcp { sport, dport, flags } => {
                self.ports(sport, dport)?;
                self.put(12, [5 << 4, *flags]);
                self.put(14, 0xffffu16.to_be_bytes()); // window
                self.checksum(16, 0, None, Some(protocol::TCP), false);
            }
            Header::Echo { id } => {
                let (kind, pseudo) = if matches!(self.ip, Some((6, _))) {
                    (128, Some(protocol::ICMPV6))
                } else {
                    (8, None)
                };
                self.put(0, [kind, 0]);
                self.put(4, id.to_be_bytes());
                self.stack.echo_sequence = Some(self.at + 6);
                self.checksum(2, 0, None, pseudo, false);
            }
            Header::Vxlan { vni } => {
                self.put(0, [0x08, 0, 0, 0]); // the network identifier is valid (RFC 7348 section 5)
                self.field("vni", Kind::Number, vni, u128::from, 4, 4, (24, 8))?;
            }
            Header::Gre { key } => {
                self.put(0, (u16::from(key.is_some()) << 13).to_be_bytes());
                self.put(2, type_of(self.next()).to_be_bytes());
                if let Some(key) = key {
                    self.put(4, key.to_be_bytes());
                }
            }
        }
        Ok(())
    }

    fn mac(&mut self, field: &'static str, source: &Field<Mac>, offset: usize) -> Result<(), FrameError> {
        let number = |Mac([a, b, c, d, e, f]): Mac| u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
        self.field(field, Kind::Mac, source, number, offset, 6, (48, 0))
    }

    /// The source just added must not be, or range into, group addresses (IEEE 802 section 8.2).
    fn refuse_multicast_source(&self) -> Result<(), FrameError> {
        let Some(field) = self.stack.fields.last() else { return Ok(()) };
        let is_multicast = |value: u128| value >> 40 & 1 == 1;
        let (min, max) = field.source.range();
        let group = match &field.source {
            Source::List(values) => values.iter().copied().find(|value| is_multicast(*value)),
            _ if is_multicast(min) || is_multicast(max) => Some(if is_multicast(min) { min } else { max }),
            _ if max >> 40 != min >> 40 => Some((min >> 40 | 1) << 40),
            _ => None,
        };
        match group {
            Some(value) => {
                let why = format!("{} is a group address and cannot be a source", mac(value));
                Err(self.error("src", why, "the first byte must be even, and the same in a whole range"))
            }
            None => Ok(()),
        }
    }

    fn ports(&mut self, sport: &Field<u16>, dport: &Field<u16>) -> Result<(), FrameError> {
        self.field("sport", Kind::Number, sport, u128::from, 0, 2, (16, 0))?;
        self.field("dport", Kind::Number, dport, u128::from, 2, 2, (16, 0))
    }

    fn checksum(&mut self, offset: usize, start: usize, end: Option<usize>, pseudo: Option<u8>, udp: bool) {
        let pseudo = pseudo.and_then(|protocol| self.ip.map(|(version, l3)| (version, l3, protocol)));
        let (offset, start) = (self.at + offset, self.at + start);
        self.stack.checksums.push(Checksum {
            offset,
            start,
            end,
            pseudo,
            udp,
        });
    }
}
