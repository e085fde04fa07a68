//! The tests of this crate, one program: what they share is compiled and linked once.

mod arrivals;
mod bursts;
mod busy;
mod catch_up;
mod catch_up_workers;
mod claims;
mod common;
mod fuzz;
mod hand;
mod life;
mod merge;
mod muster;
mod observed;
mod ports;
mod quarrel;
mod refused;
mod schedule;
mod script;
mod stepped;
mod translated;
mod trial;
mod workers;
