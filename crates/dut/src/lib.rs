//! Emulated devices and the closed-form truth about them.
#![forbid(unsafe_code)]

mod adjacency;
mod agent;
mod aggregation;
mod both_ways;
mod bridge;
mod build;
mod by_member;
mod chance;
mod classes;
mod control;
mod device;
mod direct;
mod egress;
mod error;
mod events;
mod filter;
mod flight;
mod head_of_line;
mod header;
mod hellos;
mod impair;
mod ingress;
mod instruments;
mod leave;
mod limits;
mod lpm;
mod member;
mod pauses;
mod police;
mod pool;
mod queue;
mod recovery;
mod router;
mod service;
mod shaping;
mod shown;
mod sort;
pub mod spec;
mod switch;
mod tagged;
mod tags;
mod timeline;
pub mod truth;

pub use device::Device;
pub use error::DeviceError;
