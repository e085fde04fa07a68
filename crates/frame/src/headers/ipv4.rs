//! IPv4.

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Ip, Kind, Layer, Space};
use crate::parse::{ethertype, ppp, protocol};
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// IPv4 without options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ipv4 {
    /// Source.
    pub src: Field<Ipv4Addr>,
    /// Destination.
    pub dst: Field<Ipv4Addr>,
    /// Differentiated services code point.
    #[serde(default = "zero")]
    pub dscp: Field<u8>,
    /// Time to live.
    #[serde(default = "ttl_field")]
    pub ttl: Field<u8>,
    /// Do not fragment.
    #[serde(default = "no")]
    pub df: Field<bool>,
    /// Identification.
    #[serde(default = "none")]
    pub id: Field<u16>,
    /// More fragments follow.
    #[serde(default)]
    pub more: bool,
    /// Where in its packet this fragment begins, bytes.
    #[serde(default)]
    pub offset: u16,
    /// The protocol, where raw bytes or the payload follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u8>,
}

pub(super) fn ttl() -> u8 {
    64
}

pub(super) fn ttl_field() -> Field<u8> {
    Field::Constant(ttl())
}

pub(super) fn zero() -> Field<u8> {
    Field::Constant(0)
}

fn none() -> Field<u16> {
    Field::Constant(0)
}

fn no() -> Field<bool> {
    Field::Constant(false)
}

impl Layer for Ipv4 {
    const NAME: &'static str = "ipv4";

    fn bytes(&self) -> usize {
        20
    }

    fn usual_number(space: Space) -> Option<u32> {
        match space {
            Space::Type | Space::Gre => Some(ethertype::IPV4.into()),
            Space::Ipv4 | Space::Ipv6 | Space::Extension => Some(protocol::IPV4.into()),
            Space::Ppp => Some(ppp::IPV4.into()),
            Space::Label | Space::Packet | Space::Raw => Some(0),
            _ => None,
        }
    }

    fn carries(&self) -> Space {
        match self.protocol {
            Some(_) => Space::Given("protocol"),
            None if self.offset > 0 => Space::Given("offset"),
            None => Space::Ipv4,
        }
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let offset = builder.fragment(self.offset, self.more, 20)?;
        builder.put(0, [0x45]);
        builder.put(6, (u16::from(self.more) << 13 | offset).to_be_bytes());
        builder.put(9, [builder.protocol(self.protocol, self.offset)]);
        let number = |address: Ipv4Addr| u128::from(u32::from(address));
        builder.field("src", Kind::Ipv4, &self.src, number, 12, 4, (32, 0))?;
        builder.field("dst", Kind::Ipv4, &self.dst, number, 16, 4, (32, 0))?;
        builder.field("dscp", Kind::Number, &self.dscp, u128::from, 0, 2, (6, 2))?;
        builder.field("id", Kind::Number, &self.id, u128::from, 4, 2, (16, 0))?;
        builder.field("df", Kind::Number, &self.df, u128::from, 6, 2, (1, 14))?;
        builder.field("ttl", Kind::Number, &self.ttl, u128::from, 8, 2, (8, 8))?;
        builder.length(2, 0);
        builder.header_checksum(10, 20);
        builder.ip = Some(Ip {
            version: 4,
            source: builder.at + 12,
            destination: builder.at + 16,
        });
        Ok(())
    }
}
