//! Flows that each member of a group carried, the first few of each: what shows how a hash spread them.

use crate::header::{self, TCP, UDP, be16};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Flows that are noted of each member.
const EACH: usize = 3;
/// Frames of an output that are looked at in a trial: of few flows a member may have fewer than `EACH`.
const FRAMES: u32 = 4096;

/// The first flows of each member.
#[derive(Debug)]
pub(crate) struct Shown {
    members: Vec<Vec<Flow>>,
    /// Frames that are still looked at.
    left: u32,
}

/// What a hash may tell flows apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flow {
    source: IpAddr,
    destination: IpAddr,
    ports: Option<(u16, u16)>,
}

impl Shown {
    /// Nothing yet, of so many members.
    pub(crate) fn new(members: usize) -> Self {
        Self {
            members: vec![Vec::new(); members],
            left: FRAMES,
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.members.iter_mut().for_each(Vec::clear);
        self.left = FRAMES;
    }

    /// Whether there is more to note.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.left > 0
    }

    /// A member carried a frame.
    #[cold]
    pub(crate) fn note(&mut self, member: usize, frame: &[u8]) {
        self.left = self.left.saturating_sub(1);
        let known = &mut self.members[member];
        if known.len() < EACH
            && let Some(flow) = Flow::of(frame)
            && !known.contains(&flow)
        {
            known.push(flow);
            if self.members.iter().all(|known| known.len() == EACH) {
                self.left = 0;
            }
        }
    }

    /// The flows of each member as text: `16.0.0.1:1025 > 48.0.0.1:12`.
    pub(crate) fn texts(&self) -> Vec<Vec<String>> {
        self.members
            .iter()
            .map(|known| known.iter().map(Flow::to_string).collect())
            .collect()
    }
}

impl Flow {
    /// Of UDP, TCP or another IP packet; not of ICMP, which a router sends itself.
    fn of(frame: &[u8]) -> Option<Self> {
        const ICMP: [u8; 2] = [1, 58];
        let (kind, at) = header::network(frame)?;
        let (source, destination, protocol, l4): (IpAddr, IpAddr, _, _) = match kind {
            header::IPV4 => {
                let packet = frame[at..].first_chunk::<20>()?;
                let address = |from: usize| Ipv4Addr::from(*packet[from..].first_chunk::<4>().expect("four bytes"));
                let is_whole = be16(packet, 6) & 0x3fff == 0;
                let behind = at + usize::from(packet[0] & 0x0f) * 4;
                (address(12).into(), address(16).into(), packet[9], is_whole.then_some(behind))
            }
            header::IPV6 => {
                let packet = frame[at..].first_chunk::<40>()?;
                let address = |from: usize| Ipv6Addr::from(*packet[from..].first_chunk::<16>().expect("sixteen bytes"));
                (address(8).into(), address(24).into(), packet[6], Some(at + 40))
            }
            _ => return None,
        };
        if ICMP.contains(&protocol) {
            return None;
        }
        let l4 = l4.filter(|l4| matches!(protocol, TCP | UDP) && frame.len() >= l4 + 4);
        Some(Self {
            source,
            destination,
            ports: l4.map(|l4| (be16(frame, l4), be16(frame, l4 + 2))),
        })
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, destination, .. } = *self;
        match self.ports {
            Some((from, to)) => write!(f, "{} > {}", SocketAddr::new(source, from), SocketAddr::new(destination, to)),
            None => write!(f, "{source} > {destination}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp4(source: u8) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[12..15].copy_from_slice(&[8, 0, 0x45]);
        frame[23] = UDP;
        frame[26..38].copy_from_slice(&[16, 0, 0, source, 48, 0, 0, 1, 4, 1, 0, 12]);
        frame
    }

    #[test]
    fn first_flows_of_each_member_are_noted_once() {
        let mut shown = Shown::new(2);
        for source in [1, 1, 2, 3, 4] {
            shown.note(1, &udp4(source));
        }
        let texts = ["1", "2", "3"].map(|source| format!("16.0.0.{source}:1025 > 48.0.0.1:12"));
        assert_eq!(shown.texts(), [vec![], texts.to_vec()]);
        assert!(shown.is_open(), "the first member had none");
        (0..FRAMES).for_each(|_| shown.note(0, &[]));
        assert!(!shown.is_open());
        shown.clear();
        assert_eq!(shown.texts(), [[""; 0]; 2]);
    }

    #[test]
    fn other_frames_have_their_addresses_alone_or_none() {
        let mut shown = Shown::new(1);
        let mut fragment = udp4(1);
        fragment[20] = 0x20;
        shown.note(0, &fragment);
        let mut icmp = udp4(2);
        icmp[23] = 1;
        shown.note(0, &icmp);
        let mut six = vec![0; 62];
        six[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
        (six[20], six[37], six[53]) = (UDP, 1, 2);
        six[54..58].copy_from_slice(&[0, 7, 0, 9]);
        shown.note(0, &six);
        assert_eq!(shown.texts(), [["16.0.0.1 > 48.0.0.1", "[::1]:7 > [::2]:9"]]);
    }
}
