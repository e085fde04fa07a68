//! Hello packets of OSPF version 2 (RFC 2328 appendix A.3.2), and how the two ends of a point-to-point link know each other by
//! them (section 10): a neighbour whose hello lists us is up, one that lists us no more or is not heard for the dead interval is
//! down. What routers tell each other once they are up is not here.

use crate::arp::ethernet;
use crate::bytes::{array, be16, put};
use crate::checksum;
use crate::parse::{Tag, ethertype};
use crate::spec::Mac;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// All OSPF routers, 224.0.0.5, and its MAC address (RFC 1112 section 6.4).
const ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 5);
const ROUTERS_MAC: Mac = Mac([0x01, 0, 0x5e, 0, 0, 5]);
const PROTOCOL: u8 = 89;
/// Internetwork control, DSCP 48 (RFC 2328 appendix A.1).
const TOS: u8 = 0xc0;
const IP: usize = 20;
/// The header of every OSPF packet, and what a hello has behind it before its neighbours.
const HEAD: usize = 24;
const BODY: usize = 20;
const VERSION: u8 = 2;
const HELLO: u8 = 1;
/// Changes of one neighbour that are kept.
const MOST_CHANGES: usize = 1000;

/// One end of an adjacency. Times are what its timers run; seconds are what its packets say of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourSpec {
    /// Its own router ID, `192.0.2.1`, and that of the other end.
    pub router_id: Ipv4Addr,
    /// The other end's.
    pub neighbour_id: Ipv4Addr,
    /// The area.
    pub area: Ipv4Addr,
    /// Bits of the network that both have addresses in.
    pub prefix_len: u8,
    /// From one hello to the next.
    pub hello_ns: u64,
    /// A neighbour that is not heard for so long is down.
    pub dead_ns: u64,
    /// The first hello, from the begin of traffic.
    pub first_ns: u64,
    /// What the packets say of both.
    pub hello_s: u16,
    /// The same of the dead interval.
    pub dead_s: u32,
}

impl NeighbourSpec {
    /// Whether hellos are further apart than an answer takes in virtual time, 100 us, and the dead interval is longer.
    #[must_use]
    pub fn has_sound_times(&self) -> bool {
        self.hello_ns >= 100_000 && self.dead_ns > self.hello_ns
    }
}

/// A hello, as far as it is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Who sent it.
    pub router_id: Ipv4Addr,
    /// Whom it has heard of late.
    pub neighbours: Vec<Ipv4Addr>,
}

/// Whether `frame`, which may have tags, goes to all OSPF routers.
#[must_use]
pub fn is_to_routers(frame: &[u8]) -> bool {
    frame.starts_with(&ROUTERS_MAC.0)
}

impl Hello {
    /// The hello in an IPv4 packet; `None` if it is none, or damaged.
    #[must_use]
    pub fn read(packet: &[u8]) -> Option<Self> {
        let header = usize::from(packet.first()? & 0x0f) * 4;
        let total = usize::from(be16(packet, 2)?);
        let (head, message) = (packet.get(..header)?, packet.get(header..total)?);
        if header < IP || head[0] >> 4 != 4 || head[9] != PROTOCOL || !checksum::sum(head).is_multiple_of(0xffff) {
            return None;
        }
        // Without authentication the 64 bits for it are 0, and as good as not summed up (appendix D.4).
        let length = usize::from(be16(message, 2)?);
        let message = message.get(..length)?;
        if length < HEAD + BODY || message[..2] != [VERSION, HELLO] || !checksum::sum(message).is_multiple_of(0xffff) {
            return None;
        }
        let address = |bytes: &[u8]| array::<4>(bytes, 0).map(|four| Ipv4Addr::from(*four));
        Some(Self {
            router_id: address(&message[4..])?,
            neighbours: message[HEAD + BODY..].chunks_exact(4).filter_map(address).collect(),
        })
    }
}

/// An end of an adjacency while it runs. Whoever asks it gives the time, in picoseconds.
#[derive(Clone, Debug)]
pub struct Neighbour {
    spec: NeighbourSpec,
    state: State,
    /// When it was heard last.
    heard_ps: u64,
    /// The next hello; `u64::MAX`: none.
    next_ps: u64,
    /// What was heard and is not known yet: when, and whether it listed us.
    coming: VecDeque<(u64, bool)>,
    changes: Vec<Change>,
}

/// How far an end knows the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It was not heard for the dead interval.
    Down,
    /// It is heard, and does not list us (Init).
    OneWay,
    /// It lists us.
    TwoWay,
}

/// An adjacency comes up or goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When; from the begin of traffic where it is a result.
    pub at_ps: u64,
    /// Which.
    pub is_up: bool,
}

impl Neighbour {
    /// It says nothing, and knows the other end, until it [begins](Self::begin).
    #[must_use]
    pub fn new(spec: NeighbourSpec) -> Self {
        Self {
            spec,
            state: State::TwoWay,
            heard_ps: u64::MAX,
            next_ps: u64::MAX,
            coming: VecDeque::new(),
            changes: Vec::new(),
        }
    }

    /// Both ends are up and were just heard at `at`; the hellos begin.
    pub fn begin(&mut self, at: u64) {
        (self.state, self.heard_ps) = (State::TwoWay, at);
        self.next_ps = at.saturating_add(self.spec.first_ns.saturating_mul(1000));
        self.coming.clear();
        self.changes.clear();
    }

    /// Nothing more is said or changes from `at` on.
    pub fn stop(&mut self, at: u64) {
        self.advance(at.saturating_sub(1));
        (self.next_ps, self.heard_ps) = (u64::MAX, u64::MAX);
        self.coming.clear();
    }

    /// When the next hello is due; `u64::MAX`: never.
    #[must_use]
    pub fn next_hello(&self) -> u64 {
        self.next_ps
    }

    /// When the other end is given up, if nothing is heard of it until then; `u64::MAX`: never.
    #[must_use]
    pub fn expires(&self) -> u64 {
        match self.state {
            State::Down => u64::MAX,
            State::OneWay | State::TwoWay => self.heard_ps.saturating_add(self.spec.dead_ns.saturating_mul(1000)),
        }
    }

    /// A hello came at `at`, no earlier than the one before it.
    pub fn hear(&mut self, at: u64, hello: &Hello) {
        if hello.router_id == self.spec.neighbour_id && self.heard_ps != u64::MAX {
            self.coming.push_back((at, hello.neighbours.contains(&self.spec.router_id)));
        }
    }

    /// Takes in all that was heard by `until`, and gives the other end up where it was not heard in time. A hello at the very end
    /// of the dead interval is in time.
    pub fn advance(&mut self, until: u64) {
        while let Some(&(at, lists_us)) = self.coming.front().filter(|(at, _)| *at <= until) {
            self.coming.pop_front();
            if self.expires() < at {
                self.enter(self.expires(), State::Down);
            }
            self.heard_ps = at;
            self.enter(at, if lists_us { State::TwoWay } else { State::OneWay });
        }
        if self.expires() <= until {
            self.enter(self.expires(), State::Down);
        }
    }

    /// The other end is no longer there at `at`: the link went down, or we forgot it. The next hello is due at `next`.
    pub fn kill(&mut self, at: u64, next: u64) {
        if self.heard_ps == u64::MAX {
            return;
        }
        self.advance(at);
        self.coming.clear();
        self.enter(at, State::Down);
        self.next_ps = self.next_ps.max(next);
    }

    /// Returns the hello that is due now, knowing what was heard by `known`, as a frame from `source` and `address`; the next one is due
    /// an interval later.
    pub fn say(&mut self, known: u64, tags: &[Tag], source: Mac, address: Ipv4Addr) -> Vec<u8> {
        self.advance(known);
        self.next_ps = self.next_ps.saturating_add(self.spec.hello_ns.max(1).saturating_mul(1000));
        let heard = (self.state != State::Down).then_some(self.spec.neighbour_id);
        build(&self.spec, heard, tags, source, address)
    }

    /// Returns when it went down and came up since it began.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn enter(&mut self, at_ps: u64, state: State) {
        let (was, is_up) = (self.state == State::TwoWay, state == State::TwoWay);
        self.state = state;
        if was != is_up && self.changes.len() < MOST_CHANGES {
            self.changes.push(Change { at_ps, is_up });
        }
    }
}

/// A hello that lists `heard`, padded to the smallest frame.
fn build(spec: &NeighbourSpec, heard: Option<Ipv4Addr>, tags: &[Tag], source: Mac, address: Ipv4Addr) -> Vec<u8> {
    let mut frame = ethernet(ROUTERS_MAC, source, tags, ethertype::IPV4);
    let l3 = frame.len();
    let message = HEAD + BODY + if heard.is_some() { 4 } else { 0 };
    frame.resize(l3 + IP + message, 0);
    let ip = &mut frame[l3..];
    put(ip, 0, [0x45, TOS]);
    put(ip, 2, ((IP + message) as u16).to_be_bytes());
    // Never beyond the link (appendix A.1).
    put(ip, 8, [1, PROTOCOL]);
    put(ip, 12, address.octets());
    put(ip, 16, ROUTERS.octets());
    let sum = checksum::finish(checksum::sum(&ip[..IP]));
    put(ip, 10, sum.to_be_bytes());
    let ospf = &mut ip[IP..];
    put(ospf, 0, [VERSION, HELLO]);
    put(ospf, 2, (message as u16).to_be_bytes());
    put(ospf, 4, spec.router_id.octets());
    put(ospf, 8, spec.area.octets());
    let mask = u32::MAX.checked_shl(32 - u32::from(spec.prefix_len.min(32))).unwrap_or(0);
    put(ospf, HEAD, mask.to_be_bytes());
    put(ospf, HEAD + 4, spec.hello_s.to_be_bytes());
    // External routes are taken (E), and the router would be a designated one of priority 1: both are what routers say unless told.
    put(ospf, HEAD + 6, [0x02, 1]);
    put(ospf, HEAD + 8, spec.dead_s.to_be_bytes());
    if let Some(heard) = heard {
        put(ospf, HEAD + BODY, heard.octets());
    }
    let sum = checksum::finish(checksum::sum(ospf));
    put(ospf, 12, sum.to_be_bytes());
    frame.resize(frame.len().max(60), 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000_000;
    const US: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
    const THEM: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

    fn neighbour() -> Neighbour {
        let mut neighbour = Neighbour::new(NeighbourSpec {
            router_id: US,
            neighbour_id: THEM,
            area: Ipv4Addr::UNSPECIFIED,
            prefix_len: 30,
            hello_ns: 10_000_000_000,
            dead_ns: 40_000_000_000,
            first_ns: 2_500_000_000,
            hello_s: 10,
            dead_s: 40,
        });
        neighbour.begin(100 * S);
        neighbour
    }

    fn from_them(lists: &[Ipv4Addr]) -> Hello {
        Hello {
            router_id: THEM,
            neighbours: lists.to_vec(),
        }
    }

    fn changes(neighbour: &Neighbour) -> Vec<(u64, bool)> {
        neighbour.changes().iter().map(|change| (change.at_ps / S, change.is_up)).collect()
    }

    /// RFC 2328 section 10.2: InactivityTimer, HelloReceived, 1-WayReceived, 2-WayReceived.
    #[test]
    fn a_neighbour_is_up_while_its_hellos_come_and_list_us() {
        let mut one = neighbour();
        one.hear(130 * S, &from_them(&[US]));
        // At the very end of the dead interval.
        one.hear(170 * S, &from_them(&[THEM, US]));
        one.advance(209 * S);
        assert_eq!((one.changes(), one.expires()), (&[][..], 210 * S));
        one.hear(211 * S, &from_them(&[US]));
        one.hear(215 * S, &from_them(&[]));
        one.hear(220 * S, &from_them(&[US]));
        one.advance(400 * S);
        let expected = [(210, false), (211, true), (215, false), (220, true), (260, false)];
        assert_eq!(changes(&one), expected);
        assert_eq!(one.expires(), u64::MAX);
    }

    #[test]
    fn hellos_of_others_and_after_the_end_change_nothing() {
        let mut one = neighbour();
        one.hear(
            120 * S,
            &Hello {
                router_id: US,
                neighbours: vec![US],
            },
        );
        one.stop(135 * S);
        one.hear(136 * S, &from_them(&[]));
        one.advance(1000 * S);
        assert_eq!((one.changes(), one.next_hello(), one.expires()), (&[][..], u64::MAX, u64::MAX));
    }

    #[test]
    fn hellos_leave_at_equal_distances_and_list_who_was_heard() {
        let mut one = neighbour();
        let source = Mac([2, 0, 0, 0, 0, 1]);
        let tags = [Tag { tpid: 0x8100, tci: 100 }];
        let mut said = Vec::new();
        for _ in 0..6 {
            let at = one.next_hello();
            let frame = one.say(at, &tags, source, US);
            assert!(is_to_routers(&frame) && frame.len() == 14 + 4 + 20 + 44 + if at < 140 * S { 4 } else { 0 });
            let hello = Hello::read(&frame[18..]).expect("a hello");
            assert_eq!(hello.router_id, US);
            said.push((at / (S / 10), hello.neighbours));
        }
        let heard = |at| (at, vec![THEM]);
        let alone = |at| (at, vec![]);
        assert_eq!(said, [heard(1025), heard(1125), heard(1225), heard(1325), alone(1425), alone(1525)]);
    }

    #[test]
    fn what_is_no_hello_or_damaged_is_not_read() {
        let frame = neighbour().say(100 * S, &[], Mac([2, 0, 0, 0, 0, 1]), US);
        let packet = &frame[14..];
        assert!(Hello::read(packet).is_some());
        for at in 0..packet.len() {
            let mut damaged = packet.to_vec();
            damaged[at] ^= 1;
            assert_eq!(Hello::read(&damaged), None, "{at}");
            let _ = Hello::read(&packet[..at]);
        }
        assert_eq!(Hello::read(&[]), None);
    }
}
