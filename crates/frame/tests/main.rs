//! The tests of this crate, one program: what they share is compiled and linked once.

mod common;
mod fuzz;
mod judge;
mod lanes;
mod literal;
mod mistakes;
mod probe;
mod property;
mod random;
mod spec;
mod template;
mod tshark;
