//! The tests of this crate, one program: what they share is compiled and linked once.

mod adjacencies;
mod bursts;
mod clean;
mod common;
mod events;
mod faults;
mod jumps;
mod late;
mod limits;
mod loops;
mod pacing;
mod readings;
mod real;
mod serve;
mod strides;
mod truth;
mod vlans;
mod workers;
