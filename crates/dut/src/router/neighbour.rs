//! The neighbours of a router: who is known, who is being asked for, and what waits for an answer.

use crate::flight::Frame;
use std::collections::VecDeque;
use std::net::IpAddr;

/// A request is repeated after this long (RFC 4861, section 10: RETRANS_TIMER, 1 s; the same for ARP).
pub(crate) const RETRY_PS: u64 = 1_000_000_000_000;
/// Requests before giving up (RFC 4861, section 10: MAX_MULTICAST_SOLICIT).
pub(crate) const REQUESTS: u8 = 3;
/// Frames that wait for one neighbour; a further one displaces the oldest (RFC 4861, section 7.2.2: "SHOULD
/// replace the oldest entry").
pub(crate) const WAITING: usize = 16;
/// Neighbours a router learns by itself; beyond that a frame to a new one is dropped.
pub(crate) const LEARNED_LIMIT: usize = 65_536;

/// One neighbour.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub(crate) ip: IpAddr,
    /// The interface it is behind.
    pub(crate) interface: usize,
    pub(crate) mac: Option<u64>,
    /// Given in the specification: nothing learned replaces it.
    pub(crate) fixed: bool,
    pub(crate) waiting: VecDeque<Frame>,
    requests: u8,
    next_request: u64,
    /// Whether a frame ever went to it, or wanted to.
    is_wanted: bool,
    /// Whether it was known and wanted once, and is known no longer.
    is_forgotten: bool,
}

impl Neighbour {
    /// Whether the router's cache has an entry for it: it is known, or asked for.
    pub(crate) fn is_entry(&self) -> bool {
        self.mac.is_some() || self.requests > 0
    }
}

/// What is due when the clock of the neighbours rings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Ask for this neighbour (index).
    Request(usize),
    /// Nobody answered: these frames have no way to go.
    GiveUp(Vec<Frame>),
}

/// All neighbours of a router, found by address in a table of our own (open addressing).
#[derive(Debug)]
pub(crate) struct Neighbours {
    all: Vec<Neighbour>,
    /// Index plus one into `all`; 0 is empty. At most half full.
    table: Vec<u32>,
    /// Those with a request under way.
    asked: Vec<usize>,
    /// When the first of them is due.
    next: u64,
    /// How many were known and wanted once, and are known no longer.
    forgotten: usize,
}

impl Neighbours {
    pub(crate) fn new() -> Self {
        Self {
            all: Vec::new(),
            table: vec![0; 64],
            asked: Vec::new(),
            next: u64::MAX,
            forgotten: 0,
        }
    }

    /// Whether nobody is asked for, nor has to be again whom a frame went to before.
    pub(crate) fn is_settled(&self) -> bool {
        self.forgotten == 0 && self.asked.is_empty()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> &Neighbour {
        &self.all[index]
    }

    /// The neighbour that a frame goes to.
    #[inline]
    pub(crate) fn wanted(&mut self, index: usize) -> &Neighbour {
        let neighbour = &mut self.all[index];
        if !neighbour.is_wanted {
            neighbour.is_wanted = true;
        }
        neighbour
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// When the next request or disappointment is due.
    #[inline]
    pub(crate) fn next_due(&self) -> u64 {
        self.next
    }

    #[inline]
    pub(crate) fn find(&self, ip: IpAddr) -> Option<usize> {
        (self.table[self.place(ip)] as usize).checked_sub(1)
    }

    #[inline]
    fn place(&self, ip: IpAddr) -> usize {
        let folded = match ip {
            IpAddr::V4(ip) => u64::from(u32::from(ip)),
            IpAddr::V6(ip) => {
                let bits = u128::from(ip);
                (bits >> 64) as u64 ^ (bits as u64).rotate_left(7)
            }
        };
        let mask = self.table.len() - 1;
        let mut at = (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.table[at] != 0 && self.all[self.table[at] as usize - 1].ip != ip {
            at = (at + 1) & mask;
        }
        at
    }

    /// The neighbour with this address on this interface, made if need be.
    pub(crate) fn add(&mut self, ip: IpAddr, interface: usize) -> usize {
        if let Some(index) = self.find(ip) {
            return index;
        }
        self.all.push(Neighbour {
            ip,
            interface,
            mac: None,
            fixed: false,
            waiting: VecDeque::new(),
            requests: 0,
            next_request: u64::MAX,
            is_wanted: false,
            is_forgotten: false,
        });
        if self.all.len() * 2 > self.table.len() {
            self.table = vec![0; self.table.len() * 2];
            for index in 0..self.all.len() {
                let at = self.place(self.all[index].ip);
                self.table[at] = index as u32 + 1;
            }
        } else {
            let at = self.place(ip);
            self.table[at] = self.all.len() as u32;
        }
        self.all.len() - 1
    }

    /// Sets a neighbour that is never learned nor asked for.
    pub(crate) fn fix(&mut self, index: usize, mac: u64) {
        self.all[index].mac = Some(mac);
        self.all[index].fixed = true;
    }

    /// Sets the MAC address of a neighbour; returns the frames that waited for it.
    pub(crate) fn learn(&mut self, index: usize, mac: u64) -> VecDeque<Frame> {
        let neighbour = &mut self.all[index];
        if neighbour.fixed {
            return VecDeque::new();
        }
        neighbour.mac = Some(mac);
        self.forgotten -= usize::from(std::mem::take(&mut neighbour.is_forgotten));
        neighbour.next_request = u64::MAX;
        neighbour.requests = 0;
        let waiting = std::mem::take(&mut neighbour.waiting);
        self.asked.retain(|asked| *asked != index);
        self.reschedule();
        waiting
    }

    /// A frame must wait for a neighbour that is not known. Returns the frame it displaced, if any, and
    /// whether a request has to be sent now.
    pub(crate) fn wait(&mut self, index: usize, frame: Frame, t: u64) -> (Option<Frame>, bool) {
        let neighbour = &mut self.all[index];
        let displaced = if neighbour.waiting.len() >= WAITING {
            neighbour.waiting.pop_front()
        } else {
            None
        };
        neighbour.waiting.push_back(frame);
        let first = neighbour.requests == 0;
        if first {
            self.asked.push(index);
            self.requested(index, t);
        }
        (displaced, first)
    }

    /// Forgets those behind some interfaces but those of the specification; the frames that waited for one.
    pub(crate) fn forget(&mut self, is_one: impl Fn(usize) -> bool) -> Vec<Frame> {
        let mut waited = Vec::new();
        for neighbour in &mut self.all {
            if neighbour.fixed || !is_one(neighbour.interface) {
                continue;
            }
            if neighbour.mac.is_some() && neighbour.is_wanted {
                neighbour.is_forgotten = true;
                self.forgotten += 1;
            }
            neighbour.mac = None;
            neighbour.requests = 0;
            neighbour.next_request = u64::MAX;
            waited.extend(neighbour.waiting.drain(..));
        }
        let all = &self.all;
        self.asked.retain(|index| all[*index].requests > 0);
        self.reschedule();
        waited
    }

    fn requested(&mut self, index: usize, t: u64) {
        self.all[index].requests += 1;
        self.all[index].next_request = t + RETRY_PS;
        self.reschedule();
    }

    fn reschedule(&mut self) {
        self.next = self
            .asked
            .iter()
            .map(|index| self.all[*index].next_request)
            .min()
            .unwrap_or(u64::MAX);
    }

    /// Returns what is due at `t`; call until there is nothing more.
    pub(crate) fn due(&mut self, t: u64) -> Option<Due> {
        let index = *self.asked.iter().find(|index| self.all[**index].next_request <= t)?;
        let at = self.all[index].next_request;
        if self.all[index].requests < REQUESTS {
            self.requested(index, at);
            return Some(Due::Request(index));
        }
        let neighbour = &mut self.all[index];
        neighbour.requests = 0;
        neighbour.next_request = u64::MAX;
        let given_up = std::mem::take(&mut neighbour.waiting).into();
        self.asked.retain(|asked| *asked != index);
        self.reschedule();
        Some(Due::GiveUp(given_up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_three_times_a_second_apart_and_gives_up() {
        let mut neighbours = Neighbours::new();
        let ip = "192.0.2.1".parse().unwrap();
        let index = neighbours.add(ip, 0);
        assert_eq!(neighbours.wait(index, Frame::new(7, 60), 100), (None, true));
        assert_eq!(neighbours.wait(index, Frame::new(8, 60), 200), (None, false));
        assert_eq!(neighbours.next_due(), 100 + RETRY_PS);
        assert_eq!(neighbours.due(100 + RETRY_PS - 1), None);
        assert_eq!(neighbours.due(100 + RETRY_PS), Some(Due::Request(index)));
        assert_eq!(neighbours.due(100 + RETRY_PS), None);
        assert_eq!(neighbours.due(100 + 2 * RETRY_PS), Some(Due::Request(index)));
        assert_eq!(
            neighbours.due(100 + 3 * RETRY_PS),
            Some(Due::GiveUp(vec![Frame::new(7, 60), Frame::new(8, 60)]))
        );
        assert_eq!(neighbours.next_due(), u64::MAX);
        assert_eq!(
            neighbours.wait(index, Frame::new(9, 60), 0),
            (None, true),
            "the next frame starts over"
        );
    }

    #[test]
    fn keeps_the_latest_frames_and_hands_them_over_once() {
        let mut neighbours = Neighbours::new();
        let index = neighbours.add("2001:db8::1".parse().unwrap(), 1);
        for slot in 0..WAITING as u32 {
            assert_eq!(neighbours.wait(index, Frame::new(slot, 60), 0).0, None);
        }
        assert_eq!(neighbours.wait(index, Frame::new(99, 60), 0).0, Some(Frame::new(0, 60)));
        let waited = neighbours.learn(index, 5);
        assert_eq!(waited.len(), WAITING);
        assert_eq!(waited.front(), Some(&Frame::new(1, 60)));
        assert_eq!(neighbours.get(index).mac, Some(5));
        assert!(neighbours.learn(index, 6).is_empty());
        assert_eq!(neighbours.next_due(), u64::MAX);
    }

    #[test]
    fn finds_each_of_many() {
        let mut neighbours = Neighbours::new();
        let ip = |host: u32| IpAddr::V4(std::net::Ipv4Addr::from(0x0a00_0000 + host));
        for host in 0..1000 {
            assert_eq!(neighbours.add(ip(host), 0), host as usize);
        }
        for host in 0..1000 {
            assert_eq!(neighbours.find(ip(host)), Some(host as usize));
        }
        assert_eq!(neighbours.find(ip(1000)), None);
    }
}
