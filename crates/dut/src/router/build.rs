//! From a specification to a router: addresses and routes are read, and each mistake names its field.

use super::Router;
use super::hops::{Hop, Hops};
use super::interface::{Interface, Tagged};
use super::neighbour::Neighbours;
use super::network::{first_v4, first_v6, network, same_network_v4, same_network_v6};
use super::rip::Rip;
use crate::error::DeviceError;
use crate::lpm::{Prefix, Trie};
use crate::spec::{DeviceSpec, Neighbour, Route};
use crate::tags::{Stack, Tags};
use std::net::IpAddr;
use std::sync::Arc;

impl Router {
    /// `macs` are those of the ports, `tags` those of their subinterfaces; nothing that leaves is longer than `max_frame`.
    pub(crate) fn new(
        spec: &DeviceSpec,
        (routes, neighbours): (&[Route], &[Neighbour]),
        macs: &[u64],
        tags: &[Arc<Tags>],
        max_frame: u32,
    ) -> Result<Self, DeviceError> {
        let mut build = Build {
            interfaces: interfaces(spec, macs, tags)?,
            neighbours: Neighbours::new(),
            hops: Hops::new(),
            v4: Vec::new(),
            v6: Vec::new(),
        };
        check_overlap(spec, &build.interfaces)?;
        for (index, neighbour) in neighbours.iter().enumerate() {
            let field = || format!("forwarding.neighbours[{index}]");
            let ip = address(&neighbour.ip).ok_or_else(|| not_an_address(&field(), "ip", &neighbour.ip))?;
            let mac = crate::error::mac(&format!("{}.mac", field()), &neighbour.mac)?;
            let index = build.neighbour(ip, field)?;
            build.neighbours.fix(index, mac);
        }
        for (index, route) in routes.iter().enumerate() {
            let field = || format!("forwarding.routes[{index}]");
            let via = address(&route.via).ok_or_else(|| not_an_address(&field(), "via", &route.via))?;
            let (prefix, len) = network(&route.prefix).ok_or_else(|| {
                DeviceError::new(
                    format!("{}.prefix", field()),
                    format!("`{}` is not a prefix such as `16.0.0.0/8`", route.prefix),
                )
            })?;
            if prefix.is_ipv4() != via.is_ipv4() {
                let why = format!("`{}` and `{}` are of different IP versions", route.prefix, route.via);
                return Err(DeviceError::new(field(), why));
            }
            let neighbour = build.neighbour(via, field)?;
            build.add(prefix, len, Hop::Via(neighbour));
        }
        // Connected networks after static routes: of equal prefixes the later one holds.
        for index in 0..build.interfaces.len() {
            for (ip, len) in build.interfaces[index].networks() {
                build.add(ip, len, Hop::Connected(index));
            }
        }
        for index in 0..build.interfaces.len() {
            for (ip, _) in build.interfaces[index].networks() {
                build.add(ip, if ip.is_ipv4() { 32 } else { 128 }, Hop::Local);
            }
        }
        Ok(Self {
            tagged: tagged(tags, max_frame),
            macs: build.interfaces.iter().map(|interface| interface.mac).collect(),
            v4: Trie::new(&build.v4),
            v6: Trie::new(&build.v6),
            rip: spec.rip.then(|| Rip::new(build.v4)),
            interfaces: build.interfaces,
            hops: build.hops,
            neighbours: build.neighbours,
        })
    }
}

/// Where the subinterfaces of each port begin among the interfaces, the ports being the first; `None`: there are none.
fn tagged(tags: &[Arc<Tags>], max_frame: u32) -> Option<Box<Tagged>> {
    let mut first = tags.len();
    let of_port = |tags: &Arc<Tags>| {
        first += tags.len();
        (tags.clone(), first - tags.len())
    };
    let ports = tags.iter().map(of_port).collect();
    (first > tags.len()).then(|| {
        Box::new(Tagged {
            ports,
            longest: max_frame as usize,
            scratch: Vec::new(),
        })
    })
}

struct Build {
    interfaces: Vec<Interface>,
    neighbours: Neighbours,
    hops: Hops,
    v4: Vec<Prefix<4>>,
    v6: Vec<Prefix<16>>,
}

impl Build {
    fn add(&mut self, ip: IpAddr, len: u8, hop: Hop) {
        let value = self.hops.number(hop);
        match ip {
            IpAddr::V4(ip) => self.v4.push(Prefix {
                address: ip.octets(),
                len,
                value,
            }),
            IpAddr::V6(ip) => self.v6.push(Prefix {
                address: ip.octets(),
                len,
                value,
            }),
        }
    }

    /// The neighbour with this address, on the first interface whose network holds it.
    fn neighbour(&mut self, ip: IpAddr, field: impl Fn() -> String) -> Result<usize, DeviceError> {
        if let Some(known) = self.neighbours.find(ip) {
            return Ok(known);
        }
        let holds = |interface: &Interface| match ip {
            IpAddr::V4(ip) => interface.v4.is_some_and(|(own, len)| same_network_v4(ip, own, len)),
            IpAddr::V6(ip) => interface.v6.is_some_and(|(own, len)| same_network_v6(ip, own, len)),
        };
        let interface = self.interfaces.iter().position(holds).ok_or_else(|| {
            DeviceError::new(field(), format!("no port has a network that holds `{ip}`"))
                .hint("give one of the ports an address in the same network")
        })?;
        Ok(self.neighbours.add(ip, interface))
    }
}

impl Interface {
    fn networks(&self) -> impl Iterator<Item = (IpAddr, u8)> + use<> {
        let v4 = self.v4.map(|(ip, len)| (IpAddr::V4(ip), len));
        let v6 = self.v6.map(|(ip, len)| (IpAddr::V6(ip), len));
        v4.into_iter().chain(v6)
    }
}

/// The ports, and behind them the subinterfaces of each.
fn interfaces(spec: &DeviceSpec, macs: &[u64], tags: &[Arc<Tags>]) -> Result<Vec<Interface>, DeviceError> {
    let mut interfaces = Vec::new();
    for (port, its) in spec.ports.iter().enumerate() {
        let field = || format!("ports[{port}]");
        interfaces.push(interface((port, macs[port]), Stack::default(), (&its.ipv4, &its.ipv6), field)?);
    }
    for (port, its) in spec.ports.iter().enumerate() {
        for (number, (vlan, stack)) in its.vlans.iter().zip(tags[port].stacks()).enumerate() {
            let field = || format!("ports[{port}].vlans[{number}]");
            interfaces.push(interface((port, macs[port]), *stack, (&vlan.ipv4, &vlan.ipv6), field)?);
        }
    }
    Ok(interfaces)
}

fn interface(
    (port, mac): (usize, u64),
    tags: Stack,
    (ipv4, ipv6): (&Option<String>, &Option<String>),
    field: impl Fn() -> String,
) -> Result<Interface, DeviceError> {
    let mut interface = Interface {
        port,
        mac,
        v4: None,
        v6: None,
        tags,
    };
    for (name, text) in [("ipv4", ipv4), ("ipv6", ipv6)] {
        let Some(text) = text else { continue };
        match network(text) {
            Some((IpAddr::V4(ip), len)) if name == "ipv4" => interface.v4 = Some((ip, len)),
            Some((IpAddr::V6(ip), len)) if name == "ipv6" => interface.v6 = Some((ip, len)),
            _ => {
                let example = if name == "ipv4" { "100.64.0.1/30" } else { "2001:db8::1/64" };
                let why = format!("`{text}` is not an address with prefix length such as `{example}`");
                return Err(DeviceError::new(format!("{}.{name}", field()), why));
            }
        }
    }
    Ok(interface)
}

/// Refuses a subinterface whose network overlaps that of another interface: an address would not tell where its host is.
fn check_overlap(spec: &DeviceSpec, interfaces: &[Interface]) -> Result<(), DeviceError> {
    let range = |index: usize, ip: IpAddr, len: u8| match ip {
        IpAddr::V4(ip) => {
            let first = first_v4(ip, len);
            (
                4,
                u128::from(first),
                u128::from(first | u32::MAX.checked_shr(len.into()).unwrap_or(0)),
                index,
            )
        }
        IpAddr::V6(ip) => {
            let first = first_v6(ip, len);
            (6, first, first | u128::MAX.checked_shr(len.into()).unwrap_or(0), index)
        }
    };
    let ranges = interfaces.iter().enumerate();
    let mut ranges: Vec<(u8, u128, u128, usize)> = ranges
        .flat_map(|(index, interface)| interface.networks().map(move |(ip, len)| range(index, ip, len)))
        .collect();
    ranges.sort_unstable();
    // The one that reaches furthest so far, of all and of subinterfaces.
    let mut furthest: [Option<(u8, u128, usize)>; 2] = [None, None];
    for (version, from, to, index) in ranges {
        let is_port = index < spec.ports.len();
        let before = furthest[usize::from(is_port)];
        if let Some((.., other)) = before.filter(|(its, reaches, _)| *its == version && *reaches >= from) {
            let one = index.max(other);
            return Err(overlap(spec, interfaces, one, index.min(other)));
        }
        for (place, counts) in [(0, true), (1, !is_port)] {
            if counts && furthest[place].is_none_or(|(its, reaches, _)| its < version || reaches < to) {
                furthest[place] = Some((version, to, index));
            }
        }
    }
    Ok(())
}

fn overlap(spec: &DeviceSpec, interfaces: &[Interface], index: usize, other: usize) -> DeviceError {
    let name = |index: usize| {
        let port = interfaces[index].port;
        match interfaces[spec.ports.len()..index.max(spec.ports.len())]
            .iter()
            .filter(|it| it.port == port)
            .count()
        {
            _ if index < spec.ports.len() => format!("ports[{port}]"),
            number => format!("ports[{port}].vlans[{number}]"),
        }
    };
    let why = format!("its network and that of `{}` overlap", name(other));
    DeviceError::new(name(index), why).hint("give each subinterface a network of its own")
}

fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

fn not_an_address(field: &str, part: &str, text: &str) -> DeviceError {
    DeviceError::new(format!("{field}.{part}"), format!("`{text}` is not an IP address"))
}
