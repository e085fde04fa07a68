//! What a perfect tester finds at an emulated device, trial duration included, without simulating it.
//!
//! # Derivation
//!
//! A stream offers frames of `size` bytes at a constant L1 load; frame `k` departs at `d(k) = floor(k g)` with
//! `g = (size + 20) * 8 / load`, exact. On its way it meets stages that each take a fixed time: the line of a
//! group's far end, `in_fps`, `both_fps` (coming in), the box, `both_fps` (going out), the egress line.
//!
//! **A stage with service `s <= floor(g)`** never makes a frame wait: it adds `ceil(s)` (a line adds its
//! serialization) and hands the stream on as it came.
//!
//! **The first stage with `s >= ceil(g)`** is the bottleneck. With a queue of `K >= 1` it is never idle from the
//! first frame on: at most one service ends between two arrivals, and the frame that just arrived is there for
//! the next. So by the time frame `k` arrives `floor(d(k) / s)` frames are done, at most `K + 1` are inside, and
//!
//! ```text
//! admitted(k) = min(k + 1, floor(d(k) / s) + K + 1)
//! ```
//!
//! (by induction: frame `k` is admitted exactly if that leaves at most `K + 1` inside; the right side never grows by
//! more than one a frame, so the bound at the last frame is the tightest). Admitted frame `n`, from 0, is
//! the first with `k >= n` and `d(k) >= (n - K) s`, and is done `(n + 1) s` after the first arrival.
//!
//! **Stages behind the bottleneck** see frames at least `floor(s)` apart and are transparent if they take no longer.
//!
//! Where this does not hold (queue of 0, load within a picosecond of the capacity, departures given one by
//! one) the recursion behind the formula is computed frame by frame, `single::lindley`. What neither covers is refused.
//! Resources shared by several streams are covered only where they lose nothing: `n` periodic streams that
//! together ask no more than a server gives never have more than `n` frames in it.

mod faults;
mod path;
mod ratio;
mod single;

use crate::spec::{DeviceSpec, Hash};
use path::Path;
use ratio::Ratio;
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
    /// a router changes: `None` if one of the groups uses it.
    #[must_use]
    pub fn of(spec: &DeviceSpec, in_port: usize, out_port: usize, source: (IpAddr, u16), destination: (IpAddr, u16)) -> Option<Self> {
        let (input, output) = (spec.ports.get(in_port)?, spec.ports.get(out_port)?);
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

/// What a perfect tester finds, per stream. All streams begin at the same time.
///
/// The device knows the way (neighbours and addresses are learned) and carries nothing but these streams.
///
/// # Errors
/// If there is no closed form for this device and load.
pub fn expect(spec: &DeviceSpec, streams: &[Offered]) -> Result<Vec<Expected>, NoClosedForm> {
    let paths: Vec<Path> = streams.iter().map(|stream| Path::of(spec, stream)).collect::<Result<_, _>>()?;
    let crowded = path::check_sharing(&paths, streams)?;
    let outcome = |(index, stream): (usize, &Offered)| {
        let passed = if crowded[index] {
            single::all_pass(&paths[index], stream)?
        } else {
            single::pass(&paths[index], stream)?
        };
        faults::apply(spec, streams, index, passed)
    };
    streams.iter().enumerate().map(outcome).collect()
}

/// The highest whole L1 load in bits per second at which `stream` loses nothing for `duration_ns`, at most
/// `highest_bps`. The departures in `stream` do not count.
///
/// # Errors
/// If there is no closed form on the way.
pub fn zero_loss_load(spec: &DeviceSpec, stream: &Offered, duration_ns: u64, highest_bps: u64) -> Result<u64, NoClosedForm> {
    let loses = |load_bps: u64| -> Result<bool, NoClosedForm> {
        let departures = Departures::Constant {
            load_bps,
            frames: frames_offered(load_bps, stream.size, duration_ns),
        };
        let offered = Offered {
            departures,
            ..stream.clone()
        };
        Ok(expect(spec, &[offered])?[0].lost > 0)
    };
    if !loses(highest_bps)? {
        return Ok(highest_bps);
    }
    let (mut good, mut bad) = (0, highest_bps);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if loses(middle)? {
            bad = middle;
        } else {
            good = middle;
        }
    }
    Ok(good)
}

/// `g` of a constant load.
pub(crate) fn interval(size: u32, load_bps: u64) -> Ratio {
    Ratio::new(u128::from(size + 20) * 8 * ratio::SECOND, u128::from(load_bps))
}
