//! From a specification to a device: every value is checked here, so that the pipeline need not.

mod check;
mod limits;
mod ports;
mod values;
mod vlans;

use crate::adjacency::Adjacencies;
use crate::agent::Agent;
use crate::bridge::Bridge;
use crate::device::{Core, Count, Device, Forwarder};
use crate::direct::outs;
use crate::egress::Delay;
use crate::error::{DeviceError, mac};
use crate::hellos::adjacencies;
use crate::pool::Pool;
use crate::router::Router;
use crate::spec::{DevicePortSpec, DeviceSpec, Forwarding};
use crate::tags::Tags;
use crate::timeline::Timeline;
use check::check;
use limits::limits;
use netdyno_frame::FCS_BYTES;
use netdyno_io::port::Port;
use ports::{input, member_input, output};
use std::sync::Arc;
use values::{no_such_port, picoseconds, server};

impl Device {
    /// A device with the ports of `spec`, in its order; `max_frame` is the longest frame it takes, FCS not counted.
    ///
    /// # Errors
    /// If a value of `spec` cannot be: the error names the field.
    pub fn new(spec: DeviceSpec, ports: Vec<Box<dyn Port>>, max_frame: u32) -> Result<Self, DeviceError> {
        check(&spec, &ports, max_frame)?;
        let taken = spec.largest.map_or(max_frame, |largest| max_frame.min(largest - FCS_BYTES));
        let tags = vlans::tags(&spec)?;
        let own = own_addresses(&spec);
        let mut inputs = Vec::new();
        let mut member_inputs = Vec::new();
        let mut outputs = Vec::new();
        for (index, port) in spec.ports.iter().enumerate() {
            inputs.push(input(index, port, member_inputs.len(), taken)?);
            for member in 0..port.members as usize {
                member_inputs.push(member_input(index, member, port, &own)?);
            }
            outputs.push(output(index, port, &spec, max_frame, &tags[index])?);
        }
        let limits = limits(&spec)?;
        let forwarder = forwarder(&spec, &tags, max_frame)?;
        let core = Core {
            server: if limits.is_some() {
                None
            } else {
                server("box_fps".to_owned(), spec.box_fps, spec.box_queue)?
            },
            limits,
            adjacencies: neighbours(&spec, &forwarder)?,
            forwarder,
            agent: agent(&spec)?,
            delay: Delay {
                fixed: picoseconds("delay_ns", spec.delay_ns)?,
                per_byte: spec.delay_per_byte_ps,
            },
            alarm: u64::MAX,
            count: Count::default(),
        };
        let direct = outs(&core, &outputs, spec.head_of_line);
        Ok(Self {
            direct,
            merged: Vec::new(),
            names: spec.ports.iter().map(|port| port.name.clone()).collect(),
            failed: vec![None; ports.len()],
            ports,
            inputs,
            head_of_line: spec.head_of_line,
            shared: member_inputs.iter().any(|member_input| member_input.shared.is_some()),
            heads: vec![u64::MAX; member_inputs.len()],
            member_inputs,
            outputs,
            core,
            horizon: 0,
            // Our own ND messages must fit whatever the ports carry.
            pool: Pool::new(max_frame as usize),
            timeline: Timeline::new(spec.ports.len(), picoseconds("reset_ns", spec.reset_ns)?),
        })
    }
}

/// The IPv4 addresses of a router, in order; what cannot be read is refused with the router.
fn own_addresses(spec: &DeviceSpec) -> Vec<u32> {
    let subinterfaces = |port: &DevicePortSpec| port.vlans.iter().map(|vlan| vlan.ipv4.clone()).collect::<Vec<_>>();
    let texts = spec
        .ports
        .iter()
        .flat_map(|port| [vec![port.ipv4.clone()], subinterfaces(port)].concat());
    let address = |text: String| {
        let (address, _) = text.split_once('/')?;
        address.parse::<std::net::Ipv4Addr>().ok().map(u32::from)
    };
    let mut own: Vec<u32> = texts.flatten().filter_map(address).collect();
    own.sort_unstable();
    own
}

/// The agent of a router, if it has one.
fn agent(spec: &DeviceSpec) -> Result<Option<Box<Agent>>, DeviceError> {
    let Some(agent) = &spec.agent else { return Ok(None) };
    if !matches!(spec.forwarding, Forwarding::Router { .. }) {
        return Err(DeviceError::new("agent", "only a router has addresses to be asked at"));
    }
    Ok(Some(Box::new(Agent::new(&agent.community, spec.ports.len()))))
}

/// The OSPF neighbours of a router, if it has any.
fn neighbours(spec: &DeviceSpec, forwarder: &Forwarder) -> Result<Option<Box<Adjacencies>>, DeviceError> {
    let of_ports = spec.ports.iter().enumerate().map(|(port, it)| (format!("ports[{port}]"), &it.ospf));
    let of_vlans = spec.ports.iter().enumerate().flat_map(|(port, it)| {
        let field = move |number| format!("ports[{port}].vlans[{number}]");
        it.vlans.iter().enumerate().map(move |(number, vlan)| (field(number), &vlan.ospf))
    });
    let (fields, specs): (Vec<_>, Vec<_>) = of_ports.chain(of_vlans).unzip();
    let refuse = |interface: usize| {
        let why = "a router's, with an IPv4 address there; hellos are 100 us apart at least, and the dead interval is longer";
        DeviceError::new(format!("{}.ospf", fields[interface]), why)
    };
    adjacencies(forwarder, specs.into_iter().cloned()).map_err(refuse)
}

fn forwarder(spec: &DeviceSpec, tags: &[Arc<Tags>], max_frame: u32) -> Result<Forwarder, DeviceError> {
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
            Ok(Forwarder::Router(Box::new(Router::new(
                spec,
                (routes, neighbours),
                &macs,
                tags,
                max_frame,
            )?)))
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
