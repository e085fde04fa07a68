//! Random fields are uniform, independent of each other and of their neighbours, and the same every time
//! (RFC 4814 section 4). Seeds are fixed: these tests pass or fail, they do not flicker.
#![allow(missing_docs)]

use crate::common;
use crate::common::{over_ethernet, stack};
use netdyno_frame::template::{Template, Value};
use std::collections::HashSet;

const FLOWS: u32 = 1 << 16;
const RANDOM4: &str = r#"{"type": "ipv4", "src": {"random": {"min": "16.0.0.0", "max": "16.255.255.255"}},
    "dst": {"random": {"min": "48.0.0.0", "max": "48.255.255.255"}}}"#;
const PORTS: &str = r#"{"type": "udp", "sport": {"random": {"min": 1024, "max": 65535}}, "dport": {"random": {"min": 1, "max": 49151}}}"#;

/// The values of field `name` of header `header`, over all flows.
fn values(json: &[&str], seed: u64, header: usize, name: &str) -> Vec<u64> {
    let template = Template::new(&over_ethernet(json), &[1518], FLOWS, seed).expect("a template");
    (0..FLOWS)
        .map(|flow| {
            let fields = template.flow_fields(flow);
            match fields
                .iter()
                .find(|field| field.header == header && field.field == name)
                .expect(name)
                .value
            {
                Value::Number(number) => number,
                Value::Ipv4(address) => u32::from(address).into(),
                other => panic!("{other:?}"),
            }
        })
        .collect()
}

/// Chi-square of `bins` over `count` equally likely bins, as a number of standard deviations from its mean
/// (Wilson and Hilferty): beyond 4 either way it happens once in 30,000 times.
fn deviation(bins: impl IntoIterator<Item = usize>, count: usize) -> f64 {
    let mut seen = vec![0u64; count];
    bins.into_iter().for_each(|bin| seen[bin] += 1);
    let expected = seen.iter().sum::<u64>() as f64 / count as f64;
    let chi_square: f64 = seen.iter().map(|&seen| (seen as f64 - expected).powi(2) / expected).sum();
    let freedom = (count - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    ((chi_square / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

#[test]
fn each_field_is_uniform() {
    for seed in 0..20 {
        for (header, name, min, span) in [
            (1, "src", 0x1000_0000, 1 << 24),
            (1, "dst", 0x3000_0000, 1 << 24),
            (2, "dport", 1, 49151),
        ] {
            let values = values(&[RANDOM4, PORTS], seed, header, name);
            let high = deviation(values.iter().map(|value| ((value - min) * 251 / span) as usize), 251);
            let low = deviation(values.iter().map(|value| (value - min) as usize & 0xff), 256);
            assert!(
                high.abs() < 4.5 && (low.abs() < 4.5 || name == "dport"),
                "{name}, seed {seed}: {high} {low}"
            );
        }
    }
}

#[test]
fn fields_are_independent() {
    for seed in 0..20 {
        let source = values(&[RANDOM4, PORTS], seed, 1, "src");
        let destination = values(&[RANDOM4, PORTS], seed, 1, "dst");
        let pairs = |shift: u64| {
            let pair = move |(a, b): (&u64, &u64)| (a >> shift & 15) as usize * 16 + (b >> shift & 15) as usize;
            deviation(source.iter().zip(&destination).map(pair), 256)
        };
        assert!(
            pairs(0).abs() < 4.5 && pairs(20).abs() < 4.5,
            "seed {seed}: {} {}",
            pairs(0),
            pairs(20)
        );
        let neighbours = source.windows(2).map(|pair| (pair[0] & 15) as usize * 16 + (pair[1] & 15) as usize);
        assert!(deviation(neighbours, 256).abs() < 4.5, "seed {seed}");
        // RFC 4814 section 4.1: a hash of three bits, XOR of the addresses, has to reach all eight outcomes alike.
        let hashed = source.iter().zip(&destination).map(|(a, b)| ((a ^ b) & 7) as usize);
        assert!(deviation(hashed, 8).abs() < 4.5, "seed {seed}");
    }
}

#[test]
fn as_many_addresses_differ_as_should() {
    // m draws of n: n (1 - (1 - 1/n)^m) differ on average; for m = 2^16, n = 2^24 that is 65,408.2, give or take 11.
    let distinct: HashSet<u64> = values(&[RANDOM4, PORTS], 3, 1, "src").into_iter().collect();
    assert!((65_364..=65_453).contains(&distinct.len()), "{}", distinct.len());
}

#[test]
fn small_ranges_are_exhausted_and_kept() {
    let ports = r#"{"type": "udp", "sport": {"random": {"min": 7, "max": 9}}, "dport": 7}"#;
    let seen: HashSet<u64> = values(&[common::IPV4, ports], 1, 2, "sport").into_iter().collect();
    assert_eq!(seen, HashSet::from([7, 8, 9]));
}

#[test]
fn the_same_seed_draws_the_same_and_another_seed_does_not() {
    let first = values(&[RANDOM4, PORTS], 1, 1, "src");
    assert_eq!(first, values(&[RANDOM4, PORTS], 1, 1, "src"));
    let other = values(&[RANDOM4, PORTS], 2, 1, "src");
    let same = first.iter().zip(&other).filter(|(a, b)| a == b).count();
    assert!(same < 5, "{same} of {FLOWS} agree by chance 0.004 times");
    let own = RANDOM4.replace(r#""max": "16.255.255.255""#, r#""max": "16.255.255.255", "seed": 77"#);
    assert_eq!(
        values(&[&own, PORTS], 1, 1, "src"),
        values(&[&own, PORTS], 2, 1, "src"),
        "a seed of its own"
    );
    assert_ne!(values(&[&own, PORTS], 1, 1, "dst"), values(&[&own, PORTS], 2, 1, "dst"));
}

#[test]
fn whole_address_spaces_can_be_drawn_from() {
    let all6 = r#"{"type": "ipv6", "src": {"random": {"min": "::", "max": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
        "dst": {"random": {"min": "2001:2::", "max": "2001:2:0:0:ffff:ffff:ffff:ffff"}}}"#;
    let headers = stack(&format!("[{}, {all6}, {}]", common::ETHERNET, common::UDP));
    let template = Template::new(&headers, &[128], FLOWS, 5).expect("a template");
    let bytes = |field: usize, byte: usize| {
        let template = &template;
        (0..FLOWS).map(move |flow| match template.flow_fields(flow)[field].value {
            Value::Ipv6(address) => address.octets()[byte] as usize,
            other => panic!("{other:?}"),
        })
    };
    for byte in [0, 7, 8, 15] {
        assert!(deviation(bytes(2, byte), 256).abs() < 4.5, "byte {byte} of the source");
    }
    for byte in [8, 15] {
        assert!(deviation(bytes(3, byte), 256).abs() < 4.5, "byte {byte} of the destination");
    }
    assert!(bytes(3, 3).all(|byte| byte == 2) && bytes(3, 7).all(|byte| byte == 0));
}
