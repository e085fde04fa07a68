//! The tester: one trial, from spec to counts. It is told the time and given its ports.
#![forbid(unsafe_code)]

mod claims;
mod compile;
mod course;
mod departures;
mod error;
mod follower;
mod host;
mod lag;
mod latency;
mod load;
mod observe;
mod order;
mod pace;
mod progress;
mod ramp;
mod receive;
mod report;
pub mod result;
pub mod schedule;
mod script;
mod series;
mod share;
mod signature;
pub mod spec;
mod transmit;
mod trial;
mod worker;

pub use claims::claims;
pub use compile::stream_seed;
pub use error::SpecError;
pub use follower::Follower;
pub use progress::{PortSnapshot, Progress, Snapshot};
pub use trial::{AHEAD_PS, ANSWER_PS, Refused, Standing, Trial};
