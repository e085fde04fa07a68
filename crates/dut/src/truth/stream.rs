//! What is offered to a device, and what a perfect tester finds of it.

use super::ratio::{Ratio, SECOND};
use crate::spec::{DeviceSpec, Hash};
use std::net::IpAddr;

/// When the frames of a stream depart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departures {
    /// Frame `k` at `floor(k * bits * 10^12 / load)` picoseconds, `bits` being those of the frame on L1.
    Constant {
        /// L1 bits per second.
        load_bps: u64,
        /// How many frames.
        frames: u64,
    },
    /// Picoseconds from the start, in order. For ramps and steps.
    At(Vec<u64>),
}

/// One stream of equal frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Device port it enters.
    pub in_port: usize,
    /// Device port it is to leave by.
    pub out_port: usize,
    /// Frame size, FCS counted.
    pub size: u32,
    /// When frames depart.
    pub departures: Departures,
    /// The one flow all frames belong to, so that each meets the same member of a group; `None` if there are many.
    pub flow: Option<Flow>,
}

/// The one flow of a stream, as the hashes of groups see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Member of the ingress group it meets.
    pub in_member: u32,
    /// Member of the egress group it leaves by.
    pub out_member: u32,
}

impl Flow {
    /// The members that a UDP or TCP flow meets between two ports. The hash of `Hash::L2` needs MAC addresses, which
    /// a router changes: `None` if one of the groups uses it, or chooses members in two stages.
    #[must_use]
    pub fn of(spec: &DeviceSpec, in_port: usize, out_port: usize, source: (IpAddr, u16), destination: (IpAddr, u16)) -> Option<Self> {
        let (input, output) = (spec.ports.get(in_port)?, spec.ports.get(out_port)?);
        if output.stages.is_some() {
            return None;
        }
        Some(Self {
            in_member: member(input.partner_hash, input.members, source, destination)?,
            out_member: member(output.hash, output.members, source, destination)?,
        })
    }
}

/// XOR folded to 8 bits is the XOR of all bytes.
fn member(hash: Hash, members: u32, source: (IpAddr, u16), destination: (IpAddr, u16)) -> Option<u32> {
    let bytes = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.octets().iter().fold(0, |all, byte| all ^ byte),
        IpAddr::V6(ip) => ip.octets().iter().fold(0, |all, byte| all ^ byte),
    };
    let port = |port: u16| (port >> 8) as u8 ^ port as u8;
    let (from, to) = (bytes(source.0), bytes(destination.0));
    let folded = match hash {
        _ if members == 1 => 0,
        Hash::L2 => return None,
        Hash::SrcIp => from,
        Hash::DstIp => to,
        Hash::SrcDstIp => from ^ to,
        Hash::L3L4 => from ^ to ^ port(source.1) ^ port(destination.1),
    };
    Some(u32::from(folded) % members.max(1))
}

/// What a perfect tester finds for one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Frames offered.
    pub offered: u64,
    /// Distinct frames received as sent.
    pub received: u64,
    /// `offered - received - corrupted`.
    pub lost: u64,
    /// Further copies.
    pub duplicates: u64,
    /// Received after a later frame (RFC 4737), if the stream is one flow.
    pub out_of_order: u64,
    /// Received, but not as sent.
    pub corrupted: u64,
    /// First bit out to last bit in, picoseconds; `None` where only counts are known.
    pub latency_min_ps: Option<u64>,
    /// The same.
    pub latency_max_ps: Option<u64>,
}

/// There is no closed form for this; `why` says what is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoClosedForm {
    /// What is in the way.
    pub why: String,
}

impl std::fmt::Display for NoClosedForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no closed form: {}", self.why)
    }
}

impl std::error::Error for NoClosedForm {}

pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T, NoClosedForm> {
    Err(NoClosedForm { why: why.into() })
}

/// Frames that a constant load offers within `duration_ns`: those whose departure lies before its end.
#[must_use]
pub fn frames_offered(load_bps: u64, size: u32, duration_ns: u64) -> u64 {
    let bits = u128::from(size + 20) * 8;
    (u128::from(load_bps) * u128::from(duration_ns)).div_ceil(bits * 1_000_000_000) as u64
}

/// `g` of a constant load.
pub(crate) fn interval(size: u32, load_bps: u64) -> Ratio {
    Ratio::new(u128::from(size + 20) * 8 * SECOND, u128::from(load_bps))
}
