//! One trial, as plain values: nothing implicit. The spec is the bug report.
//!
//! Loads are L1 bits per second: a frame of `size` bytes (FCS counted) takes `(size + 20) * 8` bits.
//! A frame departs when the bits before it have been offered, so at 100 % of the line frames stand
//! back to back whatever their sizes.

use netdyno_frame::hello::NeighbourSpec;
use netdyno_frame::spec::{Bytes, Content, Header, Write};
use serde::{Deserialize, Serialize};

/// A trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    /// Seed of everything random in the trial.
    pub seed: u64,
    /// What is sent.
    pub streams: Vec<StreamSpec>,
    /// The tester's ports: who they are on the network.
    pub ports: Vec<TesterPortSpec>,
    /// Give up resolving next hops after this long.
    #[serde(default = "default_resolve")]
    pub resolve_ns: u64,
    /// Ask each next hop alone this often whether it is still there (RFC 1122 section 2.3.2.1, RFC 4861 section 7.3);
    /// 0 is never.
    #[serde(default = "default_poll")]
    pub poll_ns: u64,
    /// In real time: frames that are late because the tester was preempted are made up for at no more than this
    /// share of the intended rate, percent, and at no more than the line rate of their port. 100 is not at all.
    #[serde(default = "default_catch_up")]
    pub catch_up_percent: u32,
    /// What the schedule asked for and was not sent in time is sent until this long after its end; the rest is `unsent`.
    #[serde(default = "default_overtime")]
    pub overtime_ns: u64,
    /// Wait between learning and traffic (RFC 2544 section 23, phase b).
    pub settle_ns: u64,
    /// Keep receiving this long after the last frame (RFC 2544 section 23, phase d).
    pub drain_ns: u64,
    /// Length of one sample of the series.
    pub sample_ns: u64,
    /// Send learning frames from each receiving port before the traffic (bridges).
    #[serde(default)]
    pub learn: bool,
    /// Check the IP and UDP/TCP checksums of what is received, and the payload behind the probe by them.
    #[serde(default = "yes")]
    pub verify: bool,
    /// What is observed of each stream beyond counts and latency.
    #[serde(default)]
    pub observe: Observe,
    /// In real time: once it has settled it waits for a [`Begin`]. Testers on several hosts begin together so.
    #[serde(default)]
    pub waits: bool,
}

impl TrialSpec {
    /// The port that stands for port `port` where frames arrive: the first of its bundle or LAG, or itself.
    #[must_use]
    pub fn home_of(&self, port: usize) -> usize {
        let first = self.ports.get(port).and_then(|port| port.bundle.or(port.lag));
        first.filter(|&first| first < self.ports.len()).unwrap_or(port)
    }

    /// The port whose host port `port` is: the first member of its LAG, or itself.
    #[must_use]
    pub fn head(&self, port: usize) -> usize {
        self.ports.get(port).and_then(|port| port.lag).unwrap_or(port)
    }
}

/// When the traffic of a trial that waits begins, and how its frames are dated for testers with clocks of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The reading of the session's clock.
    pub at_ps: u64,
    /// Per stream: what is added to the departure that its probes hold, so that it is one of the clock where they arrive.
    #[serde(default)]
    pub shifts_ps: Vec<i64>,
}

/// What a trial observes of each stream beyond counts and latency: nothing, unless it is asked. Each costs the receiver time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Observe {
    /// Only frames that departed so long after traffic began are timed (RFC 8219 section 7.2: from second 60 of 120 on).
    pub timed_from_ns: u64,
    /// Date so many gaps, the first ones and the last, and the longest silence; 0 is none.
    pub gaps: u32,
    /// Missing frames with no more than so many other frames of their stream between them are in one gap.
    pub bridge: u64,
    /// How far frames came out of order (RFC 4737).
    pub order: bool,
    /// How latency varies from frame to frame (RFC 3393, RFC 5481).
    pub variation: bool,
    /// The times between one arrival and the next.
    pub spacing: bool,
    /// What became of each flow: frames sent, arrived, arrived at another port, when the last one of those departed and where it
    /// arrived. For 2^20 flows at most, all streams together.
    pub by_flow: bool,
    /// Latency of each interval of this length, a whole number of samples, and how the trial stands at its end; 0 is none. It takes
    /// a receiver some microseconds of each, not of each frame.
    pub interval_ns: u64,
}

impl Observe {
    /// Whether the receiver has more to do with each frame than to count and time it.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.timed_from_ns > 0 || self.gaps > 0 || self.order || self.variation || self.spacing || self.by_flow
    }
}

fn default_resolve() -> u64 {
    3_000_000_000
}

fn default_catch_up() -> u32 {
    200
}

fn default_overtime() -> u64 {
    100_000_000
}

fn one() -> u32 {
    1
}

fn default_poll() -> u64 {
    10_000_000_000
}

fn yes() -> bool {
    true
}

/// A tester port as the network sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TesterPortSpec {
    /// Its MAC address.
    pub mac: String,
    /// L1 bits per second of its line, where the port itself does not know it; 0 is not said.
    #[serde(default)]
    pub line_bps: u64,
    /// Its IPv4 address, answered for by ARP.
    #[serde(default)]
    pub ipv4: Option<String>,
    /// Its IPv6 address, answered for by ND.
    #[serde(default)]
    pub ipv6: Option<String>,
    /// Its next hop, resolved before traffic even if the port only receives: a router that has been asked knows whom
    /// to forward to, and need not ask while the first frames wait. On the VLAN of the first stream it receives.
    #[serde(default)]
    pub gateway: Option<String>,
    /// Who the port is on VLANs where it has addresses of its own. On every other one, and untagged, it is `ipv4` and
    /// `ipv6`.
    #[serde(default)]
    pub vlans: Vec<VlanSpec>,
    /// What it says of its own beside the streams.
    #[serde(default)]
    pub messages: Vec<MessageSpec>,
    /// UDP ports: what comes to the port's IPv4 address, or to one in `behind`, and to one of these is kept.
    #[serde(default)]
    pub listens: Vec<u16>,
    /// Index of the first member of the LAG that it is a member of: the others are the same host, and frames to the first arrive
    /// at any of them.
    #[serde(default)]
    pub lag: Option<usize>,
    /// The port is another host's, which sends and receives there: here it is a name and a MAC address alone.
    #[serde(default)]
    pub remote: bool,
    /// Index of the first port of its bundle, a LAG or ECMP group of the device: what is for a port of it may arrive at any.
    #[serde(default)]
    pub bundle: Option<usize>,
    /// IPv4 networks that the port says are behind it, `192.0.2.0/24`: it stands for their hosts as far as `listens` goes.
    #[serde(default)]
    pub behind: Vec<String>,
    /// Its OSPF neighbour, without tags, in virtual time.
    #[serde(default)]
    pub ospf: Option<NeighbourSpec>,
}

/// A frame of the tester's own that is sent once, or again and again. It is no stream's, and counted apart. It takes its
/// time on the line: where it is due with test frames it goes first, and they wait for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageSpec {
    /// When it is sent first, from the begin of traffic; before that, while it settles, once.
    pub at_ns: i64,
    /// From one frame to the next.
    #[serde(default)]
    pub every_ns: u64,
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// Its bytes without FCS, in hexadecimal.
    pub frame: String,
    /// Where in it a number of 32 bits lies that is one more in each further frame.
    #[serde(default)]
    pub number_at: Option<usize>,
    /// The next hop it goes to, resolved by ARP or ND: whose MAC address is written in. Absent: as written.
    #[serde(default)]
    pub to: Option<String>,
}

/// Addresses of a tester port on one VLAN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VlanSpec {
    /// Its tags, outermost first.
    pub tags: Vec<TagSpec>,
    /// The port's IPv4 address there.
    #[serde(default)]
    pub ipv4: Option<String>,
    /// The port's IPv6 address there.
    #[serde(default)]
    pub ipv6: Option<String>,
    /// A next hop there, resolved before traffic even if nothing is sent to it.
    #[serde(default)]
    pub gateway: Option<String>,
    /// Its OSPF neighbour there, in virtual time.
    #[serde(default)]
    pub ospf: Option<NeighbourSpec>,
}

/// A VLAN tag, of any priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagSpec {
    /// The VLAN.
    pub vid: u16,
    /// Tag protocol identifier.
    #[serde(default = "default_tpid")]
    pub tpid: u16,
}

fn default_tpid() -> u16 {
    netdyno_frame::parse::ethertype::VLAN
}

/// One stream: one direction, one template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// Its name, `west-east`.
    pub name: String,
    /// Index of the sending port.
    pub tx_port: usize,
    /// Index of the port it should arrive at.
    pub rx_port: usize,
    /// Header stack, outermost first.
    pub headers: Vec<Header>,
    /// Numbers that are written over the frame that these make.
    #[serde(default)]
    pub writes: Vec<Write>,
    /// Bytes that are repeated behind headers and probe; without any, bytes that count up from 0.
    #[serde(default)]
    pub payload: Bytes,
    /// Who the outermost destination MAC is.
    pub destination: Destination,
    /// The tags its frames have where they arrive, outermost first, if the device changes them: bridges learn where the
    /// receiving port is by frames with these. Absent: those of the headers.
    #[serde(default)]
    pub arrives_on: Option<Vec<TagSpec>>,
    /// Index of the stream that this one answers, its flows of the same number: each frame goes to where its flow came out, which is
    /// learnt before traffic. For devices that translate addresses or ports, or let answers alone in.
    #[serde(default)]
    pub answers: Option<usize>,
    /// Frame sizes (FCS counted) and weights. Sent in a fixed, evenly spread order with exact weights.
    pub sizes: Vec<SizeSpec>,
    /// Number of flows; frame k belongs to flow `k mod flows`.
    pub flows: u32,
    /// Flow i has the headers of flow `pick[i]`, whatever the number of flows; as many as there are flows. Empty: flow i its own.
    #[serde(default)]
    pub pick: Vec<u32>,
    /// Frames leave in bursts of so many, back to back at the rate of their port's line, then a gap such that the mean is
    /// the load. 1: one by one.
    #[serde(default = "one")]
    pub burst: u32,
    /// How the frames of the load are placed in time.
    #[serde(default)]
    pub arrival: ArrivalSpec,
    /// Whether each frame holds a probe. Without one frames may be smaller and are known by their headers: they are counted where
    /// they arrive, and latency, copies, order and flows are not known.
    #[serde(default = "yes")]
    pub probe: bool,
    /// The load over time, from the end of settling on.
    pub schedule: Vec<Segment>,
}

impl StreamSpec {
    /// What its frames hold.
    #[must_use]
    pub fn content(&self) -> Content<'_> {
        Content {
            headers: &self.headers,
            writes: &self.writes,
            payload: &self.payload.0,
            probe: self.probe,
        }
    }
}

/// How the frames of a load are placed in time. As many depart in each segment as with constant arrivals. In virtual time what
/// falls due while the line is busy waits for it, and is not late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalSpec {
    /// Evenly.
    #[default]
    Constant,
    /// At the instants of a Poisson process.
    Poisson,
    /// Evenly in a load that goes up and down.
    Wave(WaveSpec),
}

/// A load that goes up and down: times `1 + depth * w`, where `w` is 0 on average and from -1 to 1. Whole periods of each
/// segment; behind the last of them the load is the segment's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaveSpec {
    /// What it looks like.
    pub shape: Shape,
    /// From 1 us to 1 h.
    pub period_ns: u64,
    /// How far the load goes up and down, parts per million of it; 1,000,000 at most.
    pub depth_ppm: u32,
}

/// What a period looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// From the middle up, down and back.
    Sine,
    /// The same in straight lines.
    Triangle,
    /// High in the first half, low in the second.
    Square,
    /// From low to high, and down at once.
    Sawtooth,
}

/// Who the outermost destination MAC of a stream is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// As written in the headers.
    Written,
    /// The MAC of the receiving port (cross connect, bridge).
    Peer,
    /// This next hop, resolved by ARP or ND on the sending port.
    Gateway(String),
}

/// One size of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeSpec {
    /// Bytes, FCS counted.
    pub size: u32,
    /// Weight in the mix.
    pub weight: u32,
}

/// A stretch of time in which the load is constant or rises (or falls) linearly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// What the phase is called, `warmup`, `ramp`, `hold`, `traffic`.
    pub name: String,
    /// How long.
    pub duration_ns: u64,
    /// Load at its beginning, L1 bits per second.
    pub from_bps: u64,
    /// Load at its end.
    pub to_bps: u64,
}
