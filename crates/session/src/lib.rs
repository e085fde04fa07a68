//! Joins what may not know each other: port backends, emulated devices and the tester. Opens what a
//! session spec names, runs trials in virtual or real time, hands back counts.
#![forbid(unsafe_code)]

mod error;
mod frames;
mod open;
mod readings;
mod serve;
mod session;
mod spacing;
pub mod spec;
mod spread;
mod stride;
mod taps;
mod threads;
mod truth;

pub use error::{Refusal, SessionError, codes};
pub use frames::{SentFrame, frames};
pub use netdyno_engine::Progress;
pub use netdyno_engine::spec::{Begin, TrialSpec};
pub use netdyno_io::machine;
pub use netdyno_io::reason::{Code, Field, Reason};
pub use netdyno_io::taps::{Carried, Taps};
pub use netdyno_io::time::Clock;
pub use readings::Reading;
pub use serve::{ServeSpec, Served, Server};
pub use session::{Outcome, Session};
pub use spacing::{Gaps, Spacing};
pub use taps::TapsSpec;
pub use truth::{StreamTruth, Truth, truth};
