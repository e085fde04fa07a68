//! Which frames of a stream have arrived, and from when on one that has not is missing.
//!
//! A frame's number in its stream, in order of departure, is `sequence * flows + flow`: so frames that are lost together are
//! neighbours, whichever flows they are of. The ledger has a bit for each of the latest numbers, a ring of them; what the
//! ring has gone past without its bit is missing. It reaches back for seconds at any line's rate, and a frame that comes even
//! later is taken out of the gaps again.
//!
//! Which flows come to which worker is the card's choice, so all share the ledger of a stream. Each notes arrivals in pages of
//! its own and hands over a page when it has gone past it: one lock in thousands of frames, and the cache lines of the ring
//! go from core to core once a page.

use super::losses::Losses;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Frames of a page.
const PAGE: u64 = 4096;
const WORDS: usize = PAGE as usize / 64;
/// Pages a worker has of a stream: frames that overtake each other by less stay in them.
const OPEN: usize = 16;
/// No page.
const NONE: u64 = u64::MAX;

/// Frames remembered, all streams together: 16 MiB of bits.
const REMEMBERED: u64 = 1 << 27;
/// Of one stream at most: 2.2 s of the shortest frames at 10 Gbit/s.
const MOST: u64 = 1 << 25;
/// And at least: twice what the workers have in pages of their own.
const LEAST: u64 = 2 * OPEN as u64 * PAGE;

type Bits = [u64; WORDS];

/// The arrivals of one stream.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// Of page p at p modulo the length, a power of two.
    ring: Vec<Bits>,
    /// The pages below are closed: what is missing in them is in the losses.
    first: u64,
    /// No page from here on has arrivals.
    end: u64,
    losses: Losses,
    /// Workers are to hand over pages below.
    wanted: Arc<AtomicU64>,
}

impl Ledger {
    /// Of one of `streams` streams, nothing of which has arrived.
    #[must_use]
    pub fn new(streams: usize, losses: Losses) -> Self {
        let frames = (REMEMBERED / streams.max(1) as u64).clamp(LEAST, MOST);
        Self {
            ring: vec![[0; WORDS]; 1 << (frames / PAGE).ilog2()],
            first: 0,
            end: 0,
            losses,
            wanted: Arc::default(),
        }
    }

    fn place(&self, page: u64) -> usize {
        page as usize & (self.ring.len() - 1)
    }

    /// Enters the arrivals of a page, or some of them.
    fn enter(&mut self, page: u64, bits: &Bits) {
        if page < self.first {
            // They were given up.
            for (word, &bits) in bits.iter().enumerate() {
                for bit in (0..64).filter(|bit| bits >> bit & 1 != 0) {
                    self.losses.find(page * PAGE + word as u64 * 64 + bit);
                }
            }
            return;
        }
        let pages = self.ring.len() as u64;
        self.close((page + 1).saturating_sub(pages));
        for fresh in self.end..=page {
            let place = self.place(fresh);
            self.ring[place] = [0; WORDS];
        }
        self.end = self.end.max(page + 1);
        let place = self.place(page);
        for (all, more) in self.ring[place].iter_mut().zip(bits) {
            *all |= more;
        }
    }

    /// What has not arrived of the pages below `until` is missing.
    fn close(&mut self, until: u64) {
        for page in self.first..until.min(self.end) {
            let place = self.place(page);
            for (word, bits) in self.ring[place].iter().enumerate() {
                let from = page * PAGE + word as u64 * 64;
                let mut missing = !bits;
                while missing != 0 {
                    let (first, count) = run(missing);
                    self.losses.lose(from + first, from + first + count - 1);
                    missing &= u64::MAX.checked_shl((first + count) as u32).unwrap_or(0);
                }
            }
        }
        let silent = self.end.max(self.first);
        if until > silent {
            self.losses.lose(silent * PAGE, until * PAGE - 1);
        }
        self.first = self.first.max(until);
        self.end = self.end.max(self.first);
    }

    /// Whether frame `number`, of a page that is not closed, has arrived.
    fn has(&self, number: u64) -> bool {
        let page = number / PAGE;
        page < self.end && self.ring[self.place(page)][(number % PAGE) as usize / 64] >> (number % 64) & 1 != 0
    }
}

/// The first run of ones in `bits`, which has some: where it begins and how long it is.
fn run(bits: u64) -> (u64, u64) {
    let first = bits.trailing_zeros();
    (u64::from(first), u64::from((bits >> first).trailing_ones()))
}

/// A page that a worker writes to.
#[derive(Clone, Debug)]
struct Page {
    number: u64,
    bits: Bits,
}

/// What one worker notes of a stream.
#[derive(Debug)]
pub struct Pages {
    /// Page p is at p modulo their number.
    open: Vec<Page>,
    ledger: Arc<Mutex<Ledger>>,
    /// Workers are to hand over pages below.
    wanted: Arc<AtomicU64>,
    /// Pages below were wanted before.
    tended: u64,
    /// So many pages before the latest they are wanted: half the ring before they are closed.
    behind: u64,
}

impl Pages {
    /// Of a worker of the stream that `ledger` is of.
    #[must_use]
    pub fn new(ledger: &Arc<Mutex<Ledger>>) -> Self {
        let blank = Page {
            number: NONE,
            bits: [0; WORDS],
        };
        let (wanted, pages) = {
            let ledger = lock(ledger);
            (Arc::clone(&ledger.wanted), ledger.ring.len() as u64)
        };
        Self {
            open: vec![blank; OPEN],
            ledger: Arc::clone(ledger),
            wanted,
            tended: 0,
            behind: pages / 2,
        }
    }

    /// Notes that frame `number` of the stream has arrived.
    #[inline]
    pub fn mark_arrived(&mut self, number: u64) {
        let place = (number / PAGE) as usize % OPEN;
        if self.open[place].number != number / PAGE {
            // Said when a page begins: it is handed over, and others are closed by it, when this worker is far past it.
            self.wanted
                .fetch_max((number / PAGE).saturating_sub(self.behind), Ordering::Relaxed);
            self.turn(place, number / PAGE);
        }
        self.open[place].bits[(number % PAGE) as usize / 64] |= 1 << (number % 64);
    }

    /// Hands over the page at `place` and begins page `number` there.
    #[cold]
    fn turn(&mut self, place: usize, number: u64) {
        let page = &mut self.open[place];
        if page.number != NONE {
            lock(&self.ledger).enter(page.number, &page.bits);
        }
        page.number = number;
        page.bits = [0; WORDS];
    }

    /// Hands over pages that are soon to be closed.
    #[inline]
    pub fn tend(&mut self) {
        let wanted = self.wanted.load(Ordering::Relaxed);
        if wanted > self.tended {
            self.tended = wanted;
            for place in 0..OPEN {
                if self.open[place].number < wanted {
                    self.turn(place, NONE);
                }
            }
        }
    }

    /// Adds what another worker of the same stream has not handed over.
    pub fn absorb(&mut self, other: &Self) {
        let mut ledger = lock(&self.ledger);
        other.enter_all(&mut ledger);
    }

    fn enter_all(&self, ledger: &mut Ledger) {
        let mut pages: Vec<&Page> = self.open.iter().filter(|page| page.number != NONE).collect();
        pages.sort_unstable_by_key(|page| page.number);
        pages.iter().for_each(|page| ledger.enter(page.number, &page.bits));
    }

    /// What is missing of the frames below `low`, and of those from there on below `high` that were sent.
    #[must_use]
    pub fn finish(&self, low: u64, high: u64, is_sent: impl Fn(u64) -> bool) -> Losses {
        let mut ledger = lock(&self.ledger).clone();
        self.enter_all(&mut ledger);
        ledger.close(low / PAGE);
        // One that was given up before it was sent, and then was not sent at all, is none that is missing.
        let closed = ledger.first * PAGE;
        (low..closed)
            .filter(|&number| !is_sent(number))
            .for_each(|number| ledger.losses.find(number));
        for number in closed..high {
            if !ledger.has(number) && (number < low || is_sent(number)) {
                ledger.losses.lose(number, number);
            }
        }
        ledger.losses
    }
}

/// A worker that panicked says so itself; what it had entered is right.
fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The smallest ring: so many streams that each has the least.
    const MANY: usize = 1 << 20;

    fn found(losses: &Losses) -> Vec<(u64, u64)> {
        losses.gaps().map(|gap| (gap.first, gap.last)).collect()
    }

    /// Runs of numbers below `sent` that are not in `arrived`, by looking at each.
    fn plainly(arrived: &[bool]) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for number in (0..arrived.len()).filter(|&number| !arrived[number]) {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == number as u64 => *last += 1,
                _ => runs.push((number as u64, number as u64)),
            }
        }
        runs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Numbers lost one by one and in long runs, others late by up to some thousands, come to several workers.
        #[test]
        fn gaps_are_those_of_a_plain_list(
            sent in 1_usize..600_000,
            one_in in 2_usize..5000,
            outages in proptest::collection::vec((0_usize..600_000, 0_usize..300_000), 0..3),
            workers in 1_usize..4,
            late in 1_usize..20_000,
            seed in any::<u64>(),
        ) {
            let mut state = seed | 1;
            let mut random = move |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below
            };
            let mut arrived = vec![false; sent];
            let mut order = Vec::new();
            for (number, came) in arrived.iter_mut().enumerate() {
                if random(one_in) > 0 && !outages.iter().any(|&(from, length)| (from..from + length).contains(&number)) {
                    *came = true;
                    order.push((number + if random(7) == 0 { random(late) } else { 0 }, number));
                }
            }
            order.sort_unstable();
            let ledger = Arc::new(Mutex::new(Ledger::new(MANY, Losses::new(u32::MAX, 0))));
            let mut pages: Vec<Pages> = (0..workers).map(|_| Pages::new(&ledger)).collect();
            for (_, number) in order {
                let worker = random(workers);
                pages[worker].mark_arrived(number as u64);
                pages[random(workers)].tend();
            }
            let (lead, others) = pages.split_first_mut().expect("a worker");
            others.iter().for_each(|other| lead.absorb(other));
            // Of the last hundred only every second one was sent at all.
            let low = sent.saturating_sub(100);
            let is_sent = |number: u64| number.is_multiple_of(2);
            let all = arrived.iter().enumerate().map(|(number, came)| *came || number >= low && number % 2 == 1);
            let losses = lead.finish(low as u64, sent as u64, is_sent);
            prop_assert_eq!(found(&losses), plainly(&all.collect::<Vec<_>>()));
            prop_assert_eq!(losses.further(), (0, 0));
        }
    }

    #[test]
    fn hours_of_silence_are_one_gap_at_once() {
        let ledger = Arc::new(Mutex::new(Ledger::new(1, Losses::new(10, 0))));
        let mut pages = Pages::new(&ledger);
        let hours = 12 * 3600 * 14_880_952_u64;
        pages.mark_arrived(0);
        for number in hours..hours + 20 * PAGE {
            pages.mark_arrived(number);
        }
        let losses = pages.finish(hours + 30 * PAGE, hours + 30 * PAGE, |_| false);
        assert_eq!(found(&losses), [(1, hours - 1), (hours + 20 * PAGE, hours + 30 * PAGE - 1)]);
    }

    #[test]
    fn a_frame_that_comes_after_it_was_given_up_is_not_missing() {
        let ledger = Arc::new(Mutex::new(Ledger::new(MANY, Losses::new(10, 0))));
        let mut pages = Pages::new(&ledger);
        let sent = 100 * PAGE;
        for number in (0..sent).filter(|number| ![5, 6, 900].contains(number)) {
            pages.mark_arrived(number);
        }
        pages.mark_arrived(5);
        let losses = pages.finish(sent, sent, |_| false);
        assert_eq!(found(&losses), [(6, 6), (900, 900)]);
    }
}
