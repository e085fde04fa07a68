//! From a session spec to open ports and devices.

use crate::error::SessionError;
use crate::spacing::{Seen, Spaced};
use crate::spec::{ClockKind, Link, Loop, SessionSpec};
use crate::spread::spread;
use netdyno_dut::Device;
use netdyno_io::backend::{self, BackendSpec, ClockFit, LinkSpec};
use netdyno_io::limit::LimitedPort;
use netdyno_io::port::Port;
use netdyno_io::time::{Clock, Duration};

/// Ports and devices, joined.
pub struct Opened {
    /// The tester's ports, in the order of the spec: the queues of each, one a worker.
    pub ports: Vec<Vec<Box<dyn Port>>>,
    /// What is noted of how frames come in at each of them, a queue each, where that was asked for; else nothing.
    pub seen: Vec<Vec<Seen>>,
    /// The devices, in the order of the spec.
    pub devices: Vec<Device>,
}

/// Checks what can be checked before anything is opened.
pub fn check(spec: &SessionSpec) -> Result<(), SessionError> {
    if spec.ports.is_empty() {
        return Err(SessionError::new("the session has no ports"));
    }
    for port in &spec.ports {
        let backend = port.backend.backend();
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
            let why = format!("port `{}`: a `{}` port cannot follow the {clock} clock", port.name, backend.name);
            return Err(SessionError::new(why).hint(format!("set the session's clock to `{other}`, or use another backend")));
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
        let needed = usize::from(port.backend.backend().needs_link());
        if links != needed {
            let kind = port.backend.kind();
            let why = format!("port `{}`: a `{kind}` port has {needed} link(s), here {links}", port.name);
            return Err(SessionError::new(why)
                .hint("link each wire or ring port to one port of an emulated device (or loop it to another), and no other port"));
        }
    }
    Ok(())
}

fn check_link(spec: &SessionSpec, number: usize, link: &Link) -> Result<(), SessionError> {
    let bad = |why: String| Err(SessionError::new(format!("links[{number}]: {why}")));
    let Some(port) = spec.ports.get(link.port) else {
        return bad(format!("there is no port {}", link.port));
    };
    let Some(device) = spec.devices.get(link.device) else {
        return bad(format!("port `{}` leads to device {}, which there is not", port.name, link.device));
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
        return Err(SessionError::new(why).hint("a cable runs at the rate of all members of the port at its end"));
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
    Err(SessionError::new(format!("loops[{number}]: {why}")).hint("a loop joins two tester ports of the same kind"))
}

/// Opens everything, on `clock` if in real time.
pub fn open(spec: &SessionSpec, clock: Option<Clock>) -> Result<Opened, SessionError> {
    let max_frame = spec.max_frame;
    let mut ports: Vec<Option<Vec<Box<dyn Port>>>> = spec.ports.iter().map(|_| None).collect();
    let mut far: Vec<Vec<Option<Box<dyn Port>>>> = spec.devices.iter().map(|it| it.ports.iter().map(|_| None).collect()).collect();
    for link in &spec.links {
        let (port, device) = (&spec.ports[link.port], &spec.devices[link.device]);
        let far_name = format!("{}:{}", device.name, device.ports[link.device_port].name);
        let mut wanted = LinkSpec::new(&port.name, &far_name, link.rate_bps, max_frame);
        wanted.propagation = Duration { ps: link.delay_ps };
        let (near, other) = backend::pair_queues(&port.backend, &wanted, spec.workers, spread)?;
        ports[link.port] = Some(near);
        far[link.device][link.device_port] = Some(other);
    }
    for own in &spec.loops {
        let [near, far] = own.ports;
        let mut wanted = LinkSpec::new(&spec.ports[near].name, &spec.ports[far].name, own.rate_bps, max_frame);
        wanted.propagation = Duration { ps: own.delay_ps };
        // Queue to queue: so flows keep theirs.
        let pairs = (0..spec.workers).map(|_| backend::pair(&spec.ports[near].backend, &wanted));
        let (one, other) = pairs.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        (ports[near], ports[far]) = (Some(one), Some(other));
    }
    if let Some(clock) = clock {
        let queues = ports.iter_mut().flatten().flatten();
        let ends = queues.chain(far.iter_mut().flatten().flatten());
        ends.for_each(|end| end.use_clock(clock));
    }
    let mut opened = Opened {
        ports: Vec::new(),
        seen: Vec::new(),
        devices: Vec::new(),
    };
    for (port, linked) in spec.ports.iter().zip(ports) {
        let mut carrier = match linked {
            Some(linked) => linked,
            None => {
                let mut alone = backend::open_queues(&port.name, &port.backend, max_frame, spec.workers)?;
                if let Some(clock) = clock {
                    alone.iter_mut().for_each(|queue| queue.use_clock(clock));
                }
                alone
            }
        };
        if let Some(limit) = &port.limit {
            let limited = carrier
                .into_iter()
                .map(|queue| Ok(Box::new(LimitedPort::new(queue, limit.clone())?) as Box<dyn Port>));
            carrier = limited.collect::<Result<_, SessionError>>()?;
        }
        let mut noted = Vec::new();
        if port.spacing {
            let spaced = carrier.into_iter().map(|queue| {
                let (spaced, seen) = Spaced::new(queue);
                noted.push(seen);
                Box::new(spaced) as Box<dyn Port>
            });
            carrier = spaced.collect();
        }
        opened.seen.push(noted);
        opened.ports.push(carrier);
    }
    for (device, linked) in spec.devices.iter().zip(far) {
        let mut its = Vec::new();
        for (port, linked) in device.ports.iter().zip(linked) {
            its.push(match linked {
                Some(linked) => linked,
                // Nobody is at the other end: what leaves here is gone.
                None => backend::open(&format!("{}:{}", device.name, port.name), &BackendSpec::Null {}, max_frame)?,
            });
        }
        opened.devices.push(Device::new(device.clone(), its, max_frame)?);
    }
    Ok(opened)
}
