//! IPv6 hop-by-hop and destination options (RFC 8200 sections 4.3 and 4.6).

use crate::FrameError;
use crate::field::Bytes;
use crate::layout::{Builder, Layer, Space};
use crate::parse::protocol;
use serde::{Deserialize, Serialize};

/// The longest options header: its length field counts units of eight bytes beyond the first.
const MOST_BYTES: usize = 2048;

/// IPv6 hop-by-hop options, right behind the IPv6 header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HopByHop {
    /// Options as they stand on the wire; padding follows.
    #[serde(default)]
    pub options: Bytes,
    /// Length of the header, a multiple of 8; the least that holds the options if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u16>,
}

/// IPv6 destination options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DestinationOptions {
    /// As of [`HopByHop`].
    #[serde(default)]
    pub options: Bytes,
    /// As of [`HopByHop`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u16>,
}

impl Layer for HopByHop {
    const NAME: &'static str = "hop_by_hop";

    fn bytes(&self) -> usize {
        bytes(&self.options, self.size)
    }

    fn usual_number(space: Space) -> Option<u32> {
        (space == Space::Ipv6).then_some(protocol::HOP_BY_HOP.into())
    }

    fn carries(&self) -> Space {
        Space::Extension
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        build(builder, &self.options, self.size)
    }
}

impl Layer for DestinationOptions {
    const NAME: &'static str = "destination_options";

    fn bytes(&self) -> usize {
        bytes(&self.options, self.size)
    }

    fn usual_number(space: Space) -> Option<u32> {
        matches!(space, Space::Ipv6 | Space::Extension).then_some(protocol::DESTINATION_OPTIONS.into())
    }

    fn carries(&self) -> Space {
        Space::Extension
    }

    fn build(&self, builder: &mut Builder) -> Result<(), FrameError> {
        build(builder, &self.options, self.size)
    }
}

fn bytes(Bytes(options): &Bytes, size: Option<u16>) -> usize {
    (2 + options.len()).max(size.unwrap_or(0).into()).next_multiple_of(8)
}

fn build(builder: &mut Builder, options: &Bytes, size: Option<u16>) -> Result<(), FrameError> {
    let total = bytes(options, size);
    let Bytes(options) = options;
    if let Some(size) = size.filter(|size| usize::from(*size) != total) {
        let why = format!("{size} bytes are no length for {} bytes of options", options.len());
        return Err(builder.error("size", why, format!("a multiple of 8, such as {total}")));
    }
    if total > MOST_BYTES {
        let field = if size.is_some() { "size" } else { "options" };
        return Err(builder.error(field, format!("{total} bytes of options"), format!("at most {MOST_BYTES}")));
    }
    builder.put(0, [builder.next as u8, (total / 8 - 1) as u8]);
    builder.copy(2, options);
    let mut at = 2 + options.len();
    while at < total {
        // Pad1 is a zero, PadN its type, the length of the rest, and zeros.
        let padding = (total - at).min(257);
        if padding > 1 {
            builder.put(at, [1, (padding - 2) as u8]);
        }
        at += padding;
    }
    Ok(())
}
