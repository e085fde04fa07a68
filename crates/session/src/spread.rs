//! To which queue of a tester port an emulated device's frame goes, as a card with receive side scaling does it: by the
//! outermost addresses and ports, so that a flow keeps its queue.

use netdyno_frame::parse::{parse, protocol};

/// A number that is the same for all frames of a flow.
#[must_use]
pub fn spread(frame: &[u8]) -> u32 {
    let outer = parse(frame).map(|layers| layers.outer).unwrap_or_default();
    let (l3, l4) = (outer.l3 as usize, outer.l4 as usize);
    let addresses = match outer.version {
        4 => l3 + 12..l3 + 20,
        6 => l3 + 8..l3 + 40,
        // Nothing but the two MAC addresses.
        _ => 0..12,
    };
    let ports = match outer.protocol {
        // Fragments of a packet keep together: only the first has ports.
        protocol::UDP | protocol::TCP if outer.version != 0 && !outer.fragment => l4..l4 + 4,
        _ => 0..0,
    };
    let of = |range: std::ops::Range<usize>| frame.get(range).unwrap_or_default().iter();
    // Fowler, Noll and Vo's hash 1a, 64 bits; its high half, as the low bits of the last byte reach its lowest unmixed.
    let hash = of(addresses).chain(of(ports)).fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use netdyno_frame::template::Template;

    /// A thousand flows over four queues: each gets its share, and every frame of a flow the same.
    #[test]
    fn flows_spread_and_keep_their_queue() {
        for (kind, net) in [
            ("ipv4", ["16.0.0.1", "16.255.255.254"]),
            ("ipv6", ["2001:2::1", "2001:2::ffff:ffff"]),
        ] {
            let random = serde_json::json!({"random": {"min": net[0], "max": net[1]}});
            let headers = serde_json::from_value::<Vec<netdyno_frame::spec::Header>>(serde_json::json!([
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "vlan", "vid": 7},
                {"type": kind, "src": random, "dst": net[1]},
                {"type": "udp", "sport": 1025, "dport": 12},
            ]))
            .expect("headers");
            let template = Template::new(&headers, &[128], 1000, 1).expect("a template");
            let mut queues = [0; 4];
            for flow in 0..1000 {
                let queue = spread(&template.frame(flow, 0, 0, 5)) % 4;
                assert_eq!(queue, spread(&template.frame(flow, 9, 0, 77)) % 4, "{kind} flow {flow}");
                queues[queue as usize] += 1;
            }
            // Five standard deviations of a fair draw: sqrt(1000 * 1/4 * 3/4) = 13.7.
            assert!(queues.iter().all(|&count| (181..=319).contains(&count)), "{kind}: {queues:?}");
        }
    }
}
