//! Every byte layout netdyno knows: header stacks, templates, what varies from frame to frame,
//! checksums, and the probe in the payload. No I/O, no clock.
#![forbid(unsafe_code)]

pub mod spec;
