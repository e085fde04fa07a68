//! An emulated device in real time on ports that lead out of this process, without a tester: so that another
//! tester can be pointed at it.

use crate::error::{Refusal, SessionError};
use crate::spec::default_max_frame;
use netdyno_dut::Device;
use netdyno_dut::spec::{DeviceCounters, DeviceSpec};
use netdyno_io::backend::{self, BackendSpec, ClockFit};
use netdyno_io::claim::Claim;
use netdyno_io::drive::{pin_to_core, prefer_this_thread, run_waiting};
use netdyno_io::looks::Span;
use netdyno_io::port::{Burst, Port, PortCounters, PortError, PortInfo, Slot};
use netdyno_io::time::{Clock, Duration, Instant};
use serde::{Deserialize, Serialize};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How often the counters are brought up to date.
const UPDATE: Duration = Duration::from_ms(50);
/// Frames dropped at a time on a port that takes none.
const SPILLED: usize = 64;

/// A device and what its ports lead to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeSpec {
    /// The device.
    pub device: DeviceSpec,
    /// For each of its ports what carries the frames; ports in real time that are joined by no link.
    pub ports: Vec<BackendSpec>,
    /// The longest frame, without FCS.
    #[serde(default = "default_max_frame")]
    pub max_frame: u32,
    /// Core to stay on; the system's choice unless given.
    #[serde(default)]
    pub core: Option<usize>,
}

/// How a served device fares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// What the device counted.
    pub device: DeviceCounters,
    /// For each port, frames that left the device and found no room where they were to go: its tester was late, or
    /// none was there.
    pub spilled: Vec<u64>,
    /// For each port, frames that came to it and were lost before the device: the device was late.
    pub unheard: Vec<u64>,
    /// Ports that have failed, with the reason.
    pub failures: Vec<String>,
    /// How long it has been served.
    pub elapsed_ns: u64,
    /// The longest time the device did nothing for want of its core.
    pub longest_gap_ns: u64,
    /// The same, since it was last asked how it fares.
    pub gap_ns: u64,
    /// How long it was late in all, each time by more than a millisecond.
    pub late_ns: u64,
    /// Share of its core that it got, of the time that it wanted it.
    pub core_share_ppm: u32,
}

/// A device that is being served, on a thread of its own, until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    common: Arc<Common>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Common {
    stop: AtomicBool,
    served: Mutex<Served>,
}

impl Server {
    /// Opens the ports and begins.
    ///
    /// # Errors
    /// If a port or the device cannot be had: which one and why.
    pub fn start(spec: ServeSpec) -> Result<Self, SessionError> {
        let ServeSpec {
            device,
            ports: wanted,
            max_frame,
            core,
        } = spec;
        if wanted.len() != device.ports.len() {
            let (name, has, given) = (&device.name, device.ports.len(), wanted.len());
            return Err(SessionError::spec(format!(
                "device `{name}` has {has} ports, and {given} to serve them on"
            )));
        }
        let clock = Clock::start();
        let (mut ports, mut spilled): (Vec<Box<dyn Port>>, Vec<_>) = (Vec::new(), Vec::new());
        let mut sockets = Vec::new();
        for (port, wanted) in device.ports.iter().zip(wanted) {
            if wanted.entry().is_linked || wanted.entry().clock == ClockFit::Virtual {
                let why = format!(
                    "port `{}`: a `{}` port connects ports of this process only",
                    port.name,
                    wanted.kind()
                );
                return Err(SessionError::spec(why).hint("serve it on a memif or an interface"));
            }
            let mut inner = backend::open(&port.name, &wanted.for_served_device(), max_frame)?;
            inner.use_clock(clock);
            // A device takes in what comes to it, whatever it is.
            inner.claim(&[Claim::EVERYTHING])?;
            sockets.push(inner.socket());
            let (port, count) = Spilling::new(inner);
            ports.push(Box::new(port));
            spilled.push(count);
        }
        let mut device = Device::new(device, ports, max_frame)?;
        let common = Arc::new(Common::default());
        let its = Arc::clone(&common);
        let (tell, told) = std::sync::mpsc::channel();
        // It sleeps if each of its ports can wake it.
        let sockets = sockets.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
        let serve = move || {
            let pinned = core.map_or(Ok(()), pin_to_core);
            let goes = pinned.is_ok();
            prefer_this_thread();
            if tell.send(pinned).is_ok() && goes {
                its.serve(&mut device, clock, &spilled, &sockets);
            }
        };
        let spawned = std::thread::Builder::new().name("netdyno-device".to_owned()).spawn(serve);
        let thread = spawned.map_err(|why| Refusal::NoThread {
            what: "the device".to_owned(),
            why: why.to_string(),
        })?;
        let server = Self {
            common,
            thread: Some(thread),
        };
        told.recv().map_err(|_| Refusal::Bug {
            what: "the device's thread".to_owned(),
            why: "did not begin".to_owned(),
        })??;
        Ok(server)
    }

    /// How it fares, as of some 50 ms ago.
    #[must_use]
    pub fn served(&self) -> Served {
        let mut served = self.common.served.lock().unwrap_or_else(PoisonError::into_inner);
        let found = served.clone();
        served.gap_ns = 0;
        found
    }

    /// Ends it in order and closes its ports; how it fared. Safe to call twice.
    ///
    /// # Errors
    /// If its thread panicked.
    pub fn stop(&mut self) -> Result<Served, SessionError> {
        self.common.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread
                .join()
                .map_err(|panic| SessionError::bug("the thread of an emulated device", &*panic))?;
        }
        Ok(self.served())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

impl Common {
    fn serve(&self, device: &mut Device, clock: Clock, spilled: &[Arc<AtomicU64>], sockets: &[RawFd]) {
        let began = clock.now();
        let (mut cpu, mut gap, mut slept, mut late) = (Duration::ZERO, Duration::ZERO, Duration::ZERO, Duration::ZERO);
        while !self.stop.load(Ordering::Relaxed) {
            let report = run_waiting(device, &clock, &self.stop, clock.now() + UPDATE, sockets);
            cpu += report.cpu_time;
            slept += report.slept;
            gap = gap.max(report.longest_gap);
            late += report.late;
            let elapsed = clock.now().saturating_since(began);
            let wanted = elapsed.ps.saturating_sub(slept.ps);
            let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
            let gap_ns = served.gap_ns.max(report.longest_gap.ps / 1000);
            *served = Served {
                device: device.counters(),
                spilled: spilled.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
                unheard: device.unheard().collect(),
                failures: device
                    .failures()
                    .map(|(port, why)| format!("port `{port}` failed: {why}"))
                    .collect(),
                elapsed_ns: elapsed.ps / 1000,
                longest_gap_ns: gap.ps / 1000,
                gap_ns,
                late_ns: late.ps / 1000,
                core_share_ppm: (cpu.ps as f64 * 1e6 / wanted.max(1) as f64).min(1e6) as u32,
            };
        }
    }
}

/// A port whose frames leave when they are due, whether there is room at the far end or not: a cable does not hold
/// frames back, and a device that is served must not fill its memory for a tester that is late.
struct Spilling {
    port: Box<dyn Port>,
    memory: Vec<u8>,
    slots: Vec<Slot>,
    spilled: Arc<AtomicU64>,
}

impl Spilling {
    fn new(port: Box<dyn Port>) -> (Self, Arc<AtomicU64>) {
        let room = port.info().max_frame;
        let spilled = Arc::new(AtomicU64::new(0));
        let slot = |index: usize| Slot {
            offset: index as u32 * room,
            len: room,
            at: Instant::ZERO,
        };
        let spilling = Self {
            memory: vec![0; SPILLED * room as usize],
            slots: (0..SPILLED).map(slot).collect(),
            port,
            spilled: Arc::clone(&spilled),
        };
        (spilling, spilled)
    }

    /// Takes frames and drops them.
    #[cold]
    fn spill(&mut self, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> usize {
        let room = self.port.info().max_frame;
        let slots = &mut self.slots[..limit.min(SPILLED)];
        for slot in &mut *slots {
            slot.len = room;
        }
        let dropped = fill(&mut Burst::new(&mut self.memory, slots));
        self.spilled.fetch_add(dropped as u64, Ordering::Relaxed);
        dropped
    }
}

impl Port for Spilling {
    fn info(&self) -> &PortInfo {
        self.port.info()
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let mut asked = false;
        let taken = self.port.transmit(now, limit, &mut |burst| {
            asked = true;
            fill(burst)
        })?;
        // Not asked for frames: there is no room.
        Ok(if asked || limit == 0 { taken } else { self.spill(limit, fill) })
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        self.port.receive(now, limit, read)
    }

    fn ready(&mut self) -> Result<(), PortError> {
        self.port.ready()
    }

    fn full_spans(&self) -> &[Span] {
        self.port.full_spans()
    }

    fn claim(&mut self, claims: &[Claim]) -> Result<(), PortError> {
        self.port.claim(claims)
    }

    fn use_clock(&mut self, clock: Clock) {
        self.port.use_clock(clock);
    }

    fn time(&self, now: Instant) -> Instant {
        self.port.time(now)
    }

    fn socket(&self) -> Option<RawFd> {
        self.port.socket()
    }

    fn counters(&self) -> PortCounters {
        self.port.counters()
    }
}
