//! What a stream's frames look like, as plain values: the header stack as the plan gives it.
//!
//! JSON shape (one header a map, `type` first):
//!
//! ```json
//! [{"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
//!  {"type": "vlan", "tpid": 33024, "vid": 10, "pcp": 0},
//!  {"type": "ipv4", "src": {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}, "dst": "48.0.0.1", "dscp": 0, "ttl": 64},
//!  {"type": "udp", "sport": {"step": {"start": 1025, "step": 1, "count": 64}}, "dport": {"list": [12, 13]}, "checksum": true}]
//! ```

use serde::{Deserialize, Serialize};

/// A header field: the same in every frame, or a function of the flow's index.
///
/// Flow `i` of a stream takes element `i` of the list or step, modulo its length, or draw `i` of the
/// seeded random sequence of this field. Fields are independent of each other (RFC 4814 section 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Field<T> {
    /// The same in every frame.
    Constant(T),
    /// Different from flow to flow.
    Vary(Vary<T>),
}

/// How a field differs from flow to flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vary<T> {
    /// These values, over and over.
    List(Vec<T>),
    /// `start`, `start + step`, ... `count` values, over and over.
    Step {
        /// First value.
        start: T,
        /// Distance between neighbours.
        step: u64,
        /// How many values.
        count: u64,
    },
    /// Uniform in `min..=max`, from the stream's seed and the field's place (or `seed`, if given).
    Random {
        /// Smallest value.
        min: T,
        /// Largest value.
        max: T,
        /// A seed of its own, to draw the same numbers as another field or stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
}

/// A MAC address, in text `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

/// One header of a stack. Lengths, next-protocol numbers and checksums are computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Header {
    /// Ethernet II. The type follows from the next header.
    Ethernet {
        /// Source.
        src: Field<Mac>,
        /// Destination.
        dst: Field<Mac>,
    },
    /// A VLAN tag: 802.1Q (`tpid` 0x8100), 802.1ad (0x88a8), or any other.
    Vlan {
        /// Tag protocol identifier.
        #[serde(default = "dot1q")]
        tpid: u16,
        /// VLAN, 0..4095.
        vid: Field<u16>,
        /// Priority, 0..7.
        #[serde(default)]
        pcp: u8,
        /// Drop eligible.
        #[serde(default)]
        dei: bool,
    },
    /// One MPLS label; the bottom-of-stack bit is set on the last.
    Mpls {
        /// Label, 20 bits.
        label: Field<u32>,
        /// Traffic class, 0..7.
        #[serde(default)]
        tc: u8,
        /// Time to live.
        #[serde(default = "ttl")]
        ttl: u8,
    },
    /// IPv4 without options.
    Ipv4 {
        /// Source.
        src: Field<std::net::Ipv4Addr>,
        /// Destination.
        dst: Field<std::net::Ipv4Addr>,
        /// Differentiated services code point.
        #[serde(default)]
        dscp: u8,
        /// Time to live.
        #[serde(default = "ttl")]
        ttl: u8,
    },
    /// IPv6 without extension headers.
    Ipv6 {
        /// Source.
        src: Field<std::net::Ipv6Addr>,
        /// Destination.
        dst: Field<std::net::Ipv6Addr>,
        /// Traffic class.
        #[serde(default)]
        dscp: u8,
        /// Flow label, 20 bits.
        #[serde(default)]
        flow_label: u32,
        /// Hop limit.
        #[serde(default = "ttl")]
        hop_limit: u8,
    },
    /// UDP.
    Udp {
        /// Source port.
        sport: Field<u16>,
        /// Destination port.
        dport: Field<u16>,
        /// Whether the checksum is filled in (IPv6 needs it).
        #[serde(default = "yes")]
        checksum: bool,
    },
    /// TCP without options: a stateless segment.
    Tcp {
        /// Source port.
        sport: Field<u16>,
        /// Destination port.
        dport: Field<u16>,
        /// Flag bits.
        #[serde(default = "ack")]
        flags: u8,
    },
    /// ICMP (or ICMPv6, after IPv6) echo request.
    Echo {
        /// Identifier.
        #[serde(default)]
        id: u16,
    },
    /// VXLAN; an inner Ethernet header follows.
    Vxlan {
        /// Network identifier, 24 bits.
        vni: Field<u32>,
    },
    /// GRE, version 0, no options but the key.
    Gre {
        /// Key, if present.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<u32>,
    },
}

fn dot1q() -> u16 {
    0x8100
}

fn ttl() -> u8 {
    64
}

fn yes() -> bool {
    true
}

fn ack() -> u8 {
    0x10
}

impl std::fmt::Display for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl std::str::FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2 && !part.starts_with('+'));
            *byte = part
                .and_then(|part| u8::from_str_radix(part, 16).ok())
                .ok_or_else(|| format!("`{text}` is not a MAC address"))?;
        }
        if parts.next().is_some() {
            Err(format!("`{text}` is not a MAC address"))
        } else {
            Ok(Self(bytes))
        }
    }
}

impl Serialize for Mac {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
