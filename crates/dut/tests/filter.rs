//! The packet filter of an emulated port: the first rule that matches decides, and each that is looked at takes its time.

use crate::common::{Rig, SLOT_64, TEN_GIGABIT, Timed, back_to_back, cross_connect, mac, router, udp4, udp6};
use netdyno_dut::spec::{DeviceSpec, FilterRule};
use proptest::prelude::*;

const MICROSECOND: u64 = 1_000_000;
const UNTIL: u64 = 100_000 * MICROSECOND;

fn rule(permit: bool, src: &str, dst: &str) -> FilterRule {
    let prefix = |text: &str| (text != "any").then(|| text.to_owned());
    FilterRule {
        permit,
        src: prefix(src),
        dst: prefix(dst),
    }
}

/// So many rules that match nothing of ours, and then the one that does.
fn behind(denials: u8) -> Vec<FilterRule> {
    let mut rules: Vec<_> = (0..denials)
        .map(|n| rule(false, &format!("192.0.2.{n}/32"), "48.0.0.0/8"))
        .collect();
    rules.push(rule(true, "16.0.0.0/8", "48.0.0.0/8"));
    rules
}

/// Takes in a frame a microsecond, and a tenth of that more for each rule.
fn filtered(rules: Vec<FilterRule>) -> DeviceSpec {
    let mut spec = cross_connect();
    (spec.ports[0].in_fps, spec.ports[0].filter_ns) = (Some((1_000_000, 1)), 100);
    spec.ports[0].filter = rules;
    spec
}

fn ours() -> Vec<u8> {
    udp4(mac(10), mac(11), [16, 0, 0, 1], [48, 0, 0, 1], 64, 64)
}

fn run(spec: DeviceSpec, frames: &[Timed]) -> (Vec<Timed>, Rig) {
    let mut rig = Rig::new(spec);
    let received = rig.run(frames, 10 * MICROSECOND, UNTIL);
    rig.assert_conserved();
    (received, rig)
}

/// A frame takes a microsecond and 100 ns for each rule: 1 rule 1.1 us, the 13th 2.3 us, the 25th 3.5 us.
#[test]
fn each_rule_that_is_looked_at_takes_its_time() {
    for (denials, each_ns) in [(0, 1100), (12, 2300), (24, 3500)] {
        let (received, rig) = run(filtered(behind(denials)), &back_to_back(0, &ours(), 500, TEN_GIGABIT));
        assert_eq!(received.len(), 500);
        let apart: Vec<_> = received.windows(2).map(|two| two[1].at - two[0].at).collect();
        assert!(apart.iter().all(|apart| *apart == each_ns * 1000), "{denials}: {apart:?}");
        assert_eq!(rig.device.counters().ports[0].denied, 0);
    }
}

/// 67.2 ns apart come more than can wait, which are 1024 and the one that is served: of n frames in n * 67.2 ns and at
/// 3.5 us each as many are served in that time as there are begun services, and 1024 wait.
#[test]
fn queue_holds_as_many_frames_of_any_cost() {
    let count = 5000;
    let (received, rig) = run(filtered(behind(24)), &back_to_back(0, &ours(), count, TEN_GIGABIT));
    let begun = ((count - 1) * SLOT_64).div_euclid(3_500_000) + 1;
    let kept = received.len() as u64;
    assert!((begun + 1024..=begun + 1025).contains(&kept), "{kept} of {begun} and 1024");
    assert_eq!(rig.device.counters().ports[0].in_drops, count - kept);
}

#[test]
fn the_first_rule_that_matches_decides_and_what_none_matches_is_dropped() {
    let rules = vec![
        rule(false, "16.0.0.9/32", "any"),
        rule(true, "16.0.0.8/30", "48.0.0.0/8"),
        rule(true, "2001:db8:16::/48", "any"),
        rule(true, "any", "48.0.0.77/32"),
    ];
    let v4 = |source: [u8; 4], destination: [u8; 4]| udp4(mac(10), mac(11), source, destination, 64, 64);
    let v6 = |source: &str| udp6(mac(10), mac(11), source, "2001:db8:48::1", 64, 84);
    let mut arp = vec![0xff; 6];
    arp.extend([mac(10).as_slice(), &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &[0; 40]].concat());
    let mut tagged = v4([16, 0, 0, 9], [48, 0, 0, 1]);
    tagged.splice(12..12, [0x81, 0, 0, 7]);
    // A neighbour solicitation (RFC 4861 section 4.3) from nobody the rules know.
    let mut solicitation = v6("2001:db8:99::1");
    (solicitation[20], solicitation[54]) = (58, 135);
    let frames = [
        (v4([16, 0, 0, 8], [48, 0, 0, 1]), true),
        (v4([16, 0, 0, 9], [48, 0, 0, 1]), false),
        (v4([16, 0, 0, 9], [48, 0, 0, 77]), false),
        (v4([16, 0, 0, 12], [48, 0, 0, 1]), false),
        (v4([16, 0, 0, 12], [48, 0, 0, 77]), true),
        (v4([16, 0, 0, 11], [49, 0, 0, 1]), false),
        (v6("2001:db8:16::1"), true),
        (v6("2001:db8:17::1"), false),
        (arp, true),
        (tagged, false),
        (solicitation, true),
    ];
    for (number, (bytes, passes)) in frames.iter().enumerate() {
        let frame = Timed {
            port: 0,
            at: 0,
            bytes: bytes.clone(),
        };
        let (received, rig) = run(filtered(rules.clone()), &[frame]);
        assert_eq!(received.len(), usize::from(*passes), "frame {number}");
        assert_eq!(rig.device.counters().ports[0].denied, u64::from(!passes));
    }
}

/// A frame in a hundred is a broadcast that takes the router 20 us longer: 100 frames take 99 * 1 + 21 us.
#[test]
fn frames_to_groups_take_longer() {
    let mut spec = router(true);
    (spec.ports[0].in_fps, spec.ports[0].group_ns) = (Some((1_000_000, 1)), 20_000);
    let mut frames = back_to_back(
        0,
        &udp4(mac(10), [2, 0, 0, 0, 1, 0], [16, 0, 0, 1], [48, 0, 0, 1], 64, 64),
        1000,
        TEN_GIGABIT,
    );
    for frame in frames.iter_mut().skip(50).step_by(100) {
        frame.bytes[..6].fill(0xff);
        frame.bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    }
    let (received, rig) = run(spec, &frames);
    assert_eq!((received.len(), rig.device.counters().consumed), (990, 10));
    // From frame 0 to the last of 1000, ten broadcasts between.
    assert_eq!(received[989].at - received[0].at, (999 + 10 * 20) * MICROSECOND);
}

#[test]
fn mistakes_are_named() {
    let refused = |change: fn(&mut DeviceSpec)| {
        let mut spec = filtered(behind(1));
        change(&mut spec);
        let ports = spec.ports.iter().map(|port| {
            let link = netdyno_io::backend::LinkSpec::new("tester", &port.name, port.rate_bps, 1600);
            Box::new(netdyno_io::backend::wire::pair(&link).unwrap().1) as Box<dyn netdyno_io::port::Port>
        });
        let ports = ports.collect();
        netdyno_dut::Device::new(spec, ports, 1600)
            .err()
            .map(|error| error.to_string())
            .unwrap()
    };
    assert!(refused(|spec| spec.ports[0].filter[0].src = Some("16.0.0.0/33".into())).contains("ports[0].filter[0].src"));
    assert!(refused(|spec| spec.ports[0].in_fps = None).contains("without `in_fps`"));
    assert!(refused(|spec| spec.head_of_line = true).contains("head_of_line"));
    assert!(
        refused(|spec| {
            spec.ports[0].recovery = Some(netdyno_dut::spec::Recovery { for_ns: 1, every: 1 });
        })
        .contains("weary")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Where nothing takes longer it is the same server, to the picosecond, and drops the same frames.
    #[test]
    fn without_more_to_do_it_is_a_plain_server(
        rate in (200_000..20_000_000_u64, 1..4_u64),
        queue in prop_oneof![Just(0_u32), 1..20_u32],
        gaps in prop::collection::vec(prop_oneof![Just(0_u64), 0..900_000_u64, Just(10 * MICROSECOND)], 1..300),
    ) {
        let mut at = 0;
        let frames: Vec<_> = gaps.iter().map(|gap| {
            at += SLOT_64 + gap;
            Timed { port: 0, at, bytes: ours() }
        }).collect();
        let mut spec = cross_connect();
        (spec.ports[0].in_fps, spec.ports[0].in_queue) = (Some(rate), queue);
        let plain = run(spec.clone(), &frames).0;
        spec.ports[0].group_ns = 5;
        spec.ports[0].filter = behind(3);
        prop_assert_eq!(plain, run(spec, &frames).0);
    }
}
