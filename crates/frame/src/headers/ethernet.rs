//! Ethernet II.

use crate::FrameError;
use crate::field::{Field, Mac};
use crate::layout::{Builder, Layer, Space};
use crate::parse::{ethertype, protocol};
use serde::{Deserialize, Serialize};

/// Ethernet II. The type follows from the next header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ethernet {
    /// Source.
    pub src: Field<Mac>,
    /// Destination.
    pub dst: Field<Mac>,
    /// The type, where raw bytes or the payload follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethertype: Option<u16>,
}

impl Layer for Ethernet {
    const NAME: &'static str = "ethernet";

    fn bytes(&self) -> usize {
        14
    }

    fn usual_number(space: Space) -> Option<u32> {
        match space {
            Space::Gre => Some(ethertype::BRIDGED.into()),
            Space::Ipv6 | Space::Extension => Some(protocol::ETHERNET.into()),
            Space::Label | Space::Frame | Space::Raw => Some(0),
            _ => None,
        }
    }

    fn carries(&self) -> Space {
        self.ethertype.map_or(Space::Type, |_| Space::Given("ethertype"))
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        builder.mac("dst", &self.dst, 0)?;
        builder.mac("src", &self.src, 6)?;
        builder.refuse_multicast_source()?;
        builder.put(12, builder.ethertype(self.ethertype)?.to_be_bytes());
        builder.ip = None;
        Ok(())
    }
}
