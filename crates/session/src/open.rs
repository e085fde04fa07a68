//! From a session spec to open ports and devices.

use crate::error::SessionError;
use crate::spacing::{Seen, Spaced};
use crate::spec::{ClockKind, Link, Loop, SessionPort, SessionSpec};
use crate::spread::spread;
use netdyno_dut::Device;
use netdyno_dut::spec::DeviceSpec;
use netdyno_io::backend::null::Null;
use netdyno_io::backend::{self, BackendSpec, CableEnd, ClockFit, Placement, PortAsk, Queues};
use netdyno_io::limit::LimitedPort;
use netdyno_io::port::Port;
use netdyno_io::time::{Clock, Duration};

/// Ports and devices, joined.
pub struct Opened {
    /// The tester's ports, in the order of the spec: the queues of each, one a worker.
    pub ports: Vec<Queues>,
    /// What is noted of how frames come in at each of them, a queue each, where that was asked for; else nothing.
    pub seen: Vec<Vec<Seen>>,
    /// The devices, in the order of the spec.
    pub devices: Vec<Device>,
}

/// Checks what can be checked before anything is opened.
pub fn check(spec: &SessionSpec) -> Result<(), SessionError> {
    if spec.ports.is_empty() {
        return Err(SessionError::spec("the session has no ports"));
    }
    for port in &spec.ports {
        let backend = port.backend.entry();
        let fits = match backend.clock {
            ClockFit::Either => true,
            ClockFit::Virtual => spec.clock == ClockKind::Virtual,
            ClockFit::Real => spec.clock == ClockKind::Real,
        };
        if !fits {
            let (clock, other) = match spec.clock {
                ClockKind::Virtual => ("virtual", "real"),
                ClockKind::Real => ("real", "virtual"),
            };
            let why = format!("port `{}`: a `{}` port cannot run in {clock} time", port.name, backend.name);
            return Err(SessionError::spec(why).hint(format!("set `clock: {other}` in the session, or use another backend")));
        }
    }
    for (number, link) in spec.links.iter().enumerate() {
        check_link(spec, number, link)?;
    }
    for (number, own) in spec.loops.iter().enumerate() {
        check_loop(spec, number, own)?;
    }
    for (index, port) in spec.ports.iter().enumerate() {
        let looped = spec.loops.iter().filter(|own| own.ports.contains(&index)).count();
        let links = looped + spec.links.iter().filter(|link| link.port == index).count();
        let needed = usize::from(port.backend.entry().is_linked);
        if links != needed {
            let kind = port.backend.kind();
            let why = format!("port `{}`: a `{kind}` port has {needed} link(s), here {links}", port.name);
            return Err(SessionError::spec(why)
                .hint("link each wire or ring port to one port of an emulated device (or loop it to another), and no other port"));
        }
    }
    Ok(())
}

fn check_link(spec: &SessionSpec, number: usize, link: &Link) -> Result<(), SessionError> {
    let bad = |why: String| Err(SessionError::spec(format!("links[{number}]: {why}")));
    let Some(port) = spec.ports.get(link.port) else {
        return bad(format!("there is no port {}", link.port));
    };
    let Some(device) = spec.devices.get(link.device) else {
        return bad(format!(
            "port `{}` leads to device {}, which does not exist",
            port.name, link.device
        ));
    };
    let Some(device_port) = device.ports.get(link.device_port) else {
        return bad(format!("device `{}` has no port {}", device.name, link.device_port));
    };
    let same = |other: &&Link| (other.device, other.device_port) == (link.device, link.device_port);
    if spec.links[..number].iter().any(|other| same(&other)) {
        return bad(format!("port `{}` of device `{}` is linked twice", device_port.name, device.name));
    }
    let (rate, members, cable) = (device_port.rate_bps, device_port.members, link.rate_bps);
    if rate.saturating_mul(u64::from(members)) != cable {
        let (name, device) = (&device_port.name, &device.name);
        let own = format!("{members} x {rate} bit/s");
        let why = format!("links[{number}]: port `{name}` of device `{device}` runs at {own}, its cable at {cable}");
        return Err(SessionError::spec(why).hint("a cable runs at the rate of all members of the port at its end"));
    }
    Ok(())
}

fn check_loop(spec: &SessionSpec, number: usize, own: &Loop) -> Result<(), SessionError> {
    let [near, far] = own.ports;
    let why = match (spec.ports.get(near), spec.ports.get(far)) {
        (Some(one), Some(other)) if near != far && one.backend == other.backend => return Ok(()),
        (Some(one), Some(_)) if near == far => format!("port `{}` is joined to itself", one.name),
        (Some(one), Some(other)) => {
            let (near, far) = (one.backend.kind(), other.backend.kind());
            format!("ports `{}` and `{}` are of other kinds, `{near}` and `{far}`", one.name, other.name)
        }
        (None, _) => format!("there is no port {near}"),
        (_, None) => format!("there is no port {far}"),
    };
    Err(SessionError::spec(format!("loops[{number}]: {why}")).hint("a loop joins two tester ports of the same kind"))
}

/// Opens everything, on `clock` if in real time, for threads that run as `placement` says.
pub fn open(spec: &SessionSpec, clock: Option<Clock>, placement: &Placement) -> Result<Opened, SessionError> {
    let mut opened = backend::open_all(&asks(spec, &far_names(spec)), placement)?;
    if let Some(clock) = clock {
        opened.iter_mut().flatten().for_each(|queue| queue.use_clock(clock));
    }
    let mut opened = opened.into_iter();
    let (mut ports, mut seen) = (Vec::new(), Vec::new());
    for (port, queues) in spec.ports.iter().zip(opened.by_ref()) {
        let (queues, its) = wrap(port, queues)?;
        ports.push(queues);
        seen.push(its);
    }
    let mut devices = Vec::new();
    for device in &spec.devices {
        let its = opened.by_ref().take(device.ports.len()).flatten().collect();
        devices.push(Device::new(device.clone(), its, spec.max_frame)?);
    }
    Ok(Opened { ports, seen, devices })
}

/// The most bytes of tags that an emulated device gives a frame: what fits a slot without them fits it with them.
pub(crate) fn longest_tags(spec: &SessionSpec) -> u32 {
    const TAG_BYTES: usize = 4;
    // More are refused with the device.
    const DEEPEST: usize = 8;
    let ports = spec.devices.iter().flat_map(|device| &device.ports);
    let depths = ports.flat_map(|port| &port.vlans).map(|vlan| vlan.tags.len().min(DEEPEST));
    (depths.max().unwrap_or(0) * TAG_BYTES) as u32
}

/// The names of the devices' ports, in the order of the spec.
fn far_names(spec: &SessionSpec) -> Vec<String> {
    let names = |device: &DeviceSpec| -> Vec<_> { device.ports.iter().map(|port| format!("{}:{}", device.name, port.name)).collect() };
    spec.devices.iter().flat_map(names).collect()
}

/// What is asked of the backends: the tester's ports, then those of the devices, whose names are `far_names`.
fn asks<'a>(spec: &'a SessionSpec, far_names: &'a [String]) -> Vec<PortAsk<'a>> {
    const NOWHERE: &BackendSpec = &BackendSpec::Null(Null {});
    let ask = |name, spec_of, queues, may_go| PortAsk {
        name,
        spec: spec_of,
        max_frame: spec.max_frame,
        queues,
        may_go,
        end: None,
    };
    let near = spec
        .ports
        .iter()
        .map(|port| ask(&port.name, &port.backend, spec.workers, port.may_go));
    // Nobody is at the other end of a device's port that is not linked: what leaves there is gone.
    let far = far_names.iter().map(|name| ask(name, NOWHERE, 1, false));
    let mut asks: Vec<_> = near.chain(far).collect();
    let end = |cable, rate_bps, delay_ps| CableEnd {
        cable,
        rate_bps,
        propagation: Duration { ps: delay_ps },
        spread,
    };
    for (cable, link) in spec.links.iter().enumerate() {
        let before: usize = spec.devices[..link.device].iter().map(|device| device.ports.len()).sum();
        let far = &mut asks[spec.ports.len() + before + link.device_port];
        far.spec = &spec.ports[link.port].backend;
        far.end = Some(end(cable, link.rate_bps, link.delay_ps));
        asks[link.port].end = far.end;
    }
    for (number, own) in spec.loops.iter().enumerate() {
        // Queue to queue: so flows keep theirs.
        for port in own.ports {
            asks[port].end = Some(end(spec.links.len() + number, own.rate_bps, own.delay_ps));
        }
    }
    asks
}

/// The queues of a tester port with what the spec puts around each: a limit, and the notes of how frames come in.
fn wrap(port: &SessionPort, mut queues: Queues) -> Result<(Queues, Vec<Seen>), SessionError> {
    if let Some(limit) = &port.limit {
        let limited = queues
            .into_iter()
            .map(|queue| Ok(Box::new(LimitedPort::new(queue, limit.clone())?) as Box<dyn Port>));
        queues = limited.collect::<Result<_, SessionError>>()?;
    }
    let mut noted = Vec::new();
    if port.spacing {
        let spaced = queues.into_iter().map(|queue| {
            let (spaced, seen) = Spaced::new(queue);
            noted.push(seen);
            Box::new(spaced) as Box<dyn Port>
        });
        queues = spaced.collect();
    }
    Ok((queues, noted))
}
