//! What a port's processor does with a frame beyond forwarding it, and how much longer that takes: a packet filter whose
//! rules are looked at one after the other, frames to groups, which it has to look into, queries it has to answer, and routing
//! updates.

use crate::agent;
use crate::error::DeviceError;
use crate::header::{self, UDP, be16, is_multicast, macs, network};
use crate::queue::Queue;
use crate::router::{network as prefix_of, rip};
use crate::service::Server;
use crate::spec::{DevicePortSpec, FilterRule};
use std::net::IpAddr;

/// Picoseconds in a nanosecond.
const NS: u64 = 1000;
/// The most one step of a processor takes longer, ns: a second.
const LONGEST_NS: u64 = 1_000_000_000;
/// ICMPv6, and the types by which neighbours find each other (RFC 4861): a filter that drops them cuts the link.
const ICMPV6: u8 = 58;
const DISCOVERY: std::ops::RangeInclusive<u8> = 133..=137;

/// The processor of one member of a port.
#[derive(Debug)]
pub(crate) struct Processor {
    rules: Vec<Rule>,
    rule_ps: u64,
    group_ps: u64,
    query_ps: u64,
    route_ps: u64,
    /// IPv4 addresses of the device, in order.
    own: Vec<u32>,
    /// How many frames may wait, not counting the one in service.
    room: usize,
    /// When the service of those that wait begins, rounded up.
    starts: Queue<u64>,
    /// Frames the filter dropped.
    pub(crate) denied: u64,
}

#[derive(Debug)]
struct Rule {
    permit: bool,
    source: Option<Prefix>,
    destination: Option<Prefix>,
}

/// The high `len` bits of an address.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    is_v4: bool,
    bits: u128,
    mask: u128,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Served at this time.
    Served(u64),
    /// The queue was full.
    Full,
    /// No rule lets it through; it took its time all the same.
    Denied,
}

impl Processor {
    /// Builds the filter of a port; `None` if the port only forwards.
    pub(crate) fn new(index: usize, port: &DevicePortSpec, own: &[u32]) -> Result<Option<Self>, DeviceError> {
        if port.filter.is_empty() && port.group_ns == 0 && port.query_ns == 0 && port.route_ns == 0 {
            return Ok(None);
        }
        for (field, ns) in [
            ("filter_ns", port.filter_ns),
            ("group_ns", port.group_ns),
            ("query_ns", port.query_ns),
            ("route_ns", port.route_ns),
        ] {
            let field = || format!("ports[{index}].{field}");
            if ns > 0 && port.in_fps.is_none() {
                return Err(DeviceError::new(field(), "without `in_fps` a frame takes no time at all"));
            }
            if ns > LONGEST_NS {
                return Err(DeviceError::new(field(), format!("{ns} ns; at most a second")));
            }
        }
        if port.recovery.is_some() {
            return Err(DeviceError::new(
                format!("ports[{index}].weary"),
                "not with `filter`, `group_ns`, `query_ns` or `route_ns`",
            ));
        }
        let rules = port.filter.iter().enumerate();
        Ok(Some(Self {
            rules: rules
                .map(|(number, rule)| Rule::new(&format!("ports[{index}].filter[{number}]"), rule))
                .collect::<Result<_, _>>()?,
            rule_ps: port.filter_ns * NS,
            group_ps: port.group_ns * NS,
            query_ps: port.query_ns * NS,
            route_ps: port.route_ns * NS,
            own: own.to_vec(),
            room: port.in_queue as usize,
            starts: Queue::with_room(16),
            denied: 0,
        }))
    }

    /// A frame arrives at `t` in front of `server`; a port without one takes no time.
    pub(crate) fn offer(&mut self, server: Option<&mut Server>, t: u64, frame: &[u8]) -> Fate {
        let (permitted, looked) = self.filter(frame);
        let (destination, _) = macs(frame);
        let mut more = looked * self.rule_ps + u64::from(is_multicast(destination)) * self.group_ps;
        if self.query_ps > 0 || self.route_ps > 0 {
            more += self.hearing(frame);
        }
        let mut done = t;
        if let Some(server) = server {
            while self.starts.front().is_some_and(|start| start <= t) {
                self.starts.pop();
            }
            if self.starts.len() >= self.room && server.is_busy(t) {
                return Fate::Full;
            }
            let (begin, end) = server.serve(t, more);
            if begin > t {
                self.starts.push(begin);
            }
            self.starts.tidy();
            done = end;
        }
        self.denied += u64::from(!permitted);
        if permitted { Fate::Served(done) } else { Fate::Denied }
    }

    /// What it takes longer of a message to the device itself.
    fn hearing(&self, frame: &[u8]) -> u64 {
        let Some((to, port, bytes)) = udp(frame) else { return 0 };
        let is_ours = self.own.binary_search(&to).is_ok();
        match port {
            agent::PORT if is_ours => self.query_ps,
            rip::PORT if is_ours || is_multicast(macs(frame).0) => rip::entries(bytes) as u64 * self.route_ps,
            _ => 0,
        }
    }

    /// Whether the filter lets a frame through, and how many rules it looked at. What is no IP packet is none of its business.
    fn filter(&self, frame: &[u8]) -> (bool, u64) {
        let Some((source, destination)) = addresses(frame).filter(|_| !self.rules.is_empty()) else {
            return (true, 0);
        };
        let is_match = |rule: &Rule| {
            let holds = |prefix: &Option<Prefix>, address| prefix.is_none_or(|prefix| prefix.holds(address));
            holds(&rule.source, source) && holds(&rule.destination, destination)
        };
        match self.rules.iter().position(is_match) {
            Some(place) => (self.rules[place].permit, place as u64 + 1),
            None => (false, self.rules.len() as u64),
        }
    }

    /// A reset: nothing waits.
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
    }
}

/// The address and UDP port an IPv4 packet goes to, and how many bytes behind the header it says it has.
fn udp(frame: &[u8]) -> Option<(u32, u16, usize)> {
    let (_, at) = network(frame).filter(|(kind, _)| *kind == header::IPV4)?;
    let packet = &frame[at..];
    let l4 = usize::from(packet.first()? & 0x0f) * 4;
    // A fragment has ports only if it is the first.
    let is_udp = packet.len() >= l4 + 8 && l4 >= 20 && packet[9] == UDP && be16(packet, 6) & 0x1fff == 0;
    let length = |at| usize::from(be16(packet, at)).saturating_sub(8);
    is_udp.then(|| (header::be32(packet, 16), be16(packet, l4 + 2), length(l4 + 4)))
}

/// Source and destination of an IP packet, unless neighbours find each other by it.
fn addresses(frame: &[u8]) -> Option<(Prefix, Prefix)> {
    let (kind, at) = network(frame)?;
    let packet = &frame[at..];
    match kind {
        header::IPV4 if packet.len() >= 20 => {
            let address = |from: usize| Prefix::of_v4(u32::from(be16(packet, from)) << 16 | u32::from(be16(packet, from + 2)));
            Some((address(12), address(16)))
        }
        header::IPV6 if packet.len() >= 40 => {
            if packet[6] == ICMPV6 && packet.get(40).is_some_and(|kind| DISCOVERY.contains(kind)) {
                return None;
            }
            let address = |from: usize| Prefix {
                is_v4: false,
                bits: u128::from_be_bytes(*packet[from..].first_chunk().expect("16 bytes")),
                mask: u128::MAX,
            };
            Some((address(8), address(24)))
        }
        _ => None,
    }
}

impl Rule {
    fn new(field: &str, rule: &FilterRule) -> Result<Self, DeviceError> {
        let prefix = |part: &str, text: &Option<String>| {
            let Some(text) = text else { return Ok(None) };
            let bad = || DeviceError::new(format!("{field}.{part}"), format!("`{text}` is not a prefix such as `16.0.0.0/8`"));
            prefix_of(text).map(Prefix::new).map(Some).ok_or_else(bad)
        };
        Ok(Self {
            permit: rule.permit,
            source: prefix("src", &rule.src)?,
            destination: prefix("dst", &rule.dst)?,
        })
    }
}

impl Prefix {
    fn new((ip, len): (IpAddr, u8)) -> Self {
        let (is_v4, bits, all) = match ip {
            IpAddr::V4(ip) => (true, u128::from(u32::from(ip)) << 96, 32),
            IpAddr::V6(ip) => (false, u128::from(ip), 128),
        };
        debug_assert!(len <= all, "as read");
        let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
        Self {
            is_v4,
            bits: bits & mask,
            mask,
        }
    }

    fn of_v4(address: u32) -> Self {
        Self {
            is_v4: true,
            bits: u128::from(address) << 96,
            mask: u128::MAX,
        }
    }

    fn holds(self, address: Self) -> bool {
        self.is_v4 == address.is_v4 && address.bits & self.mask == self.bits
    }
}
