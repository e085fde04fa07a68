//! What is remembered of each flow, to tell new frames from copies and order from disorder.
//!
//! Reordering is that of RFC 4737 section 3.3: a frame is out of order if its sequence number is below
//! the next expected one, which is one more than the highest seen.

use super::broken::{Broken, OfFlow};
use netdyno_io::region::{prefetch, shared_zeros};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Bits shared by all flows to remember sequence numbers: half a mebibyte.
const WINDOW_BITS: usize = 1 << 22;
/// The widest window of a flow.
const WIDEST: usize = 65_536;
/// The narrowest: it lies in the flow's own state.
const NARROWEST: usize = 64;

/// How a frame relates to those of its flow before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// New, and later than all before.
    Next,
    /// New, but a later one was here before.
    Late,
    /// Seen before.
    Copy,
    /// So late that it is not known whether it was seen.
    Beyond,
}

/// The most flows of a trial, all streams together: 16 bytes each are 4 GiB, and 17 where receivers share them.
const MOST: usize = 1 << 28;
/// Each receiver has places of its own for all flows while they take no more than 2 GiB together: cores that write into one line
/// of the cache wait for each other.
const MOST_OWN: usize = 1 << 27;
/// The most receivers that share places: whose a flow is fits a byte.
const MOST_SHARING: usize = SPLIT as usize - 1;
/// Of a flow that more than one receiver saw frames of.
const SPLIT: u8 = u8::MAX;

/// State of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// One more than the highest sequence number seen.
    next: u32,
    /// Distinct frames received.
    received: u32,
    /// Bit n: `next - 1 - n` was seen (narrow window only).
    window: u64,
}

impl Flow {
    /// The lowest sequence number that has not arrived (narrow window), and whether that is known: it is not if something
    /// is missing that is older than the window.
    #[inline]
    fn first_missing(&self) -> (u32, bool) {
        let low = self.next.saturating_sub(NARROWEST as u32);
        let past = u64::MAX.checked_shl(self.next - low).map_or(u64::MAX, |coming| !coming);
        // Of the bits the highest is the earliest; without any, 64 zeros lead to the next.
        let missing = self.next.wrapping_add((!self.window & past).leading_zeros()).wrapping_sub(64);
        (missing, self.received == low + self.window.count_ones())
    }
}

/// Where the state of a flow is kept, 16 bytes: `next` and `received`, and the window. Other threads may look at it.
type Place = [AtomicU64; 2];

#[inline(always)]
fn load(place: &Place) -> Flow {
    let [counts, window] = place.each_ref().map(|word| word.load(Ordering::Relaxed));
    Flow {
        next: counts as u32,
        received: (counts >> 32) as u32,
        window,
    }
}

#[inline(always)]
fn store(place: &Place, flow: Flow) {
    place[0].store(u64::from(flow.received) << 32 | u64::from(flow.next), Ordering::Relaxed);
    place[1].store(flow.window, Ordering::Relaxed);
}

/// What is known of the first lost frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Nothing is lost.
    None,
    /// It has this number, counted from 0.
    Frame(u64),
    /// A flow lost something before what is remembered of it.
    Unknown,
}

/// All flows of a trial, as one receiver knows them.
///
/// Where a place for each flow in each receiver would take too much memory, there is one for each flow, which all receivers share:
/// the frames of a flow come to one of them.
#[derive(Debug)]
pub struct Flows {
    flows: Arc<[Place]>,
    /// Which receiver saw frames of each flow, where they share them: its number from 1, 0 if none did, or [`SPLIT`].
    owners: Arc<[AtomicU8]>,
    /// This one.
    own: u8,
    /// Flows that this one was the second to see.
    split: u64,
    /// For each flow `words` words; bit `sequence mod width` (wide windows only).
    wide: Vec<u64>,
    width: u32,
    /// What came broken of each flow; `None` while nothing did.
    broken: Option<Box<Broken>>,
}

impl Flows {
    /// How many flows so many receivers can tell apart.
    #[must_use]
    pub fn most(receivers: usize) -> usize {
        if receivers <= MOST_SHARING { MOST } else { MOST_OWN / receivers }
    }

    /// Returns the state of `count` flows, no more than [`Self::most`], for each of `receivers`.
    #[must_use]
    pub fn of_each(count: usize, receivers: usize) -> Vec<Self> {
        if receivers == 1 || count <= MOST_OWN / receivers {
            return (0..receivers).map(|_| Self::new(count)).collect();
        }
        Self::shared(count, receivers)
    }

    /// As [`Self::of_each`], of flows that have narrow windows: one place for each flow, which all receivers share.
    fn shared(count: usize, receivers: usize) -> Vec<Self> {
        let first = Self::new(count);
        let owners = shared_zeros(count);
        let one = |number: usize| Self {
            flows: Arc::clone(&first.flows),
            owners: Arc::clone(&owners),
            own: number as u8,
            wide: Vec::new(),
            broken: None,
            ..first
        };
        (1..=receivers).map(one).collect()
    }

    /// Returns the state of `count` flows.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let share = WINDOW_BITS / count.max(1);
        let width = if share < NARROWEST {
            NARROWEST
        } else {
            (1 << share.ilog2()).min(WIDEST)
        };
        let words = if width > NARROWEST { count * width / 64 } else { 0 };
        Self {
            flows: shared_zeros(count),
            owners: shared_zeros(0),
            own: 0,
            split: 0,
            wide: vec![0; words],
            width: width as u32,
            broken: None,
        }
    }

    /// How many sequence numbers below the highest are remembered.
    #[cfg(test)]
    pub fn window(&self) -> u32 {
        self.width
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Returns the distinct intact frames received of flow `flow`.
    #[must_use]
    pub fn received(&self, flow: usize) -> u32 {
        if self.is_split(flow) {
            // More than there can be: how many of them are distinct is unknown.
            return u32::MAX;
        }
        let received = load(&self.flows[flow]).received;
        received.saturating_sub(self.broken_of(flow).map_or(0, |broken| broken.count))
    }

    /// What came broken of flow `flow`, if something did.
    #[inline]
    fn broken_of(&self, flow: usize) -> Option<&OfFlow> {
        self.broken.as_ref()?.get(flow)
    }

    /// Whether more than one receiver saw frames of flow `flow`, who share its state.
    fn is_split(&self, flow: usize) -> bool {
        self.owners.get(flow).is_some_and(|owner| owner.load(Ordering::Relaxed) == SPLIT)
    }

    /// Fetches flow `flow` into the cache, if there is one: it is about to be looked at.
    #[inline]
    pub fn expect(&self, flow: usize) {
        if let Some(state) = self.flows.get(flow) {
            prefetch(state);
        }
    }

    /// Adds what another receiver of the same flows remembers. Returns how many flows both saw frames of: whether any of
    /// those came twice, or out of order, is not known from one receiver to the other.
    pub fn absorb(&mut self, other: &Self) -> u64 {
        if let Some(more) = &other.broken {
            let broken = self.broken.get_or_insert_default();
            for (flow, count) in more.counts() {
                broken.of(flow, self.flows.len()).count += count;
            }
        }
        if Arc::ptr_eq(&self.flows, &other.flows) {
            return std::mem::take(&mut self.split) + other.split;
        }
        let words = self.width as usize / 64;
        let mut shared = 0;
        for (number, place) in other.flows.iter().enumerate() {
            let theirs = load(place);
            if theirs.next == 0 {
                continue;
            }
            let mut state = load(&self.flows[number]);
            if state.next > 0 {
                shared += 1;
                state.next = state.next.max(theirs.next);
                // More than there can be: what is missing of it is unknown.
                state.received = u32::MAX;
                store(&self.flows[number], state);
                continue;
            }
            store(&self.flows[number], theirs);
            if !self.wide.is_empty() {
                let ring = number * words..(number + 1) * words;
                self.wide[ring.clone()].copy_from_slice(&other.wide[ring]);
            }
        }
        shared
    }

    /// Takes note of frame `sequence` of flow `flow`.
    #[inline]
    pub fn see(&mut self, flow: usize, sequence: u32) -> Order {
        if self.wide.is_empty() {
            self.see_narrow(flow, sequence)
        } else {
            self.see_wide(flow, sequence)
        }
    }

    /// The next sequence number expected of flow `flow`: one more than the highest of the intact frames seen. RFC 4737 knows
    /// no others.
    #[inline]
    #[must_use]
    pub fn next_intact(&self, flow: usize) -> u32 {
        let next = load(&self.flows[flow]).next;
        match self.broken_of(flow) {
            Some(broken) if broken.next == next => broken.intact,
            _ => next,
        }
    }

    /// Takes note of a broken frame `sequence` of flow `flow`.
    #[cold]
    #[inline(never)]
    pub fn see_broken(&mut self, flow: usize, sequence: u32) -> Order {
        let intact = self.next_intact(flow);
        let order = self.see(flow, sequence);
        if matches!(order, Order::Next | Order::Late) {
            let broken = self.broken.get_or_insert_default().of(flow, self.flows.len());
            broken.count += 1;
            if order == Order::Next {
                (broken.next, broken.intact) = (load(&self.flows[flow]).next, intact);
            }
        }
        order
    }

    /// Whether the intact frame `sequence` of flow `flow`, which was just found late, was late for broken ones alone: the
    /// number that was expected of the intact ones, if so.
    #[cold]
    #[inline(never)]
    pub fn was_next(&mut self, flow: usize, sequence: u32) -> Option<u32> {
        let expected = self.next_intact(flow);
        let broken = self.broken.as_mut()?.get_mut(flow).filter(|_| sequence >= expected)?;
        broken.intact = sequence + 1;
        Some(expected)
    }

    #[inline]
    fn see_narrow(&mut self, flow: usize, sequence: u32) -> Order {
        if self.owners.get(flow).is_some_and(|owner| owner.load(Ordering::Relaxed) != self.own) && !self.claim(flow) {
            // Whether it was here before is not known from one receiver to the other.
            return Order::Next;
        }
        let place = &self.flows[flow];
        let mut state = load(place);
        if sequence >= state.next {
            let ahead = sequence - state.next;
            state.window = if ahead >= 63 { 1 } else { (state.window << (ahead + 1)) | 1 };
            state.next = sequence.wrapping_add(1);
            state.received = state.received.wrapping_add(1);
            store(place, state);
            return Order::Next;
        }
        let behind = state.next - 1 - sequence;
        if behind >= 64 {
            return Order::Beyond;
        }
        let bit = 1 << behind;
        if state.window & bit != 0 {
            return Order::Copy;
        }
        state.window |= bit;
        state.received = state.received.wrapping_add(1);
        store(place, state);
        Order::Late
    }

    /// This receiver sees a frame of a flow that is not its own: whether it is now, or belongs to nobody any more.
    #[cold]
    #[inline(never)]
    fn claim(&mut self, flow: usize) -> bool {
        let owner = &self.owners[flow];
        let before = owner.compare_exchange(0, self.own, Ordering::Relaxed, Ordering::Relaxed);
        if before.is_ok() || before == Err(self.own) {
            return true;
        }
        // Who takes it from its owner is the one that counts it.
        self.split += u64::from(owner.swap(SPLIT, Ordering::Relaxed) != SPLIT);
        false
    }

    #[inline]
    fn see_wide(&mut self, flow: usize, sequence: u32) -> Order {
        let mut state = load(&self.flows[flow]);
        if sequence != state.next {
            return self.see_out_of_turn(flow, sequence);
        }
        let place = (sequence & (self.width - 1)) as usize;
        self.wide[flow * (self.width as usize / 64) + place / 64] |= 1 << (place % 64);
        state.next = sequence.wrapping_add(1);
        state.received += 1;
        store(&self.flows[flow], state);
        Order::Next
    }

    /// The same of a frame that is not the next one. Apart, so that what most frames take fits where it is called.
    #[inline(never)]
    fn see_out_of_turn(&mut self, flow: usize, sequence: u32) -> Order {
        let mut state = load(&self.flows[flow]);
        let words = self.width as usize / 64;
        let ring = &mut self.wide[flow * words..][..words];
        let place = (sequence & (self.width - 1)) as usize;
        let (word, bit) = (place / 64, 1_u64 << (place % 64));
        if sequence > state.next {
            forget(ring, state.next, sequence);
            ring[word] |= bit;
            state.next = sequence.wrapping_add(1);
            state.received += 1;
            store(&self.flows[flow], state);
            return Order::Next;
        }
        if state.next - 1 - sequence >= self.width {
            return Order::Beyond;
        }
        if ring[word] & bit != 0 {
            return Order::Copy;
        }
        ring[word] |= bit;
        state.received += 1;
        store(&self.flows[flow], state);
        Order::Late
    }

    /// The first frame that is known not to have arrived of a stream that sends to the flows of `range` in turn, and has
    /// `sent` as many to each of them, counted from 0.
    #[must_use]
    pub fn first_lost(&self, range: Range<usize>, sent: impl Fn(u32) -> u64) -> First {
        let flows = range.len() as u64;
        let (mut first, mut is_unknown) = (u64::MAX, false);
        for (flow, place) in (0..).zip(&self.flows[range.clone()]) {
            let sent = sent(flow as u32);
            let (missing, is_known) = if self.wide.is_empty() {
                load(place).first_missing()
            } else {
                self.first_missing_wide(range.start + flow as usize)
            };
            let is_known = is_known && !self.is_split(range.start + flow as usize);
            // No branches: which flows lost something is as good as random.
            let frame = u64::from(missing) * flows + flow;
            first = first.min(if u64::from(missing) < sent { frame } else { u64::MAX });
            is_unknown |= !is_known;
        }
        match first {
            _ if is_unknown => First::Unknown,
            u64::MAX => First::None,
            number => First::Frame(number),
        }
    }

    /// As [`Flow::first_missing`].
    fn first_missing_wide(&self, flow: usize) -> (u32, bool) {
        let state = load(&self.flows[flow]);
        let low = state.next.saturating_sub(self.width);
        let words = self.width as usize / 64;
        let ring = &self.wide[flow * words..][..words];
        // Places of sequence numbers that have not been are clear.
        let in_window: u32 = ring.iter().map(|word| word.count_ones()).sum();
        let mut sequence = low;
        while sequence < state.next {
            let place = sequence & (self.width - 1);
            let seen = (ring[place as usize / 64] >> (place % 64)).trailing_ones();
            sequence += seen;
            if seen < 64 - place % 64 {
                break;
            }
        }
        (sequence.min(state.next), state.received == low + in_window)
    }
}

/// Clears the places of `from..to`, which were skipped, in a ring of bits.
#[cold]
fn forget(ring: &mut [u64], from: u32, to: u32) {
    let bits = ring.len() * 64;
    if (to - from) as usize >= bits {
        ring.fill(0);
        return;
    }
    for sequence in from..to {
        let place = sequence as usize & (bits - 1);
        ring[place / 64] &= !(1 << (place % 64));
    }
}

#[cfg(test)]
mod tests;
