//! The receiving side: which stream a frame belongs to, whether it is new and intact, and how long it took.

mod receiver;
mod signature;

pub(crate) use receiver::{Arrivals, Receiver};
pub(crate) use signature::Signature;
