//! UDP.

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Layer, Space};
use crate::parse::protocol;
use serde::{Deserialize, Serialize};

/// UDP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Udp {
    /// Source port.
    pub sport: Field<u16>,
    /// Destination port.
    pub dport: Field<u16>,
    /// Whether the checksum is filled in (IPv6 needs it).
    #[serde(default = "yes")]
    pub checksum: bool,
}

fn yes() -> bool {
    true
}

impl Layer for Udp {
    const NAME: &'static str = "udp";

    fn bytes(&self) -> usize {
        8
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Ipv4 | Space::Ipv6 | Space::Extension).then_some(protocol::UDP.into())
    }

    fn carries(&self) -> Space {
        Space::Udp
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        builder.ports(&self.sport, &self.dport)?;
        builder.length(4, 0);
        let is_tunnel = builder.next != 0;
        if self.checksum {
            builder.checksum(6, Some(protocol::UDP), true);
        } else if !is_tunnel && builder.is_over_ipv6() {
            // RFC 8200 section 8.1; tunnels are excepted by RFC 6935.
            return Err(builder.error("checksum", "UDP over IPv6 needs its checksum", "leave `checksum` out"));
        }
        Ok(())
    }
}
