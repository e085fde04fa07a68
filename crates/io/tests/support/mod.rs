//! What the tests of ports share: frames that can be told apart, and loops that send and collect them.
#![allow(dead_code)] // each test file uses its part

pub mod namespace;

use netdyno_io::port::{Burst, Port, PortError};
use netdyno_io::time::{Clock, Duration, Instant, sleep};

/// Later than anything a test sends: a port in virtual time has delivered everything by then.
pub const LATE: Instant = Instant { ps: 1_000_000_000_000_000 };

/// How long a test waits for the kernel or another thread before it fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A name for a socket that no other test uses, in the abstract space of this network namespace.
pub fn abstract_socket() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("@netdyno-io-test-{}-{number}", std::process::id())
}

/// Writes frame `number` of a test: private addresses, local experimental type (IEEE 802), then bytes that
/// depend on the number and the place.
pub fn write_frame(number: u64, frame: &mut [u8]) {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for (place, byte) in frame.iter_mut().enumerate() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *byte = match place {
            0 | 6 => 0x02,
            12 => 0x88,
            13 => 0xb5,
            _ => state as u8,
        };
    }
}

/// Frame `number`, `len` bytes long.
pub fn frame(number: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    write_frame(number, &mut bytes);
    bytes
}

/// Version and revision of the kernel that this runs on.
pub fn kernel() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("the kernel says its release");
    let mut numbers = release.split(['.', '-', '+']).map(str::parse);
    let mut next = || numbers.next().and_then(Result::ok).expect("a release begins with two numbers");
    (next(), next())
}

/// Hands `frames` to `port` in one call, departing at `at`; how many were taken.
pub fn send_at(port: &mut dyn Port, at: Instant, frames: &[Vec<u8>]) -> Result<usize, PortError> {
    port.transmit(LATE, frames.len(), &mut |burst: &mut Burst<'_>| {
        for (index, frame) in frames.iter().take(burst.len()).enumerate() {
            burst.frame_mut(index)[..frame.len()].copy_from_slice(frame);
            burst.set(index, frame.len(), at);
        }
        frames.len().min(burst.len())
    })
}

/// Sends all of `frames`, however many calls it takes.
pub fn send_all(port: &mut dyn Port, frames: &[Vec<u8>]) {
    let clock = Clock::start();
    let mut sent = 0;
    while sent < frames.len() {
        sent += send_at(port, Instant::ZERO, &frames[sent..]).expect("the port takes frames");
        assert!(
            clock.now() < Instant::ZERO + PATIENCE,
            "only {sent} of {} frames were taken",
            frames.len()
        );
    }
}

/// One call of `receive`: the frames lent.
pub fn receive(port: &mut dyn Port, limit: usize) -> Vec<Vec<u8>> {
    let mut got = Vec::new();
    let mut calls = 0;
    let lent = port
        .receive(LATE, limit, &mut |burst| {
            calls += 1;
            got.extend((0..burst.len()).map(|index| burst.frame(index).to_vec()));
        })
        .expect("the port can be read");
    assert_eq!(lent, got.len(), "the answer is what was lent");
    assert_eq!(
        calls,
        u32::from(lent > 0),
        "read is called once, or not at all when there is nothing"
    );
    got
}

/// Collects `count` frames, at most `limit` a call.
pub fn gather(port: &mut dyn Port, count: usize, limit: usize) -> Vec<Vec<u8>> {
    let clock = Clock::start();
    let mut got = Vec::new();
    while got.len() < count {
        got.extend(receive(port, limit));
        assert!(clock.now() < Instant::ZERO + PATIENCE, "only {} of {count} frames came", got.len());
    }
    got
}

/// Collects `count` frames, then looks whether more come than that.
pub fn collect(port: &mut dyn Port, count: usize) -> Vec<Vec<u8>> {
    let mut got = gather(port, count, 64);
    if !port.info().has_exact_time() {
        sleep(Duration::from_ms(2));
    }
    got.extend(receive(port, 64));
    got
}
