//! The tests of this crate, one program: what they share is compiled and linked once.

mod agent;
mod classes;
mod common;
mod events;
mod filter;
mod forwarding;
mod head_of_line;
mod invariants;
mod limits;
mod noise;
mod police;
mod real_time;
mod rip;
mod shaping;
mod subinterfaces;
mod tails;
mod truth;
