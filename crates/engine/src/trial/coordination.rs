//! What the workers of a trial tell each other while it runs: plain numbers, and no lock on the way of a test frame.
//!
//! One of them leads: it resolves, decides when traffic begins and until when arrivals count. The others follow.

use super::opening::Mappings;
use netdyno_frame::spec::Mac;
use netdyno_io::reason::Reason;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Frames that wait for the lead to hear them at most.
const MOST_HEARD: usize = 256;

/// How often a worker says how far it has come, and the lead looks: else the lines that it stands on would travel between the
/// cores in every round.
pub const TELL_PS: u64 = 100_000_000;

/// A frame that is not a test frame, which a follower received and the lead answers for.
#[derive(Debug)]
pub struct Heard {
    pub port: usize,
    pub at_ps: u64,
    pub frame: Vec<u8>,
}

/// A next hop that answered: whose frames go there, and its address.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub port: usize,
    /// Of the port's sender.
    pub lane: usize,
    pub mac: Mac,
}

/// What every worker is to know when traffic is about to begin.
#[derive(Debug)]
pub struct Call {
    /// The next hops.
    pub hops: Vec<Answer>,
    /// How the device maps flows.
    pub mappings: Mappings,
    /// What is added to the departures that probes hold, per stream.
    pub shifts_ps: Vec<i64>,
}

/// What a follower says of itself. On cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Said {
    /// Set when it has heard the call and is ready for traffic.
    is_ready: AtomicBool,
    /// Set when it sends no more test frames.
    has_sent: AtomicBool,
    last_departure_ps: AtomicU64,
    /// Per port: frames and bytes sent and received.
    moved: Vec<[AtomicU64; 4]>,
}

/// What the lead and the followers of one trial tell each other.
#[derive(Debug)]
pub struct Coordination {
    /// `u64::MAX` until it is known.
    start_ps: AtomicU64,
    /// `u64::MAX` until it is known.
    until_ps: AtomicU64,
    is_halted: AtomicBool,
    is_over: AtomicBool,
    /// Known when the lead calls.
    call: OnceLock<Call>,
    /// Next hops that moved to another address since, each once, where it went last and by which move; and how many moves
    /// there were.
    moves: Mutex<Vec<(usize, Answer)>>,
    moved: AtomicUsize,
    followers: Vec<Said>,
    waiting: AtomicUsize,
    heard: Mutex<Vec<Heard>>,
    /// Frames that nobody heard.
    unheard: AtomicU64,
    has_failed: AtomicBool,
    failures: Mutex<Vec<Reason>>,
}

impl Coordination {
    /// Of a trial with so many followers and ports.
    #[must_use]
    pub fn new(followers: usize, ports: usize) -> Self {
        let said = || Said {
            is_ready: AtomicBool::new(false),
            has_sent: AtomicBool::new(false),
            last_departure_ps: AtomicU64::new(0),
            moved: (0..ports).map(|_| Default::default()).collect(),
        };
        Self {
            start_ps: AtomicU64::new(u64::MAX),
            until_ps: AtomicU64::new(u64::MAX),
            is_halted: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            call: OnceLock::new(),
            moves: Mutex::new(Vec::new()),
            moved: AtomicUsize::new(0),
            followers: (0..followers).map(|_| said()).collect(),
            waiting: AtomicUsize::new(0),
            heard: Mutex::new(Vec::new()),
            unheard: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            failures: Mutex::new(Vec::new()),
        }
    }

    /// Traffic is about to begin: each follower is to say that it is [ready](Self::is_ready).
    pub fn call(&self, call: Call) {
        // There is one lead, which calls once.
        let _ = self.call.set(call);
    }

    /// What to know of it, once the lead has called.
    pub fn called(&self) -> Option<&Call> {
        self.call.get()
    }

    /// Follower `number` has heard the call: what its ports drop from now on counts, and what they receive it takes in only
    /// when it knows the start.
    pub fn is_ready(&self, number: usize) {
        self.followers[number].is_ready.store(true, Ordering::Release);
    }

    /// The followers that have not said so.
    pub fn not_ready(&self) -> impl Iterator<Item = usize> {
        let waits = |said: &Said| !said.is_ready.load(Ordering::Acquire);
        (0..)
            .zip(&self.followers)
            .filter(move |(_, said)| waits(said))
            .map(|(number, _)| number)
    }

    /// Traffic begins at `at_ps`.
    pub fn begin(&self, at_ps: u64) {
        self.start_ps.store(at_ps, Ordering::Release);
    }

    /// When traffic begins, once that is known.
    pub fn start(&self) -> Option<u64> {
        let at = self.start_ps.load(Ordering::Acquire);
        (at != u64::MAX).then_some(at)
    }

    /// A next hop has another address now. Where it went before is forgotten: two boxes with one address may have it move
    /// with every frame.
    pub fn redirect(&self, hop: Answer) {
        let mut moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        // Written under the lock alone.
        let number = self.moved.load(Ordering::Relaxed) + 1;
        match moves.iter_mut().find(|(_, it)| (it.port, it.lane) == (hop.port, hop.lane)) {
            Some(known) => *known = (number, hop),
            None => moves.push((number, hop)),
        }
        self.moved.store(number, Ordering::Release);
    }

    /// Where next hops are that moved after the first `known` moves, which then become all there were.
    pub fn moves(&self, known: &mut usize) -> Vec<Answer> {
        if self.moved.load(Ordering::Acquire) == *known {
            return Vec::new();
        }
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(known, self.moved.load(Ordering::Relaxed));
        moves.iter().filter(|(number, _)| *number > before).map(|(_, hop)| *hop).collect()
    }

    /// No more test frames are to be sent.
    pub fn halt(&self) {
        self.is_halted.store(true, Ordering::Relaxed);
    }

    pub fn is_halted(&self) -> bool {
        self.is_halted.load(Ordering::Relaxed)
    }

    /// Arrivals count until `until_ps`.
    pub fn drain(&self, until_ps: u64) {
        self.until_ps.store(until_ps, Ordering::Relaxed);
    }

    /// Until when arrivals count, once it is known.
    pub fn until_ps(&self) -> Option<u64> {
        let until = self.until_ps.load(Ordering::Relaxed);
        (until != u64::MAX).then_some(until)
    }

    /// The trial has ended before its time.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Follower `number` sends no more; its last test frame departed at `last_ps`.
    pub fn has_sent(&self, number: usize, last_ps: u64) {
        let said = &self.followers[number];
        said.last_departure_ps.store(last_ps, Ordering::Relaxed);
        said.has_sent.store(true, Ordering::Release);
    }

    /// The last departure of all followers, once none of them sends any more.
    pub fn all_have_sent(&self) -> Option<u64> {
        let last = |said: &Said| {
            said.has_sent
                .load(Ordering::Acquire)
                .then(|| said.last_departure_ps.load(Ordering::Relaxed))
        };
        self.followers.iter().map(last).try_fold(0, |latest, last| Some(last?.max(latest)))
    }

    /// Follower `number` has sent and received so much on port `port`.
    pub fn tell(&self, number: usize, port: usize, moved: [u64; 4]) {
        for (cell, value) in self.followers[number].moved[port].iter().zip(moved) {
            cell.store(value, Ordering::Relaxed);
        }
    }

    /// What all followers have sent and received on port `port`.
    pub fn moved_on(&self, port: usize) -> [u64; 4] {
        let mut sum = [0; 4];
        for said in &self.followers {
            for (sum, cell) in sum.iter_mut().zip(&said.moved[port]) {
                *sum += cell.load(Ordering::Relaxed);
            }
        }
        sum
    }

    /// A follower received a frame that the lead is to hear. Of a flood the rest is not heard, and counted.
    #[cold]
    pub fn hear(&self, port: usize, at_ps: u64, frame: &[u8]) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() < MOST_HEARD {
            heard.push(Heard {
                port,
                at_ps,
                frame: frame.to_vec(),
            });
            self.waiting.store(heard.len(), Ordering::Release);
        } else {
            self.unheard.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Frames that the lead was to hear and did not.
    pub fn unheard(&self) -> u64 {
        self.unheard.load(Ordering::Relaxed)
    }

    /// What the lead is to hear.
    pub fn heard(&self) -> Vec<Heard> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.store(0, Ordering::Relaxed);
        std::mem::take(&mut *heard)
    }

    /// A follower cannot go on.
    pub fn fail(&self, why: Reason) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(why);
        self.has_failed.store(true, Ordering::Release);
    }

    /// Why followers could not go on.
    pub fn failures(&self) -> Vec<Reason> {
        if self.has_failed.load(Ordering::Acquire) {
            std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner))
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTERS: [Mac; 2] = [Mac([2, 0, 0, 0, 0, 0x0a]), Mac([2, 0, 0, 0, 0, 0x0b])];

    #[test]
    fn of_a_hop_that_moves_with_every_frame_the_last_place_is_kept() {
        let coordination = Coordination::new(1, 2);
        let mut known = 0;
        let told = |known: &mut usize| -> Vec<_> { coordination.moves(known).iter().map(|it| (it.port, it.lane, it.mac)).collect() };
        assert_eq!(told(&mut known), []);
        for number in 0..100_001 {
            let (port, lane, mac) = (1, 3, ROUTERS[number % 2]);
            coordination.redirect(Answer { port, lane, mac });
        }
        assert_eq!(told(&mut known), [(1, 3, ROUTERS[0])]);
        assert_eq!(told(&mut known), []);
        // Another lane, and another port's lane of the same number, are others.
        for (port, lane, mac) in [(1, 2, ROUTERS[0]), (0, 3, ROUTERS[1])] {
            coordination.redirect(Answer { port, lane, mac });
        }
        assert_eq!(told(&mut known), [(1, 2, ROUTERS[0]), (0, 3, ROUTERS[1])]);
        // A latecomer gets every message, each once.
        assert_eq!(told(&mut 0), [(1, 3, ROUTERS[0]), (1, 2, ROUTERS[0]), (0, 3, ROUTERS[1])]);
    }
}
