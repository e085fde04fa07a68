//! What a trial found: counts, never ratios; what was not measured is absent.

use netdyno_frame::hello::Change;
use netdyno_io::pressure::BackPressure;
use netdyno_io::process::ProcessShare;
use netdyno_io::reason::Reason;
use serde::{Deserialize, Serialize};

/// The result of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// One per stream of the spec, in its order.
    pub streams: Vec<StreamResult>,
    /// One per tester port, in order.
    pub ports: Vec<PortResult>,
    /// The tester's own health: a late or starved tester is no evidence against the device.
    pub health: Health,
    /// The phases as executed, from the start of the trial.
    pub phases: Vec<PhaseResult>,
    /// Length of one sample of every series, and where sample 0 begins (start of traffic).
    pub sample_ns: u64,
    /// Next hops that answered: address, MAC.
    pub resolved: Vec<(String, String)>,
    /// The next hops of the ports, each as often as it is one, and how they were during the trial.
    pub next_hops: Vec<NextHopResult>,
    /// Other boxes that claimed an address of the tester's.
    pub conflicts: Vec<ConflictResult>,
    /// The messages of the spec that were sent, port by port, in the order in which they left.
    #[serde(default)]
    pub said: Vec<SaidResult>,
    /// What came to UDP ports that the tester listens to, port by port, in order of arrival.
    #[serde(default)]
    pub heard: Vec<HeardResult>,
    /// What came there and was not kept, for there was no room: 50,000 datagrams a port, or 16 MiB.
    #[serde(default)]
    pub heard_beyond: u64,
    /// What came there with a wrong checksum or cut off.
    #[serde(default)]
    pub heard_damaged: u64,
    /// What came of each adjacency of the ports, at the tester's end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjacencies: Vec<AdjacencyResult>,
    /// Why the trial did not take place or does not count; empty if it does.
    pub invalid: Vec<Reason>,
    /// How long after the instant of its [`Begin`](crate::spec::Begin) traffic began, ns; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_late_ns: Option<u64>,
}

/// What came of an OSPF adjacency of a tester port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdjacencyResult {
    /// Index of the port.
    pub port: usize,
    /// VLANs, outermost first; none: untagged.
    pub vlans: Vec<u16>,
    /// When it went down and came up, from the begin of traffic.
    pub changes: Vec<Change>,
}

/// What happened to one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResult {
    /// Name from the spec.
    pub name: String,
    /// Frames the schedule asked for.
    pub intended: u64,
    /// Frames sent.
    pub offered: u64,
    /// Frames of `intended` that were not sent because the peer's ring was full: so long before the end that the time until
    /// then is no more than the ring was full. All that were not sent, or none.
    #[serde(default)]
    pub refused: u64,
    /// Bytes sent, FCS counted.
    pub offered_bytes: u64,
    /// Test frames received at the intended port, each distinct frame once.
    pub received: u64,
    /// Bytes of those as received, FCS counted.
    pub received_bytes: u64,
    /// Further copies of frames already received.
    pub duplicates: u64,
    /// Frames received at another port, copies with them, whether or not they came to the intended one too.
    pub elsewhere: u64,
    /// Frames of `received` that a later one of the same flow overtook (RFC 4737 section 3.3); one that came corrupted
    /// overtakes nobody.
    pub out_of_order: u64,
    /// Frames of `received` whose content was not what was sent. They are not in `received`.
    pub corrupted: u64,
    /// `offered - received - corrupted`. Negative if the device made frames.
    pub lost: i64,
    /// Later than the reordering window remembers, so duplicate or reordered is not known.
    pub beyond_window: u64,
    /// Distinct flows of which a frame arrived intact.
    pub flows_received: u64,
    /// One-way latency of `received`, first bit out to last bit in (FILO).
    pub latency: Option<Latency>,
    /// How late the frames left.
    #[serde(default)]
    pub lag: Option<Lag>,
    /// Per sample: frames sent (by departure). In virtual time all series of a trial end with its last frame, or its traffic.
    pub tx: Vec<u64>,
    /// Per sample: frames received (by arrival).
    pub rx: Vec<u64>,
    /// Per sample: frames received of those that departed in it. `tx - arrived` is the loss of the
    /// sample, without the skew between sending and receiving.
    pub arrived: Vec<u64>,
    /// When the first frame of the stream that did not arrive intact, lost or corrupted, was due to depart, if there is
    /// one; ns from start of traffic. Where a flow is missing more than its window remembers, the start of the first
    /// sample with `tx > arrived`.
    pub first_loss_ns: Option<u64>,
    /// The frames that did not arrive intact, lost or corrupted, by departure, if that was asked.
    #[serde(default)]
    pub gaps: Option<Gaps>,
    /// The longest time in which no frame of `received` arrived, if gaps were asked, two arrived, and, with several workers,
    /// what each of them kept tells.
    #[serde(default)]
    pub silence: Option<Silence>,
    /// How far frames came out of order, if that was asked.
    #[serde(default)]
    pub order: Option<Reordering>,
    /// How latency varies from frame to frame, if that was asked and two neighbours arrived.
    #[serde(default)]
    pub variation: Option<Variation>,
    /// Times between arrivals of `received`, as those of the latency, if that was asked and one worker received them.
    #[serde(default)]
    pub spacing: Option<Latency>,
    /// What became of each of its flows, if that was asked and its frames hold a probe.
    #[serde(default)]
    pub by_flow: Option<FlowCounts>,
    /// Its frames hold no probe: they were counted by their headers where they arrived, copies with them, which make up for lost ones;
    /// `duplicates` is what came beyond what was sent. Latency, order, flows and departures of what arrived are not known; `arrived` is
    /// by arrival.
    #[serde(default)]
    pub is_bare: bool,
    /// Frames that came to its port with its lengths, IP version and protocol and look otherwise, if its frames hold no probe: a
    /// device may have changed them. They are in `foreign` of the port.
    #[serde(default)]
    pub altered: u64,
    /// How many of its flows came through with other addresses or ports than they were sent with before traffic; absent where no
    /// stream answers it.
    #[serde(default)]
    pub translated: Option<u64>,
    /// How often a frame came with other addresses or ports than the one of its flow before, if that was looked at.
    #[serde(default)]
    pub retranslated: u64,
    /// Its latency by interval of arrival, if that was asked and one worker received it; those without an arrival behind the
    /// last one may be missing.
    #[serde(default)]
    pub intervals: Vec<Interval>,
}

/// What became of the frames of each flow of a stream, in the order of its flows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Frames sent.
    pub sent: Vec<u64>,
    /// Those that arrived intact at the intended port, each once: `received` of the stream is their sum.
    pub received: Vec<u32>,
    /// Frames that arrived at another port, as `elsewhere` of the stream: copies with them, and intact or not.
    pub elsewhere: Vec<u32>,
    /// When the last frame of these two departed, ns from the start of traffic; -1 if none arrived.
    pub last_ns: Vec<i64>,
    /// The port at which that frame arrived; -1 if none did.
    #[serde(default)]
    pub port: Vec<i32>,
    /// Frames that arrived at another port than the frame of their flow that departed last before.
    #[serde(default)]
    pub moved: Vec<u32>,
}

/// Latency of what arrived in an interval, ns, percentiles by nearest rank; 0 of nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Frames timed.
    pub count: u64,
    /// The 50th percentile.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// When frames of a stream were lost. The frames of all gaps together, further ones too, are `offered - received`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    /// As many as were asked for, in order of departure: the first ones and, at the end, the last.
    pub gaps: Vec<Gap>,
    /// Gaps before the last one that are not among them.
    pub further: u64,
    /// Frames missing in those.
    pub further_frames: u64,
}

/// Frames of a stream, counted from 0 in order of departure, that did not arrive intact: frame k is the `k / flows`-th of
/// flow `k mod flows`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// How many of those from the first to the last did not arrive: all, unless gaps were bridged.
    pub frames: u64,
    /// When the first was due to depart, ns from the start of traffic.
    pub first_ns: u64,
    /// And the last.
    pub last_ns: u64,
}

/// A time in which no frame of a stream arrived, ns from the start of traffic (RFC 6201 section 1.3: timestamps A and B).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// The arrival before it.
    pub from_ns: u64,
    /// The arrival after it.
    pub until_ns: u64,
}

/// Reordering by RFC 4737, in the sequences of the flows. The ratio is `out_of_order / received`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reordering {
    /// Frames of `out_of_order` whose extent is known (section 4.2): how many arrivals of its flow ago the first one was that
    /// it should have preceded.
    pub placed: u64,
    /// Sum of the extents.
    pub extent_sum: u64,
    /// The greatest.
    pub extent_max: u64,
    /// HDR histogram of the extents, as that of the latency; absent without any.
    pub extents: Option<String>,
    /// Frames of `out_of_order` whose extent is not known: what overtook them did so too long ago.
    pub unplaced: u64,
    /// For n = 1, 2, ... how many frames of `placed` are n-reordered (section 5.3): the n arrivals of their flow right before
    /// them are all of later frames. Up to the last n of which there are any, and 64 at most.
    pub n_reordered: Vec<u64>,
}

/// Differences of latency between frames that the stream sent one after the other and that both arrived, later less earlier
/// (RFC 5481 section 4.1), rounded towards zero to ns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variation {
    /// How many.
    pub pairs: u64,
    /// The least, negative where frames came closer together than they were sent.
    pub min_ns: i64,
    /// The greatest.
    pub max_ns: i64,
    /// Sum.
    pub sum_ns: i128,
    /// Differences beyond the range of the histograms.
    pub over: u64,
    /// HDR histogram of those that are not negative, as that of the latency; absent without any.
    pub above: Option<String>,
    /// And of the negative ones, without their sign.
    pub below: Option<String>,
}

/// Latency of one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Frames timed.
    pub count: u64,
    /// Least, ns.
    pub min_ns: u64,
    /// Sum over frames, ns; the mean is `sum_ns / count`.
    pub sum_ns: u128,
    /// Greatest, ns.
    pub max_ns: u64,
    /// Frames that took longer than the histogram's range.
    pub over: u64,
    /// Negative differences, which a clock fault would show as; not recorded.
    pub negative: u64,
    /// HDR histogram, ns, 3 significant digits, V2 deflate, base64.
    pub histogram: String,
}

/// Actual less intended departure of the frames of one stream. In real time a burst has one departure, and counts as late
/// as the first of its frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lag {
    /// Frames sent.
    pub count: u64,
    /// Least, ns.
    pub min_ns: u64,
    /// Sum over frames, ns.
    pub sum_ns: u128,
    /// Greatest, ns.
    pub max_ns: u64,
    /// Frames later than the histogram's range.
    pub over: u64,
    /// As that of the latency.
    pub histogram: String,
    /// Frames that left more than `limit_ns` after their time: with any of them latency is not usable: it is that of
    /// another load than the intended one.
    pub late: u64,
    /// 10 us, or what 128 frames of one worker take at the highest load if that is less; in virtual time no less than a frame
    /// (or burst) of each other stream of the port takes on its line, and the longest that the tester said of its own.
    pub limit_ns: u64,
    /// When those that are late left, in order of time, each worker's beside the others'.
    #[serde(default)]
    pub periods: Vec<LatePeriod>,
    /// By sample of departure as `tx`: the most that a frame was late, ns; the most that one left closer to those before it
    /// than they were due, ns; and the most frames that one worker sent at once. Empty if none was late.
    #[serde(default)]
    pub by_sample: Vec<[u64; 3]>,
}

/// A time in which one worker sent frames of a stream late, until one was on time again; ns from the start of traffic.
/// Beyond 256 of them neighbours are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatePeriod {
    /// When the first late frame was due.
    pub from_ns: u64,
    /// When the last one left.
    pub until_ns: u64,
    /// The most that a frame was late.
    pub longest_ns: u64,
    /// By how much frames were sent later than the one before them, summed: `longest_ns` of a single pause, more where others
    /// fall into the time in which it is made up for, or several periods are joined.
    pub sum_ns: u64,
    /// How often one did.
    pub times: u64,
    /// Frames that were sent late.
    pub frames: u64,
}

/// What a tester port saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortResult {
    /// Name.
    pub name: String,
    /// Frames sent, test traffic and own.
    pub tx_frames: u64,
    /// Bytes sent, FCS counted.
    pub tx_bytes: u64,
    /// Frames received, all.
    pub rx_frames: u64,
    /// Bytes received, FCS counted.
    pub rx_bytes: u64,
    /// Of the frames sent, the tester's own: ARP, ND, echo replies, what bridges learn from.
    pub own_frames: u64,
    /// Received frames that are not test frames (ARP, LLDP, floods, keep-alives), those too long for the port with them.
    pub foreign: u64,
    /// Of `foreign`, the load of others: not control of a network (ARP, LLDP, routing), no ICMP error that test frames may have
    /// caused, none of the `altered` of a stream.
    #[serde(default)]
    pub others: u64,
    /// Their bytes, FCS counted.
    #[serde(default)]
    pub others_bytes: u64,
    /// Test frames that departed before this trial: a device still held them when an earlier one ended, which counted
    /// them as lost. Not in `foreign`, nor in any stream's counts.
    pub stale: u64,
    /// How the peer's full ring kept the port from sending, from the begin of traffic on; absent where the port has no ring
    /// that another process empties.
    #[serde(default)]
    pub back_pressure: Option<BackPressure>,
    /// Per sample: test frames sent.
    pub tx: Vec<u64>,
    /// Per sample: bytes sent, FCS counted.
    pub tx_bytes_series: Vec<u64>,
    /// Per sample: test frames received.
    pub rx: Vec<u64>,
    /// Per sample: bytes received, FCS counted.
    pub rx_bytes_series: Vec<u64>,
    /// When a ring that it receives into may have been full: from and until, ns from the start of traffic, of each worker in
    /// order. Where there were very many, neighbours are one.
    #[serde(default)]
    pub rx_full_spans: Vec<[u64; 2]>,
}

/// A next hop of a tester port. Times are ns from the start of traffic, negative before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NextHopResult {
    /// Name of the port.
    pub port: String,
    /// Its VLANs, outermost first.
    pub vlans: Vec<u16>,
    /// Its IP address.
    pub address: String,
    /// Its MAC address at the end, if it ever answered.
    pub mac: Option<String>,
    /// Times it was asked, once it was known, whether it is still there.
    pub polls: u64,
    /// ARP and ND messages heard from it.
    pub heard: u64,
    /// When its MAC address changed. The streams followed it.
    pub changes: Vec<HopChange>,
    /// Further changes, beyond those kept.
    pub further_changes: u64,
    /// When it did not answer, polled three times. The streams went on to the MAC address it had.
    pub silences: Vec<HopSilence>,
}

/// A next hop's MAC address became another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HopChange {
    /// When that was heard.
    pub at_ns: i64,
    /// Its MAC address until then.
    pub before: String,
    /// And since.
    pub after: String,
}

/// A next hop did not answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HopSilence {
    /// When it was polled first without an answer.
    pub from_ns: i64,
    /// When it was heard again; absent if it was not.
    pub until_ns: Option<i64>,
}

/// Another host claimed an address of the tester's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConflictResult {
    /// Name of the port whose address it is.
    pub port: String,
    /// The address.
    pub address: String,
    /// Who else claimed it.
    pub mac: String,
}

/// A frame of a message, sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidResult {
    /// Index of the message, counted over all ports in their order.
    pub message: u32,
    /// Which of its frames, from 0.
    pub number: u32,
    /// When it departed, ns from the start of traffic.
    pub at_ns: i64,
}

/// A UDP datagram that came for the tester.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeardResult {
    /// Index of the tester port.
    pub port: usize,
    /// When it arrived, ns from the start of traffic.
    pub at_ns: i64,
    /// The sender's address.
    pub from: String,
    /// And UDP port.
    pub from_port: u16,
    /// The tester's UDP port.
    pub to_port: u16,
    /// What it says, in hexadecimal.
    pub payload: String,
}

/// How well the tester itself did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Frames the schedule asked for and nobody sent.
    pub unsent: u64,
    /// The latest a frame departed after its time, ns.
    pub latest_departure_ns: u64,
    /// The longest time between two rounds of the tester's loop, ns (real time only).
    pub longest_gap_ns: u64,
    /// Frames the tester received too late to keep (ring or socket buffer full) while there was traffic and drain.
    pub rx_dropped: u64,
    /// Frames that came meanwhile and were longer than the port was opened for, as far as test frames are missing there:
    /// none of these is so long, but they may be in there (a peer or a kernel joins frames).
    #[serde(default)]
    pub rx_too_long: u64,
    /// Times a port had no room to send.
    pub tx_full: u64,
    /// Times a port had no peer to send to.
    #[serde(default)]
    pub tx_no_peer: u64,
    /// Frames that were offered and that the tester's own kernel or driver dropped before the wire, as far as it says so.
    #[serde(default)]
    pub tx_dropped: u64,
    /// Looks that found a port's ring full: what came before them may have found no room, and is counted by nobody.
    #[serde(default)]
    pub rx_full: u64,
    /// The time before those looks, of all rings together, ns: what found no room came then. Not known of an older record.
    #[serde(default)]
    pub rx_full_ns: Option<u64>,
    /// The most frames that were still on their way out of the machine when a port was handed further ones.
    #[serde(default)]
    pub tx_ahead: u64,
    /// What these take on their line at most, ns: so much later than it says a frame may have departed, which counts as
    /// latency. Absent where there are none, or the line has no rate.
    #[serde(default)]
    pub tx_ahead_ns: Option<u64>,
    /// Frames that are no test frames and that the tester did not listen to, or did not answer, for too many of them came at
    /// once: questions for its addresses, and answers to its own.
    #[serde(default)]
    pub unheard: u64,
    /// How pauses of the tester were made up for, all its ports together (real time only).
    #[serde(default)]
    pub catch_up: Option<CatchUp>,
    /// FlowRuns of its core the tester's thread had, in parts per million; of several threads, the least (real time only).
    pub core_share_ppm: Option<u32>,
    /// Flows whose frames came to more than one worker: whether one of them came twice, or out of order, is not known
    /// from one worker to the other. 0 with one worker, and where a port keeps each flow on one queue.
    #[serde(default)]
    pub split_flows: u64,
    /// One per worker, the lead first (real time only).
    #[serde(default)]
    pub workers: Vec<WorkerHealth>,
    /// Threads that never slept, workers and emulated devices, and the cores they could be on: more threads than cores took
    /// each other's time (real time only).
    #[serde(default)]
    pub threads: usize,
    /// As said.
    #[serde(default)]
    pub cores: usize,
    /// The processes at the other end of the ports, and what they had of their cores during the trial; those that the kernel
    /// tells of.
    #[serde(default)]
    pub peers: Vec<ProcessShare>,
}

/// How senders that fell behind their schedule made up for it: of several workers each has one on every port. One is behind if
/// frames have been due for a millisecond, or for as long as 512 of its own take if that is less; within a burst, which
/// leaves at line rate, that is as long as the line takes for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatchUp {
    /// The highest pace at which it may be anywhere in the schedule, percent of the schedule's.
    pub percent: u32,
    /// How often a sender fell behind.
    pub pauses: u64,
    /// The longest a frame had been due when its sender came back to it, ns.
    pub longest_ns: u64,
    /// Frames sent faster than the schedule's own pace between falling behind and being on time again: those at another load
    /// than the intended one. Where the line has no room for more than the schedule, that is only what left at once.
    pub frames: u64,
    /// The most of them that one sender made up for from one time of falling behind on.
    pub longest_run: u64,
    /// The most test frames that one worker handed to one port in one round of its loop. The next round may follow without a
    /// gap, and that of another worker may be at the same time.
    pub most_in_round: u64,
}

/// How one worker of the tester did while there was traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerHealth {
    /// The core it was kept on, if it was.
    pub core: Option<usize>,
    /// FlowRuns of its core it had, in parts per million.
    pub core_share_ppm: Option<u32>,
    /// Rounds of its loop.
    pub rounds: u64,
    /// The longest time between two of them, ns.
    pub longest_gap_ns: u64,
    /// Frames it sent and received, its own with them.
    pub frames: u64,
    /// Time of the rounds in which it did, ns, and how long it was preempted in them: `busy_ns / frames` is what a
    /// frame cost.
    pub busy_ns: u64,
    /// Frames that its queue of each port sent from the begin of traffic on, in the order of the ports.
    #[serde(default)]
    pub tx_frames: Vec<u64>,
    /// And received: which queue a frame comes in by is the card's choice, or the kernel's, or the peer's.
    #[serde(default)]
    pub rx_frames: Vec<u64>,
}

/// A phase of the trial as executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseResult {
    /// `resolve`, `settle`, the segments' names, `drain`.
    pub name: String,
    /// From the start of the trial.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
}
