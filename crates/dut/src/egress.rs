//! From the switching point to the line: delay without overtaking, faults, the choice of a member, the line.

use crate::flight::Flight;
use crate::impair::Impair;
use crate::lag::Spread;
use crate::pool::{self, Pool};
use crate::ring::Ring;
use crate::service::{Line, wire_bytes};
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::Instant;
use std::collections::VecDeque;

/// Frames handed to a port at once.
pub(crate) const BURST: usize = 256;
/// Members a group may have (IEEE 802.1AX sets no limit; devices have 8, 16 or 64).
pub(crate) const MEMBERS: usize = 64;

/// What leaves by one port.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) spread: Spread,
    pub(crate) members: Vec<Member>,
    /// Whose the frames of the burst under way are.
    pub(crate) order: [u8; BURST],
    /// When the last frame left the delay: none overtakes it.
    pub(crate) last: u64,
    pub(crate) impair: Option<Impair>,
    /// Frames held back to be overtaken.
    pub(crate) held: Vec<Held>,
}

/// A frame that is held back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Frames that have yet to overtake it.
    pub(crate) left: u32,
    /// When it is let go if they do not come.
    pub(crate) until: u64,
    pub(crate) flight: Flight,
}

/// One egress line.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) line: Line,
    /// Frames by the time of their first bit.
    pub(crate) queue: Ring<Flight>,
    /// Pauses of the line to come: when, and for how long. Each member has its own, though all pause at once:
    /// behind a shared server members are served one after another, each up to the same time.
    pub(crate) stalls: VecDeque<(u64, u64)>,
    pub(crate) tx_frames: u64,
    pub(crate) drops: u64,
}

impl Output {
    /// A frame reaches the line of `member` at `flight.at`. In order of time per member.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, member: usize, flight: Flight, pool: &mut Pool) {
        let member = &mut self.members[member];
        if !member.stalls.is_empty() {
            member.stall(flight.at);
        }
        match member.line.admit(flight.at, wire_bytes(flight.len)) {
            Some(passage) => member.queue.push(Flight {
                at: passage.start,
                ..flight
            }),
            None => {
                member.drops += 1;
                pool.give_back(flight.slot, flight.len);
            }
        }
    }

    /// When the next frame begins to leave.
    pub(crate) fn next_start(&self) -> u64 {
        let starts = self.members.iter().filter_map(|member| member.queue.front());
        starts.map(|flight| flight.at).min().unwrap_or(u64::MAX)
    }

    /// Hands to `port` what begins by `now`.
    pub(crate) fn transmit(&mut self, port: &mut dyn Port, now: Instant, pool: &mut Pool) -> Result<(), PortError> {
        for member in self.members.iter_mut().filter(|member| !member.stalls.is_empty()) {
            member.stall(now.ps);
        }
        loop {
            let due: usize = self.members.iter().map(|member| member.due(now.ps)).sum();
            let limit = due.min(BURST);
            if limit == 0 {
                return Ok(());
            }
            let (members, order) = (&self.members, &mut self.order);
            let taken = port.transmit(now, limit, &mut |burst| {
                let room = burst.len().min(limit);
                let write = |index, flight: Flight| {
                    pool::copy(burst.frame_mut(index), pool.frame(flight.slot, flight.len));
                    burst.set(index, flight.len as usize, Instant { ps: flight.at });
                };
                match &members[..] {
                    [only] => only.visit(room, write),
                    _ => merge(members, &mut order[..room], write),
                }
                room
            })?;
            self.forget(taken, pool);
            if taken < limit {
                return Ok(());
            }
        }
    }

    /// The first `count` frames in [`Self::order`] have left.
    fn forget(&mut self, count: usize, pool: &mut Pool) {
        if let [only] = &mut self.members[..] {
            only.visit(count, |_, flight| pool.give_back(flight.slot, flight.len));
            only.queue.skip(count);
            only.queue.rewind();
            only.tx_frames += count as u64;
            return;
        }
        for member in &self.order[..count] {
            let member = &mut self.members[usize::from(*member)];
            let Some(flight) = member.queue.pop() else { return };
            member.tx_frames += 1;
            pool.give_back(flight.slot, flight.len);
        }
        for member in &mut self.members {
            member.queue.rewind();
        }
    }
}

impl Member {
    /// Applies the pauses that begin by `now`: frames that would have begun later wait for their end.
    #[cold]
    fn stall(&mut self, now: u64) {
        let Self { line, queue, stalls, .. } = self;
        while let Some(&(at, length)) = stalls.front().filter(|(at, _)| *at <= now) {
            stalls.pop_front();
            line.pause(at, at.saturating_add(length));
            for index in 0..queue.len() {
                if let Some(flight) = queue.get_mut(index).filter(|flight| flight.at > at) {
                    flight.at = line.again(flight.at, wire_bytes(flight.len));
                }
            }
        }
    }

    /// Frames that begin by `now`, at most a burst.
    #[inline]
    fn due(&self, now: u64) -> usize {
        let waiting = self.queue.len().min(BURST);
        if waiting == 0 || self.queue.get(waiting - 1).is_some_and(|flight| flight.at <= now) {
            return waiting;
        }
        // Starts never go back: halves are enough.
        let (front, beyond) = self.queue.first(waiting);
        let due = |flights: &[Flight]| flights.partition_point(|flight| flight.at <= now);
        match due(front) {
            all if all == front.len() => all + due(beyond),
            some => some,
        }
    }

    /// The first `count` frames with their indices; there must be as many.
    #[inline]
    fn visit(&self, count: usize, mut with: impl FnMut(usize, Flight)) {
        let (front, beyond) = self.queue.first(count);
        for (index, flight) in front.iter().enumerate() {
            with(index, *flight);
        }
        for (index, flight) in beyond.iter().enumerate() {
            with(front.len() + index, *flight);
        }
    }
}

/// Visits the first frames of all members in order of their first bit (at the same picosecond the lower member
/// first) and notes whose each is. There must be as many as `order` has places.
#[inline]
fn merge(members: &[Member], order: &mut [u8], mut visit: impl FnMut(usize, Flight)) {
    let mut taken = [0; MEMBERS];
    let mut heads = [u64::MAX; MEMBERS];
    let heads = &mut heads[..members.len()];
    for (head, member) in heads.iter_mut().zip(members) {
        *head = member.queue.front().map_or(u64::MAX, |flight| flight.at);
    }
    for (index, place) in order.iter_mut().enumerate() {
        let mut first = 0;
        for member in 1..heads.len() {
            if heads[member] < heads[first] {
                first = member;
            }
        }
        let queue = &members[first].queue;
        visit(index, queue.get(taken[first]).expect("the caller counted the frames"));
        taken[first] += 1;
        heads[first] = queue.get(taken[first]).map_or(u64::MAX, |flight| flight.at);
        *place = first as u8;
    }
}
