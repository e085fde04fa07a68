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
mod stream;

pub use stream::{Departures, Expected, Flow, NoClosedForm, Offered, frames_offered};

use crate::spec::DeviceSpec;
use path::Path;

/// Returns what a perfect tester finds, per stream. All streams begin at the same time.
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
