//! ICMP and ICMPv6 echo requests.

use crate::FrameError;
use crate::layout::{Builder, Layer, Space};
use crate::parse::protocol;
use serde::{Deserialize, Serialize};

/// ICMP (or ICMPv6, after IPv6) echo request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Echo {
    /// Identifier.
    #[serde(default)]
    pub id: u16,
}

impl Layer for Echo {
    const NAME: &'static str = "echo";

    fn bytes(&self) -> usize {
        8
    }

    fn usual_number(space: Space) -> Option<u32> {
        match space {
            Space::Ipv4 => Some(protocol::ICMP.into()),
            Space::Ipv6 | Space::Extension => Some(protocol::ICMPV6.into()),
            _ => None,
        }
    }

    fn carries(&self) -> Space {
        Space::Payload
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let (kind, pseudo) = if builder.is_over_ipv6() {
            (128, Some(protocol::ICMPV6))
        } else {
            (8, None)
        };
        builder.put(0, [kind, 0]);
        builder.put(4, self.id.to_be_bytes());
        builder.echo_sequence(6);
        builder.checksum(2, pseudo, false);
        Ok(())
    }
}
