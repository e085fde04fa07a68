//! What is joined to what, as plain values.

use netdyno_dut::spec::{DeviceSpec, EventKind};
use netdyno_io::limit::PortLimit;
use serde::{Deserialize, Serialize};

/// A lab as the session sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// Which clock the trial runs on.
    pub clock: ClockKind,
    /// The tester's ports.
    pub ports: Vec<SessionPort>,
    /// Emulated devices.
    #[serde(default)]
    pub devices: Vec<DeviceSpec>,
    /// Links between tester ports and ports of emulated devices.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Links between two tester ports: the tester measures itself.
    #[serde(default)]
    pub loops: Vec<Loop>,
    /// The longest frame of its trials, without FCS. Slots no longer than needed keep frames in the cache, and a card may
    /// do without copies for short frames alone: so ports are opened once, for what will be sent.
    #[serde(default = "default_max_frame")]
    pub max_frame: u32,
    /// Threads of the tester, each with a queue of every port (real time).
    #[serde(default = "one")]
    pub workers: usize,
    /// Cores of these threads and then of the devices', over and over (real time). Empty: one worker is not kept anywhere,
    /// several are on the first cores of this process, and the devices on the next if there are enough.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// How often the counters of the devices are read during a trial in virtual time, from the begin of traffic; none: not.
    #[serde(default)]
    pub read_devices_ns: Option<u64>,
}

/// 1522 bytes with FCS: 1500 and one VLAN tag.
pub const fn default_max_frame() -> u32 {
    1518
}

fn one() -> usize {
    1
}

/// Virtual time: deterministic, as fast as the machine. Real time: the machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// Jumps from event to event.
    Virtual,
    /// Reads the clock.
    Real,
}

/// A tester port and what carries its frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionPort {
    /// Name, `west`.
    pub name: String,
    /// Backend and its parameters, as `netdyno_io::backend` reads them.
    pub backend: netdyno_io::backend::BackendSpec,
    /// What it cannot do (virtual time): an emulated fault of the tester.
    #[serde(default)]
    pub limit: Option<PortLimit>,
    /// Whether to note how the test frames that come in are spaced.
    #[serde(default)]
    pub spacing: bool,
    /// Whether its interface may be switched off while it is open, as by who cuts the carrier of a member of a LAG.
    #[serde(default)]
    pub may_go: bool,
}

/// A cable from one tester port to another, with nothing between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Its ends, tester port indices.
    pub ports: [usize; 2],
    /// L1 bits per second each way.
    pub rate_bps: u64,
    /// Propagation delay.
    #[serde(default)]
    pub delay_ps: u64,
}

/// A cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Tester port index.
    pub port: usize,
    /// Device index.
    pub device: usize,
    /// Port index on that device.
    pub device_port: usize,
    /// L1 bits per second; for a group, of all members together.
    pub rate_bps: u64,
    /// Propagation delay.
    #[serde(default)]
    pub delay_ps: u64,
}

/// Something that happens to the emulated devices while a trial runs. It stands beside the trial, because the device does it and
/// not the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// From the begin of traffic.
    pub at_ns: u64,
    /// What.
    pub kind: EventKind,
    /// Tester port whose link it is about; none: all of them.
    #[serde(default)]
    pub port: Option<usize>,
}
