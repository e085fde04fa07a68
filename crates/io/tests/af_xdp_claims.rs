//! An AF_XDP port receives what it claims and leaves the kernel all else: the program that the kernel runs against the
//! definition of a claim, frame by frame.

mod support;

use netdyno_io::backend::af_packet::AfPacketPort;
use netdyno_io::backend::af_xdp::{AfXdpPort, Attach, Mode};
use netdyno_io::claim::{ByteIs, Claim, SumIs};
use netdyno_io::port::Port;
use support::{collect, frame, namespace, send_all};

fn open_packet(interface: &str) -> AfPacketPort {
    AfPacketPort::open(interface, interface, 1518).unwrap_or_else(|error| panic!("{error}"))
}

/// Frames that meet `claim` or miss it by one bit, byte or length, behind 0 to 3 tags.
fn around(claim: &Claim, number: u64) -> Vec<Vec<u8>> {
    let mut l3 = frame(number, 120);
    l3.truncate(usize::from(claim.reach()).max(20));
    for is in &claim.bytes {
        let byte = &mut l3[usize::from(is.at)];
        *byte = *byte & !is.mask | is.value;
    }
    if let Some(is) = claim.sum {
        // The first word makes up for all the others.
        let at = usize::from(is.at);
        l3[at..at + 2].fill(0);
        let others: u64 = l3[at..at + 2 * usize::from(is.words)]
            .chunks(2)
            .map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]])))
            .sum();
        let missing = (u64::from(is.sum) + 0xffff * 1000 - others) % 0xffff;
        l3[at..at + 2].copy_from_slice(&(missing as u16).to_be_bytes());
    }
    let mut variants = vec![l3.clone()];
    for at in claim.bytes.iter().map(|is| is.at).chain(claim.sum.map(|is| is.at + 1)) {
        let mut off = l3.clone();
        off[usize::from(at)] ^= 0x10;
        variants.push(off);
    }
    variants.push(l3[..l3.len() - 1].to_vec());
    let tags: [&[u8]; 4] = [
        &[],
        &[0x81, 0, 0, 100],
        &[0x88, 0xa8, 0, 7, 0x81, 0, 0xa0, 9],
        &[0x81, 0, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3],
    ];
    let kinds = [claim.ethertype.unwrap_or(0x88b5), 0x88b6];
    let mut frames = Vec::new();
    for l3 in variants {
        for tags in tags {
            for kind in kinds {
                frames.push([&frame(number, 12)[..], tags, &kind.to_be_bytes(), &l3].concat());
            }
        }
    }
    frames
}

#[test]
fn what_is_claimed_is_ours_and_all_else_the_kernels() {
    const NAME: &str = "what_is_claimed_is_ours_and_all_else_the_kernels";
    namespace::with_veth(NAME, 1500, || {
        if namespace::lacks_xdp(NAME) {
            return;
        }
        let masked = |at, mask, value| ByteIs { at, mask, value };
        let claims = [
            Claim::of_type(0x88b5).and(24, &[198, 18, 0, 1]),
            Claim::of_type(0x0800)
                .and(9, &[17])
                .and(12, &[1, 2, 3])
                .and(20, &[9, 8, 7, 6, 5, 4, 3]),
            Claim {
                bytes: vec![
                    masked(0, 0xf0, 0x40),
                    masked(1, 0x0f, 0x05),
                    masked(2, 0xff, 0xee),
                    masked(3, 0x81, 0x80),
                ],
                ..Claim::of_type(0x86dd)
            },
            Claim {
                sum: Some(SumIs {
                    at: 28,
                    words: 9,
                    sum: 0x6e64,
                }),
                ..Claim::default()
            },
            Claim {
                sum: Some(SumIs { at: 7, words: 4, sum: 0 }),
                ..Claim::of_type(0x8847).and(2, &[1])
            },
            Claim::of_type(0x88cc),
        ];
        let frames: Vec<Vec<u8>> = claims.iter().zip(1..).flat_map(|(claim, number)| around(claim, number)).collect();
        for attach in [Attach::Generic, Attach::Native] {
            let mut sender = open_packet("nd0");
            let mut kernel = open_packet("nd1");
            let mut ours = AfXdpPort::open("nd1", "nd1", attach, Mode::Copy, 1518, 1, false)
                .expect("opens")
                .remove(0);
            let sets = [&claims[..], &claims[..1], &claims[3..5], &[Claim::EVERYTHING], &[]];
            for (number, set) in sets.into_iter().enumerate() {
                // The first trial begins with none, each next one with those of the one before.
                ours.claim(set).expect("claims");
                for frames in frames.chunks(64) {
                    send_all(&mut sender, frames);
                    let (claimed, left): (Vec<_>, Vec<_>) =
                        frames.iter().cloned().partition(|frame| set.iter().any(|claim| claim.holds(frame)));
                    assert_eq!(collect(&mut ours, claimed.len()), claimed, "{attach:?}, set {number}: claimed");
                    assert_eq!(collect(&mut kernel, left.len()), left, "{attach:?}, set {number}: left");
                }
            }
            let met = |set: &[Claim]| frames.iter().filter(|frame| set.iter().any(|claim| claim.holds(frame))).count();
            // Each claim is met behind none, one and two tags at least, and missed more often than that.
            let all = met(&claims);
            assert!(
                all >= 6 * 3 && frames.len() > 2 * all,
                "{all} of {} frames are claimed",
                frames.len()
            );
        }
    });
}

#[test]
fn the_kernel_takes_a_program_for_hundreds_of_streams() {
    const NAME: &str = "the_kernel_takes_a_program_for_hundreds_of_streams";
    namespace::with_veth(NAME, 1500, || {
        if namespace::lacks_xdp(NAME) {
            return;
        }
        // As many as two ports send at most, each with 28 bytes of its own and a probe in another place.
        let claims: Vec<Claim> = (0..512_u16)
            .map(|number| Claim {
                sum: Some(SumIs {
                    at: 28 + number % 64,
                    words: 9,
                    sum: 0x6e64,
                }),
                ..Claim::of_type([0x0800, 0x86dd, 0x8847][usize::from(number % 3)]).and(0, &frame(number.into(), 28))
            })
            .collect();
        let mut sender = open_packet("nd0");
        let mut ours = AfXdpPort::open("nd1", "nd1", Attach::Auto, Mode::Copy, 1518, 1, false)
            .expect("opens")
            .remove(0);
        ours.claim(&claims).expect("the kernel takes it");
        for number in [0, 1, 255, 510, 511] {
            let frames = around(&claims[number], number as u64);
            let claimed: Vec<_> = frames.iter().filter(|frame| claims[number].holds(frame)).cloned().collect();
            assert!(!claimed.is_empty());
            send_all(&mut sender, &frames);
            assert_eq!(collect(&mut ours, claimed.len()), claimed, "claim {number}");
        }
    });
}
