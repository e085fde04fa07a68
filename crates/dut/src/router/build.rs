//! From a specification to a router: addresses and routes are read, and each mistake names its field.

use super::neighbour::Neighbours;
use super::network::{network, same_network_v4, same_network_v6};
use super::rip::Rip;
use super::{Hop, Interface, Router, place_of};
use crate::error::DeviceError;
use crate::lpm::{Prefix, Trie};
use crate::spec::{DeviceSpec, Neighbour, Route};
use std::net::IpAddr;

impl Router {
    /// `macs` are those of the ports.
    pub(crate) fn new(spec: &DeviceSpec, routes: &[Route], neighbours: &[Neighbour], macs: &[u64]) -> Result<Self, DeviceError> {
        let mut build = Build {
            interfaces: interfaces(spec, macs)?,
            neighbours: Neighbours::new(),
            hops: vec![Hop::Local],
            v4: Vec::new(),
            v6: Vec::new(),
        };
        for (index, neighbour) in neighbours.iter().enumerate() {
            let field = format!("forwarding.neighbours[{index}]");
            let ip = address(&neighbour.ip).ok_or_else(|| not_an_address(&field, "ip", &neighbour.ip))?;
            let mac = crate::error::mac(&format!("{field}.mac"), &neighbour.mac)?;
            let port = build.on_link(ip, &field)?;
            let index = build.neighbours.add(ip, port);
            build.neighbours.fix(index, mac);
        }
        for (index, route) in routes.iter().enumerate() {
            let field = format!("forwarding.routes[{index}]");
            let via = address(&route.via).ok_or_else(|| not_an_address(&field, "via", &route.via))?;
            let (prefix, len) = network(&route.prefix).ok_or_else(|| {
                DeviceError::new(
                    format!("{field}.prefix"),
                    format!("`{}` is not a prefix such as `16.0.0.0/8`", route.prefix),
                )
            })?;
            if prefix.is_ipv4() != via.is_ipv4() {
                let why = format!("`{}` and `{}` are of different IP versions", route.prefix, route.via);
                return Err(DeviceError::new(field, why));
            }
            let port = build.on_link(via, &field)?;
            let neighbour = build.neighbours.add(via, port);
            build.add(prefix, len, Hop::Via(neighbour));
        }
        // Connected networks after static routes: of equal prefixes the later one holds.
        for port in 0..build.interfaces.len() {
            let Interface { v4, v6, .. } = build.interfaces[port];
            for (ip, len) in [v4.map(|(ip, len)| (IpAddr::V4(ip), len)), v6.map(|(ip, len)| (IpAddr::V6(ip), len))]
                .into_iter()
                .flatten()
            {
                build.add(ip, len, Hop::Connected(port));
            }
        }
        for port in 0..build.interfaces.len() {
            let Interface { v4, v6, .. } = build.interfaces[port];
            if let Some((ip, _)) = v4 {
                build.add(IpAddr::V4(ip), 32, Hop::Local);
            }
            if let Some((ip, _)) = v6 {
                build.add(IpAddr::V6(ip), 128, Hop::Local);
            }
        }
        Ok(Self {
            rip: spec.rip.then(|| Rip::new(build.v4.clone())),
            v4: Trie::new(&build.v4),
            v6: Trie::new(&build.v6),
            interfaces: build.interfaces,
            hops: build.hops,
            neighbours: build.neighbours,
        })
    }
}

struct Build {
    interfaces: Vec<Interface>,
    neighbours: Neighbours,
    hops: Vec<Hop>,
    v4: Vec<Prefix<4>>,
    v6: Vec<Prefix<16>>,
}

impl Build {
    fn add(&mut self, ip: IpAddr, len: u8, hop: Hop) {
        let value = place_of(&mut self.hops, hop);
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

    /// The port whose network holds `ip`.
    fn on_link(&self, ip: IpAddr, field: &str) -> Result<usize, DeviceError> {
        let holds = |interface: &Interface| match ip {
            IpAddr::V4(ip) => interface.v4.is_some_and(|(own, len)| same_network_v4(ip, own, len)),
            IpAddr::V6(ip) => interface.v6.is_some_and(|(own, len)| same_network_v6(ip, own, len)),
        };
        self.interfaces.iter().position(holds).ok_or_else(|| {
            DeviceError::new(field, format!("no port has a network that holds `{ip}`"))
                .hint("give one of the ports an address in the same network")
        })
    }
}

fn interfaces(spec: &DeviceSpec, macs: &[u64]) -> Result<Vec<Interface>, DeviceError> {
    let mut interfaces = Vec::new();
    for (index, port) in spec.ports.iter().enumerate() {
        let mut interface = Interface {
            mac: macs[index],
            v4: None,
            v6: None,
        };
        for (field, text) in [("ipv4", &port.ipv4), ("ipv6", &port.ipv6)] {
            let Some(text) = text else { continue };
            match network(text) {
                Some((IpAddr::V4(ip), len)) if field == "ipv4" => interface.v4 = Some((ip, len)),
                Some((IpAddr::V6(ip), len)) if field == "ipv6" => interface.v6 = Some((ip, len)),
                _ => {
                    let example = if field == "ipv4" { "100.64.0.1/30" } else { "2001:db8::1/64" };
                    let why = format!("`{text}` is not an address with prefix length such as `{example}`");
                    return Err(DeviceError::new(format!("ports[{index}].{field}"), why));
                }
            }
        }
        interfaces.push(interface);
    }
    Ok(interfaces)
}

fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

fn not_an_address(field: &str, part: &str, text: &str) -> DeviceError {
    DeviceError::new(format!("{field}.{part}"), format!("`{text}` is not an IP address"))
}
