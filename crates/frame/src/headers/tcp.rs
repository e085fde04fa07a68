//! TCP.

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Layer, Space};
use crate::parse::protocol;
use serde::{Deserialize, Serialize};

/// TCP without options: a stateless segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Source port.
    pub sport: Field<u16>,
    /// Destination port.
    pub dport: Field<u16>,
    /// Flag bits.
    #[serde(default = "ack")]
    pub flags: u8,
}

fn ack() -> u8 {
    0x10
}

impl Layer for Tcp {
    const NAME: &'static str = "tcp";

    fn bytes(&self) -> usize {
        20
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Ipv4 | Space::Ipv6 | Space::Extension).then_some(protocol::TCP.into())
    }

    fn carries(&self) -> Space {
        Space::Payload
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        builder.ports(&self.sport, &self.dport)?;
        builder.put(12, [5 << 4, self.flags]);
        builder.put(14, 0xffff_u16.to_be_bytes()); // window
        builder.checksum(16, Some(protocol::TCP), false);
        Ok(())
    }
}
