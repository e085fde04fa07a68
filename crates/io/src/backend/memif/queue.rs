//! One queue of a memif port.
//!
//! A burst is always in the port's own memory and copied between there and the shared ring, once each way: the peer can
//! write to shared memory at any time, and a slice over bytes that change is no slice. The copy is of lines that have to
//! come from the other core anyway, into memory that stays in the cache.

use super::attached::Attached;
use super::ends::Receiver;
use super::handshake::Ends;
use super::ring::Violation;
use crate::looks::Span;
use crate::port::{Burst, MIN_SENT_BYTES, Port, PortCounters, PortError, PortInfo, Slot, refuse_count, refuse_length};
use crate::pressure::BackPressure;
use crate::region::{Region, stride_for};
use crate::time::{Clock, Duration, Instant, sleep};
use std::sync::Arc;

/// The most slots lent at once: frames of 64 bytes then stay in the first cache.
const MAX_BURST: usize = 64;
/// How often a port that waits for its peer looks.
const LOOK: Duration = Duration::from_us(500);

/// Slots to lend and the memory they lie in.
#[derive(Debug)]
struct Own {
    memory: Region,
    slots: Box<[Slot]>,
}

impl Own {
    fn new(stride: usize, room: u32) -> Self {
        let slot = |index: usize| Slot {
            offset: (index * stride) as u32,
            len: room,
            at: Instant::ZERO,
        };
        Self {
            memory: Region::zeroed(MAX_BURST * stride),
            slots: (0..MAX_BURST).map(slot).collect(),
        }
    }
}

/// One queue of a port, used by one thread.
#[derive(Debug)]
pub struct MemifPort {
    info: PortInfo,
    attached: Arc<Attached>,
    queue: usize,
    /// While connected.
    ends: Option<Ends>,
    /// That of the link when it was last looked at.
    epoch: u64,
    /// How long the peer may be away before the port is gone; `None`: for ever.
    patience: Option<Duration>,
    /// Since when it is, as far as was noticed.
    away_since: Option<Instant>,
    tx: Own,
    rx: Own,
    counters: PortCounters,
    /// `rx_full` and `rx_full_ns` of the connections before this one.
    full_before: (u64, u64),
    /// The back pressure of those.
    pressed_before: BackPressure,
    /// Its own, to be patient by.
    watch: Clock,
    clock: Option<Clock>,
}

impl MemifPort {
    pub(super) fn new(info: PortInfo, attached: &Arc<Attached>, queue: usize, patience: Option<Duration>) -> Self {
        Self {
            tx: Own::new(stride_for(info.max_frame as usize), info.max_frame),
            rx: Own::new(Receiver::slot_bytes(info.max_frame), 0),
            info,
            attached: Arc::clone(attached),
            queue,
            ends: None,
            epoch: 0,
            patience,
            away_since: None,
            counters: PortCounters::default(),
            full_before: (0, 0),
            pressed_before: BackPressure::default(),
            watch: Clock::start(),
            clock: None,
        }
    }

    fn gone(&self, why: String) -> PortError {
        PortError::Gone {
            port: self.info.name.clone(),
            why,
        }
    }

    /// Ends the connection, as far as this queue goes; what it had of it.
    fn leave(&mut self) -> Option<Ends> {
        self.full_before = self.full();
        self.pressed_before = self.back_pressure();
        self.ends.take()
    }

    /// Looks that found the ring full, and the time before them, ns.
    fn full(&self) -> (u64, u64) {
        let (looks, ns) = self.full_before;
        let now = self.ends.as_ref().map(|ends| &ends.receiver);
        now.map_or((looks, ns), |it| (looks + it.full(), ns + it.full_ns()))
    }

    /// How the rings of the peers held this end back.
    fn back_pressure(&self) -> BackPressure {
        let now = self.ends.as_ref().map(|ends| ends.sender.back_pressure());
        self.pressed_before.and(now.unwrap_or_default())
    }

    /// Takes note of a connection made or lost. Whether one that was in use is no more: with what was in its rings.
    #[cold]
    fn look(&mut self) -> Option<String> {
        let before = self.leave();
        (self.epoch, self.ends) = self.attached.connection().fetch(self.queue);
        if self.ends.is_some() {
            self.away_since = None;
        }
        before.map(|_| self.attached.connection().last_end())
    }

    /// Looks at the link if something has changed. A port whose peer went is gone, unless it waits for ever.
    #[inline]
    fn keep_up(&mut self) -> Result<(), PortError> {
        if self.epoch == self.attached.connection().epoch() {
            return Ok(());
        }
        match self.look() {
            Some(why) if self.patience.is_some() => Err(self.gone(why)),
            _ => Ok(()),
        }
    }

    /// What a call finds that has no peer.
    #[cold]
    fn away(&mut self) -> Result<usize, PortError> {
        let now = self.watch.now();
        let since = *self.away_since.get_or_insert(now);
        match self.patience {
            Some(patience) if now.saturating_since(since) >= patience => {
                // Whoever goes on is as patient again.
                self.away_since = None;
                Err(self.still_away(patience))
            }
            _ => Ok(0),
        }
    }

    fn still_away(&self, patience: Duration) -> PortError {
        PortError::Absent {
            port: self.info.name.clone(),
            waited_ms: patience.ps / 1_000_000_000,
            why: self.attached.connection().absence(),
        }
    }

    /// The peer did what it may not: the connection ends.
    #[cold]
    fn broken(&mut self, violation: Violation) -> Result<usize, PortError> {
        self.leave();
        let why = format!("its peer broke the rules of memif: {violation}");
        self.attached.connection().end_for(self.epoch, violation);
        match self.patience {
            Some(_) => Err(self.gone(why)),
            None => Ok(0),
        }
    }
}

impl Port for MemifPort {
    fn info(&self) -> &PortInfo {
        &self.info
    }

    fn use_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    fn time(&self, now: Instant) -> Instant {
        self.clock.map_or(now, |clock| clock.now().max(now))
    }

    /// Waits for the peer; that it went and came back since the last trial is nothing to this one.
    fn ready(&mut self) -> Result<(), PortError> {
        let begin = self.watch.now();
        self.away_since = None;
        loop {
            if self.epoch != self.attached.connection().epoch() {
                self.look();
            }
            match self.patience {
                Some(patience) if self.ends.is_none() => {
                    if self.watch.now().saturating_since(begin) >= patience {
                        return Err(self.still_away(patience));
                    }
                }
                _ => {
                    if let Some(ends) = &mut self.ends {
                        ends.receiver.begin();
                    }
                    return Ok(());
                }
            }
            sleep(LOOK);
        }
    }

    fn transmit(&mut self, now: Instant, limit: usize, fill: &mut dyn FnMut(&mut Burst<'_>) -> usize) -> Result<usize, PortError> {
        self.keep_up()?;
        let wanted = limit.min(MAX_BURST);
        if wanted == 0 {
            return Ok(0);
        }
        let Some(ends) = &mut self.ends else {
            self.counters.tx_no_peer += 1;
            return self.away();
        };
        let count = match ends.sender.room_for(wanted, now) {
            Ok(room) => wanted.min(room),
            Err(violation) => return self.broken(violation),
        };
        if count == 0 {
            self.counters.tx_full += 1;
            return Ok(0);
        }
        ends.sender.expect(count);
        let max_frame = self.info.max_frame;
        let Own { memory, slots } = &mut self.tx;
        let (memory, slots) = (memory.bytes(), &mut slots[..count]);
        for slot in &mut *slots {
            slot.len = max_frame;
        }
        let wrote = fill(&mut Burst::new(memory, slots));
        if wrote > count {
            return Err(refuse_count(&self.info, wrote, count));
        }
        let slots = &slots[..wrote];
        for (index, slot) in slots.iter().enumerate() {
            if slot.len.wrapping_sub(MIN_SENT_BYTES) > max_frame - MIN_SENT_BYTES {
                return Err(refuse_length(&self.info, index, slot.len));
            }
        }
        let (sent, wake) = match ends.sender.send(memory, slots) {
            Ok(done) => done,
            Err(violation) => return self.broken(violation),
        };
        if wake {
            self.attached.connection().wake(self.queue);
        }
        self.counters.tx_full += u64::from(sent < wrote);
        self.counters.tx_frames += sent as u64;
        Ok(sent)
    }

    fn receive(&mut self, now: Instant, limit: usize, read: &mut dyn FnMut(&mut Burst<'_>)) -> Result<usize, PortError> {
        self.keep_up()?;
        let wanted = limit.min(MAX_BURST);
        if wanted == 0 {
            return Ok(0);
        }
        let Some(ends) = &mut self.ends else {
            return self.away();
        };
        loop {
            match ends
                .receiver
                .has_frames(wanted, now, || self.clock.map_or(now, |clock| clock.now()))
            {
                Ok(true) => {}
                Ok(false) => return Ok(0),
                Err(violation) => return self.broken(violation),
            }
            let at = self.clock.map_or(now, |clock| clock.now());
            let Own { memory, slots } = &mut self.rx;
            let found = match ends.receiver.receive(memory.bytes(), &mut slots[..wanted], at) {
                Ok(found) => found,
                Err(violation) => return self.broken(violation),
            };
            self.counters.rx_cut += found.cut as u64;
            if found.frames > 0 {
                read(&mut Burst::new(memory.bytes(), &mut slots[..found.frames]));
                self.counters.rx_frames += found.frames as u64;
                return Ok(found.frames);
            }
            // Frames that were all dropped are no answer: 0 would say that nothing more waits.
            if found.cut == 0 {
                return Ok(0);
            }
        }
    }

    fn full_spans(&self) -> &[Span] {
        self.ends.as_ref().map_or(&[], |ends| ends.receiver.full_spans())
    }

    fn peer(&self) -> Option<u32> {
        self.attached.connection().process()
    }

    fn counters(&self) -> PortCounters {
        let (rx_full, rx_full_ns) = self.full();
        PortCounters {
            rx_full,
            rx_full_ns,
            back_pressure: Some(self.back_pressure()),
            ..self.counters
        }
    }
}
