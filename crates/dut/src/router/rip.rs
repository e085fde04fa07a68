//! What a router learns by RIP version 2 (RFC 2453): it listens on all its ports and subinterfaces, and says nothing of its own.

use crate::header::{self, ETHERNET, be16, be32};
use crate::lpm::Prefix;
use netdyno_frame::checksum::verify_frame;
use std::net::Ipv4Addr;

/// UDP port of RIP, which updates come from and go to (RFC 2453 section 3.9.2).
pub(crate) const PORT: u16 = 520;
/// Bytes before the entries of a message, and of an entry (section 4).
const HEAD: usize = 4;
const ENTRY: usize = 20;
/// Entries of a message at most (section 3.6).
const MOST_ENTRIES: usize = 25;
/// A distance nobody is at (section 3.3).
const INFINITY: u32 = 16;
/// A route that was not heard of for so long is none (section 3.8).
const TIMEOUT_PS: u64 = 180_000_000_000_000;
/// Routes kept at most; further ones are not learned.
const MOST_ROUTES: usize = 1024;
/// Groups, broadcast and reserved addresses begin here.
const FIRST_GROUP: u8 = 224;
const RESPONSE: u8 = 2;
const AF_INET: u16 = 2;
const UDP: usize = 8;

/// What RIP knows.
#[derive(Debug)]
pub(crate) struct Rip {
    /// Configured routes and the router's own networks: nothing that is learned takes their place.
    configured: Vec<Prefix<4>>,
    learned: Vec<Learned>,
}

#[derive(Clone, Copy, Debug)]
struct Learned {
    network: Network,
    /// Who said so, and the neighbour that leads there.
    from: Ipv4Addr,
    neighbour: usize,
    interface: usize,
    metric: u32,
    until: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    address: [u8; 4],
    len: u8,
}

/// A route as a neighbour tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    network: Network,
    /// Through whom; unspecified: who tells it.
    pub(crate) via: Ipv4Addr,
    metric: u32,
}

/// An update: who sent it, and its routes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) from: Ipv4Addr,
    pub(crate) routes: Vec<Told>,
}

/// Whether `frame`, an IPv4 packet whose header has been checked and has so many bytes, goes to RIP.
pub(super) fn is_message(frame: &[u8], header: usize) -> bool {
    const UDP_PROTOCOL: u8 = 17;
    let l4 = ETHERNET + header;
    let is_whole = be16(frame, ETHERNET + 6) & 0x3fff == 0;
    frame[ETHERNET + 9] == UDP_PROTOCOL && is_whole && frame.len() >= l4 + UDP && be16(frame, l4 + 2) == PORT
}

/// How many entries a message has, of as many bytes behind the UDP header.
pub(crate) fn entries(bytes: usize) -> usize {
    (bytes.saturating_sub(HEAD) / ENTRY).min(MOST_ENTRIES)
}

impl Update {
    /// The update in `frame`, a message by [`is_message`]; `None` if it is no response that may be believed: of version 2, from
    /// RIP's own port, whole, and without authentication, of which none was agreed (section 4.1).
    pub(super) fn read(frame: &[u8]) -> Option<Self> {
        const AUTHENTICATION: u16 = 0xffff;
        let l4 = ETHERNET + usize::from(frame.get(ETHERNET)? & 0x0f) * 4;
        let length = usize::from(be16(frame.get(l4..l4 + UDP)?, 4));
        let message = frame.get(l4 + UDP..l4 + length)?;
        let is_response = message.len() >= HEAD && message[0] == RESPONSE && message[1] >= 2;
        if be16(frame, l4) != PORT || !is_response || !verify_frame(frame).is_good() {
            return None;
        }
        let told = message[HEAD..].chunks_exact(ENTRY).take(MOST_ENTRIES);
        if told.clone().any(|entry| be16(entry, 0) == AUTHENTICATION) {
            return None;
        }
        Some(Self {
            from: Ipv4Addr::from(be32(frame, ETHERNET + 12)),
            routes: told.filter_map(Told::read).collect(),
        })
    }
}

impl Told {
    /// One hop more than it is from who tells it (section 3.4.2): all ports have the same cost.
    fn distance(self) -> u32 {
        (self.metric + 1).min(INFINITY)
    }

    /// An entry; one that cannot be is ignored (section 3.9.2).
    fn read(entry: &[u8]) -> Option<Self> {
        let [address, mask, via, metric] = [4, 8, 12, 16].map(|at| be32(entry, at));
        let first = (address >> 24) as u8;
        let is_default = address == 0 && mask == 0;
        let is_network = is_default || !matches!(first, 0 | 127 | FIRST_GROUP..) && address & !mask == 0;
        let is_mask = mask.leading_ones() + mask.trailing_zeros() == 32;
        let is_good = be16(entry, 0) == AF_INET && is_network && is_mask && (1..=INFINITY).contains(&metric);
        is_good.then_some(Self {
            network: Network {
                address: address.to_be_bytes(),
                len: mask.leading_ones() as u8,
            },
            via: Ipv4Addr::from(via),
            metric,
        })
    }
}

impl Rip {
    pub(super) fn new(configured: Vec<Prefix<4>>) -> Self {
        Self {
            configured,
            learned: Vec::new(),
        }
    }

    /// Whether an announcement on `interface` by `from` says anything (RFC 2453 section 3.9.2): of a route that it announced before, of a new
    /// one, or of a shorter way.
    pub(super) fn takes(&self, told: Told, from: Ipv4Addr, interface: usize) -> bool {
        let metric = told.distance();
        match self.learned.iter().find(|known| known.network == told.network) {
            Some(known) => known.from == from && known.interface == interface || metric < known.metric,
            None => {
                let is_ours = |prefix: &Prefix<4>| prefix.len == told.network.len && same(prefix.address, told.network);
                metric < INFINITY && self.learned.len() < MOST_ROUTES && !self.configured.iter().any(is_ours)
            }
        }
    }

    /// Takes in an announcement at `t` that [says anything](Self::takes), of a route through this neighbour; whether that changes
    /// the way frames go.
    pub(super) fn take(&mut self, told: Told, from: Ipv4Addr, neighbour: usize, interface: usize, t: u64) -> bool {
        let metric = told.distance();
        let heard = Learned {
            network: told.network,
            from,
            neighbour,
            interface,
            metric,
            until: t.saturating_add(TIMEOUT_PS),
        };
        let Some(place) = self.learned.iter().position(|known| known.network == told.network) else {
            self.learned.push(heard);
            return true;
        };
        if metric == INFINITY {
            self.learned.swap_remove(place);
            return true;
        }
        let before = std::mem::replace(&mut self.learned[place], heard);
        before.neighbour != neighbour
    }

    /// Forgets what was not heard of for too long by `t`; whether that was anything.
    pub(super) fn expire(&mut self, t: u64) -> bool {
        let before = self.learned.len();
        self.learned.retain(|route| route.until > t);
        self.learned.len() < before
    }

    /// Forgets what was learned on some interfaces; whether that was anything.
    pub(super) fn forget(&mut self, is_one: impl Fn(usize) -> bool) -> bool {
        let before = self.learned.len();
        self.learned.retain(|route| !is_one(route.interface));
        self.learned.len() < before
    }

    /// When the first route is none any more.
    pub(super) fn next_due(&self) -> u64 {
        self.learned.iter().map(|route| route.until).min().unwrap_or(u64::MAX)
    }

    /// All prefixes there are; `hop` makes a value of a neighbour.
    pub(super) fn prefixes(&self, mut hop: impl FnMut(usize) -> u32) -> Vec<Prefix<4>> {
        let learned = self.learned.iter().map(|route| Prefix {
            address: route.network.address,
            len: route.network.len,
            value: hop(route.neighbour),
        });
        // Configured ones last: of equal prefixes the later one holds.
        learned
            .collect::<Vec<_>>()
            .into_iter()
            .chain(self.configured.iter().copied())
            .collect()
    }
}

/// Whether `address` is in the network.
fn same(address: [u8; 4], network: Network) -> bool {
    super::network::same_network_v4(address.into(), network.address.into(), network.len)
}

/// Whether a packet to `destination` by all its hosts, or by the routers among them, is for the router.
pub(super) fn is_for_all(destination: Ipv4Addr, (own, len): (Ipv4Addr, u8)) -> bool {
    const RIP_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 9);
    let host_bits = u32::MAX.checked_shr(u32::from(len)).unwrap_or(0);
    let broadcast = Ipv4Addr::from(u32::from(own) | host_bits);
    destination == RIP_ROUTERS || destination == Ipv4Addr::BROADCAST || destination == broadcast
}

/// The header's length, if `frame` holds a whole IPv4 packet with a good header (RFC 1812 section 5.2.2).
pub(super) fn checked(frame: &[u8]) -> Option<usize> {
    let packet = frame.get(ETHERNET..).filter(|packet| packet.len() >= 20)?;
    let length = usize::from(packet[0] & 0x0f) * 4;
    let total = usize::from(be16(packet, 2));
    let is_good = packet[0] >> 4 == 4 && length >= 20 && total >= length && packet.len() >= total;
    (is_good && header::sum(&packet[..length]) == 0xffff).then_some(length)
}
