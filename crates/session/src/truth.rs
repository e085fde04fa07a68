//! The closed-form answer about an emulated device: conversion only, the reckoning is the device's.

use crate::error::SessionError;
use crate::spec::SessionSpec;
use netdyno_dut::spec::DeviceSpec;
use netdyno_engine::spec::TrialSpec;

/// What a perfect tester finds when it runs `trial` on `device` as `session` joins them.
///
/// # Errors
/// If there is no closed form for it: why.
pub fn truth(_device: &DeviceSpec, _session: &SessionSpec, _trial: &TrialSpec) -> Result<String, SessionError> {
    Err(SessionError::new("the closed form of emulated devices is not wired yet"))
}
