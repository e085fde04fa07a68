//! The same device on ports without exact time: nothing leaves before its time, nothing is lost.

use crate::common::{MAX_FRAME, cross_connect, mac, udp4};
use netdyno_dut::Device;
use netdyno_io::backend::{LinkSpec, ring};
use netdyno_io::drive::Node;
use netdyno_io::port::Port;
use netdyno_io::time::Instant;

const MICROSECOND: u64 = 1_000_000;

#[test]
fn nothing_leaves_before_its_time() {
    let mut spec = cross_connect();
    spec.delay_ns = 50_000;
    spec.ports[0].in_fps = Some((1_000_000, 1));
    let link = |name: &str| ring::pair(&LinkSpec::new("tester", name, 0, MAX_FRAME), 256).unwrap();
    let ((mut west, west_port), (mut east, east_port)) = (link("west"), link("east"));
    let mut device = Device::new(spec, vec![Box::new(west_port), Box::new(east_port)], MAX_FRAME).unwrap();
    let frame = udp4(mac(1), mac(2), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64);
    let start = 1_000 * MICROSECOND;
    let sent = west
        .transmit(Instant { ps: start }, 10, &mut |burst| {
            for index in 0..burst.len() {
                burst.frame_mut(index)[..60].copy_from_slice(&frame);
                burst.set(index, 60, Instant { ps: start });
            }
            burst.len()
        })
        .unwrap();
    assert_eq!(sent, 10);
    let mut received = Vec::new();
    for now in (start..start + 100 * MICROSECOND).step_by(MICROSECOND as usize / 2) {
        device.step(Instant { ps: now });
        east.receive(Instant { ps: now }, 256, &mut |burst| {
            received.extend((0..burst.len()).map(|_| now))
        })
        .unwrap();
    }
    // A service of 1 us each, then 50 us; seen at the next step of half a microsecond.
    let expected: Vec<u64> = (1..=10).map(|frame| start + (50 + frame) * MICROSECOND).collect();
    assert_eq!(received, expected);
    assert_eq!(device.counters().held, 0);
}
