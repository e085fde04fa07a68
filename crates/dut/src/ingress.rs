//! From the line to the switching point: the far-end switch of a LAG, the ingress server, the shared server.

use crate::aggregation::Spread;
use crate::both_ways::BothWays;
use crate::egress::MEMBERS;
use crate::filter::{self, Processor};
use crate::flight::{BURST, Flight};
use crate::police::Policer;
use crate::pool::Pool;
use crate::queue::Queue;
use crate::service::{Line, Passage, Server, wire_bytes};
use crate::weary::{Fate, Memory};
use netdyno_io::port::Burst;

/// What a port takes in, and how it is spread over member inputs.
#[derive(Debug)]
pub(crate) struct Input {
    /// Index of its first member among all member inputs.
    pub(crate) first_input: usize,
    /// How the far end picks a member.
    pub(crate) partner: Spread,
    /// The far end's lines, one a member; none for a plain port, whose wire is the line itself.
    pub(crate) partner_lines: Vec<PartnerLine>,
    /// Nothing arrives before this: what has been decided stays decided, and frames stay in order.
    pub(crate) floor: u64,
    pub(crate) max_frame: usize,
    pub(crate) partner_drops: u64,
    pub(crate) malformed: u64,
    /// Frames lost because the link was down or the device was being reset.
    pub(crate) down_drops: u64,
    pub(crate) scratch: Box<Scratch>,
}

/// A line of the far-end switch of a LAG, with a finite queue in front.
#[derive(Debug)]
pub(crate) struct PartnerLine {
    pub(crate) line: Line,
    /// How many frames may wait, not counting the one on the line.
    pub(crate) room: usize,
    /// Starts, rounded up to whole picoseconds, of the frames that wait, as far as they have not been forgotten yet.
    pub(crate) starts: Queue<u64>,
}

/// One member of a port on its way in, and its shared server, which frames also pass on their way out.
#[derive(Debug)]
pub(crate) struct MemberInput {
    pub(crate) port: usize,
    pub(crate) member: usize,
    pub(crate) server: Option<Server>,
    /// What an overload of the server leaves behind. Boxed: member inputs without it stay small.
    pub(crate) memory: Option<Box<Memory>>,
    /// In front of the server. Boxed: member inputs without it stay small.
    pub(crate) police: Option<Box<Policer>>,
    /// Frames it dropped.
    pub(crate) policed: u64,
    /// What the server does beside forwarding. Boxed: member inputs without it stay small.
    pub(crate) processor: Option<Box<Processor>>,
    /// Boxed: member inputs without it stay small.
    pub(crate) shared: Option<Box<BothWays>>,
    /// Frames by the time they reach the switching point.
    pub(crate) ready: Queue<Flight>,
    pub(crate) rx_frames: u64,
    /// Frames that found the queue of `server` full, or that of an input that holds frames back.
    pub(crate) drops: u64,
    /// Of an input that holds frames back: how many wait at most, and what is known of the first.
    pub(crate) room: usize,
    pub(crate) head: Head,
}

/// What an input that waits knows of the frame at its head.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    /// When it came in; in the queue is when it may go on.
    pub(crate) came: Option<u64>,
    /// Where it goes, once that is decided.
    pub(crate) out: Option<usize>,
}

impl PartnerLine {
    /// A frame that takes `wire_bytes` (preamble and gap counted) arrives at `t`; `None` if it finds the queue full.
    #[inline(always)]
    fn admit(&mut self, t: u64, wire_bytes: u64) -> Option<Passage> {
        while self.starts.front().is_some_and(|start| start <= t) {
            self.starts.pop();
        }
        let free = self.line.free();
        if free > t {
            if self.starts.len() >= self.room {
                return None;
            }
            self.starts.push(free);
        }
        Some(self.line.carry(t, wire_bytes))
    }
}

/// What is known of a burst while it arrives; what is left in it means nothing.
#[derive(Debug)]
pub(crate) struct Scratch {
    all: Arrived,
    /// Of each of those, the member it is on; and their places, those of each member together.
    member_of: [u8; BURST],
    by_member: [u8; BURST],
    /// Those of one member.
    ours: Arrived,
}

/// Frames of a burst, and when they are due at their next stage.
#[derive(Debug)]
struct Arrived {
    /// Places in the burst.
    index: [u8; BURST],
    at: [u64; BURST],
    count: usize,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            all: Arrived::none(),
            member_of: [0; BURST],
            by_member: [0; BURST],
            ours: Arrived::none(),
        }
    }
}

impl Arrived {
    fn none() -> Self {
        Self {
            index: [0; BURST],
            at: [0; BURST],
            count: 0,
        }
    }

    /// One frame more, if `is_one`. No branch: which frames are lost is hard to foretell.
    #[inline(always)]
    fn add(&mut self, index: u8, at: u64, is_one: bool) {
        let place = self.count % BURST;
        (self.index[place], self.at[place]) = (index, at);
        self.count += usize::from(is_one);
    }
}

impl Input {
    /// Frames have arrived from the line, at most [`BURST`].
    pub(crate) fn arrive(&mut self, burst: &Burst<'_>, member_inputs: &mut [MemberInput], pool: &mut Pool) {
        let member_inputs = &mut member_inputs[self.first_input..];
        let Scratch {
            all,
            member_of,
            by_member,
            ours,
        } = &mut *self.scratch;
        all.count = 0;
        let lengths = crate::header::ETHERNET..=self.max_frame;
        for (index, slot) in burst.slots().iter().take(BURST).enumerate() {
            self.floor = self.floor.max(slot.at.ps);
            all.add(index as u8, self.floor, lengths.contains(&(slot.len as usize)));
        }
        let count = all.count;
        self.malformed += (burst.len() - count) as u64;
        if self.partner_lines.is_empty() {
            return member_inputs[0].take(burst, all, pool);
        }
        // Sorted by counting: how many are below each member is where its own begin.
        let mut ends = [0_u16; MEMBERS + 1];
        for (member, index) in member_of.iter_mut().zip(&all.index[..count]) {
            *member = self.partner.member(burst.frame(usize::from(*index))) as u8;
            ends[usize::from(*member) + 1] += 1;
        }
        for member in 1..=self.partner_lines.len() {
            ends[member] += ends[member - 1];
        }
        for (place, member) in (0..=u8::MAX).zip(&member_of[..count]) {
            let end = &mut ends[usize::from(*member)];
            by_member[usize::from(*end)] = place;
            *end += 1;
        }
        let mut first = 0;
        for ((line, member_input), end) in self.partner_lines.iter_mut().zip(member_inputs).zip(ends) {
            ours.count = 0;
            for place in &by_member[first..usize::from(end)] {
                let (index, at) = (all.index[usize::from(*place)], all.at[usize::from(*place)]);
                let bytes = wire_bytes(burst.slots()[usize::from(index)].len as u16);
                let passage = line.admit(at, bytes);
                ours.add(index, passage.map_or(0, |passage| passage.last_bit), passage.is_some());
            }
            line.starts.tidy();
            self.partner_drops += (usize::from(end) - first - ours.count) as u64;
            first = usize::from(end);
            member_input.take(burst, ours, pool);
        }
    }
}

impl MemberInput {
    /// Frames have arrived from the line.
    #[inline]
    fn take(&mut self, burst: &Burst<'_>, arrived: &mut Arrived, pool: &mut Pool) {
        let count = arrived.count;
        self.rx_frames += count as u64;
        if let Some(police) = &mut self.police {
            self.policed += police_each(police, burst, arrived);
        }
        let count = arrived.count;
        if let Some(processor) = &mut self.processor {
            self.drops += process_each(processor, self.server.as_mut(), burst, arrived);
        } else if let (Some(server), Some(memory)) = (&mut self.server, &mut self.memory) {
            self.drops += remember_each(server, memory, arrived);
        } else if let Some(server) = &mut self.server {
            // A copy of its own is kept in registers.
            let mut copy = server.clone();
            arrived.count = 0;
            for place in 0..count {
                let (admitted, done) = copy.offer(arrived.at[place]);
                arrived.add(arrived.index[place], done, admitted);
            }
            *server = copy;
            self.drops += (count - arrived.count) as u64;
        }
        let entry = match &mut self.shared {
            Some(shared) => &mut shared.inbound,
            None => &mut self.ready,
        };
        let taken = arrived.index[..arrived.count].iter().zip(&arrived.at[..arrived.count]);
        entry.extend(taken.map(|(index, at)| {
            let frame = burst.frame(usize::from(*index));
            Flight {
                at: *at,
                frame: pool.store(frame),
            }
        }));
    }
}

/// Leaves of what has arrived what a server takes that remembers its overloads; how many it dropped for a full queue.
#[cold]
fn remember_each(server: &mut Server, memory: &mut Memory, arrived: &mut Arrived) -> u64 {
    let count = std::mem::take(&mut arrived.count);
    let mut full = 0;
    for place in 0..count {
        let fate = memory.offer(server, arrived.at[place]);
        full += u64::from(fate == Fate::Full);
        if let Fate::Served(done) = fate {
            arrived.add(arrived.index[place], done, true);
        }
    }
    full
}

/// Leaves of what has arrived what a processor has room for and lets through; how many it had no room for.
#[cold]
fn process_each(processor: &mut Processor, mut server: Option<&mut Server>, burst: &Burst<'_>, arrived: &mut Arrived) -> u64 {
    let count = std::mem::take(&mut arrived.count);
    let mut full = 0;
    for place in 0..count {
        let (index, at) = (arrived.index[place], arrived.at[place]);
        match processor.offer(server.as_deref_mut(), at, burst.frame(usize::from(index))) {
            filter::Fate::Served(done) => arrived.add(index, done, true),
            filter::Fate::Full => full += 1,
            filter::Fate::Denied => {}
        }
    }
    full
}

/// Leaves of what has arrived what the policer lets through; how many it dropped.
#[cold]
fn police_each(police: &mut Policer, burst: &Burst<'_>, arrived: &mut Arrived) -> u64 {
    let count = std::mem::take(&mut arrived.count);
    for place in 0..count {
        let (index, at) = (arrived.index[place], arrived.at[place]);
        let passes = police.offer(at, burst.frame(usize::from(index)));
        arrived.add(index, at, passes);
    }
    (count - arrived.count) as u64
}

impl MemberInput {
    /// A reset: all that is on its way is lost; how many frames that are.
    pub(crate) fn clear(&mut self, pool: &mut Pool) -> u64 {
        let mut lost = pool.give_back_all(&mut self.ready);
        self.head = Head::default();
        self.server.iter_mut().for_each(Server::clear);
        self.memory.iter_mut().for_each(|memory| memory.clear());
        self.processor.iter_mut().for_each(|processor| processor.clear());
        if let Some(shared) = &mut self.shared {
            lost += shared.clear(pool);
        }
        lost
    }
}
