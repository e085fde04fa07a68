//! The tester: one trial, from spec to counts. It is given the time and its ports.
#![forbid(unsafe_code)]

mod error;
mod host;
mod observe;
mod reason;
mod receive;
pub mod result;
mod send;
pub mod spec;
mod trial;

pub use error::SpecError;
pub use reason::Invalid;
pub use send::Schedule;
pub use trial::{
    AHEAD_PS, ANSWER_PS, Follower, IntervalSnapshot, PortSnapshot, Progress, Refused, Snapshot, Standing, StreamSnapshot, Trial, claims,
    stream_seed,
};
