//! The SNMP agent of a router (RFC 1157, RFC 3416): it answers GET requests for the few objects that RFC 2544 appendix
//! C.2.4.3 asks of every device, from the device's own counters. BER (X.690) as SNMP uses it: definite lengths only.

use crate::header::{self, ETHERNET, UDP, be16, put_mac};
use netdyno_frame::checksum;

/// UDP port of SNMP agents (RFC 1157 section 4).
pub(crate) const PORT: u16 = 161;
/// Objects asked for in one request at most; further ones make it `tooBig`.
const MOST_OBJECTS: usize = 64;
/// `sysUpTime` counts hundredths of a second (RFC 3418).
const TICK_PS: u64 = 10_000_000_000;
/// 1.3.6.1.2.1.1.3.0, sysUpTime.0 (RFC 3418).
const UP_TIME: [u8; 8] = [0x2b, 6, 1, 2, 1, 1, 3, 0];
/// 1.3.6.1.2.1.2.2.1, ifEntry (RFC 2863): a column and an ifIndex follow.
const IF_ENTRY: [u8; 8] = [0x2b, 6, 1, 2, 1, 2, 2, 1];

mod tag {
    pub const INTEGER: u8 = 0x02;
    pub const STRING: u8 = 0x04;
    pub const NULL: u8 = 0x05;
    pub const OBJECT: u8 = 0x06;
    pub const SEQUENCE: u8 = 0x30;
    pub const COUNTER32: u8 = 0x41;
    pub const TIME_TICKS: u8 = 0x43;
    /// An exception of RFC 3416 section 3.
    pub const NO_SUCH_INSTANCE: u8 = 0x81;
    pub const GET: u8 = 0xa0;
    pub const RESPONSE: u8 = 0xa2;
}

/// Frames that went one way through an interface since the device started.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Bytes, FCS counted (RFC 3635 section 3.2.6).
    octets: u64,
    /// Frames to one address each.
    unicast: u64,
}

/// What an interface tells. Counted where frames are switched, in order of time, so that an answer does not depend on how far
/// ahead others were read: in are those that got there (RFC 2863: delivered to a higher layer), out those that are to leave,
/// whether there is room for them or not ("including those that were discarded or not sent").
#[derive(Clone, Copy, Debug, Default)]
struct Interface {
    taken: Tally,
    sent: Tally,
}

/// The agent.
#[derive(Debug)]
pub(crate) struct Agent {
    community: Vec<u8>,
    /// When the device started.
    began_ps: u64,
    interfaces: Vec<Interface>,
}

impl Tally {
    #[inline]
    fn add(&mut self, frame: &[u8]) {
        self.octets += frame.len() as u64 + u64::from(netdyno_frame::FCS_BYTES);
        self.unicast += u64::from(frame[0] & 1 == 0);
    }
}

/// A request as far as it is answered.
struct Request<'a> {
    version: u8,
    id: &'a [u8],
    objects: Vec<&'a [u8]>,
}

impl Agent {
    pub(crate) fn new(community: &str, ports: usize) -> Self {
        Self {
            community: community.as_bytes().to_vec(),
            began_ps: 0,
            interfaces: vec![Interface::default(); ports],
        }
    }

    /// The device starts again at `t`.
    pub(crate) fn restart(&mut self, t: u64) {
        self.began_ps = t;
        self.interfaces.fill(Interface::default());
    }

    /// A frame came in on `port`.
    #[inline]
    pub(crate) fn take(&mut self, port: usize, frame: &[u8]) {
        self.interfaces[port].taken.add(frame);
    }

    /// A frame is to leave by `port`.
    #[inline]
    pub(crate) fn send(&mut self, port: usize, frame: &[u8]) {
        self.interfaces[port].sent.add(frame);
    }

    /// The frame that answers `frame`, an IPv4 packet for the device that came at `t`. Who does not know the community
    /// is not answered (RFC 1157 section 4.1).
    pub(crate) fn answer(&self, frame: &[u8], t: u64) -> Option<Vec<u8>> {
        let l4 = ETHERNET + usize::from(frame.get(ETHERNET)? & 0x0f) * 4;
        let length = usize::from(be16(frame.get(l4..l4 + 8)?, 4));
        let request = self.read(frame.get(l4 + 8..l4 + length)?)?;
        let payload = self.respond(&request, t);
        Some(datagram(frame, l4, &payload))
    }

    fn read<'a>(&self, message: &'a [u8]) -> Option<Request<'a>> {
        let mut message = take(&mut { message }, tag::SEQUENCE)?;
        let version = match take(&mut message, tag::INTEGER)? {
            [version @ 0..=1] => *version,
            _ => return None,
        };
        if take(&mut message, tag::STRING)? != self.community {
            return None;
        }
        let mut request = take(&mut message, tag::GET)?;
        let id = take(&mut request, tag::INTEGER).filter(|id| (1..=4).contains(&id.len()))?;
        let (_, _) = (take(&mut request, tag::INTEGER)?, take(&mut request, tag::INTEGER)?);
        let mut bindings = take(&mut request, tag::SEQUENCE)?;
        let mut objects = Vec::new();
        while !bindings.is_empty() {
            let mut binding = take(&mut bindings, tag::SEQUENCE)?;
            objects.push(take(&mut binding, tag::OBJECT)?);
            if objects.len() > MOST_OBJECTS {
                return None;
            }
        }
        Some(Request { version, id, objects })
    }

    /// RFC 3416 section 4.2.1: each object has a value or an exception. In version 1 (RFC 1157 section 4.1.2) one that is not
    /// there makes the whole request fail, and its bindings come back as they were.
    fn respond(&self, request: &Request<'_>, t: u64) -> Vec<u8> {
        const NO_SUCH_NAME: u8 = 2;
        let values: Vec<_> = request.objects.iter().map(|object| self.value(object, t)).collect();
        let missing = values.iter().position(Option::is_none).filter(|_| request.version == 0);
        let bindings = request.objects.iter().zip(&values).flat_map(|(object, value)| {
            let value = match value {
                _ if missing.is_some() => wrap(tag::NULL, &[]),
                Some((kind, number)) => wrap(*kind, &unsigned(*number)),
                None => wrap(tag::NO_SUCH_INSTANCE, &[]),
            };
            wrap(tag::SEQUENCE, &[wrap(tag::OBJECT, object), value].concat())
        });
        let bindings: Vec<u8> = bindings.collect();
        let (status, index) = missing.map_or((0, 0), |place| (NO_SUCH_NAME, place as u8 + 1));
        let response = [
            wrap(tag::INTEGER, request.id),
            wrap(tag::INTEGER, &[status]),
            wrap(tag::INTEGER, &[index]),
            wrap(tag::SEQUENCE, &bindings),
        ];
        let message = [
            wrap(tag::INTEGER, &[request.version]),
            wrap(tag::STRING, &self.community),
            wrap(tag::RESPONSE, &response.concat()),
        ];
        wrap(tag::SEQUENCE, &message.concat())
    }

    fn value(&self, object: &[u8], t: u64) -> Option<(u8, u32)> {
        if object == UP_TIME {
            return Some((tag::TIME_TICKS, (t.saturating_sub(self.began_ps) / TICK_PS) as u32));
        }
        // An ifIndex below 128 is one byte of an object's name; interfaces are numbered from 1.
        let [column, index @ 1..=127] = *object.strip_prefix(&IF_ENTRY)? else {
            return None;
        };
        let interface = self.interfaces.get(usize::from(index) - 1)?;
        let counted = match column {
            10 => interface.taken.octets,
            11 => interface.taken.unicast,
            16 => interface.sent.octets,
            17 => interface.sent.unicast,
            _ => return None,
        };
        // Counter32 begins again at 0 (RFC 2578 section 7.1.6).
        Some((tag::COUNTER32, counted as u32))
    }
}

/// The contents of the first value in `rest`, which is then behind it; `None` unless it is whole and has this tag.
fn take<'a>(rest: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&[found, first], behind) = rest.split_first_chunk::<2>()?;
    let (length, behind) = match first {
        0..=0x7f => (usize::from(first), behind),
        0x81..=0x82 => {
            let (length, behind) = behind.split_at_checked(usize::from(first & 3))?;
            (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), behind)
        }
        _ => return None,
    };
    let (value, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    (found == tag).then_some(value)
}

fn wrap(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut found = vec![tag];
    match value.len() {
        short @ 0..=0x7f => found.push(short as u8),
        longer @ 0x80..=0xff => found.extend([0x81, longer as u8]),
        longest => found.extend([0x82, (longest >> 8) as u8, longest as u8]),
    }
    found.extend_from_slice(value);
    found
}

/// An unsigned number in as few bytes as there may be: the first bit is a sign.
fn unsigned(number: u32) -> Vec<u8> {
    let bytes = u64::from(number).to_be_bytes();
    let zeros = (number.leading_zeros() as usize + 32) / 8;
    let from = if bytes.get(zeros).is_none_or(|first| first & 0x80 != 0) {
        zeros - 1
    } else {
        zeros
    };
    bytes[from..].to_vec()
}

/// The UDP datagram of `payload` back to where `frame` came from, whose UDP header is at `l4`.
fn datagram(frame: &[u8], l4: usize, payload: &[u8]) -> Vec<u8> {
    const HEADER: usize = 20;
    let (us, them) = header::macs(frame);
    let mut answer = vec![0; ETHERNET + HEADER + 8];
    put_mac(&mut answer, 0, them);
    put_mac(&mut answer, 6, us);
    answer[12..14].copy_from_slice(&header::IPV4.to_be_bytes());
    let udp = 8 + payload.len();
    let ip = &mut answer[ETHERNET..];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&((HEADER + udp) as u16).to_be_bytes());
    ip[8] = 64;
    ip[9] = UDP;
    ip[12..16].copy_from_slice(&frame[ETHERNET + 16..ETHERNET + 20]);
    ip[16..20].copy_from_slice(&frame[ETHERNET + 12..ETHERNET + 16]);
    let sum = !header::sum(&ip[..HEADER]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let pseudo = checksum::pseudo_header(4, ip, UDP, udp as u32);
    let head = &mut ip[HEADER..];
    head[..2].copy_from_slice(&frame[l4 + 2..l4 + 4]);
    head[2..4].copy_from_slice(&frame[l4..l4 + 2]);
    head[4..6].copy_from_slice(&(udp as u16).to_be_bytes());
    let sum = checksum::finish_udp(pseudo + checksum::sum(head) + checksum::sum(payload));
    head[6..8].copy_from_slice(&sum.to_be_bytes());
    answer.extend_from_slice(payload);
    answer
}
