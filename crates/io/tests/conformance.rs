//! What every port does, whatever carries its frames. Runs over the table of backends; a new backend that needs options only
//! has to say, in a test of its own, how two of its ports come to face each other.

mod support;

use netdyno_io::backend::af_packet::AfPacket;
use netdyno_io::backend::af_xdp::{AfXdp, Attach, Mode};
use netdyno_io::backend::memif::{Memif, Role};
use netdyno_io::backend::null::Null;
use netdyno_io::backend::ring::Ring;
use netdyno_io::backend::wire::Wire;
use netdyno_io::backend::{self, BACKENDS, BackendSpec, CableEnd, LinkSpec, Placement, PortAsk};
use netdyno_io::claim::Claim;
use netdyno_io::port::{Port, PortCounters, PortError};
use netdyno_io::pressure::BackPressure;
use netdyno_io::time::{Duration, Instant};
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

/// The longest frames that each backend is checked with, without FCS.
const LENGTHS: [u32; 3] = [128, 1514, 9014];

/// The backends that cannot be opened without options: how two of their ports come to face each other is said in a test of their
/// own, `NAME_conforms`.
const WITH_OPTIONS: &[&str] = &["af_packet", "af_xdp", "memif"];

#[test]
fn every_backend_without_options_conforms() {
    for backend in BACKENDS.iter().filter(|backend| !WITH_OPTIONS.contains(&backend.name)) {
        let spec: BackendSpec = serde_json::from_value(serde_json::json!({"kind": backend.name}))
            .unwrap_or_else(|why| panic!("`{}` needs a test of its own, and a place in WITH_OPTIONS: {why}", backend.name));
        for max_frame in LENGTHS {
            check_all(backend.name, max_frame, || {
                if backend.is_linked {
                    let link = LinkSpec::new("nd0", "nd1", 10_000_000_000, max_frame);
                    let [near, far] = backend::pair(&spec, &link).expect("the link can be built");
                    Rig { near, far: Some(far) }
                } else {
                    let near = backend::open("nd0", &spec, max_frame).expect("the port opens");
                    Rig { near, far: None }
                }
            });
        }
    }
}

#[test]
fn af_packet_conforms() {
    for max_frame in LENGTHS {
        // The check is the whole test program's: opening and checking happen inside the namespace.
        namespace::with_veth("af_packet_conforms", max_frame - 14, move || {
            check_all("af_packet", max_frame, || {
                let [near, far] = namespace::ENDS.map(|interface| {
                    let interface = interface.to_owned();
                    backend::open(&interface.clone(), &AfPacket { interface }.into(), max_frame).unwrap_or_else(|error| panic!("{error}"))
                });
                Rig { near, far: Some(far) }
            });
        });
    }
}

#[test]
fn af_xdp_conforms() {
    for max_frame in LENGTHS {
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
                        let spec = AfXdp {
                            interface: interface.to_owned(),
                            attach,
                            mode: Mode::Auto,
                        };
                        let mut port = backend::open(interface, &spec.into(), max_frame).unwrap_or_else(|error| panic!("{error}"));
                        port.claim(&[Claim::EVERYTHING]).expect("everything can be claimed");
                        port
                    });
                    Rig { near, far: Some(far) }
                });
            }
        });
    }
}

#[test]
fn memif_conforms() {
    for max_frame in LENGTHS {
        // Each end in each role, since they are different code.
        for near_role in [Role::Client, Role::Server] {
            check_all(&format!("memif {near_role:?}"), max_frame, || {
                let socket = abstract_socket();
                let open = |name, role| {
                    backend::open(name, &Memif::new(&socket, role).into(), max_frame).unwrap_or_else(|error| panic!("{error}"))
                };
                let far_role = if near_role == Role::Client { Role::Server } else { Role::Client };
                let (mut near, mut far) = (open("nd0", near_role), open("nd1", far_role));
                near.ready().expect("the peer is there");
                far.ready().expect("the peer is there");
                Rig { near, far: Some(far) }
            });
        }
    }
}

fn check_all(backend: &str, max_frame: u32, rig: impl Fn() -> Rig) {
    for (what, check) in CHECKS {
        println!("{backend}, frames up to {max_frame}: {what}");
        check(&mut rig());
    }
}

#[test]
fn every_backend_of_the_table_has_one_name_and_refuses_unknown_options() {
    for backend in BACKENDS {
        assert!(!backend.doc.is_empty() && backend.doc.len() < 120, "one line for {}", backend.name);
        let surplus = serde_json::json!({"kind": backend.name, "no_such_option": 1});
        let why = serde_json::from_value::<BackendSpec>(surplus)
            .expect_err("an unknown option")
            .to_string();
        assert!(why.contains("unknown field `no_such_option`"), "{}: {why}", backend.name);
        let file = format!("{}/src/backend/{}", env!("CARGO_MANIFEST_DIR"), backend.name);
        assert!(
            [format!("{file}.rs"), format!("{file}/mod.rs")]
                .iter()
                .any(|file| std::path::Path::new(file).exists()),
            "{file}"
        );
        assert_eq!(BACKENDS.iter().filter(|other| other.name == backend.name).count(), 1);
    }
    let unknown = serde_json::from_value::<BackendSpec>(serde_json::json!({"kind": "none"})).expect_err("no such backend");
    let names: Vec<_> = BACKENDS.iter().map(|backend| format!("`{}`", backend.name)).collect();
    assert!(
        unknown.to_string().ends_with(&format!("expected one of {}", names.join(", "))),
        "{unknown}"
    );
}

#[test]
fn all_ports_of_a_session_are_opened_together_in_their_order() {
    let (wire, null) = (Wire {}.into(), Null {}.into());
    let ask = |name, spec, queues, cable: Option<usize>| PortAsk {
        name,
        spec,
        max_frame: 1514,
        queues,
        may_go: false,
        end: cable.map(|cable| CableEnd {
            cable,
            rate_bps: 1_000_000_000 * (cable as u64 + 1),
            propagation: Duration::ZERO,
            spread: |_| 0,
        }),
    };
    let asks = [
        ask("a", &wire, 1, Some(0)),
        ask("b", &null, 3, None),
        ask("c", &wire, 1, Some(1)),
        ask("d", &wire, 1, Some(1)),
        ask("e", &wire, 1, Some(0)),
    ];
    let opened = backend::open_all(&asks, &Placement::default()).expect("opens");
    let found: Vec<_> = opened
        .iter()
        .map(|queues| (queues[0].info().name.as_str(), queues[0].info().rate_bps, queues.len()))
        .collect();
    assert_eq!(
        found,
        [
            ("a", 1_000_000_000, 1),
            ("b", 0, 3),
            ("c", 2_000_000_000, 1),
            ("d", 2_000_000_000, 1),
            ("e", 1_000_000_000, 1)
        ]
    );
    for (asks, expected) in [
        (
            vec![ask("a", &wire, 1, Some(0)), ask("b", &wire, 1, Some(1))],
            "port `a`: cable 0 does not have two ends",
        ),
        (
            vec![
                ask("a", &wire, 1, Some(0)),
                ask("b", &wire, 1, Some(0)),
                ask("c", &wire, 1, Some(0)),
            ],
            "port `a`: cable 0 does not have two ends",
        ),
        (
            vec![ask("a", &wire, 2, Some(0)), ask("b", &wire, 1, Some(0))],
            "port `a`: a `wire` port cannot be 2 queues",
        ),
        (vec![ask("a", &null, 0, None)], "port `a`: a `null` port cannot be 0 queues"),
    ] {
        let Err(error) = backend::open_all(&asks, &Placement::default()) else {
            panic!("{expected}")
        };
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_ring_of_several_queues_faces_as_many_or_one_port() {
    let ring = Ring {}.into();
    let counts = |near, far| {
        let ask = |name, queues| PortAsk {
            name,
            spec: &ring,
            max_frame: 1514,
            queues,
            may_go: false,
            end: Some(CableEnd {
                cable: 7,
                rate_bps: 0,
                propagation: Duration::ZERO,
                spread: |frame| u32::from(frame[0]),
            }),
        };
        let opened = backend::open_all(&[ask("near", near), ask("far", far)], &Placement::default())?;
        Ok::<_, PortError>(
            opened
                .iter()
                .map(|queues| (queues[0].info().name.clone(), queues.len()))
                .collect::<Vec<_>>(),
        )
    };
    for (near, far) in [(1, 1), (2, 2), (3, 1), (1, 3)] {
        assert_eq!(
            counts(near, far).expect("opens"),
            [("near".to_owned(), near), ("far".to_owned(), far)]
        );
    }
    assert!(counts(2, 3).is_err());
}

#[test]
fn a_linked_backend_is_not_opened_alone_and_the_other_way_round() {
    let Err(error) = backend::open("west", &Wire {}.into(), 1514) else {
        panic!("a wire has two ends")
    };
    assert_eq!(
        error.to_string(),
        "port `west`: a `wire` port is one end of a link; join it to an emulated device under `links`"
    );
    let Err(error) = backend::pair(&Null {}.into(), &LinkSpec::new("west", "east", 1, 1514)) else {
        panic!("null has no peer")
    };
    assert!(error.to_string().contains("only `wire`, `ring` are joined by links"), "{error}");
    assert!(backend::open("west", &Null {}.into(), 0).is_err());
    assert!(backend::open("west", &Null {}.into(), 1 << 20).is_err());
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
    assert_eq!(info.rate_bps, if info.has_exact_time() { 10_000_000_000 } else { 0 });
    if !info.has_exact_time() {
        assert_eq!(rig.near.next_arrival(), None, "only virtual time knows what will come");
    }
    assert_eq!(rig.near.counters(), unpressed(rig.near.as_ref()));
}

/// What a port has counted that has done nothing yet. How large its peer's ring is it says from the begin.
fn unpressed(port: &dyn Port) -> PortCounters {
    let ring = port.counters().back_pressure.map(|pressed| pressed.ring);
    PortCounters {
        back_pressure: ring.map(|ring| BackPressure {
            ring,
            ..BackPressure::default()
        }),
        ..PortCounters::default()
    }
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
        ..unpressed(rig.near.as_ref())
    };
    assert_eq!(rig.near.counters(), sent);
    if let Some(far) = &mut rig.far {
        assert_eq!(far.counters(), unpressed(far.as_ref()), "counted when lent, not when sent");
        collect(far.as_mut(), 57);
        let received = PortCounters {
            rx_frames: 57,
            ..unpressed(far.as_ref())
        };
        assert_eq!(far.counters(), received);
        assert_eq!(rig.near.counters(), sent);
    }
}
