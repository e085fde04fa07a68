//! The tests of this crate, one program: what they share is compiled and linked once.

mod common;
mod forwarding;
mod invariants;
mod police;
mod real_time;
mod truth;
