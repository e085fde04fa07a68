//! GRE (RFC 2784, RFC 2890).

use crate::FrameError;
use crate::layout::{Builder, Layer, Space};
use crate::parse::protocol;
use serde::{Deserialize, Serialize};

/// GRE, version 0, no options but the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gre {
    /// Key, if present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u32>,
}

impl Layer for Gre {
    const NAME: &'static str = "gre";

    fn bytes(&self) -> usize {
        4 + 4 * usize::from(self.key.is_some())
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Ipv4 | Space::Ipv6 | Space::Extension).then_some(protocol::GRE.into())
    }

    fn carries(&self) -> Space {
        Space::Gre
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        builder.put(0, (u16::from(self.key.is_some()) << 13).to_be_bytes());
        builder.put(2, (builder.next as u16).to_be_bytes());
        if let Some(key) = self.key {
            builder.put(4, key.to_be_bytes());
        }
        Ok(())
    }
}
