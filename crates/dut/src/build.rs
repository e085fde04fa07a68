//! From a specification to a device: every value is checked here, so that the pipeline need not.

use crate::agent::Agent;
use crate::bridge::Bridge;
use crate::classes::{CLASSES, Class as Queued, Classes};
use crate::device::{Core, Count, Device, Forwarder};
use crate::egress::{Delay, MEMBERS, Member, Output};
use crate::error::{DeviceError, mac};
use crate::filter::Processor;
use crate::happen::Course;
use crate::holding::Head;
use crate::impair::Impair;
use crate::ingress::{Input, Lane, PartnerLine, Scratch, Shared};
use crate::lag::Spread;
use crate::limits::{BitServer, Boxed, Card, Hurried, Limits, Trunk};
use crate::pauses::Pauses;
use crate::police::{Bucket, Meter, Policer};
use crate::pool::Pool;
use crate::queue::Queue;
use crate::router::Router;
use crate::service::{Line, Server};
use crate::sort::Sort;
use crate::spec::{self, BitRate, DevicePortSpec, DeviceSpec, Forwarding, FrameRate, Police, When};
use crate::straight::outs;
use crate::weary::Memory;
use netdyno_frame::{FCS_BYTES, MINIMUM_SIZE};
use netdyno_io::port::Port;
use std::collections::VecDeque;

/// With `both_fps` the fixed delay is the step in which servers are advanced; below this the steps get too small.
const SHARED_DELAY_NS: u64 = 1000;

impl Device {
    /// A device with the ports of `spec`, in its order; `max_frame` is the longest frame it takes, FCS not counted.
    ///
    /// # Errors
    /// If a value of `spec` cannot be: the error names the field.
    pub fn new(spec: DeviceSpec, ports: Vec<Box<dyn Port>>, max_frame: u32) -> Result<Self, DeviceError> {
        check(&spec, &ports, max_frame)?;
        let taken = spec.largest.map_or(max_frame, |largest| max_frame.min(largest - FCS_BYTES));
        let own: Vec<u32> = spec.ports.iter().filter_map(address_of).collect();
        let mut inputs = Vec::new();
        let mut lanes = Vec::new();
        let mut outputs = Vec::new();
        for (index, port) in spec.ports.iter().enumerate() {
            inputs.push(input(index, port, lanes.len(), taken)?);
            for member in 0..port.members as usize {
                lanes.push(lane(index, member, port, &own)?);
            }
            outputs.push(output(index, port, &spec, max_frame)?);
        }
        let limits = limits(&spec)?;
        let core = Core {
            server: if limits.is_some() {
                None
            } else {
                server("box_fps".to_owned(), spec.box_fps, spec.box_queue)?
            },
            limits,
            forwarder: forwarder(&spec)?,
            agent: agent(&spec)?,
            delay: Delay {
                fixed: picoseconds("delay_ns", spec.delay_ns)?,
                per_byte: spec.delay_per_byte_ps,
            },
            alarm: u64::MAX,
            count: Count::default(),
        };
        let straight = outs(&core, &outputs, spec.head_of_line);
        Ok(Self {
            straight,
            merged: Vec::new(),
            names: spec.ports.iter().map(|port| port.name.clone()).collect(),
            failed: vec![None; ports.len()],
            ports,
            inputs,
            holding: spec.head_of_line,
            shared: lanes.iter().any(|lane| lane.shared.is_some()),
            heads: vec![u64::MAX; lanes.len()],
            lanes,
            outputs,
            core,
            horizon: 0,
            // Our own ND messages must fit whatever the ports carry.
            pool: Pool::new(max_frame as usize),
            course: Course::new(spec.ports.len(), picoseconds("reset_ns", spec.reset_ns)?),
        })
    }
}

/// The IPv4 address of a router's port; what cannot be read is refused with the router.
fn address_of(port: &DevicePortSpec) -> Option<u32> {
    let (address, _) = port.ipv4.as_deref()?.split_once('/')?;
    address.parse::<std::net::Ipv4Addr>().ok().map(u32::from)
}

fn check(spec: &DeviceSpec, ports: &[Box<dyn Port>], max_frame: u32) -> Result<(), DeviceError> {
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
    // 86: the longest frame a device makes by itself, a neighbour solicitation.
    if !(86..=65_535).contains(&max_frame) {
        return Err(DeviceError::new(
            "max_frame",
            format!("{max_frame} bytes; a device takes 86 to 65535 without FCS"),
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

fn no_such_port(field: String, port: usize, spec: &DeviceSpec) -> DeviceError {
    DeviceError::new(
        field,
        format!("there is no port {port}; device `{}` has 0 to {}", spec.name, spec.ports.len() - 1),
    )
}

fn picoseconds(field: &str, ns: u64) -> Result<u64, DeviceError> {
    const HOUR_NS: u64 = 3_600_000_000_000;
    if ns > HOUR_NS {
        return Err(DeviceError::new(field, format!("{ns} ns is more than an hour")));
    }
    Ok(ns * 1000)
}

fn server(field: String, rate: Option<FrameRate>, queue: u32) -> Result<Option<Server>, DeviceError> {
    let Some(rate) = rate else { return Ok(None) };
    match Server::new(rate, queue) {
        Some(server) => Ok(Some(server)),
        None => Err(
            DeviceError::new(field, format!("{}/{} frames per second with a queue of {queue}", rate.0, rate.1))
                .hint("give a positive fraction; the queue must drain within some months"),
        ),
    }
}

/// The capacities of the box and its cards, if there are any beyond a plain `box_fps`.
fn limits(spec: &DeviceSpec) -> Result<Option<Box<Limits>>, DeviceError> {
    if spec.box_haste.is_none() && spec.box_bits.is_none() && spec.cards.is_empty() && spec.trunk.is_none() {
        return Ok(None);
    }
    let mut card_of = vec![None; spec.ports.len()];
    for (index, card) in spec.cards.iter().enumerate() {
        let field = || format!("cards[{index}].ports");
        for &port in &card.ports {
            match card_of.get_mut(port) {
                None => return Err(no_such_port(field(), port, spec)),
                Some(Some(_)) => return Err(DeviceError::new(field(), format!("port {port} is on two cards"))),
                Some(place) => *place = Some(index),
            }
        }
    }
    let card = |(index, card): (usize, &spec::Card)| {
        Ok(Card {
            server: server(format!("cards[{index}].in_fps"), card.in_fps, card.in_queue)?,
            bits: bits(format!("cards[{index}].in_bits"), card.in_bits, card.in_queue)?,
        })
    };
    Ok(Some(Box::new(Limits {
        cards: spec.cards.iter().enumerate().map(card).collect::<Result<_, DeviceError>>()?,
        card_of,
        server: boxed(spec)?,
        bits: bits("box_bits".to_owned(), spec.box_bits, spec.box_queue)?,
        trunk: trunk(spec)?,
        card_drops: 0,
        box_drops: 0,
    })))
}

fn trunk(spec: &DeviceSpec) -> Result<Option<Trunk>, DeviceError> {
    let Some(trunk) = &spec.trunk else { return Ok(None) };
    if let Some(port) = trunk.near.iter().find(|port| **port >= spec.ports.len()) {
        return Err(no_such_port("trunk.near".to_owned(), *port, spec));
    }
    let is_near = (0..spec.ports.len()).map(|port| trunk.near.contains(&port)).collect();
    let slow = || DeviceError::new("trunk.rate_bps", "0 bit/s: nothing would ever pass");
    Trunk::new(is_near, trunk).map(Some).ok_or_else(slow)
}

fn boxed(spec: &DeviceSpec) -> Result<Option<Boxed>, DeviceError> {
    let steady = server("box_fps".to_owned(), spec.box_fps, spec.box_queue)?;
    let Some(haste) = spec.box_haste else {
        return Ok(steady.map(Boxed::Steady));
    };
    let field = || "box_haste".to_owned();
    let Some(rate) = spec.box_fps else {
        return Err(DeviceError::new(field(), "without `box_fps` there is nothing to be quicker than"));
    };
    let hurried = Hurried::new(rate, haste, spec.box_queue);
    let bad =
        || DeviceError::new(field(), "two rates that have no common measure, or none at all").hint("give both in whole frames per second");
    hurried.map(|server| Some(Boxed::Hurried(server))).ok_or_else(bad)
}

fn bits(field: String, rate: Option<BitRate>, queue: u32) -> Result<Option<BitServer>, DeviceError> {
    let server = rate.map(|rate| BitServer::new(rate, queue).ok_or_else(|| DeviceError::new(field, "0 bit/s: nothing would ever pass")));
    server.transpose()
}

fn weary(index: usize, port: &DevicePortSpec) -> Result<Option<Box<Memory>>, DeviceError> {
    let Some(weary) = port.weary else { return Ok(None) };
    let field = || format!("ports[{index}].weary");
    if port.in_fps.is_none() {
        return Err(DeviceError::new(field(), "without `in_fps` the port is never overloaded"));
    }
    let memory = Memory::new(weary).ok_or_else(|| DeviceError::new(field(), "every 0th frame, or for more than a day"));
    memory.map(|memory| Some(Box::new(memory)))
}

fn line(field: String, rate_bps: u64) -> Result<Line, DeviceError> {
    Line::new(rate_bps).ok_or_else(|| DeviceError::new(field, "0 bit/s: nothing would ever leave"))
}

fn input(index: usize, port: &DevicePortSpec, first_lane: usize, max_frame: u32) -> Result<Input, DeviceError> {
    let partner_lines = if port.members == 1 { 0 } else { port.members };
    let field = || format!("ports[{index}].rate_bps");
    Ok(Input {
        first_lane,
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

fn lane(index: usize, member: usize, port: &DevicePortSpec, own: &[u32]) -> Result<Lane, DeviceError> {
    let shared = server(format!("ports[{index}].both_fps"), port.both_fps, port.in_queue)?;
    Ok(Lane {
        port: index,
        member,
        server: server(format!("ports[{index}].in_fps"), port.in_fps, port.in_queue)?,
        memory: weary(index, port)?,
        police: policer(index, port)?,
        policed: 0,
        processor: Processor::new(index, port, own)?.map(Box::new),
        shared: shared.map(|server| Box::new(Shared::new(server))),
        ready: Queue::with_room(64),
        rx_frames: 0,
        drops: 0,
        room: port.in_queue as usize,
        head: Head::default(),
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
    let shaper = |field: String, shape: Option<&Police>| {
        let Some(shape) = shape else { return Ok(None) };
        if shape.excess.is_some() {
            return Err(DeviceError::new(field, "a shaper has one rate"));
        }
        let bucket = Bucket::new(shape).filter(|bucket| bucket.fits(u64::from(max_frame)));
        let why = || format!("{} bit/s with a burst of {} bytes", shape.rate_bps, shape.burst_bytes);
        let hint = || format!("the longest frame, {max_frame} bytes and its FCS, must fit the bucket");
        bucket.map(Some).ok_or_else(|| DeviceError::new(field, why()).hint(hint()))
    };
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
        let shape = shaper(field("shape"), class.shape.as_ref())?;
        queues.push(Queued::new(class.priority, class.weight, class.queue, shape));
    }
    if queues.is_empty() {
        queues.push(Queued::new(0, 1, port.out_queue, None));
    }
    let takes = port.classes.iter().map(|class| (&class.dscp[..], &class.pcp[..]));
    let whole = shaper(format!("ports[{index}].shape"), port.shape.as_ref())?;
    Ok(Some(Classes::new(sort(field(), takes)?, queues, whole)))
}

fn output(index: usize, port: &DevicePortSpec, spec: &DeviceSpec, max_frame: u32) -> Result<Output, DeviceError> {
    let member = |_| {
        let line = line(format!("ports[{index}].rate_bps"), port.rate_bps)?;
        let pauses = Pauses::of(&spec.impairments, index);
        Ok(Member::new(line, port.out_queue as usize, pauses, classes(index, port, max_frame)?))
    };
    Ok(Output {
        spread: Spread::new(port.hash, port.members),
        members: (0..port.members).map(member).collect::<Result<_, _>>()?,
        order: [0; crate::egress::BURST],
        last: 0,
        impair: Impair::new(&spec.impairments, index),
        held: Vec::new(),
        kept: VecDeque::new(),
        down_drops: 0,
    })
}

/// The agent of a router, if it has one.
fn agent(spec: &DeviceSpec) -> Result<Option<Box<Agent>>, DeviceError> {
    let Some(agent) = &spec.agent else { return Ok(None) };
    if !matches!(spec.forwarding, Forwarding::Router { .. }) {
        return Err(DeviceError::new("agent", "only a router has addresses to be asked at"));
    }
    Ok(Some(Box::new(Agent::new(&agent.community, spec.ports.len()))))
}

fn forwarder(spec: &DeviceSpec) -> Result<Forwarder, DeviceError> {
    if spec.rip && !matches!(spec.forwarding, Forwarding::Router { .. }) {
        return Err(DeviceError::new("rip", "only a router learns routes"));
    }
    match &spec.forwarding {
        Forwarding::CrossConnect { pairs } => cross_connect(spec, pairs),
        Forwarding::Bridge {
            ageing_ns,
            table_limit,
            learn_fps,
        } => {
            // A table is twice its limit; 16 M entries are half a gigabyte and more than any bridge has.
            const LIMIT: u32 = 1 << 24;
            if *table_limit > LIMIT {
                return Err(DeviceError::new(
                    "forwarding.table_limit",
                    format!("{table_limit} addresses; at most {LIMIT}"),
                ));
            }
            let bridge = Bridge::new(*table_limit, ageing_ns.saturating_mul(1000));
            let learner = server("forwarding.learn_fps".to_owned(), *learn_fps, 0)?;
            Ok(Forwarder::Bridge(Box::new(bridge.learning_by(learner))))
        }
        Forwarding::Router { routes, neighbours } => {
            let macs = spec
                .ports
                .iter()
                .enumerate()
                .map(|(index, port)| mac(&format!("ports[{index}].mac"), &port.mac));
            let macs = macs.collect::<Result<Vec<_>, _>>()?;
            Ok(Forwarder::Router(Box::new(Router::new(spec, routes, neighbours, &macs)?)))
        }
    }
}

fn cross_connect(spec: &DeviceSpec, pairs: &[(usize, usize)]) -> Result<Forwarder, DeviceError> {
    let mut peers: Vec<Option<usize>> = vec![None; spec.ports.len()];
    for (index, &(one, other)) in pairs.iter().enumerate() {
        let field = format!("forwarding.pairs[{index}]");
        for (port, peer) in [(one, other), (other, one)] {
            if port >= peers.len() {
                return Err(no_such_port(field, port, spec));
            }
            if port == peer {
                return Err(DeviceError::new(field, format!("port {port} with itself")));
            }
            if peers[port].is_some() {
                return Err(DeviceError::new(field, format!("port {port} is in two pairs")));
            }
            peers[port] = Some(peer);
        }
    }
    Ok(Forwarder::CrossConnect(peers.into()))
}
