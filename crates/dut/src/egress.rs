//! From the switching point to the line: delay without overtaking, faults, the choice of a member, the line.

use crate::aggregation::{MEMBERS, Spread};
use crate::by_member::ByMember;
use crate::flight::{self, BURST, Flight};
use crate::impair::Impair;
use crate::member::Member;
use crate::pool::{Pool, SMALL};
use crate::shown::Shown;
use netdyno_io::port::{Port, PortError};
use netdyno_io::time::Instant;
use std::collections::VecDeque;

/// What leaves by one port.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) spread: Spread,
    pub(crate) members: Vec<Member>,
    /// Frames through the delay that their member or its server has not been given yet; empty between switchings.
    pub(crate) leaving: Vec<Flight>,
    /// Frames on their way to a group's members.
    pub(crate) by_member: Box<ByMember<Flight>>,
    /// Frames of the burst under way, if they are of several members, and whose they are.
    pub(crate) merged: Box<[Flight; BURST]>,
    pub(crate) order: [u8; BURST],
    /// Flows of each member of a group.
    pub(crate) shown: Shown,
    /// When the last frame left the delay: none overtakes it.
    pub(crate) last: u64,
    pub(crate) impair: Option<Impair>,
    /// Frames held back to be overtaken.
    pub(crate) held: Vec<Held>,
    /// Frames that leave the delay later than others, by the time they do.
    pub(crate) kept: VecDeque<Flight>,
    /// Frames lost because the link was down.
    pub(crate) down_drops: u64,
}

/// Forwarding delay, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delay {
    pub(crate) fixed: u64,
    /// A byte, FCS counted.
    pub(crate) per_byte: u64,
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

impl Output {
    /// A frame leaves the switching point: when it is through the delay. None overtakes another.
    #[inline(always)]
    pub(crate) fn delay(&mut self, flight: Flight, delay: Delay) -> Flight {
        let size = u64::from(flight.frame.len()).max(netdyno_io::port::MIN_SLOT_BYTES) + 4;
        self.last = self.last.max(flight.at + delay.fixed + delay.per_byte * size);
        Flight { at: self.last, ..flight }
    }

    /// The same, without it leaving.
    pub(crate) fn leaves_at(&self, flight: Flight, delay: Delay) -> u64 {
        let size = u64::from(flight.frame.len()).max(netdyno_io::port::MIN_SLOT_BYTES) + 4;
        self.last.max(flight.at + delay.fixed + delay.per_byte * size)
    }

    /// When the next frame begins to leave.
    pub(crate) fn next_start(&self) -> u64 {
        self.members.iter().map(Member::next_start).min().unwrap_or(u64::MAX)
    }

    /// Hands to `port` what begins by `now`.
    pub(crate) fn transmit(&mut self, port: &mut dyn Port, now: Instant, pool: &mut Pool) -> Result<(), PortError> {
        for member in self.members.iter_mut().filter(|member| member.special) {
            member.advance(now.ps, pool);
        }
        loop {
            let due: usize = self.members.iter().map(|member| member.due(now.ps)).sum();
            let limit = due.min(BURST);
            if limit == 0 {
                return Ok(());
            }
            let (members, merged, order) = (&self.members, &mut *self.merged, &mut self.order);
            let taken = port.transmit(now, limit, &mut |burst| {
                let room = burst.len().min(limit);
                let flights = match &members[..] {
                    [only] => only.first(room),
                    _ => {
                        // By their first bit.
                        let mut rows: [&[Flight]; MEMBERS] = [&[]; MEMBERS];
                        rows.iter_mut().zip(members).for_each(|(row, member)| *row = member.queue.records());
                        flight::merge(&rows[..members.len()], &mut merged[..room], |index, member| {
                            order[index] = member as u8
                        });
                        &merged[..room]
                    }
                };
                let longest = flights.iter().map(|flight| flight.frame.len()).max().unwrap_or(0);
                if usize::from(longest) <= SMALL {
                    let mut frames = flights.iter().map(|flight| flight.frame);
                    let departures = flights.iter().map(|flight| Instant { ps: flight.at });
                    burst.fill(0, departures, |to| frames.next().map_or(0, |frame| pool.copy_short(to, frame)));
                    return room;
                }
                burst.fill_with(flights.iter().map(|flight| (pool.seen(flight.frame), Instant { ps: flight.at })));
                room
            })?;
            if self.members.len() > 1 && self.shown.is_open() {
                for (member, flight) in self.order.iter().zip(&*self.merged).take(taken) {
                    self.shown.note(usize::from(*member), pool.frame(flight.frame));
                }
            }
            self.forget(taken, pool);
            if taken < limit {
                return Ok(());
            }
        }
    }

    /// The link is down: what begins by `now` is lost.
    #[cold]
    pub(crate) fn spill(&mut self, now: u64, pool: &mut Pool) {
        for member in &mut self.members {
            if member.special {
                member.advance(now, pool);
            }
            while let count @ 1.. = member.due(now) {
                member.give_back(count, pool);
                self.down_drops += count as u64;
            }
        }
    }

    /// All that has not begun to leave by `t` is lost, and nothing begins before `until`; how many frames that are.
    pub(crate) fn cut(&mut self, t: u64, until: u64, pool: &mut Pool) -> u64 {
        let held = self.held.drain(..).map(|held| held.flight).chain(self.kept.drain(..));
        let behind: u64 = held.map(|flight| pool.give_back(flight.frame)).map(|()| 1).sum();
        behind + self.members.iter_mut().map(|member| member.cut(t, until, pool)).sum::<u64>()
    }

    /// The first `count` frames in [`Self::order`] have left.
    fn forget(&mut self, count: usize, pool: &mut Pool) {
        if let [only] = &mut self.members[..] {
            only.give_back(count, pool);
            only.tx_frames += count as u64;
            return;
        }
        let mut counts = [0; MEMBERS];
        for member in &self.order[..count] {
            counts[usize::from(*member)] += 1;
        }
        for (member, count) in self.members.iter_mut().zip(counts) {
            member.give_back(count, pool);
            member.tx_frames += count as u64;
        }
    }
}

/// The lowest of `heads` and where it is; of equal ones the first.
#[inline(always)]
pub(crate) fn earliest(heads: &[u64]) -> (usize, u64) {
    // By far the most devices on a bench have two plain ports: no loop for those.
    if let [one, other] = *heads {
        return if other < one { (1, other) } else { (0, one) };
    }
    let mut first = (0, u64::MAX);
    for (index, head) in heads.iter().enumerate() {
        if *head < first.1 {
            first = (index, *head);
        }
    }
    first
}
