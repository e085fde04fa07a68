//! Queues by class in front of an egress line, and shapers: strict priority between classes, deficit round robin
//! (Shreedhar and Varghese 1995) among those of the same, a token bucket for each and one for the port above them.
//!
//! Who leaves next depends on who comes until then, so nothing is decided when a frame arrives: the line is given to a
//! frame when it is free, up to a time until which all that arrives is known. A shaped frame begins once each bucket over it
//! holds all its bits. At the same picosecond a frame that waits begins before another arrives.

use crate::flight::Flight;
use crate::police::Bucket;
use crate::pool::Pool;
use crate::queue::Queue;
use crate::sort::Sort;
use netdyno_io::port::MIN_SLOT_BYTES;

/// Classes a port may have.
pub(crate) const CLASSES: usize = 16;
/// Bytes a class of weight 1 may send in a round.
const QUANTUM: u64 = 256;

/// The classes of one line.
#[derive(Debug)]
pub(crate) struct Classes {
    pub(crate) sort: Sort,
    /// The last takes what no other does.
    pub(crate) queues: Vec<Class>,
    pub(crate) shaper: Option<Bucket>,
    /// No class is shaped, nor is the port, and each class has room for a frame.
    can_bypass_when_empty: bool,
    turns: Turns,
}

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    /// 0 goes first.
    priority: u8,
    weight: u64,
    room: usize,
    shaper: Option<Bucket>,
    waiting: Queue<Flight>,
    pub(crate) drops: u64,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
struct Turns {
    /// Classes that have something to send, `active` of them, in the order in which their turns come: one that was empty is
    /// the last (the paper's *ActiveList*).
    order: [u8; CLASSES],
    active: usize,
    /// Of each priority whether the first of its classes has been given what it may send in this round.
    given: [bool; CLASSES],
    /// Bytes each class may send.
    deficit: [u64; CLASSES],
}

impl Turns {
    fn none() -> Self {
        Self {
            order: [0; CLASSES],
            active: 0,
            given: [false; CLASSES],
            deficit: [0; CLASSES],
        }
    }

    /// A class that was empty has something to send.
    fn enter(&mut self, class: usize) {
        self.order[self.active] = class as u8;
        self.active += 1;
    }

    /// A class has nothing to send any more.
    fn leave(&mut self, class: usize) {
        let active = &self.order[..self.active];
        if let Some(place) = active.iter().position(|one| usize::from(*one) == class) {
            self.order.copy_within(place + 1..self.active, place);
            self.active -= 1;
        }
    }
}

/// The next frame to have the line.
#[derive(Clone, Copy, Debug)]
struct Choice {
    at: u64,
    class: usize,
    turns: Turns,
}

impl Class {
    pub(crate) fn new(priority: u8, weight: u32, queue: u32, shaper: Option<Bucket>) -> Self {
        Self {
            priority,
            weight: u64::from(weight),
            room: queue as usize,
            shaper,
            waiting: Queue::with_room(16),
            drops: 0,
        }
    }

    /// When its first frame may begin, for all the class knows.
    fn eligible(&self) -> Option<u64> {
        let first = self.waiting.front()?;
        Some(match &self.shaper {
            Some(bucket) => bucket.ready_at(length(first)).max(first.at),
            None => first.at,
        })
    }
}

/// Bytes in its slot.
fn length(flight: Flight) -> u64 {
    u64::from(flight.frame.len()).max(MIN_SLOT_BYTES)
}

impl Classes {
    /// `queues` has the class for all else at its end.
    pub(crate) fn new(sort: Sort, queues: Vec<Class>, shaper: Option<Bucket>) -> Self {
        let can_bypass_when_empty = shaper.is_none() && queues.iter().all(|class| class.shaper.is_none() && class.room > 0);
        Self {
            sort,
            queues,
            shaper,
            can_bypass_when_empty,
            turns: Turns::none(),
        }
    }

    /// Whether no frame waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.active == 0
    }

    /// Whether a frame that reaches an idle line starts at once, whichever its class: an empty class keeps no deficit.
    #[inline]
    pub(crate) fn can_bypass(&self) -> bool {
        self.can_bypass_when_empty && self.is_empty()
    }

    /// A frame arrives; all that begins by then has been given the line. The number of its class, if that has no room.
    pub(crate) fn enter(&mut self, flight: Flight, frame: &[u8]) -> Result<(), usize> {
        let other = self.queues.len() - 1;
        let number = self.sort.class(frame).unwrap_or(other);
        let class = &mut self.queues[number];
        if class.waiting.len() >= class.room {
            class.drops += 1;
            return Err(number);
        }
        if class.waiting.len() == 0 {
            self.turns.enter(number);
        }
        class.waiting.push(flight);
        Ok(())
    }

    /// When the next frame begins, on a line that is free from `free` on.
    pub(crate) fn next(&self, free: u64) -> Option<u64> {
        self.choose(free).map(|choice| choice.at)
    }

    /// Takes out the frame that begins next, if it does by `until`: when, and which.
    pub(crate) fn take(&mut self, free: u64, until: u64) -> Option<(u64, Flight)> {
        let choice = match self.turns.order[..self.turns.active] {
            [] => return None,
            [only] if self.shaper.is_none() && self.queues[usize::from(only)].shaper.is_none() => {
                self.choose_only(only.into(), free, until)?
            }
            _ => {
                let choice = self.choose(free).filter(|choice| choice.at <= until)?;
                self.turns = choice.turns;
                (choice.at, choice.class)
            }
        };
        let (at, number) = choice;
        let class = &mut self.queues[number];
        let flight = class.waiting.pop()?;
        class.waiting.tidy();
        let bytes = length(flight);
        class.shaper.iter_mut().for_each(|bucket| bucket.take(at, bytes));
        self.shaper.iter_mut().for_each(|bucket| bucket.take(at, bytes));
        if class.waiting.len() == 0 {
            // An idle class saves nothing up, and its turn is over.
            let priority = usize::from(class.priority);
            self.turns.deficit[number] = 0;
            self.turns.given[priority] = false;
            self.turns.leave(number);
        }
        Some((at, flight))
    }

    /// What [`Self::choose`] says of class `number`, the only one with frames that wait and not shaped, its turns taken: most
    /// frames of a line that is not full are alone.
    #[inline]
    fn choose_only(&mut self, number: usize, free: u64, until: u64) -> Option<(u64, usize)> {
        let class = &self.queues[number];
        let first = class.waiting.front()?;
        let at = free.max(first.at);
        if at > until {
            return None;
        }
        let (size, share) = (length(first) + netdyno_frame::FCS_BYTES as u64, class.weight * QUANTUM);
        let (deficit, given) = (&mut self.turns.deficit[number], &mut self.turns.given[usize::from(class.priority)]);
        if !std::mem::replace(given, true) {
            *deficit += share;
        }
        while *deficit < size {
            *deficit += share;
        }
        *deficit -= size;
        Some((at, number))
    }

    fn choose(&self, free: u64) -> Option<Choice> {
        let mut at = free.max(self.queues.iter().filter_map(Class::eligible).min()?);
        loop {
            let (class, turns) = self.select(at)?;
            let flight = self.queues[class].waiting.front()?;
            let ready = self.shaper.as_ref().map_or(0, |bucket| bucket.ready_at(length(flight)));
            if ready <= at {
                return Some(Choice { at, class, turns });
            }
            // Until the port's bucket is full enough for that frame another may come that goes first.
            let others = self.queues.iter().filter_map(Class::eligible);
            at = others
                .filter(|eligible| *eligible > at)
                .min()
                .map_or(ready, |other| other.min(ready));
        }
    }

    /// Who goes first of those that may begin at `at`.
    fn select(&self, at: u64) -> Option<(usize, Turns)> {
        let may = |class: &Class| class.eligible().is_some_and(|from| from <= at);
        let first = self.queues.iter().filter(|class| may(class)).map(|class| class.priority).min()?;
        let mut turns = self.turns;
        let given = usize::from(first);
        loop {
            let of_first = |class: &u8| self.queues[usize::from(*class)].priority == first;
            let place = turns.order[..turns.active].iter().position(of_first)?;
            let index = usize::from(turns.order[place]);
            let class = &self.queues[index];
            if may(class) {
                if !turns.given[given] {
                    turns.deficit[index] += class.weight * QUANTUM;
                    turns.given[given] = true;
                }
                let size = class.waiting.front().map_or(0, length) + netdyno_frame::FCS_BYTES as u64;
                if let Some(left) = turns.deficit[index].checked_sub(size) {
                    turns.deficit[index] = left;
                    return Some((index, turns));
                }
            }
            turns.leave(index);
            turns.enter(index);
            turns.given[given] = false;
        }
    }

    /// A reset: all that waits is lost; how many frames that are.
    pub(crate) fn clear(&mut self, pool: &mut Pool) -> u64 {
        let mut lost = 0;
        for class in &mut self.queues {
            lost += class.waiting.len() as u64;
            class.waiting.records().iter().for_each(|flight| pool.give_back(flight.frame));
            class.waiting.clear();
        }
        self.turns = Turns::none();
        lost
    }
}
