//! Values that several parts of a specification have: servers, lines, times, ports.

use crate::error::DeviceError;
use crate::limits::BitServer;
use crate::police::Bucket;
use crate::service::{Line, Server};
use crate::spec::{BitRate, DeviceSpec, FrameRate, Police};

pub(super) fn no_such_port(field: String, port: usize, spec: &DeviceSpec) -> DeviceError {
    DeviceError::new(
        field,
        format!("there is no port {port}; device `{}` has 0 to {}", spec.name, spec.ports.len() - 1),
    )
}

pub(super) fn picoseconds(field: &str, ns: u64) -> Result<u64, DeviceError> {
    const HOUR_NS: u64 = 3_600_000_000_000;
    if ns > HOUR_NS {
        return Err(DeviceError::new(field, format!("{ns} ns is more than an hour")));
    }
    Ok(ns * 1000)
}

pub(super) fn server(field: String, rate: Option<FrameRate>, queue: u32) -> Result<Option<Server>, DeviceError> {
    let Some(rate) = rate else { return Ok(None) };
    match Server::new(rate, queue) {
        Some(server) => Ok(Some(server)),
        None => Err(
            DeviceError::new(field, format!("{}/{} frames per second with a queue of {queue}", rate.0, rate.1))
                .hint("give a positive fraction; the queue must drain within some months"),
        ),
    }
}

pub(super) fn bits(field: String, rate: Option<BitRate>, queue: u32) -> Result<Option<BitServer>, DeviceError> {
    let server = rate.map(|rate| BitServer::new(rate, queue).ok_or_else(|| DeviceError::new(field, "0 bit/s: nothing would ever pass")));
    server.transpose()
}

pub(super) fn line(field: String, rate_bps: u64) -> Result<Line, DeviceError> {
    Line::new(rate_bps).ok_or_else(|| DeviceError::new(field, "0 bit/s: nothing would ever leave"))
}

/// The bucket of a shaper, which must hold the longest frame.
pub(super) fn shaper(field: String, shape: Option<&Police>, max_frame: u32) -> Result<Option<Bucket>, DeviceError> {
    let Some(shape) = shape else { return Ok(None) };
    if shape.excess.is_some() {
        return Err(DeviceError::new(field, "a shaper has one rate"));
    }
    let bucket = Bucket::new(shape).filter(|bucket| bucket.fits(u64::from(max_frame)));
    let why = || format!("{} bit/s with a burst of {} bytes", shape.rate_bps, shape.burst_bytes);
    let hint = || format!("the longest frame, {max_frame} bytes and its FCS, must fit the bucket");
    bucket.map(Some).ok_or_else(|| DeviceError::new(field, why()).hint(hint()))
}
