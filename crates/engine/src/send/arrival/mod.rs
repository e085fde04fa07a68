//! How the frames of a load are placed in time, if not evenly: where in each stretch they depart.
//!
//! As many frames depart in each stretch as do evenly, and in the same order: only when differs.

mod poisson;
mod wave;

pub(super) use poisson::{Draw, Poisson};
pub(super) use wave::Wave;

use std::sync::Arc;

/// The arrivals of a stream, if they are not even.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The load goes up and down periodically.
    Wave(Arc<Wave>),
    /// Times are drawn.
    Poisson(Arc<Poisson>),
}
