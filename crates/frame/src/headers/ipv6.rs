//! IPv6.

use super::ipv4::{ttl_field, zero};
use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Ip, Kind, Layer, Space};
use crate::parse::{ethertype, ppp, protocol};
use serde::{Deserialize, Serialize};
use std::net::Ipv6Addr;

/// IPv6; extension headers are headers of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ipv6 {
    /// Source.
    pub src: Field<Ipv6Addr>,
    /// Destination.
    pub dst: Field<Ipv6Addr>,
    /// Differentiated services code point.
    #[serde(default = "zero")]
    pub dscp: Field<u8>,
    /// Flow label, 20 bits.
    #[serde(default)]
    pub flow_label: u32,
    /// Hop limit.
    #[serde(default = "ttl_field")]
    pub hop_limit: Field<u8>,
    /// The protocol, where raw bytes or the payload follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u8>,
}

impl Layer for Ipv6 {
    const NAME: &'static str = "ipv6";

    fn bytes(&self) -> usize {
        40
    }

    fn usual_number(space: Space) -> Option<u32> {
        match space {
            Space::Type | Space::Gre => Some(ethertype::IPV6.into()),
            Space::Ipv4 | Space::Ipv6 | Space::Extension => Some(protocol::IPV6.into()),
            Space::Ppp => Some(ppp::IPV6.into()),
            Space::Label | Space::Packet | Space::Raw => Some(0),
            _ => None,
        }
    }

    fn carries(&self) -> Space {
        self.protocol.map_or(Space::Ipv6, |_| Space::Given("protocol"))
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let flow_label = builder.fit("flow_label", self.flow_label, 0xf_ffff)?;
        builder.put(0, (6 << 28 | flow_label).to_be_bytes());
        builder.put(6, [self.protocol.unwrap_or(builder.next as u8)]);
        builder.field("src", Kind::Ipv6, &self.src, u128::from, 8, 16, (128, 0))?;
        builder.field("dst", Kind::Ipv6, &self.dst, u128::from, 24, 16, (128, 0))?;
        builder.field("dscp", Kind::Number, &self.dscp, u128::from, 0, 2, (6, 6))?;
        builder.field("hop_limit", Kind::Number, &self.hop_limit, u128::from, 6, 2, (8, 0))?;
        builder.length(4, 40);
        builder.ip = Some(Ip {
            version: 6,
            source: builder.at + 8,
            destination: builder.at + 24,
        });
        Ok(())
    }
}
