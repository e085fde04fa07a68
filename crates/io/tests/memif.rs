//! memif against itself: queues in threads, peers that go and come back, sockets that are taken.

mod support;

use netdyno_io::backend::memif::{Memif, MemifPort, Role, open};
use netdyno_io::port::{Burst, Port, PortError, PortReason};
use netdyno_io::time::{Clock, Instant};
use support::{PATIENCE, abstract_socket, collect, frame, receive, send_all, send_at, write_frame};

fn ends(socket: &str, max_frame: u32, queues: usize) -> (Vec<MemifPort>, Vec<MemifPort>) {
    let make = |name, role| {
        let mut spec = Memif::new(socket, role);
        spec.ring_log2 = 10;
        open(name, &spec, max_frame, queues).expect("opens")
    };
    let (mut west, mut east) = (make("west", Role::Server), make("east", Role::Client));
    for port in west.iter_mut().chain(&mut east) {
        port.ready().expect("the other end is there");
    }
    (west, east)
}

fn one(socket: &str, role: Role) -> MemifPort {
    open("west", &Memif::new(socket, role), 1514, 1)
        .expect("opens")
        .pop()
        .expect("a queue")
}

/// Calls `try_it` until it answers, for as long as a test waits for anything.
fn until<T>(what: &str, mut try_it: impl FnMut() -> Option<T>) -> T {
    let clock = Clock::start();
    loop {
        if let Some(answer) = try_it() {
            return answer;
        }
        assert!(clock.now() < Instant::ZERO + PATIENCE, "{what} took too long");
        std::thread::yield_now();
    }
}

/// Sends and receives `frames` at once, each frame different, in order, none lost.
fn exchange(mut port: MemifPort, flavour: u64, frames: u64) -> MemifPort {
    let clock = Clock::start();
    let (mut sent, mut got) = (0, 0);
    while sent < frames || got < frames {
        let limit = (1 + sent % 97).min(frames - sent) as usize;
        sent += port
            .transmit(Instant::ZERO, limit, &mut |burst| {
                for index in 0..burst.len() {
                    let number = sent + index as u64;
                    let len = 60 + number as usize % 80;
                    write_frame(flavour + number, &mut burst.frame_mut(index)[..len]);
                    burst.set(index, len, Instant::ZERO);
                }
                burst.len()
            })
            .expect("transmits") as u64;
        let mut expected = [0; 140];
        let lent = port.receive(Instant::ZERO, 64, &mut |burst| {
            for index in 0..burst.len() {
                let len = 60 + got as usize % 80;
                write_frame(flavour + got, &mut expected[..len]);
                assert!(burst.frame(index) == &expected[..len], "frame {got}");
                got += 1;
            }
        });
        if lent.expect("receives") == 0 {
            std::thread::yield_now();
        }
        assert!(clock.now() < Instant::ZERO + PATIENCE, "{sent} sent, {got} received of {frames}");
    }
    assert_eq!((port.counters().tx_frames, port.counters().rx_frames), (frames, frames));
    port
}

#[test]
fn queues_used_by_their_own_threads_lose_nothing_and_tear_nothing() {
    for (queues, frames) in [(1, 200_000), (4, 30_000)] {
        let (west, east) = ends(&abstract_socket(), 1514, queues);
        // What goes into a queue comes out of that queue: each has frames of its own flavour.
        let threads: Vec<_> = west
            .into_iter()
            .enumerate()
            .chain(east.into_iter().enumerate())
            .map(|(queue, port)| std::thread::spawn(move || exchange(port, queue as u64 * 1_000_000, frames)))
            .collect();
        // Handed back before any is dropped: a dropped end is a closed connection for the others.
        let _ports: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().expect("the thread ended in order"))
            .collect();
    }
}

/// Two ends of one queue, of which the first has this role.
fn ends_with(west_is: Role) -> (MemifPort, MemifPort) {
    let (mut server, mut client) = ends(&abstract_socket(), 1514, 1);
    let (server, client) = (server.remove(0), client.remove(0));
    if west_is == Role::Server {
        (server, client)
    } else {
        (client, server)
    }
}

#[test]
fn a_full_ring_takes_what_fits_and_counts() {
    for west_is in [Role::Server, Role::Client] {
        let (mut west, mut east) = ends_with(west_is);
        let (west, east) = (&mut west, &mut east);
        let frames: Vec<_> = (0..1100).map(|number| frame(number, 60)).collect();
        let mut taken = 0;
        loop {
            match send_at(west, Instant::ZERO, &frames[taken..]).expect("transmits") {
                0 => break,
                more => taken += more,
            }
        }
        assert_eq!(taken, 1024, "{west_is:?}");
        assert_eq!((west.counters().tx_frames, west.counters().tx_full), (1024, 1));
        assert_eq!(east.counters().rx_full, 0, "has not looked");
        assert_eq!(receive(east, 3), frames[..3]);
        assert_eq!(east.counters().rx_full, 1, "{west_is:?}");
        let mut more = 0;
        while more < 3 {
            more += send_at(west, Instant::ZERO, &frames[1024 + more..]).expect("transmits");
        }
        assert_eq!(more, 3);
        assert_eq!(send_at(west, Instant::ZERO, &frames[1027..]).expect("transmits"), 0);
        assert_eq!(collect(east, 1024), frames[3..1027]);
    }
}

/// A ring of 1024 frames that is full from 10 us on: its reader takes one at 50, one at 120, then none until 400.
#[test]
fn back_pressure_is_the_time_between_looks_without_room() {
    for west_is in [Role::Server, Role::Client] {
        let (mut west, mut east) = ends_with(west_is);
        let (west, east) = (&mut west, &mut east);
        let frames: Vec<_> = (0..1024).map(|number| frame(number, 60)).collect();
        send_all(west, &frames);
        let look = |west: &mut MemifPort, at_us: u64| {
            let now = Instant::from_ns(at_us * 1000);
            let fill = &mut |burst: &mut Burst<'_>| {
                burst.set(0, 60, now);
                1
            };
            west.transmit(now, 1, fill).expect("transmits")
        };
        let pressed = |west: &MemifPort| west.counters().back_pressure.expect("a memif knows");
        assert_eq!((pressed(west).ring, pressed(west).full_ns), (1024, 0), "{west_is:?}");
        assert_eq!((look(west, 10), look(west, 40)), (0, 0));
        receive(east, 1);
        assert_eq!((look(west, 50), look(west, 60), look(west, 110)), (1, 0, 0));
        receive(east, 1);
        assert_eq!(look(west, 120), 1);
        // 10 to 40 and 60 to 110; neither was a stop.
        assert_eq!((pressed(west).full_ns, pressed(west).stops), (80_000, 0), "{west_is:?}");
        assert_eq!((look(west, 130), look(west, 390)), (0, 0));
        receive(east, 1);
        assert_eq!(look(west, 400), 1);
        let found = pressed(west);
        assert_eq!((found.full_ns, found.stops, found.stopped_ns), (340_000, 1, 270_000), "{west_is:?}");
        assert_eq!(west.counters().tx_full, 6, "{west_is:?}");
    }
}

/// The other end of these is this process: of both roles the kernel says so.
#[test]
fn the_process_at_the_other_end_is_known_while_connected() {
    let (west, east) = ends(&abstract_socket(), 1514, 1);
    assert_eq!(west[0].peer(), Some(std::process::id()));
    assert_eq!(east[0].peer(), Some(std::process::id()));
    drop(east);
    until("the end of the connection", || west[0].peer().is_none().then_some(()));
}

/// Full at 5 us, of which nothing was known since the begin; looked at and found empty until 9 us, full again at 50.
#[test]
fn time_before_a_full_poll_is_reported() {
    let (mut west, mut east) = ends(&abstract_socket(), 1514, 1);
    let (west, east) = (&mut west[0], &mut east[0]);
    let frames: Vec<_> = (0..1024).map(|number| frame(number, 60)).collect();
    let mut read_all = |at_us: u64, last_us: u64| {
        send_all(west, &frames);
        while east.receive(Instant::from_ns(at_us * 1000), 64, &mut |_| {}).expect("receives") > 0 {}
        while east.receive(Instant::from_ns(last_us * 1000), 64, &mut |_| {}).expect("receives") > 0 {}
        east.counters().rx_full_ns
    };
    assert_eq!(read_all(5, 9), 5_000);
    assert_eq!(read_all(50, 60), 5_000 + 41_000);
}

/// The client's buffers hold 124 bytes here, the server's frames up to 9014: they come in parts.
#[test]
fn frames_in_several_buffers_are_put_together_or_dropped_whole() {
    let socket = abstract_socket();
    let make = |name, role, max_frame| open(name, &Memif::new(&socket, role), max_frame, 1).expect("opens").remove(0);
    let (mut server, mut client) = (make("server", Role::Server, 9014), make("client", Role::Client, 124));
    server.ready().expect("comes");
    client.ready().expect("comes");
    let frames: Vec<_> = [60, 9014, 124, 125, 300, 61].iter().map(|len| frame(*len as u64, *len)).collect();
    send_all(&mut server, &frames);
    assert_eq!(collect(&mut client, 3), [frames[0].clone(), frames[2].clone(), frames[5].clone()]);
    assert_eq!((client.counters().rx_frames, client.counters().rx_cut), (3, 3));
    assert_eq!(server.counters().tx_frames, 6);
}

/// Frames in several of the peer's buffers, in a ring that is nearly full: as soon as the peer has read, there is room again,
/// however few frames are sent at once.
#[test]
fn frames_in_several_buffers_go_on_when_a_full_ring_is_read() {
    for at_once in [1, 3, 64] {
        let socket = abstract_socket();
        let make = |name, role, max_frame| {
            let mut spec = Memif::new(&socket, role);
            spec.ring_log2 = 6;
            open(name, &spec, max_frame, 1).expect("opens").remove(0)
        };
        let (mut server, mut client) = (make("server", Role::Server, 9014), make("client", Role::Client, 2042));
        server.ready().expect("comes");
        client.ready().expect("comes");
        // 64 buffers, all filled but some that the next long frame needs more of.
        send_all(&mut server, &[frame(1, 60), frame(2, 60)]);
        let long = vec![frame(3, 8996); at_once];
        while send_at(&mut server, Instant::ZERO, &long).expect("transmits") > 0 {}
        let before = server.counters();
        assert!((10..=15).contains(&before.tx_frames), "{before:?}");
        // Short ones still fit, and are not held up by the long ones before them.
        assert_eq!(send_at(&mut server, Instant::ZERO, &[frame(4, 60)]).expect("transmits"), 1);
        // Longer than the client takes, so they are read and dropped.
        assert_eq!(collect(&mut client, 3), [frame(1, 60), frame(2, 60), frame(4, 60)]);
        assert_eq!(client.counters().rx_cut, before.tx_frames - 2);
        let mut sent = 0;
        until("sending on", || {
            sent += send_at(&mut server, Instant::ZERO, &long).expect("transmits");
            while client.receive(Instant::ZERO, 64, &mut |_| {}).expect("receives") > 0 {}
            (sent >= 200).then_some(())
        });
        assert_eq!(client.counters().rx_cut, before.tx_frames - 2 + sent as u64);
    }
}

/// A ring whose buffers together are shorter than a frame will never have room for it: that is said.
#[test]
fn a_frame_longer_than_all_buffers_of_the_peer_is_an_error() {
    let socket = abstract_socket();
    let make = |name, role, max_frame| {
        let mut spec = Memif::new(&socket, role);
        spec.ring_log2 = 2;
        open(name, &spec, max_frame, 1).expect("opens").remove(0)
    };
    let (mut server, mut client) = (make("server", Role::Server, 9014), make("client", Role::Client, 124));
    server.ready().expect("comes");
    client.ready().expect("comes");
    send_all(&mut server, &[frame(1, 60)]);
    assert_eq!(collect(&mut client, 1), [frame(1, 60)]);
    let error = until("the reason", || send_at(&mut server, Instant::ZERO, &[frame(2, 8996)]).err());
    assert!(matches!(error, PortError::Gone { .. }), "{error}");
    assert!(
        error.to_string().contains("a frame of 8996 bytes takes more than all 4 buffers"),
        "{error}"
    );
}

#[test]
fn a_port_whose_peer_goes_is_gone_once_and_works_again_when_it_is_back() {
    for stays in [Role::Server, Role::Client] {
        let goes = if stays == Role::Server { Role::Client } else { Role::Server };
        let socket = abstract_socket();
        let mut west = one(&socket, stays);
        for round in 0..5 {
            let mut east = one(&socket, goes);
            west.ready().expect("comes");
            east.ready().expect("comes");
            send_all(&mut west, &[frame(round, 60)]);
            assert_eq!(collect(&mut east, 1), [frame(round, 60)]);
            // What lies in the rings when the peer goes is nobody's.
            send_all(&mut east, &[frame(7, 60)]);
            send_all(&mut west, &[frame(8, 60)]);
            drop(east);
            let gone = until("the end of the connection", || {
                send_at(&mut west, Instant::ZERO, &[frame(9, 60)]).err()
            });
            let PortError::Gone { port, why } = gone else { panic!("{gone}") };
            assert_eq!(port, "west");
            assert!(why.contains("netdyno closed this port"), "{why}");
            // Said once: from then on it is away, with no frame of the old ring left.
            let before = west.counters();
            assert_eq!(send_at(&mut west, Instant::ZERO, &[frame(9, 60)]).expect("only away"), 0);
            let counted = west.counters().since(&before);
            assert_eq!((counted.tx_no_peer, counted.tx_full), (1, 0));
            assert_eq!(counted.back_pressure.map(|pressed| pressed.full_ns), Some(0));
            assert!(receive(&mut west, 64).is_empty());
        }
    }
}

#[test]
fn a_port_whose_peer_went_and_came_back_between_trials_is_ready() {
    let socket = abstract_socket();
    let mut west = one(&socket, Role::Server);
    for round in 0..3 {
        let mut east = one(&socket, Role::Client);
        east.ready().expect("comes");
        // Without a call that would have noticed that the last one went.
        west.ready().expect("comes");
        send_all(&mut east, &[frame(round, 60)]);
        assert_eq!(collect(&mut west, 1), [frame(round, 60)]);
    }
}

#[test]
fn patience_ends_with_the_reason_and_a_port_without_limit_is_only_silent() {
    let socket = abstract_socket();
    let mut spec = Memif::new(&socket, Role::Client);
    spec.patience_ms = Some(5);
    let mut west = open("west", &spec, 1514, 1).expect("opens").remove(0);
    let refused = west.ready().expect_err("nobody is there").reason();
    let gone = until("patience", || west.receive(Instant::ZERO, 1, &mut |_| {}).err()).reason();
    for reason in [refused, gone] {
        let PortReason::NobodyListens {
            port,
            waited_ms: 5,
            socket: at,
            is_left_over: false,
            ..
        } = reason
        else {
            panic!("{reason:?}")
        };
        assert_eq!((port, at), ("west".to_owned(), socket.clone()));
    }
    assert_eq!(west.receive(Instant::ZERO, 1, &mut |_| {}).expect("patient again"), 0);

    drop(west);
    spec.patience_ms = None;
    let mut silent = open("east", &spec, 1514, 1).expect("opens").remove(0);
    silent.ready().expect("does not wait");
    assert_eq!(send_at(&mut silent, Instant::ZERO, &[frame(1, 60)]).expect("away"), 0);
    let mut peer = one(&socket, Role::Server);
    peer.ready().expect("comes");
    until("the connection", || {
        (send_at(&mut silent, Instant::ZERO, &[frame(1, 60)]).expect("takes") == 1).then_some(())
    });
    drop(peer);
    until("its end", || {
        (send_at(&mut silent, Instant::ZERO, &[frame(1, 60)]).expect("no error") == 0).then_some(())
    });
}

#[test]
fn refusal_of_a_peer_with_fewer_queues_has_its_own_code() {
    let socket = abstract_socket();
    let mut spec = Memif::new(&socket, Role::Server);
    spec.patience_ms = Some(20_000);
    let _server = open("server", &spec, 1514, 1).expect("opens");
    (spec.role, spec.patience_ms) = (Role::Client, Some(300));
    let mut client = open("client", &spec, 1514, 2).expect("opens").remove(0);
    let refused = client.ready().expect_err("the server has one queue").reason();
    assert_eq!(refused.code(), "memif-fewer-queues", "{refused}");
    drop(client);
    // The other way round the client brings too few.
    let socket = abstract_socket();
    (spec.socket, spec.role) = (socket.clone(), Role::Server);
    let mut server = open("server", &spec, 1514, 2).expect("opens").remove(0);
    spec.role = Role::Client;
    let _client = open("client", &spec, 1514, 1).expect("opens");
    let refused = server.ready().expect_err("the client has one queue").reason();
    assert_eq!(refused.code(), "memif-fewer-queues", "{refused}");
}

#[test]
fn socket_file_whose_server_was_killed_is_left_over() {
    let folder = std::env::temp_dir().join(format!("netdyno-left-over-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("dut.sock");
    // Closed, and its file stays: what a server leaves that was killed.
    drop(std::os::unix::net::UnixListener::bind(&file).expect("a socket"));
    for (name, is_there) in [("dut.sock", true), ("none.sock", false)] {
        let mut spec = Memif::new(&folder.join(name).to_string_lossy(), Role::Client);
        spec.patience_ms = Some(100);
        let mut west = open("west", &spec, 1514, 1).expect("opens").remove(0);
        let reason = west.ready().expect_err("nobody listens").reason();
        let PortReason::NobodyListens { is_left_over, .. } = reason else {
            panic!("{reason:?}")
        };
        assert_eq!(is_left_over, is_there, "{name}: {reason}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn second_peer_learns_the_name_of_the_first() {
    let socket = abstract_socket();
    let (mut west, mut east) = ends(&socket, 1514, 1);
    let mut spec = Memif::new(&socket, Role::Client);
    spec.patience_ms = Some(500);
    let mut second = open("second", &spec, 1514, 1).expect("opens").remove(0);
    let refused = second.ready().expect_err("taken").to_string();
    assert!(refused.contains("already connected to netdyno"), "{refused}");
    send_all(&mut west[0], &[frame(1, 60)]);
    assert_eq!(collect(&mut east[0], 1), [frame(1, 60)], "the first is not disturbed");
    drop(east);
    spec.patience_ms = Some(20_000);
    let mut third = open("third", &spec, 1514, 1).expect("opens").remove(0);
    drop(second);
    third.ready().expect("its turn");
}

#[test]
fn peer_name_without_the_secret_is_not_sent() {
    let socket = abstract_socket();
    let end = |name, role, secret: &str| {
        let mut spec = Memif::new(&socket, role);
        (spec.secret, spec.patience_ms) = (secret.to_owned(), Some(500));
        open(name, &spec, 1514, 1).expect("opens").remove(0)
    };
    let mut west = end("west", Role::Server, "lab 7");
    let mut east = end("east", Role::Client, "lab 7");
    west.ready().expect("comes");
    east.ready().expect("comes");
    for (secret, told) in [("lab 8", "the secret does not match"), ("lab 7", "already connected to netdyno")] {
        let refused = end("stranger", Role::Client, secret).ready().expect_err("taken").to_string();
        assert!(refused.contains(told), "{refused}");
        assert_eq!(refused.contains("already connected"), secret == "lab 7", "{refused}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    let refused = |client: &dyn Fn(&mut Memif), queues, expected: &str| {
        let socket = abstract_socket();
        let mut server = Memif::new(&socket, Role::Server);
        server.secret = "abc".to_owned();
        let _server = open("west", &server, 1514, 2).expect("opens");
        let mut spec = Memif::new(&socket, Role::Client);
        spec.secret = "abc".to_owned();
        spec.patience_ms = Some(2000);
        client(&mut spec);
        let mut ports = open("east", &spec, 1514, queues).expect("opens");
        // On a busy machine no answer may have come by the end of the first wait.
        let clock = Clock::start();
        loop {
            match ports[0].ready() {
                Ok(()) => assert_eq!(expected, ""),
                Err(why) if !expected.is_empty() && why.to_string().contains(expected) => {}
                Err(why) => {
                    assert!(clock.now() < Instant::ZERO + PATIENCE, "{why}");
                    continue;
                }
            }
            break;
        }
    };
    refused(&|_| {}, 2, "");
    let short = |spec: &mut Memif| spec.patience_ms = Some(500);
    refused(
        &|spec| {
            short(spec);
            spec.id = 7;
        },
        2,
        "the peer refused: no interface 7 here; there is 0",
    );
    refused(
        &|spec| {
            short(spec);
            spec.secret = "abd".to_owned();
        },
        2,
        "the peer refused: the secret does not match",
    );
    refused(&short, 4, "the peer takes 2 at most and this port has 4 queues: give both as many");
    refused(&short, 1, "the peer refused: 1 of 2 queues have their rings");
}

#[test]
fn a_stale_socket_is_replaced_a_living_one_is_not_and_ours_is_removed() {
    let folder = std::env::temp_dir().join(format!("netdyno-io-memif-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("west.sock");
    let socket = path.to_str().expect("a path");
    // What a killed process leaves: bound, and nobody listens.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("binds"));
    assert!(path.exists());
    let mut first = one(socket, Role::Server);
    let error = open("east", &Memif::new(socket, Role::Server), 1514, 1)
        .expect_err("taken")
        .to_string();
    assert!(
        error.contains(socket) && error.contains("interface 0 is served there already"),
        "{error}"
    );
    let mut client = one(socket, Role::Client);
    client.ready().expect("comes");
    first.ready().expect("comes");
    drop(first);
    assert!(!path.exists(), "removed with the port");
    // Nothing but a socket is replaced.
    std::fs::write(&path, "a file").expect("writes");
    let error = open("west", &Memif::new(socket, Role::Server), 1514, 1).expect_err("a file");
    assert!(error.to_string().contains("the path exists and is no socket"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), "a file");
    std::fs::remove_dir_all(&folder).expect("removes");
}

#[test]
fn several_servers_share_a_socket_each_with_a_number_of_its_own() {
    let folder = std::env::temp_dir().join(format!("netdyno-io-memif-shared-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("both.sock");
    let end = |role, id, queues| {
        let mut spec = Memif::new(path.to_str().expect("a path"), role);
        (spec.id, spec.patience_ms) = (id, Some(20_000));
        open(&format!("{role:?} {id}"), &spec, 1514, queues).expect("opens")
    };
    // Another number of queues each: what one has is not asked of the other's client.
    let mut three = end(Role::Server, 3, 1);
    let mut four = end(Role::Server, 4, 2);
    let mut to_four = end(Role::Client, 4, 2);
    let mut to_three = end(Role::Client, 3, 1);
    let exchange = |near: &mut MemifPort, far: &mut MemifPort, number| {
        for port in [&mut *near, &mut *far] {
            port.ready().expect("its peer comes");
        }
        send_all(near, &[frame(number, 60)]);
        assert_eq!(collect(far, 1), [frame(number, 60)]);
        send_all(far, &[frame(number + 100, 60)]);
        assert_eq!(collect(near, 1), [frame(number + 100, 60)]);
    };
    exchange(&mut three[0], &mut to_three[0], 1);
    exchange(&mut four[0], &mut to_four[0], 2);
    exchange(&mut four[1], &mut to_four[1], 3);
    // One that is gone is followed by the next, whoever else is connected.
    drop(to_three);
    let mut next = end(Role::Client, 3, 1);
    let clock = Clock::start();
    while three[0].ready().is_err() || next[0].ready().is_err() {
        assert!(clock.now() < Instant::ZERO + PATIENCE, "the next one is not served");
    }
    exchange(&mut three[0], &mut next[0], 4);
    exchange(&mut four[0], &mut to_four[0], 5);
    // The socket stays as long as one is left.
    drop(three);
    assert!(path.exists());
    exchange(&mut four[0], &mut to_four[0], 6);
    let mut again = end(Role::Server, 3, 1);
    exchange(&mut again[0], &mut next[0], 7);
    drop((four, again));
    assert!(!path.exists());
    std::fs::remove_dir_all(&folder).expect("removes");
}

#[test]
fn parameters_that_cannot_be_are_refused() {
    let refuse = |change: &dyn Fn(&mut Memif), max_frame, queues| {
        let mut spec = Memif::new(&abstract_socket(), Role::Client);
        change(&mut spec);
        open("west", &spec, max_frame, queues).expect_err("refused").to_string()
    };
    let whole = |_: &mut Memif| {};
    assert!(refuse(&whole, 1514, 0).contains("0 queues; a memif port has 1 to 64"));
    assert!(refuse(&whole, 1514, 65).contains("65 queues"));
    assert!(refuse(&|spec| spec.ring_log2 = 15, 1514, 1).contains("2^1 to 2^14"));
    assert!(refuse(&|spec| spec.ring_log2 = 14, 65_536, 64).contains("memif reaches 4096 MiB"));
    assert!(refuse(&|spec| spec.secret = "x".repeat(24), 1514, 1).contains("23 bytes"));
    let long = |spec: &mut Memif| {
        spec.socket = "x".repeat(200);
        spec.role = Role::Server;
    };
    assert!(refuse(&long, 1514, 1).contains("2 to 107 bytes, this one 200"));
}
