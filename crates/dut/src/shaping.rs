//! Shapers of the subinterfaces of a port, each with its queue, in front of the queues of an egress line.
//!
//! A frame is released at the first picosecond at which the bucket holds all its bits, and not before those of its subinterface
//! that came earlier. Released frames reach the line in order of time; of one picosecond the lower subinterface goes first. A
//! frame that waits and is released at a picosecond goes before one that arrives then, as everywhere in a device.
//!
//! A shaper may have a second queue, whose frames go first: one that is waiting is not taken back for them once it is released.
//!
//! Only the first frame of each shaper has a time, so a frame costs one move in a heap of as many as there are shapers with frames. A
//! frame that goes before the first one gives its shaper another time; the old one stays in the heap, and is passed over.

use crate::flight::Flight;
use crate::police::Bucket;
use crate::pool::Pool;
use crate::queue::Queue;
use crate::sort::Sort;
use crate::spec::LostAt;
use crate::tags::{Tags, Whose};
use netdyno_io::port::MIN_SLOT_BYTES;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

/// The shapers in front of one line.
#[derive(Debug)]
pub(crate) struct Shapers {
    tags: Arc<Tags>,
    /// Of each subinterface, in the order of `tags`.
    each: Vec<Shaper>,
    /// When the first frame of each queue is released, and which queue that is.
    heads: BinaryHeap<Reverse<(u64, u32)>>,
}

/// What a subinterface has in front of a line.
#[derive(Debug)]
pub(crate) struct Shaper {
    /// `None`: nothing ever waits.
    bucket: Option<Bucket>,
    room: usize,
    waiting: Queue<Flight>,
    /// When the first of all its frames is released: what else the heap has of it is old.
    release: u64,
    /// Boxed: few have one.
    first: Option<Box<First>>,
    /// Frames given to the line.
    pub(crate) sent: u64,
    /// Frames that found the queue here, or that of the line, full.
    pub(crate) dropped: u64,
}

/// The queue whose frames go first.
#[derive(Debug)]
struct First {
    /// Frames of its only class.
    sort: Sort,
    room: usize,
    waiting: Queue<Flight>,
}

/// What becomes of a frame that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It reaches the line at once.
    Passes,
    Waits,
    /// The queue is full.
    Dropped(LostAt),
}

impl Shaper {
    /// `first`: which frames go first, and how many of them may wait.
    pub(crate) fn new(bucket: Option<Bucket>, queue: u32, first: Option<(Sort, u32)>) -> Self {
        let first = first.map(|(sort, queue)| First {
            sort,
            room: queue as usize,
            waiting: Queue::with_room(0),
        });
        Self {
            bucket,
            room: queue as usize,
            waiting: Queue::with_room(0),
            release: u64::MAX,
            first: first.map(Box::new),
            sent: 0,
            dropped: 0,
        }
    }

    /// The frame that is released next.
    fn front(&self) -> Option<Flight> {
        let first = self.first.as_ref().and_then(|first| first.waiting.front());
        first.or_else(|| self.waiting.front())
    }

    fn pop(&mut self) -> Option<Flight> {
        let waiting = match &mut self.first {
            Some(first) if first.waiting.len() > 0 => &mut first.waiting,
            _ => &mut self.waiting,
        };
        let flight = waiting.pop()?;
        waiting.tidy();
        Some(flight)
    }
}

/// Bytes in its slot.
fn length(flight: Flight) -> u64 {
    u64::from(flight.frame.len()).max(MIN_SLOT_BYTES)
}

impl Shapers {
    /// `each` in the order of `tags`.
    pub(crate) fn new(tags: Arc<Tags>, each: Vec<Shaper>) -> Self {
        Self {
            heads: BinaryHeap::new(),
            tags,
            each,
        }
    }

    pub(crate) fn tags(&self) -> &Tags {
        &self.tags
    }

    /// Returns the subinterfaces, in the order of the specification.
    pub(crate) fn each(&self) -> &[Shaper] {
        &self.each
    }

    /// The number of the subinterface that `frame` leaves by; `None`: the port itself.
    #[inline]
    pub(crate) fn number(&self, frame: &[u8]) -> Option<usize> {
        match self.tags.whose(frame) {
            Whose::Subinterface(number, _) => Some(number),
            Whose::Port | Whose::Unknown => None,
        }
    }

    /// When the next frame is released.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        self.heads.peek().map(|Reverse((at, _))| *at)
    }

    /// A frame of a subinterface arrives; all that is released by then has been [taken](Self::take).
    #[inline]
    pub(crate) fn offer(&mut self, number: usize, flight: Flight, frame: &[u8]) -> Fate {
        let shaper = &mut self.each[number];
        let Some(bucket) = &mut shaper.bucket else {
            return Fate::Passes;
        };
        let first = shaper.first.as_mut().filter(|first| first.sort.class(frame).is_some());
        let (queue, room, place) = match first {
            Some(first) => (&mut first.waiting, first.room, LostAt::Priority),
            None => (&mut shaper.waiting, shaper.room, LostAt::Shaper),
        };
        // Of the other queue none waits but frames that go first, and those are in front anyway.
        let is_first = queue.len() == 0 && (place == LostAt::Priority || shaper.release == u64::MAX);
        if is_first && bucket.holds(flight.at, length(flight)) {
            bucket.take(flight.at, length(flight));
            if shaper.release != u64::MAX {
                self.renew(number);
            }
            return Fate::Passes;
        }
        if queue.len() >= room {
            shaper.dropped += 1;
            return Fate::Dropped(place);
        }
        queue.push(flight);
        if is_first {
            self.renew(number);
        }
        Fate::Waits
    }

    /// The first frame of a shaper has changed, or its bucket.
    fn renew(&mut self, number: usize) {
        let shaper = &mut self.each[number];
        let (Some(next), Some(bucket)) = (shaper.front(), &shaper.bucket) else {
            return;
        };
        shaper.release = bucket.ready_at(length(next));
        self.heads.push(Reverse((shaper.release, number as u32)));
    }

    /// Takes out the frame that is released next, if it is by `until`: of which subinterface, and when it reaches the line.
    #[inline]
    pub(crate) fn take(&mut self, until: u64) -> Option<(usize, Flight)> {
        loop {
            let mut head = self.heads.peek_mut()?;
            let Reverse((at, number)) = *head;
            if at > until {
                return None;
            }
            let shaper = self.each.get_mut(number as usize)?;
            if shaper.release != at {
                PeekMut::pop(head);
                continue;
            }
            let flight = shaper.pop()?;
            let next = shaper.front();
            let bucket = shaper.bucket.as_mut()?;
            bucket.take(at, length(flight));
            match next {
                Some(next) => {
                    shaper.release = bucket.ready_at(length(next));
                    *head = Reverse((shaper.release, number));
                }
                None => {
                    shaper.release = u64::MAX;
                    PeekMut::pop(head);
                }
            }
            return Some((number as usize, Flight { at, ..flight }));
        }
    }

    /// A frame of a subinterface was given to the line, which had room for it or not.
    #[inline]
    pub(crate) fn count(&mut self, number: usize, is_sent: bool) {
        self.each[number].sent += u64::from(is_sent);
        self.each[number].dropped += u64::from(!is_sent);
    }

    /// A reset, or a link that goes down: all that waits is lost, and the buckets are full; how many frames are lost.
    pub(crate) fn clear(&mut self, pool: &mut Pool) -> u64 {
        self.heads.clear();
        let clear = |shaper: &mut Shaper| {
            shaper.bucket.iter_mut().for_each(Bucket::refill);
            shaper.release = u64::MAX;
            let first = shaper.first.as_mut().map_or(0, |first| pool.give_back_all(&mut first.waiting));
            first + pool.give_back_all(&mut shaper.waiting)
        };
        self.each.iter_mut().map(clear).sum()
    }

    pub(crate) fn reset_counters(&mut self) {
        for shaper in &mut self.each {
            (shaper.sent, shaper.dropped) = (0, 0);
        }
    }
}
