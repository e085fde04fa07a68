//! The ports of a device, inwards and outwards.

use super::values::{line, server, shaper};
use super::vlans::shapers;
use crate::adjacency::Notes;
use crate::aggregation::Spread;
use crate::both_ways::BothWays;
use crate::by_member::ByMember;
use crate::classes::{CLASSES, Class as Queued, Classes};
use crate::egress::Output;
use crate::error::DeviceError;
use crate::filter::Processor;
use crate::flight::{BURST, Flight};
use crate::impair::Impair;
use crate::ingress::{Head, Input, MemberInput, PartnerLine, Scratch};
use crate::member::Member;
use crate::pauses::Pauses;
use crate::police::{Meter, Policer};
use crate::queue::Queue;
use crate::recovery::Memory;
use crate::shown::Shown;
use crate::sort::Sort;
use crate::spec::{DevicePortSpec, DeviceSpec, Police};
use crate::tags::Tags;
use std::collections::VecDeque;
use std::sync::Arc;

/// Where hellos that are lost are noted, if the port has neighbours.
fn notes(port: &DevicePortSpec) -> Notes {
    let has_neighbours = port.ospf.is_some() || port.vlans.iter().any(|vlan| vlan.ospf.is_some());
    has_neighbours.then(Box::default)
}

fn recovery(index: usize, port: &DevicePortSpec) -> Result<Option<Box<Memory>>, DeviceError> {
    let Some(recovery) = port.recovery else { return Ok(None) };
    let field = || format!("ports[{index}].weary");
    if port.in_fps.is_none() {
        return Err(DeviceError::new(field(), "without `in_fps` the port is never overloaded"));
    }
    let memory = Memory::new(recovery).ok_or_else(|| DeviceError::new(field(), "every 0th frame, or for more than a day"));
    memory.map(|memory| Some(Box::new(memory)))
}

pub(super) fn input(index: usize, port: &DevicePortSpec, first_input: usize, max_frame: u32) -> Result<Input, DeviceError> {
    let partner_lines = if port.members == 1 { 0 } else { port.members };
    let field = || format!("ports[{index}].rate_bps");
    Ok(Input {
        first_input,
        partner: Spread::new(port.partner_hash, port.members),
        partner_lines: (0..partner_lines)
            .map(|_| {
                Ok(PartnerLine {
                    line: line(field(), port.rate_bps)?,
                    room: port.partner_queue as usize,
                    starts: Queue::with_room(16),
                })
            })
            .collect::<Result<_, _>>()?,
        floor: 0,
        max_frame: max_frame as usize,
        partner_drops: 0,
        malformed: 0,
        down_drops: 0,
        scratch: Box::new(Scratch::new()),
    })
}

pub(super) fn member_input(index: usize, member: usize, port: &DevicePortSpec, own: &[u32]) -> Result<MemberInput, DeviceError> {
    let shared = server(format!("ports[{index}].both_fps"), port.both_fps, port.in_queue)?;
    Ok(MemberInput {
        port: index,
        member,
        server: server(format!("ports[{index}].in_fps"), port.in_fps, port.in_queue)?,
        memory: recovery(index, port)?,
        police: policer(index, port)?,
        policed: 0,
        processor: Processor::new(index, port, own)?.map(Box::new),
        shared: shared.map(|server| Box::new(BothWays::new(server))),
        ready: Queue::with_room(64),
        rx_frames: 0,
        drops: 0,
        room: port.in_queue as usize,
        head: Head::default(),
        lost: notes(port),
    })
}

/// The policers of a port, if it has any.
fn policer(index: usize, port: &DevicePortSpec) -> Result<Option<Box<Policer>>, DeviceError> {
    let meter = |field: String, police: &Police| {
        let why = || format!("{} bit/s with a burst of {} bytes", police.rate_bps, police.burst_bytes);
        Meter::new(police).ok_or_else(|| DeviceError::new(field, why()))
    };
    let whole = port
        .police
        .as_ref()
        .map(|police| meter(format!("ports[{index}].police"), police))
        .transpose()?;
    if whole.is_none() && port.police_classes.is_empty() {
        return Ok(None);
    }
    let field = |class: usize| format!("ports[{index}].police_classes[{class}]");
    let classes = port.police_classes.iter().enumerate();
    let classes = classes
        .map(|(class, its)| meter(field(class), &its.police))
        .collect::<Result<_, _>>()?;
    let takes = port.police_classes.iter().map(|class| (&class.dscp[..], &class.pcp[..]));
    Ok(Some(Box::new(Policer {
        sort: Some(sort(format!("ports[{index}].police_classes"), takes)?).filter(|_| !port.police_classes.is_empty()),
        classes,
        port: whole,
        excess: 0,
    })))
}

fn sort<'a>(field: String, takes: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Result<Sort, DeviceError> {
    Sort::new(takes).ok_or_else(|| DeviceError::new(field, "a DSCP is 0 to 63, a PCP 0 to 7"))
}

/// Queues by class and shapers of a port, if it has any.
fn classes(index: usize, port: &DevicePortSpec, max_frame: u32) -> Result<Option<Classes>, DeviceError> {
    if port.classes.is_empty() && port.shape.is_none() {
        return Ok(None);
    }
    let field = || format!("ports[{index}].classes");
    if port.classes.len() > CLASSES {
        return Err(DeviceError::new(
            field(),
            format!("{} classes; at most {CLASSES}", port.classes.len()),
        ));
    }
    let mut queues = Vec::new();
    for (number, class) in port.classes.iter().enumerate() {
        let field = |name: &str| format!("ports[{index}].classes[{number}].{name}");
        if usize::from(class.priority) >= CLASSES {
            return Err(DeviceError::new(
                field("priority"),
                format!("{}; it is 0 to {}", class.priority, CLASSES - 1),
            ));
        }
        if class.weight == 0 {
            return Err(DeviceError::new(field("weight"), "0: it would never have its turn"));
        }
        let shape = shaper(field("shape"), class.shape.as_ref(), max_frame)?;
        queues.push(Queued::new(class.priority, class.weight, class.queue, shape));
    }
    if queues.is_empty() {
        queues.push(Queued::new(0, 1, port.out_queue, None));
    }
    let takes = port.classes.iter().map(|class| (&class.dscp[..], &class.pcp[..]));
    let whole = shaper(format!("ports[{index}].shape"), port.shape.as_ref(), max_frame)?;
    Ok(Some(Classes::new(sort(field(), takes)?, queues, whole)))
}

pub(super) fn output(
    index: usize,
    port: &DevicePortSpec,
    spec: &DeviceSpec,
    max_frame: u32,
    tags: &Arc<Tags>,
) -> Result<Output, DeviceError> {
    let member = |_| {
        let line = line(format!("ports[{index}].rate_bps"), port.rate_bps)?;
        let pauses = Pauses::of(&spec.impairments, index);
        let queues = classes(index, port, max_frame)?;
        let shapers = shapers(index, port, tags, max_frame)?;
        let mut member = Member::new(line, port.out_queue as usize, pauses, queues, shapers);
        (member.port, member.lost) = (index, notes(port));
        Ok(member)
    };
    Ok(Output {
        spread: match port.stages {
            Some(stages) => Spread::in_stages(port.hash, port.members, stages),
            None => Spread::new(port.hash, port.members),
        },
        members: (0..port.members).map(member).collect::<Result<_, _>>()?,
        leaving: Vec::with_capacity(BURST),
        by_member: Box::new(ByMember::new()),
        merged: Box::new([Flight::default(); BURST]),
        order: [0; BURST],
        shown: Shown::new(port.members as usize),
        last: 0,
        impair: Impair::new(&spec.impairments, index),
        held: Vec::new(),
        kept: VecDeque::new(),
        down_drops: 0,
    })
}
