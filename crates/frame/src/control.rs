//! Which frames a routing speaker on VLANs is sent: a classic BPF program for a packet socket (Linux,
//! `Documentation/networking/filter.rst`).

use crate::parse::{ethertype, protocol};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// An instruction: code, jump if true, jump if false, constant.
pub type Instruction = (u16, u8, u8, u32);

/// More addresses than this are not looked at, for a program has 4,096 instructions at most.
const MOST_ADDRESSES: usize = 800;
/// OSPF (RFC 2328, RFC 5340).
const OSPF: u8 = 89;
/// BGP (RFC 4271), at either end.
const BGP_PORT: u32 = 179;
/// BFD control, echo and multihop (RFC 5881, RFC 5883), as destinations.
const BFD_PORTS: [u32; 3] = [3784, 3785, 4784];
/// Neighbor discovery (RFC 4861): router solicitation to redirect.
const FIRST_ND: u32 = 133;
const LAST_ND: u32 = 137;

const LOAD: u16 = 0x20;
const LOAD_HALF_AT: u16 = 0x28;
const LOAD_AT: u16 = 0x40;
const LOAD_HALF: u16 = 0x48;
const LOAD_BYTE: u16 = 0x50;
const SET_X: u16 = 0x01;
const ADD: u16 = 0x04;
const ADD_X: u16 = 0x0c;
const AND: u16 = 0x54;
const SHIFT_LEFT: u16 = 0x64;
const TO_X: u16 = 0x07;
const FROM_X: u16 = 0x87;
const GO: u16 = 0x05;
const IF_EQUAL: u16 = 0x15;
const IF_MORE: u16 = 0x25;
const IF_AT_LEAST: u16 = 0x35;
const IF_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Whether the kernel has taken the outermost tag off (`SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT`).
const TAG_TAKEN: u32 = 0xffff_f000 + 48;
const WHOLE: u32 = u32::MAX;

/// Returns the program that passes, behind one tag to `depth` tags: ARP, neighbor discovery, OSPF, BGP, BFD, and ICMP to any
/// of `addresses` (to all, if there are none or over 800). Everything else is left, and all frames without a tag.
///
/// tpids: protocol identifiers of the tags.
#[must_use]
pub fn filter(tpids: &[u16], depth: usize, addresses: &[IpAddr]) -> Vec<Instruction> {
    let mut program = Program::default();
    let it = &mut program;
    it.plain(LOAD, TAG_TAKEN);
    it.when(IF_EQUAL, 1, "taken", "");
    it.plain(LOAD_HALF_AT, 12);
    it.any_of(tpids.iter().map(|tpid| (u32::from(*tpid), "first")), "drop");
    it.mark("first");
    it.plain(SET_X, 4);
    it.go("inner");
    it.mark("taken");
    it.plain(SET_X, 0);
    it.mark("inner");
    for level in 1..depth {
        let next = ["second", "further"][usize::from(level > 1)];
        it.plain(LOAD_HALF, 12);
        it.any_of(tpids.iter().map(|tpid| (u32::from(*tpid), next)), "type");
        it.mark(next);
        it.skip(4);
    }
    it.mark("type");
    it.plain(LOAD_HALF, 12);
    let types = [(ethertype::ARP, "pass"), (ethertype::IPV4, "ipv4"), (ethertype::IPV6, "ipv6")];
    it.any_of(types.map(|(value, to)| (u32::from(value), to)).into_iter(), "drop");

    it.mark("ipv4");
    it.plain(LOAD_BYTE, 23);
    let protocols = [
        (protocol::ICMP, "to icmp"),
        (OSPF, "pass"),
        (protocol::TCP, "tcp4"),
        (protocol::UDP, "udp4"),
    ];
    it.any_of(protocols.map(|(value, to)| (u32::from(value), to)).into_iter(), "drop");
    for (own, ports) in [("tcp4", "tcp"), ("udp4", "udp")] {
        it.mark(own);
        // Only a first fragment has ports.
        it.plain(LOAD_HALF, 20);
        it.when(IF_BITS, 0x1fff, "drop", "");
        it.plain(LOAD_BYTE, 14);
        it.plain(AND, 15);
        it.plain(SHIFT_LEFT, 2);
        it.plain(ADD_X, 0);
        it.plain(TO_X, 0);
        it.go(ports);
    }
    it.mark("ipv6");
    it.plain(LOAD_BYTE, 20);
    let protocols = [
        (protocol::ICMPV6, "to icmpv6"),
        (OSPF, "pass"),
        (protocol::TCP, "tcp6"),
        (protocol::UDP, "udp6"),
    ];
    it.any_of(protocols.map(|(value, to)| (u32::from(value), to)).into_iter(), "drop");
    it.mark("tcp6");
    it.skip(40);
    it.go("tcp");
    it.mark("udp6");
    it.skip(40);
    it.go("udp");

    it.mark("tcp");
    it.plain(LOAD_HALF, 14);
    it.when(IF_EQUAL, BGP_PORT, "pass", "");
    it.plain(LOAD_HALF, 16);
    it.when(IF_EQUAL, BGP_PORT, "pass", "drop");
    it.mark("udp");
    it.plain(LOAD_HALF, 16);
    it.any_of(BFD_PORTS.map(|port| (port, "pass")).into_iter(), "drop");
    it.mark("pass");
    it.plain(RETURN, WHOLE);
    it.mark("drop");
    it.plain(RETURN, 0);

    // Conditions reach 255 instructions; these lists may be longer.
    it.mark("to icmp");
    it.go("icmp");
    it.mark("to icmpv6");
    it.go("icmpv6");
    let few = addresses.len() <= MOST_ADDRESSES;
    it.mark("icmp");
    it.plain(LOAD_AT, 30);
    it.one_of(few.then(|| {
        let ipv4 = |address: &IpAddr| match address {
            IpAddr::V4(address) => Some(u32::from(*address)),
            IpAddr::V6(_) => None,
        };
        addresses.iter().filter_map(ipv4).collect()
    }));
    it.mark("icmpv6");
    it.plain(LOAD_BYTE, 54);
    it.when(IF_AT_LEAST, FIRST_ND, "", "other");
    it.when(IF_MORE, LAST_ND, "other", "");
    it.plain(RETURN, WHOLE);
    it.mark("other");
    // The last four bytes tell the speaker's few addresses apart from those of the traffic.
    it.plain(LOAD_AT, 50);
    it.one_of(few.then(|| {
        let ipv6 = |address: &IpAddr| match address {
            IpAddr::V6(address) => Some(u128::from(*address) as u32),
            IpAddr::V4(_) => None,
        };
        addresses.iter().filter_map(ipv6).collect()
    }));
    program.assemble()
}

/// A program with names for places further on.
#[derive(Default)]
struct Program {
    code: Vec<(u16, u32, [&'static str; 2])>,
    /// For each name the places it stands for; a jump goes to the next one.
    marks: BTreeMap<&'static str, Vec<usize>>,
}

impl Program {
    fn plain(&mut self, code: u16, constant: u32) {
        self.code.push((code, constant, ["", ""]));
    }

    /// A condition on the accumulator; no name is the next instruction.
    fn when(&mut self, code: u16, constant: u32, yes: &'static str, no: &'static str) {
        self.code.push((code, constant, [yes, no]));
    }

    fn go(&mut self, to: &'static str) {
        self.code.push((GO, 0, [to, ""]));
    }

    fn mark(&mut self, name: &'static str) {
        self.marks.entry(name).or_default().push(self.code.len());
    }

    /// Moves on by so many bytes; overwrites the accumulator.
    fn skip(&mut self, bytes: u32) {
        self.plain(FROM_X, 0);
        self.plain(ADD, bytes);
        self.plain(TO_X, 0);
    }

    /// Goes where the accumulator's value says.
    fn any_of(&mut self, values: impl Iterator<Item = (u32, &'static str)>, otherwise: &'static str) {
        for (value, to) in values {
            self.when(IF_EQUAL, value, to, "");
        }
        self.go(otherwise);
    }

    /// Ends: passes the frame if the accumulator has one of these values, or any value if there are none.
    fn one_of(&mut self, values: Option<Vec<u32>>) {
        let Some(values) = values.filter(|values| !values.is_empty()) else {
            return self.plain(RETURN, WHOLE);
        };
        for value in values {
            self.code.push((IF_EQUAL, value, ["", "after"]));
            self.plain(RETURN, WHOLE);
            self.mark("after");
        }
        self.plain(RETURN, 0);
    }

    fn assemble(self) -> Vec<Instruction> {
        let distance = |from: usize, name: &'static str| {
            if name.is_empty() {
                return 0;
            }
            let to = self.marks[name].iter().find(|&&to| to > from);
            to.expect("jumps go forward") - from - 1
        };
        let near = |from, name| u8::try_from(distance(from, name)).expect("conditions stand near their targets");
        let finished = |(place, &(code, constant, [yes, no])): (usize, &(u16, u32, [&'static str; 2]))| match code {
            GO => (GO, 0, 0, distance(place, yes) as u32),
            _ => (code, near(place, yes), near(place, no), constant),
        };
        self.code.iter().enumerate().map(finished).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn longest_filter_is_within_the_kernels_limit() {
        let ipv4 = (0..400_u32).map(|number| IpAddr::from(Ipv4Addr::from(number)));
        let ipv6 = (0..400_u128).map(|number| IpAddr::from(Ipv6Addr::from(number)));
        let addresses: Vec<_> = ipv4.chain(ipv6).collect();
        let program = filter(&[0x8100, 0x88a8, 0x9100, 0x9200], 8, &addresses);
        // BPF_MAXINSNS of linux/bpf_common.h.
        assert!((1600..=4096).contains(&program.len()), "{}", program.len());
        assert!(filter(&[0x8100], 1, &[]).len() < 80);
        let more = [addresses, vec![IpAddr::from([10, 0, 0, 1])]].concat();
        assert!(filter(&[0x8100], 1, &more).len() < 80);
    }
}
