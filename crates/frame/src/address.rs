//! Addresses of test networks: RFC 2544 appendix C, and RFC 4814 section 4.2 for MACs.

use crate::spec::Mac;
use std::net::Ipv4Addr;

/// The benchmarking network 198.18.0.0/15 (RFC 2544 appendix C.2.2, RFC 6890).
pub const BENCHMARKING: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 0), 15);

/// Which side of the device under test a port is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Test frames enter the device here: 198.18.x.y.
    Input,
    /// Test frames leave it here: 198.19.x.y.
    Output,
}

impl Side {
    const fn octet(self) -> u8 {
        match self {
            Self::Input => 18,
            Self::Output => 19,
        }
    }
}

/// Who has an address on a port's network (RFC 2544 appendix C.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The device under test, `.1`.
    Device,
    /// The tester as a host next to the device, `.2`.
    Adjacent,
    /// The tester as a router behind which there are more networks, `.10`.
    PhantomRouter,
}

/// The address of `host` on the /24 of port `port` (1..=64); `None` if the port is out of range.
#[must_use]
pub const fn on_port(side: Side, port: u8, host: Host) -> Option<Ipv4Addr> {
    if port == 0 || port > 64 {
        return None;
    }
    let last = match host {
        Host::Device => 1,
        Host::Adjacent => 2,
        Host::PhantomRouter => 10,
    };
    Some(Ipv4Addr::new(198, side.octet(), port, last))
}

/// Network `index` (0..190) of those behind the phantom routers, 198.18.65.0/24 to 198.18.254.0/24 (or 198.19).
#[must_use]
pub const fn network_behind(side: Side, index: u8) -> Option<Ipv4Addr> {
    if index > 254 - 65 {
        None
    } else {
        Some(Ipv4Addr::new(198, side.octet(), 65 + index, 0))
    }
}

/// A MAC address `(RR & 0xFC):PP:PP:RR:RR:RR` as RFC 4814 section 4.2 wants it: PP is the tester's port, counted
/// from 1, RR are random. Unicast and globally administered by its two low bits, as the RFC has it.
#[must_use]
pub const fn random_mac(port: u16, random: u32) -> Mac {
    let [pp0, pp1] = port.to_be_bytes();
    let [rr0, rr1, rr2, rr3] = random.to_be_bytes();
    Mac([rr0 & 0xfc, pp0, pp1, rr1, rr2, rr3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_rfc_2544_appendix_c() {
        let show = |address: Option<Ipv4Addr>| address.map(|address| address.to_string());
        assert_eq!(show(on_port(Side::Input, 1, Host::Device)).as_deref(), Some("198.18.1.1"));
        assert_eq!(show(on_port(Side::Input, 1, Host::Adjacent)).as_deref(), Some("198.18.1.2"));
        assert_eq!(
            show(on_port(Side::Output, 64, Host::PhantomRouter)).as_deref(),
            Some("198.19.64.10")
        );
        assert_eq!(on_port(Side::Output, 65, Host::Device), None);
        assert_eq!(on_port(Side::Output, 0, Host::Device), None);
        assert_eq!(show(network_behind(Side::Input, 0)).as_deref(), Some("198.18.65.0"));
        assert_eq!(show(network_behind(Side::Output, 189)).as_deref(), Some("198.19.254.0"));
        assert_eq!(network_behind(Side::Output, 190), None);
    }

    #[test]
    fn macs_are_those_of_rfc_4814_section_4_2() {
        // (RR & 0xFC):PP:PP:RR:RR:RR
        assert_eq!(random_mac(1, 0xffff_ffff).to_string(), "fc:00:01:ff:ff:ff");
        assert_eq!(random_mac(0x0203, 0x1122_3344).to_string(), "10:02:03:22:33:44");
    }
}
