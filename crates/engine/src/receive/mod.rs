//! The receiving side: which stream a frame belongs to, whether it is new and intact, and how long it took.

mod arrivals;
mod bound;
mod receiver;
mod signature;
mod strangers;
mod tuples;

pub(crate) use arrivals::Arrivals;
pub(crate) use receiver::{OPENING_PS, Receiver};
pub(crate) use signature::Signature;
