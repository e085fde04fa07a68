//! The tests of this crate, one program: what they share is compiled and linked once.

mod common;
mod fuzz;
mod judge;
mod literal;
mod mistakes;
mod pairs;
mod probe;
mod property;
mod random;
mod side_by_side;
mod spec;
mod template;
mod tshark;
mod writes;
