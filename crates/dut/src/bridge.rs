//! A learning bridge's address table (IEEE 802.1D, clause 7): source addresses are learned, entries age,
//! the table is finite. VLAN-unaware: a tagged frame is bridged by its addresses.

use crate::header::{is_multicast, macs};
use crate::service::Server;

/// Marks a place in use; MAC addresses take the lower 48 bits.
const USED: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u64,
    seen: u64,
    port: u32,
}

/// Where a bridge sends a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// To one port.
    To(usize),
    /// To all but the one it came from.
    Flood,
    /// Nowhere: its destination is where it came from, or an address no bridge forwards.
    Filter,
}

/// The table: open addressing with linear probing, at most half full.
#[derive(Debug)]
pub(crate) struct Bridge {
    table: Vec<Entry>,
    entries: u32,
    limit: u32,
    /// Picoseconds.
    ageing: u64,
    /// No entry is too old before this.
    oldest_expiry: u64,
    /// One address at a time, if learning takes time.
    learner: Option<Server>,
}

impl Bridge {
    /// `limit` addresses at most, each forgotten when not seen for more than `ageing_ps`.
    pub(crate) fn new(limit: u32, ageing_ps: u64) -> Self {
        Self {
            table: vec![Entry::default(); (limit as usize * 2).next_power_of_two().max(64)],
            entries: 0,
            limit,
            ageing: ageing_ps,
            oldest_expiry: u64::MAX,
            learner: None,
        }
    }

    /// The same, with a server that each new address takes the time of; while it is busy none is learned.
    pub(crate) fn learning_by(self, learner: Option<Server>) -> Self {
        Self { learner, ..self }
    }

    /// Learns from a frame that came in on `port` at `t` and says where it goes. `frame` has at least 14 bytes.
    #[inline]
    pub(crate) fn forward(&mut self, frame: &[u8], port: usize, t: u64) -> Path {
        let (destination, source) = macs(frame);
        if !is_multicast(source) {
            self.learn(source, port as u32, t);
        }
        if is_multicast(destination) {
            // 01:80:c2:00:00:00 to :0f stay on their link (802.1D, table 7-10).
            return if destination & !0xf == 0x0180_c200_0000 {
                Path::Filter
            } else {
                Path::Flood
            };
        }
        match self.find(destination, t) {
            Some(at) if at == port as u32 => Path::Filter,
            Some(at) => Path::To(at as usize),
            None => Path::Flood,
        }
    }

    #[inline]
    fn find(&self, address: u64, t: u64) -> Option<u32> {
        let entry = self.table[self.place(address)];
        (entry.key != 0 && t.saturating_sub(entry.seen) <= self.ageing).then_some(entry.port)
    }

    /// Where the address is, or the empty place where it would go. The table is never more than half full.
    #[inline]
    fn place(&self, address: u64) -> usize {
        let mask = self.table.len() - 1;
        // Fibonacci hashing: the high bits of the product depend on all bits of the address.
        let mut at = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.table[at].key != 0 && self.table[at].key != address | USED {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn learn(&mut self, address: u64, port: u32, t: u64) {
        let at = self.place(address);
        let entry = self.table[at];
        if entry.key != 0 && t.saturating_sub(entry.seen) <= self.ageing {
            self.table[at] = Entry {
                key: address | USED,
                seen: t,
                port,
            };
        } else {
            self.learn_new(address, port, t);
        }
    }

    /// An address that is not known, or not any more: what has aged out is learned like one never seen.
    #[cold]
    fn learn_new(&mut self, address: u64, port: u32, t: u64) {
        if self.entries == self.limit && t > self.oldest_expiry {
            self.forget_old(t);
        }
        let at = self.place(address);
        // One that has aged still has its place, until the table is full.
        let aged = self.table[at].key != 0;
        let full = !aged && self.entries == self.limit;
        if full || self.learner.as_mut().is_some_and(|learner| learner.admit(t).is_none()) {
            return;
        }
        self.table[at] = Entry {
            key: address | USED,
            seen: t,
            port,
        };
        self.entries += u32::from(!aged);
        self.oldest_expiry = self.oldest_expiry.min(t.saturating_add(self.ageing));
    }

    fn forget_old(&mut self, t: u64) {
        let ageing = self.ageing;
        self.keep(|entry| t.saturating_sub(entry.seen) <= ageing);
    }

    /// Forgets the addresses behind one port, or all.
    pub(crate) fn forget(&mut self, port: Option<usize>) {
        self.keep(|entry| port.is_some_and(|port| entry.port != port as u32));
    }

    fn keep(&mut self, stays: impl Fn(&Entry) -> bool) {
        let empty = vec![Entry::default(); self.table.len()];
        let old = std::mem::replace(&mut self.table, empty);
        self.entries = 0;
        self.oldest_expiry = u64::MAX;
        for entry in old {
            if entry.key != 0 && stays(&entry) {
                let at = self.place(entry.key & !USED);
                self.table[at] = entry;
                self.entries += 1;
                self.oldest_expiry = self.oldest_expiry.min(entry.seen.saturating_add(self.ageing));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(destination: u64, source: u64) -> Vec<u8> {
        let mut frame = vec![0; 60];
        crate::header::put_mac(&mut frame, 0, destination);
        crate::header::put_mac(&mut frame, 6, source);
        frame
    }

    const A: u64 = 0x0200_0000_000a;
    const B: u64 = 0x0200_0000_000b;
    const C: u64 = 0x0200_0000_000c;

    #[test]
    fn floods_until_it_has_learned_and_filters_the_same_port() {
        let mut bridge = Bridge::new(10, 1000);
        assert_eq!(bridge.forward(&frame(B, A), 0, 0), Path::Flood);
        assert_eq!(bridge.forward(&frame(A, B), 1, 1), Path::To(0));
        assert_eq!(bridge.forward(&frame(B, A), 0, 2), Path::To(1));
        assert_eq!(bridge.forward(&frame(B, C), 1, 3), Path::Filter, "B is behind the port C came from");
        assert_eq!(bridge.forward(&frame(A, B), 2, 4), Path::To(0), "B has moved");
        assert_eq!(bridge.forward(&frame(B, A), 0, 5), Path::To(2));
    }

    #[test]
    fn groups_are_flooded_and_never_learned() {
        let mut bridge = Bridge::new(10, 1000);
        const BROADCAST: u64 = 0xffff_ffff_ffff;
        assert_eq!(bridge.forward(&frame(BROADCAST, A), 0, 0), Path::Flood);
        assert_eq!(bridge.forward(&frame(A, 0x0300_0000_0001), 1, 0), Path::To(0));
        assert_eq!(bridge.forward(&frame(0x0300_0000_0001, A), 0, 0), Path::Flood);
        assert_eq!(
            bridge.forward(&frame(0x0180_c200_0002, A), 0, 0),
            Path::Filter,
            "LACP stays on its link"
        );
        assert_eq!(bridge.forward(&frame(0x0180_c200_0010, A), 0, 0), Path::Flood);
    }

    #[test]
    fn entries_age_and_are_refreshed_by_their_source() {
        let mut bridge = Bridge::new(10, 1000);
        bridge.forward(&frame(B, A), 0, 0);
        assert_eq!(bridge.forward(&frame(A, B), 1, 1000), Path::To(0), "not older than the limit");
        assert_eq!(bridge.forward(&frame(A, B), 1, 1001), Path::Flood);
        bridge.forward(&frame(B, A), 0, 1500);
        assert_eq!(bridge.forward(&frame(A, B), 1, 2500), Path::To(0));
    }

    #[test]
    fn a_full_table_learns_nothing_until_something_has_aged() {
        let mut bridge = Bridge::new(2, 1000);
        bridge.forward(&frame(C, A), 0, 0);
        bridge.forward(&frame(C, B), 1, 500);
        bridge.forward(&frame(A, C), 2, 600);
        assert_eq!(bridge.forward(&frame(C, A), 0, 600), Path::Flood, "C did not fit");
        // A was refreshed at 600, B was last seen at 500.
        bridge.forward(&frame(A, C), 2, 1501);
        assert_eq!(bridge.forward(&frame(C, A), 0, 1501), Path::To(2));
        assert_eq!(bridge.forward(&frame(B, A), 0, 1501), Path::Flood);
    }

    /// 1000 addresses a second: one a millisecond, counted from the last that was learned.
    #[test]
    fn no_more_addresses_are_learned_than_the_rate_allows() {
        const MILLISECOND: u64 = 1_000_000_000;
        let mut bridge = Bridge::new(10, u64::MAX).learning_by(Server::new((1000, 1), 0));
        let mut learned = |address: u64, t: u64| {
            bridge.forward(&frame(0x0200_0000_00ff, address), 0, t);
            bridge.forward(&frame(address, 0x0300_0000_0001), 1, t) != Path::Flood
        };
        assert!(learned(A, 0));
        assert!(!learned(B, MILLISECOND - 1));
        assert!(learned(A, MILLISECOND - 1), "it is known: that takes no time");
        assert!(learned(B, MILLISECOND + 5), "it is seen again");
        assert!(!learned(C, 2 * MILLISECOND));
        assert!(learned(C, 2 * MILLISECOND + 5));
    }

    /// IEEE 802.1D section 7.9: an entry that has aged out is removed, so its address is learned anew.
    #[test]
    fn an_address_that_has_aged_is_learned_at_the_rate_again() {
        const MILLISECOND: u64 = 1_000_000_000;
        let mut bridge = Bridge::new(10, 5 * MILLISECOND).learning_by(Server::new((1000, 1), 0));
        let mut known_after = |address: u64, t: u64| {
            bridge.forward(&frame(0x0200_0000_00ff, address), 0, t);
            bridge.forward(&frame(address, 0x0300_0000_0001), 1, t) != Path::Flood
        };
        assert!(known_after(A, 0));
        assert!(known_after(B, MILLISECOND));
        // Both have aged; one of them can be learned again within a millisecond, and not the other.
        assert!(known_after(A, 20 * MILLISECOND));
        assert!(!known_after(B, 20 * MILLISECOND + 1));
        assert!(known_after(B, 21 * MILLISECOND));
        assert!(known_after(A, 21 * MILLISECOND), "it is known, and was seen within the ageing time");
    }

    #[test]
    fn a_link_that_goes_takes_its_addresses_along() {
        let mut bridge = Bridge::new(10, 1000);
        bridge.forward(&frame(C, A), 0, 0);
        bridge.forward(&frame(C, B), 1, 0);
        bridge.forget(Some(0));
        assert_eq!(bridge.forward(&frame(A, C), 2, 1), Path::Flood);
        assert_eq!(bridge.forward(&frame(B, C), 2, 1), Path::To(1));
        bridge.forget(None);
        assert_eq!(bridge.forward(&frame(B, C), 2, 2), Path::Flood);
    }

    #[test]
    fn holds_as_many_as_it_says() {
        let mut bridge = Bridge::new(5000, u64::MAX);
        for host in 0..6000u64 {
            bridge.forward(&frame(A, 0x0200_0000_0000 | host << 8), (host % 3) as usize, 0);
        }
        let known = (0..6000u64)
            .filter(|host| bridge.forward(&frame(0x0200_0000_0000 | host << 8, A), 3, 0) != Path::Flood)
            .count();
        assert_eq!(known, 5000);
    }
}
