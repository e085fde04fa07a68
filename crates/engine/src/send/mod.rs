//! The sending side of a port: when each frame departs, what it holds, and how late it leaves.

mod arrival;
mod block;
mod bursts;
mod departures;
mod flow_runs;
mod lag;
mod lane;
mod late;
mod load;
mod merge;
mod own;
mod pace;
mod ramp;
mod schedule;
mod sender;
mod shared_lags;
mod stretch;

pub(crate) use flow_runs::deal;
pub(crate) use lane::Lane;
pub(crate) use own::Which;
pub use schedule::Schedule;
pub(crate) use sender::Sender;
