//! The IPv6 fragment header (RFC 8200 section 4.5).

use crate::FrameError;
use crate::field::Field;
use crate::layout::{Builder, Kind, Layer, Space};
use crate::parse::protocol;
use serde::{Deserialize, Serialize};

/// An IPv6 fragment header. With `offset` 0 and no `more` the packet is whole (RFC 6946).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    /// Identification.
    #[serde(default = "zero")]
    pub id: Field<u32>,
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

fn zero() -> Field<u32> {
    Field::Constant(0)
}

impl Layer for Fragment {
    const NAME: &'static str = "fragment";

    fn bytes(&self) -> usize {
        8
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Ipv6 | Space::Extension).then_some(protocol::FRAGMENT.into())
    }

    fn carries(&self) -> Space {
        match self.protocol {
            Some(_) => Space::Given("protocol"),
            None if self.offset > 0 => Space::Given("offset"),
            None => Space::Extension,
        }
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let offset = builder.fragment(self.offset, self.more, 8)?;
        builder.put(0, [builder.protocol(self.protocol, self.offset)]);
        builder.put(2, (offset << 3 | u16::from(self.more)).to_be_bytes());
        builder.field("id", Kind::Number, &self.id, u128::from, 4, 4, (32, 0))
    }
}
