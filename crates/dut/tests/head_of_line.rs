//! Head-of-line blocking, as RFC 2889 section 5.5 looks for it.

use crate::common::{Rig, SLOT_64, TEN_GIGABIT, Timed, bridge, mac, udp4};
use netdyno_dut::spec::DeviceSpec;

const MICROSECOND: u64 = 1_000_000;
/// Slots of 64 bytes at line rate.
const SLOTS: u64 = 60_000;

fn frame(port: usize, to: u8, at: u64) -> Timed {
    Timed {
        port,
        at,
        bytes: udp4(mac(10 + port as u8), mac(10 + to), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64),
    }
}

fn device(head_of_line: bool) -> DeviceSpec {
    let mut spec = bridge(4);
    spec.head_of_line = head_of_line;
    for port in &mut spec.ports {
        (port.in_queue, port.out_queue) = (100, 10);
    }
    spec
}

/// Shares of what was sent that reach port 2 (not congested) and port 3 (congested): port 0 sends to each of them in
/// turns, port 1 to port 3 alone, both at line rate.
fn congested(spec: DeviceSpec, quantum: u64) -> [f64; 2] {
    let mut rig = Rig::new(spec);
    let hello: Vec<Timed> = (0..4).map(|port| frame(port, 9, 0)).collect();
    rig.run(&hello, MICROSECOND, 100 * MICROSECOND);
    let begin = 200 * MICROSECOND;
    let mut frames = Vec::new();
    for slot in 0..SLOTS {
        frames.push(frame(0, 2 + (slot % 2) as u8, begin + slot * SLOT_64));
        frames.push(frame(1, 3, begin + slot * SLOT_64));
    }
    let received = rig.run(&frames, quantum, begin + SLOTS * SLOT_64 + 10_000 * MICROSECOND);
    rig.assert_conserved();
    assert_eq!(rig.device.counters().held, 0);
    let on = |port: usize| received.iter().filter(|frame| frame.port == port).count() as f64;
    [on(2) / (SLOTS as f64 / 2.0), on(3) / (SLOTS as f64 * 1.5)]
}

/// Without blocking the other port's traffic is not touched, and of 150 % of a line 100 % passes. With it, and the oldest
/// frame first, both inputs are full and wait for the same time, so both let out the same: `r / 2 + r` is the line's, so a
/// third of everything is lost, on the port that is not congested too.
#[test]
fn a_congested_port_costs_another_one_its_traffic() {
    let [free, congested_share] = congested(device(false), 10 * MICROSECOND);
    assert_eq!(free, 1.0);
    assert!((congested_share - 2.0 / 3.0).abs() < 0.001, "{congested_share}");
    let [blocked, congested_share] = congested(device(true), 10 * MICROSECOND);
    // What lies in queues of 100 at the end is 0.3 %.
    assert!((blocked - 2.0 / 3.0).abs() < 0.01, "{blocked}");
    assert!((congested_share - 2.0 / 3.0).abs() < 0.01, "{congested_share}");
}

#[test]
fn how_far_time_jumps_does_not_matter() {
    assert_eq!(congested(device(true), 1), congested(device(true), 1000 * MICROSECOND));
}

/// One input of 10 Gbit/s, an output of 1: with nobody else a queue in front is like one behind. Of 5000 frames, one each
/// 67.2 ns, the line carries one each 672 ns: 500 of them, and 10 + 100 wait when the last has come.
#[test]
fn an_input_that_waits_holds_what_its_queue_does() {
    let mut spec = device(true);
    spec.ports[1].rate_bps = TEN_GIGABIT / 10;
    let mut rig = Rig::new(spec);
    let hello: Vec<Timed> = (0..4).map(|port| frame(port, 9, 0)).collect();
    rig.run(&hello, MICROSECOND, 100 * MICROSECOND);
    let frames: Vec<Timed> = (0..5000).map(|slot| frame(0, 1, 200 * MICROSECOND + slot * SLOT_64)).collect();
    let received = rig.run(&frames, 10 * MICROSECOND, 20_000 * MICROSECOND).len();
    rig.assert_conserved();
    assert!((500 + 110 - 2..=500 + 110 + 9).contains(&received), "{received}");
    assert_eq!(rig.device.counters().ports[0].in_drops as usize, 5000 - received);
}
