//! Every byte layout netdyno knows: header stacks, templates, what varies from frame to frame,
//! checksums, and the probe in the payload. No I/O, no clock.
//!
//! Frames are bytes from the destination MAC on, without FCS: a "64-byte frame" is 60 bytes here.
//! Sizes that people name (`64B`, the `sizes` of a template) count the FCS, as RFC 2544 section 9 does.
#![forbid(unsafe_code)]

pub mod address;
pub mod arp;
pub mod chance;
pub mod checksum;
pub mod control;
pub mod hello;
pub mod icmp;
pub mod mix;
pub mod nd;
pub mod parse;
pub mod pcap;
pub mod probe;
pub mod side_by_side;
pub mod spec;
pub mod template;
pub mod tuple;

mod bytes;
mod content;
mod error;
mod field;
mod headers;
mod layout;
mod stack;
mod vary;
mod write;

pub use error::FrameError;

/// The frame check sequence, counted in a frame's size and never part of its bytes here.
pub const FCS_BYTES: u32 = 4;
/// The smallest Ethernet frame, FCS counted (IEEE 802.3 section 3.2.7).
pub const MINIMUM_SIZE: u32 = 64;
/// The largest frame size a template makes, FCS counted (RFC 6985 names 16,000 as its largest letter).
pub const MAXIMUM_SIZE: u32 = 16_384;
