//! The outside of netdyno: time, ports and their backends, threads, shared memory.
//!
//! All `unsafe` code and all clock reads of the project are in this crate. It does not know what is
//! in a frame, nor what a trial is.

pub mod backend;
pub mod claim;
pub mod drive;
pub mod limit;
pub mod looks;
pub mod machine;
pub mod port;
pub mod pressure;
pub mod process;
pub mod reason;
pub mod region;
pub mod tail;
pub mod taps;
pub mod time;
