//! What is recorded of the frames of a stream: counts over time, latency, flows, and what a trial asks for beyond that.

mod broken;
mod by_flow;
mod flows;
mod histogram;
mod intervals;
mod latency;
mod ledger;
mod losses;
mod observer;
mod places;
mod reordering;
mod series;
mod silence;
mod spacing;
mod variation;

pub(crate) use by_flow::MOST_COUNTED;
pub(crate) use flows::{First, Flows, Order};
pub(crate) use intervals::Intervals;
pub(crate) use latency::{SharedTiming, Timing};
pub(crate) use ledger::Ledger;
pub(crate) use losses::{Gap, Losses};
pub(crate) use observer::{MOST_GAPS, Observer};
pub(crate) use series::Series;
