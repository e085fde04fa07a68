//! What only an AF_XDP port does: it shares its interface with the kernel, goes without a trace, and says what it cannot.

mod support;

use netdyno_io::backend::af_packet::AfPacketPort;
use netdyno_io::backend::af_xdp::{AfXdp, AfXdpPort, Attach, Mode};
use netdyno_io::backend::{BackendSpec, open_queues};
use netdyno_io::claim::Claim;
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::{Clock, Duration, Instant, sleep};
use std::process::{Command, Stdio};
use support::{PATIENCE, collect, frame, gather, namespace, receive, send_all, send_at};

fn try_open(interface: &str, attach: Attach, mode: Mode, max_frame: u32) -> Result<AfXdpPort, PortError> {
    AfXdpPort::open(interface, interface, attach, mode, max_frame, 1, false).map(|mut queues| queues.remove(0))
}

/// A port that claims everything.
fn open(interface: &str, max_frame: u32) -> AfXdpPort {
    let mut port = try_open(interface, Attach::Auto, Mode::Auto, max_frame).unwrap_or_else(|error| panic!("{error}"));
    port.claim(&[Claim::EVERYTHING]).expect("everything can be claimed");
    port
}

fn packet(interface: &str) -> AfPacketPort {
    AfPacketPort::open(interface, interface, 1518).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `test` with a veth pair, where programs can be loaded.
fn with_veth(name: &'static str, test: impl FnOnce() + Send + 'static) {
    namespace::with_veth(name, 1500, move || {
        if !namespace::lacks_xdp(name) {
            test();
        }
    });
}

/// Asserts that what is said and done about it is there.
fn says<T>(answer: Result<T, PortError>, words: &[&str]) {
    let Err(error) = answer else {
        panic!("no error, but {words:?} expected")
    };
    let hint = match &error {
        PortError::System { hint: Some(hint), .. } => hint.as_str(),
        _ => "",
    };
    let text = format!("{error}; {hint}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[test]
fn a_port_receives_nothing_before_it_claims() {
    with_veth("a_port_receives_nothing_before_it_claims", || {
        let mut kernel = packet("nd1");
        let mut east = try_open("nd1", Attach::Auto, Mode::Auto, 1518).expect("opens");
        send_all(&mut packet("nd0"), &[frame(1, 60)]);
        assert_eq!(collect(&mut kernel, 1), [frame(1, 60)]);
        assert!(receive(&mut east, 64).is_empty());
    });
}

#[test]
fn a_port_says_what_it_turned_out_to_be() {
    with_veth("a_port_says_what_it_turned_out_to_be", || {
        let detail = |attach, mode| try_open("nd0", attach, mode, 1518).map(|port| port.info().detail.clone());
        for (attach, mode, expected) in [
            (Attach::Auto, Mode::Auto, "copy, generic attach, need-wakeup"),
            (Attach::Generic, Mode::Copy, "copy, generic attach, need-wakeup"),
            (Attach::Native, Mode::Auto, "copy, native attach, need-wakeup"),
        ] {
            assert_eq!(detail(attach, mode).expect("opens"), expected);
        }
        // A veth shares no memory with anybody.
        says(
            detail(Attach::Native, Mode::ZeroCopy),
            &[
                "port `nd0`: the driver of interface `nd0` cannot do without copying",
                "mode `auto` or `copy`",
            ],
        );
        let read = |text: &str| serde_json::from_str::<BackendSpec>(text).expect("reads");
        let spec = read(r#"{"kind": "af_xdp", "interface": "nd0", "attach": "native", "mode": "zero-copy"}"#);
        let BackendSpec::AfXdp(AfXdp { attach, mode, .. }) = spec else {
            panic!("{spec:?}")
        };
        assert_eq!((attach, mode), (Attach::Native, Mode::ZeroCopy));
        assert_eq!(
            read(r#"{"kind": "af_xdp", "interface": "nd0"}"#),
            BackendSpec::from(AfXdp {
                interface: "nd0".to_owned(),
                attach: Attach::Auto,
                mode: Mode::Auto,
            })
        );
    });
}

#[test]
fn queues_of_a_port_receive_their_own() {
    with_veth("queues_of_a_port_receive_their_own", || {
        let made = namespace::ip(&[
            "link",
            "add",
            "nd2",
            "numrxqueues",
            "2",
            "numtxqueues",
            "2",
            "type",
            "veth",
            "peer",
            "name",
            "nd3",
            "numrxqueues",
            "2",
            "numtxqueues",
            "2",
        ]);
        made.and_then(|()| namespace::ip(&["link", "set", "nd2", "up"]))
            .and_then(|()| namespace::ip(&["link", "set", "nd3", "up"]))
            .expect("a pair with two queues");
        let one = try_open("nd2", Attach::Auto, Mode::Auto, 1518);
        if support::kernel() < (5, 13) {
            // There a veth tells nobody how many queues it has.
            one.expect("opens");
        } else {
            says(
                one,
                &[
                    "interface `nd2` has 2 receive queues and one is opened",
                    "ethtool -L nd2 combined 1",
                ],
            );
        }
        let [mut near, mut far] = ["nd2", "nd3"].map(|interface| {
            let spec = AfXdp {
                interface: interface.to_owned(),
                attach: Attach::Auto,
                mode: Mode::Auto,
            };
            open_queues(interface, &spec.into(), 1518, 2).unwrap_or_else(|error| panic!("{error}"))
        });
        for port in &mut far {
            port.claim(&[Claim::EVERYTHING]).expect("claims");
        }
        // A veth's frames stay in the queue they were sent from.
        for round in 0..3 {
            for queue in [1, 0] {
                let frames: Vec<_> = (0..100).map(|number| frame(round * 1000 + queue * 200 + number, 64)).collect();
                send_all(near[queue as usize].as_mut(), &frames);
                assert_eq!(collect(far[queue as usize].as_mut(), 100), frames, "queue {queue}");
                assert!(receive(far[1 - queue as usize].as_mut(), 64).is_empty());
            }
        }
    });
}

#[test]
fn frames_too_long_are_counted_and_not_cut() {
    with_veth("frames_too_long_are_counted_and_not_cut", || {
        for end in namespace::ENDS {
            namespace::ip(&["link", "set", end, "mtu", "3000"]).expect("ip works");
        }
        let mut west = AfPacketPort::open("nd0", "nd0", 3000).expect("opens");
        let mut east = open("nd1", 100);
        // The second and fourth are longer than a slot, the fifth than the memory of a frame.
        let frames = [60, 101, 100, 1000, 2000].map(|len| frame(len as u64, len));
        send_all(&mut west, &frames);
        assert_eq!(collect(&mut east, 2), [frames[0].clone(), frames[2].clone()]);
        let counters = east.counters();
        assert_eq!((counters.rx_cut, counters.rx_dropped, counters.rx_frames), (2, 1, 2));
        drop(east);
        namespace::ip(&["link", "set", "nd1", "mtu", "9000"]).expect("ip works");
        says(
            try_open("nd1", Attach::Auto, Mode::Auto, 9014),
            &["frames of up to 9014 bytes", "AF_XDP carries up to 3840", "use `af_packet`"],
        );
    });
}

#[test]
fn reader_that_does_not_read_learns_how_much_it_lost() {
    with_veth("reader_that_does_not_read_learns_how_much_it_lost", || {
        let (mut west, mut east) = (open("nd0", 128), open("nd1", 128));
        let burst: Vec<_> = (0..64).map(|number| frame(number, 60)).collect();
        let mut sent = 0;
        while sent < 100_000 && east.counters().rx_dropped == 0 {
            for _ in 0..64 {
                sent += send_at(&mut west, Instant::ZERO, &burst).expect("transmits") as u64;
            }
        }
        // What the kernel still has on its way arrives, or is dropped.
        sleep(Duration::from_ms(20));
        let dropped = east.counters().rx_dropped;
        assert!(dropped > 0, "{sent} frames and none dropped");
        let mut got = 0;
        while let more @ 1.. = receive(&mut east, 256).len() as u64 {
            got += more;
        }
        assert_eq!(got + east.counters().rx_dropped, sent);
    });
}

#[test]
fn what_the_far_end_of_a_veth_refuses_was_sent_and_lost() {
    with_veth("what_the_far_end_of_a_veth_refuses_was_sent_and_lost", || {
        let (mut west, mut east) = (open("nd0", 1514), packet("nd1"));
        namespace::ip(&["link", "set", "nd1", "mtu", "500"]).expect("ip works");
        let sizes = [60, 1000, 60, 1000, 1000, 60, 1000];
        let frames: Vec<_> = sizes.iter().zip(0..).map(|(size, number)| frame(number, *size)).collect();
        assert_eq!(send_at(&mut west, Instant::ZERO, &frames).expect("transmits"), frames.len());
        let short: Vec<_> = frames.iter().filter(|frame| frame.len() == 60).cloned().collect();
        assert_eq!(collect(&mut east, short.len()), short);
        assert_eq!((west.counters().tx_frames, west.counters().tx_full), (frames.len() as u64, 0));
        // Nothing of it stays behind: all the memory comes back.
        let many: Vec<_> = (0..10_000).map(|number| frame(number, 60)).collect();
        send_all(&mut west, &many);
    });
}

#[test]
fn faults_of_the_interface_are_named() {
    with_veth("faults_of_the_interface_are_named", || {
        says(
            try_open("p9", Attach::Auto, Mode::Auto, 1518),
            &["port `p9`: there is no interface `p9` here; there are: "],
        );
        let ip = |arguments: &[&str]| namespace::ip(arguments).expect("ip works");
        let mut now = Instant::ZERO;
        // The kernel takes note of some things a little later.
        let mut await_fault = |port: &mut AfXdpPort, patience| {
            let clock = Clock::start();
            loop {
                now += Duration::from_secs(1);
                let answer = port.receive(now, 64, &mut |_| ());
                if answer.is_err() || clock.now() >= Instant::ZERO + patience {
                    return answer;
                }
                sleep(Duration::from_ms(5));
            }
        };
        await_shown("nd1", "state UP", true);
        let mut east = open("nd1", 1518);
        assert_eq!(await_fault(&mut east, Duration::ZERO).expect("all is well"), 0);
        says(
            try_open("nd1", Attach::Auto, Mode::Auto, 1518),
            &["interface `nd1` has an XDP program already", "ip link set dev nd1 xdp off"],
        );
        ip(&["link", "set", "nd0", "down"]);
        await_shown("nd1", "state UP", false);
        // Without a carrier frames are sent, and lost; however many are due.
        assert_eq!(await_fault(&mut east, Duration::ZERO).expect("a lost link is no fault"), 0);
        let (before, due) = (east.counters(), 10_000);
        let frames: Vec<_> = (0..due).map(|number| frame(number, 60)).collect();
        send_all(&mut east, &frames);
        let counted = east.counters();
        assert_eq!(counted.tx_frames - before.tx_frames, due);
        assert_eq!((counted.tx_full, counted.tx_dropped), (before.tx_full, before.tx_dropped));
        ip(&["link", "set", "nd0", "up"]);
        await_shown("nd1", "state UP", true);
        assert_eq!(await_fault(&mut east, Duration::ZERO).expect("all is well again"), 0);
        ip(&["link", "set", "nd1", "down"]);
        says(
            await_fault(&mut east, PATIENCE),
            &["port `nd1` is gone: interface `nd1` was taken down"],
        );
        assert!(matches!(
            send_at(&mut east, Instant::ZERO, &[frame(1, 60)]),
            Err(PortError::Gone { .. })
        ));
        drop(east);
        says(
            try_open("nd1", Attach::Auto, Mode::Auto, 1518),
            &["interface `nd1` is down; bring it up: ip link set nd1 up"],
        );
        ip(&["link", "set", "nd1", "up"]);
        let mut east = open("nd1", 1518);
        assert_eq!(await_fault(&mut east, Duration::ZERO).expect("all is well"), 0);
        ip(&["link", "del", "nd0"]);
        assert!(matches!(await_fault(&mut east, PATIENCE), Err(PortError::Gone { .. })));
        assert!(matches!(
            send_at(&mut east, Instant::ZERO, &[frame(1, 60)]),
            Err(PortError::Gone { .. })
        ));
        assert!(matches!(east.claim(&[]), Err(PortError::Gone { .. })));
    });
}

/// Whether `ip link` has this to say of an interface.
fn shows(interface: &str, words: &str) -> bool {
    let shown = Command::new("ip").args(["link", "show", interface]).output().expect("ip works");
    String::from_utf8_lossy(&shown.stdout).contains(words)
}

fn await_shown(interface: &str, words: &str, there: bool) {
    let clock = Clock::start();
    while shows(interface, words) != there {
        assert!(clock.now() < Instant::ZERO + PATIENCE, "`{words}` shown: {}", !there);
        sleep(Duration::from_ms(5));
    }
}

/// What is shown of an interface with a program in its receive path.
const PROGRAM: &str = "prog/xdp";

const HOLD: &str = "NETDYNO_IO_TEST_HOLD";

#[test]
fn nothing_is_left_attached_by_whom_was_killed() {
    const NAME: &str = "nothing_is_left_attached_by_whom_was_killed";
    if std::env::var_os(HOLD).is_some() {
        // The one that is killed, in the namespace it was started in.
        let _port = open("nd1", 1518);
        sleep(Duration::from_secs(60));
        return;
    }
    with_veth(NAME, || {
        let port = open("nd1", 1518);
        assert!(shows("nd1", PROGRAM));
        drop(port);
        assert!(!shows("nd1", PROGRAM));
        for _ in 0..3 {
            let mut held = Command::new(std::env::current_exe().expect("this program has a path"))
                .args(["--exact", NAME])
                .env(HOLD, "1")
                .stdout(Stdio::null())
                .spawn()
                .expect("starts");
            await_shown("nd1", PROGRAM, true);
            held.kill().expect("can be killed");
            held.wait().expect("ends");
            await_shown("nd1", PROGRAM, false);
            // The queue is busy for some time after that; the next port waits for it.
            let mut port = open("nd1", 1518);
            send_all(&mut packet("nd0"), &[frame(1, 60)]);
            assert_eq!(gather(&mut port, 1, 64), [frame(1, 60)]);
        }
    });
}

// Of linux/capability.h.
const CAP_NET_ADMIN: u32 = 12;
const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_BPF: u32 = 39;

/// Takes capabilities from this thread for good.
fn give_up(capabilities: &[u32]) {
    #[repr(C)]
    struct Header {
        version: u32,
        thread: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Sets {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    // _LINUX_CAPABILITY_VERSION_3; this thread.
    let mut header = Header {
        version: 0x2008_0522,
        thread: 0,
    };
    let mut sets = [Sets::default(); 2];
    // SAFETY: both are valid for reads and writes, in the form of this version.
    let answer = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) };
    assert_eq!(answer, 0);
    for capability in capabilities {
        let keep = !(1 << (capability % 32));
        let set = &mut sets[*capability as usize / 32];
        (set.effective, set.permitted) = (set.effective & keep, set.permitted & keep);
    }
    // SAFETY: as above.
    let answer = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) };
    assert_eq!(answer, 0);
}

#[test]
fn what_may_not_be_is_refused_with_what_to_do() {
    with_veth("what_may_not_be_is_refused_with_what_to_do", || {
        give_up(&[CAP_SYS_ADMIN, CAP_BPF]);
        says(
            try_open("nd1", Attach::Auto, Mode::Auto, 1518),
            &[
                "making a BPF map on interface `nd1`",
                "need CAP_BPF and CAP_NET_ADMIN of the machine",
                "or use `backend: af_packet`",
            ],
        );
        give_up(&[CAP_NET_ADMIN]);
        assert!(!shows("nd1", PROGRAM));
    });
}

#[test]
fn where_little_memory_may_be_locked_a_port_makes_do() {
    with_veth("where_little_memory_may_be_locked_a_port_makes_do", || {
        let limit = |bytes: u64| {
            // SAFETY: all-zero is a valid limit.
            let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
            // SAFETY: `limit` is valid for reads and writes. Of this process' threads only this one gives up what lifts the limit.
            let answers = unsafe {
                let got = libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit);
                limit.rlim_cur = bytes.min(limit.rlim_max);
                (got, libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit))
            };
            assert_eq!(answers, (0, 0));
        };
        // Of two ports, and of their programs and maps, which are counted before Linux 5.11.
        limit(9 << 20);
        give_up(&[CAP_IPC_LOCK]);
        let (mut west, mut east) = (open("nd0", 1514), open("nd1", 1514));
        for port in [&west, &east] {
            assert_eq!(
                port.info().detail,
                "copy, generic attach, need-wakeup, only 4 MiB of memory may be locked"
            );
        }
        let frames: Vec<_> = (0..5000).map(|number| frame(number, 60)).collect();
        for frames in frames.chunks(500) {
            send_all(&mut west, frames);
            assert_eq!(gather(&mut east, frames.len(), 64), frames);
        }
        drop((west, east));
        limit(100 << 10);
        says(
            try_open("nd1", Attach::Auto, Mode::Auto, 1514),
            &[
                "locking memory (XDP_UMEM_REG) for interface `nd1`",
                "raise `ulimit -l`, or grant CAP_IPC_LOCK",
            ],
        );
        assert!(!shows("nd1", PROGRAM));
    });
}

/// Runs `test` with a port `mv0` that sends through `nd0`, where `qdisc` decides what leaves, to `nd1`: no cable of two
/// ends, but an interface whose driver says what it has dropped.
fn with_qdisc(name: &'static str, qdisc: &'static [&'static str], test: impl FnOnce() + Send + 'static) {
    with_veth(name, move || {
        let macvlan = ["link", "add", "link", "nd0", "name", "mv0", "type", "macvlan", "mode", "bridge"];
        let made = namespace::ip(&macvlan).and_then(|()| namespace::ip(&["link", "set", "mv0", "up"]));
        let shaped = Command::new("tc")
            .args(["qdisc", "add", "dev", "nd0", "root"])
            .args(qdisc)
            .output()
            .map_err(|error| format!("`tc` of iproute2: {error}"))
            .and_then(|it| {
                let why = String::from_utf8_lossy(&it.stderr).into_owned();
                if it.status.success() {
                    Ok(())
                } else {
                    Err(format!("tc {}: {why}", qdisc.join(" ")))
                }
            });
        match made.and(shaped) {
            Ok(()) => test(),
            Err(why) => println!("SKIPPED {name}: {why}"),
        }
    });
}

/// A queue of 100 bytes takes no frame of 300 (tc-bfifo(8)): the driver drops it, and the caller has handed it over.
#[test]
fn what_the_card_drops_on_its_way_out_is_counted() {
    with_qdisc("what_the_card_drops_on_its_way_out_is_counted", &["bfifo", "limit", "100"], || {
        let (mut west, mut east) = (open("mv0", 1518), packet("nd1"));
        let frames: Vec<_> = (0..30)
            .map(|number| frame(number, if number % 3 == 0 { 300 } else { 60 }))
            .collect();
        send_all(&mut west, &frames);
        let short: Vec<_> = frames.iter().filter(|frame| frame.len() == 60).cloned().collect();
        assert_eq!(gather(&mut east, short.len(), 64), short);
        let counters = west.counters();
        assert_eq!((counters.tx_frames, counters.tx_dropped), (30, 10));
    });
}

/// 1 Mbit/s (tc-tbf(8)), and 200 frames of 60 bytes at once: most are still there when the last are handed over.
#[test]
fn frames_still_on_the_way_out_are_reported() {
    let slow = &["tbf", "rate", "1mbit", "burst", "2000", "limit", "100000"];
    with_qdisc("frames_still_on_the_way_out_are_reported", slow, || {
        let mut west = open("mv0", 1518);
        send_all(&mut west, &[frame(0, 60)]);
        assert_eq!(west.counters().tx_ahead, 0, "nothing was before it");
        let frames: Vec<_> = (0..200).map(|number| frame(number, 60)).collect();
        send_all(&mut west, &frames);
        let counters = west.counters();
        // 2000 bytes leave at once, 33 frames, and those whose time has come since.
        assert!((1..=200).contains(&counters.tx_ahead), "{counters:?}");
        assert_eq!(counters.tx_dropped, 0);
        west.ready().expect("is there");
        assert_eq!(west.counters().tx_ahead, 0, "a trial begins");
    });
}
