//! A header stack laid out: where every field, length and checksum lies, and the frame of any flow built from
//! scratch. The hot path in [`crate::template`] starts from these frames and must end at the same bytes.
//!
//! Each header is a [`Layer`] with a file of its own in `headers/`: its length, what may stand before and behind it, and
//! its bytes, put down by a [`Builder`].

use crate::bytes::put;
use crate::checksum::{finish, finish_udp, sum};
use crate::field::{Field, Mac};
use crate::parse::{announces_header, ethertype, protocol};
use crate::probe::Probe;
use crate::vary::{Place, Source};
use crate::write::StackWrite;
use crate::{FCS_BYTES, FrameError};
use std::net::{Ipv4Addr, Ipv6Addr};

/// One header of a stack.
pub(crate) trait Layer {
    /// What the plan calls it.
    const NAME: &'static str;

    /// Returns its length in bytes, an even number.
    fn bytes(&self) -> usize;

    /// Returns the number that usually announces it in `space`; `None` where it cannot stand.
    fn usual_number(space: Space) -> Option<u32>;

    /// Returns the number that announces it in `space`; `None` where it cannot stand.
    fn number(&self, space: Space) -> Option<u32> {
        Self::usual_number(space)
    }

    /// Returns what may stand behind it.
    fn carries(&self) -> Space;

    /// Puts down its bytes, fields, lengths and checksums.
    ///
    /// # Errors
    /// If a value is out of range.
    fn build(&self, builder: &mut Builder) -> Result<(), FrameError>;
}

/// What may stand behind a header, and how it is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Behind Ethernet or a tag, by an Ethernet type.
    Type,
    /// Behind GRE, by an Ethernet type.
    Gre,
    /// Behind IPv4, by a protocol number.
    Ipv4,
    /// Behind the IPv6 header itself, by a protocol number.
    Ipv6,
    /// Behind an IPv6 extension header, by a protocol number.
    Extension,
    /// Behind PPP, by its protocol number.
    Ppp,
    /// Behind an MPLS label, by nothing but its bottom-of-stack bit; 1 is another label.
    Label,
    /// Behind UDP, by the destination port, which the plan gives; 0 is no header.
    Udp,
    /// An Ethernet frame.
    Frame,
    /// An IP packet, known by its version.
    Packet,
    /// A PPP frame.
    Session,
    /// The payload.
    Payload,
    /// Behind raw bytes: whatever they announce.
    Raw,
    /// Raw bytes or the payload, because the plan gives this field of the header.
    Given(&'static str),
}

impl Space {
    /// Returns the number that announces the payload; `None` where a header must follow.
    pub fn payload(self) -> Option<u32> {
        match self {
            Self::Type => Some(ethertype::EXPERIMENTAL.into()),
            Self::Ipv4 | Self::Ipv6 | Self::Extension => Some(protocol::EXPERIMENTAL.into()),
            Self::Udp | Self::Payload | Self::Raw | Self::Given(_) => Some(0),
            Self::Gre | Self::Ppp | Self::Label | Self::Frame | Self::Packet | Self::Session => None,
        }
    }
}

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
pub(crate) struct Length {
    pub offset: usize,
    pub from: usize,
}

/// The addresses and the protocol of a checksum's pseudo-header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pseudo {
    pub ip: Ip,
    pub protocol: u8,
}

/// The IP header that a layer-4 header belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ip {
    /// 4 or 6.
    pub version: u8,
    /// Where the source address lies.
    pub source: usize,
    /// Where the address of the final destination lies: of IPv6 maybe in a routing header (RFC 8200 section 8.1).
    pub destination: usize,
}

impl Ip {
    fn addresses(self) -> [std::ops::Range<usize>; 2] {
        let length = if self.version == 4 { 4 } else { 16 };
        [self.source, self.destination].map(|at| at..at + length)
    }
}

/// A checksum field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    pub offset: usize,
    /// What it covers begins here ...
    pub start: usize,
    /// ... and ends here, or with the frame.
    pub end: Option<usize>,
    /// The pseudo-header, if there is one.
    pub pseudo: Option<Pseudo>,
    /// 0 is written as 0xffff.
    pub udp: bool,
}

impl Checksum {
    /// Whether a field at `offset` counts in this checksum.
    pub fn covers(&self, offset: usize) -> bool {
        let inside = offset >= self.start && self.end.is_none_or(|end| offset < end);
        let is_address = |pseudo: Pseudo| pseudo.ip.addresses().iter().any(|address| address.contains(&offset));
        inside || self.pseudo.is_some_and(is_address)
    }
}

/// A stack laid out.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Header bytes; fields, lengths and checksums are zero.
    bytes: Vec<u8>,
    pub fields: Vec<StackField>,
    lengths: Vec<Length>,
    /// Headers from behind which there must be a whole number of eight bytes, for more fragments follow; and where that is.
    pub eights: Vec<(usize, usize)>,
    /// From the outside in.
    pub checksums: Vec<Checksum>,
    /// Offset of an ICMP echo header's sequence number, which follows the frame's.
    pub echo_sequence: Option<usize>,
    /// Bytes of the probe behind the headers; 0 if there is none.
    pub probe: usize,
    /// What is written over all that but checksums, one after the other.
    pub writes: Vec<StackWrite>,
    /// Bytes that are repeated behind the probe; if there are none, bytes count up.
    pub fill: Vec<u8>,
}

impl Stack {
    /// Where the payload, and in it the probe, begins.
    pub fn payload(&self) -> usize {
        self.bytes.len()
    }

    /// Where the bytes of no header and no probe begin.
    fn behind(&self) -> usize {
        self.payload() + self.probe
    }

    /// How much of a frame is its own: headers, probe and what is written. What follows counts up from 0.
    pub fn head(&self) -> usize {
        self.writes.iter().map(|write| write.range().end).fold(self.behind(), usize::max)
    }

    /// The bits of each header byte that are the same in all frames of flows 0 to `flows` - 1, whatever their sizes.
    pub fn shared(&self, flows: u32) -> Vec<u8> {
        let mut changing = vec![0; self.payload()];
        for field in &self.fields {
            field.write(&mut changing, field.source.changing(flows));
        }
        let words = self.lengths.iter().map(|length| length.offset);
        let words = words.chain(self.checksums.iter().map(|checksum| checksum.offset));
        for at in words.chain(self.echo_sequence) {
            put(&mut changing, at, [0xff; 2]);
        }
        for write in &self.writes {
            write.mark_changing(&mut changing, flows);
        }
        changing.iter().map(|bits: &u8| !bits).collect()
    }

    /// The frame of `size` bytes (FCS counted) whose varying fields hold `values` (in the order of `fields`), over which
    /// `written` is written (in the order of `writes`; nothing, if that is empty) and whose probe is `probe`, with every
    /// checksum computed from scratch.
    pub fn frame(&self, size: u32, values: &[u128], written: &[u128], probe: Probe) -> Vec<u8> {
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
        if self.probe > 0 {
            probe.write(&mut frame[self.payload()..]);
        }
        let (behind, head) = (self.behind(), self.head().min(end));
        if self.fill.is_empty() {
            // RFC 2544 appendix C.2.6.4: the data are bytes that count up.
            for bytes in [behind..head, head..end] {
                frame[bytes]
                    .iter_mut()
                    .zip((0..=255).cycle())
                    .for_each(|(byte, number)| *byte = number);
            }
        } else {
            frame[behind..]
                .iter_mut()
                .zip(self.fill.iter().cycle())
                .for_each(|(byte, fill)| *byte = *fill);
        }
        for (write, value) in self.writes.iter().zip(written) {
            write.write(&mut frame, *value);
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
        let pseudo = checksum.pseudo.map_or(0, |Pseudo { ip, protocol }| {
            let addresses = ip.addresses().map(|address| sum(&frame[address]));
            addresses.iter().sum::<u64>() + u64::from(protocol) + covered.len() as u64
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

/// Lays out one header after the other.
pub(crate) struct Builder {
    seed: u64,
    /// Index and name of the header that is laid out.
    index: usize,
    name: &'static str,
    /// Where it begins.
    pub at: usize,
    /// The number that announces what stands behind it.
    pub next: u32,
    /// The payload stands behind it.
    pub is_last: bool,
    /// The IP header that the next layer-4 header belongs to.
    pub ip: Option<Ip>,
    stack: Stack,
}

impl Builder {
    /// For headers of `bytes` in all and so many bytes of a probe.
    pub fn new(bytes: usize, seed: u64, probe: usize) -> Self {
        Self {
            seed,
            index: 0,
            name: "",
            at: 0,
            next: 0,
            is_last: false,
            ip: None,
            stack: Stack {
                bytes: vec![0; bytes],
                fields: Vec::new(),
                lengths: Vec::new(),
                eights: Vec::new(),
                checksums: Vec::new(),
                echo_sequence: None,
                probe,
                writes: Vec::new(),
                fill: Vec::new(),
            },
        }
    }

    /// Lays out header `index`, behind which `next` is announced.
    ///
    /// # Errors
    /// If a value of it is out of range.
    pub fn add<T: Layer>(&mut self, index: usize, header: &T, next: u32, is_last: bool) -> Result<(), FrameError> {
        (self.index, self.name, self.next, self.is_last) = (index, T::NAME, next, is_last);
        header.build(self)?;
        self.at += header.bytes();
        Ok(())
    }

    pub fn finish(self) -> Stack {
        self.stack
    }

    pub fn error(&self, field: &'static str, why: impl Into<String>, hint: impl Into<String>) -> FrameError {
        FrameError::field(self.index, self.name, field, why, hint)
    }

    pub fn put<const N: usize>(&mut self, offset: usize, bytes: [u8; N]) {
        put(&mut self.stack.bytes, self.at + offset, bytes);
    }

    /// Copies `bytes` to `offset` and on.
    pub fn copy(&mut self, offset: usize, bytes: &[u8]) {
        self.stack.bytes[self.at + offset..][..bytes.len()].copy_from_slice(bytes);
    }

    /// `value` if it is at most `max`.
    pub fn fit(&self, field: &'static str, value: u32, max: u32) -> Result<u32, FrameError> {
        if value <= max {
            Ok(value)
        } else {
            Err(self.error(field, format!("{value} does not fit"), format!("at most {max}")))
        }
    }

    /// The Ethernet type of what follows: `given` by the plan, or that of the next header.
    pub fn ethertype(&self, given: Option<u16>) -> Result<u16, FrameError> {
        match given {
            None => Ok(self.next as u16),
            Some(kind) if kind < 0x0600 => {
                let why = format!("{kind:#06x} is a length and not a type");
                Err(self.error("ethertype", why, "0x0600 to 0xffff"))
            }
            Some(kind) if self.is_last && announces_header(kind) => {
                let why = format!("{kind:#06x} announces a header, and the payload follows");
                Err(self.error("ethertype", why, "add that header, or its bytes as `raw`"))
            }
            Some(kind) => Ok(kind),
        }
    }

    /// A fragment's `offset` in units of eight bytes; what follows from `from` on must be whole ones if there is `more`.
    pub fn fragment(&mut self, offset: u16, more: bool, from: usize) -> Result<u16, FrameError> {
        if !offset.is_multiple_of(8) {
            let why = format!("{offset} bytes are no fragment offset");
            return Err(self.error("offset", why, "a multiple of 8"));
        }
        if more {
            self.stack.eights.push((self.index, self.at + from));
        }
        Ok(offset / 8)
    }

    /// The protocol number of a header: as given, or of what follows; of a later fragment one that nobody looks into.
    pub fn protocol(&self, given: Option<u8>, offset: u16) -> u8 {
        let follows = if offset > 0 { protocol::EXPERIMENTAL } else { self.next as u8 };
        given.unwrap_or(follows)
    }

    /// A length field at `offset`: of what lies from `from` to the end.
    pub fn length(&mut self, offset: usize, from: usize) {
        let (offset, from) = (self.at + offset, self.at + from);
        self.stack.lengths.push(Length { offset, from });
    }

    /// The field at `offset` has the low 16 bits of the frame's sequence.
    pub fn echo_sequence(&mut self, offset: usize) {
        self.stack.echo_sequence = Some(self.at + offset);
    }

    /// Version 6 of IP lies before.
    pub fn is_over_ipv6(&self) -> bool {
        self.ip.is_some_and(|ip| ip.version == 6)
    }

    #[allow(clippy::too_many_arguments)] // one call a field, each with all that there is to say about it
    pub fn field<T: Copy>(
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
            name: self.name,
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

    pub fn mac(&mut self, field: &'static str, source: &Field<Mac>, offset: usize) -> Result<(), FrameError> {
        let number = |Mac([a, b, c, d, e, f]): Mac| u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
        self.field(field, Kind::Mac, source, number, offset, 6, (48, 0))
    }

    /// The source just added must not be, or range into, group addresses (IEEE 802 section 8.2).
    pub fn refuse_multicast_source(&self) -> Result<(), FrameError> {
        let Some(field) = self.stack.fields.last() else { return Ok(()) };
        let is_multicast = |value: u128| value >> 40 & 1 == 1;
        let (min, max) = field.source.range();
        let group = match field.source.values() {
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

    pub fn ports(&mut self, sport: &Field<u16>, dport: &Field<u16>) -> Result<(), FrameError> {
        self.field("sport", Kind::Number, sport, u128::from, 0, 2, (16, 0))?;
        self.field("dport", Kind::Number, dport, u128::from, 2, 2, (16, 0))
    }

    /// The checksum at `offset` of this header's first `length` bytes.
    pub fn header_checksum(&mut self, offset: usize, length: usize) {
        self.stack.checksums.push(Checksum {
            offset: self.at + offset,
            start: self.at,
            end: Some(self.at + length),
            pseudo: None,
            udp: false,
        });
    }

    /// The checksum at `offset` of all from this header on, with the pseudo-header of `protocol` if there is one.
    pub fn checksum(&mut self, offset: usize, protocol: Option<u8>, udp: bool) {
        let pseudo = protocol.and_then(|protocol| self.ip.map(|ip| Pseudo { ip, protocol }));
        self.stack.checksums.push(Checksum {
            offset: self.at + offset,
            start: self.at,
            end: None,
            pseudo,
            udp,
        });
    }
}
