//! The addresses a tester port answers for, VLAN by VLAN.

use crate::spec::{TagSpec, TesterPortSpec};
use netdyno_frame::nd::link_local;
use netdyno_frame::parse::Tag;
use netdyno_frame::spec::Mac;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Who a port is on one VLAN.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    pub ipv4: Option<Ipv4Addr>,
    pub ipv6: Option<Ipv6Addr>,
    /// Every IPv6 node has one (RFC 4291 section 2.1): next hops with link-local addresses are asked from it.
    link_local: Ipv6Addr,
}

impl Addresses {
    fn new(mac: Mac, ipv4: Option<&str>, ipv6: Option<&str>) -> Result<Self, String> {
        let ipv4 = match ipv4.map(address).transpose()? {
            Some(IpAddr::V6(other)) => return Err(format!("`{other}` is not an IPv4 address")),
            Some(IpAddr::V4(address)) => Some(address),
            None => None,
        };
        let ipv6 = match ipv6.map(address).transpose()? {
            Some(IpAddr::V4(other)) => return Err(format!("`{other}` is not an IPv6 address")),
            Some(IpAddr::V6(address)) => Some(address),
            None => None,
        };
        Ok(Self {
            ipv4,
            ipv6,
            link_local: ipv6.filter(Ipv6Addr::is_unicast_link_local).unwrap_or_else(|| link_local(mac)),
        })
    }

    /// Whether `address` is one of these.
    pub fn holds(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.ipv4 == Some(address),
            IpAddr::V6(address) => self.ipv6 == Some(address) || self.link_local == address,
        }
    }

    /// The address to ask for `target` from, if there is one of its scope.
    pub fn asking_v6(&self, target: Ipv6Addr) -> Option<Ipv6Addr> {
        if target.is_unicast_link_local() {
            return Some(self.link_local);
        }
        self.ipv6
    }
}

/// All addresses of a port.
#[derive(Clone, Debug)]
pub struct Own {
    plain: Addresses,
    vlans: Vec<(Vec<Tag>, Addresses)>,
}

impl Own {
    /// The addresses of the port that `spec` describes, whose MAC address is `mac`.
    ///
    /// # Errors
    /// If an address or a tag cannot be: which one and why.
    pub fn new(mac: Mac, spec: &TesterPortSpec) -> Result<Self, String> {
        let mut vlans: Vec<(Vec<Tag>, Addresses)> = Vec::new();
        for vlan in &spec.vlans {
            let tags = vlan.tags.iter().map(tag).collect::<Result<Vec<_>, _>>()?;
            if tags.is_empty() {
                return Err("an entry of `vlans` has no tags: untagged, the port is its own `ipv4` and `ipv6`".to_owned());
            }
            if vlans.iter().any(|(known, _)| same_vlans(known, &tags)) {
                let named: Vec<_> = tags.iter().map(|tag| tag.vid().to_string()).collect();
                return Err(format!("VLAN {} stands twice in `vlans`", named.join(".")));
            }
            vlans.push((tags, Addresses::new(mac, vlan.ipv4.as_deref(), vlan.ipv6.as_deref())?));
        }
        Ok(Self {
            plain: Addresses::new(mac, spec.ipv4.as_deref(), spec.ipv6.as_deref())?,
            vlans,
        })
    }

    /// Returns the port's addresses on the VLAN of `tags`.
    pub fn on(&self, tags: &[Tag]) -> &Addresses {
        let own = self.vlans.iter().find(|(known, _)| same_vlans(known, tags));
        own.map_or(&self.plain, |(_, addresses)| addresses)
    }

    /// The VLANs with addresses of their own.
    pub fn vlans(&self) -> impl Iterator<Item = &[Tag]> {
        self.vlans.iter().map(|(tags, _)| &tags[..])
    }
}

/// An address, with or without the prefix length a lab writes: of no use to a host that asks for its next hops by name.
fn address(text: &str) -> Result<IpAddr, String> {
    let bare = text.split('/').next().unwrap_or(text);
    bare.parse().map_err(|why| format!("`{text}` is not an IP address: {why}"))
}

/// The tag as it stands in a frame, priority 0.
///
/// # Errors
/// If it is no VLAN's (IEEE 802.1Q clause 9.6: 4095 is reserved).
pub fn tag(spec: &TagSpec) -> Result<Tag, String> {
    if spec.vid > 4094 {
        return Err(format!("there is no VLAN {}; they are numbered 0 to 4094", spec.vid));
    }
    Ok(Tag {
        tpid: spec.tpid,
        tci: spec.vid,
    })
}

/// Whether the tags are of the same VLANs; priorities may differ in an answer.
pub fn same_vlans(a: &[Tag], b: &[Tag]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.tpid == b.tpid && a.vid() == b.vid())
}
