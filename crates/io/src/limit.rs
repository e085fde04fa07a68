//! A port with the faults of a tester, in virtual time: it takes too few frames, stops for a while, or loses some on the
//! way in or out, with or without counting them. For finding out whether a verdict ever takes a tester's own limit for
//! that of a device.
//!
//! Each direction is a first-come first-served queue with a deterministic server, decided when a frame comes to it, by the
//! exact time that the frame carries. Frames that pass keep their times: what a real tester's ring delays is not
//! emulated, only what it cannot hold.

use crate::claim::Claim;
use crate::looks::{FullTime, Span};
use crate::port::{Burst, Port, PortCounters, PortError, PortInfo, Slot};
use crate::time::{Clock, Instant};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What a port of the tester cannot do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortLimit {
    /// On sending. A frame that does not fit waits with the sender, which finds no room; if `silent`, it is lost before
    /// the wire.
    #[serde(default)]
    pub tx: Option<Limit>,
    /// On receiving. A frame that does not fit is lost, and counted unless `silent`.
    #[serde(default)]
    pub rx: Option<Limit>,
}

/// What one direction of a port cannot do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Frames per second, as a fraction; `None`: any number.
    #[serde(default)]
    pub fps: Option<(u64, u64)>,
    /// Frames that wait for their turn, not counting the one that has it. None wait where the sender does.
    #[serde(default)]
    pub room: u32,
    /// When nothing is done at all.
    #[serde(default)]
    pub pauses: Option<Pauses>,
    /// Whether what does not fit is gone without a trace.
    #[serde(default)]
    pub silent: bool,
    /// Whether there is a trace of it all the same: on sending how many were dropped (a card's own counter), on receiving
    /// that the ring was full (a memif).
    #[serde(default)]
    pub noticed: bool,
}

/// Pauses, at fixed times of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// When the first one begins.
    pub first_ns: u64,
    /// From the begin of one to that of the next.
    pub every_ns: u64,
    /// How long each is.
    pub for_ns: u64,
}

impl Pauses {
    /// The first time at or after `t` that lies in no pause.
    fn after(&self, t: u64) -> u64 {
        let (first, every, length) = (self.first_ns * 1000, self.every_ns * 1000, self.for_ns * 1000);
        let Some(since) = t.checked_sub(first) else { return t };
        let into = since % every;
        if into < length { t + (length - into) } else { t }
    }
}

/// Picoseconds in a second.
const SECOND: u64 = 1_000_000_000_000;

/// The queue of one direction.
#[derive(Debug)]
struct Gate {
    limit: Limit,
    /// Time each frame takes: whole picoseconds, and the rest in parts of the rate's frames.
    service: (u64, u64),
    frames: u64,
    /// When the last frame will be done.
    free: (u64, u64),
    /// When each frame that is not will be, rounded up.
    done: VecDeque<u64>,
    /// Nothing more is taken before this.
    shut_until: u64,
}

impl Gate {
    fn new(port: &str, limit: Limit) -> Result<Self, PortError> {
        let (frames, seconds) = limit.fps.unwrap_or((1, 0));
        let wrong = match limit.pauses {
            _ if frames == 0 => Some("0 frames per second: nothing would ever pass".to_owned()),
            Some(pauses) if pauses.every_ns <= pauses.for_ns => Some(format!(
                "pauses of {} ns every {} ns: nothing would ever pass",
                pauses.for_ns, pauses.every_ns
            )),
            _ => None,
        };
        let total = SECOND.checked_mul(seconds);
        match (wrong, total) {
            (None, Some(total)) => Ok(Self {
                limit,
                service: (total / frames, total % frames),
                frames,
                free: (0, 0),
                done: VecDeque::new(),
                shut_until: 0,
            }),
            (wrong, _) => Err(PortError::Unfit {
                port: port.to_owned(),
                why: format!("limit: {}", wrong.unwrap_or_else(|| "frames that take months each".to_owned())),
            }),
        }
    }

    /// The first time at or after `t` that is in no pause.
    fn awake(&self, t: u64) -> u64 {
        self.limit.pauses.map_or(t, |pauses| pauses.after(t))
    }

    /// A frame comes at `t`: whether it fits. The order is that of time.
    fn offer(&mut self, t: u64, room: usize) -> bool {
        while self.done.front().is_some_and(|done| *done <= t) {
            self.done.pop_front();
        }
        if self.done.len() > room {
            self.shut_until = self.done[self.done.len() - 1 - room];
            return false;
        }
        let begin = self.free.max((t, 0));
        let awake = self.awake(begin.0);
        let begin = if awake > begin.0 { (awake, 0) } else { begin };
        let part = u128::from(begin.1) + u128::from(self.service.1);
        let frames = u128::from(self.frames);
        self.free = (begin.0 + self.service.0 + (part / frames) as u64, (part % frames) as u64);
        let done = self.free.0 + u64::from(self.free.1 > 0);
        if done > t {
            self.done.push_back(done);
        }
        true
    }

    /// The same for a sender that waits until there is nothing before it, and is asleep in a pause.
    fn offer_now(&mut self, t: u64) -> bool {
        let awake = self.awake(t);
        if awake > t {
            self.shut_until = awake;
            return false;
        }
        let fits = self.offer(t, 0);
        self.shut_until = self.done.back().copied().unwrap_or(0).max(self.shut_until);
        fits
    }
}

/// A port with such a limit.
pub struct LimitedPort {
    port: Box<dyn Port>,
    tx: Option<Gate>,
    rx: Option<Gate>,
    /// Slots lent at once: few while the sender finds no room, since what it writes in vain is written again.
    lend: usize,
    /// Frames that were taken and never reached the wire.
    vanished: u64,
    /// Frames that arrived and were lost, counted or not.
    missed: u64,
    rx_dropped: u64,
    tx_full: u64,
    rx_full: u64,
    full_time: FullTime,
}

/// The most slots lent at once.
const MOST_LENT: usize = 256;

impl LimitedPort {
    /// `port`, which keeps virtual time, with what it cannot do.
    ///
    /// # Errors
    /// If nothing would ever pass, or the port is one of real time.
    pub fn new(port: Box<dyn Port>, limit: PortLimit) -> Result<Self, PortError> {
        let name = port.info().name.clone();
        if !port.info().has_exact_time() {
            return Err(PortError::Unfit {
                port: name,
                why: "a tester's faults are emulated in virtual time only".to_owned(),
            });
        }
        Ok(Self {
            tx: limit.tx.map(|limit| Gate::new(&name, limit)).transpose()?,
            rx: limit.rx.map(|limit| Gate::new(&name, limit)).transpose()?,
            port,
            lend: MOST_LENT,
            vanished: 0,
            missed: 0,
            rx_dropped: 0,
            tx_full: 0,
            rx_full: 0,
            full_time: FullTime::default(),
        })
    }
}

impl Port for LimitedPort {
    fn info(&self) -> &PortInfo {
        self.port.info()
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        let Some(gate) = &mut self.tx else {
            return self.port.transmit(now, limit, fill);
        };
        let (mut wrote, mut kept) = (0, 0);
        if gate.limit.silent {
            let room = gate.limit.room as usize;
            self.port.transmit(now, limit, &mut |burst| {
                wrote = fill(burst);
                kept = burst.keep(wrote, |slot| gate.offer(slot.at.ps, room));
                kept
            })?;
            self.vanished += (wrote - kept) as u64;
            return Ok(wrote);
        }
        let taken = self.port.transmit(now, limit.min(self.lend), &mut |burst| {
            wrote = fill(burst);
            let written = burst.slots().iter().take(wrote);
            kept = written.take_while(|slot| gate.offer_now(slot.at.ps)).count();
            // What was written beyond the burst is the port's to refuse.
            if wrote > burst.len() { wrote } else { kept }
        })?;
        if kept < wrote {
            self.tx_full += 1;
            self.lend = kept.max(1);
        } else {
            self.lend = (2 * self.lend).min(MOST_LENT);
        }
        Ok(taken)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        let Some(gate) = &mut self.rx else {
            return self.port.receive(now, limit, read);
        };
        let room = gate.limit.room as usize;
        let mut missed = 0;
        let lent = self.port.receive(now, limit, &mut |burst| {
            let all = burst.len();
            let kept = burst.keep(all, |slot| gate.offer(slot.at.ps, room));
            missed = (all - kept) as u64;
            if kept > 0 {
                read(&mut burst.first(kept));
            }
        })?;
        self.missed += missed;
        self.rx_dropped += if gate.limit.silent { 0 } else { missed };
        self.full_time.look(now);
        if gate.limit.silent && gate.limit.noticed && missed > 0 {
            self.rx_full += 1;
            self.full_time.full(now);
        }
        // As many as have arrived: that none of a burst is left does not mean that nothing more has come.
        Ok(lent)
    }

    fn next_arrival(&self) -> Option<Instant> {
        self.port.next_arrival()
    }

    fn room_from(&self) -> Instant {
        // Who loses frames without a trace does not say that there is no room.
        let own = self.tx.as_ref().filter(|gate| !gate.limit.silent);
        let own = own.map_or(0, |gate| gate.shut_until);
        Instant {
            ps: own.max(self.port.room_from().ps),
        }
    }

    fn claim(&mut self, claims: &[Claim]) -> Result<(), PortError> {
        self.port.claim(claims)
    }

    fn use_clock(&mut self, clock: Clock) {
        self.port.use_clock(clock);
    }

    fn ready(&mut self) -> Result<(), PortError> {
        self.full_time.begin();
        self.port.ready()
    }

    fn full_spans(&self) -> &[Span] {
        self.full_time.spans()
    }

    fn counters(&self) -> PortCounters {
        let counted = self.port.counters();
        PortCounters {
            tx_frames: counted.tx_frames + self.vanished,
            rx_frames: counted.rx_frames - self.missed,
            rx_dropped: counted.rx_dropped + self.rx_dropped,
            tx_full: counted.tx_full + self.tx_full,
            tx_dropped: if self.tx.as_ref().is_some_and(|gate| gate.limit.noticed) {
                self.vanished
            } else {
                0
            },
            rx_full: counted.rx_full + self.rx_full,
            rx_full_ns: counted.rx_full_ns + self.full_time.ns(),
            ..counted
        }
    }
}

impl std::fmt::Debug for LimitedPort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LimitedPort")
            .field("port", self.port.info())
            .field("tx", &self.tx)
            .field("rx", &self.rx)
            .finish_non_exhaustive()
    }
}

impl Burst<'_> {
    /// Moves those of the first `count` slots that `keep` says to the front, in order. How many.
    ///
    /// # Panics
    /// If there are not as many slots.
    fn keep(&mut self, count: usize, mut keep: impl FnMut(&Slot) -> bool) -> usize {
        let mut kept = 0;
        for index in 0..count {
            if keep(&self.slots()[index]) {
                self.swap(kept, index);
                kept += 1;
            }
        }
        kept
    }
}
