//! The line of one member of a port: which frames wait for it, and when each one begins to leave.

use crate::adjacency::{Notes, note_on_line};
use crate::classes::Classes;
use crate::flight::{BURST, Flight};
use crate::pauses::Pauses;
use crate::pool::Pool;
use crate::queue::Queue;
use crate::service::{Line, wire_bytes};
use crate::shaping::{Fate, Shapers};
use crate::spec::LostAt;
use std::collections::VecDeque;

/// One egress line.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) line: Line,
    /// Frames by the time of their first bit: those that wait for the line, and behind them (at the front) those that
    /// have begun and were not handed to the port yet.
    pub(crate) queue: Queue<Flight>,
    /// How many frames may wait for the line, not counting the one on it.
    pub(crate) room: usize,
    /// At least so many at the front of `queue` have begun.
    pub(crate) begun: usize,
    /// Pauses of the line to come, in order. Each member has its own, though all pause at once: behind a shared server
    /// members are served one after another, each up to the same time.
    stalls: VecDeque<Stall>,
    /// Rows of pauses at fixed times; of each one is in `stalls`.
    rows: Vec<Pauses>,
    /// Pauses at fixed times so far.
    pub(crate) paused: u64,
    /// Queues by class and shapers in front of the line.
    pub(crate) classes: Option<Box<Classes>>,
    /// Shapers of subinterfaces in front of those.
    pub(crate) shapers: Option<Box<Shapers>>,
    /// Whether there are any of both, or pauses to come: seldom.
    pub(crate) special: bool,
    pub(crate) tx_frames: u64,
    pub(crate) drops: u64,
    /// Of which port, and the hellos that it lost.
    pub(crate) port: usize,
    pub(crate) lost: Notes,
}

/// A pause of a line.
#[derive(Clone, Copy, Debug)]
struct Stall {
    at: u64,
    length: u64,
    /// The row it is from, which knows the next one.
    row: Option<usize>,
}

impl Member {
    /// A line with room for so many frames to wait, which pauses as told.
    pub(crate) fn new(line: Line, room: usize, rows: Vec<Pauses>, classes: Option<Classes>, shapers: Option<Shapers>) -> Self {
        let mut member = Self {
            line,
            queue: Queue::with_room(64),
            room,
            begun: 0,
            stalls: VecDeque::new(),
            rows,
            paused: 0,
            special: classes.is_some() || shapers.is_some(),
            classes: classes.map(Box::new),
            shapers: shapers.map(Box::new),
            tx_frames: 0,
            drops: 0,
            port: 0,
            lost: None,
        };
        (0..member.rows.len()).for_each(|row| member.await_row(row));
        member
    }

    /// The line is to pause at `at`.
    pub(crate) fn pause(&mut self, at: u64, length: u64) {
        self.put(Stall { at, length, row: None });
    }

    fn await_row(&mut self, row: usize) {
        let (at, length) = self.rows[row].next();
        self.put(Stall {
            at,
            length,
            row: Some(row),
        });
    }

    fn put(&mut self, stall: Stall) {
        let place = self.stalls.partition_point(|other| other.at <= stall.at);
        self.stalls.insert(place, stall);
        self.special = true;
    }

    /// When the next frame begins to leave, or a shaper releases one.
    pub(crate) fn next_start(&self) -> u64 {
        let waiting = self.queue.front().map_or(u64::MAX, |flight| flight.at);
        let choice = self.classes.as_ref().and_then(|classes| classes.next(self.line.free()));
        let released = self.shapers.as_ref().and_then(|shapers| shapers.next());
        waiting.min(choice.unwrap_or(u64::MAX)).min(released.unwrap_or(u64::MAX))
    }

    /// Does what is due by `now` on a line that is special: all that arrives by then is known.
    #[cold]
    pub(crate) fn advance(&mut self, now: u64, pool: &mut Pool) {
        self.release(now, pool);
        self.stall(now);
    }

    /// Gives the line what shapers release by `until`.
    fn release(&mut self, until: u64, pool: &mut Pool) {
        let Some(mut shapers) = self.shapers.take() else { return };
        while let Some((number, flight)) = shapers.take(until) {
            let drops = self.drops;
            self.reach(flight, pool);
            shapers.count(number, self.drops == drops);
        }
        (self.shapers, self.special) = (Some(shapers), true);
    }

    /// A frame reaches the shapers.
    fn shape(&mut self, flight: Flight, pool: &mut Pool) {
        self.release(flight.at, pool);
        let Some(mut shapers) = self.shapers.take() else { return };
        let frame = pool.frame(flight.frame);
        let number = shapers.number(frame);
        match number.map_or(Fate::Passes, |number| shapers.offer(number, flight, frame)) {
            Fate::Passes => {
                let drops = self.drops;
                self.reach(flight, pool);
                number.iter().for_each(|number| shapers.count(*number, self.drops == drops));
            }
            Fate::Waits => {}
            Fate::Dropped(place) => {
                self.drops += 1;
                note_on_line(&mut self.lost, self.port, flight, pool, place);
                pool.give_back(flight.frame);
            }
        }
        (self.shapers, self.special) = (Some(shapers), true);
    }

    /// Gives the line to frames of classes that begin by `until`, all that arrive by then being known.
    pub(crate) fn give_line(&mut self, until: u64) {
        loop {
            let Some(classes) = &mut self.classes else { return };
            let free = self.line.free();
            let pause = self.stalls.front().copied().filter(|stall| stall.at <= until);
            if let Some(stall) = pause.filter(|stall| classes.next(free).is_none_or(|next| stall.at < next)) {
                self.stalls.pop_front();
                if let Some(row) = stall.row {
                    self.await_row(row);
                }
                if stall.length > 0 {
                    self.paused += u64::from(stall.row.is_some());
                    self.line.pause(None, stall.at.saturating_add(stall.length));
                }
                continue;
            }
            let Some((at, flight)) = classes.take(free, until) else { return };
            self.begin(Flight { at, ..flight }, free);
        }
    }

    /// A frame has the line at `flight.at`, which is free from `free` on.
    #[inline(always)]
    fn begin(&mut self, flight: Flight, free: u64) {
        // A line that is free within a picosecond is given away at that, not at the next one.
        let at = if flight.at == free { 0 } else { flight.at };
        let passage = self.line.carry(at, wire_bytes(flight.frame.len()));
        self.queue.push(Flight {
            at: passage.start,
            frame: flight.frame.late(passage.late),
        });
    }

    /// A frame reaches a line that is special.
    #[inline(never)]
    fn enqueue_special(&mut self, flight: Flight, pool: &mut Pool) {
        if self.shapers.is_some() {
            return self.shape(flight, pool);
        }
        self.reach(flight, pool);
    }

    /// A frame reaches the queues of a line that is special.
    #[inline]
    fn reach(&mut self, flight: Flight, pool: &mut Pool) {
        if (self.classes.is_none() && self.stalls.is_empty()) || !self.sort(flight, pool) {
            self.put_on_line(flight, pool);
        }
    }

    /// A frame reaches the queues by class, if there are any, of a line that may have pauses to come: whether there are.
    fn sort(&mut self, flight: Flight, pool: &mut Pool) -> bool {
        if !self.stalls.is_empty() || self.classes.as_ref().is_none_or(|classes| !classes.is_empty()) {
            self.stall(flight.at);
        }
        let Some(classes) = &mut self.classes else { return false };
        let free = self.line.free();
        if free <= flight.at && classes.can_bypass() {
            self.begin(flight, free);
            return true;
        }
        if let Err(class) = classes.enter(flight, pool.frame(flight.frame)) {
            self.drops += 1;
            note_on_line(&mut self.lost, self.port, flight, pool, LostAt::Class(class as u8));
            pool.give_back(flight.frame);
        }
        true
    }

    pub(crate) fn cut(&mut self, t: u64, until: u64, pool: &mut Pool) -> u64 {
        if self.special {
            self.advance(t, pool);
        }
        // Pauses that frames had brought are gone with them.
        self.stalls.retain(|stall| stall.row.is_some());
        // Frames were put in that reach the line later than `t`, and `begun` may be that of their time.
        let has_begun = |flight: &Flight| flight.at + u64::from(flight.frame.is_late()) <= t;
        let first = self.queue.records().partition_point(has_begun);
        self.begun = self.begun.min(first);
        let waiting = &self.queue.records()[first..];
        let next = waiting.first().map(|flight| flight.at + u64::from(flight.frame.is_late()));
        self.line.pause(next, until);
        waiting.iter().for_each(|flight| pool.give_back(flight.frame));
        let count = waiting.len() as u64;
        self.queue.truncate(first);
        count
            + self.classes.as_mut().map_or(0, |classes| classes.clear(pool))
            + self.shapers.as_mut().map_or(0, |shapers| shapers.clear(pool))
    }

    /// A frame reaches the line at `flight.at`. In order of time.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, flight: Flight, pool: &mut Pool) {
        if self.special {
            return self.enqueue_special(flight, pool);
        }
        self.put_on_line(flight, pool);
    }

    #[inline(always)]
    fn put_on_line(&mut self, flight: Flight, pool: &mut Pool) {
        let t = flight.at;
        // Those in the queue are at least as many as wait, and are seldom as many as may.
        if self.queue.len() >= self.room && self.line.free() > t && self.waiting(t) >= self.room {
            self.drops += 1;
            if self.lost.is_some() {
                note_on_line(&mut self.lost, self.port, flight, pool, LostAt::Line);
            }
            return pool.give_back(flight.frame);
        }
        let passage = self.line.carry(t, wire_bytes(flight.frame.len()));
        self.queue.push(Flight {
            at: passage.start,
            frame: flight.frame.late(passage.late),
        });
    }

    /// Whether a frame that reaches the line at `t` finds its queue full, and if so when there is room next. Without shapers.
    pub(crate) fn full_at(&mut self, t: u64) -> Option<u64> {
        if self.special {
            self.stall(t);
        }
        if self.line.free() <= t || self.waiting(t) < self.room {
            return None;
        }
        let next = self.queue.records().get(self.begun);
        Some(next.map_or(self.line.free(), |flight| flight.at + u64::from(flight.frame.is_late())))
    }

    /// Frames reach the line in this order.
    #[inline]
    pub(crate) fn enqueue_each(&mut self, flights: &[Flight], pool: &mut Pool) {
        if self.special || self.queue.len() + flights.len() > self.room {
            return flights.iter().for_each(|flight| self.enqueue(*flight, pool));
        }
        let first = self.queue.len();
        self.queue.extend(flights.iter().copied());
        self.line.carry_each(
            self.queue.records_mut()[first..].iter_mut(),
            |flight| (flight.at, wire_bytes(flight.frame.len())),
            |flight, passage| (flight.at, flight.frame) = (passage.start, flight.frame.late(passage.late)),
        );
    }

    /// How many frames wait for the line at `t`.
    fn waiting(&mut self, t: u64) -> usize {
        let begun = |flight: Flight| flight.at + u64::from(flight.frame.is_late()) <= t;
        let after = &self.queue.records()[self.begun..];
        self.begun += after.iter().position(|flight| !begun(*flight)).unwrap_or(after.len());
        self.queue.len() - self.begun
    }

    /// Applies the pauses that begin by `now`: frames that would have begun later wait for their end.
    #[cold]
    pub(crate) fn stall(&mut self, now: u64) {
        if self.classes.is_some() {
            return self.give_line(now);
        }
        while let Some(&Stall { at, length, row }) = self.stalls.front().filter(|stall| stall.at <= now) {
            self.stalls.pop_front();
            if let Some(row) = row {
                self.await_row(row);
            }
            if length == 0 {
                continue;
            }
            self.paused += u64::from(row.is_some());
            let first = self.queue.len() - self.waiting(at);
            let Self { line, queue, .. } = self;
            let waiting = &mut queue.records_mut()[first..];
            line.pause(
                waiting.first().map(|flight| flight.at + u64::from(flight.frame.is_late())),
                at.saturating_add(length),
            );
            for flight in waiting {
                let passage = line.carry(flight.at, wire_bytes(flight.frame.len()));
                (flight.at, flight.frame) = (passage.start, flight.frame.late(passage.late));
            }
        }
        self.special = !self.stalls.is_empty() || self.shapers.is_some();
    }

    /// The first `count` frames, of which there are as many, are no longer here.
    #[inline]
    pub(crate) fn give_back(&mut self, count: usize, pool: &mut Pool) {
        for flight in self.first(count) {
            pool.give_back(flight.frame);
        }
        self.queue.skip(count);
        self.queue.tidy();
        self.begun = self.begun.saturating_sub(count);
    }

    /// Frames that begin by `now`, at most a burst.
    #[inline]
    pub(crate) fn due(&self, now: u64) -> usize {
        let waiting = self.queue.records();
        let waiting = &waiting[..waiting.len().min(BURST)];
        match waiting.last() {
            Some(last) if last.at > now => waiting.partition_point(|flight| flight.at <= now),
            _ => waiting.len(),
        }
    }

    /// The first `count` frames; there must be as many.
    #[inline]
    pub(crate) fn first(&self, count: usize) -> &[Flight] {
        &self.queue.records()[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 11 Gbit/s a 64-byte frame has the line for 672 / 11 = 61.0909 ns, so the second of two begins 0.909 ps after
    /// 61,090 ps: a pause that begins at 61,090 ps comes before it.
    #[test]
    fn a_frame_that_begins_within_the_picosecond_of_a_pause_waits_for_its_end() {
        let mut pool = Pool::new(1514);
        let mut member = Member::new(Line::new(11_000_000_000).expect("a rate"), 4, Vec::new(), None, None);
        for _ in 0..3 {
            let frame = pool.store([0; 60].as_slice().into());
            member.enqueue(Flight { at: 0, frame }, &mut pool);
        }
        let starts = |member: &Member| -> Vec<_> { member.queue.records().iter().map(|it| (it.at, it.frame.is_late())).collect() };
        assert_eq!(starts(&member), [(0, false), (61_090, true), (122_181, true)]);
        member.pause(61_090, 1_000_000);
        member.stall(61_090);
        assert_eq!(starts(&member), [(0, false), (1_061_090, false), (1_122_180, true)]);
    }
}
