//! The sending side of a port: when each frame departs, what it holds, and how late it leaves.

mod departures;
mod lag;
mod load;
mod pace;
mod ramp;
mod schedule;
mod sender;
mod share;

pub use schedule::Schedule;
pub(crate) use sender::{Lane, Sender};
pub(crate) use share::deal;
