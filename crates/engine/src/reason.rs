//! Why a trial did not take place or does not count.

use netdyno_io::reasons;

reasons! {
    /// Why a trial did not take place or does not count.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Invalid {
        /// The trial was cancelled before traffic began.
        Cancelled {} = "cancelled", "cancelled before traffic began";
        /// A next hop did not answer ARP or neighbour discovery.
        NextHopSilent {
            /// IP address of the next hop.
            address: String,
            /// Tester port that asked.
            port: String,
            /// How long it asked, ms.
            waited_ms: u64,
        } = "next-hop-silent", "next hop {address} did not answer on port `{port}` within {waited_ms} ms";
        /// Several next hops of a port did not answer.
        NextHopsSilent {
            /// Tester port that asked.
            port: String,
            /// How many did not.
            count: u64,
            /// How many were asked.
            asked: u64,
            /// The first of them, and their VLANs.
            examples: String,
            /// How long it asked, ms.
            waited_ms: u64,
        } = "next-hops-silent", "{count} of {asked} next hops did not answer on port `{port}` within {waited_ms} ms: {examples}";
        /// Next hops answered with other VLAN tags than they were asked with.
        NextHopsElsewhere {
            /// Tester port that asked.
            port: String,
            /// How many did.
            count: u64,
            /// How many were asked.
            asked: u64,
            /// The first of them: asked on which VLAN, answered on which.
            examples: String,
        } = "next-hops-elsewhere", "{count} of {asked} next hops answered port `{port}` with other VLAN tags than they were asked with: \
            {examples}; give the link the tags that the device has there";
        /// Next hops of one stream on several VLANs have different MAC addresses.
        NextHopsDiffer {
            /// Stream.
            stream: String,
            /// VLAN IDs of the one, outermost first, joined by dots.
            vlan: String,
            /// MAC address there.
            mac: String,
            /// VLAN IDs of the other.
            other_vlan: String,
            /// MAC address there.
            other_mac: String,
        } = "next-hops-differ", "stream `{stream}` is on VLAN {vlan}, where its next hop is {mac}, and on VLAN {other_vlan}, where it is \
            {other_mac}: one stream goes to one MAC address; give each VLAN a stream of its own";
        /// Flows did not come through the device before traffic, so nothing can answer them.
        FlowsNotOpened {
            /// Stream.
            stream: String,
            /// How many did not.
            missing: u64,
            /// How many there are.
            flows: u64,
            /// How often each was tried.
            rounds: u64,
        } = "flows-not-opened", "{missing} of {flows} flows of `{stream}` did not come through the device before traffic, each tried \
            {rounds} times: it has no room for so many (addresses, ports, connections), or drops them; ask for fewer `flows`, or look \
            at its table";
        /// The device let two flows come out as one.
        FlowsCollide {
            /// Stream.
            stream: String,
            /// One flow.
            first: String,
            /// The other.
            second: String,
            /// How both came out.
            outside: String,
        } = "flows-collide", "the device let two flows of `{stream}` come out as one, so no answer finds its way: {first} and {second} \
            both as {outside}";
        /// A worker of the tester got no time on its core before traffic began.
        WorkerNotReady {
            /// Number of the worker; 1 is the lead.
            worker: u64,
            /// How long the lead waited, ms.
            waited_ms: u64,
        } = "worker-not-ready", "worker {worker} of the tester was not ready for traffic within {waited_ms} ms: its thread got no time on \
            its core; keep other programs off it, or ask for fewer workers";
        /// The instant at which traffic was to begin was over before it could.
        BeginMissed {
            /// How long it was over, us.
            late_us: u64,
        } = "begin-missed", "traffic was to begin {late_us} us before the tester came to it: its thread got no time on its core; keep \
            other programs off it";
        /// A worker of the tester stopped in the middle of the trial: a bug.
        WorkerStopped {} = "worker-stopped", "a worker of the tester stopped; please report it";
        /// A stream received more distinct frames than it sent.
        TooManyReceived {
            /// Stream.
            stream: String,
            /// Distinct frames received.
            received: u64,
            /// Frames sent.
            offered: u64,
        } = "too-many-received", "stream `{stream}`: {received} distinct frames received, more than the {offered} offered";
        /// Frames arrived before they departed.
        NegativeLatency {
            /// Stream.
            stream: String,
            /// How many frames.
            frames: u64,
        } = "negative-latency", "stream `{stream}`: {frames} frames arrived before they departed; a clock is wrong";
    }
}
