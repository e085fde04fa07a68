//! What a port costs, in ns and processor ticks a frame of 64 bytes: `cargo bench -p netdyno-io`.
//!
//! Each line is the best and the median of several rounds, since the machine is shared; the costs of
//! filling and reading are those of a store and a load a frame. The kernel interface is measured as root
//! only, over a veth pair in a network namespace of its own.

#[path = "../tests/support/namespace.rs"]
mod namespace;

use netdyno_io::backend::af_packet::AfPacket;
use netdyno_io::backend::af_xdp::{AfXdp, Attach, Mode};
use netdyno_io::backend::memif::{self, Memif, Role};
use netdyno_io::backend::null::Null;
use netdyno_io::backend::{BackendSpec, LinkSpec, open, ring, wire};
use netdyno_io::claim::Claim;
use netdyno_io::port::Port;
use netdyno_io::time::{Clock, Instant, ticks};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

const ROUNDS: usize = 9;
const FRAMES: u64 = 4_000_000;
const BURST: usize = 64;
const MAX_FRAME: u32 = 1514;

fn main() {
    let clock = Clock::start();
    println!(
        "clock {}, {:.0} ticks a second; bursts of {BURST}",
        clock.source(),
        clock.ticks_per_second()
    );
    print_rate("null, transmit", &clock, null);
    print_rate("wire, transmit and receive, 10 Gbit/s", &clock, || on_wire(10_000_000_000));
    print_rate("wire, transmit and receive, 9.500000001 Gbit/s", &clock, || on_wire(9_500_000_001));
    print_rate("ring, transmit and receive in one thread", &clock, ring_in_one_thread);
    print_rate("ring, from thread to thread", &clock, ring_between_threads);
    print_rate("memif, client to server, from thread to thread", &clock, || {
        memif_between_threads(Role::Client)
    });
    print_rate("memif, server to client, from thread to thread", &clock, || {
        memif_between_threads(Role::Server)
    });
    print_rate("clock, one reading", &clock, || {
        let before = ticks();
        for _ in 0..FRAMES {
            black_box(clock.now());
        }
        ticks() - before
    });
    // SAFETY: no memory is passed.
    if unsafe { libc::geteuid() } == 0 {
        namespace::with_veth("af_packet", 1500, move || {
            print_rate("af_packet over veth, transmit and receive", &clock, || {
                on_veth(|interface| AfPacket { interface }.into())
            });
            if !namespace::lacks_xdp("af_xdp") {
                print_rate("af_xdp over veth, transmit and receive", &clock, || {
                    on_veth(|interface| {
                        let (attach, mode) = (Attach::Auto, Mode::Auto);
                        AfXdp { interface, attach, mode }.into()
                    })
                });
            }
        });
    } else {
        println!("af_packet and af_xdp over veth: not measured, needs root");
    }
}

/// Prints one line; `run` moves `FRAMES` frames, or says what it would take, and returns the ticks.
fn print_rate(what: &str, clock: &Clock, mut run: impl FnMut() -> u64) {
    let mut costs: Vec<f64> = (0..ROUNDS).map(|_| run() as f64 / FRAMES as f64).collect();
    costs.sort_by(f64::total_cmp);
    let ns = 1e9 / clock.ticks_per_second();
    let (best, median) = (costs[0], costs[ROUNDS / 2]);
    println!(
        "{what:<52} wall time: best {:7.2} ns {best:7.1} ticks   median {:7.2} ns {median:7.1} ticks",
        best * ns,
        median * ns
    );
}

/// Sends a burst, stamping every frame.
#[inline]
fn send(port: &mut dyn Port, limit: usize, number: u64) -> u64 {
    port.transmit(Instant::ZERO, limit, &mut |burst| {
        for index in 0..burst.len() {
            burst.frame_mut(index)[42..50].copy_from_slice(&(number + index as u64).to_le_bytes());
            burst.set(index, 60, Instant::ZERO);
        }
        burst.len()
    })
    .expect("transmits") as u64
}

/// Receives a burst, reading the stamps.
#[inline]
fn receive(port: &mut dyn Port, sum: &mut u64) -> u64 {
    port.receive(Instant::NEVER, BURST, &mut |burst| {
        for index in 0..burst.len() {
            let stamp: [u8; 8] = burst.frame(index)[42..50].try_into().expect("eight bytes");
            *sum = sum.wrapping_add(u64::from_le_bytes(stamp));
        }
    })
    .expect("receives") as u64
}

fn null() -> u64 {
    let mut port = open("null", &Null {}.into(), MAX_FRAME).expect("opens");
    let before = ticks();
    let mut sent = 0;
    while sent < FRAMES {
        sent += send(port.as_mut(), BURST, sent);
    }
    ticks() - before
}

fn there_and_back(mut west: impl Port, mut east: impl Port) -> u64 {
    let (mut sent, mut got, mut sum) = (0, 0, 0);
    let before = ticks();
    while sent < FRAMES {
        sent += send(&mut west, BURST, sent);
        while got < sent {
            got += receive(&mut east, &mut sum);
        }
    }
    black_box(sum);
    ticks() - before
}

fn on_wire(rate_bps: u64) -> u64 {
    let (west, east) = wire::pair(&LinkSpec::new("west", "east", rate_bps, MAX_FRAME)).expect("a wire");
    there_and_back(west, east)
}

/// A tenth of the frames, times ten: the kernel takes microseconds a frame.
fn on_veth(backend: fn(String) -> BackendSpec) -> u64 {
    let [mut west, mut east] = namespace::ENDS.map(|interface| {
        let mut port = open(interface, &backend(interface.to_owned()), MAX_FRAME).expect("opens");
        port.claim(&[Claim::EVERYTHING]).expect("claims");
        port
    });
    let (mut sent, mut got, mut sum) = (0, 0, 0);
    let before = ticks();
    while got < FRAMES / 10 {
        sent += send(west.as_mut(), BURST, sent);
        while got < sent {
            got += receive(east.as_mut(), &mut sum);
        }
    }
    black_box(sum);
    (ticks() - before) * 10
}

fn a_ring() -> (ring::RingPort, ring::RingPort) {
    ring::pair(&LinkSpec::new("west", "east", 0, 60), ring::DEFAULT_SLOTS).expect("a ring")
}

fn ring_in_one_thread() -> u64 {
    let (west, east) = a_ring();
    there_and_back(west, east)
}

fn ring_between_threads() -> u64 {
    let (west, east) = a_ring();
    between_threads(Box::new(west), Box::new(east))
}

/// A memif whose writing end has this role.
fn memif_between_threads(role: Role) -> u64 {
    let socket = format!("@netdyno-bench-{}", std::process::id());
    let end = |role| {
        let spec = Memif {
            socket: socket.clone(),
            role,
            id: 0,
            ring_log2: 10,
            secret: String::new(),
            patience_ms: Some(5000),
        };
        let mut ports = memif::open("memif", &spec, MAX_FRAME, 1).expect("opens");
        Box::new(ports.remove(0))
    };
    let other = if role == Role::Client { Role::Server } else { Role::Client };
    let (mut west, mut east) = (end(role), end(other));
    let far = std::thread::spawn(move || {
        east.ready().expect("a peer");
        east
    });
    west.ready().expect("a peer");
    let east = far.join().expect("no panic");
    between_threads(west, east)
}

fn between_threads(mut west: Box<dyn Port>, mut east: Box<dyn Port>) -> u64 {
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let before = ticks();
        scope.spawn(move || {
            let mut sent = 0;
            while sent < FRAMES {
                sent += send(&mut *west, BURST.min((FRAMES - sent) as usize), sent);
            }
            // Keeps its end open until all is read.
            while !done.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let (mut got, mut sum) = (0, 0);
        while got < FRAMES {
            got += receive(&mut *east, &mut sum);
        }
        done.store(true, Ordering::Relaxed);
        black_box(sum);
        ticks() - before
    })
}
