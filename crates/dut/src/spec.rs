//! What an emulated device is, as plain values. Rates are exact fractions `[numerator, denominator]`
//! in frames per second; times are nanoseconds.

use netdyno_frame::hello::{Change, NeighbourSpec};
use serde::{Deserialize, Serialize};

/// Frames per second as an exact fraction.
pub type FrameRate = (u64, u64);

/// An emulated device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceSpec {
    /// Name in the lab, `dut`.
    pub name: String,
    /// Ports, in the order links refer to them.
    pub ports: Vec<DevicePortSpec>,
    /// How frames find their way.
    pub forwarding: Forwarding,
    /// Frames per second the whole box can switch, all ports together. `None`: no such limit.
    #[serde(default)]
    pub box_fps: Option<FrameRate>,
    /// The box makes haste when frames wait for long: it is then quicker than `box_fps`, which there must be.
    #[serde(default)]
    pub box_haste: Option<Haste>,
    /// Bits per second the whole box can switch, behind `box_fps`. `None`: no such limit.
    #[serde(default)]
    pub box_bits: Option<BitRate>,
    /// Frames that wait for the box (not counting the one in service), for `box_fps` and again for `box_bits`.
    #[serde(default = "default_queue")]
    pub box_queue: u32,
    /// A line between two halves of the device, as between two switches that are tested as one.
    #[serde(default)]
    pub trunk: Option<Trunk>,
    /// Cards: ports that share what a card can do, in front of the box. A port is on one card at most.
    #[serde(default)]
    pub cards: Vec<Card>,
    /// Fixed forwarding delay between ingress and egress processing.
    #[serde(default = "default_delay")]
    pub delay_ns: u64,
    /// Delay added per byte of the frame (FCS counted), in picoseconds. A frame never overtakes
    /// another on its way to the same egress port.
    #[serde(default)]
    pub delay_per_byte_ps: u64,
    /// Head-of-line blocking (RFC 2889 section 5.5.3): a frame whose output has no room waits at the head of its input's
    /// queue (`in_queue`), and those behind it wait too. Of bridges and cross connects with plain ports and nothing else in
    /// front of the switching point but `in_fps` and policers.
    #[serde(default)]
    pub head_of_line: bool,
    /// The longest frame it takes in, FCS counted: longer ones are dropped as malformed (RFC 2889 section 5.9.3, oversize).
    /// `None`: as long as its ports carry.
    #[serde(default)]
    pub largest: Option<u32>,
    /// Faults to inject.
    #[serde(default)]
    pub impairments: Vec<Impairment>,
    /// How long the device forwards nothing after a reset ([`EventKind::Reset`]).
    #[serde(default)]
    pub reset_ns: u64,
    /// An SNMP agent on the addresses of a router's ports: GET of `sysUpTime` and of octets and unicast packets of each port,
    /// whose `ifIndex` is its place among the ports, from 1. `None`: queries are not answered.
    #[serde(default)]
    pub agent: Option<AgentSpec>,
    /// Whether a router learns IPv4 routes by RIP version 2 (RFC 2453), on all its ports. It says nothing itself.
    #[serde(default)]
    pub rip: bool,
}

/// An SNMP agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// Who asks must know it.
    pub community: String,
}

/// A server that is quicker when it is behind, as software is that works in batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Haste {
    /// A frame that has to wait for at least so long is served at `fps`.
    pub behind_ns: u64,
    /// Frames per second then.
    pub fps: FrameRate,
}

/// A capacity in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BitRate {
    /// Bits per second.
    pub rate_bps: u64,
    /// Which bytes of a frame count.
    pub layer: Layer,
}

/// A line between two halves of a device, with a queue each way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trunk {
    /// Ports on its near side; all others are on its far side.
    pub near: Vec<usize>,
    /// L1 rate.
    pub rate_bps: u64,
    /// Bytes a frame has more on it: a tag has 4.
    #[serde(default)]
    pub more_bytes: u32,
    /// Frames that wait, each way.
    #[serde(default = "default_queue")]
    pub queue: u32,
    /// A queue that was full drops all frames until no more than this many wait. `None`: only while it is full.
    #[serde(default)]
    pub resume: Option<u32>,
}

/// What the ports of one card can take in together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its ports.
    pub ports: Vec<usize>,
    /// Frames per second.
    #[serde(default)]
    pub in_fps: Option<FrameRate>,
    /// Bits per second, behind `in_fps`.
    #[serde(default)]
    pub in_bits: Option<BitRate>,
    /// Frames that wait, for each of the two.
    #[serde(default = "default_queue")]
    pub in_queue: u32,
}

fn default_queue() -> u32 {
    1024
}

fn default_delay() -> u64 {
    5_000
}

/// One port of an emulated device: a plain port, or a link aggregation group with its far end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevicePortSpec {
    /// As the device calls it, `Te0/1/0/0`.
    pub name: String,
    /// MAC address of the port.
    pub mac: String,
    /// L1 rate of the port, or of one member, in bits per second.
    pub rate_bps: u64,
    /// Members of the group; 1 is a plain port. The link to the tester then runs at
    /// `rate_bps * members` and `partner_hash` says on which member each incoming frame meets us.
    #[serde(default = "one")]
    pub members: u32,
    /// How the far end spreads frames over members.
    #[serde(default)]
    pub partner_hash: Hash,
    /// How this device spreads frames over members.
    #[serde(default)]
    pub hash: Hash,
    /// Frames that wait in the far end for one member.
    #[serde(default = "default_queue")]
    pub partner_queue: u32,
    /// Bits per second the port (each member) lets in. `None`: as many as the line brings.
    #[serde(default)]
    pub police: Option<Police>,
    /// Policers of some classes, below that of the port.
    #[serde(default)]
    pub police_classes: Vec<ClassPolice>,
    /// Frames per second the port (each member) takes in. `None`: as many as the line brings.
    #[serde(default)]
    pub in_fps: Option<FrameRate>,
    /// Frames per second the port (each member) can handle in and out together, first come first served.
    #[serde(default)]
    pub both_fps: Option<FrameRate>,
    /// A packet filter on what comes in: the first rule that matches an IP packet decides, and what none matches is dropped.
    /// Empty: there is none.
    #[serde(default)]
    pub filter: Vec<FilterRule>,
    /// How much longer `in_fps` takes of a packet for each rule that is looked at.
    #[serde(default)]
    pub filter_ns: u64,
    /// How much longer it takes of a frame to a group of MAC addresses, broadcast among them.
    #[serde(default)]
    pub group_ns: u64,
    /// How much longer it takes of a message to an SNMP agent (UDP port 161), which it has to answer.
    #[serde(default)]
    pub query_ns: u64,
    /// How much longer it takes of a routing update (UDP port 520) for each route in it.
    #[serde(default)]
    pub route_ns: u64,
    /// Frames that wait for ingress processing (`in_fps`, and again for `both_fps`).
    #[serde(default = "default_queue")]
    pub in_queue: u32,
    /// What an overload of `in_fps` leaves behind.
    #[serde(default, rename = "weary")]
    pub recovery: Option<Recovery>,
    /// Frames that wait for the egress line, per member.
    #[serde(default = "default_queue")]
    pub out_queue: u32,
    /// Queues by class in front of the egress line, instead of the one of `out_queue`; the last takes what no other does.
    #[serde(default)]
    pub classes: Vec<Class>,
    /// A shaper in front of the egress line (each member's), above those of the classes: a frame waits until the bucket holds
    /// its bits.
    #[serde(default)]
    pub shape: Option<Police>,
    /// IPv4 address and prefix length of a router's port, `100.64.0.1/30`.
    #[serde(default)]
    pub ipv4: Option<String>,
    /// IPv6 address and prefix length of a router's port.
    #[serde(default)]
    pub ipv6: Option<String>,
    /// VLAN subinterfaces of a router's port. Untagged frames belong to the port itself.
    #[serde(default)]
    pub vlans: Vec<DeviceVlan>,
    /// This device's members are chosen in two stages. `None`: in one.
    #[serde(default)]
    pub stages: Option<HashStages>,
    /// A router's OSPF neighbour on the port itself, without tags.
    #[serde(default)]
    pub ospf: Option<NeighbourSpec>,
}

/// Two stages of hashing: the first chooses a switch, the switch one of its own members. Both stages use the port's `hash`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashStages {
    /// Switches, which have equally many members each, in order.
    pub switches: u32,
    /// Bits, 0 to 7, by which the second stage rotates the 8 bits of the hash to the right. 0: both stages hash alike.
    #[serde(default)]
    pub rotate: u32,
}

/// A VLAN subinterface: frames with exactly these tags belong to it, whatever their PCP and DEI. What leaves by it is tagged with
/// PCP and DEI 0: a router makes each frame anew around its packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceVlan {
    /// Its tags, outermost first, 1 to 8.
    pub tags: Vec<DeviceTag>,
    /// IPv4 address and prefix length, `100.80.0.1/30`.
    #[serde(default)]
    pub ipv4: Option<String>,
    /// IPv6 address and prefix length.
    #[serde(default)]
    pub ipv6: Option<String>,
    /// A shaper in front of the queues of the egress line (each member's): a frame waits until the bucket holds its bits.
    #[serde(default)]
    pub shape: Option<Police>,
    /// Frames that wait for the shaper.
    #[serde(default = "default_vlan_queue")]
    pub queue: u32,
    /// A queue of its own in front of the shaper for some frames, which go before all others.
    #[serde(default)]
    pub priority: Option<PriorityQueue>,
    /// The router's OSPF neighbour there.
    #[serde(default)]
    pub ospf: Option<NeighbourSpec>,
}

/// A queue whose frames go first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityQueue {
    /// DSCPs (6 bits) of the IP packets that wait there.
    pub dscp: Vec<u8>,
    /// Frames that wait.
    #[serde(default = "default_vlan_queue")]
    pub queue: u32,
}

/// A VLAN tag of any priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceTag {
    /// The VLAN, 0 to 4095.
    pub vid: u16,
    /// Tag protocol identifier.
    #[serde(default = "default_tpid")]
    pub tpid: u16,
}

fn default_vlan_queue() -> u32 {
    64
}

fn default_tpid() -> u16 {
    netdyno_frame::parse::ethertype::VLAN
}

fn one() -> u32 {
    1
}

/// A rule of a packet filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterRule {
    /// Whether what matches passes.
    pub permit: bool,
    /// Prefix of the source, `16.0.0.0/8`; `None`: any.
    #[serde(default)]
    pub src: Option<String>,
    /// Prefix of the destination.
    #[serde(default)]
    pub dst: Option<String>,
}

/// A policer or a licence on what comes in: a token bucket, full at first, that drops what it has no tokens for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Police {
    /// Bits per second that fill the bucket.
    pub rate_bps: u64,
    /// Which bytes of a frame count.
    pub layer: Layer,
    /// What the bucket holds. Frames that count more never pass.
    pub burst_bytes: u64,
    /// A second bucket for what the first has no tokens for (EIR and EBS of Y.1564). Not of a shaper.
    #[serde(default)]
    pub excess: Option<Excess>,
}

/// The second rate of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excess {
    /// Bits per second that fill its bucket.
    pub rate_bps: u64,
    /// What that holds.
    pub burst_bytes: u64,
}

/// A policer of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassPolice {
    /// DSCPs (6 bits) of IP packets that are of the class.
    #[serde(default)]
    pub dscp: Vec<u8>,
    /// PCPs of the outermost tag, of frames whose DSCP is no class's.
    #[serde(default)]
    pub pcp: Vec<u8>,
    /// Its policer.
    pub police: Police,
}

/// A queue in front of an egress line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Name, `voice`.
    pub name: String,
    /// DSCPs (6 bits) of IP packets that are of the class.
    #[serde(default)]
    pub dscp: Vec<u8>,
    /// PCPs of the outermost tag, of frames whose DSCP is no class's.
    #[serde(default)]
    pub pcp: Vec<u8>,
    /// 0 to 15: a frame leaves only when none of a lower number may. Classes of the same share by weight.
    #[serde(default)]
    pub priority: u8,
    /// Share of the bytes (FCS counted) among classes of the same priority: 256 times this in a round.
    #[serde(default = "one")]
    pub weight: u32,
    /// Frames that wait.
    #[serde(default = "default_queue")]
    pub queue: u32,
    /// The most the class may have.
    #[serde(default)]
    pub shape: Option<Police>,
}

/// A port that has to recover from an overload (RFC 2544 section 26.5): once its queue was full it loses some of the frames
/// it could take in, for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// How long after the last frame that found the queue full.
    pub for_ns: u64,
    /// Of the frames that come meanwhile every so many one is lost; 1 is all.
    pub every: u64,
}

/// Which bytes of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Its own, the FCS, preamble, start delimiter and gap: 20 more than its size.
    L1,
    /// Its size: its own and the FCS.
    L2,
}

/// What a group's member is chosen by. The folding is that of Linux bonding: the XOR of both ends,
/// folded to 8 bits, modulo the number of members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hash {
    /// Source and destination MAC.
    L2,
    /// Source and destination IP.
    #[default]
    SrcDstIp,
    /// Source IP.
    SrcIp,
    /// Destination IP.
    DstIp,
    /// Source and destination IP and L4 ports.
    L3L4,
}

/// How frames find their way through a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Forwarding {
    /// What comes in on one port leaves on the other, untouched.
    CrossConnect {
        /// Pairs of port indices.
        pairs: Vec<(usize, usize)>,
    },
    /// A learning bridge.
    Bridge {
        /// Entries older than this are forgotten.
        #[serde(default = "default_ageing")]
        ageing_ns: u64,
        /// Addresses the table holds; further ones are not learned (their frames are flooded).
        #[serde(default = "default_table")]
        table_limit: u32,
        /// Addresses learned a second at most: a further one is not, and may be when it is seen again. `None`: no limit.
        #[serde(default)]
        learn_fps: Option<FrameRate>,
    },
    /// An IPv4/IPv6 router: longest prefix match, ARP and ND both ways, TTL, MAC rewrite.
    Router {
        /// Static routes besides those of the ports' own networks.
        #[serde(default)]
        routes: Vec<Route>,
        /// Static neighbours; others are resolved.
        #[serde(default)]
        neighbours: Vec<Neighbour>,
    },
}

fn default_ageing() -> u64 {
    300_000_000_000
}

fn default_table() -> u32 {
    131_072
}

/// A static route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// `16.0.0.0/8`, `2001:db8::/32`.
    pub prefix: String,
    /// Next hop.
    pub via: String,
}

/// A static neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    /// IPv4 or IPv6 address.
    pub ip: String,
    /// Its MAC address.
    pub mac: String,
}

/// A fault, applied to frames as they leave the switching point towards `port` (egress), test frames
/// and others alike, counted from `after` on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Impairment {
    /// Egress port index it applies to; `None`: all.
    #[serde(default)]
    pub port: Option<usize>,
    /// What is done.
    pub fault: Fault,
    /// To which frames.
    pub when: When,
}

/// What is done to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It is gone.
    Lose,
    /// It is sent twice.
    Duplicate,
    /// It is held back until this many later frames to the same port have left.
    Reorder {
        /// How many overtake it.
        by: u32,
    },
    /// One bit is flipped, in the network header or behind it (not in Ethernet header or tags).
    Corrupt,
    /// Nothing leaves the port for this long; what arrives waits, as far as the queues allow. With `window` and `period` it
    /// begins when they do, whether a frame comes or not.
    Stall {
        /// How long.
        for_ns: u64,
    },
    /// It leaves so much later, and others overtake it. Longer than a tester's drain, it comes when nobody counts it any more.
    Hold {
        /// How much later.
        for_ns: u64,
    },
}

/// Which frames a fault meets. Counted per egress port, from 0; `lose` counts the frame like any other, and a
/// duplicate is not counted again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Frames `first`, `first + every`, ...
    Every {
        /// Distance.
        every: u64,
        /// First one.
        first: u64,
    },
    /// Exactly these.
    Frames(Vec<u64>),
    /// Each with chance `parts` in `of`, from a seed: frame `n` is hit if the upper 64 bits of `draw * of` are below
    /// `parts`, `draw` being output `n` of SplitMix64 started from `seed`.
    Chance {
        /// Numerator.
        parts: u64,
        /// Denominator.
        of: u64,
        /// Seed.
        seed: u64,
    },
    /// All that come in some windows of time: time since the device was made is cut into windows of `window_ns`, and window
    /// `n` is hit with chance `parts` in `of` like frame `n` of `chance`.
    Window {
        /// Length of a window.
        window_ns: u64,
        /// Numerator.
        parts: u64,
        /// Denominator.
        of: u64,
        /// Seed.
        seed: u64,
    },
    /// All that come within `for_ns` from `first_ns`, `first_ns + every_ns`, ... since the device was made.
    Period {
        /// From one begin to the next.
        every_ns: u64,
        /// The first one.
        first_ns: u64,
        /// How long.
        for_ns: u64,
    },
    /// The first `frames` frames after the port had nothing to send for longer than `idle_ns`: of a device that falls asleep,
    /// and so loses at low loads and not at high ones.
    AfterIdle {
        /// The longest distance of two frames that keeps it awake.
        idle_ns: u64,
        /// How many it takes to wake it.
        frames: u64,
    },
}

/// What happens to a device at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The device is reset: it loses what it holds and what it has learned, and forwards nothing for `reset_ns`.
    Reset,
    /// A link goes down: nothing passes it, what waits for it is lost, and what was learned behind it forgotten.
    LinkDown,
    /// It comes up again.
    LinkUp,
    /// MAC addresses and neighbours that were learned are forgotten.
    Forget,
    /// Nothing leaves by a port any more: what is to leave is lost. Its link stays up, and nothing is forgotten.
    Mute,
    /// Frames leave by it again.
    Unmute,
}

/// The device's own instruments: what it counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// Per port, in the order of the spec.
    pub ports: Vec<DevicePortCounters>,
    /// Dropped because the box was busy and its queue full.
    pub box_drops: u64,
    /// Dropped because a card was.
    #[serde(default)]
    pub card_drops: u64,
    /// Dropped because the trunk's queue was full.
    #[serde(default)]
    pub trunk_drops: u64,
    /// Held by the device when it was reset, and lost.
    #[serde(default)]
    pub reset_drops: u64,
    /// Dropped: no route, no neighbour, no cross connect. None of those below.
    pub no_route: u64,
    /// TTL or hop limit ran out.
    pub ttl_expired: u64,
    /// Not a frame this device forwards, or too long with the tags of the subinterface it is to leave by.
    pub malformed: u64,
    /// Dropped by a router: no subinterface of the port has the frame's tags.
    #[serde(default)]
    pub unknown_vlan: u64,
    /// Frames flooded by a bridge.
    pub flooded: u64,
    /// Copies a bridge made of flooded frames, beyond the first.
    #[serde(default)]
    pub copies: u64,
    /// Not forwarded by a bridge: the destination is where the frame came from, or an address no bridge forwards.
    #[serde(default)]
    pub filtered: u64,
    /// For the router itself: ARP, ND, and what it has no answer to.
    #[serde(default)]
    pub consumed: u64,
    /// Frames the device made by itself (ARP and ND).
    #[serde(default)]
    pub originated: u64,
    /// Frames in the device now: being served, waiting for a line, a neighbour or their turn. At any time since the
    /// counters were last reset with nothing held: received + originated + copies + duplicates = sent + all drops +
    /// filtered + consumed + lost by injection + held.
    #[serde(default)]
    pub held: u64,
    /// Faults injected, by name: `lose`, `duplicate`, `reorder`, `corrupt`, `stall`, `hold`.
    pub injected: std::collections::BTreeMap<String, u64>,
}

/// What a port of the device counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevicePortCounters {
    /// Name.
    pub name: String,
    /// Frames that came in from the line (all members).
    pub rx_frames: u64,
    /// Frames that left (all members).
    pub tx_frames: u64,
    /// Dropped in the far-end switch of a LAG, before they arrived: a member's line or queue was full.
    pub partner_drops: u64,
    /// Dropped by the policer.
    #[serde(default)]
    pub policed: u64,
    /// Let through in excess of a committed rate.
    #[serde(default)]
    pub excess: u64,
    /// Dropped by the packet filter.
    #[serde(default)]
    pub denied: u64,
    /// Dropped by ingress capacity (`in_fps`).
    pub in_drops: u64,
    /// Dropped while recovering from an overload.
    #[serde(default)]
    pub weary_drops: u64,
    /// Lost because the link was down or the device was being reset, on the way in or out.
    #[serde(default)]
    pub down_drops: u64,
    /// Dropped by shared capacity (`both_fps`), on the way in or out.
    pub both_drops: u64,
    /// Dropped because the egress queue was full, of all classes, or the queue of a subinterface's shaper.
    pub out_drops: u64,
    /// The same, for each class.
    #[serde(default)]
    pub class_drops: Vec<u64>,
    /// What left by each subinterface, in the order of the spec.
    #[serde(default)]
    pub vlans: Vec<DeviceVlanCounters>,
    /// Frames out, per member.
    pub member_tx: Vec<u64>,
    /// Frames in, per member.
    pub member_rx: Vec<u64>,
    /// The first flows that left by each member of a LAG, source and destination.
    #[serde(default)]
    pub member_flows: Vec<Vec<String>>,
}

/// What came of an adjacency of a router, at the router's end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjacencyCounters {
    /// Port index.
    pub port: usize,
    /// Tags of its subinterface; none: the port itself.
    pub tags: Vec<DeviceTag>,
    /// When it went down and came up.
    pub changes: Vec<Change>,
    /// Hellos that the device lost, in order of time.
    pub lost: Vec<LostHello>,
}

/// A hello that a router lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostHello {
    /// When, from the begin of traffic.
    pub at_ps: u64,
    /// Whether it was the router's own; otherwise it was its neighbour's.
    pub is_own: bool,
    /// Where.
    pub place: LostAt,
}

/// Where in a router a frame is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostAt {
    /// The policer of the port.
    Policer,
    /// The queue in front of what the port takes in.
    Ingress,
    /// The queue of a card.
    Card,
    /// The queue of the box.
    Box,
    /// The queue of the subinterface's shaper.
    Shaper,
    /// The priority queue of the subinterface's shaper.
    Priority,
    /// The queue of a class, by its number.
    Class(u8),
    /// The queue of the line.
    Line,
}

/// What a subinterface of the device counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceVlanCounters {
    /// Its tags.
    pub tags: Vec<DeviceTag>,
    /// Frames given to the egress line.
    pub sent: u64,
    /// Dropped because the queue of the shaper or of the line was full: among the port's `out_drops`.
    pub dropped: u64,
}
