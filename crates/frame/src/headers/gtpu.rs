//! GTP-U (3GPP TS 29.281), maybe with a PDU session container (TS 38.415).

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Kind, Layer, Space};
use crate::parse::GTPU_PORT;
use serde::{Deserialize, Serialize};

/// GTP-U; an IP packet follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gtpu {
    /// Tunnel endpoint identifier.
    pub teid: Field<u32>,
    /// QoS flow identifier, 6 bits: adds a PDU session container of 5G, downlink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qfi: Option<u8>,
}

impl Layer for Gtpu {
    const NAME: &'static str = "gtpu";

    fn bytes(&self) -> usize {
        8 + 8 * usize::from(self.qfi.is_some())
    }

    fn usual_number(space: Space) -> Option<u32> {
        (space == Space::Udp).then_some(GTPU_PORT.into())
    }

    fn carries(&self) -> Space {
        Space::Packet
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        // Version 1, GTP and not GTP'; a user packet.
        builder.put(0, [0x30, 0xff]);
        builder.length(2, 8);
        builder.field("teid", Kind::Number, &self.teid, u128::from, 4, 4, (32, 0))?;
        if let Some(qfi) = self.qfi {
            let qfi = builder.fit("qfi", qfi.into(), 63)?;
            builder.put(0, [0x34]);
            // No sequence number, no N-PDU number, a PDU session container of four bytes, no other extension.
            builder.put(8, [0, 0, 0, 0x85, 1, 0, qfi as u8, 0]);
        }
        Ok(())
    }
}
