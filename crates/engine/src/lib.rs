//! The tester: one trial, from spec to counts. It is told the time and given its ports.
#![forbid(unsafe_code)]

pub mod result;
pub mod spec;
