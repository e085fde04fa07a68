//! Emulated devices and the closed-form truth about them.
#![forbid(unsafe_code)]

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
mod egress;
mod error;
mod filter;
mod flight;
mod happen;
mod header;
mod holding;
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
mod router;
mod service;
mod shaping;
mod sort;
pub mod spec;
mod straight;
mod switch;
mod tagged;
mod tags;
mod timeline;
pub mod truth;
mod weary;

pub use device::Device;
pub use error::DeviceError;
