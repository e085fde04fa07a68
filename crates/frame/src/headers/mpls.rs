//! MPLS labels, and the control word before an Ethernet frame.

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Kind, Layer, Space};
use crate::parse::{ethertype, ppp};
use serde::{Deserialize, Serialize};

/// One MPLS label; the bottom-of-stack bit is set on the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mpls {
    /// Label, 20 bits.
    pub label: Field<u32>,
    /// Traffic class, 0..7.
    #[serde(default)]
    pub tc: u8,
    /// Time to live.
    #[serde(default = "super::ipv4::ttl")]
    pub ttl: u8,
}

impl Layer for Mpls {
    const NAME: &'static str = "mpls";

    fn bytes(&self) -> usize {
        4
    }

    fn usual_number(space: Space) -> Option<u32> {
        match space {
            Space::Type | Space::Gre => Some(ethertype::MPLS.into()),
            Space::Ppp => Some(ppp::MPLS.into()),
            Space::Label => Some(1),
            Space::Raw => Some(0),
            _ => None,
        }
    }

    fn carries(&self) -> Space {
        Space::Label
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let bottom = builder.next == 0;
        let tc = builder.fit("tc", self.tc.into(), 7)?;
        builder.put(0, (tc << 9 | u32::from(bottom) << 8 | u32::from(self.ttl)).to_be_bytes());
        builder.field("label", Kind::Number, &self.label, u128::from, 0, 4, (20, 12))
    }
}

/// The control word before an Ethernet frame behind the last label (RFC 4448 section 4.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlWord {
    /// Sequence number; 0 is none.
    #[serde(default)]
    pub sequence: u16,
}

impl Layer for ControlWord {
    const NAME: &'static str = "control_word";

    fn bytes(&self) -> usize {
        4
    }

    fn usual_number(space: Space) -> Option<u32> {
        (space == Space::Label).then_some(0)
    }

    fn carries(&self) -> Space {
        Space::Frame
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        // The first word is 0 (RFC 4448 section 4.6).
        builder.put(2, self.sequence.to_be_bytes());
        Ok(())
    }
}
