//! VLAN subinterfaces: their tags, and their shapers.

use super::values::shaper;
use crate::error::DeviceError;
use crate::shaping::{Shaper, Shapers};
use crate::sort::Sort;
use crate::spec::{DevicePortSpec, DeviceSpec, DeviceVlan, Forwarding};
use crate::tags::{DEEPEST, Stack, Tags};
use std::sync::Arc;

/// Subinterfaces a device may have: as many as a router has neighbours.
const MOST: usize = 65_536;

/// The tags of the subinterfaces of each port.
pub(super) fn tags(spec: &DeviceSpec) -> Result<Vec<Arc<Tags>>, DeviceError> {
    let count: usize = spec.ports.iter().map(|port| port.vlans.len()).sum();
    if count > MOST {
        return Err(DeviceError::new("ports", format!("{count} VLAN subinterfaces; at most {MOST}")));
    }
    let is_router = matches!(spec.forwarding, Forwarding::Router { .. });
    let of_port = |(index, port): (usize, &DevicePortSpec)| {
        if !is_router && !port.vlans.is_empty() {
            let why = "only a router has VLAN subinterfaces: others pass frames with their tags";
            return Err(DeviceError::new(format!("ports[{index}].vlans"), why));
        }
        let stacks = port.vlans.iter().enumerate();
        let stacks = stacks
            .map(|(number, vlan)| Stack::new(&vlan.tags).ok_or_else(|| bad_tags(index, number, vlan)))
            .collect::<Result<_, _>>()?;
        let twice = |number| DeviceError::new(field(index, number), "another subinterface of the port has the same tags");
        Tags::new(stacks).map(Arc::new).map_err(twice)
    };
    spec.ports.iter().enumerate().map(of_port).collect()
}

fn field(port: usize, number: usize) -> String {
    format!("ports[{port}].vlans[{number}].tags")
}

fn bad_tags(port: usize, number: usize, vlan: &DeviceVlan) -> DeviceError {
    let count = vlan.tags.len();
    if !(1..=DEEPEST).contains(&count) {
        return DeviceError::new(field(port, number), format!("{count} tags; a subinterface has 1 to {DEEPEST}"));
    }
    let bad = vlan.tags.iter().find(|tag| Stack::new(&[**tag]).is_none());
    let why = bad.map_or_else(String::new, |tag| format!("VLAN {} with TPID {:#06x}", tag.vid, tag.tpid));
    DeviceError::new(field(port, number), why).hint("a VLAN is 0 to 4095, a TPID 0x8100, 0x88a8, 0x9100 or 0x9200")
}

/// The shapers in front of a line of a port; `None` if the port has no subinterfaces.
pub(super) fn shapers(index: usize, port: &DevicePortSpec, tags: &Arc<Tags>, max_frame: u32) -> Result<Option<Shapers>, DeviceError> {
    if port.vlans.is_empty() {
        return Ok(None);
    }
    let of_vlan = |(number, vlan): (usize, &DeviceVlan)| {
        let field = format!("ports[{index}].vlans[{number}].shape");
        let bucket = shaper(field, vlan.shape.as_ref(), max_frame)?;
        let first = vlan.priority.as_ref().map(|first| {
            let sort = Sort::new([(&first.dscp[..], &[][..])].into_iter());
            let field = format!("ports[{index}].vlans[{number}].priority.dscp");
            sort.map(|sort| (sort, first.queue))
                .ok_or_else(|| DeviceError::new(field, "a DSCP is 0 to 63"))
        });
        Ok(Shaper::new(bucket, vlan.queue, first.transpose()?))
    };
    let each = port.vlans.iter().enumerate().map(of_vlan).collect::<Result<_, DeviceError>>()?;
    Ok(Some(Shapers::new(tags.clone(), each)))
}
