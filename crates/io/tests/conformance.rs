//! What every port does, whatever carries its frames. Runs over the table of backends; a new backend
//! only has to say, in `run_on`, how two of its ports come to face each other.

mod support;

use netdyno_io::backend::af_xdp::{Attach, Mode};
use netdyno_io::backend::memif::{MemifSpec, Role};
use netdyno_io::backend::{self, BACKENDS, BackendSpec, LinkSpec};
use netdyno_io::claim::Claim;
use netdyno_io::port::{Port, PortCounters, PortError};
use netdyno_io::time::Instant;
use support::{LATE, abstract_socket, collect, frame, gather, namespace, receive, send_all, send_at, write_frame};

/// Two ports that face each other; `far` is absent where frames lead nowhere.
struct Rig {
    near: Box<dyn Port>,
    far: Option<Box<dyn Port>>,
}

type Check = fn(&mut Rig);

const CHECKS: &[(&str, Check)] = &[
    ("describes itself", describes_itself),
    ("nothing is received when nothing was sent", empty_receive),
    ("content, length and order are kept", content_and_order),
    ("short frames keep their length", short_frames),
    ("limits are honoured both ways", limits),
    ("only what fill wrote is sent", partial_fill),
    ("slots always have all their room", whole_slots),
    ("impossible lengths and counts are refused", refusals),
    ("bursts pass the end of the memory", wrap_around),
    ("both directions are independent", both_ways),
    ("counters are right", counters),
];

/// Runs every check on fresh ports of the backend.
fn run_on(name: &'static str) {
    let backend = backend::by_name(name).unwrap_or_else(|| panic!("`{name}` is in the table"));
    for max_frame in [128, 1514, 9014] {
        let spec = match name {
            "wire" => BackendSpec::Wire {},
            "ring" => BackendSpec::Ring {},
            "null" => BackendSpec::Null {},
            "af_packet" => {
                // The check is the whole test program's: opening and checking happen inside the namespace.
                namespace::with_veth("af_packet_conforms", max_frame - 14, move || {
                    check_all("af_packet", max_frame, || {
                        let [near, far] = namespace::ENDS.map(|interface| {
                            let spec = BackendSpec::AfPacket {
                                interface: interface.to_owned(),
                            };
                            backend::open(interface, &spec, max_frame).unwrap_or_else(|error| panic!("{error}"))
                        });
                        Rig { near, far: Some(far) }
                    });
                });
                continue;
            }
            "af_xdp" => {
                // A frame lies in one piece of memory of at most a page.
                let max_frame = max_frame.min(3482);
                if max_frame < 1514 {
                    continue; // each port takes a tenth of a second to open and close
                }
                namespace::with_veth("af_xdp_conforms", max_frame - 14, move || {
                    if namespace::lacks_xdp("af_xdp_conforms") {
                        return;
                    }
                    let natively = (max_frame == 1514).then_some(Attach::Native);
                    for attach in [Attach::Generic].into_iter().chain(natively) {
                        check_all("af_xdp", max_frame, || {
                            let [near, far] = namespace::ENDS.map(|interface| {
                                let spec = BackendSpec::AfXdp {
                                    interface: interface.to_owned(),
                                    attach,
                                    mode: Mode::Auto,
                                };
                                let mut port = backend::open(interface, &spec, max_frame).unwrap_or_else(|error| panic!("{error}"));
                                port.claim(&[Claim::EVERYTHING]).expect("everything can be claimed");
                                port
                            });
                            Rig { near, far: Some(far) }
                        });
                    }
                });
                continue;
            }
            "memif" => {
                // Each end in each role, since they are different code.
                for near_role in [Role::Client, Role::Server] {
                    check_all(&format!("memif {near_role:?}"), max_frame, || {
                        let socket = abstract_socket();
                        let open = |name, role| {
                            let spec = BackendSpec::Memif(MemifSpec::new(&socket, role));
                            backend::open(name, &spec, max_frame).unwrap_or_else(|error| panic!("{error}"))
                        };
                        let far_role = if near_role == Role::Client { Role::Server } else { Role::Client };
                        let (mut near, mut far) = (open("nd0", near_role), open("nd1", far_role));
                        near.ready().expect("the peer is there");
                        far.ready().expect("the peer is there");
                        Rig { near, far: Some(far) }
                    });
                }
                continue;
            }
            other => panic!("say here how two ports of `{other}` come to face each other"),
        };
        check_all(name, max_frame, || {
            if backend.needs_link() {
                let link = LinkSpec::new("nd0", "nd1", 10_000_000_000, max_frame);
                let (near, far) = backend::pair(&spec, &link).expect("the link can be built");
                Rig { near, far: Some(far) }
            } else {
                let near = backend::open("nd0", &spec, max_frame).expect("the port opens");
                Rig { near, far: None }
            }
        });
    }
}

fn check_all(backend: &str, max_frame: u32, rig: impl Fn() -> Rig) {
    for (what, check) in CHECKS {
        println!("{backend}, frames up to {max_frame}: {what}");
        check(&mut rig());
    }
}

#[test]
fn wire_conforms() {
    run_on("wire");
}

#[test]
fn ring_conforms() {
    run_on("ring");
}

#[test]
fn null_conforms() {
    run_on("null");
}

#[test]
fn af_packet_conforms() {
    run_on("af_packet");
}

#[test]
fn af_xdp_conforms() {
    run_on("af_xdp");
}

#[test]
fn memif_conforms() {
    run_on("memif");
}

#[test]
fn every_backend_of_the_table_is_checked_here() {
    let names: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
    assert_eq!(
        names,
        ["wire", "ring", "null", "af_packet", "af_xdp", "memif"],
        "add the new one above"
    );
}

#[test]
fn a_linked_backend_is_not_opened_alone_and_the_other_way_round() {
    for backend in BACKENDS {
        assert!(!backend.doc.is_empty() && backend.doc.len() < 120, "one line for {}", backend.name);
    }
    let Err(error) = backend::open("west", &BackendSpec::Wire {}, 1514) else {
        panic!("a wire has two ends")
    };
    assert_eq!(
        error.to_string(),
        "port `west`: a `wire` port is one end of a link; join it to an emulated device under `links`"
    );
    let Err(error) = backend::pair(&BackendSpec::Null {}, &LinkSpec::new("west", "east", 1, 1514)) else {
        panic!("null has no peer")
    };
    assert!(error.to_string().contains("only `wire`, `ring` are joined by links"), "{error}");
    assert!(backend::open("west", &BackendSpec::Null {}, 0).is_err());
    assert!(backend::open("west", &BackendSpec::Null {}, 1 << 20).is_err());
}

fn max_frame(rig: &Rig) -> usize {
    rig.near.info().max_frame as usize
}

fn describes_itself(rig: &mut Rig) {
    let info = rig.near.info().clone();
    assert_eq!(info.name, "nd0");
    assert!(backend::by_name(&info.backend).is_some());
    assert!((14..=65_536).contains(&info.max_frame));
    // Nominal rates only where there are some: a veth pair only pretends to run at 10 Gbit/s.
    assert_eq!(info.rate_bps, if info.exact_time { 10_000_000_000 } else { 0 });
    if !info.exact_time {
        assert_eq!(rig.near.next_arrival(), None, "only virtual time knows what will come");
    }
    assert_eq!(rig.near.counters(), PortCounters::default());
}

fn empty_receive(rig: &mut Rig) {
    let Rig { near, far } = rig;
    for port in std::iter::once(near).chain(far) {
        assert!(receive(port.as_mut(), 64).is_empty());
        assert_eq!(port.receive(LATE, 0, &mut |_| panic!("nothing was asked for")).expect("reads"), 0);
        assert_eq!(port.counters().rx_frames, 0);
    }
}

fn content_and_order(rig: &mut Rig) {
    let lengths: Vec<usize> = (60..=max_frame(rig))
        .step_by(max_frame(rig) / 128)
        .chain([max_frame(rig)])
        .collect();
    for (batch, lengths) in lengths.chunks(64).enumerate() {
        let frames: Vec<_> = lengths
            .iter()
            .enumerate()
            .map(|(index, len)| frame((batch * 64 + index) as u64, *len))
            .collect();
        send_all(rig.near.as_mut(), &frames);
        if let Some(far) = &mut rig.far {
            // Compared one by one, so that a failure prints one frame.
            for (index, (got, sent)) in collect(far.as_mut(), frames.len()).iter().zip(&frames).enumerate() {
                assert_eq!(got, sent, "frame {index} of batch {batch}");
            }
        }
    }
}

fn short_frames(rig: &mut Rig) {
    let frames: Vec<_> = [14, 42, 59].iter().map(|len| frame(*len as u64, *len)).collect();
    send_all(rig.near.as_mut(), &frames);
    if let Some(far) = &mut rig.far {
        assert_eq!(collect(far.as_mut(), 3), frames);
    }
}

fn limits(rig: &mut Rig) {
    assert_eq!(rig.near.transmit(LATE, 0, &mut |_| 0).expect("transmits"), 0);
    let mut number = 0;
    for limit in [1, 2, 3, 17] {
        let taken = rig.near.transmit(LATE, limit, &mut |burst| {
            assert!((1..=limit).contains(&burst.len()));
            for index in 0..burst.len() {
                write_frame(number, &mut burst.frame_mut(index)[..64]);
                burst.set(index, 64, Instant::ZERO);
                number += 1;
            }
            burst.len()
        });
        assert_eq!(taken.expect("transmits"), limit);
    }
    let Some(far) = &mut rig.far else { return };
    let mut got = Vec::new();
    for limit in [1, 5, 2, 1] {
        let lent = receive(far.as_mut(), limit);
        assert!(lent.len() <= limit);
        got.extend(lent);
    }
    got.extend(collect(far.as_mut(), 23 - got.len()));
    assert_eq!(got, (0..23).map(|number| frame(number, 64)).collect::<Vec<_>>());
}

fn partial_fill(rig: &mut Rig) {
    for (number, wrote) in [(0, 0), (10, 1), (20, 3)] {
        let taken = rig.near.transmit(LATE, 8, &mut |burst| {
            // Writes into more slots than it then claims.
            for index in 0..burst.len() {
                write_frame(number + index as u64, &mut burst.frame_mut(index)[..80]);
                burst.set(index, 80, Instant::ZERO);
            }
            wrote
        });
        assert_eq!(taken.expect("transmits"), wrote);
    }
    if let Some(far) = &mut rig.far {
        let sent: Vec<_> = [10, 20, 21, 22].iter().map(|number| frame(*number, 80)).collect();
        assert_eq!(collect(far.as_mut(), 4), sent);
    }
}

fn whole_slots(rig: &mut Rig) {
    let most = max_frame(rig);
    for _ in 0..200 {
        let taken = rig.near.transmit(LATE, 64, &mut |burst| {
            for index in 0..burst.len() {
                assert_eq!(burst.frame(index).len(), most, "an earlier frame has left its length");
                write_frame(0, &mut burst.frame_mut(index)[..60]);
                burst.set(index, 60, Instant::ZERO);
            }
            burst.len() / 2 + 1
        });
        assert!(taken.expect("transmits") > 0);
        if let Some(far) = &mut rig.far {
            while !receive(far.as_mut(), 64).is_empty() {}
        }
    }
}

fn refusals(rig: &mut Rig) {
    let good = frame(1, 64);
    for len in [0, 13, max_frame(rig) + 1] {
        let answer = rig.near.transmit(LATE, 4, &mut |burst| {
            for index in 0..2 {
                burst.frame_mut(index)[..64].copy_from_slice(&good);
            }
            burst.set(0, 64, Instant::ZERO);
            burst.set(1, len, Instant::ZERO);
            2
        });
        let Err(PortError::Unfit { port, why }) = answer else {
            panic!("{len} bytes: {answer:?}")
        };
        assert_eq!(port, "nd0");
        assert!(why.contains("frame 1 of a burst") && why.contains(&len.to_string()), "{why}");
    }
    let answer = rig.near.transmit(LATE, 4, &mut |burst| burst.len() + 1);
    assert!(matches!(answer, Err(PortError::Unfit { .. })), "{answer:?}");
    // Nothing of a refused burst is sent or counted, and the port goes on.
    assert_eq!(rig.near.counters().tx_frames, 0);
    assert_eq!(
        send_at(rig.near.as_mut(), Instant::ZERO, std::slice::from_ref(&good)).expect("goes on"),
        1
    );
    if let Some(far) = &mut rig.far {
        assert_eq!(collect(far.as_mut(), 1), [good]);
    }
}

fn wrap_around(rig: &mut Rig) {
    // Bursts of 1 to 61 frames, 10,000 in all: around every ring at least twice, at every alignment.
    let mut number = 0;
    for round in 0..330 {
        let frames: Vec<_> = (0..1 + round * 7 % 61)
            .map(|index| frame(number + index, 60 + (index as usize % 60)))
            .collect();
        number += frames.len() as u64;
        send_all(rig.near.as_mut(), &frames);
        if let Some(far) = &mut rig.far {
            let got = gather(far.as_mut(), frames.len(), 1 + round as usize % 64);
            assert!(got == frames, "round {round}");
        }
    }
    assert_eq!(rig.near.counters().tx_frames, number);
}

fn both_ways(rig: &mut Rig) {
    let Rig { near, far: Some(far) } = rig else { return };
    for round in 0..50 {
        let (there, back) = (frame(round, 60), frame(1000 + round, 100));
        send_all(near.as_mut(), std::slice::from_ref(&there));
        send_all(far.as_mut(), &[back.clone(), there.clone()]);
        assert_eq!(gather(near.as_mut(), 2, 64), [back, there.clone()]);
        assert_eq!(gather(far.as_mut(), 1, 64), [there]);
    }
}

fn counters(rig: &mut Rig) {
    let frames: Vec<_> = (0..50).map(|number| frame(number, 64)).collect();
    send_all(rig.near.as_mut(), &frames);
    send_all(rig.near.as_mut(), &frames[..7]);
    let sent = PortCounters {
        tx_frames: 57,
        ..PortCounters::default()
    };
    assert_eq!(rig.near.counters(), sent);
    if let Some(far) = &mut rig.far {
        assert_eq!(far.counters(), PortCounters::default(), "counted when lent, not when sent");
        collect(far.as_mut(), 57);
        let received = PortCounters {
            rx_frames: 57,
            ..PortCounters::default()
        };
        assert_eq!(far.counters(), received);
        assert_eq!(rig.near.counters(), sent);
    }
}
