//! Shapers of subinterfaces against what they are by definition, event by event.

use crate::common::{Rig, TEN_GIGABIT, Timed, device, mac, port, udp4};
use netdyno_dut::spec::{
    Class, DeviceCounters, DeviceSpec, DeviceTag, DeviceVlan, EventKind, Fault, Forwarding, Impairment, Layer, Neighbour, Police,
    PriorityQueue, When,
};
use netdyno_io::time::Instant;
use proptest::prelude::*;
use std::collections::VecDeque;

const MICROSECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000 * MICROSECOND;
const VLANS: usize = 4;
/// The subinterface of frames to the port itself.
const NONE: usize = VLANS;
/// The device carries frames of 1600 bytes, which must fit a bucket that counts 24 more of each.
const LEAST_BURST: u64 = 1624;

/// A frame to be sent from one of two ports.
#[derive(Clone, Debug)]
struct Sent {
    from: usize,
    /// Picoseconds behind the one before it of the same port, once that is on its way.
    gap: u64,
    size: usize,
    vlan: usize,
}

/// What shapes each subinterface, if anything does, and how many may wait.
type Shapes = [(Option<(u64, u64, Layer)>, u32); VLANS];

fn spec(shapes: &Shapes, rate_bps: u64, out_queue: u32) -> DeviceSpec {
    let ip = |network: usize, host: usize| format!("100.80.{network}.{host}");
    let mut ports = vec![port("west", 0), port("north", 1), port("east", 2)];
    (ports[2].rate_bps, ports[2].out_queue) = (rate_bps, out_queue);
    ports[2].ipv4 = Some(format!("{}/24", ip(NONE, 1)));
    for (number, (shape, queue)) in shapes.iter().enumerate() {
        // Each with one tag more than the one before it.
        let tags = (0..=number as u16).map(|tag| DeviceTag {
            vid: 100 + tag,
            tpid: 0x8100,
        });
        let shape = shape.map(|(rate_bps, burst_bytes, layer)| Police {
            rate_bps,
            layer,
            burst_bytes,
            excess: None,
        });
        ports[2].vlans.push(DeviceVlan {
            tags: tags.collect(),
            ipv4: Some(format!("{}/24", ip(number, 1))),
            ipv6: None,
            shape,
            queue: *queue,
            priority: None,
            ospf: None,
        });
    }
    let neighbour = |network| Neighbour {
        ip: ip(network, 2),
        mac: "02:00:00:00:00:0b".to_owned(),
    };
    let mut spec = device(
        Forwarding::Router {
            routes: Vec::new(),
            neighbours: (0..=VLANS).map(neighbour).collect(),
        },
        ports,
    );
    spec.delay_ns = 0;
    spec
}

/// The frames by number, and when each is in: its last bit of 12 bytes behind its own, at 800 ps a byte.
fn timed(all: &[Sent]) -> (Vec<Timed>, Vec<u64>) {
    let mut next = [0; 2];
    let frame = |(number, sent): (usize, &Sent)| {
        let mut bytes = udp4(
            mac(10),
            [2, 0, 0, 0, 1, sent.from as u8],
            [16, 0, 0, 1],
            [100, 80, sent.vlan as u8, 2],
            64,
            sent.size,
        );
        bytes[42..46].copy_from_slice(&(number as u32).to_be_bytes());
        let at = next[sent.from] + sent.gap;
        next[sent.from] = at + (sent.size as u64 + 20) * 800;
        (
            Timed {
                port: sent.from,
                at,
                bytes,
            },
            at + (sent.size as u64 + 8) * 800,
        )
    };
    all.iter().enumerate().map(frame).unzip()
}

/// When the first bit of each frame leaves, if it does.
type Starts = Vec<Option<u64>>;

fn measure(spec: &DeviceSpec, frames: &[Timed], resets: &[u64], quantum: u64) -> (Starts, DeviceCounters) {
    let mut rig = Rig::new(spec.clone());
    let events: Vec<_> = resets.iter().map(|at| (Instant { ps: *at }, EventKind::Reset, None)).collect();
    rig.device.set_events(&events).unwrap();
    let received = rig.run(frames, quantum, 100 * SECOND);
    rig.assert_conserved();
    let counters = rig.device.counters();
    assert_eq!(counters.held, 0);
    let mut starts = vec![None; frames.len()];
    for arrived in received {
        let mut tags = 0;
        while arrived.bytes[12 + tags..14 + tags] == [0x81, 0x00] {
            tags += 4;
        }
        let number = u32::from_be_bytes(arrived.bytes[42 + tags..46 + tags].try_into().unwrap());
        assert_eq!(
            arrived.bytes[34 - 2 + tags],
            (tags as u8 / 4 + VLANS as u8) % (VLANS as u8 + 1),
            "the tags of its network"
        );
        let on_wire = (arrived.bytes.len() as u64 + 12) * 8 * SECOND / spec.ports[2].rate_bps;
        starts[number as usize] = Some(arrived.at - on_wire);
    }
    (starts, counters)
}

/// One that was let into the shaper of its subinterface.
#[derive(Clone, Copy, Debug)]
struct Let {
    number: usize,
    vlan: usize,
    bits: u128,
    arrives: u64,
    released: u64,
}

/// The definition: a frame is released as soon as, over every stretch that it ends, no more than the burst and what the rate
/// gives meanwhile was released, and not before those that came earlier.
fn release(before: &[Let], (rate, burst): (u128, u128), bits: u128, arrives: u64) -> u64 {
    let mut sum = bits;
    let mut released = before.last().map_or(arrives, |last| last.released.max(arrives));
    for earlier in before.iter().rev() {
        sum += earlier.bits;
        let longest = sum.saturating_sub(burst) * u128::from(SECOND);
        released = released.max(earlier.released + longest.div_ceil(rate) as u64);
    }
    released
}

/// When each frame begins to leave, if it does, and how many of each subinterface were given to the line and dropped.
fn by_definition(spec: &DeviceSpec, shapes: &Shapes, all: &[Sent], arrivals: &[u64], resets: &[u64]) -> (Starts, Vec<(u64, u64)>) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|number| (arrivals[*number], all[*number].from, *number));
    let mut starts = vec![None; all.len()];
    let mut counts = vec![(0, 0); VLANS + 1];
    let byte_ps = 8 * SECOND / spec.ports[2].rate_bps;
    let mut free = 0;
    // What arrives by a reset is in before it.
    let ends = resets.iter().copied().chain([u64::MAX]);
    let mut rest = &order[..];
    for end in ends {
        let (epoch, later) = rest.split_at(rest.partition_point(|number| arrivals[*number] <= end));
        rest = later;
        let mut each: Vec<Vec<Let>> = vec![Vec::new(); VLANS + 1];
        for &number in epoch {
            let (vlan, arrives) = (all[number].vlan, arrivals[number]);
            let tags = if vlan == NONE { 0 } else { 4 * (vlan as u64 + 1) };
            let size = all[number].size as u64 + tags;
            let shape = shapes.get(vlan).and_then(|(shape, _)| *shape);
            let bits = |layer| u128::from(size + if layer == Layer::L1 { 20 } else { 0 }) * 8;
            let (bits, released) = match shape {
                Some((rate, burst, layer)) => {
                    let bits = bits(layer);
                    (bits, release(&each[vlan], (rate.into(), u128::from(burst) * 8), bits, arrives))
                }
                None => (0, arrives),
            };
            let waiting = each[vlan].iter().filter(|one| one.released > arrives).count();
            if released > arrives && waiting >= shapes[vlan].1 as usize {
                counts[vlan].1 += 1;
                continue;
            }
            each[vlan].push(Let {
                number,
                vlan,
                bits,
                arrives,
                released,
            });
        }
        // Those that waited first, of the lower subinterface before others; then those that arrive, in their order.
        let mut line: Vec<Let> = each.concat();
        let place = |one: &Let| order.iter().position(|number| *number == one.number).unwrap();
        line.sort_by_key(|one| {
            let arrives = one.released == one.arrives;
            (one.released, arrives, if arrives { 0 } else { one.vlan }, place(one))
        });
        let mut waiting: VecDeque<u64> = VecDeque::new();
        for one in line.iter().filter(|one| one.released <= end) {
            let t = one.released;
            while waiting.front().is_some_and(|start| *start <= t) {
                waiting.pop_front();
            }
            if free > t && waiting.len() >= spec.ports[2].out_queue as usize {
                counts[one.vlan].1 += 1;
                continue;
            }
            counts[one.vlan].0 += 1;
            let begin = free.max(t);
            let tags = if one.vlan == NONE { 0 } else { 4 * (one.vlan as u64 + 1) };
            // A reset: what has not begun is lost, and the line is free when the frame on it ends.
            waiting.push_back(begin);
            free = begin + (all[one.number].size as u64 + tags + 20) * byte_ps;
            starts[one.number] = Some(begin);
        }
        if end < u64::MAX {
            let lost: Vec<usize> = (0..all.len())
                .filter(|number| starts[*number].is_some_and(|start| start > end))
                .collect();
            if let Some(first) = lost.iter().filter_map(|number| starts[*number]).min() {
                free = first;
            }
            free = free.max(end);
            lost.into_iter().for_each(|number| starts[number] = None);
        }
    }
    (starts, counts)
}

fn check(shapes: &Shapes, all: &[Sent], (rate_bps, out_queue): (u64, u32), resets: &[u64], coarse: u64) {
    let spec = spec(shapes, rate_bps, out_queue);
    let (frames, arrivals) = timed(all);
    let (starts, counts) = by_definition(&spec, shapes, all, &arrivals, resets);
    let mut rounds = Vec::new();
    for quantum in [1, coarse, SECOND] {
        let (found, counters) = measure(&spec, &frames, resets, quantum);
        assert_eq!(found, starts, "in rounds of {quantum} ps");
        let east = &counters.ports[2];
        let vlans: Vec<_> = east.vlans.iter().map(|vlan| (vlan.sent, vlan.dropped)).collect();
        assert_eq!(vlans, counts[..VLANS]);
        assert_eq!(east.out_drops, counts.iter().map(|count| count.1).sum::<u64>());
        rounds.push(counters);
    }
    assert!(rounds.iter().all(|counters| *counters == rounds[0]));
}

fn a_frame() -> impl Strategy<Value = Sent> {
    let gap = prop_oneof![3 => Just(0_u64), 2 => 0..100_000_u64, 1 => 0..500 * MICROSECOND];
    let size = prop_oneof![3 => Just(64_usize), 2 => 64..300_usize, 1 => Just(1584_usize)];
    (0..2_usize, gap, size, 0..=NONE).prop_map(|(from, gap, size, vlan)| Sent { from, gap, size, vlan })
}

fn a_shape() -> impl Strategy<Value = (Option<(u64, u64, Layer)>, u32)> {
    let rate = prop::sample::select(vec![
        1_000_000_u64,
        10_000_000,
        999_999_937,
        64_000_003,
        1_000_000_000,
        7_777_777_777,
    ]);
    let burst = prop_oneof![Just(LEAST_BURST), LEAST_BURST..4000];
    let layer = prop_oneof![Just(Layer::L1), Just(Layer::L2)];
    (prop::option::weighted(0.8, (rate, burst, layer)), 0..6_u32)
}

/// When each frame of one subinterface is released, if it is, by a simulation frame by frame: those of `urgent` wait in a queue of their
/// own, and go first. The bucket holds `burst` bits and gains `rate` a second; its contents are counted in bits times picoseconds.
fn by_two_queues((rate, burst): (u128, u128), rooms: [usize; 2], bits: &[u128], urgent: &[bool], arrivals: &[u64]) -> Vec<Option<u64>> {
    let second = u128::from(SECOND);
    let (mut tokens, mut at) = (burst * second, 0_u64);
    let mut queues: [VecDeque<usize>; 2] = [VecDeque::new(), VecDeque::new()];
    let mut found = vec![None; bits.len()];
    for number in 0..=bits.len() {
        let arrives = arrivals.get(number).copied().unwrap_or(u64::MAX);
        while let Some(first) = queues[0].front().or(queues[1].front()).copied() {
            let missing = (bits[first] * second).saturating_sub(tokens);
            let ready = at + missing.div_ceil(rate) as u64;
            if ready > arrives {
                break;
            }
            tokens = (tokens + rate * u128::from(ready - at)).min(burst * second) - bits[first] * second;
            at = ready;
            found[first] = Some(ready);
            queues[usize::from(!urgent[first])].pop_front();
        }
        let Some(&is_urgent) = urgent.get(number) else { break };
        tokens = (tokens + rate * u128::from(arrives - at)).min(burst * second);
        at = arrives;
        let is_first = queues[0].is_empty() && (is_urgent || queues[1].is_empty());
        let place = usize::from(!is_urgent);
        if is_first && tokens >= bits[number] * second {
            tokens -= bits[number] * second;
            found[number] = Some(arrives);
        } else if queues[place].len() < rooms[place] {
            queues[place].push_back(number);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// On a line that is so fast that no frame waits for it.
    #[test]
    fn frames_of_the_priority_queue_go_first(
        all in prop::collection::vec((0..60 * MICROSECOND, 64..300_usize, prop::bool::weighted(0.3)), 1..120),
        rate in prop::sample::select(vec![10_000_000_u64, 64_000_003]),
        rooms in (0..6_u32, 0..4_u32),
        coarse in 1..3000 * MICROSECOND,
    ) {
        let shapes = [(Some((rate, LEAST_BURST, Layer::L2)), rooms.0), (None, 0), (None, 0), (None, 0)];
        let mut spec = spec(&shapes, 100 * TEN_GIGABIT, 1024);
        spec.ports[2].vlans[0].priority = Some(PriorityQueue { dscp: vec![48], queue: rooms.1 });
        let sent: Vec<Sent> = all.iter().map(|(gap, size, _)| Sent { from: 0, gap: *gap, size: *size, vlan: 0 }).collect();
        let (mut frames, arrivals) = timed(&sent);
        let urgent: Vec<bool> = all.iter().map(|(.., is_urgent)| *is_urgent).collect();
        for (frame, is_urgent) in frames.iter_mut().zip(&urgent) {
            // The header's checksum is 0xc000 less then, once the carry is back.
            if *is_urgent {
                frame.bytes[15] = 48 << 2;
                let sum = u16::from_be_bytes([frame.bytes[24], frame.bytes[25]]);
                let (less, borrow) = sum.overflowing_sub(48 << 2);
                frame.bytes[24..26].copy_from_slice(&(less - u16::from(borrow)).to_be_bytes());
            }
        }
        let bits: Vec<u128> = sent.iter().map(|sent| (sent.size as u128 + 4) * 8).collect();
        let bucket = (rate.into(), u128::from(LEAST_BURST) * 8);
        let rooms = [rooms.1 as usize, rooms.0 as usize];
        let released = by_two_queues(bucket, rooms, &bits, &urgent, &arrivals);
        for quantum in [1, coarse, SECOND] {
            let (starts, counters) = measure(&spec, &frames, &[], quantum);
            // A frame has the line for some nanoseconds, and the next one may be released meanwhile.
            let near = |(start, released): (&Option<u64>, &Option<u64>)| match (start, released) {
                (Some(start), Some(released)) => (0..MICROSECOND / 2).contains(&(start - released)),
                (None, None) => true,
                _ => false,
            };
            prop_assert!(starts.iter().zip(&released).all(near), "{starts:?} {released:?}");
            prop_assert_eq!(counters.ports[2].vlans[0].dropped, released.iter().filter(|one| one.is_none()).count() as u64);
        }
    }

    #[test]
    fn shaped_frames_leave_when_the_definition_says(
        shapes in prop::array::uniform4(a_shape()),
        all in prop::collection::vec(a_frame(), 1..120),
        rate_bps in prop::sample::select(vec![TEN_GIGABIT, 1_000_000_000]),
        out_queue in prop::sample::select(vec![0_u32, 2, 1024]),
        resets in prop::collection::vec(0..1000 * MICROSECOND, 0..3),
        coarse in 1..3000 * MICROSECOND,
    ) {
        let mut resets = resets;
        resets.sort_unstable();
        check(&shapes, &all, (rate_bps, out_queue), &resets, coarse);
    }

    /// With all that may be behind the shapers, and in front of them: the same in rounds of any length, and no frame is lost
    /// without being counted.
    #[test]
    fn shapers_are_exact_in_rounds_of_any_length(
        shapes in prop::array::uniform4(a_shape()),
        all in prop::collection::vec(a_frame(), 1..80),
        members in 1..3_u32,
        classes in any::<bool>(),
        port_shape in any::<bool>(),
        stall in prop::option::of((1..40_u64, 1..200_u64)),
        both_fps in prop::option::of(100_000..20_000_000_u64),
        downs in prop::collection::vec(0..1000 * MICROSECOND, 0..2),
        coarse in 1..3000 * MICROSECOND,
    ) {
        let mut spec = spec(&shapes, 1_000_000_000, 5);
        spec.delay_ns = 3_000;
        let east = &mut spec.ports[2];
        east.members = members;
        if classes {
            let class = |pcp: &[u8], priority| Class {
                name: format!("{priority}"), dscp: Vec::new(), pcp: pcp.to_vec(), priority, weight: 1, queue: 3, shape: None,
            };
            east.classes = vec![class(&[0], 0), class(&[], 1)];
        }
        if port_shape {
            east.shape = Some(Police { rate_bps: 400_000_000, layer: Layer::L1, burst_bytes: 2000, excess: None });
        }
        east.both_fps = both_fps.map(|fps| (fps, 1));
        if let Some((every, for_us)) = stall {
            let when = When::Every { every, first: 0 };
            spec.impairments.push(Impairment { port: Some(2), fault: Fault::Stall { for_ns: for_us * 1000 }, when });
        }
        let (frames, _) = timed(&all);
        let outcome = |quantum: u64| {
            let mut rig = Rig::new(spec.clone());
            let happens = |at: &u64| [
                (Instant { ps: *at }, EventKind::LinkDown, Some(2)),
                (Instant { ps: *at + 100 * MICROSECOND }, EventKind::LinkUp, Some(2)),
            ];
            let mut events: Vec<_> = downs.iter().flat_map(happens).collect();
            events.push((Instant { ps: 1500 * MICROSECOND }, EventKind::Reset, None));
            events.sort_by_key(|event| event.0);
            rig.device.set_events(&events).unwrap();
            let received = rig.run(&frames, quantum, 100 * SECOND);
            rig.assert_conserved();
            (received, rig.device.counters())
        };
        let found = outcome(1);
        prop_assert!(found == outcome(coarse));
        prop_assert!(found == outcome(SECOND));
    }
}

/// A frame each 100 ns from both ports at the same time, and buckets that regain one of theirs each 1000 ns: frames are released
/// at the picosecond at which others arrive, of two subinterfaces at once, and a reset comes then too.
#[test]
fn frames_released_as_others_arrive_go_before_them() {
    let turns = [[0, 1], [1, 0], [0, NONE], [1, 1], [NONE, 0], [0, 0]];
    let all: Vec<_> = (0..600)
        .map(|number| Sent {
            from: number % 2,
            gap: 32_800,
            size: 64,
            vlan: turns[number / 2 % turns.len()][number % 2],
        })
        .collect();
    let (_, arrivals) = timed(&all);
    for queue in 0..5 {
        let mut shapes: Shapes = [(None, 64); VLANS];
        // 68 and 72 bytes, and 25 of them.
        shapes[0] = (Some((544_000_000, 1700, Layer::L2)), queue);
        shapes[1] = (Some((576_000_000, 1800, Layer::L2)), queue);
        for out_queue in [0, 1, 1024] {
            check(&shapes, &all, (TEN_GIGABIT, out_queue), &[], MICROSECOND);
            check(&shapes, &all, (1_000_000_000, out_queue), &[arrivals[300]], MICROSECOND);
        }
    }
}

/// 64-byte frames and a tag, 68 bytes each 67.2 ns, to a shaper of 68 Mbit/s with a burst of 1,700 bytes: 25 frames pass at once,
/// the bucket regains a frame each 8 us, and 64 wait. The last of 10,000 arrives 671.9 us after the first, when 83 more were
/// released. So 25 + 83 + 64 leave, from the 26th on each 8 us behind the one before it.
#[test]
fn a_stream_above_the_shaper_leaves_at_exactly_its_rate() {
    let mut shapes: Shapes = [(None, 64); VLANS];
    shapes[0] = (Some((68_000_000, 1_700, Layer::L2)), 64);
    let spec = spec(&shapes, TEN_GIGABIT, 1024);
    let one = Sent {
        from: 0,
        gap: 0,
        size: 64,
        vlan: 0,
    };
    let (frames, arrivals) = timed(&vec![one; 10_000]);
    for quantum in [7 * MICROSECOND, SECOND] {
        let (starts, counters) = measure(&spec, &frames, &[], quantum);
        let left: Vec<u64> = starts.into_iter().flatten().collect();
        assert_eq!(left.len(), 25 + 83 + 64);
        // The bucket was full when the first came.
        assert_eq!(left[25], arrivals[0] + 8 * MICROSECOND);
        assert!(left[25..].windows(2).all(|pair| pair[1] - pair[0] == 8 * MICROSECOND));
        let vlan = &counters.ports[2].vlans[0];
        assert_eq!((vlan.sent, vlan.dropped), (172, 10_000 - 172));
    }
}
