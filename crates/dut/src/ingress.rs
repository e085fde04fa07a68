//! From the line to the switching point: the far-end switch of a LAG, the ingress server, the shared server.

use crate::adjacency::{Notes, note};
use crate::aggregation::Spread;
use crate::both_ways::BothWays;
use crate::by_member::ByMember;
use crate::filter::{self, Processor};
use crate::flight::{BURST, Flight};
use crate::police::Policer;
use crate::pool::Pool;
use crate::queue::Queue;
use crate::recovery::{Fate, Memory};
use crate::service::{Line, Server, wire_bytes};
use crate::spec::LostAt;
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
    /// Starts, rounded up to whole picoseconds, of the frames that came, as far as they have not been forgotten yet. Those that
    /// have begun are forgotten before anyone counts how many wait.
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
    /// Hellos that were lost here.
    pub(crate) lost: Notes,
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
    /// Frames arrive in front of the line: leaves those that find room in its queue, by the time of their last bit; how many it
    /// dropped.
    #[inline(never)]
    fn admit_each(&mut self, burst: &Burst<'_>, arrived: &mut Arrived<'_>) -> u64 {
        let count = arrived.count;
        let Some(first) = arrived.left().first() else { return 0 };
        let begun = match self.starts.records() {
            [.., last] if *last <= first.at => self.starts.len(),
            starts => starts.partition_point(|start| *start <= first.at),
        };
        self.starts.skip(begun);
        self.starts.tidy();
        let Self { line, room, starts } = self;
        let bytes = |arrival: &Arrival| wire_bytes(burst.slots()[usize::from(arrival.index)].len as u16);
        if starts.len() + count <= *room {
            // There is room for all, even if none of those that wait begins meanwhile.
            let waiting = starts.len();
            let frames = &mut arrived.frames[..count];
            starts.extend(frames.iter().map(|arrival| arrival.at));
            line.carry_each(
                frames.iter_mut().zip(&mut starts.records_mut()[waiting..]),
                |(arrival, _)| (arrival.at, bytes(arrival)),
                |(arrival, start), passage| {
                    *start = passage.start + u64::from(passage.late);
                    arrival.at = passage.last_bit;
                },
            );
            return 0;
        }
        arrived.keep(|arrival| {
            let t = arrival.at;
            while starts.front().is_some_and(|start| start <= t) {
                starts.pop();
            }
            let free = line.free();
            if free > t {
                if starts.len() >= *room {
                    return (false, 0);
                }
                starts.push(free);
            }
            (true, line.carry(t, bytes(&arrival)).last_bit)
        });
        (count - arrived.count) as u64
    }
}

/// What is known of a burst while it arrives; what is left in it means nothing.
#[derive(Debug)]
pub(crate) struct Scratch {
    all: [Arrival; BURST],
    by_member: ByMember<Arrival>,
}

/// A frame of a burst.
#[derive(Clone, Copy, Debug, Default)]
struct Arrival {
    /// When it is due at its next stage.
    at: u64,
    /// Its place in the burst.
    index: u8,
}

/// Frames of a burst that have come to the same stage, of which some may be lost there.
#[derive(Debug)]
struct Arrived<'a> {
    frames: &'a mut [Arrival],
    /// Only the first so many are left.
    count: usize,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            all: [Arrival::default(); BURST],
            by_member: ByMember::new(),
        }
    }
}

impl<'a> Arrived<'a> {
    /// All of `frames`.
    fn all(frames: &'a mut [Arrival]) -> Self {
        let count = frames.len();
        Self { frames, count }
    }

    fn left(&self) -> &[Arrival] {
        &self.frames[..self.count]
    }

    /// Keeps of those that are left the ones that `pass` gives a time for the next stage, if its first answer is true.
    /// No branch: which frames are lost is hard to foretell.
    #[inline(always)]
    fn keep(&mut self, mut pass: impl FnMut(Arrival) -> (bool, u64)) {
        let mut kept = 0;
        for place in 0..self.count {
            let arrival = self.frames[place];
            let (passes, at) = pass(arrival);
            self.frames[kept] = Arrival { at, ..arrival };
            kept += usize::from(passes);
        }
        self.count = kept;
    }
}

impl Input {
    /// Frames have arrived from the line, at most [`BURST`].
    pub(crate) fn arrive(&mut self, burst: &Burst<'_>, member_inputs: &mut [MemberInput], pool: &mut Pool) {
        let member_inputs = &mut member_inputs[self.first_input..];
        let Scratch { all, by_member } = &mut *self.scratch;
        let mut count = 0;
        let lengths = crate::header::ETHERNET..=self.max_frame;
        for (index, slot) in burst.slots().iter().take(BURST).enumerate() {
            self.floor = self.floor.max(slot.at.ps);
            all[count % BURST] = Arrival {
                at: self.floor,
                index: index as u8,
            };
            count += usize::from(lengths.contains(&(slot.len as usize)));
        }
        self.malformed += (burst.len() - count) as u64;
        let all = &mut all[..count];
        if self.partner_lines.is_empty() {
            return member_inputs[0].take(burst, Arrived::all(all), pool);
        }
        let partner = &self.partner;
        by_member.sort(all, |arrival| partner.member(burst.frame(usize::from(arrival.index))));
        let lines = &mut self.partner_lines;
        by_member.runs(lines.len(), |member, run| {
            let mut arrived = Arrived::all(run);
            self.partner_drops += lines[member].admit_each(burst, &mut arrived);
            member_inputs[member].take(burst, arrived, pool);
        });
    }
}

impl MemberInput {
    /// Frames have arrived from the line.
    #[inline]
    fn take(&mut self, burst: &Burst<'_>, mut arrived: Arrived<'_>, pool: &mut Pool) {
        self.rx_frames += arrived.count as u64;
        let came = self.lost.as_ref().map(|_| arrived.left().to_vec());
        if let Some(police) = &mut self.police {
            self.policed += police_each(police, burst, &mut arrived);
        }
        let policed = came.as_ref().map(|_| arrived.left().to_vec());
        let count = arrived.count;
        if let Some(processor) = &mut self.processor {
            self.drops += process_each(processor, self.server.as_mut(), burst, &mut arrived);
        } else if let (Some(server), Some(memory)) = (&mut self.server, &mut self.memory) {
            self.drops += remember_each(server, memory, &mut arrived);
        } else if let Some(server) = &mut self.server {
            // A copy of its own is kept in registers.
            let mut copy = server.clone();
            arrived.keep(|arrival| copy.offer(arrival.at));
            *server = copy;
            self.drops += (count - arrived.count) as u64;
        }
        if let (Some(came), Some(policed)) = (came, policed) {
            self.note_missing(burst, &came, &policed, LostAt::Policer);
            self.note_missing(burst, &policed, arrived.left(), LostAt::Ingress);
        }
        let entry = match &mut self.shared {
            Some(shared) => &mut shared.inbound,
            None => &mut self.ready,
        };
        entry.extend(arrived.left().iter().map(|arrival| Flight {
            at: arrival.at,
            frame: pool.take_in(burst, usize::from(arrival.index)),
        }));
    }
}

impl MemberInput {
    /// Notes the hellos that `before` has and `after` has not.
    #[cold]
    fn note_missing(&mut self, burst: &Burst<'_>, before: &[Arrival], after: &[Arrival], place: LostAt) {
        let Some(lost) = self.lost.as_mut().filter(|_| after.len() < before.len()) else {
            return;
        };
        let mut left = after.iter().map(|arrival| arrival.index).peekable();
        for arrival in before {
            if left.next_if_eq(&arrival.index).is_none() {
                note(lost, self.port, arrival.at, burst.frame(usize::from(arrival.index)), place);
            }
        }
    }
}

/// Leaves of what has arrived what a server takes that remembers its overloads; how many it dropped for a full queue.
#[cold]
fn remember_each(server: &mut Server, memory: &mut Memory, arrived: &mut Arrived<'_>) -> u64 {
    let mut full = 0;
    arrived.keep(|arrival| {
        let fate = memory.offer(server, arrival.at);
        full += u64::from(fate == Fate::Full);
        match fate {
            Fate::Served(done) => (true, done),
            _ => (false, 0),
        }
    });
    full
}

/// Leaves of what has arrived what a processor has room for and lets through; how many it had no room for.
#[cold]
fn process_each(processor: &mut Processor, mut server: Option<&mut Server>, burst: &Burst<'_>, arrived: &mut Arrived<'_>) -> u64 {
    let mut full = 0;
    arrived.keep(|arrival| {
        let frame = burst.frame(usize::from(arrival.index));
        let fate = processor.offer(server.as_deref_mut(), arrival.at, frame);
        full += u64::from(matches!(fate, filter::Fate::Full));
        match fate {
            filter::Fate::Served(done) => (true, done),
            _ => (false, 0),
        }
    });
    full
}

/// Leaves of what has arrived what the policer lets through; how many it dropped.
#[cold]
fn police_each(police: &mut Policer, burst: &Burst<'_>, arrived: &mut Arrived<'_>) -> u64 {
    let count = arrived.count;
    arrived.keep(|arrival| {
        let frame = burst.frame(usize::from(arrival.index));
        (police.offer(arrival.at, frame), arrival.at)
    });
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
