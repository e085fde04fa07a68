//! PPPoE sessions (RFC 2516), and the PPP in them.

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Kind, Layer, Space};
use crate::parse::ethertype;
use serde::{Deserialize, Serialize};

/// A PPPoE session; PPP follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pppoe {
    /// Session identifier.
    pub session: Field<u16>,
}

impl Layer for Pppoe {
    const NAME: &'static str = "pppoe";

    fn bytes(&self) -> usize {
        6
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Type | Space::Raw).then_some(ethertype::PPPOE.into())
    }

    fn carries(&self) -> Space {
        Space::Session
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        builder.put(0, [0x11, 0]); // version 1, type 1; session data
        builder.field("session", Kind::Number, &self.session, u128::from, 2, 2, (16, 0))?;
        builder.length(4, 6);
        Ok(())
    }
}

/// The protocol field of PPP (RFC 1661), two bytes. It follows from the next header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ppp {
    /// The protocol, where raw bytes or the payload follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u16>,
}

impl Layer for Ppp {
    const NAME: &'static str = "ppp";

    fn bytes(&self) -> usize {
        2
    }

    fn usual_number(space: Space) -> Option<u32> {
        (space == Space::Session).then_some(0)
    }

    fn carries(&self) -> Space {
        self.protocol.map_or(Space::Ppp, |_| Space::Given("protocol"))
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        builder.put(0, self.protocol.unwrap_or(builder.next as u16).to_be_bytes());
        Ok(())
    }
}
