//! What is checked of a device as a whole before anything is made of it.

use super::values::no_such_port;
use crate::aggregation::MEMBERS;
use crate::error::DeviceError;
use crate::spec::{DevicePortSpec, DeviceSpec, Forwarding, When};
use crate::tags::{DEEPEST, TAG};
use netdyno_frame::MINIMUM_SIZE;
use netdyno_io::port::Port;

/// With `both_fps` the fixed delay is the step in which servers are advanced; below this the steps get too small.
const SHARED_DELAY_NS: u64 = 1000;

pub(super) fn check(spec: &DeviceSpec, ports: &[Box<dyn Port>], max_frame: u32) -> Result<(), DeviceError> {
    if spec.ports.len() != ports.len() {
        let why = format!(
            "device `{}` has {} ports and was given {}",
            spec.name,
            spec.ports.len(),
            ports.len()
        );
        return Err(DeviceError::new("ports", why));
    }
    if spec.ports.is_empty() {
        return Err(DeviceError::new("ports", format!("device `{}` has none", spec.name)));
    }
    // The longest frame a device makes by itself, a neighbour solicitation, which has the tags of a subinterface.
    let vlans = spec.ports.iter().flat_map(|port| &port.vlans);
    let least = 86 + vlans.map(|vlan| vlan.tags.len().min(DEEPEST) * TAG).max().unwrap_or(0) as u32;
    if !(least..=65_535).contains(&max_frame) {
        return Err(DeviceError::new(
            "max_frame",
            format!("{max_frame} bytes; the device takes {least} to 65535 without FCS"),
        ));
    }
    if let Some(largest) = spec.largest.filter(|&largest| largest < MINIMUM_SIZE) {
        let why = format!("{largest} bytes; the smallest frame has {MINIMUM_SIZE}");
        return Err(DeviceError::new("largest", why));
    }
    for (index, (port, real)) in spec.ports.iter().zip(ports).enumerate() {
        let field = |name: &str| format!("ports[{index}].{name}");
        if port.rate_bps == 0 {
            return Err(DeviceError::new(field("rate_bps"), "0 bit/s: nothing would ever leave"));
        }
        if port.members == 0 || port.members as usize > MEMBERS {
            let why = format!("{} members; a plain port has 1, a group up to {MEMBERS}", port.members);
            return Err(DeviceError::new(field("members"), why));
        }
        if let Some(stages) = port.stages {
            if stages.switches == 0 || !port.members.is_multiple_of(stages.switches) {
                let why = format!("{} switches do not share {} members evenly", stages.switches, port.members);
                return Err(DeviceError::new(field("stages.switches"), why));
            }
            if stages.rotate > 7 {
                return Err(DeviceError::new(
                    field("stages.rotate"),
                    format!("{} of the 8 bits of a hash; at most 7", stages.rotate),
                ));
            }
        }
        if real.info().max_frame < max_frame {
            let why = format!(
                "port `{}` carries frames of {} bytes, the device {max_frame}",
                real.info().name,
                real.info().max_frame
            );
            return Err(DeviceError::new(field("max_frame"), why));
        }
        if port.both_fps.is_some() && spec.delay_ns < SHARED_DELAY_NS {
            let why = format!("{} ns with `both_fps` on port `{}`", spec.delay_ns, port.name);
            return Err(DeviceError::new("delay_ns", why).hint(format!("give at least {SHARED_DELAY_NS} ns")));
        }
    }
    if spec.delay_per_byte_ps > 1_000_000_000 {
        return Err(DeviceError::new(
            "delay_per_byte_ps",
            format!("{} ps a byte; at most 1 ms", spec.delay_per_byte_ps),
        ));
    }
    if spec.head_of_line {
        let forwards = |port: &DevicePortSpec| port.filter.is_empty() && port.group_ns == 0;
        let plain = |port: &DevicePortSpec| {
            port.members == 1 && port.both_fps.is_none() && port.classes.is_empty() && port.shape.is_none() && forwards(port)
        };
        let limits = spec.box_fps.is_some() || spec.box_bits.is_some() || spec.trunk.is_some() || !spec.cards.is_empty();
        if !spec.ports.iter().all(plain) || limits || matches!(spec.forwarding, Forwarding::Router { .. }) {
            let why = "inputs hold frames back on bridges and cross connects of plain ports, without classes and shared capacities";
            return Err(DeviceError::new("head_of_line", why));
        }
    }
    impairments(spec)
}

fn impairments(spec: &DeviceSpec) -> Result<(), DeviceError> {
    for (index, impairment) in spec.impairments.iter().enumerate() {
        let field = |name: &str| format!("impairments[{index}].{name}");
        if let Some(port) = impairment.port.filter(|port| *port >= spec.ports.len()) {
            return Err(no_such_port(field("port"), port, spec));
        }
        match impairment.when {
            When::Every { every: 0, .. } => return Err(DeviceError::new(field("when.every"), "0: the same frame for ever")),
            When::Chance { of: 0, .. } | When::Window { of: 0, .. } => {
                return Err(DeviceError::new(field("when.of"), "a chance of parts in 0"));
            }
            When::Window { window_ns: 0, .. } => return Err(DeviceError::new(field("when.window_ns"), "windows of no length")),
            When::Period { every_ns: 0, .. } => return Err(DeviceError::new(field("when.every_ns"), "0: the same time for ever")),
            When::Chance { parts, of, .. } | When::Window { parts, of, .. } if parts > of => {
                return Err(DeviceError::new(
                    field("when.parts"),
                    format!("a chance of {parts} in {of} is more than all"),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}
