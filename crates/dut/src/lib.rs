//! Emulated devices and the closed-form truth about them.
#![forbid(unsafe_code)]

pub mod spec;
