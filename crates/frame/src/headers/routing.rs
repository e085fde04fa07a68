//! IPv6 routing headers (RFC 8200 section 4.4), and that of segment routing (RFC 8754).

use crate::FrameError;
use crate::layout::{Builder, Layer, Space};
use crate::parse::protocol;
use serde::{Deserialize, Serialize};
use std::net::Ipv6Addr;

/// Addresses that a routing header has room for.
const MOST_ADDRESSES: usize = 127;

/// An IPv6 routing header of any type with whole addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Routing {
    /// Type; 253 is for experiments (RFC 3692).
    #[serde(default = "experimental")]
    pub routing_type: u8,
    /// Addresses still to be visited.
    #[serde(default)]
    pub segments_left: u8,
    /// The addresses, the final destination last.
    #[serde(default)]
    pub addresses: Vec<Ipv6Addr>,
}

/// The segment routing header of SRv6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Srh {
    /// Segments in order of travel, the final destination last.
    pub segments: Vec<Ipv6Addr>,
    /// Segments still to be visited; all but the first if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments_left: Option<u8>,
    /// Tag.
    #[serde(default)]
    pub tag: u16,
}

fn experimental() -> u8 {
    protocol::EXPERIMENTAL
}

impl Layer for Routing {
    const NAME: &'static str = "routing";

    fn bytes(&self) -> usize {
        8 + 16 * self.addresses.len()
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Ipv6 | Space::Extension).then_some(protocol::ROUTING.into())
    }

    fn carries(&self) -> Space {
        Space::Extension
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let last = (self.addresses.len() * 16).saturating_sub(8);
        put_head(builder, "addresses", &self.addresses, self.routing_type, self.segments_left, last)?;
        for (index, address) in self.addresses.iter().enumerate() {
            builder.put(8 + 16 * index, address.octets());
        }
        Ok(())
    }
}

impl Layer for Srh {
    const NAME: &'static str = "srh";

    fn bytes(&self) -> usize {
        8 + 16 * self.segments.len()
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Ipv6 | Space::Extension).then_some(protocol::ROUTING.into())
    }

    fn carries(&self) -> Space {
        Space::Extension
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let Some(last_entry) = self.segments.len().checked_sub(1) else {
            return Err(builder.error("segments", "there are no segments", "name at least one"));
        };
        let left = self.segments_left.unwrap_or(last_entry as u8);
        // A reduced list leaves out the first segment (RFC 8754 section 4.1.1): all of it may be left.
        put_head(builder, "segments", &self.segments, 4, left, 8)?;
        builder.put(4, [last_entry as u8, 0]);
        builder.put(6, self.tag.to_be_bytes());
        for (index, segment) in self.segments.iter().rev().enumerate() {
            builder.put(8 + 16 * index, segment.octets());
        }
        Ok(())
    }
}

/// Puts down what routing headers have in common; the final destination lies at `last`.
fn put_head(builder: &mut Builder, field: &'static str, addresses: &[Ipv6Addr], kind: u8, left: u8, last: usize) -> Result<(), FrameError> {
    let count = addresses.len();
    if count > MOST_ADDRESSES {
        return Err(builder.error(field, format!("{count} addresses"), format!("at most {MOST_ADDRESSES}")));
    }
    builder.fit("segments_left", left.into(), count as u32)?;
    builder.put(0, [builder.next as u8, (2 * count) as u8, kind, left]);
    if left > 0
        && let Some(ip) = &mut builder.ip
    {
        ip.destination = builder.at + last;
    }
    Ok(())
}
