//! Bytes as the plan gives them.

use crate::FrameError;
use crate::field::Bytes;
use crate::layout::{Builder, Layer, Space};
use crate::parse::ethertype;
use serde::{Deserialize, Serialize};

/// The most bytes of one such header.
const MOST_BYTES: usize = 1024;

/// Bytes of any kind, an even number: a header that netdyno does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    /// The bytes.
    pub bytes: Bytes,
}

impl Layer for Raw {
    const NAME: &'static str = "raw";

    fn bytes(&self) -> usize {
        self.bytes.0.len()
    }

    fn usual_number(space: Space) -> Option<u32> {
        match space {
            Space::Gre => Some(ethertype::EXPERIMENTAL.into()),
            Space::Label | Space::Frame | Space::Packet | Space::Session => Some(0),
            _ => space.payload(),
        }
    }

    fn carries(&self) -> Space {
        Space::Raw
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        let length = self.bytes.0.len();
        if length == 0 || length > MOST_BYTES || length % 2 == 1 {
            // The probe must lie at an even offset: its sum is the same there.
            let why = format!("{length} bytes");
            return Err(builder.error("bytes", why, format!("an even number, 2 to {MOST_BYTES}")));
        }
        builder.copy(0, &self.bytes.0);
        builder.ip = None;
        Ok(())
    }
}
