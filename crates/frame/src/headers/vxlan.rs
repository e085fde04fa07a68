//! VXLAN (RFC 7348).

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Kind, Layer, Space};
use crate::parse::VXLAN_PORTS;
use serde::{Deserialize, Serialize};

/// VXLAN; an inner Ethernet header follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vxlan {
    /// Network identifier, 24 bits.
    pub vni: Field<u32>,
}

impl Layer for Vxlan {
    const NAME: &'static str = "vxlan";

    fn bytes(&self) -> usize {
        8
    }

    fn usual_number(space: Space) -> Option<u32> {
        (space == Space::Udp).then_some(VXLAN_PORTS[0].into())
    }

    fn carries(&self) -> Space {
        Space::Frame
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        builder.put(0, [0x08, 0, 0, 0]); // the network identifier is valid (RFC 7348 section 5)
        builder.field("vni", Kind::Number, &self.vni, u128::from, 4, 4, (24, 8))
    }
}
