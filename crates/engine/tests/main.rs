//! The tests of this crate, one program: what they share is compiled and linked once.

mod busy;
mod catch_up;
mod claims;
mod common;
mod fuzz;
mod hand;
mod life;
mod muster;
mod ports;
mod quarrel;
mod schedule;
mod trial;
mod workers;
