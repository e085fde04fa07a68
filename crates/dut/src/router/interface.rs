//! The interfaces of a router: its ports, and behind them in the same numbering the VLAN subinterfaces of all ports.

use crate::tags::{Stack, Tags};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// An interface: a port's untagged frames, or those with the tags of a subinterface.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub(super) port: usize,
    pub(super) mac: u64,
    pub(super) v4: Option<(Ipv4Addr, u8)>,
    pub(super) v6: Option<(Ipv6Addr, u8)>,
    /// None of a port.
    pub(super) tags: Stack,
}

/// What a router with subinterfaces knows beyond them.
#[derive(Debug)]
pub(super) struct Tagged {
    /// The subinterfaces of each port, and the interface that the first of them is.
    pub(super) ports: Vec<(Arc<Tags>, usize)>,
    /// The longest frame that leaves, FCS not counted.
    pub(super) longest: usize,
    /// Where a frame gets other tags; what is left in it means nothing.
    pub(super) scratch: Vec<u8>,
}
