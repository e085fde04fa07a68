//! The drivers: virtual time whose results do not depend on how far it jumps, and real time.

mod support;

use netdyno_io::backend::LinkSpec;
use netdyno_io::backend::wire::{self, WirePort};
use netdyno_io::drive::{Node, available_cores, pin_to_core, prefer_this_thread, run_real, run_virtual, run_waiting};
use netdyno_io::port::Port;
use netdyno_io::time::{Clock, Duration, Instant};
use std::cell::Cell;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sends `frames` of 64 bytes a fixed time apart and notes when they come back.
struct Sender {
    port: WirePort,
    frames: u64,
    sent: u64,
    apart: Duration,
    returned: Vec<u64>,
}

impl Node for Sender {
    fn next_wakeup(&self) -> Option<Instant> {
        let departure = (self.sent < self.frames).then_some(Instant {
            ps: self.sent * self.apart.ps,
        });
        departure.into_iter().chain(self.port.next_arrival()).min()
    }

    fn step(&mut self, now: Instant) {
        while self.sent < self.frames && self.sent * self.apart.ps <= now.ps {
            let at = Instant {
                ps: self.sent * self.apart.ps,
            };
            self.port
                .transmit(now, 1, &mut |burst| {
                    burst.set(0, 60, at);
                    1
                })
                .expect("a wire takes all");
            self.sent += 1;
        }
        let returned = &mut self.returned;
        while self
            .port
            .receive(now, 64, &mut |burst| returned.extend(burst.slots().iter().map(|slot| slot.at.ps)))
            .expect("a wire can be read")
            > 0
        {}
    }

    fn finished(&self) -> bool {
        self.returned.len() as u64 == self.frames
    }
}

/// Sends each frame back some time after it came in.
struct Reflector {
    port: WirePort,
    delay: Duration,
}

impl Node for Reflector {
    fn next_wakeup(&self) -> Option<Instant> {
        self.port.next_arrival()
    }

    fn step(&mut self, now: Instant) {
        let mut due = Vec::new();
        while self
            .port
            .receive(now, 64, &mut |burst| due.extend_from_slice(burst.slots()))
            .expect("a wire can be read")
            > 0
        {}
        for slot in due {
            let at = slot.at + self.delay;
            self.port
                .transmit(now, 1, &mut |burst| {
                    burst.set(0, slot.len as usize, at);
                    1
                })
                .expect("a wire takes all");
        }
    }
}

fn bench(frames: u64, apart: Duration) -> (Sender, Reflector) {
    let link = LinkSpec {
        propagation: Duration::from_ns(100),
        ..LinkSpec::new("west", "east", 10_000_000_000, 1514)
    };
    let (west, east) = wire::pair(&link).expect("a wire");
    let sender = Sender {
        port: west,
        frames,
        sent: 0,
        apart,
        returned: Vec::new(),
    };
    let delay = Duration::from_us(3);
    (sender, Reflector { port: east, delay })
}

/// There and back: 57.6 ns on the wire and 100 ns of cable each way, 3 us in between.
const ROUND_TRIP: u64 = 2 * (57_600 + 100_000) + 3_000_000;

#[test]
fn results_do_not_depend_on_the_quantum() {
    for apart in [Duration { ps: 67_200 }, Duration { ps: 70_001 }, Duration::from_ms(7)] {
        let expected: Vec<u64> = (0..1000).map(|number| number * apart.ps + ROUND_TRIP).collect();
        for quantum in [
            Duration::ZERO,
            Duration { ps: 1 },
            Duration::from_ns(999),
            Duration::from_us(50),
            Duration::from_ms(30),
        ] {
            let (mut sender, mut reflector) = bench(1000, apart);
            run_virtual(&mut [&mut sender, &mut reflector], Instant::ZERO, quantum, Instant::NEVER, &|| {
                false
            });
            assert_eq!(sender.returned, expected, "quantum {quantum:?}");
        }
    }
}

#[test]
fn limit_cuts_off_at_the_same_frame_with_any_quantum() {
    // Frame 10 is back at exactly this time.
    let limit = Instant {
        ps: 10 * 1_000_000 + ROUND_TRIP,
    };
    for quantum in [Duration::ZERO, Duration::from_ns(7), Duration::from_us(2), Duration::from_ms(30)] {
        let (mut sender, mut reflector) = bench(1_000_000, Duration::from_us(1));
        let end = run_virtual(&mut [&mut sender, &mut reflector], Instant::ZERO, quantum, limit, &|| false);
        assert_eq!((end, sender.returned.len()), (limit, 11), "quantum {quantum:?}");
    }
}

#[test]
fn idle_time_is_jumped_over() {
    // A thousand frames over 11 days of virtual time, in as many rounds as there are events.
    let (mut sender, mut reflector) = bench(1000, Duration::from_secs(1000));
    let rounds = Cell::new(0);
    let count = || {
        rounds.set(rounds.get() + 1);
        false
    };
    let end = run_virtual(
        &mut [&mut sender, &mut reflector],
        Instant::ZERO,
        Duration::ZERO,
        Instant::NEVER,
        &count,
    );
    assert_eq!(end.ps, 999 * 1_000_000_000_000_000 + ROUND_TRIP);
    assert!(rounds.get() <= 3 * 1000 + 1, "{} rounds", rounds.get());
}

#[test]
fn it_ends_when_cancelled_and_when_nothing_can_happen_any_more() {
    let (mut sender, mut reflector) = bench(1_000_000, Duration::from_us(1));
    let rounds = Cell::new(0);
    let third = || {
        rounds.set(rounds.get() + 1);
        rounds.get() > 3
    };
    run_virtual(
        &mut [&mut sender, &mut reflector],
        Instant::ZERO,
        Duration::from_us(1),
        Instant::NEVER,
        &third,
    );
    assert_eq!(sender.sent, 3, "one a round, the first at the start");

    let (_, mut alone) = bench(0, Duration::ZERO);
    let limit = Instant::from_ns(5);
    assert_eq!(
        run_virtual(&mut [&mut alone], Instant::ZERO, Duration::ZERO, limit, &|| false),
        limit
    );
    assert_eq!(
        run_virtual(&mut [&mut alone], Instant::ZERO, Duration::ZERO, Instant::NEVER, &|| false),
        Instant::NEVER
    );

    // Never done with the present: given up on, not run for ever.
    struct Restless;
    impl Node for Restless {
        fn next_wakeup(&self) -> Option<Instant> {
            Some(Instant::ZERO)
        }
        fn step(&mut self, _now: Instant) {}
    }
    assert_eq!(
        run_virtual(&mut [&mut Restless], Instant::ZERO, Duration::from_ns(1), limit, &|| false),
        limit
    );
}

/// Is due every `every`, and notes when it was called.
struct Ticker {
    every: Duration,
    next: Instant,
    latest: Duration,
    ticks: u32,
    listening: bool,
}

impl Node for Ticker {
    fn next_wakeup(&self) -> Option<Instant> {
        Some(self.next)
    }
    fn step(&mut self, now: Instant) {
        while self.next <= now {
            self.latest = self.latest.max(now - self.next);
            self.next += self.every;
            self.ticks += 1;
        }
    }
    fn finished(&self) -> bool {
        self.ticks >= 20
    }
    fn listening(&self) -> bool {
        self.listening
    }
}

fn tick(listening: bool) -> (Ticker, netdyno_io::drive::ThreadHealth, Clock) {
    let clock = Clock::start();
    let every = Duration::from_ms(5);
    let mut ticker = Ticker {
        every,
        next: clock.now() + every,
        latest: Duration::ZERO,
        ticks: 0,
        listening,
    };
    let report = run_real(&mut ticker, &clock, &AtomicBool::new(false), Instant::NEVER);
    (ticker, report, clock)
}

#[test]
fn in_real_time_a_node_that_listens_is_polled_all_the_time() {
    let (ticker, report, _) = tick(true);
    assert!(ticker.ticks >= 20, "more only if the machine stalled for a whole tick");
    assert_eq!(report.slept, Duration::ZERO);
    assert!(report.rounds > 1000 && report.elapsed >= Duration::from_ms(95), "{report:?}");
    // A node can be late by no more than the longest gap: that is what the gap is for.
    assert!(ticker.latest <= report.longest_gap, "{report:?}");
    assert!(report.cpu_share() > 0.0 && report.cpu_share() <= 1.0);
}

#[test]
fn in_real_time_a_node_that_does_not_listen_lets_the_processor_rest() {
    let (ticker, report, _) = tick(false);
    assert!(ticker.ticks >= 20);
    // Sleeps 4.8 of 5 ms.
    assert!(
        report.slept > Duration::from_ms(60) && report.cpu_time < Duration::from_ms(60),
        "{report:?}"
    );
    assert!(report.elapsed >= Duration::from_ms(95), "{report:?}");
}

#[test]
fn in_real_time_stop_and_limit_end_it() {
    struct Idle<'a>(&'a AtomicBool, u32);
    impl Node for Idle<'_> {
        fn next_wakeup(&self) -> Option<Instant> {
            None
        }
        fn step(&mut self, _now: Instant) {
            self.1 += 1;
            self.0.store(self.1 == 1000, Ordering::Relaxed);
        }
    }
    let clock = Clock::start();
    let stop = AtomicBool::new(false);
    let report = run_real(&mut Idle(&stop, 0), &clock, &stop, Instant::NEVER);
    assert_eq!(report.rounds, 1000);
    stop.store(false, Ordering::Relaxed);
    let limit = clock.now() + Duration::from_ms(20);
    run_real(&mut Idle(&AtomicBool::new(false), 0), &clock, &stop, limit);
    assert!(clock.now() >= limit);
}

/// Ends with the first byte that comes in.
struct Hears(std::os::unix::net::UnixStream, bool);

impl Node for Hears {
    fn next_wakeup(&self) -> Option<Instant> {
        None
    }
    fn step(&mut self, _now: Instant) {
        self.1 |= std::io::Read::read(&mut self.0, &mut [0]).is_ok();
    }
    fn finished(&self) -> bool {
        self.1
    }
}

#[test]
fn node_that_waits_sleeps_until_a_frame_comes_in() {
    let (mut near, far) = std::os::unix::net::UnixStream::pair().expect("two ends");
    far.set_nonblocking(true).expect("a socket");
    let sockets = [far.as_raw_fd()];
    let sender = std::thread::spawn(move || {
        netdyno_io::time::sleep(Duration::from_ms(50));
        near.write_all(b"x").expect("sent");
        near
    });
    let clock = Clock::start();
    let report = run_waiting(&mut Hears(far, false), &clock, &AtomicBool::new(false), Instant::NEVER, &sockets);
    drop(sender.join().expect("ended"));
    assert!(report.slept > report.cpu_time, "{report:?}");
    // A look at the stop each millisecond.
    assert!(report.rounds < 200, "{report:?}");
}

#[test]
fn a_thread_can_be_kept_on_a_core_and_a_wrong_core_is_named() {
    let cores = available_cores().expect("the system says");
    assert!(!cores.is_empty());
    let last = *cores.last().expect("there is one");
    std::thread::spawn(move || {
        pin_to_core(last).expect("it may run there");
        assert_eq!(available_cores().expect("the system says"), [last]);
    })
    .join()
    .expect("the thread ended in order");
    for core in [1023, 5000] {
        let error = pin_to_core(core).expect_err("no such core").to_string();
        assert!(error.contains(&format!("core {core} (available: {cores:?})")), "{error}");
    }
}

/// The niceness of the calling thread, as the kernel lists it: field 19 of proc(5)'s `stat`, behind a name in brackets.
fn niceness() -> i32 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux lists each thread");
    let behind = stat.rsplit(')').next().expect("a name in brackets");
    behind.split_whitespace().nth(16).and_then(|it| it.parse().ok()).expect("a number")
}

#[test]
fn only_a_thread_without_a_priority_of_its_own_gets_one() {
    let begun = niceness();
    let preferred = std::thread::spawn(|| {
        prefer_this_thread();
        niceness()
    });
    let preferred = preferred.join().expect("the thread ended in order");
    let other = std::thread::spawn(|| {
        // SAFETY: takes and returns numbers; 0 is the calling thread.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 7) };
        prefer_this_thread();
        niceness()
    });
    assert_eq!(
        other.join().expect("the thread ended in order"),
        begun.max(7),
        "somebody else's choice"
    );
    assert_eq!(niceness(), begun, "no other thread is meant");
    // SAFETY: asks for a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    if begun != 0 || !is_root {
        eprintln!("skipped: a higher priority than the usual takes root and a test of the usual one");
        return;
    }
    assert!(preferred < 0, "{preferred}");
}
