//! memif against DPDK's testpmd in both roles: another reading of the protocol than ours. Debian has it in `dpdk-dev`;
//! where it is not, these tests say so.

mod support;

use netdyno_io::backend::memif::{Memif, MemifPort, Role, open};
use netdyno_io::drive::available_cores;
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::{Clock, Duration, Instant, sleep};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use support::{PATIENCE, frame, gather, receive, send_all, send_at};

/// Longer than testpmd takes to start on a busy machine.
const START_MS: u32 = 60_000;
/// How often a peer is killed.
const KILLS: u64 = 20;

/// A folder of the test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    /// `None`, and why on stdout, where there is no testpmd to test with.
    fn with_testpmd(test: &str) -> Option<Self> {
        let there = Command::new("dpdk-testpmd").arg("--version").stdin(Stdio::null()).output();
        if let Err(why) = there {
            println!("SKIPPED {test}: no dpdk-testpmd ({why}): apt-get install dpdk-dev");
            return None;
        }
        let cores = available_cores().expect("cores");
        if cores.len() < 2 {
            println!("SKIPPED {test}: testpmd takes two cores, here is {}", cores.len());
            return None;
        }
        let folder = std::env::temp_dir().join(format!("netdyno-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Some(Self(folder))
    }

    fn socket(&self) -> String {
        self.0.join("memif.sock").to_str().expect("a path").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A testpmd that gives back what it gets, until it is killed.
struct Testpmd(Child);

impl Testpmd {
    fn start(folder: &Path, role: &str, socket: &str) -> Self {
        Self::with(folder, &[&format!("role={role},id=3,socket={socket},socket-abstract=no")])
    }

    /// With these memifs.
    fn with(folder: &Path, memifs: &[&str]) -> Self {
        Self::with_queues(folder, memifs, 1)
    }

    /// With so many queues each; a frame goes back by the queue it came by.
    fn with_queues(folder: &Path, memifs: &[&str], queues: usize) -> Self {
        let cores = available_cores().expect("cores");
        let child = Command::new("dpdk-testpmd")
            .args(["-l", &format!("{},{}", cores[0], cores[1])])
            .args(["--no-pci", "--no-huge", "-m", "128", "--no-telemetry", "--file-prefix", "netdyno"])
            .args(
                memifs
                    .iter()
                    .enumerate()
                    .flat_map(|(index, it)| ["--vdev".to_owned(), format!("net_memif{index},{it}")]),
            )
            .args(["--", "--forward-mode=io", "--nb-cores=1", "--no-mlockall", "--total-num-mbufs=4096"])
            .args([format!("--rxq={queues}"), format!("--txq={queues}")])
            // Where it keeps its own files; its standard input is open, or it would end.
            .env("RUNTIME_DIRECTORY", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        Self(child)
    }

    fn kill(&mut self) {
        // SIGKILL.
        self.0.kill().expect("its own child");
        self.0.wait().expect("ends");
    }
}

impl Drop for Testpmd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn port(socket: &str, role: Role) -> MemifPort {
    queues(socket, role, 1).remove(0)
}

fn queues(socket: &str, role: Role, count: usize) -> Vec<MemifPort> {
    let mut spec = Memif::new(socket, role);
    spec.id = 3;
    spec.patience_ms = Some(START_MS);
    open("west", &spec, 1514, count).expect("opens")
}

/// Waits until testpmd forwards: what it finds in its queues before it begins, it throws away.
fn alive(port: &mut MemifPort) {
    port.ready().expect("testpmd comes");
    let clock = Clock::start();
    let probe = [frame(u64::MAX, 60)];
    let mut sent = 0;
    while receive(port, 64).is_empty() {
        assert!(clock.now() < Instant::ZERO + PATIENCE, "testpmd does not forward");
        sent += send_at(port, Instant::ZERO, &probe).expect("transmits");
        sleep(Duration::from_ms(5));
    }
    // Of the probes that are still under way none is to be taken for what follows.
    let last = [frame(u64::MAX - 1, 60)];
    send_all(port, &last);
    while receive(port, 1) != last {
        assert!(clock.now() < Instant::ZERO + PATIENCE, "{sent} probes and no end");
    }
}

/// Sends frames of this round, few at a time, and takes each back: the same, in order, none lost, none of earlier.
fn echo(port: &mut MemifPort, round: u64, batches: u64) {
    for batch in 0..batches {
        let frames: Vec<_> = (0..64)
            .map(|index| frame((round << 32) + batch * 64 + index, 60 + (index as usize * 23) % 1454))
            .collect();
        send_all(port, &frames);
        assert!(gather(port, frames.len(), 64) == frames, "round {round}, batch {batch}");
    }
}

#[test]
fn testpmd_as_server_gives_every_frame_back() {
    let Some(folder) = Folder::with_testpmd("testpmd_server") else {
        return;
    };
    let _peer = Testpmd::start(&folder.0, "server", &folder.socket());
    let mut port = port(&folder.socket(), Role::Client);
    alive(&mut port);
    echo(&mut port, 0, 100);
}

#[test]
fn testpmd_as_client_gives_every_frame_back() {
    let Some(folder) = Folder::with_testpmd("testpmd_client") else {
        return;
    };
    let mut port = port(&folder.socket(), Role::Server);
    for round in 0..3 {
        // A client that was killed is followed by the next one.
        let mut peer = Testpmd::start(&folder.0, "client", &folder.socket());
        alive(&mut port);
        echo(&mut port, round, 50);
        peer.kill();
        gone(&mut port);
    }
}

/// testpmd's buffers have 2048 bytes: longer frames come and go in several, and each time that the ring was full they go on, and
/// shorter ones after them.
#[test]
fn testpmd_as_client_gives_long_frames_back() {
    let Some(folder) = Folder::with_testpmd("testpmd_long") else {
        return;
    };
    let mut spec = Memif::new(&folder.socket(), Role::Server);
    (spec.id, spec.patience_ms) = (3, Some(START_MS));
    let mut port = open("west", &spec, 9014, 1).expect("opens").remove(0);
    let _peer = Testpmd::start(&folder.0, "client", &folder.socket());
    alive(&mut port);
    // Several times what the ring has room for, a few at a time. Each length goes through places of the ring where the one
    // before it left several buffers joined: DPDK 22.11's client does not part them for a frame that takes one.
    for (round, len) in [8996, 5996, 60, 3996, 1514, 2048, 60].into_iter().enumerate() {
        for batch in 0..400 {
            let frames: Vec<_> = (0..3).map(|index| frame(((round as u64) << 32) + batch * 3 + index, len)).collect();
            send_all(&mut port, &frames);
            assert!(gather(&mut port, frames.len(), 64) == frames, "{len} bytes, batch {batch}");
        }
    }
    assert_eq!(port.counters().rx_cut, 0);
}

/// Two queues, in both roles: each is a way of its own, in order, and nothing comes by the other one.
#[test]
fn testpmd_with_two_queues_gives_every_frame_back_by_its_own() {
    let Some(folder) = Folder::with_testpmd("testpmd_queues") else {
        return;
    };
    for (round, (ours, theirs)) in [(Role::Client, "server"), (Role::Server, "client")].into_iter().enumerate() {
        // Ours listens before testpmd as a client looks for it.
        let mut opened = (ours == Role::Server).then(|| queues(&folder.socket(), ours, 2));
        let memif = format!("role={theirs},id=3,socket={},socket-abstract=no", folder.socket());
        let _peer = Testpmd::with_queues(&folder.0, &[&memif], 2);
        let mut both = opened.take().unwrap_or_else(|| queues(&folder.socket(), ours, 2));
        for queue in &mut both {
            alive(queue);
        }
        for turn in 0..4 {
            let (own, other) = (turn % 2, 1 - turn % 2);
            echo(&mut both[own], (round * 4 + turn) as u64, 25);
            assert!(
                receive(&mut both[other], 64).is_empty(),
                "{theirs}: a frame of queue {own} came by queue {other}"
            );
        }
    }
}

/// Goes on sending until the port says that its peer is gone; no longer than that takes.
fn gone(port: &mut MemifPort) {
    let clock = Clock::start();
    loop {
        match send_at(port, Instant::ZERO, &[frame(1, 60)]) {
            Ok(_) => assert!(clock.now() < Instant::ZERO + Duration::from_secs(20), "nothing was noticed"),
            Err(PortError::Gone { why, .. }) => return assert!(why.contains("closed the connection without a DISCONNECT"), "{why}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn testpmd_killed_and_restarted_twenty_times() {
    let Some(folder) = Folder::with_testpmd("testpmd_killed") else {
        return;
    };
    let mut port = port(&folder.socket(), Role::Client);
    for round in 0..KILLS {
        // testpmd does not listen where a socket is left over.
        let _ = std::fs::remove_file(folder.socket());
        let mut peer = Testpmd::start(&folder.0, "server", &folder.socket());
        alive(&mut port);
        echo(&mut port, round, 4);
        // In the middle of the traffic; what is in the rings then is nobody's loss, the trial is invalid.
        let unread: Vec<_> = (0..100).map(|number| frame(number, 60)).collect();
        send_all(&mut port, &unread);
        peer.kill();
        gone(&mut port);
    }
    assert_eq!(port.counters().rx_dropped + port.counters().rx_cut, 0);
}

/// Sends frames into `near` until they come out of `far`, then a batch: the same, in order, none lost.
fn through(near: &mut MemifPort, far: &mut MemifPort) {
    let clock = Clock::start();
    let probe = [frame(u64::MAX, 60)];
    while receive(far, 64).is_empty() {
        assert!(clock.now() < Instant::ZERO + PATIENCE, "testpmd does not forward");
        send_at(near, Instant::ZERO, &probe).expect("transmits");
        sleep(Duration::from_ms(5));
    }
    let last = [frame(u64::MAX - 1, 60)];
    send_all(near, &last);
    while receive(far, 1) != last {
        assert!(clock.now() < Instant::ZERO + PATIENCE, "no end of the probes");
    }
    let frames: Vec<_> = (0..64).map(|index| frame(index, 60 + index as usize)).collect();
    send_all(near, &frames);
    assert!(gather(far, frames.len(), 64) == frames);
}

/// Two interfaces of testpmd at one socket, in either role: it forwards between them, and so from one port to the other.
#[test]
fn two_interfaces_of_testpmd_share_a_socket() {
    let Some(folder) = Folder::with_testpmd("testpmd_shared") else {
        return;
    };
    for (ours, theirs) in [(Role::Server, "client"), (Role::Client, "server")] {
        let socket = folder.0.join(format!("{theirs}.sock"));
        let socket = socket.to_str().expect("a path");
        let end = |id| {
            let mut spec = Memif::new(socket, ours);
            (spec.id, spec.patience_ms) = (id, Some(START_MS));
            open(&format!("port {id}"), &spec, 1514, 1).expect("opens").remove(0)
        };
        let (mut west, mut east) = (end(3), end(8));
        let memif = |id| format!("role={theirs},id={id},socket={socket},socket-abstract=no");
        let _peer = Testpmd::with(&folder.0, &[&memif(3), &memif(8)]);
        west.ready().expect("testpmd comes");
        east.ready().expect("testpmd comes");
        through(&mut west, &mut east);
        through(&mut east, &mut west);
    }
}

/// testpmd's sockets are abstract unless configured otherwise.
#[test]
fn testpmd_is_met_at_an_abstract_socket() {
    let Some(folder) = Folder::with_testpmd("testpmd_abstract") else {
        return;
    };
    for (ours, theirs) in [(Role::Server, "client"), (Role::Client, "server")] {
        let name = format!("netdyno-{theirs}-{}", std::process::id());
        let mut port = port(&format!("@{name}"), ours);
        let _peer = Testpmd::with(&folder.0, &[&format!("role={theirs},id=3,socket={name}")]);
        alive(&mut port);
        echo(&mut port, 0, 10);
    }
}
