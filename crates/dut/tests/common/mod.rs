//! A device on wires in virtual time, and frames laid out by hand.

use netdyno_dut::Device;
use netdyno_dut::spec::{DevicePortSpec, DeviceSpec, Forwarding, Hash, Neighbour, Route};
use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::wire::{WirePort, pair};
use netdyno_io::drive::Node;
use netdyno_io::port::{Burst, Port};
use netdyno_io::time::Instant;

pub const MAX_FRAME: u32 = 1600;
pub const TEN_GIGABIT: u64 = 10_000_000_000;
/// What a 64-byte frame takes of 10 Gbit/s, and until its last bit is out, in picoseconds.
pub const SLOT_64: u64 = 67_200;
pub const LAST_BIT_64: u64 = 57_600;

/// A frame on a tester port: departure (sent) or arrival (received) in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    pub port: usize,
    pub at: u64,
    pub bytes: Vec<u8>,
}

pub struct Rig {
    pub device: Device,
    pub tester: Vec<WirePort>,
    pub now: u64,
    /// Whether two of three bursts are sent as the tester sends its frames: their bytes from [`HEAD`] on count up, and are not
    /// written where they do so already.
    pub heads: bool,
}

/// What every test frame has of its own, at most.
pub const HEAD: usize = 60;

impl Rig {
    pub fn new(spec: DeviceSpec) -> Self {
        let mut tester = Vec::new();
        let mut ports: Vec<Box<dyn Port>> = Vec::new();
        for port in &spec.ports {
            let rate = port.rate_bps * u64::from(port.members);
            let (ours, theirs) = pair(&LinkSpec::new("tester", &port.name, rate, MAX_FRAME)).unwrap();
            tester.push(ours);
            ports.push(Box::new(theirs));
        }
        Self {
            device: Device::new(spec, ports, MAX_FRAME).unwrap(),
            tester,
            now: 0,
            heads: false,
        }
    }

    /// Sends `frames` (in order of departure per port) and returns what came back by `until`, in steps of `quantum`.
    pub fn run(&mut self, frames: &[Timed], quantum: u64, until: u64) -> Vec<Timed> {
        let mut received = Vec::new();
        let (mut next, mut bursts) = (vec![0; self.tester.len()], 0);
        let by_port: Vec<Vec<&Timed>> = (0..self.tester.len())
            .map(|port| frames.iter().filter(|frame| frame.port == port).collect())
            .collect();
        loop {
            let now = Instant { ps: self.now };
            for (port, wire) in self.tester.iter_mut().enumerate() {
                let mine = &by_port[port];
                while next[port] < mine.len() && mine[next[port]].at <= self.now {
                    let due = mine[next[port]..].iter().take(100).take_while(|frame| frame.at <= self.now).count();
                    let sent = &mine[next[port]..][..due];
                    bursts += 1;
                    let heads = self.heads && bursts % 3 > 0;
                    next[port] += wire
                        .transmit(now, due, &mut |burst| {
                            if heads {
                                write_heads(burst, sent);
                                return sent.len();
                            }
                            for (index, frame) in sent.iter().enumerate() {
                                burst.frame_mut(index)[..frame.bytes.len()].copy_from_slice(&frame.bytes);
                                burst.set(index, frame.bytes.len(), Instant { ps: frame.at });
                            }
                            sent.len()
                        })
                        .unwrap();
                }
            }
            self.device.step(now);
            for (port, wire) in self.tester.iter_mut().enumerate() {
                let mut read = |burst: &mut netdyno_io::port::Burst<'_>| {
                    for index in 0..burst.len() {
                        let seen = burst.seen(index);
                        assert!(counts_up(&seen.bytes()[seen.counts_from()..]), "known to count up, and does not");
                        received.push(Timed {
                            port,
                            at: burst.slots()[index].at.ps,
                            bytes: burst.frame(index).to_vec(),
                        });
                    }
                };
                while wire.receive(now, 256, &mut read).unwrap() > 0 {}
            }
            if self.now >= until {
                break;
            }
            // As `run_virtual` does: at least a quantum, and over idle time to the next event.
            let departures = (0..self.tester.len()).filter_map(|port| Some(by_port[port].get(next[port])?.at));
            let arrivals = self.tester.iter().filter_map(|wire| wire.next_arrival()).map(|at| at.ps);
            let wake = departures
                .chain(arrivals)
                .chain(self.device.next_wakeup().map(|at| at.ps))
                .min()
                .unwrap_or(until);
            self.now = wake.max(self.now + quantum).min(until);
        }
        received.sort_by_key(|frame| (frame.port, frame.at));
        received
    }

    /// Every frame that came in or was made is accounted for.
    pub fn assert_conserved(&self) {
        let counters = self.device.counters();
        let of = |name: &str| counters.injected.get(name).copied().unwrap_or(0);
        let sum = |value: fn(&netdyno_dut::spec::DevicePortCounters) -> u64| counters.ports.iter().map(value).sum::<u64>();
        let sources = sum(|port| port.rx_frames) + counters.originated + counters.copies + of("duplicate");
        let sinks = sum(|port| {
            port.tx_frames
                + port.policed
                + port.denied
                + port.in_drops
                + port.weary_drops
                + port.both_drops
                + port.out_drops
                + port.down_drops
        }) + counters.box_drops
            + counters.card_drops
            + counters.trunk_drops
            + counters.reset_drops
            + counters.no_route
            + counters.ttl_expired
            + counters.malformed
            + counters.unknown_vlan
            + counters.filtered
            + counters.consumed
            + of("lose")
            + counters.held;
        assert_eq!(sources, sinks, "{counters:#?}");
    }
}

/// Writes frames whose bytes from [`HEAD`] on count up.
fn write_heads(burst: &mut Burst<'_>, frames: &[&Timed]) {
    let mut left = frames.iter();
    burst.fill_heads(0, HEAD, frames.iter().map(|frame| Instant { ps: frame.at }), |head| {
        let bytes = &left.next().unwrap().bytes;
        let own = bytes.len().min(HEAD);
        head[..own].copy_from_slice(&bytes[..own]);
        bytes.len()
    });
}

fn counts_up(bytes: &[u8]) -> bool {
    bytes.iter().zip((0..=255).cycle()).all(|(byte, number)| *byte == number)
}

pub fn mac(last: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, last]
}

/// An IPv4/UDP frame of `size` bytes (FCS counted), all lengths and checksums right, built by etherparse.
pub fn udp4(source_mac: [u8; 6], destination_mac: [u8; 6], source: [u8; 4], destination: [u8; 4], ttl: u8, size: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..size - 4 - 42).map(|byte| byte as u8).collect();
    let mut frame = Vec::new();
    etherparse::PacketBuilder::ethernet2(source_mac, destination_mac)
        .ipv4(source, destination, ttl)
        .udp(1025, 12)
        .write(&mut frame, &payload)
        .unwrap();
    frame
}

/// The same for IPv6.
pub fn udp6(source_mac: [u8; 6], destination_mac: [u8; 6], source: &str, destination: &str, hops: u8, size: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..size - 4 - 62).map(|byte| byte as u8).collect();
    let octets = |text: &str| text.parse::<std::net::Ipv6Addr>().unwrap().octets();
    let mut frame = Vec::new();
    etherparse::PacketBuilder::ethernet2(source_mac, destination_mac)
        .ipv6(octets(source), octets(destination), hops)
        .udp(1025, 12)
        .write(&mut frame, &payload)
        .unwrap();
    frame
}

/// `count` frames on one port, back to back at `rate_bps`: frame `k` departs when the bits before it are out.
pub fn back_to_back(port: usize, frame: &[u8], count: u64, load_bps: u64) -> Vec<Timed> {
    let bits = (frame.len().max(60) as u128 + 24) * 8;
    (0..u128::from(count))
        .map(|k| Timed {
            port,
            at: (k * bits * 1_000_000_000_000 / u128::from(load_bps)) as u64,
            bytes: frame.to_vec(),
        })
        .collect()
}

pub fn port(name: &str, index: u8) -> DevicePortSpec {
    DevicePortSpec {
        name: name.to_owned(),
        mac: format!("02:00:00:00:01:{index:02x}"),
        rate_bps: TEN_GIGABIT,
        members: 1,
        partner_hash: Hash::default(),
        hash: Hash::default(),
        partner_queue: 1024,
        police: None,
        police_classes: Vec::new(),
        filter: Vec::new(),
        filter_ns: 0,
        group_ns: 0,
        query_ns: 0,
        route_ns: 0,
        classes: Vec::new(),
        shape: None,
        in_fps: None,
        both_fps: None,
        in_queue: 1024,
        recovery: None,
        out_queue: 1024,
        ipv4: None,
        ipv6: None,
        vlans: Vec::new(),
        ospf: None,
        stages: None,
    }
}

pub fn device(forwarding: Forwarding, ports: Vec<DevicePortSpec>) -> DeviceSpec {
    DeviceSpec {
        name: "dut".to_owned(),
        ports,
        forwarding,
        box_fps: None,
        box_haste: None,
        box_bits: None,
        box_queue: 1024,
        trunk: None,
        cards: Vec::new(),
        delay_ns: 5_000,
        delay_per_byte_ps: 0,
        head_of_line: false,
        impairments: Vec::new(),
        reset_ns: 0,
        largest: None,
        agent: None,
        rip: false,
    }
}

pub fn cross_connect() -> DeviceSpec {
    device(
        Forwarding::CrossConnect { pairs: vec![(0, 1)] },
        vec![port("west", 0), port("east", 1)],
    )
}

pub fn bridge(ports: u8) -> DeviceSpec {
    let forwarding = Forwarding::Bridge {
        ageing_ns: 300_000_000_000,
        table_limit: 1024,
        learn_fps: None,
    };
    device(forwarding, (0..ports).map(|index| port(&format!("p{index}"), index)).collect())
}

/// The router of the ASR9006 article: 100.64.0.1/30 and 100.64.1.1/30, 16/8 and 48/8 behind them.
pub fn router(static_neighbours: bool) -> DeviceSpec {
    let route = |prefix: &str, via: &str| Route {
        prefix: prefix.to_owned(),
        via: via.to_owned(),
    };
    let neighbour = |ip: &str, mac: &str| Neighbour {
        ip: ip.to_owned(),
        mac: mac.to_owned(),
    };
    let neighbours = vec![
        neighbour("100.64.0.2", "02:00:00:00:00:0a"),
        neighbour("100.64.1.2", "02:00:00:00:00:0b"),
        neighbour("2001:db8:0:1::2", "02:00:00:00:00:0a"),
        neighbour("2001:db8:0:2::2", "02:00:00:00:00:0b"),
    ];
    let forwarding = Forwarding::Router {
        routes: vec![
            route("16.0.0.0/8", "100.64.0.2"),
            route("48.0.0.0/8", "100.64.1.2"),
            route("2001:db8:16::/48", "2001:db8:0:1::2"),
            route("2001:db8:48::/48", "2001:db8:0:2::2"),
        ],
        neighbours: if static_neighbours { neighbours } else { Vec::new() },
    };
    let mut spec = device(forwarding, vec![port("west", 0), port("east", 1)]);
    for (index, (v4, v6)) in [("100.64.0.1/30", "2001:db8:0:1::1/64"), ("100.64.1.1/30", "2001:db8:0:2::1/64")]
        .into_iter()
        .enumerate()
    {
        spec.ports[index].ipv4 = Some(v4.to_owned());
        spec.ports[index].ipv6 = Some(v6.to_owned());
    }
    spec
}
